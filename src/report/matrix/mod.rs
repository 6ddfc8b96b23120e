//! One scenario in all its forms: a row for each form, a column for each level, and which fix to take.

mod advice;
mod cell;
mod markdown;
mod text;

use super::Run;
use crate::scenario::{Level, Scenario};
use crate::verdict::Outcome;

pub use advice::{Advice, Cheapest};

/// All runs of one scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    pub scenario: String,
    pub title: String,
    /// Weakest first.
    pub levels: Vec<Level>,
    /// As written first, then the fixes and variants in file order.
    pub rows: Vec<Row>,
}

/// One form of the scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name of a fix or variant; none as written.
    pub name: Option<String>,
    /// `@fix`: what may be advised.
    pub is_fix: bool,
    /// One for each of [`Matrix::levels`]; none where the form is not meant for that level.
    pub runs: Vec<Option<Run>>,
}

impl Matrix {
    /// Sorts the runs of a scenario into rows and columns.
    pub fn new(scenario: &Scenario, runs: &[Run]) -> Matrix {
        let mut levels: Vec<Level> = runs.iter().map(|run| run.isolation).collect();
        levels.sort_unstable();
        levels.dedup();
        let row = |name: Option<&str>, is_fix| {
            let at =
                |level: &Level| runs.iter().find(|run| run.fix.as_deref() == name && run.isolation == *level).cloned();
            Row { name: name.map(str::to_owned), is_fix, runs: levels.iter().map(at).collect() }
        };
        let variants = scenario.variants.iter().map(|variant| row(Some(&variant.name), variant.is_fix));
        let rows = std::iter::once(row(None, false)).chain(variants).collect();
        Matrix { scenario: scenario.name.clone(), title: scenario.title.clone(), levels, rows }
    }

    /// The fix to take.
    pub fn advice(&self) -> Advice {
        advice::advise(self)
    }

    /// What cells have no room for: why a run was skipped or gave no verdict, and what was not expected.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for row in &self.rows {
            for run in row.runs.iter().flatten() {
                let place = format!("{} at {}", row.label(), run.isolation.sql());
                let note = match (&run.verdict.outcome, &run.expected) {
                    (Outcome::Skipped { reason }, _) => format!("{}: n/a, it {reason}", row.label()),
                    (Outcome::Inconclusive { reason }, _) => format!("{place}: {reason}"),
                    (_, Some(expected)) => match &expected.difference {
                        Some(difference) => format!("{place}: NOT expected ({}), came {difference}", expected.text),
                        None => continue,
                    },
                    _ => continue,
                };
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        notes
    }
}

impl Row {
    fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("as written")
    }
}
