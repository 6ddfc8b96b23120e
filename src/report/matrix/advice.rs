//! Which fix to take. The order knows nothing of the scenario: see [`Cost`].

use serde::Serialize;

use super::super::Run;
use super::{Matrix, Row};
use crate::history::Told;
use crate::scenario::Level;
use crate::verdict::Outcome;

/// What a form that holds asks of its clients; the cheapest first. Of two that cost the same, the one at the lower level
/// is cheaper, then the one that the file has first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cost {
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

struct Candidate<'a> {
    cost: Cost,
    level: Level,
    as_written: bool,
    row: &'a Row,
    run: &'a Run,
}

pub fn advise(matrix: &Matrix) -> Advice {
    let mut candidates: Vec<Candidate> = matrix.rows.iter().flat_map(candidates).collect();
    // A stable sort: the order of the file decides last.
    candidates.sort_by_key(|candidate| (candidate.cost, candidate.level, candidate.as_written));
    let lowest = |candidate: &&Candidate| candidate.as_written && Some(&candidate.level) == matrix.levels.first();
    let as_it_is = candidates.iter().find(lowest);
    let (cheapest, text) = match (candidates.first(), as_it_is) {
        (None, _) => (None, "Nothing that was run holds.".to_owned()),
        (Some(best), Some(as_it_is)) if as_it_is.cost <= best.cost => {
            (None, format!("There is nothing to fix at {}", as_it_is.conditions()))
        }
        (Some(best), _) => (
            Some(best.named()),
            format!("The cheapest fix that holds is {} at {}", best.row.label(), best.conditions()),
        ),
    };
    Advice { scenario: matrix.scenario.clone(), cheapest, text }
}

/// The runs of a form that hold; of variants none, since those are no fixes.
fn candidates(row: &Row) -> impl Iterator<Item = Candidate<'_>> {
    let as_written = row.name.is_none();
    let runs = row.runs.iter().flatten().filter(move |_| row.is_fix || as_written);
    runs.filter_map(move |run| Some(Candidate { cost: cost(run)?, level: run.isolation, as_written, row, run }))
}

/// None where it does not hold.
fn cost(run: &Run) -> Option<Cost> {
    let after = run.history.as_ref().and_then(|history| history.after_retry.as_ref());
    if after.is_some_and(|after| !after.failing_checks().is_empty()) {
        return None;
    }
    let failed = |told: Option<Told>| matches!(told, Some(Told::Failed | Told::GaveUp));
    match run.verdict.outcome {
        Outcome::Prevented => Some(Cost::Nothing),
        Outcome::Waits => Some(Cost::Waiting),
        Outcome::Stopped => match after {
            Some(after) if !after.sessions.iter().any(|session| failed(session.told)) => Some(Cost::Retry),
            _ => Some(Cost::Error),
        },
        Outcome::Happens | Outcome::Skipped { .. } | Outcome::Inconclusive { .. } => None,
    }
}

impl Candidate<'_> {
    fn named(&self) -> Cheapest {
        Cheapest { fix: self.row.name.clone(), isolation: self.level }
    }

    /// The level, what it costs there, and where else the form does not hold.
    fn conditions(&self) -> String {
        let failing: Vec<&str> =
            self.row.runs.iter().flatten().filter(|run| fails(run)).map(|run| run.isolation.sql()).collect();
        let elsewhere = match failing.as_slice() {
            [] => String::new(),
            levels => format!("; it does not hold at {}", levels.join(" and ")),
        };
        format!("{}: {}{elsewhere}.", self.level.sql(), self.price())
    }

    fn price(&self) -> String {
        let sqlstate = self.run.verdict.stopped.first().map(|stop| stop.sqlstate.as_str()).unwrap_or_default();
        match self.cost {
            Cost::Nothing => "nobody waits and nobody gets an error".to_owned(),
            Cost::Waiting => "somebody waits, nobody gets an error".to_owned(),
            Cost::Retry => format!("somebody gets {sqlstate} and has to retry"),
            Cost::Error => format!("somebody gets {sqlstate}, and no retry helps"),
        }
    }
}

/// Whether it gave a verdict, and a bad one.
fn fails(run: &Run) -> bool {
    let has_verdict = !matches!(run.verdict.outcome, Outcome::Skipped { .. } | Outcome::Inconclusive { .. });
    has_verdict && cost(run).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::testing::{assessment, error, event, history};
    use crate::history::{Event, Fate, History, SessionEnd, What};

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

    fn matrix(rows: Vec<(Option<&str>, Vec<Option<Run>>)>) -> Matrix {
        let row = |(name, runs): (Option<&str>, _)| Row { name: name.map(str::to_owned), is_fix: name.is_some(), runs };
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
        let cost = |told| cost(&stopped(SER, "40001", Some(told)).unwrap());
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
