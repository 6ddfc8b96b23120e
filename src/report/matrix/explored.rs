//! The cell of an exploration: the verdict on all schedules, and what a retry had to repair.

use super::super::{exploration, quantity::count};
use super::{Cell, Cost, Words};
use crate::explore::{Exploration, Verdict};
use crate::scenario::Level;

/// One form at one level, explored.
#[derive(Debug, Clone, PartialEq)]
pub struct Explored {
    /// A fix or variant; none as written.
    pub fix: Option<String>,
    pub isolation: Level,
    /// Or why the server cannot do it.
    pub found: Result<Exploration, Skipped>,
    /// The SQLSTATEs that clients of the form retry.
    pub retried: Vec<String>,
    /// Drew what was random.
    pub seed: u64,
}

/// What the server lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub reason: String,
}

/// The errors of the schedules, joined: those that were retried, and the others.
struct Errors {
    retried: String,
    others: String,
}

impl Explored {
    fn errors(&self, exploration: &Exploration) -> Errors {
        let sqlstates = exploration.errors.iter().map(|(sqlstate, _)| sqlstate.as_str());
        let (retried, others): (Vec<&str>, Vec<&str>) =
            sqlstates.partition(|sqlstate| self.retried.iter().any(|retried| retried == sqlstate));
        Errors { retried: retried.join(", "), others: others.join(", ") }
    }
}

impl Cell for Explored {
    const WORDS: Words = Words {
        holds: "is safe over all schedules",
        fails: "it is not safe",
        nothing: "Nothing that was explored is safe over all schedules.",
        between_lines: " ",
    };

    fn fix(&self) -> Option<&str> {
        self.fix.as_deref()
    }

    fn isolation(&self) -> Level {
        self.isolation
    }

    /// `safe (14)`, `broken in 1 of 3`; what is too long is broken after a word.
    fn outcome(&self) -> Option<String> {
        let exploration = self.found.as_ref().ok()?;
        let played = count(exploration.schedules);
        let verdict = if exploration.only_hangs() { "hang" } else { exploration.verdict.name() };
        Some(match exploration.verdict {
            Verdict::Safe if self.errors(exploration).retried.is_empty() => format!("{verdict} ({played})"),
            Verdict::Safe => format!("{verdict} ({played}) after"),
            Verdict::Inconclusive | Verdict::NotARace => verdict.to_owned(),
            Verdict::Errors | Verdict::Deadlocks | Verdict::Broken => {
                format!("{verdict} in {} of {played}", count(exploration.failing()))
            }
        })
    }

    /// What a retry had to repair, and errors that it did not.
    fn second_line(&self) -> Option<String> {
        let exploration = self.found.as_ref().ok()?;
        let Errors { retried, others } = self.errors(exploration);
        match exploration.verdict {
            Verdict::Safe if others.is_empty() => (!retried.is_empty()).then(|| format!("retry {retried}")),
            Verdict::Safe if retried.is_empty() => Some(format!("with {others}")),
            Verdict::Safe => Some(format!("retry {retried}, with {others}")),
            Verdict::Errors if others.is_empty() => Some(format!("with {retried}")),
            Verdict::Errors => Some(format!("with {others}")),
            Verdict::Inconclusive => Some(format!("({} played)", count(exploration.schedules))),
            Verdict::Deadlocks | Verdict::NotARace | Verdict::Broken => None,
        }
    }

    /// Who waits is not counted.
    fn cost(&self) -> Option<Cost> {
        let exploration = self.found.as_ref().ok().filter(|found| found.verdict == Verdict::Safe)?;
        let Errors { retried, others } = self.errors(exploration);
        Some(match (retried.is_empty(), others.is_empty()) {
            (_, false) => Cost::Error,
            (false, true) => Cost::Retry,
            (true, true) => Cost::Nothing,
        })
    }

    fn price(&self, cost: Cost) -> String {
        let errors = self.found.as_ref().ok().map(|found| self.errors(found));
        match (cost, errors) {
            (Cost::Retry, Some(errors)) => format!("some schedules give {} and need a retry", errors.retried),
            (Cost::Error, Some(errors)) => format!("some schedules give {}, which is not retried", errors.others),
            _ => "no schedule gives an error".to_owned(),
        }
    }

    fn has_verdict(&self) -> bool {
        self.found.as_ref().is_ok_and(|found| found.verdict != Verdict::Inconclusive)
    }

    fn is_unexpected(&self) -> bool {
        self.found.as_ref().is_ok_and(Exploration::is_unexpected)
    }

    fn notes(&self, form: &str) -> Vec<String> {
        let place = format!("{form} at {}", self.isolation.sql());
        let exploration = match &self.found {
            Ok(exploration) => exploration,
            Err(Skipped { reason }) => return vec![format!("{form}: n/a, it {reason}")],
        };
        let mut notes: Vec<String> = exploration.notes.iter().map(|note| format!("{place}: {note}")).collect();
        if exploration.is_unexpected() {
            let lines = self.outcome().into_iter().chain(self.second_line());
            notes.push(format!(
                "{place}: NOT expected, came {}",
                lines.collect::<Vec<_>>().join(Self::WORDS.between_lines)
            ));
        }
        if exploration.orders_left() > 0 {
            let drawn = exploration.fallback.filter(|fallback| fallback.random > 0).map(|fallback| {
                format!(
                    "; {} at random, drawn by --seed {}",
                    exploration::count(fallback.random, "schedule"),
                    self.seed
                )
            });
            let left = exploration::count(exploration.orders_left(), "order");
            notes.push(format!("{place}: up to {left} not covered{}", drawn.unwrap_or_default()));
        }
        let differs = exploration.failures.iter().find_map(|failure| failure.differs.as_ref());
        notes.extend(differs.map(|differs| format!("{place}: not repeatable, the same schedule differs: {differs}")));
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Matrix, Row};
    use super::*;
    use crate::explore::{Fallback, testing};

    fn exploration(verdict: Verdict, errors: &[(&str, u64)]) -> Exploration {
        let errors = errors.iter().map(|(sqlstate, schedules)| ((*sqlstate).to_owned(), *schedules)).collect();
        Exploration { errors, ..testing::exploration(verdict) }
    }

    fn failing(verdict: Verdict, kinds: &[&str]) -> Exploration {
        let failure = |kind: &&str| testing::failure(kind, &[]);
        Exploration { failures: kinds.iter().map(failure).collect(), ..exploration(verdict, &[("23505", 2)]) }
    }

    fn cell(found: Result<Exploration, Skipped>) -> Explored {
        let isolation = Level::ReadCommitted;
        Explored { fix: None, isolation, found, retried: vec!["40001".to_owned()], seed: 7 }
    }

    fn shown(found: Exploration) -> String {
        let cell = cell(Ok(found));
        cell.outcome().into_iter().chain(cell.second_line()).collect::<Vec<_>>().join(" / ")
    }

    #[test]
    fn a_cell_says_how_often_and_after_what() {
        let safe = |errors| shown(exploration(Verdict::Safe, errors));
        assert_eq!(safe(&[]), "safe (1,400)");
        assert_eq!(safe(&[("40001", 3)]), "safe (1,400) after / retry 40001");
        assert_eq!(safe(&[("23505", 3)]), "safe (1,400) / with 23505");
        assert_eq!(safe(&[("23505", 1), ("40001", 3)]), "safe (1,400) after / retry 40001, with 23505");
        let deadlocks = exploration(Verdict::Deadlocks, &[("40001", 9), ("40P01", 4)]);
        assert_eq!(shown(deadlocks), "deadlocks in 4 of 1,400");
        assert_eq!(shown(failing(Verdict::Errors, &["failed 23505"])), "errors in 2 of 1,400 / with 23505");
        let on_the_way = exploration(Verdict::Errors, &[("40001", 3)]);
        assert_eq!(shown(on_the_way), "errors in 0 of 1,400 / with 40001");
        assert_eq!(shown(failing(Verdict::Broken, &["hang"])), "hang in 2 of 1,400");
        assert_eq!(shown(failing(Verdict::Broken, &["hang", "write skew (G2)"])), "broken in 4 of 1,400");
        assert_eq!(shown(failing(Verdict::NotARace, &["not a race"])), "not a race");
        assert_eq!(shown(exploration(Verdict::Inconclusive, &[])), "inconclusive / (1,400 played)");
    }

    #[test]
    fn what_was_not_explored_says_why() {
        let skipped = cell(Err(Skipped { reason: "needs PostgreSQL 18".to_owned() }));
        assert_eq!((skipped.outcome(), skipped.has_verdict()), (None, false));
        assert_eq!(skipped.notes("locks"), ["locks: n/a, it needs PostgreSQL 18"]);
        let notes = vec!["the time is over".to_owned()];
        let cut = Exploration { notes, schedules: 0, orders: 0, ..exploration(Verdict::Inconclusive, &[]) };
        assert_eq!(shown(cut.clone()), "inconclusive / (0 played)");
        assert_eq!(cell(Ok(cut)).notes("locks"), ["locks at READ COMMITTED: the time is over"]);
    }

    #[test]
    fn what_is_not_covered_is_counted_with_its_seed() {
        let fallback = Fallback { random: 5, ..Fallback::default() };
        let found = Exploration { fallback: Some(fallback), ..exploration(Verdict::Inconclusive, &[]) };
        let expected = "locks at READ COMMITTED: up to 2 orders not covered; 5 schedules at random, drawn by --seed 7";
        assert_eq!(cell(Ok(found)).notes("locks"), [expected]);
    }

    #[test]
    fn of_what_is_safe_a_retry_is_cheaper_than_an_error() {
        let row = |name: Option<&str>, found| Row {
            name: name.map(str::to_owned),
            is_fix: name.is_some(),
            cells: vec![Some(cell(Ok(found)))],
        };
        let advice = |fixes: Vec<Row<Explored>>| {
            let as_written = row(None, failing(Verdict::Broken, &["write skew (G2)"]));
            let levels = vec![Level::ReadCommitted];
            let rows = [vec![as_written], fixes].concat();
            Matrix { scenario: "odd".to_owned(), title: "Odd".to_owned(), levels, rows }.advice().text
        };
        let fix = |name: &'static str, errors: &[(&str, u64)]| row(Some(name), exploration(Verdict::Safe, errors));
        let (unique, retry) = (fix("unique", &[("23505", 1)]), fix("retry", &[("40001", 1)]));
        let cheapest = "The cheapest fix that is safe over all schedules is";
        assert_eq!(
            advice(vec![unique.clone(), retry.clone(), fix("locks", &[])]),
            format!("{cheapest} locks at READ COMMITTED: no schedule gives an error.")
        );
        assert_eq!(
            advice(vec![unique.clone(), retry]),
            format!("{cheapest} retry at READ COMMITTED: some schedules give 40001 and need a retry.")
        );
        assert_eq!(
            advice(vec![unique]),
            format!("{cheapest} unique at READ COMMITTED: some schedules give 23505, which is not retried.")
        );
        let deadlocks = row(Some("locks"), exploration(Verdict::Deadlocks, &[("40P01", 1)]));
        assert_eq!(advice(vec![deadlocks]), "Nothing that was explored is safe over all schedules.");
    }
}
