//! The matrix for a terminal.

use super::super::Style;
use super::super::grid::{self, Column};
use super::super::layout::{printable, wrap};
use super::super::style::Ink;
use super::{Cell, Matrix, Row};

impl<C: Cell> Matrix<C> {
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

    /// A cell may need a second line.
    fn table(&self, style: Style, chosen: Option<Option<&str>>) -> Vec<String> {
        let mut columns = vec![Column::text("", Vec::new())];
        columns.extend(self.levels.iter().map(|level| Column::text(level.sql(), Vec::new())));
        let mut inks = Vec::new();
        for row in &self.rows {
            let ink = if chosen == Some(row.name.as_deref()) { Ink::Good } else { row.ink() };
            let first = std::iter::once(row.label().to_owned()).chain(row.outcomes());
            add(&mut columns, first);
            inks.push(ink);
            let second: Vec<String> = row.second_lines().map(Option::unwrap_or_default).collect();
            if second.iter().any(|cell| !cell.is_empty()) {
                add(&mut columns, std::iter::once(String::new()).chain(second));
                inks.push(ink);
            }
        }
        grid::lines(style, &columns, &inks)
    }
}

impl<C: Cell> Row<C> {
    fn ink(&self) -> Ink {
        if self.cells.iter().flatten().any(C::is_unexpected) { Ink::Bad } else { Ink::Plain }
    }
}

fn add(columns: &mut [Column], cells: impl Iterator<Item = String>) {
    columns.iter_mut().zip(cells).for_each(|(column, cell)| column.cells.push(cell));
}

fn painted(style: Style, ink: Ink, text: &str) -> Vec<String> {
    wrap(&printable(text), style.width, 2).iter().map(|line| style.paint(ink, line)).collect()
}
