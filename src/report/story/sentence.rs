//! The outcome of a run in a sentence.

use super::super::Run;
use super::super::style::Ink;
use crate::history::{History, Phase, Told, What};
use crate::verdict::{Outcome, Stop, Verdict};

/// What happened in two or three words, and the rest of the sentence.
pub struct Sentence {
    pub ink: Ink,
    pub head: String,
    pub rest: String,
}

pub fn outcome(run: &Run) -> Sentence {
    let sentence = |ink, head: &str, rest: String| Sentence { ink, head: head.to_owned(), rest };
    let holds = match run.history.as_ref().map_or(0, |history| history.end.checks.len()) {
        0 => "there is no check",
        1 => "the check holds",
        _ => "every check holds",
    };
    match &run.verdict.outcome {
        Outcome::Happens => {
            // A title such as `Write skew: two approvals …` begins with the anomaly's name.
            let name = run.title.split_once(':').map_or("It", |(name, _)| name);
            let head = format!("{name} happened");
            sentence(
                Ink::Bad,
                &head,
                run.history.as_ref().map_or_else(String::new, |history| how(history, &run.verdict)),
            )
        }
        Outcome::Stopped => {
            sentence(Ink::Good, "Stopped by PostgreSQL", format!("{}; {holds}.", stops(&run.verdict.stopped)))
        }
        Outcome::Waits => sentence(Ink::Good, "Prevented by waiting", format!("{}; {holds}.", waits(&run.verdict))),
        Outcome::Prevented => {
            let no_error = if raises(run.history.as_ref()) { "every error was caught" } else { "no error" };
            sentence(Ink::Good, "Prevented", format!("{no_error}, and nobody had to wait; {holds}."))
        }
        Outcome::Skipped { reason } => sentence(Ink::Wait, "Skipped", format!("{reason}.")),
        Outcome::Inconclusive { reason } => sentence(Ink::Wait, "Inconclusive", format!("{reason}.")),
    }
}

/// How an anomaly came about.
fn how(history: &History, verdict: &Verdict) -> String {
    let checks = match history.end.failing_checks().as_slice() {
        [_] if history.end.checks.len() == 1 => "the check fails".to_owned(),
        [_] => "a check fails".to_owned(),
        failing => format!("{} checks fail", failing.len()),
    };
    if !verdict.stopped.is_empty() {
        return format!("{}, and {checks}.", stops(&verdict.stopped));
    }
    let everybody_ok = history.end.sessions.iter().all(|session| session.told == Some(Told::Ok));
    let told = if everybody_ok { "every client was told ok, " } else { "" };
    let no_error = if raises(Some(history)) { "every error was caught" } else { "no error was raised" };
    format!("{no_error}, {told}and yet {checks}.")
}

/// Whether there was an error, which the client may have caught.
fn raises(history: Option<&History>) -> bool {
    let mut events = history.into_iter().flat_map(|history| &history.events);
    events.any(|event| event.phase == Phase::Schedule && matches!(event.what, What::Failed { .. }))
}

fn stops(stops: &[Stop]) -> String {
    let stops: Vec<String> = stops
        .iter()
        .map(|stop| format!("{} ended {}'s transaction at {}", stop.sqlstate, stop.session, stop.step))
        .collect();
    stops.join(", ")
}

fn waits(verdict: &Verdict) -> String {
    let waits: Vec<String> =
        verdict.blocked.iter().map(|blocked| format!("{} waited at {}", blocked.session, blocked.step)).collect();
    waits.join(", ")
}
