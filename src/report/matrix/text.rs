//! The matrix for a terminal.

use super::super::Style;
use super::super::grid::{self, Column};
use super::super::layout::{printable, wrap};
use super::super::style::Ink;
use super::{Matrix, Row, cell};

impl Matrix {
    /// Name and title, the table, the advice, then what cells have no room for; an empty line at the end.
    pub fn text(&self, style: Style) -> String {
        let advice = self.advice();
        let chosen = advice.cheapest.as_ref().map(|cheapest| cheapest.fix.as_deref());
        let mut lines = painted(style, Ink::Heading, &format!("{}: {}", self.scenario, self.title));
        lines.push(String::new());
        lines.extend(self.table(style, chosen));
        lines.push(String::new());
        lines.extend(painted(style, Ink::Heading, &advice.text));
        lines.extend(self.notes().iter().flat_map(|note| painted(style, Ink::Plain, note)));
        lines.push(String::new());
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// A cell may need a second line, for what came after the retries.
    fn table(&self, style: Style, chosen: Option<Option<&str>>) -> Vec<String> {
        let mut columns = vec![Column::text("", Vec::new())];
        columns.extend(self.levels.iter().map(|level| Column::text(level.sql(), Vec::new())));
        let mut inks = Vec::new();
        for row in &self.rows {
            let ink = if chosen == Some(row.name.as_deref()) { Ink::Good } else { row.ink() };
            let first = std::iter::once(row.label().to_owned()).chain(row.cells(cell::outcome));
            add(&mut columns, first);
            inks.push(ink);
            let second: Vec<String> = row.cells(|run| cell::after_retry(run).unwrap_or_default().to_owned()).collect();
            if second.iter().any(|cell| !cell.is_empty()) {
                add(&mut columns, std::iter::once(String::new()).chain(second));
                inks.push(ink);
            }
        }
        grid::lines(style, &columns, &inks)
    }
}

impl Row {
    fn cells(&self, text: impl Fn(Option<&super::super::Run>) -> String) -> impl Iterator<Item = String> {
        self.runs.iter().map(move |run| text(run.as_ref()))
    }

    fn ink(&self) -> Ink {
        if self.runs.iter().flatten().any(|run| run.is_unexpected()) { Ink::Bad } else { Ink::Plain }
    }
}

fn add(columns: &mut [Column], cells: impl Iterator<Item = String>) {
    columns.iter_mut().zip(cells).for_each(|(column, cell)| column.cells.push(cell));
}

fn painted(style: Style, ink: Ink, text: &str) -> Vec<String> {
    wrap(&printable(text), style.width, 2).iter().map(|line| style.paint(ink, line)).collect()
}
