//! Files beside their expected outputs, at a glance.

use super::{SpecResult, SpecRow};
use crate::report::grid::{self, Column};
use crate::report::layout::{printable, wrap};
use crate::report::style::Ink;
use crate::report::{Style, quantity};

/// The table, the totals, and what differs.
pub fn list(style: Style, rows: &[SpecRow]) -> String {
    let columns = [
        Column::text("result", rows.iter().map(|row| row.result.name().to_owned())),
        Column::text("file", rows.iter().map(|row| printable(&row.file))),
        Column::number("permutations", rows.iter().map(|row| row.permutations.permutations.len().to_string())),
        Column::number("time", rows.iter().map(|row| quantity::milliseconds(row.seconds * 1e3, style.ascii))),
    ];
    let inks: Vec<Ink> = rows.iter().map(|row| ink(row.result)).collect();
    let mut lines = grid::lines(style, &columns, &inks);
    lines.extend([String::new(), totals(style, rows)]);
    for row in rows {
        let Some(message) = &row.message else { continue };
        lines.push(String::new());
        lines.extend(wrap(&printable(&format!("{}: {message}", row.file)), style.width, 2));
        lines.extend(String::from_utf8_lossy(&row.diff).lines().map(|line| style.paint(diff_ink(line), line)));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// How many there are of each result.
pub fn totals(style: Style, rows: &[SpecRow]) -> String {
    let results = [SpecResult::Same, SpecResult::Differs, SpecResult::Error, SpecResult::Played];
    let count = |result| rows.iter().filter(|row| row.result == result).count();
    let parts = results.map(|result| (count(result), result)).into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, result)| format!("{count} {}", result.name())).collect();
    let files = if rows.len() == 1 { "1 file".to_owned() } else { format!("{} files", rows.len()) };
    let ink = if count(SpecResult::Same) == rows.len() { Ink::Good } else { Ink::Bad };
    style.paint(ink, &format!("{files}: {}", parts.join(", ")))
}

fn ink(result: SpecResult) -> Ink {
    match result {
        SpecResult::Same | SpecResult::Played => Ink::Plain,
        SpecResult::Differs | SpecResult::Error => Ink::Bad,
    }
}

fn diff_ink(line: &str) -> Ink {
    match line.as_bytes().first() {
        Some(b'-') => Ink::Bad,
        Some(b'+') => Ink::Good,
        Some(b'@') => Ink::Aside,
        _ => Ink::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Comparison, Ending, Summary};

    fn row(file: &str, permutations: usize, error: Option<&str>) -> SpecRow {
        let permutations = Summary { permutations: vec![Ending::default(); permutations] };
        SpecRow::played(file, permutations, 0.1234, error.map(str::to_owned))
    }

    #[test]
    fn results_stand_in_a_table_and_differences_below() {
        let rows = [
            row("a.spec", 20, None).compared(Comparison::Same { matched: "a_1.out".to_owned() }),
            row("long-name.spec", 1, None).compared(Comparison::Differs {
                nearest: "long-name.out".to_owned(),
                diff: b"--- x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n".to_vec(),
            }),
            row("b.spec", 0, Some("syntax error at line 1")).compared(Comparison::Missing),
            row("c.spec", 2, None).compared(Comparison::Missing),
        ];
        let expected = "\
result   file            permutations    time
─────────────────────────────────────────────
same     a.spec                    20  123 ms
differs  long-name.spec             1  123 ms
error    b.spec                     0  123 ms
differs  c.spec                     2  123 ms

4 files: 1 same, 2 differs, 1 error

long-name.spec: differs from long-name.out
--- x
+++ y
@@ -1 +1 @@
-a
+b

b.spec: syntax error at line 1

c.spec: there is no expected output
";
        assert_eq!(list(Style::PLAIN, &rows), expected);
    }
}
