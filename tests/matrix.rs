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

#[test]
fn explored_a_cell_is_the_verdict_on_all_schedules() {
    let text = said(&["matrix", "write-skew", "--explore"]);
    let (_, table) = text.split_once("\n\n").expect("the server's line");
    compare("write-skew.explored", table);
}

#[test]
fn explored_in_markdown_a_cell_is_one_line() {
    let text = said(&["matrix", "deadlock-lock-order", "dirty-write", "--explore", "--format", "markdown"]);
    compare("markdown.explored", &text);
}

#[test]
fn explored_in_json_there_are_the_explorations_and_the_advice() {
    let json = |args: &[&str]| -> Value {
        let arguments = [args, &["deadlock-lock-order", "--format", "json"]].concat();
        serde_json::from_str(&said(&arguments)).expect("one document")
    };
    let document = json(&["matrix", "--explore"]);
    let advice = &document["matrix"][0];
    assert_eq!(advice["cheapest"], serde_json::json!({"fix": "lower-id-first", "isolation": "read-committed"}));
    let of_explore = json(&["explore", "--isolation", "all", "--fix", "all"]);
    assert_eq!(document["explore"], of_explore["explore"]);
    assert_eq!((&document["runs"], &document["seed"]), (&Value::Null, &Value::Null));
}

#[test]
fn explored_with_a_limit_that_is_too_low_there_is_no_verdict() {
    let limit = ["--explore", "--max-schedules", "2", "--isolation", "serializable"];
    let cut = isolab(&[&["matrix", "dirty-write"][..], &limit].concat()).assert().code(5);
    let text = String::from_utf8_lossy(&cut.get_output().stdout).into_owned();
    let cells = ["as written  inconclusive", "(1 played)", "as written at SERIALIZABLE: up to"];
    assert!(cells.iter().all(|part| text.contains(part)), "{text}");
    let refused = isolab(&["matrix", "dirty-write", "--max-schedules", "2"]).assert().code(2);
    let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(said.contains("--explore"), "{said}");
}
