//! Two texts line by line, as a unified diff.

use similar::TextDiff;

use super::Style;
use super::style::Ink;

/// A text and what it is called.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// What makes the new text of the old one, each change with three lines around it.
pub fn unified(style: Style, old: Side<'_>, new: Side<'_>) -> String {
    let difference = TextDiff::from_lines(old.text, new.text);
    let text = difference.unified_diff().header(old.name, new.name).to_string();
    let paint = |(index, line)| style.paint(ink(index, line), line) + "\n";
    text.lines().enumerate().map(paint).collect()
}

/// The first two lines are the names.
fn ink(index: usize, line: &str) -> Ink {
    match (index, line.chars().next()) {
        (0 | 1, _) => Ink::Heading,
        (_, Some('@')) => Ink::Aside,
        (_, Some('-')) => Ink::Bad,
        (_, Some('+')) => Ink::Good,
        _ => Ink::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Side<'_> = Side { name: "old", text: "a\n-- b\nc\n" };
    const NEW: Side<'_> = Side { name: "new", text: "a\nB\nc\n" };

    #[test]
    fn changes_stand_between_what_stays() {
        assert_eq!(unified(Style::PLAIN, OLD, NEW), "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n--- b\n+B\n c\n");
    }

    #[test]
    fn what_goes_and_what_comes_have_their_colours() {
        let coloured = unified(Style { colour: true, ..Style::PLAIN }, OLD, NEW);
        assert!(coloured.contains("\u{1b}[1m\u{1b}[31m--- b\u{1b}[0m\n"), "{coloured:?}");
        assert!(coloured.contains("\n a\n"), "{coloured:?}");
    }
}
