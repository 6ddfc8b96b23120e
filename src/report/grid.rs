//! Tables: columns of text with a rule below the header, nothing more, so that they fit where frames would not.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Row, Table, TableStyle};

use super::Style;
use super::layout::columns;
use super::style::Ink;

/// Between two columns.
const GAP: u16 = 2;

/// A column; a space in its header is a line break.
#[derive(Debug, Clone)]
pub struct Column {
    pub header: String,
    pub alignment: CellAlignment,
    pub cells: Vec<String>,
}

impl Column {
    pub fn text(header: &str, cells: impl IntoIterator<Item = String>) -> Column {
        Column { header: header.to_owned(), alignment: CellAlignment::Left, cells: cells.into_iter().collect() }
    }

    pub fn number(header: &str, cells: impl IntoIterator<Item = String>) -> Column {
        Column { header: header.to_owned(), alignment: CellAlignment::Right, cells: cells.into_iter().collect() }
    }
}

/// Lays columns out; `inks` has the colour of each row.
pub fn lines(style: Style, grid: &[Column], inks: &[Ink]) -> Vec<String> {
    let header_height = grid.iter().map(|column| column.header.split(' ').count()).max().unwrap_or(0);
    let mut table = Table::new();
    let dash = if style.ascii { '-' } else { '─' };
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill(dash)))
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(grid.iter().map(|column| header(&column.header, header_height)));
    for row in 0..inks.len() {
        table.add_row(Row::from(grid.iter().map(|column| column.cells.get(row).map_or("", String::as_str))));
    }
    for (index, (column, of_table)) in grid.iter().zip(table.column_iter_mut()).enumerate() {
        let last = index + 1 == grid.len();
        of_table.set_padding((0, if last { 0 } else { GAP })).set_cell_alignment(column.alignment);
    }
    let header_inks = std::iter::repeat_n(Ink::Heading, header_height).chain([Ink::Aside]);
    let lines = table.lines().zip(header_inks.chain(inks.iter().copied()));
    lines.map(|(line, ink)| style.paint(ink, line.trim_end())).collect()
}

/// The columns that the widest line takes.
pub fn width(grid: &[Column]) -> usize {
    let width = |column: &Column| {
        column.header.split(' ').chain(column.cells.iter().map(String::as_str)).map(columns).max().unwrap_or(0)
    };
    grid.iter().map(width).sum::<usize>() + usize::from(GAP) * grid.len().saturating_sub(1)
}

/// The words below each other, on the lowest lines.
fn header(text: &str, height: usize) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    "\n".repeat(height - words.len()) + &words.join("\n")
}
