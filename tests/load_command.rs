//! `isolab load` through the binary.

mod common;

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::assert::OutputAssertExt;
use common::{as_guest, installations, query, server_by_flag, url};
use serde_json::Value;

fn isolab(db: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isolab"));
    command.args(["--no-progress", "load", "--db", db]).args(args).env_remove("ISOLAB_SEED");
    command
}

/// The exit code, standard output and standard error.
fn outcome(db: &str, args: &[&str]) -> (i32, String, String) {
    let output = isolab(db, args).output().expect("isolab runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON document")
}

/// Runs a check with a server of the newest installed version, given as `--db`.
fn with_server(check: impl FnOnce(&str)) {
    let bin = installations().pop().expect("a PostgreSQL");
    let (throwaway, _server) = server_by_flag(&bin);
    check(&url(&throwaway));
}

fn scenario_file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".sql").tempfile().expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    file
}

#[test]
fn assertions_decide_the_exit_code() {
    with_server(|db| {
        let overspend = "over_budget == 0";
        let (code, text, _) = outcome(db, &["--strategy", "naive-rc", "--assert", overspend]);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("over_budget == 0") && text.contains("FAILS"), "{text}");
        let (code, text, _) = outcome(db, &["--strategy", "conditional", "--assert", overspend]);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("the assertion holds"), "{text}");
        let (code, text, _) =
            outcome(db, &["--assert", "conditional: over_budget == 0", "--assert", "naive-rc: ok > 0"]);
        assert_eq!(code, 0, "{text}");
    });
}

#[test]
fn more_workers_than_the_role_may_have_connections_are_refused() {
    with_server(|db| {
        let guest = as_guest(db, "CONNECTION LIMIT 6; GRANT CREATE ON DATABASE postgres TO guest");
        let (code, _, error) = outcome(&guest, &["--strategy", "conditional", "--requests", "40"]);
        assert_eq!(code, 3, "{error}");
        assert!(error.contains("16 are needed, and ") && error.contains("; a CONNECTION LIMIT leaves "), "{error}");
        let (code, _, error) = outcome(&guest, &["--strategy", "conditional", "--requests", "40", "--workers", "2"]);
        assert_eq!(code, 0, "{error}");
    });
}

#[test]
fn json_has_a_row_for_every_strategy() {
    with_server(|db| {
        let (code, text, _) = outcome(db, &["--format", "json", "--retry", "3", "--seed", "42"]);
        let document = json(&text);
        assert_eq!((code, &document["seed"]), (0, &Value::from(42)));
        let rows = document["load"].as_array().expect("rows");
        assert_eq!(rows.len(), 5);
        for row in rows {
            let count = |name: &str| row[name].as_u64().expect(name);
            let ends = ["ok", "rejected", "gave_up", "failed", "unknown"].map(count);
            assert_eq!((ends.iter().sum::<u64>(), count("requests")), (400, 400), "{row}");
            let is_naive = row["strategy"].as_str().expect("a name").starts_with("naive");
            assert_eq!(row["measures"]["over_budget"].as_i64().expect("a number") > 0, is_naive, "{row}");
            assert_eq!(count("gave_up") > 0, row["strategy"] == "serializable", "{row}");
        }
    });
}

#[test]
fn the_users_tables_stay_as_they_are() {
    with_server(|db| {
        query(db, "CREATE TABLE teams (id text); INSERT INTO teams VALUES ('mine'); CREATE TABLE expenses (n int)");
        let objects = "SELECT string_agg(oid::regclass::text, ' ' ORDER BY oid) FROM pg_class WHERE oid >= 16384";
        let before = query(db, objects);
        let (code, _, _) = outcome(db, &["--requests", "40", "--workers", "4"]);
        assert_eq!((code, query(db, "SELECT id FROM teams")), (0, vec!["mine".to_owned()]));
        assert_eq!(query(db, objects), before);
        assert_eq!(query(db, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'isolab%'"), ["0"]);
    });
}

#[test]
fn a_fix_that_does_not_hold_is_a_failure_and_a_variant_is_not() {
    let text = |kind: &str| {
        format!(
            "-- @schema\nCREATE TABLE t (n int);\n-- @transaction add()\nINSERT INTO t VALUES (1);\n\
             -- @load add() by 2 workers, 10 requests\n-- @check at most five\nSELECT count(*) <= 5 FROM t;\n-- @{kind} again\n-- @retry 2\n"
        )
    };
    with_server(|db| {
        for (kind, expected) in [("fix", 1), ("variant", 0)] {
            let file = scenario_file(&text(kind));
            let (code, text, errors) = outcome(db, &[file.path().to_str().expect("UTF-8")]);
            assert_eq!(code, expected, "{kind}: {text}{errors}");
        }
    });
}

#[test]
fn a_time_limit_is_inconclusive() {
    let file = scenario_file("-- @transaction t()\nSELECT pg_sleep(600);\n-- @load t() by 2 workers, 10 requests\n");
    with_server(|db| {
        let (code, text, errors) = outcome(db, &[file.path().to_str().expect("UTF-8"), "--time-limit", "1s"]);
        assert_eq!(code, 5, "{text}{errors}");
        assert!((text + &errors).contains("time limit"));
    });
}

#[test]
fn a_statement_that_cannot_work_is_shown_where_it_stands() {
    let file =
        scenario_file("-- @transaction t(n)\nSELECT :n FROM nowhere;\n-- @load t(1) by 2 workers, 10 requests\n");
    with_server(|db| {
        let (code, _, errors) = outcome(db, &[file.path().to_str().expect("UTF-8")]);
        assert_eq!(code, 2, "{errors}");
        assert!(errors.contains("42P01") && errors.contains(":2:16"), "{errors}");
    });
}

#[test]
fn what_the_scenario_requires_is_looked_at_first() {
    let file = scenario_file(
        "-- @requires version >= 99\n-- @transaction t()\nSELECT 1;\n-- @load t() by 2 workers, 10 requests\n",
    );
    with_server(|db| {
        let (code, _, errors) = outcome(db, &[file.path().to_str().expect("UTF-8")]);
        assert_eq!(code, 4, "{errors}");
        assert!(errors.contains("skipped"), "{errors}");
    });
}

#[test]
fn wrong_usage_says_what_is_right() {
    // Found before any server is looked for.
    let nowhere = "postgres://localhost:1/nowhere";
    let cases: [(&[&str], &str); 9] = [
        (&["--strategy", "for-updat"], "did you mean `for-update`?"),
        (&["--assert", "overbudget == 0"], "did you mean `over_budget`?"),
        (&["--assert", "over_budget"], "is no assertion"),
        (&["--set", "budge=1"], "did you mean `budget`?"),
        (&["--set", "budget"], "no `=` in it"),
        (&["--isolation", "serialisable"], "did you mean `serializable`?"),
        (&["--workers", "0"], "0 is not in"),
        (&["--requests", "5", "--duration", "1s"], "cannot be used with"),
        (&["write-skew"], "has no load test"),
    ];
    for (args, expected) in cases {
        let (code, _, errors) = outcome(nowhere, args);
        assert_eq!(code, 2, "{args:?}: {errors}");
        assert!(errors.contains(expected), "{args:?}: {errors}");
    }
}

#[test]
fn too_many_workers_are_refused() {
    with_server(|db| {
        let (code, _, errors) = outcome(db, &["--workers", "300"]);
        assert_eq!(code, 3, "{errors}");
        assert!(errors.contains("300 are needed") && errors.contains("max_connections = 200"), "{errors}");
    });
}

#[test]
fn a_closed_pipe_is_no_failure() {
    with_server(|db| {
        let mut child = isolab(db, &["--requests", "20"]).stdout(Stdio::piped()).spawn().expect("isolab runs");
        drop(child.stdout.take());
        child.wait_with_output().expect("ends").assert().success();
    });
}

#[test]
fn nothing_is_left_after_a_signal() {
    with_server(|db| {
        let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'isolab%'";
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'isolab\\_%'";
        let of_this_test = query(db, sessions);
        for (pause, signal, expected) in [(0, "INT", 130), (40, "TERM", 143), (120, "INT", 130), (400, "TERM", 143)] {
            let child = isolab(db, &["--duration", "60s"]).stdout(Stdio::null()).spawn().expect("isolab runs");
            while query(db, schemas) == ["0"] {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(pause));
            assert_eq!(ended_by(child, signal), expected, "after {pause} ms");
            assert_eq!(query(db, schemas), ["0"]);
            // A session may take a moment to notice that its client is gone.
            let patience = Instant::now() + Duration::from_secs(10);
            while query(db, sessions) != of_this_test {
                assert!(Instant::now() < patience, "sessions are left");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    });
}

/// Sends the signal and gives the exit code.
fn ended_by(mut child: Child, signal: &str) -> i32 {
    Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).assert().success();
    child.wait().expect("ends").code().expect("an exit code, not death by the signal")
}
