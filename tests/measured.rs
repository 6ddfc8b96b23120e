//! The built-in scenarios against outcomes that another program measured: `data/anomalies/levels-matrix.tsv` (as written)
//! and `fixes-matrix.tsv` in the folder that ISOLAB_SHARED names, cell by cell.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use isolab::scenario::{Scenario, load};
use serde_json::Value;

/// The line below `@fix` that gives the fix its name in `fixes-matrix.tsv`.
const CATALOGUE: &str = "Catalogue: ";

/// Scenario, fix (empty: as written) and level.
type Key = (String, String, String);

/// All runs on one server.
struct Measured {
    /// The server's major version, as the tables have it.
    version: String,
    runs: HashMap<Key, Value>,
}

impl Measured {
    fn all() -> Measured {
        let mut command = Command::cargo_bin("isolab").expect("the program");
        command.args(["run", "--all", "--isolation", "all", "--fix", "all", "--format", "json"]);
        let output = command.env("ISOLAB_FETCH", "1").assert().success().get_output().stdout.clone();
        let document: Value = serde_json::from_slice(&output).expect("one JSON document");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let version = text(&document["server"]["version"]);
        let key = |run: &Value| (text(&run["scenario"]), text(&run["fix"]), text(&run["isolation"]));
        let runs = document["runs"].as_array().expect("runs").iter().map(|run| (key(run), run.clone())).collect();
        Measured { version: version.split('.').next().unwrap_or_default().to_owned(), runs }
    }
}

/// The rows of a table that speak of this version, without the header.
fn rows(shared: &Path, file: &str, version: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(shared.join("data/anomalies").join(file)).expect("a table");
    let rows = text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    rows.filter(|row| row[if file.starts_with("levels") { 2 } else { 3 }] == version).collect()
}

/// What a run showed, in the tables' words: outcome, SQLSTATEs, and whether the data are right in the end.
#[derive(Debug, PartialEq, Eq)]
struct Cell {
    outcome: String,
    sqlstates: BTreeSet<String>,
    holds: bool,
}

fn cell(run: &Value) -> Cell {
    let stops = run["stopped"].as_array().into_iter().flatten();
    let last = if run["after_retry"].is_null() { run } else { &run["after_retry"] };
    Cell {
        outcome: run["outcome"].as_str().unwrap_or_default().to_owned(),
        sqlstates: stops.filter_map(|stop| stop["sqlstate"].as_str()).map(str::to_owned).collect(),
        holds: last["checks"].as_array().into_iter().flatten().all(|check| check["holds"] == true),
    }
}

fn codes(list: &str) -> BTreeSet<String> {
    list.split(',').map(str::trim).filter(|code| *code != "-").map(str::to_owned).collect()
}

/// The SQLSTATEs of all errors, those of the retries included.
fn raised(run: &Value) -> BTreeSet<String> {
    let events = run["events"].as_array().into_iter().flatten();
    events.filter_map(|event| event["error"]["sqlstate"].as_str()).map(str::to_owned).collect()
}

/// As written: outcome, SQLSTATE and what the retries gave.
fn as_written_differs(row: &[String], run: &Value) -> bool {
    let [_, _, _, outcome, sqlstate, _, blocked, _, after_retry, ..] = row else { return true };
    let outcome = match (outcome.as_str(), blocked.as_str()) {
        ("prevented", "-") => "prevented",
        ("prevented" | "prevented-by-waiting", _) => "waits",
        (other, _) => other,
    };
    cell(run) != Cell { outcome: outcome.to_owned(), sqlstates: codes(sqlstate), holds: after_retry == "true" }
}

fn fix_differs(row: &[String], run: &Value) -> bool {
    let [_, _, _, _, verdict, sqlstates, blocked] = row else { return true };
    let cell = cell(run);
    match verdict.as_str() {
        "n/a" => cell.outcome != "skipped",
        "does not hold" => cell.holds,
        "holds" if blocked == "-" => cell.outcome != "prevented",
        "holds" | "holds by waiting" => cell.outcome != "waits",
        _ => cell.outcome != "stopped" || !cell.holds || !codes(sqlstates).is_subset(&raised(run)),
    }
}

/// The scenario's own name for a fix of the table.
fn fix_name<'a>(scenario: &'a Scenario, wording: &str) -> Option<&'a str> {
    let bears = |story: &str| story.lines().any(|line| line.trim().strip_prefix(CATALOGUE) == Some(wording));
    scenario.variants.iter().find(|variant| bears(&variant.story)).map(|variant| variant.name.as_str())
}

#[test]
fn every_measured_outcome_is_ours() {
    let Some(shared) = std::env::var_os("ISOLAB_SHARED").map(PathBuf::from) else {
        eprintln!("skipped: ISOLAB_SHARED does not name the folder with the measured outcomes");
        return;
    };
    let measured = Measured::all();
    let mut compared = 0;
    let mut differing = Vec::new();
    let mut compare = |key: Key, row: &[String], differs: fn(&[String], &Value) -> bool| {
        compared += 1;
        match measured.runs.get(&key) {
            None => differing.push(format!("{key:?} was not run; the table has {row:?}")),
            Some(run) if differs(row, run) => {
                differing.push(format!("{key:?}: {:?}; the table has {row:?}", cell(run)))
            }
            Some(_) => {}
        }
    };
    for row in rows(&shared, "levels-matrix.tsv", &measured.version) {
        compare((row[0].clone(), String::new(), row[1].clone()), &row, as_written_differs);
    }
    for row in rows(&shared, "fixes-matrix.tsv", &measured.version) {
        let fix = load(&row[0]).ok().and_then(|scenario| fix_name(&scenario, &row[1]).map(str::to_owned));
        compare((row[0].clone(), fix.unwrap_or_else(|| row[1].clone()), row[2].clone()), &row, fix_differs);
    }
    eprintln!("{compared} cells compared on PostgreSQL {}, {} differ", measured.version, differing.len());
    assert!(compared > 0, "no table speaks of PostgreSQL {}", measured.version);
    assert!(differing.is_empty(), "{} of {compared} cells differ:\n{}", differing.len(), differing.join("\n"));
}
