//! `isolab matrix` as a user sees it.
//!
//! `tests/matrix/NAME.snap` is the text for a built-in scenario. After a wanted change, `INSTA_UPDATE=always cargo test
//! --test matrix` writes the new text; read the difference before you commit it.

use std::path::Path;

use assert_cmd::Command;
use insta::{Settings, assert_snapshot};
use serde_json::Value;

/// Ten kinds of tables: what waits, is stopped, fails silently at one level, deadlocks, needs no fix.
const SCENARIOS: [&str; 10] = [
    "write-skew",
    "lost-update",
    "read-skew",
    "booking-overlap",
    "deadlock-lock-order",
    "for-update-stale-at-rr",
    "fk-check-race",
    "double-claim-subselect",
    "dirty-write",
    "outbox-cursor-gap",
];

fn isolab(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("isolab").expect("the program");
    command.args(args).env("ISOLAB_FETCH", "1");
    command
}

/// What a command writes to standard output.
fn said(args: &[&str]) -> String {
    let output = isolab(args).assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("UTF-8")
}

fn compare(name: &str, text: &str) {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/matrix"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| assert_snapshot!(name, text));
}

#[test]
fn one_table_for_each_scenario_and_a_sentence_to_end_it() {
    for scenario in SCENARIOS {
        let text = said(&["matrix", scenario]);
        let (server, table) = text.split_once("\n\n").expect("the server's line");
        assert!(server.starts_with("PostgreSQL "), "{server}");
        compare(scenario, &without_version(table));
    }
}

/// What an older server cannot do is not there.
fn without_version(table: &str) -> String {
    let lines = table.lines().filter(|line| !line.starts_with("temporal-key"));
    lines.map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn several_scenarios_in_markdown_in_their_order() {
    compare("markdown", &said(&["matrix", "write-skew", "lost-update", "read-skew", "--format", "markdown"]));
}

#[test]
fn json_has_the_runs_and_the_advice() {
    let document: Value =
        serde_json::from_str(&said(&["matrix", "write-skew", "--format", "json"])).expect("one document");
    let cheapest = &document["matrix"][0]["cheapest"];
    assert_eq!((&cheapest["fix"], &cheapest["isolation"]), (&"for-update".into(), &"read-committed".into()));
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(25));
}

#[test]
fn one_level_makes_one_column() {
    let text = said(&["matrix", "dirty-write", "--isolation", "read-committed", "--quiet"]);
    assert_eq!(text, "dirty-write: There is nothing to fix at READ COMMITTED: somebody waits, nobody gets an error.\n");
}

#[test]
fn other_commands_write_no_markdown() {
    let refused = isolab(&["run", "write-skew", "--format", "markdown"]).assert().code(2);
    let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert_eq!(said, "error: this command writes no markdown\n");
}
