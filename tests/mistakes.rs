//! What a user is told of mistakes that show only while a scenario runs, and the exit code.

use std::process::Command;

/// Exit code and standard error.
fn isolab(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_isolab"))
        .args(arguments)
        .env("ISOLAB_FETCH", "1")
        .output()
        .expect("isolab runs");
    (output.status.code().expect("an exit code"), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn two_rows_for_one_gset_are_shown_where_they_stand() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("two-rows.sql");
    let text = "-- @title Two rows\n-- @schema\nCREATE TABLE t (n int);\n-- @setup\nINSERT INTO t VALUES (1), (2);\n\
                -- @session a\nSELECT n FROM t \\gset\n-- @check never asked\nSELECT true;\n";
    std::fs::write(&file, text).expect("written");
    let (code, told) = isolab(&["run", &file.display().to_string()]);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("P0003") && told.contains("two-rows.sql:7:1"), "{told}");
}

#[test]
fn a_replayed_schedule_is_not_held_against_what_the_staged_one_gives() {
    let (code, told) = isolab(&["write-skew", "--replay", "alice.9"]);
    assert_eq!(code, 0, "{told}");
}

#[test]
fn a_load_test_of_no_time_is_refused() {
    let (code, told) = isolab(&["load", "--duration", "0s"]);
    assert_eq!(code, 2, "{told}");
}

#[test]
fn a_time_limit_that_is_reached_is_inconclusive() {
    let (code, told) = isolab(&["write-skew", "--time-limit", "1ms"]);
    assert_eq!(code, 5, "{told}");
}

#[test]
fn a_load_test_says_before_it_begins_which_command_is_not_for_it() {
    let (code, told) = isolab(&["load", "tests/lint/load-with-commands-for-staging.sql"]);
    assert_eq!(code, 2, "{told}");
    assert!(told.starts_with("error: `\\connect` does not run in a load test\n"), "{told}");
    assert!(told.contains("load-with-commands-for-staging.sql:5:2"), "{told}");
}
