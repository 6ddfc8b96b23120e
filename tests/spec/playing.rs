//! What isolationtester prints, byte for byte.

use crate::{file, files, spec};

/// Both streams in one, as a shell's `2>&1` has them.
fn merged(name: &str) -> String {
    let mut command = std::process::Command::new("sh");
    command.args([
        "-c",
        "exec \"$0\" \"$@\" 2>&1",
        env!("CARGO_BIN_EXE_isolab"),
        "spec",
        &file(name),
        "--format",
        "isolationtester",
    ]);
    let output = command.args(["--db", crate::database()]).output().expect("isolab runs");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[track_caller]
fn assert_as_isolationtester(name: &str) {
    let expected = std::fs::read_to_string(files().join(name).with_extension("out")).expect("an output");
    let came = merged(name);
    assert!(came == expected, "{name} gave:\n{came}");
}

#[test]
fn every_part_of_the_format() {
    assert_as_isolationtester("parts.spec");
}

#[test]
fn waits_and_wakes() {
    assert_as_isolationtester("waits.spec");
}

#[test]
fn markers() {
    assert_as_isolationtester("markers.spec");
}

#[test]
fn answers_of_all_shapes() {
    assert_as_isolationtester("answers.spec");
}

#[test]
fn deadlocks() {
    assert_as_isolationtester("deadlock.spec");
}

#[test]
fn every_interleaving() {
    assert_as_isolationtester("every.spec");
}

#[test]
fn waits_that_end_by_themselves() {
    assert_as_isolationtester("timed.spec");
}

#[test]
fn closed_connections() {
    assert_as_isolationtester("closed.spec");
    assert_eq!(spec(&[&file("closed.spec")]).code, 3);
}

#[test]
fn teardowns_that_fail() {
    assert_as_isolationtester("teardown.spec");
    assert_eq!(spec(&[&file("teardown.spec")]).code, 0);
}
