//! The over-budget table of a load test: what came of the requests with each strategy, and what it cost.

use super::grid::{self, Column};
use super::layout::{printable, wrap};
use super::style::Ink;
use super::{Style, quantity};
use crate::history::MeasureResult;
use crate::load::statistics::{ErrorCount, Latency, LoadRow};

/// One table where the width allows it; otherwise the costs stand in a table of their own.
pub fn render(style: Style, rows: &[LoadRow]) -> String {
    let inks: Vec<Ink> = rows.iter().map(|row| if fails(row) { Ink::Bad } else { Ink::Plain }).collect();
    let strategy = [Column::text("strategy", strategies(rows))];
    let (outcomes, costs) = (outcomes(rows), costs(style, rows));
    let whole = [&strategy, outcomes.as_slice(), &costs].concat();
    let mut lines = vec![style.paint(Ink::Heading, &headline(rows)), String::new()];
    if grid::width(&whole) <= style.width {
        lines.extend(grid::lines(style, &whole, &inks));
    } else {
        lines.extend(grid::lines(style, &[&strategy, outcomes.as_slice()].concat(), &inks));
        lines.push(String::new());
        lines.extend(grid::lines(style, &[&strategy, costs.as_slice()].concat(), &inks));
    }
    let notes = notes(rows);
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes.iter().flat_map(|note| wrap(&printable(note), style.width, 2)));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn headline(rows: &[LoadRow]) -> String {
    let Some(first) = rows.first() else { return "no strategy was run".to_owned() };
    let mut headline = first.scenario.clone();
    if rows.iter().all(|row| (row.requests, row.workers) == (first.requests, first.workers)) {
        headline += &format!(": {} requests, {} workers", quantity::count(first.requests), first.workers);
    }
    headline
}

/// Names; with their level where two rows share one.
fn strategies(rows: &[LoadRow]) -> impl Iterator<Item = String> {
    rows.iter().map(|row| match rows.iter().filter(|other| other.strategy == row.strategy).count() {
        1 => row.strategy.clone(),
        _ => format!("{} ({})", row.strategy, row.isolation),
    })
}

fn outcomes(rows: &[LoadRow]) -> Vec<Column> {
    let count =
        |header, value: fn(&LoadRow) -> u64| Column::number(header, rows.iter().map(|row| quantity::count(value(row))));
    let mut columns = vec![
        count("ok", |row| row.ok),
        count("rejected", |row| row.rejected),
        count("gave up", |row| row.gave_up),
        count("failed", |row| row.failed),
        count("unknown", |row| row.unknown),
    ];
    columns.extend(measures(rows));
    if rows.iter().any(|row| !row.checks.is_empty()) {
        let word = |row| if fails(row) { "FAIL" } else { "hold" };
        columns.push(Column::text("checks", rows.iter().map(|row| word(row).to_owned())));
    }
    columns
}

/// A column for each measure that any row has, in the order in which they come.
fn measures(rows: &[LoadRow]) -> Vec<Column> {
    let mut names: Vec<&str> = Vec::new();
    for measure in rows.iter().flat_map(|row| &row.measures) {
        if !names.contains(&measure.name.as_str()) {
            names.push(&measure.name);
        }
    }
    let cell = |row: &LoadRow, name: &str| {
        let named = |measure: &&MeasureResult| measure.name == name;
        row.measures.iter().find(named).map_or(String::new(), quantity::measure)
    };
    let column = |name: &str| Column::number(&name.replace('_', " "), rows.iter().map(|row| cell(row, name)));
    names.into_iter().map(column).collect()
}

fn costs(style: Style, rows: &[LoadRow]) -> Vec<Column> {
    let latency = |header, value: fn(&Latency) -> f64| {
        let cell = |row: &LoadRow| quantity::milliseconds(row.latency_ms.as_ref().map_or(f64::NAN, value), style.ascii);
        Column::number(header, rows.iter().map(cell))
    };
    vec![
        Column::number("retries", rows.iter().map(|row| quantity::count(row.retries))),
        Column::number("most attempts", rows.iter().map(|row| quantity::count(row.most_attempts.into()))),
        Column::number("requests", rows.iter().map(|row| quantity::per_second(row.tps))),
        latency("p50", |latency| latency.p50),
        latency("p95", |latency| latency.p95),
        latency("p99", |latency| latency.p99),
        latency("max", |latency| latency.max),
    ]
}

/// What no column has room for: errors, checks that could not be asked, a run that was cut short.
fn notes(rows: &[LoadRow]) -> Vec<String> {
    let mut notes = Vec::new();
    for row in rows {
        notes.extend(row.errors.iter().map(|count| {
            let requests = if count.requests == 1 { "request" } else { "requests" };
            let ErrorCount { error, .. } = count;
            let number = quantity::count(count.requests);
            format!("{}: {number} {requests} ended by {}: {}", row.strategy, error.sqlstate, error.message)
        }));
        if row.cut_short {
            notes.push(format!("{}: the time limit came before all requests were made", row.strategy));
        }
    }
    let mut left_out: Vec<&String> = rows.iter().flat_map(|row| &row.left_out).collect();
    left_out.dedup();
    notes
        .extend(left_out.into_iter().map(|check| format!("not asked under load: check \"{check}\" needs isolab_read")));
    notes
}

fn fails(row: &LoadRow) -> bool {
    row.checks.iter().any(|check| !check.holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{CheckResult, StatementError};
    use crate::scenario::Level;

    fn row(strategy: &str, total: u64, holds: bool) -> LoadRow {
        let measure = |name: &str, value: u64| MeasureResult {
            name: name.to_owned(),
            unit: Some("$".to_owned()),
            value: Some(value.to_string()),
        };
        LoadRow {
            scenario: "overspend".to_owned(),
            strategy: strategy.to_owned(),
            fix: None,
            isolation: Level::ReadCommitted,
            workers: 16,
            requests: 400,
            ok: 191,
            rejected: 205,
            gave_up: 4,
            failed: 0,
            unknown: 0,
            retries: 1_234,
            most_attempts: 10,
            errors: Vec::new(),
            checks: vec![CheckResult { name: "within budget".to_owned(), holds }],
            left_out: Vec::new(),
            measures: vec![measure("total", total), measure("over_budget", total.saturating_sub(50_000))],
            seconds: 0.08,
            tps: 5012.3,
            latency_ms: Some(Latency { p50: 0.8123, p95: 3.21, p99: 45.678, max: 1234.5 }),
            cut_short: false,
        }
    }

    #[test]
    fn the_row_that_fails_is_red() {
        let style = Style { colour: true, ..Style::PLAIN };
        let text = render(style, &[row("naive-rc", 51_899, false), row("serializable", 49_990, true)]);
        let red: Vec<&str> = text.lines().filter(|line| line.contains("\u{1b}[31m")).collect();
        assert_eq!(red.len(), 2);
        assert!(red.iter().all(|line| line.contains("naive-rc")));
    }

    #[test]
    fn two_rows_of_a_strategy_show_their_levels() {
        let serializable = LoadRow { isolation: Level::Serializable, ..row("for-update", 49_990, true) };
        let text = render(Style::PLAIN, &[row("for-update", 49_990, true), serializable]);
        assert!(text.contains("for-update (read-committed)") && text.contains("for-update (serializable)"), "{text}");
    }

    #[test]
    fn what_ended_requests_is_told_below() {
        let error = StatementError {
            sqlstate: "40001".to_owned(),
            message: "could not serialize access".to_owned(),
            ..StatementError::default()
        };
        let errors = vec![ErrorCount { error, requests: 4 }];
        let left_out = vec!["seen".to_owned()];
        let short = LoadRow { cut_short: true, left_out: left_out.clone(), ..row("naive-rc", 0, true) };
        let text = render(Style::PLAIN, &[LoadRow { errors, left_out, ..row("serializable", 0, true) }, short]);
        let notes: Vec<&str> = text.lines().rev().take_while(|line| !line.is_empty()).collect();
        let expected = [
            "not asked under load: check \"seen\" needs isolab_read",
            "naive-rc: the time limit came before all requests were made",
            "serializable: 4 requests ended by 40001: could not serialize access",
        ];
        assert_eq!(notes, expected);
    }

    #[test]
    fn without_an_answer_there_is_no_latency() {
        let text = render(Style::PLAIN, &[LoadRow { latency_ms: None, tps: f64::NAN, ..row("naive-rc", 0, true) }]);
        assert_eq!(text.matches("n/a").count(), 5, "{text}");
    }
}
