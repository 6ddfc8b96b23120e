//! Expected outputs, formats, exit codes, runners.

use std::fs;

use serde_json::{Value, json};

use crate::common::query;
use crate::{database, file, files, spec, written};

const TWO: &str = "session a step a1 { SELECT 1 AS one; }\nsession b step b1 { SELECT 2 AS two; }\n";
const GIVES: &str = "Parsed test spec with 2 sessions\n\nstarting permutation: b1\nstep b1: SELECT 2 AS two;\n\
                     two\n---\n  2\n(1 row)\n\n";

fn two() -> (tempfile::TempDir, String) {
    written("two.spec", &format!("{TWO}permutation b1"))
}

#[test]
fn an_alternative_output_will_do() {
    let (folder, path) = two();
    fs::write(folder.path().join("two.out"), "other\n").expect("written");
    fs::write(folder.path().join("two_3.out"), format!("unused step name: a1\n{GIVES}")).expect("written");
    let folder = folder.path().display().to_string();
    let same = spec(&[&path, "--expected", &folder]);
    assert_eq!((same.code, same.out.as_str()), (0, GIVES));
    assert_eq!(same.err, "unused step name: a1\n1 file: 1 same\n");
}

#[test]
fn a_difference_is_shown_from_the_nearest_output() {
    let (folder, path) = two();
    fs::write(folder.path().join("two.out"), "other\n").expect("written");
    let nearest = format!("unused step name: a1\n{}", GIVES.replace("  2", "  3"));
    fs::write(folder.path().join("two_1.out"), nearest).expect("written");
    let folder = folder.path().display().to_string();
    let differs = spec(&[&path, "--expected", &folder]);
    assert_eq!((differs.code, differs.out.as_str()), (1, GIVES));
    assert!(differs.err.contains("two.spec: differs from two_1.out\n"), "{}", differs.err);
    assert!(differs.err.contains("\n-  3\n+  2\n"), "{}", differs.err);
    let list = spec(&[&path, "--expected", &folder, "--format", "text"]);
    assert_eq!(list.code, 1);
    assert!(list.out.contains("differs  two.spec") && list.out.contains("\n-  3\n+  2\n"), "{}", list.out);
}

#[test]
fn without_an_expected_output_nothing_is_the_same() {
    let (folder, path) = two();
    let missing = spec(&[&path, "--expected", &folder.path().display().to_string()]);
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("two.spec: there is no expected output"), "{}", missing.err);
}

#[test]
fn text_tells_how_permutations_ended() {
    let story = spec(&[&file("every.spec"), "-v"]);
    assert_eq!((story.code, story.err.as_str()), (0, ""));
    assert!(story.out.starts_with("PostgreSQL "), "{}", story.out);
    assert!(story.out.contains("every.spec: 6 permutations in "), "{}", story.out);
    assert!(story.out.contains("\n  a1 b1 a2 b2(40001)\n"), "{}", story.out);
    assert!(
        story.out.contains("\n  2 of 6 without an error\n  4 of 6 with 40001: could not serialize"),
        "{}",
        story.out
    );
}

#[test]
fn json_has_a_row_for_every_file() {
    let (folder, path) = written("broken.spec", "session a");
    let expected = files().display().to_string();
    let told = spec(&[&file("parts.spec"), &path, &file("every.spec"), "--expected", &expected, "--format", "json"]);
    drop(folder);
    assert_eq!(told.code, 2);
    let document: Value = serde_json::from_str(&told.out).expect("one JSON document");
    let rows = document["specs"].as_array().expect("rows").iter();
    let told: Vec<Value> =
        rows.map(|row| json!([row["file"], row["result"], row["matched"], row["permutations"]])).collect();
    let expected = [
        json!(["parts.spec", "same", "parts.out", 2]),
        json!(["broken.spec", "error", null, 0]),
        json!(["every.spec", "same", "every.out", 6]),
    ];
    assert_eq!(told, expected);
    assert_eq!(document["specs"][1]["message"], "syntax error at line 1");
}

#[test]
fn junit_counts_failures_and_errors() {
    let (folder, path) = two();
    fs::write(folder.path().join("two.out"), "other\n").expect("written");
    let told = spec(&[&path, "--expected", &folder.path().display().to_string(), "--format", "junit"]);
    assert_eq!(told.code, 1);
    assert!(told.out.contains(r#"tests="1" skipped="0" errors="0" failures="1""#), "{}", told.out);
    assert!(told.out.contains(r#"<failure message="differs from two.out" type="differs">"#), "{}", told.out);
}

#[test]
fn several_runners_give_the_same_in_the_order_of_the_files() {
    let folder = files().display().to_string();
    let told = spec(&[&folder, "--expected", &folder, "--runners", "3", "--format", "text"]);
    let names: Vec<&str> = told.out.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    let listed: Vec<&str> = names.into_iter().filter(|name| name.ends_with(".spec")).collect();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    assert_eq!(listed, sorted);
    // One file ends with an error, as isolationtester does.
    assert!(told.out.contains(&format!("{} files: {} same, 1 error", listed.len(), listed.len() - 1)), "{}", told.out);
}

#[test]
fn a_setup_that_fails_is_drawn_with_its_place() {
    let (_folder, path) = written("x.spec", "setup { SELECT 1; }\nsession a\nsetup {\n SELECT nothing; }\nstep x { }");
    let told = spec(&[&path]);
    assert_eq!(told.code, 2);
    assert!(told.err.contains("error: setup of session a failed with 42703"), "{}", told.err);
    assert!(told.err.contains("x.spec:4:9"), "{}", told.err);
}

#[test]
fn the_databases_name_in_the_tests_stands_for_the_one_at_hand() {
    let text = "session a step x { GRANT TEMP ON DATABASE isolation_regression TO PUBLIC; }";
    let (_folder, path) = written("x.spec", text);
    let told = spec(&[&path, "--format", "isolationtester"]);
    let step = "step x: GRANT TEMP ON DATABASE isolation_regression TO PUBLIC;\n";
    assert_eq!(told.out, format!("Parsed test spec with 1 sessions\n\nstarting permutation: x\n{step}"));
}

#[test]
fn no_database_stays_behind() {
    let (_folder, path) = two();
    let name = "SELECT current_database() AS name";
    let (_other, second) = written("x.spec", &format!("session a step x {{ {name}; }}"));
    let told = spec(&[&path, &second, "--runners", "2", "--format", "isolationtester"]);
    let database_name = told.out.lines().find(|line| line.starts_with("isolab_")).expect("a name").trim().to_owned();
    let left = query(database(), &format!("SELECT count(*) FROM pg_database WHERE datname = '{database_name}'"));
    assert_eq!(left, ["0"]);
}
