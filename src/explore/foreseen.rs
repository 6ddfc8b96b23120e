//! Whether exploring found what the scenario's `@expect` foresees.

use super::{Exploration, Failure, HANG, Verdict};
use crate::scenario::{Expect, ExpectedOfAll, ExpectedOutcome, ExpectedStop};
use crate::verdict::{Expected, checks_fail, speaking};

/// Compares all schedules with the `@expect` that speaks of their level: one that foresees a failing check wants a schedule
/// that shows it, or ends with the error that it names; one that foresees an anomaly wants one, and no failing check; any
/// other wants neither. None where no `@expect` speaks, or where there is no verdict to compare.
pub fn compare(exploration: &Exploration, expects: &[Expect], server_major: u32) -> Option<Expected> {
    if exploration.verdict == Verdict::Inconclusive {
        return None;
    }
    let expect = speaking(expects, exploration.isolation, server_major)?;
    let difference = match (&expect.outcome, expect.explored) {
        (ExpectedOutcome::Happens(stop), _) => without_failing_check(exploration, stop.as_ref()),
        (_, Some(ExpectedOfAll::Happens)) => without_failing_check(exploration, None),
        (_, Some(ExpectedOfAll::Anomaly)) => other_than_anomaly(exploration),
        (_, None) => goes_wrong(exploration).then(|| kinds(exploration)),
    };
    Some(Expected { text: expect.written(), as_expected: difference.is_none(), difference })
}

fn without_failing_check(exploration: &Exploration, stop: Option<&ExpectedStop>) -> Option<String> {
    let fails = exploration.repaired > 0 || exploration.failures.iter().any(fails_a_check);
    let is_foreseen = |stop: &ExpectedStop| exploration.errors.iter().any(|(sqlstate, _)| *sqlstate == stop.sqlstate);
    let is_stopped = exploration.verdict > Verdict::Safe && stop.is_some_and(is_foreseen);
    match exploration.verdict {
        _ if fails || is_stopped => None,
        Verdict::Broken => Some(kinds(exploration)),
        _ => Some("no schedule fails a check".to_owned()),
    }
}

fn other_than_anomaly(exploration: &Exploration) -> Option<String> {
    match exploration.verdict {
        Verdict::Broken => {
            let is_other = races(exploration).any(|failure| fails_a_check(failure) || failure.kind == HANG);
            is_other.then(|| kinds(exploration))
        }
        // A limit came before the anomaly could.
        _ if !exploration.complete => None,
        _ => Some("every answer is one that some one-after-the-other order gives".to_owned()),
    }
}

/// Whether an answer, the data or a check are wrong because of the order.
pub fn goes_wrong(exploration: &Exploration) -> bool {
    exploration.verdict == Verdict::Broken || races(exploration).any(fails_a_check)
}

fn fails_a_check(failure: &Failure) -> bool {
    !failure.checks.is_empty()
}

/// What goes wrong because of the order.
fn races(exploration: &Exploration) -> impl Iterator<Item = &Failure> {
    exploration.failures.iter().filter(|failure| failure.kind != Verdict::NotARace.name())
}

fn kinds(exploration: &Exploration) -> String {
    let kind = |failure: &Failure| match failure.checks.is_empty() {
        true => failure.kind.clone(),
        false => format!("{}: {}", failure.kind, checks_fail(&failure.checks)),
    };
    races(exploration).map(kind).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{exploration, failure};
    use super::*;
    use crate::scenario::Level;
    use crate::scenario::source::Span;

    const CHECK: &[&str] = &["within budget"];

    fn found(verdict: Verdict, failures: Vec<Failure>) -> Exploration {
        Exploration { failures, ..exploration(verdict) }
    }

    fn safe() -> Exploration {
        found(Verdict::Safe, Vec::new())
    }

    fn anomaly() -> Exploration {
        found(Verdict::Broken, vec![failure("read skew (G-single)", &[])])
    }

    fn fails() -> Exploration {
        found(Verdict::Broken, vec![failure("write skew (G2)", CHECK)])
    }

    fn expect(outcome: ExpectedOutcome, explored: Option<ExpectedOfAll>) -> Expect {
        Expect {
            levels: vec![Level::ReadCommitted],
            version: None,
            outcome,
            then_holds: None,
            text: "waits".to_owned(),
            explored,
            span: Span::default(),
        }
    }

    fn difference(exploration: &Exploration, outcome: ExpectedOutcome, explored: Option<ExpectedOfAll>) -> String {
        let expected = compare(exploration, &[expect(outcome, explored)], 18).expect("one speaks");
        expected.difference.unwrap_or_default()
    }

    #[test]
    fn where_nothing_is_foreseen_nothing_may_go_wrong() {
        let difference = |exploration| difference(&exploration, ExpectedOutcome::Waits, None);
        assert_eq!(difference(safe()), "");
        assert_eq!(difference(anomaly()), "read skew (G-single)");
        assert_eq!(difference(fails()), "write skew (G2): check \"within budget\" fails");
        let on_the_way = found(Verdict::Errors, vec![failure("error 40001", CHECK)]);
        assert_eq!(difference(on_the_way), "error 40001: check \"within budget\" fails");
        assert_eq!(difference(found(Verdict::NotARace, vec![failure("not a race", CHECK)])), "");
    }

    #[test]
    fn a_foreseen_anomaly_must_come_and_nothing_worse() {
        let difference = |exploration| difference(&exploration, ExpectedOutcome::Waits, Some(ExpectedOfAll::Anomaly));
        assert_eq!(difference(anomaly()), "");
        assert_eq!(difference(safe()), "every answer is one that some one-after-the-other order gives");
        assert_eq!(difference(Exploration { complete: false, ..found(Verdict::NotARace, Vec::new()) }), "");
        assert!(!difference(fails()).is_empty());
        let both = found(Verdict::Broken, [anomaly().failures, fails().failures].concat());
        assert!(!difference(both).is_empty());
        assert_eq!(difference(found(Verdict::Broken, vec![failure("hang", &[])])), "hang");
        let not_a_race = [anomaly().failures, vec![failure("not a race", CHECK)]].concat();
        assert_eq!(difference(found(Verdict::Broken, not_a_race)), "");
    }

    #[test]
    fn a_foreseen_failing_check_must_come() {
        for (outcome, explored) in
            [(ExpectedOutcome::Happens(None), None), (ExpectedOutcome::Waits, Some(ExpectedOfAll::Happens))]
        {
            let difference = |exploration| difference(&exploration, outcome.clone(), explored);
            assert_eq!(difference(fails()), "");
            assert_eq!(difference(Exploration { repaired: 1, ..safe() }), "");
            assert_eq!(difference(safe()), "no schedule fails a check");
            assert_eq!(difference(anomaly()), "read skew (G-single)");
        }
        let stop = ExpectedStop { sqlstate: "40P01".to_owned(), at: None };
        let deadlocks = Exploration { errors: vec![("40P01".to_owned(), 2)], ..exploration(Verdict::Deadlocks) };
        assert_eq!(difference(&deadlocks, ExpectedOutcome::Happens(Some(stop)), None), "");
    }

    #[test]
    fn without_a_verdict_nothing_is_compared() {
        let cut = exploration(Verdict::Inconclusive);
        assert_eq!(compare(&cut, &[expect(ExpectedOutcome::Happens(None), None)], 18), None);
        assert!(!cut.is_unexpected());
        assert!(anomaly().is_unexpected(), "no `@expect` speaks of it");
        let expected = compare(&anomaly(), &[expect(ExpectedOutcome::Waits, Some(ExpectedOfAll::Anomaly))], 18);
        assert_eq!(expected.map(|expected| expected.text).as_deref(), Some("waits, explored anomaly"));
    }
}
