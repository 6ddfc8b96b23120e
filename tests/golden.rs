//! Stored histories of real runs on PostgreSQL 15, and the story and JSON that are made from them.
//!
//! After a wanted change, `INSTA_UPDATE=always cargo test --test golden` writes the new text; read the difference before you commit it.

use std::path::{Path, PathBuf};

use insta::{Settings, assert_snapshot};
use isolab::history::{CheckResult, History, MeasureResult};
use isolab::load::statistics::{AssertionResult, Latency, LoadRow};
use isolab::report::json::{Document, Server};
use isolab::report::{Run, Story, Style, assertions, load_table};
use isolab::scenario::source::Span;
use isolab::scenario::{Expect, ExpectedOutcome, ExpectedStop, Level};

const LOST_UPDATE: &str = "Lost update: two approvals, one total, and the first one vanishes";
const READ_SKEW: &str = "Read skew: a report of two numbers that were never true together";
const WRITE_SKEW: &str = "Write skew: two approvals each pass the check, together they break the budget";

const COLOUR: Style = Style { colour: true, ..Style::PLAIN };
const ASCII: Style = Style { ascii: true, ..Style::PLAIN };
const NARROW: Style = Style { width: 50, ..Style::PLAIN };

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn stored(name: &str) -> History {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).expect("a stored history");
    serde_json::from_str(&text).expect("a history")
}

fn run(title: &str, name: &str, text: &str, outcome: ExpectedOutcome) -> Run {
    let expect = Expect {
        levels: Level::ALL.to_vec(),
        version: None,
        outcome,
        then_holds: text.ends_with("then holds").then_some(true),
        explored: None,
        text: text.to_owned(),
        span: Span::default(),
    };
    Run::judged(title, stored(name), &[expect], 18)
}

fn stopped_at(session: &str, step: &str) -> ExpectedOutcome {
    let at = Some((session.to_owned(), step.to_owned()));
    ExpectedOutcome::Stopped(vec![ExpectedStop { sqlstate: "40001".to_owned(), at }])
}

/// Compares with `tests/golden/NAME.snap`.
fn compare(name: &str, text: &str) {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path(folder());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| assert_snapshot!(name, text));
}

#[test]
fn lost_update_loses_alices_approval() {
    let run = run(LOST_UPDATE, "lost-update-read-committed", "happens", ExpectedOutcome::Happens(None));
    compare("lost-update-read-committed", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn lost_update_is_stopped_and_retried() {
    let run = run(
        LOST_UPDATE,
        "lost-update-repeatable-read",
        "stopped 40001 at bob write then holds",
        stopped_at("bob", "write"),
    );
    compare("lost-update-repeatable-read", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn an_atomic_update_waits() {
    let run = run(LOST_UPDATE, "lost-update-atomic", "waits", ExpectedOutcome::Waits);
    compare("lost-update-atomic", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn read_skew_mixes_two_moments() {
    let run = run(READ_SKEW, "read-skew-read-committed", "happens", ExpectedOutcome::Happens(None));
    compare("read-skew-read-committed", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn a_snapshot_prevents_read_skew() {
    let run = run(READ_SKEW, "read-skew-repeatable-read", "prevented", ExpectedOutcome::Prevented);
    compare("read-skew-repeatable-read", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn write_skew_overspends() {
    let run = run(WRITE_SKEW, "write-skew-read-committed", "happens", ExpectedOutcome::Happens(None));
    compare("write-skew-read-committed", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn serializable_stops_write_skew_at_commit() {
    let run = run(
        WRITE_SKEW,
        "write-skew-serializable",
        "stopped 40001 at bob commit then holds",
        stopped_at("bob", "commit"),
    );
    compare("write-skew-serializable", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn for_update_makes_bob_wait() {
    let run = run(WRITE_SKEW, "write-skew-for-update", "waits", ExpectedOutcome::Waits);
    compare("write-skew-for-update", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn a_lock_does_not_help_an_older_snapshot() {
    let title = "The lock is taken, the snapshot is older";
    let run = run(title, "for-update-stale-at-rr", "happens", ExpectedOutcome::Happens(None));
    compare("for-update-stale-at-rr", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn a_conditional_update_matches_no_row() {
    let run = run(WRITE_SKEW, "write-skew-conditional", "waits", ExpectedOutcome::Waits);
    compare("write-skew-conditional", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn the_same_story_in_colour_in_ascii_and_narrow() {
    let run = run(WRITE_SKEW, "write-skew-for-update", "waits", ExpectedOutcome::Waits);
    compare("write-skew-for-update.colour", &Story::whole(COLOUR, &run));
    compare("write-skew-for-update.ascii", &Story::whole(ASCII, &run));
    compare("write-skew-for-update.narrow", &Story::whole(NARROW, &run));
}

#[test]
fn an_unexpected_outcome_says_what_came_instead() {
    let run = run(WRITE_SKEW, "write-skew-read-committed", "prevented", ExpectedOutcome::Prevented);
    compare("unexpected", &Story::whole(Style::PLAIN, &run));
}

#[test]
fn json() {
    let text = "stopped 40001 at bob commit then holds";
    let run = run(WRITE_SKEW, "write-skew-serializable", text, stopped_at("bob", "commit"));
    let server = Server { version: "18.6".to_owned(), source: "throwaway".to_owned() };
    let mut document = Document::new(server, None);
    document.runs = Some(vec![run]);
    compare("write-skew-serializable.json", &document.to_text().expect("serialises"));
}

fn load_row(strategy: &str, isolation: Level, retries: u64, total: u64) -> LoadRow {
    let measure = |name: &str, value: u64| MeasureResult {
        name: name.to_owned(),
        unit: Some("$".to_owned()),
        value: Some(value.to_string()),
    };
    let gave_up = retries / 300;
    LoadRow {
        scenario: "overspend".to_owned(),
        strategy: strategy.to_owned(),
        fix: Some(strategy.to_owned()),
        isolation,
        workers: 16,
        requests: 400,
        ok: 191,
        rejected: 209 - gave_up,
        gave_up,
        failed: 0,
        unknown: 0,
        retries,
        most_attempts: 1 + retries as u32 / 100,
        errors: Vec::new(),
        checks: vec![CheckResult { name: "within budget".to_owned(), holds: total <= 50_000 }],
        left_out: Vec::new(),
        measures: vec![measure("total", total), measure("over_budget", total.saturating_sub(50_000))],
        seconds: 0.08,
        tps: 5012.3 / (1.0 + retries as f64 / 100.0),
        latency_ms: Some(Latency { p50: 0.8123, p95: 3.21, p99: 45.678, max: 1234.5 }),
        cut_short: false,
    }
}

fn load_rows() -> Vec<LoadRow> {
    vec![
        load_row("naive-rc", Level::ReadCommitted, 0, 51_899),
        load_row("naive-rr", Level::RepeatableRead, 0, 52_410),
        load_row("serializable", Level::Serializable, 1_234, 49_990),
        load_row("for-update", Level::ReadCommitted, 0, 49_870),
        load_row("conditional", Level::ReadCommitted, 0, 49_995),
    ]
}

fn over_budget_assertions() -> Vec<AssertionResult> {
    let judged = |row: LoadRow| {
        let over =
            row.measures.iter().find(|measure| measure.name == "over_budget").and_then(|measure| measure.number());
        let actual = over.and_then(|number| number.as_f64());
        AssertionResult {
            text: "over_budget == 0".to_owned(),
            strategy: row.strategy,
            actual,
            limit: 0.0,
            holds: actual == Some(0.0),
        }
    };
    load_rows().into_iter().map(judged).collect()
}

#[test]
fn the_over_budget_table_fits_80_columns() {
    let text = load_table::render(Style::PLAIN, &load_rows());
    assert!(text.lines().all(|line| line.chars().count() <= 80));
    compare("load", &(text + "\n" + &assertions::render(Style::PLAIN, &over_budget_assertions())));
}

#[test]
fn a_wide_terminal_gets_one_table() {
    compare("load.wide", &load_table::render(Style { width: 160, ..ASCII }, &load_rows()));
}

#[test]
fn load_json() {
    let server = Server { version: "18.6".to_owned(), source: "throwaway".to_owned() };
    let mut document = Document::new(server, Some(42));
    document.load = Some(load_rows());
    document.assertions = Some(over_budget_assertions());
    compare("load.json", &document.to_text().expect("serialises"));
}
