//! The matrix for a pull request: GitHub Flavored Markdown, a cell on one line.

use super::super::layout::printable;
use super::{Cell, Matrix, Row};

impl<C: Cell> Matrix<C> {
    /// A heading, the table, the advice, and a list of what cells have no room for; an empty line at the end.
    pub fn markdown(&self) -> String {
        let mut lines = vec![format!("### {}: {}", escaped(&self.scenario), escaped(&self.title)), String::new()];
        lines.push(line(std::iter::once("").chain(self.levels.iter().map(|level| level.sql()))));
        lines.push(line(std::iter::repeat_n("---", self.levels.len() + 1)));
        lines.extend(self.rows.iter().map(Row::markdown));
        lines.extend([String::new(), escaped(&self.advice().text), String::new()]);
        let notes = self.notes();
        if !notes.is_empty() {
            lines.extend(notes.iter().map(|note| format!("- {}", escaped(note))));
            lines.push(String::new());
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }
}

impl<C: Cell> Row<C> {
    fn markdown(&self) -> String {
        let cell = |(outcome, second): (String, Option<String>)| match second {
            Some(second) => format!("{outcome}{}{second}", C::WORDS.between_lines),
            None => outcome,
        };
        let cells: Vec<String> = self.outcomes().zip(self.second_lines()).map(|lines| escaped(&cell(lines))).collect();
        line(std::iter::once(escaped(self.label()).as_str()).chain(cells.iter().map(String::as_str)))
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cells: String = cells.map(|cell| format!(" {cell} |")).collect();
    format!("|{cells}")
}

/// Text that stays as it is: nothing in it starts markup, ends a cell or breaks a line.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in printable(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '<' | '[' | ']' | '|' | '#') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Run;
    use crate::scenario::Level;
    use crate::verdict::Outcome;

    #[test]
    fn nothing_from_outside_breaks_the_table() {
        let outcome = Outcome::Skipped { reason: "needs a | b".to_owned() };
        let run = Run::without_verdict("odd", "A | B", None, Level::ReadCommitted, outcome);
        let row = Row { name: None, is_fix: false, cells: vec![Some(run)] };
        let (scenario, title) = ("odd".to_owned(), "A | *B*\n<i>".to_owned());
        let matrix = Matrix { scenario, title, levels: vec![Level::ReadCommitted], rows: vec![row] };
        let expected = "### odd: A \\| \\*B\\*\\\\n\\<i>\n\n|  | READ COMMITTED |\n| --- | --- |\n| as written | n/a |\n\n\
                        Nothing that was run holds.\n\n- as written: n/a, it needs a \\| b\n\n";
        assert_eq!(matrix.markdown(), expected);
    }
}
