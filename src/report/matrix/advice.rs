//! Which fix to take. The order knows nothing of the scenario: see [`Cost`].

use serde::Serialize;

use super::{Cell, Matrix, Row};
use crate::scenario::Level;

/// What a form that holds asks of its clients; the cheapest first. Of two that cost the same, the one at the lower level
/// is cheaper, then the one that the file has first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Nobody waits, nobody gets an error.
    Nothing,
    Waiting,
    /// An error, and the retry comes through.
    Retry,
    /// An error that stays.
    Error,
}

/// What to do about a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    pub scenario: String,
    /// None where nothing holds, or where there is nothing to fix.
    pub cheapest: Option<Cheapest>,
    /// The same in one sentence.
    pub text: String,
}

/// A form that holds, and the level to run it at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cheapest {
    /// None as written: the level is the fix.
    pub fix: Option<String>,
    pub isolation: Level,
}

struct Candidate<'a, C> {
    cost: Cost,
    level: Level,
    as_written: bool,
    row: &'a Row<C>,
    cell: &'a C,
}

pub fn advise<C: Cell>(matrix: &Matrix<C>) -> Advice {
    let mut candidates: Vec<Candidate<C>> = matrix.rows.iter().flat_map(candidates).collect();
    // A stable sort: the order of the file decides last.
    candidates.sort_by_key(|candidate| (candidate.cost, candidate.level, candidate.as_written));
    let lowest = |candidate: &&Candidate<C>| candidate.as_written && Some(&candidate.level) == matrix.levels.first();
    let as_it_is = candidates.iter().find(lowest);
    let (cheapest, text) = match (candidates.first(), as_it_is) {
        (None, _) => (None, C::WORDS.nothing.to_owned()),
        (Some(best), Some(as_it_is)) if as_it_is.cost <= best.cost => {
            (None, format!("There is nothing to fix at {}", as_it_is.conditions()))
        }
        (Some(best), _) => (
            Some(best.named()),
            format!("The cheapest fix that {} is {} at {}", C::WORDS.holds, best.row.label(), best.conditions()),
        ),
    };
    Advice { scenario: matrix.scenario.clone(), cheapest, text }
}

/// The levels at which a form holds; of variants none, since those are no fixes.
fn candidates<C: Cell>(row: &Row<C>) -> impl Iterator<Item = Candidate<'_, C>> {
    let as_written = row.name.is_none();
    let cells = row.cells.iter().flatten().filter(move |_| row.is_fix || as_written);
    cells.filter_map(move |cell| Some(Candidate { cost: cell.cost()?, level: cell.isolation(), as_written, row, cell }))
}

impl<C: Cell> Candidate<'_, C> {
    fn named(&self) -> Cheapest {
        Cheapest { fix: self.row.name.clone(), isolation: self.level }
    }

    /// The level, what it costs there, and where else the form does not hold.
    fn conditions(&self) -> String {
        let fails = |cell: &&C| cell.has_verdict() && cell.cost().is_none();
        let failing: Vec<&str> =
            self.row.cells.iter().flatten().filter(fails).map(|cell| cell.isolation().sql()).collect();
        let elsewhere = match failing.as_slice() {
            [] => String::new(),
            levels => format!("; {} at {}", C::WORDS.fails, levels.join(" and ")),
        };
        format!("{}: {}{elsewhere}.", self.level.sql(), self.cell.price(self.cost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Told;
    use crate::history::testing::{assessment, error, event, history};
    use crate::history::{Event, Fate, History, SessionEnd, What};
    use crate::report::Run;

    fn run(isolation: Level, events: Vec<Event>, holds: bool) -> Option<Run> {
        Some(Run::judged("Write skew", History { isolation, ..history(events, holds) }, &[], 18))
    }

    fn waits(isolation: Level) -> Option<Run> {
        run(isolation, vec![event(1, "lock", What::Blocked { by: vec![0], on: None })], true)
    }

    fn stopped(isolation: Level, sqlstate: &str, retry: Option<Told>) -> Option<Run> {
        let ended = What::Ended { fate: Some(Fate::RolledBack), told: Some(Told::Failed), message: None };
        let events = vec![event(1, "commit", error(sqlstate)), event(1, "commit", ended)];
        let mut history = History { isolation, ..history(events, true) };
        history.after_retry = retry.map(|told| {
            let session = SessionEnd { name: "bob".to_owned(), fate: None, told: Some(told), attempts: 2 };
            crate::history::Assessment { sessions: vec![session], ..assessment(true) }
        });
        Some(Run::judged("Write skew", history, &[], 18))
    }

    fn matrix(rows: Vec<(Option<&str>, Vec<Option<Run>>)>) -> Matrix<Run> {
        let row =
            |(name, cells): (Option<&str>, _)| Row { name: name.map(str::to_owned), is_fix: name.is_some(), cells };
        Matrix {
            scenario: "write-skew".to_owned(),
            title: "Write skew".to_owned(),
            levels: vec![Level::ReadCommitted, Level::Serializable],
            rows: rows.into_iter().map(row).collect(),
        }
    }

    const RC: Level = Level::ReadCommitted;
    const SER: Level = Level::Serializable;

    fn happens(level: Level) -> Option<Run> {
        run(level, Vec::new(), false)
    }

    #[test]
    fn waiting_is_cheaper_than_a_retry_and_a_retry_than_an_error() {
        let unique = (Some("unique"), vec![stopped(RC, "23505", None), None]);
        let retry = (Some("serializable"), vec![None, stopped(SER, "40001", Some(Told::Ok))]);
        let locks = (Some("locks"), vec![waits(RC), happens(SER)]);
        let as_written = (None, vec![happens(RC), happens(SER)]);
        let text = |rows: &[(Option<&str>, Vec<Option<Run>>)]| matrix(rows.to_vec()).advice().text;
        assert_eq!(
            text(&[as_written.clone(), unique.clone(), retry.clone(), locks]),
            "The cheapest fix that holds is locks at READ COMMITTED: somebody waits, nobody gets an error; it does not \
             hold at SERIALIZABLE."
        );
        assert_eq!(
            text(&[as_written.clone(), unique.clone(), retry]),
            "The cheapest fix that holds is serializable at SERIALIZABLE: somebody gets 40001 and has to retry."
        );
        assert_eq!(
            text(&[as_written, unique]),
            "The cheapest fix that holds is unique at READ COMMITTED: somebody gets 23505, and no retry helps."
        );
    }

    #[test]
    fn a_retry_that_fails_is_an_error() {
        let cost = |told| stopped(SER, "40001", Some(told)).unwrap().cost();
        assert_eq!(cost(Told::Rejected), Some(Cost::Retry));
        assert_eq!(cost(Told::Failed), Some(Cost::Error));
    }

    #[test]
    fn the_level_may_be_the_fix() {
        let advice = matrix(vec![(None, vec![happens(RC), run(SER, Vec::new(), true)])]).advice();
        assert_eq!(advice.cheapest, Some(Cheapest { fix: None, isolation: SER }));
        let expected = "The cheapest fix that holds is as written at SERIALIZABLE: nobody waits and nobody gets an \
                        error; it does not hold at READ COMMITTED.";
        assert_eq!(advice.text, expected);
    }

    #[test]
    fn where_nothing_is_wrong_there_is_nothing_to_fix() {
        let advice = matrix(vec![(None, vec![waits(RC), None]), (Some("other"), vec![waits(RC), None])]).advice();
        assert_eq!(advice.cheapest, None);
        let expected = "There is nothing to fix at READ COMMITTED: somebody waits, nobody gets an error.";
        assert_eq!(advice.text, expected);
    }

    #[test]
    fn where_nothing_holds_nothing_is_advised() {
        let advice = matrix(vec![(None, vec![happens(RC), happens(SER)])]).advice();
        assert_eq!((advice.cheapest, advice.text.as_str()), (None, "Nothing that was run holds."));
    }
}
