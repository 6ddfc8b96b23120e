//! What a history shows. Pure: it asks neither a database nor a clock.

mod expectation;

use std::collections::HashMap;

use serde::Serialize;

use crate::history::{Event, History, Phase, Told, What};

pub use expectation::{Expected, checks_fail, expectation, speaking};

/// The outcome of one run, with who was stopped and who had to wait on the way there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    #[serde(flatten)]
    pub outcome: Outcome,
    /// In the order in which the errors came.
    pub stopped: Vec<Stop>,
    /// In the order in which they began to wait.
    pub blocked: Vec<Blocked>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// A check fails at the end of the schedule, before any retry.
    Happens,
    /// Every check holds, and an error ended a session's transaction.
    Stopped,
    /// Nothing went wrong, but somebody had to wait.
    Waits,
    /// Nothing went wrong, and nobody waited.
    Prevented,
    /// It was not run: the server lacks something.
    Skipped { reason: String },
    /// A limit was reached before a verdict.
    Inconclusive { reason: String },
}

impl Outcome {
    /// As in scenario files and in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Happens => "happens",
            Outcome::Stopped => "stopped",
            Outcome::Waits => "waits",
            Outcome::Prevented => "prevented",
            Outcome::Skipped { .. } => "skipped",
            Outcome::Inconclusive { .. } => "inconclusive",
        }
    }
}

/// An error that ended a session's transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stop {
    pub session: String,
    pub step: String,
    pub sqlstate: String,
}

/// A step that had to wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocked {
    pub session: String,
    pub step: String,
}

impl Verdict {
    /// The verdict on a run that gave none.
    pub fn without_run(outcome: Outcome) -> Verdict {
        Verdict { outcome, stopped: Vec::new(), blocked: Vec::new() }
    }
}

/// Says what a run showed. Only what happened during the schedule counts, not its retries.
pub fn judge(history: &History) -> Verdict {
    let stopped = stopped(history);
    let blocked = blocked(history);
    let outcome = if let Some(reason) = &history.unfinished {
        Outcome::Inconclusive { reason: reason.clone() }
    } else if history.end.checks.iter().any(|check| !check.holds) {
        Outcome::Happens
    } else if !stopped.is_empty() {
        Outcome::Stopped
    } else if !blocked.is_empty() {
        Outcome::Waits
    } else {
        Outcome::Prevented
    };
    Verdict { outcome, stopped, blocked }
}

/// The error that every attempt ended with whose client was told that it failed; an error that the session caught stops nothing.
fn stopped(history: &History) -> Vec<Stop> {
    let mut last_error: HashMap<usize, Stop> = HashMap::new();
    let mut stopped = Vec::new();
    for event in scheduled(history) {
        match &event.what {
            What::Failed { error } => {
                let session = history.session_name(event.session).to_owned();
                let stop = Stop { session, step: event.step.clone(), sqlstate: error.sqlstate.clone() };
                last_error.insert(event.session, stop);
            }
            What::Ended { told, .. } => {
                let error = last_error.remove(&event.session);
                if matches!(told, Some(Told::Failed | Told::GaveUp | Told::Retried)) {
                    stopped.extend(error);
                }
            }
            _ => {}
        }
    }
    stopped
}

/// Every step that waited, once however often it was woken in vain.
fn blocked(history: &History) -> Vec<Blocked> {
    let mut seen = Vec::new();
    let mut blocked = Vec::new();
    for event in scheduled(history).filter(|event| matches!(event.what, What::Blocked { .. })) {
        let occurrence = (event.session, event.call, event.attempt, &event.step);
        if !seen.contains(&occurrence) {
            seen.push(occurrence);
            blocked.push(Blocked { session: history.session_name(event.session).to_owned(), step: event.step.clone() });
        }
    }
    blocked
}

fn scheduled(history: &History) -> impl Iterator<Item = &Event> {
    history.events.iter().filter(|event| event.phase == Phase::Schedule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Fate;
    use crate::history::testing::{error, event, history};

    fn ended(told: Told) -> What {
        let fate = Some(if told == Told::Ok { Fate::Committed } else { Fate::RolledBack });
        What::Ended { fate, told: Some(told), message: None }
    }

    fn waiting() -> What {
        What::Blocked { by: vec![0], on: None }
    }

    #[test]
    fn a_failing_check_is_the_anomaly_whatever_else_happened() {
        let events = vec![event(1, "commit", error("40001")), event(1, "commit", ended(Told::Failed))];
        let verdict = judge(&history(events, false));
        assert_eq!(verdict.outcome, Outcome::Happens);
        assert_eq!(verdict.stopped.len(), 1);
    }

    #[test]
    fn an_uncaught_error_stops_its_session() {
        let events = vec![
            event(1, "insert", waiting()),
            event(1, "commit", error("40001")),
            event(1, "commit", ended(Told::Failed)),
        ];
        let verdict = judge(&history(events, true));
        assert_eq!(verdict.outcome, Outcome::Stopped);
        let stop = Stop { session: "bob".into(), step: "commit".into(), sqlstate: "40001".into() };
        assert_eq!(verdict.stopped, [stop]);
    }

    #[test]
    fn a_caught_error_stops_nothing() {
        let events = vec![event(1, "lock", error("55P03")), event(1, "commit", ended(Told::Ok))];
        assert_eq!(judge(&history(events, true)).outcome, Outcome::Prevented);
    }

    #[test]
    fn of_two_errors_the_one_that_was_not_caught_counts() {
        let events = vec![
            event(1, "lock", error("55P03")),
            event(1, "write", error("40001")),
            event(1, "write", ended(Told::Retried)),
        ];
        let stopped = judge(&history(events, true)).stopped;
        assert_eq!(stopped.iter().map(|stop| stop.sqlstate.as_str()).collect::<Vec<_>>(), ["40001"]);
    }

    #[test]
    fn a_step_that_waits_twice_is_named_once() {
        let verdict = judge(&history(vec![event(1, "lock", waiting()), event(1, "lock", waiting())], true));
        assert_eq!(verdict.outcome, Outcome::Waits);
        assert_eq!(verdict.blocked, [Blocked { session: "bob".into(), step: "lock".into() }]);
    }

    #[test]
    fn a_run_without_an_end_is_inconclusive() {
        let unfinished = Some("the time limit was reached".to_owned());
        let verdict = judge(&History { unfinished, ..history(vec![event(1, "lock", waiting())], true) });
        assert_eq!(verdict.outcome, Outcome::Inconclusive { reason: "the time limit was reached".to_owned() });
        assert_eq!(verdict.blocked.len(), 1);
    }

    #[test]
    fn what_happens_in_a_retry_does_not_count() {
        let mut events =
            vec![event(1, "lock", waiting()), event(1, "lock", error("40001")), event(1, "lock", ended(Told::Failed))];
        for event in &mut events {
            event.phase = Phase::Retry;
        }
        assert_eq!(judge(&history(events, true)).outcome, Outcome::Prevented);
    }
}
