//! Whether a run gave what the scenario's `@expect` foresees.

use super::{Outcome, Stop, Verdict};
use crate::history::{Assessment, History};
use crate::scenario::{Expect, ExpectedOutcome, ExpectedStop, Level};

/// The `@expect` that speaks of a run, and whether it came true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The outcome as written: `stopped 40001 at bob commit then holds`.
    pub text: String,
    pub as_expected: bool,
    /// What came instead, in words; none where it came true.
    pub difference: Option<String>,
}

/// The last `@expect` for a level and the server's major version; for READ UNCOMMITTED, where none speaks of it, that for
/// READ COMMITTED, which it is.
pub fn speaking(expects: &[Expect], level: Level, server_major: u32) -> Option<&Expect> {
    let speaks_of_version =
        |expect: &&Expect| expect.version.is_none_or(|(comparison, version)| comparison.holds(&server_major, &version));
    let for_level =
        |level| expects.iter().rev().filter(|expect| expect.levels.contains(&level)).find(speaks_of_version);
    for_level(level).or_else(|| for_level(level.in_effect()))
}

/// Compares a run with the `@expect` that speaks of it. None where there is none, or where the run gave no verdict to
/// compare.
pub fn expectation(
    expects: &[Expect],
    level: Level,
    server_major: u32,
    verdict: &Verdict,
    history: &History,
) -> Option<Expected> {
    if matches!(verdict.outcome, Outcome::Skipped { .. } | Outcome::Inconclusive { .. }) {
        return None;
    }
    let expect = speaking(expects, level, server_major)?;
    let mut differences = Vec::new();
    if !outcome_matches(&expect.outcome, verdict) {
        differences.push(in_words(verdict, &history.end));
    }
    if let Some(holds) = expect.then_holds {
        differences.extend(difference_after_retry(holds, history));
    }
    Some(Expected {
        text: expect.text.clone(),
        as_expected: differences.is_empty(),
        difference: (!differences.is_empty()).then(|| differences.join("; ")),
    })
}

fn outcome_matches(expected: &ExpectedOutcome, verdict: &Verdict) -> bool {
    match expected {
        ExpectedOutcome::Happens(None) => verdict.outcome == Outcome::Happens,
        ExpectedOutcome::Happens(Some(stop)) => {
            verdict.outcome == Outcome::Happens && verdict.stopped.iter().any(|actual| is_stop(stop, actual))
        }
        ExpectedOutcome::Stopped(stops) => verdict.outcome == Outcome::Stopped && same_stops(stops, &verdict.stopped),
        ExpectedOutcome::Waits => verdict.outcome == Outcome::Waits,
        ExpectedOutcome::Prevented => verdict.outcome == Outcome::Prevented,
        ExpectedOutcome::Holds => {
            matches!(verdict.outcome, Outcome::Stopped | Outcome::Waits | Outcome::Prevented)
        }
    }
}

/// Each expected stop came once, and no other.
fn same_stops(expected: &[ExpectedStop], actual: &[Stop]) -> bool {
    let mut left: Vec<&Stop> = actual.iter().collect();
    // Those that name a step choose first: `40001` alone would take any.
    let (placed, anywhere): (Vec<_>, Vec<_>) = expected.iter().partition(|stop| stop.at.is_some());
    for stop in placed.into_iter().chain(anywhere) {
        match left.iter().position(|actual| is_stop(stop, actual)) {
            Some(found) => left.remove(found),
            None => return false,
        };
    }
    left.is_empty()
}

fn is_stop(expected: &ExpectedStop, actual: &Stop) -> bool {
    expected.sqlstate == actual.sqlstate
        && expected.at.as_ref().is_none_or(|(session, step)| *session == actual.session && *step == actual.step)
}

fn difference_after_retry(holds: bool, history: &History) -> Option<String> {
    let (moment, assessment) = match &history.after_retry {
        Some(after) => ("after the retries", after),
        None => ("at the end, with nothing to retry,", &history.end),
    };
    let failing = assessment.failing_checks();
    match (holds, failing.is_empty()) {
        (true, false) => Some(format!("{moment} {}", checks_fail(&failing))),
        (false, true) => Some(format!("{moment} every check holds")),
        _ => None,
    }
}

/// `happens (check "within budget" fails), stopped 40001 at bob commit`: in the words of `@expect`.
fn in_words(verdict: &Verdict, end: &Assessment) -> String {
    let stops: Vec<String> =
        verdict.stopped.iter().map(|stop| format!("{} at {} {}", stop.sqlstate, stop.session, stop.step)).collect();
    let stops = stops.join(" and ");
    match &verdict.outcome {
        Outcome::Happens if stops.is_empty() => format!("happens: {}", checks_fail(&end.failing_checks())),
        Outcome::Happens => format!("happens {stops}: {}", checks_fail(&end.failing_checks())),
        Outcome::Stopped => format!("stopped {stops}"),
        other => other.name().to_owned(),
    }
}

/// `check "within budget" fails`.
pub fn checks_fail<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(S::as_ref).collect();
    match names[..] {
        [name] => format!("check \"{name}\" fails"),
        _ => format!("checks \"{}\" fail", names.join("\", \"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::testing::{assessment, history};
    use crate::scenario::Comparison;
    use crate::scenario::source::Span;

    fn expect(outcome: ExpectedOutcome) -> Expect {
        Expect {
            levels: vec![Level::ReadCommitted],
            version: None,
            outcome,
            then_holds: None,
            text: "as written".to_owned(),
            explored: None,
            span: Span::default(),
        }
    }

    fn expected_stop(sqlstate: &str, at: Option<(&str, &str)>) -> ExpectedStop {
        let at = at.map(|(session, step)| (session.to_owned(), step.to_owned()));
        ExpectedStop { sqlstate: sqlstate.to_owned(), at }
    }

    fn stop(session: &str, step: &str, sqlstate: &str) -> Stop {
        Stop { session: session.to_owned(), step: step.to_owned(), sqlstate: sqlstate.to_owned() }
    }

    fn verdict(outcome: Outcome, stopped: Vec<Stop>) -> Verdict {
        Verdict { outcome, stopped, blocked: Vec::new() }
    }

    fn difference(expects: &[Expect], verdict: &Verdict, history: &History) -> Option<String> {
        expectation(expects, Level::ReadCommitted, 18, verdict, history).expect("an @expect speaks").difference
    }

    #[test]
    fn an_outcome_is_expected_by_its_name() {
        let run = history(Vec::new(), true);
        let prevented = verdict(Outcome::Prevented, Vec::new());
        assert_eq!(difference(&[expect(ExpectedOutcome::Prevented)], &prevented, &run), None);
        assert_eq!(difference(&[expect(ExpectedOutcome::Holds)], &prevented, &run), None);
        assert_eq!(difference(&[expect(ExpectedOutcome::Waits)], &prevented, &run), Some("prevented".to_owned()));
    }

    #[test]
    fn holds_is_anything_but_happens() {
        let happens = verdict(Outcome::Happens, Vec::new());
        let found = difference(&[expect(ExpectedOutcome::Holds)], &happens, &history(Vec::new(), false));
        assert_eq!(found, Some("happens: check \"within budget\" fails".to_owned()));
    }

    #[test]
    fn stops_are_compared_as_a_set() {
        let expects = [expect(ExpectedOutcome::Stopped(vec![
            expected_stop("40001", None),
            expected_stop("40001", Some(("bob", "commit"))),
        ]))];
        let run = history(Vec::new(), true);
        let both = verdict(Outcome::Stopped, vec![stop("bob", "commit", "40001"), stop("carol", "write", "40001")]);
        assert_eq!(difference(&expects, &both, &run), None);
        let one = verdict(Outcome::Stopped, vec![stop("bob", "commit", "40001")]);
        assert_eq!(difference(&expects, &one, &run), Some("stopped 40001 at bob commit".to_owned()));
        let third = verdict(Outcome::Stopped, [both.stopped, vec![stop("dave", "write", "40P01")]].concat());
        assert!(difference(&expects, &third, &run).is_some());
    }

    #[test]
    fn happens_with_a_stop_needs_that_stop() {
        let expects = [expect(ExpectedOutcome::Happens(Some(expected_stop("40001", Some(("bob", "commit"))))))];
        let run = history(Vec::new(), false);
        let with = verdict(Outcome::Happens, vec![stop("bob", "commit", "40001")]);
        assert_eq!(difference(&expects, &with, &run), None);
        assert!(difference(&expects, &verdict(Outcome::Happens, Vec::new()), &run).is_some());
    }

    #[test]
    fn then_speaks_of_the_moment_after_the_retries() {
        let mut expects = [expect(ExpectedOutcome::Prevented)];
        expects[0].then_holds = Some(true);
        let prevented = verdict(Outcome::Prevented, Vec::new());
        let mut run = history(Vec::new(), true);
        assert_eq!(difference(&expects, &prevented, &run), None);
        run.after_retry = Some(assessment(false));
        let found = difference(&expects, &prevented, &run);
        assert_eq!(found, Some("after the retries check \"within budget\" fails".to_owned()));
        expects[0].then_holds = Some(false);
        assert_eq!(difference(&expects, &prevented, &run), None);
    }

    #[test]
    fn a_run_without_a_verdict_contradicts_nothing() {
        let inconclusive = verdict(Outcome::Inconclusive { reason: "time".to_owned() }, Vec::new());
        let expects = [expect(ExpectedOutcome::Waits)];
        assert_eq!(expectation(&expects, Level::ReadCommitted, 18, &inconclusive, &history(Vec::new(), true)), None);
    }

    #[test]
    fn the_last_expectation_of_the_level_and_version_speaks() {
        let prevented = verdict(Outcome::Prevented, Vec::new());
        let run = history(Vec::new(), true);
        let newer = Expect {
            version: Some((Comparison::GreaterOrEqual, 18)),
            text: "newer".to_owned(),
            ..expect(ExpectedOutcome::Prevented)
        };
        let expects = [expect(ExpectedOutcome::Waits), newer];
        let speaking =
            |major| expectation(&expects, Level::ReadCommitted, major, &prevented, &run).expect("one speaks");
        assert_eq!((speaking(18).text.as_str(), speaking(18).as_expected), ("newer", true));
        assert_eq!((speaking(15).text.as_str(), speaking(15).as_expected), ("as written", false));
        assert_eq!(expectation(&expects, Level::Serializable, 18, &prevented, &run), None);
    }

    #[test]
    fn read_uncommitted_is_expected_to_be_read_committed() {
        let prevented = verdict(Outcome::Prevented, Vec::new());
        let run = history(Vec::new(), true);
        let own = Expect {
            levels: vec![Level::ReadUncommitted],
            text: "its own".to_owned(),
            ..expect(ExpectedOutcome::Prevented)
        };
        let speaking = |expects: &[Expect]| {
            expectation(expects, Level::ReadUncommitted, 18, &prevented, &run).expect("one speaks").text
        };
        assert_eq!(speaking(&[expect(ExpectedOutcome::Waits)]), "as written");
        assert_eq!(speaking(&[own, expect(ExpectedOutcome::Waits)]), "its own");
    }
}
