//! Several runs at a glance: a row for each form of a scenario, a column for each level.

use super::grid::{self, Column};
use super::layout::wrap;
use super::style::Ink;
use super::{Run, Style};
use crate::scenario::Level;
use crate::verdict::Outcome;

/// Weakest first.
const LEVELS: [Level; 4] = [Level::ReadUncommitted, Level::ReadCommitted, Level::RepeatableRead, Level::Serializable];

/// One row: a scenario as written, or one of its fixes and variants below it.
struct Row<'a> {
    scenario: &'a str,
    fix: Option<&'a str>,
    runs: Vec<&'a Run>,
}

/// The table, how many runs were as expected, and what came instead where they were not.
pub fn render(style: Style, runs: &[Run]) -> String {
    let rows = rows(runs);
    let levels = LEVELS.into_iter().filter(|level| runs.iter().any(|run| run.isolation == *level));
    let mut columns = vec![Column::text("", rows.iter().map(Row::label))];
    columns.extend(levels.map(|level| Column::text(level.sql(), rows.iter().map(|row| row.cell(style, level)))));
    let inks: Vec<Ink> = rows.iter().map(Row::ink).collect();
    let mut lines = grid::lines(style, &columns, &inks);
    lines.push(String::new());
    lines.push(totals(style, runs));
    for (index, run) in runs.iter().enumerate() {
        if !index.checked_sub(1).is_some_and(|before| run.is_skipped_as(&runs[before])) {
            lines.extend(difference(style, run));
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn rows(runs: &[Run]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = Vec::new();
    for run in runs {
        let (scenario, fix) = (run.scenario.as_str(), run.fix.as_deref());
        if fix.is_some() && rows.last().is_none_or(|row| row.scenario != scenario) {
            rows.push(Row { scenario, fix: None, runs: Vec::new() });
        }
        let fitting = |row: &&mut Row| {
            (row.scenario, row.fix) == (scenario, fix) && row.runs.iter().all(|other| other.isolation != run.isolation)
        };
        match rows.iter_mut().find(fitting) {
            Some(row) => row.runs.push(run),
            None => rows.push(Row { scenario, fix, runs: vec![run] }),
        }
    }
    rows
}

impl Row<'_> {
    fn label(&self) -> String {
        self.fix.map_or_else(|| self.scenario.to_owned(), |fix| format!("  with {fix}"))
    }

    /// `stopped 40001 ✓`; the mark says whether that was expected.
    fn cell(&self, style: Style, level: Level) -> String {
        let Some(run) = self.runs.iter().find(|run| run.isolation == level) else { return String::new() };
        let mut words = vec![run.verdict.outcome.name()];
        if run.verdict.outcome == Outcome::Stopped {
            words.extend(run.verdict.stopped.first().map(|stop| stop.sqlstate.as_str()));
        }
        if let Some(expected) = &run.expected {
            words.push(if expected.as_expected { style.pick("✓", "+") } else { style.pick("✗", "NOT EXPECTED") });
        }
        words.join(" ")
    }

    fn ink(&self) -> Ink {
        if self.runs.iter().any(|run| run.is_unexpected()) { Ink::Bad } else { Ink::Plain }
    }
}

fn totals(style: Style, runs: &[Run]) -> String {
    let count = |wanted: fn(&Run) -> bool| runs.iter().filter(|run| wanted(run)).count();
    let unexpected = count(Run::is_unexpected);
    let as_expected = count(|run| run.expected.is_some()) - unexpected;
    let skipped = count(|run| matches!(run.verdict.outcome, Outcome::Skipped { .. }));
    let inconclusive = count(|run| matches!(run.verdict.outcome, Outcome::Inconclusive { .. }));
    let parts = [
        (as_expected, "as expected"),
        (unexpected, "NOT as expected"),
        (skipped, "skipped"),
        (inconclusive, "inconclusive"),
        (runs.len() - as_expected - unexpected - skipped - inconclusive, "without an @expect"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let runs = if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) };
    let ink = match (unexpected, as_expected == runs.len()) {
        (0, true) => Ink::Good,
        (0, false) => Ink::Heading,
        _ => Ink::Bad,
    };
    style.paint(ink, &format!("{runs}: {}", parts.collect::<Vec<_>>().join(", ")))
}

fn difference(style: Style, run: &Run) -> Vec<String> {
    let of = run.fix.as_ref().map(|fix| format!(" with {fix}")).unwrap_or_default();
    let run_name = format!("{}{of} at {}", run.scenario, run.isolation.sql());
    let text = match (&run.verdict.outcome, &run.expected) {
        // The reason is not the level's.
        (Outcome::Skipped { reason }, _) => format!("{}{of}: {reason}", run.scenario),
        (Outcome::Inconclusive { reason }, _) => format!("{run_name}: {reason}"),
        (_, Some(expected)) => match &expected.difference {
            Some(difference) => format!("{run_name}: expected {}, came {difference}", expected.text),
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    wrap(&text, style.width, 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::history::testing::history;
    use crate::scenario::source::Span;
    use crate::scenario::{Expect, ExpectedOutcome};

    fn run(fix: Option<&str>, isolation: Level, holds: bool, expected: Option<ExpectedOutcome>) -> Run {
        let expects: Vec<Expect> = expected
            .into_iter()
            .map(|outcome| Expect {
                levels: Level::ALL.to_vec(),
                version: None,
                outcome,
                then_holds: None,
                explored: None,
                text: "waits".to_owned(),
                span: Span::default(),
            })
            .collect();
        let history = History { fix: fix.map(str::to_owned), isolation, ..history(Vec::new(), holds) };
        Run::judged("Write skew", history, &expects, 18)
    }

    fn shown(style: Style, runs: &[Run]) -> Vec<String> {
        render(style, runs).lines().map(str::to_owned).collect()
    }

    #[test]
    fn levels_stand_beside_each_other_and_fixes_below() {
        let runs = [
            run(None, Level::ReadCommitted, false, Some(ExpectedOutcome::Happens(None))),
            run(None, Level::Serializable, true, None),
            run(Some("for-update"), Level::ReadCommitted, true, Some(ExpectedOutcome::Prevented)),
        ];
        let expected = [
            "                   READ",
            "                   COMMITTED    SERIALIZABLE",
            "────────────────────────────────────────────",
            "write-skew         happens ✓    prevented",
            "  with for-update  prevented ✓",
            "",
            "3 runs: 2 as expected, 1 without an @expect",
        ];
        assert_eq!(shown(Style::PLAIN, &runs), expected);
    }

    #[test]
    fn what_was_not_expected_is_explained() {
        let runs = [run(Some("for-update"), Level::ReadCommitted, false, Some(ExpectedOutcome::Waits))];
        let expected = [
            "                   READ",
            "                   COMMITTED",
            "---------------------------------------",
            "write-skew",
            "  with for-update  happens NOT EXPECTED",
            "",
            "1 run: 1 NOT as expected",
            "write-skew with for-update at READ COMMITTED: expected waits, came happens:",
            "  check \"within budget\" fails",
        ];
        assert_eq!(shown(Style { ascii: true, ..Style::PLAIN }, &runs), expected);
    }

    #[test]
    fn skipped_and_inconclusive_runs_give_their_reason() {
        let reason = "needs PostgreSQL 17".to_owned();
        let skipped = Run::without_verdict("merge", "MERGE", None, Level::ReadCommitted, Outcome::Skipped { reason });
        let text = render(Style::PLAIN, &[skipped.clone(), Run { isolation: Level::Serializable, ..skipped }]);
        assert!(text.ends_with("2 runs: 2 skipped\nmerge: needs PostgreSQL 17\n"), "{text}");
    }
}
