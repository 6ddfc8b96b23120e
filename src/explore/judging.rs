//! Judges what the schedules came to, and sorts the failures by their kind.

use std::collections::BTreeMap;

use super::design;
use super::findings::{Findings, Seen};
use super::ground::Ground;
use super::naming::{ANOMALY, Named, name};
use super::oracle::{Judgement, Oracle};
use super::outcome::Outcome;
use super::verdict::Verdict;
use super::worker::Played;
use super::{DEADLOCK, DEADLOCKED, Failure, HANG};
use crate::runner::RunError;
use crate::scenario::Level;

/// A failure, and the schedule that shows it.
pub struct Found {
    pub failure: Failure,
    pub played: Played,
}

/// Judges every outcome; the verdict is the worst of them. One failure stands for all with its kind and failing checks.
pub fn judge_all(
    ground: &mut Ground,
    oracle: &mut Oracle,
    findings: Findings,
) -> Result<(Verdict, Vec<Found>), RunError> {
    let mut verdict = if findings.complete { Verdict::Safe } else { Verdict::Inconclusive };
    if findings.errors.contains_key(DEADLOCK) && ground.plan.retry.is_none() {
        verdict = verdict.max(Verdict::Deadlocks);
    }
    let hang = hang(&findings.unfinished);
    if hang.is_some() {
        verdict = Verdict::Broken;
    }
    let deadlock = ground.plan.retry.is_none().then(|| simplest_deadlock(&findings)).flatten();
    let mut failures: BTreeMap<(String, Vec<String>), Found> = BTreeMap::new();
    for (outcome, seen) in findings.outcomes {
        let (judged, failure) = judge(ground, oracle, &outcome, &seen)?;
        verdict = verdict.max(judged);
        let Some(failure) = failure else { continue };
        let key = (failure.kind.clone(), failure.checks.clone());
        match failures.get_mut(&key) {
            None => {
                failures.insert(key, Found { failure, played: seen.simplest });
            }
            Some(known) => {
                let schedules = known.failure.schedules + seen.schedules;
                if seen.simplest.cost() < known.played.cost() {
                    *known = Found { failure, played: seen.simplest };
                }
                known.failure.schedules = schedules;
            }
        }
    }
    let is_shown = failures.values().any(|found| is_deadlock(&found.played.outcome));
    Ok((verdict, failures.into_values().chain(deadlock.filter(|_| !is_shown)).chain(hang).collect()))
}

/// The simplest of the schedules that end in a deadlock.
fn simplest_deadlock(findings: &Findings) -> Option<Found> {
    let seen = findings.outcomes.iter().filter(|(outcome, _)| is_deadlock(outcome)).map(|(_, seen)| seen);
    let simplest = seen.min_by_key(|seen| seen.simplest.cost())?;
    let schedules = findings.errors.get(DEADLOCK).copied().unwrap_or_default();
    let failure = deadlock(&Seen { schedules, simplest: simplest.simplest.clone() })?;
    Some(Found { failure, played: simplest.simplest.clone() })
}

/// A deadlock as a failure of its own; none where there is none.
pub fn deadlock(seen: &Seen) -> Option<Failure> {
    const REASON: &str = "each of them waits for the next, until the server sends one away; nobody tries it again";
    let failure = || Failure::new(DEADLOCKED, REASON.to_owned(), seen.schedules, &seen.simplest.history);
    is_deadlock(&seen.simplest.outcome).then(failure)
}

fn is_deadlock(outcome: &Outcome) -> bool {
    outcome.distinct_errors().contains(&DEADLOCK)
}

/// What an outcome means, and what fails in it if anything does.
pub fn judge(
    ground: &mut Ground,
    oracle: &mut Oracle,
    outcome: &Outcome,
    seen: &Seen,
) -> Result<(Verdict, Option<Failure>), RunError> {
    let failure = |kind: String, reason: String| Failure {
        checks: outcome.failing.clone(),
        ..Failure::new(&kind, reason, seen.schedules, &seen.simplest.history)
    };
    Ok(match oracle.judge(ground.team, outcome)? {
        Judgement::Serial => (Verdict::Safe, None),
        Judgement::Unknown => (Verdict::Inconclusive, None),
        Judgement::OnTheWay => {
            let reason =
                "the check holds in a one-after-the-other order that gives the same data and answers".to_owned();
            match outcome.distinct_errors().join(", ") {
                none if none.is_empty() => (Verdict::Broken, Some(failure(ANOMALY.to_owned(), reason))),
                errors => (Verdict::Errors, Some(failure(format!("error {errors}"), reason))),
            }
        }
        Judgement::Refused { told } => {
            let reason = "no one-after-the-other order tells a client so; the data are right".to_owned();
            (Verdict::Errors, Some(failure(told.join(", "), reason)))
        }
        Judgement::Anomaly { .. } if outcome.failing.is_empty() && design::looks_at_others(ground.plan) => {
            (Verdict::Safe, None)
        }
        Judgement::Anomaly { contents, answers } => {
            let each_statement = ground.level <= Level::ReadCommitted;
            let named = name(&seen.simplest.history, &ground.knowledge.footprints, each_statement);
            let reason = reason(contents, answers).to_owned();
            let failure = match named {
                None => failure(ANOMALY.to_owned(), reason),
                Some(Named { name, cycle, unclear: None }) => Failure { cycle, ..failure(name, reason) },
                Some(Named { name, cycle, unclear: Some(table) }) => {
                    let why =
                        format!("{reason}; which rows of {table} were meant is not known, so it has no better name");
                    Failure { cycle, ..failure(name, why) }
                }
            };
            (Verdict::Broken, Some(failure))
        }
    })
}

fn reason(contents: bool, answers: bool) -> &'static str {
    match (contents, answers) {
        (true, _) => "no one-after-the-other order leaves these data behind",
        (false, true) => "no one-after-the-other order gives these answers, though the data could be",
        (false, false) => "the answers and the data belong to different orders",
    }
}

/// The simplest of the schedules in which somebody waits for ever.
fn hang(unfinished: &[Played]) -> Option<Found> {
    let simplest = unfinished.iter().min_by_key(|played| played.cost())?;
    let reason = simplest.history.unfinished.clone().unwrap_or_default();
    let failure = Failure::new(HANG, reason, unfinished.len() as u64, &simplest.history);
    Some(Found { failure, played: simplest.clone() })
}
