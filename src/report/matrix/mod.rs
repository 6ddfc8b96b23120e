//! One scenario in all its forms: a row for each form, a column for each level, and which fix to take.

mod advice;
mod explored;
mod markdown;
mod staged;
mod text;

use crate::scenario::{Level, Scenario};

pub use advice::{Advice, Cheapest, Cost};
pub use explored::{Explored, Skipped};

/// For a level that a form is not meant for, and for what the server cannot do.
const NOT_AVAILABLE: &str = "n/a";

/// Everything that came of one scenario, whether it was staged or explored.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix<C> {
    pub scenario: String,
    pub title: String,
    /// Weakest first.
    pub levels: Vec<Level>,
    /// As written first, then the fixes and variants in file order.
    pub rows: Vec<Row<C>>,
}

/// One form of the scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<C> {
    /// The name of a fix or variant; none as written.
    pub name: Option<String>,
    /// `@fix`: what may be advised.
    pub is_fix: bool,
    /// One for each of [`Matrix::levels`]; none where the form is not meant for that level.
    pub cells: Vec<Option<C>>,
}

/// What came of a form at a level.
pub trait Cell: Clone {
    const WORDS: Words;

    /// A fix or variant; none as written.
    fn fix(&self) -> Option<&str>;

    fn isolation(&self) -> Level;

    /// None where the server cannot do it.
    fn outcome(&self) -> Option<String>;

    /// What the outcome alone does not say.
    fn second_line(&self) -> Option<String>;

    /// What it asks of the clients; none where it does not hold.
    fn cost(&self) -> Option<Cost>;

    /// The cost as a part of a sentence.
    fn price(&self, cost: Cost) -> String;

    /// Whether a verdict was reached, a good or a bad one.
    fn has_verdict(&self) -> bool;

    /// Whether it contradicts what the scenario expects.
    fn is_unexpected(&self) -> bool;

    /// What a cell has no room for; `form` is the label of its row.
    fn notes(&self, form: &str) -> Vec<String>;
}

/// How a kind of cells is talked about.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The cheapest fix that …
    pub holds: &'static str,
    /// … at these levels.
    pub fails: &'static str,
    /// Instead of an advice.
    pub nothing: &'static str,
    /// What stands between the lines of a cell where they are one.
    pub between_lines: &'static str,
}

impl<C: Cell> Matrix<C> {
    /// Sorts what came of a scenario into rows and columns.
    pub fn new(scenario: &Scenario, cells: &[C]) -> Matrix<C> {
        let mut levels: Vec<Level> = cells.iter().map(C::isolation).collect();
        levels.sort_unstable();
        levels.dedup();
        let row = |name: Option<&str>, is_fix| {
            let at =
                |level: &Level| cells.iter().find(|cell| cell.fix() == name && cell.isolation() == *level).cloned();
            Row { name: name.map(str::to_owned), is_fix, cells: levels.iter().map(at).collect() }
        };
        let variants = scenario.variants.iter().map(|variant| row(Some(&variant.name), variant.is_fix));
        let rows = std::iter::once(row(None, false)).chain(variants).collect();
        Matrix { scenario: scenario.name.clone(), title: scenario.title.clone(), levels, rows }
    }

    /// The fix to take.
    pub fn advice(&self) -> Advice {
        advice::advise(self)
    }

    /// What cells have no room for, each once.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for row in &self.rows {
            for note in row.cells.iter().flatten().flat_map(|cell| cell.notes(row.label())) {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        notes
    }
}

impl<C: Cell> Row<C> {
    fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("as written")
    }

    /// The outcome at each level.
    fn outcomes(&self) -> impl Iterator<Item = String> {
        let outcome = |cell: &Option<C>| cell.as_ref().and_then(C::outcome);
        self.cells.iter().map(move |cell| outcome(cell).unwrap_or_else(|| NOT_AVAILABLE.to_owned()))
    }

    /// What the outcomes alone do not say.
    fn second_lines(&self) -> impl Iterator<Item = Option<String>> {
        self.cells.iter().map(|cell| cell.as_ref().and_then(C::second_line))
    }
}
