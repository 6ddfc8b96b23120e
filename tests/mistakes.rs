//! What a user is told of mistakes that show only while a scenario runs, and the exit code.

mod common;

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

#[test]
fn a_replay_is_of_one_schedule_at_one_level() {
    let (code, told) = isolab(&["write-skew", "--replay", " "]);
    assert_eq!((code, told.contains("there is no move in it")), (2, true), "{told}");
    let (code, told) = isolab(&["write-skew", "--replay", "alice", "--isolation", "all"]);
    assert_eq!((code, told.contains("one --isolation")), (2, true), "{told}");
}

#[test]
fn a_value_that_the_server_refuses_is_shown_where_it_was_given() {
    let (code, told) = isolab(&["run", "overspend", "--set", "budget=abc"]);
    assert_eq!((code, told.contains(" --> --set budget:1:1\n")), (2, true), "{told}");
}

#[test]
fn a_server_that_is_not_there_is_named_by_the_variables_that_name_it() {
    let output = Command::new(env!("CARGO_BIN_EXE_isolab"))
        .args(["run", "write-skew"])
        .env_remove("DATABASE_URL")
        .env("PGHOST", "127.0.0.1")
        .env("PGPORT", "1")
        .output()
        .expect("isolab runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("(the address is from PGHOST, PGPORT): connection refused"), "{told}");
}

#[test]
fn what_needs_a_database_that_the_role_may_not_make_is_skipped() {
    let bins = common::installations();
    let (throwaway, _server) = common::server_by_flag(bins.last().expect("a PostgreSQL"));
    let url = common::url(&throwaway);
    let database = throwaway.tcp_options().database;
    common::query(&url, &format!("CREATE ROLE plain LOGIN PASSWORD 'x'; GRANT CREATE ON DATABASE {database} TO plain"));
    let db = format!("postgres://plain:x@{}/{database}", throwaway.tcp_options().address());
    let output = Command::new(env!("CARGO_BIN_EXE_isolab"))
        .args(["run", "write-skew", "advisory-lock-session-scope", "--isolation", "all", "-q", "--db", &db])
        .output()
        .expect("isolab runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("6 runs: 3 as expected, 3 skipped\n"), "{told}");
    let reason = "advisory-lock-session-scope: needs a database of its own, and plain may not create one";
    assert_eq!(told.split_whitespace().collect::<Vec<_>>().join(" ").matches(reason).count(), 1, "{told}");
}
