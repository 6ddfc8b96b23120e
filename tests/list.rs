//! `isolab list` as a user meets it.

use std::process::{Command, Output};

use serde_json::{Value, json};

fn isolab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isolab")).args(arguments).output().expect("the program runs")
}

/// What is listed.
fn listed(arguments: &[&str]) -> String {
    let output = isolab(&[&["list"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What standard error says where nothing is listed.
fn refused(arguments: &[&str]) -> String {
    let output = isolab(&[&["list"], arguments].concat());
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(4), &b""[..]));
    String::from_utf8(output.stderr).expect("UTF-8")
}

fn names(arguments: &[&str]) -> Vec<String> {
    let document: Value = serde_json::from_str(&listed(&[arguments, &["--format", "json"]].concat())).expect("JSON");
    let list = document["list"].as_array().expect("a list");
    list.iter().map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_family_has_a_line_for_each_bug_with_its_formal_name() {
    assert_eq!(
        listed(&["--family", "queues"]),
        "queues\n\
         \u{20} double-claim-subselect   EvalPlanQual: the subselect is not run again\n\
         \u{20} skip-locked-looks-empty  queue visibility (SKIP LOCKED gives an inconsistent\n\
         \u{20}                          view)\n\
         \u{20} skip-locked-reorder      queue order (no isolation anomaly)\n"
    );
}

#[test]
fn every_scenario_is_listed_once() {
    let text = listed(&[]);
    let builtins = isolab::scenario::builtin();
    for name in builtins.map(|builtin| builtin.name) {
        assert_eq!(text.lines().filter(|line| line.starts_with(&format!("  {name} "))).count(), 1, "{name}");
    }
}

#[test]
fn a_level_leaves_what_happens_there() {
    let committed = names(&["--level", "read-committed"]);
    assert!(committed.contains(&"lost-update".to_owned()) && !committed.contains(&"dirty-write".to_owned()));
    assert_eq!(names(&["--level", "read-uncommitted"]), committed);
    let repeatable = names(&["--level", "repeatable-read"]);
    assert!(repeatable.contains(&"write-skew".to_owned()) && !repeatable.contains(&"lost-update".to_owned()));
    let serializable = listed(&["--level", "serializable"]);
    assert!(serializable.contains("(on < 18)"), "{serializable}");
}

#[test]
fn a_word_is_looked_for_in_all_that_is_said_and_adds_the_titles() {
    let text = listed(&["COUPON"]);
    assert!(text.contains("double-redeem") && !text.contains("write-skew"), "{text}");
    assert!(text.lines().count() >= 3, "{text}");
    assert_eq!(names(&["coupon", "twice"]), names(&["twice", "coupon"]));
    assert!(listed(&["--family", "queues", "-v"]).contains("Two workers claim the same job\n"));
}

#[test]
fn what_fits_nothing_is_met_with_the_nearest() {
    assert_eq!(refused(&["--family", "quues"]), "error: no family is called `quues`; did you mean `queues`?\n");
    assert_eq!(refused(&["cuopon"]), "error: no scenario mentions `cuopon`; did you mean `coupon`?\n");
    assert_eq!(refused(&["--family", "queues", "coupon"]), "error: no scenario fits all of that\n");
    assert!(
        refused(&["--family", "zzzz"]).starts_with("error: no family is called `zzzz`; the families are clients, ")
    );
}

#[test]
fn json_tells_the_same_and_what_is_foreseen() {
    let document: Value = serde_json::from_str(&listed(&["write-skew", "--format", "json"])).expect("JSON");
    assert_eq!((&document["schema"], document.get("server")), (&json!(1), None));
    let entry = document["list"].as_array().expect("a list").iter().find(|entry| entry["name"] == "write-skew");
    let entry = entry.expect("the scenario");
    assert_eq!(entry["family"], "write-skew");
    assert_eq!(entry["formal_name"], "A5B write skew, G2");
    let serializable = json!({"isolation": "serializable", "on": null, "outcome": "stopped 40001 at bob commit"});
    assert!(entry["expected"].as_array().expect("a list").contains(&serializable), "{entry}");
    assert!(entry["fixes"].as_array().expect("a list").contains(&json!("for-update")), "{entry}");
}
