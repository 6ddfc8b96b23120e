//! `isolab explore` as a user runs it: limits, what is left out, what does not repeat.

mod common;

use std::path::PathBuf;

use isolab::server::{Extra, Throwaway};
use serde_json::Value;

fn isolab(arguments: &[&str]) -> (i32, String) {
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_isolab")).args(arguments).output().expect("it runs");
    let code = output.status.code().expect("it ends by itself");
    assert!(code != 2 && code != 3, "{}", String::from_utf8_lossy(&output.stderr));
    (code, String::from_utf8(output.stdout).expect("UTF-8"))
}

fn json(arguments: &[&str]) -> (i32, Value) {
    let (code, text) = isolab(&[arguments, &["--format", "json"]].concat());
    (code, serde_json::from_str(&text).expect("JSON"))
}

/// A scenario in a file of its own; the folder goes with the first of the two.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("mine.sql");
    std::fs::write(&path, text).expect("written");
    (folder, path.to_str().expect("UTF-8").to_owned())
}

/// Three sessions that count, with and without a lost update.
fn counter() -> String {
    let session = |name: &str| {
        format!("-- @session {name}\nSELECT v FROM t WHERE id = 1 \\gset\nUPDATE t SET v = :v + 1 WHERE id = 1;\n")
    };
    let sessions: String = ["a", "b", "c"].map(session).concat();
    format!(
        "-- @title Counter\n-- @schema\nCREATE TABLE t (id int PRIMARY KEY, v int);\n\
         -- @setup\nINSERT INTO t VALUES (1, 0);\n{sessions}-- @check all count\nSELECT v = 3 FROM t;\n"
    )
}

#[test]
fn no_order_is_played_twice() {
    let session = |mine: i32, other: i32| {
        format!("SELECT v FROM t WHERE id = {other} \\gset\nUPDATE t SET v = :v + 1 WHERE id = {mine};\n\n")
    };
    let (_folder, file) = file(&format!(
        "-- @title Cross\n-- @schema\nCREATE TABLE t (id int PRIMARY KEY, v int);\n\
         -- @setup\nINSERT INTO t VALUES (1, 0), (2, 0);\n\n-- @session a\n{}-- @session b\n{}\
         -- @check true\nSELECT true;\n-- @retry 5\n",
        session(1, 2),
        session(2, 1)
    ));
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_isolab"));
    command.args(["explore", &file, "--isolation", "serializable", "--no-reduce", "--format", "json", "-v"]);
    let output = command.output().expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = &report["explore"][0];
    assert_eq!((&found["verdict"], &found["schedules"], &found["orders"]), (&"safe".into(), &20.into(), &20.into()));
    // The serial orders, which say what is right, are two of them.
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(told.matches("> INSERT INTO t VALUES (1, 0)").count(), 20, "{told}");
}

#[test]
fn a_limit_says_what_was_covered_and_what_was_not() {
    let (_folder, file) = file(&counter());
    let explore = |runners: &str, seed: &str| {
        let limits = ["--no-reduce", "--max-schedules", "240", "--runners", runners, "--seed", seed];
        json(&[&["explore", &file][..], &limits].concat())
    };
    let (code, one) = explore("1", "7");
    assert_eq!(code, 1, "a lost update is found all the same");
    let found = &one["explore"][0];
    let fallback = &found["fallback"];
    let count = |key: &str| fallback[key].as_u64().expect("a number");
    assert_eq!((&found["complete"], count("systematic"), count("preemptions")), (&Value::Bool(false), 120, 1));
    assert!(count("bounded") > 0 && count("random") > 0, "{fallback}");
    assert_eq!(
        count("systematic") + count("bounded") + count("random"),
        found["schedules"].as_u64().expect("a number")
    );
    assert_eq!((&one["seed"], &found["orders"]), (&7.into(), &1680.into()));
    assert_eq!(explore("3", "7").1, one, "neither the runners nor the time decide what is played");
    let (_, text) = isolab(&["explore", &file, "--no-reduce", "--max-schedules", "240", "--seed", "7"]);
    for part in ["covered: every order with at most 1 preemption", "drawn by --seed 7", "not covered: up to 1,"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

/// A lost update of two among three, with statements and a call that have nothing to do with it.
fn crowded() -> String {
    let body = "SELECT v FROM t WHERE id = 3;\nSELECT v FROM t WHERE id = 1 \\gset\nSELECT :v + 1;\n\
                UPDATE t SET v = :v + 1 WHERE id = 1;\nUPDATE t SET v = v WHERE id = 2;\n";
    format!(
        "-- @title Crowded\n-- @schema\nCREATE TABLE t (id int PRIMARY KEY, v int);\n\n\
         -- @setup\nINSERT INTO t VALUES (1, 0), (2, 0), (3, 0);\n\
         -- @transaction count\n{body}-- @transaction look\nSELECT v FROM t WHERE id = 3;\nSELECT v FROM t WHERE id = 3;\n\
         -- @session bystander: look\n-- @session a: look; count\n-- @session b: count\n\
         -- @check both count\nSELECT v = 2 FROM t WHERE id = 1;\n"
    )
}

#[test]
fn what_a_failure_does_not_need_is_left_out_and_plays_again() {
    let (_folder, file) = file(&crowded());
    let (code, document) = json(&["explore", &file, "--isolation", "read-committed"]);
    assert_eq!(code, 1);
    let failure = &document["explore"][0]["failures"][0];
    let left_out = serde_json::json!(["bystander.0", "a/1-3.0", "a/5.0", "a/7.0", "b/1.0", "b/3.0", "b/5.0"]);
    assert_eq!((&failure["kind"], &failure["left_out"]), (&"lost update (P4)".into(), &left_out), "{failure:#}");
    let schedule = failure["replay"].as_str().expect("a schedule");
    assert_eq!(schedule, "a b.3 a.2 bystander.0 a/1-3.0 a/5.0 a/7.0 b/1.0 b/3.0 b/5.0");
    let (_, again) = json(&["run", &file, "--isolation", "read-committed", "--replay", schedule]);
    let run = &again["runs"][0];
    assert_eq!((&run["outcome"], &run["schedule"]), (&"happens".into(), &schedule.into()));
    assert_eq!(run["events"], failure["events"]);
    let (_, text) = isolab(&["explore", &file, "--isolation", "read-committed"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("without: bystander, 5 statements of a, 3 statements of b"), "{text}");
    let header = text.lines().find(|line| line.trim_start().starts_with("a ")).expect("a timeline");
    assert_eq!(header.split_whitespace().collect::<Vec<_>>(), ["a", "b"], "the bystander has no column");
}

#[test]
fn what_does_not_come_out_the_same_twice_is_said() {
    let body = "SELECT v FROM t WHERE id = 1 \\gset\nSELECT random() AS r \\gset\n\\if :r < 2\n\
                UPDATE t SET v = :v + 1 WHERE id = 1;\n\\endif\n";
    let (_folder, file) = file(&format!(
        "-- @title Drawn\n-- @schema\nCREATE TABLE t (id int PRIMARY KEY, v int);\n-- @setup\n\
         INSERT INTO t VALUES (1, 0);\n-- @session a\n{body}-- @session b\n{body}\
         -- @check both count\nSELECT v = 2 FROM t;\n"
    ));
    let (code, document) = json(&["explore", &file, "--max-schedules", "12", "--seed", "1"]);
    let failure = &document["explore"][0]["failures"][0];
    let differs = failure["differs"].as_str().expect("a difference");
    assert!(differs.starts_with("first the answer at 2: SELECT 1 (0."), "{differs}");
    assert_eq!(code, 5);
    let (_, text) = isolab(&["explore", &file, "--max-schedules", "12", "--seed", "1"]);
    assert!(text.contains("not repeatable, played twice the same schedule differs"), "{text}");
    let (_, document) = json(&["explore", "lost-update"]);
    assert_eq!(document["explore"][0]["failures"][0]["differs"], Value::Null);
}

#[test]
fn what_holds_write_skews_fixes_together_cannot_be_taken_out() {
    let fixes = ["--fix", "serializable", "--fix", "for-update", "--fix", "conditional"];
    let (code, document) = json(&[&["explore", "write-skew", "--mutate"][..], &fixes].concat());
    let shown = |mutated: &Value| {
        let text = |key: &str| mutated[key].as_str().expect("a text").to_owned();
        (text("taken_out"), text("after"), mutated["red"] == true, mutated["idle"] == true)
    };
    let found = |form: usize| -> Vec<_> {
        document["explore"][form]["mutations"].as_array().expect("mutations").iter().map(shown).collect()
    };
    let red = |what: &str, after: &str| (what.to_owned(), after.to_owned(), true, false);
    let idle = || ("@retry 10".to_owned(), "safe".to_owned(), false, true);
    assert_eq!(found(0), [red("@retry 10", "errors"), red("REPEATABLE READ for SERIALIZABLE", "broken")]);
    assert_eq!(found(1), [red("FOR UPDATE", "broken"), idle()]);
    assert_eq!(found(2), [red("AND spent + :amount <= budget", "not a race"), idle()]);
    let place = document["explore"][1]["mutations"][0]["place"].as_str().expect("a place");
    assert!(place.ends_with("write-skew.sql:57"), "{place}");
    assert_eq!(code, 0);
}

#[test]
fn a_lock_that_nothing_needs_is_reported() {
    let body = "SELECT 1 FROM t WHERE id = 1 FOR UPDATE;\nUPDATE t SET v = v + 1 WHERE id = 1;\n";
    let (_folder, file) = file(&format!(
        "-- @title Locked twice\n-- @schema\nCREATE TABLE t (id int PRIMARY KEY, v int);\n-- @setup\n\
         INSERT INTO t VALUES (1, 0);\n-- @transaction count\n{body}-- @session a: count\n-- @session b: count\n\
         -- @check both count\nSELECT v = 2 FROM t;\n"
    ));
    let (code, text) = isolab(&["explore", &file, "--mutate"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("mine.sql:7): still safe: it proves nothing, or is not needed here"), "{text}");
    assert_eq!(code, 1);
    assert_eq!(isolab(&["explore", &file]).0, 0);
}

#[test]
fn an_anomaly_has_the_name_that_its_rows_allow() {
    let body = "SELECT v FROM t WHERE id = 1 \\gset\nUPDATE t SET v = :v + 1 WHERE id = 1;\n";
    let kind = |columns: &str| {
        let (_folder, file) = file(&format!(
            "-- @title Rows\n-- @schema\nCREATE TABLE t ({columns}, v int);\n-- @setup\n\
             INSERT INTO t VALUES (1, 0), (2, 0);\n-- @session a\n{body}-- @session b\n{body}\
             -- @check both count\nSELECT v = 2 FROM t WHERE id = 1;\n"
        ));
        let (_, document) = json(&["explore", &file]);
        let failure = document["explore"][0]["failures"][0].clone();
        let text = |key: &str| failure[key].as_str().expect("a text").to_owned();
        (text("kind"), text("reason"))
    };
    assert_eq!(kind("id int PRIMARY KEY").0, "lost update (P4)");
    let (name, reason) = kind("id int");
    assert_eq!(name, "anomaly");
    assert!(reason.ends_with("which rows of t were meant is not known, so it has no better name"), "{reason}");
    let (_, document) = json(&["explore", "write-skew", "--fix", "check-in-where"]);
    assert_eq!(
        document["explore"][0]["failures"][0]["kind"], "write skew (G2)",
        "rows that are added overwrite nothing"
    );
}

#[test]
fn by_step_the_statements_of_a_step_stay_together() {
    let (_, document) = json(&["explore", "write-skew", "--by", "step", "--isolation", "all", "--no-reduce"]);
    let shown = |level: usize| {
        let found = &document["explore"][level];
        (found["verdict"].as_str().expect("a verdict"), found["orders"].as_u64(), found["complete"] == true)
    };
    // check, insert and commit of two sessions; a check is two statements.
    assert_eq!(shown(0), ("broken", Some(20), true));
    assert_eq!(shown(2).0, "safe");
    let (_, reduced) = json(&["explore", "write-skew", "--by", "step"]);
    let failure = &reduced["explore"][0]["failures"][0];
    let schedule = failure["replay"].as_str().expect("a schedule");
    let (_, again) = json(&["run", "write-skew", "--replay", schedule]);
    assert_eq!((&again["runs"][0]["outcome"], &again["runs"][0]["events"]), (&"happens".into(), &failure["events"]));
}

#[test]
fn with_every_order_played_an_anomaly_has_its_name_all_the_same() {
    for (scenario, name) in [("write-skew", "write skew (G2)"), ("lost-update", "lost update (P4)")] {
        let (_, document) = json(&["explore", scenario, "--no-reduce"]);
        let failure = &document["explore"][0]["failures"][0];
        assert_eq!(failure["kind"], name);
        assert_eq!(failure["cycle"].as_array().map(Vec::len), Some(2), "{failure:#}");
    }
}

#[test]
fn a_slow_form_does_not_take_the_time_of_the_others() {
    let (_folder, slow) = file(&counter().replace("UPDATE t", "SELECT pg_sleep(0.1);\nUPDATE t"));
    let arguments = ["--no-reduce", "--runners", "1", "--isolation", "read-committed", "--time-limit", "12s"];
    let (code, document) = json(&[&["explore", &slow, "dirty-write", "write-skew"][..], &arguments].concat());
    let complete: Vec<&Value> =
        document["explore"].as_array().expect("explorations").iter().map(|found| &found["complete"]).collect();
    assert_eq!(complete, [false, true, true]);
    assert!([1, 5].contains(&code), "{code}: whether the slow one came to its lost update depends on the machine");
}

#[test]
fn what_has_no_time_left_is_inconclusive() {
    let limit = ["write-skew", "--isolation", "all", "--time-limit", "1ms"];
    let (code, document) = json(&[&["explore"][..], &limit].concat());
    let found = document["explore"].as_array().expect("explorations");
    assert!(found.len() == 3 && found.iter().all(|found| found["verdict"] == "inconclusive"), "{found:#?}");
    assert_eq!(code, 5);
    let (code, text) = isolab(&[&["matrix", "--explore"][..], &limit].concat());
    assert!(code == 5 && text.contains("inconclusive"), "{text}");
    let (_, text) = isolab(&[&["explore"][..], &limit].concat());
    assert!(text.contains("the time limit was reached"), "{text}");
}

/// Two reads that READ COMMITTED lets differ, and no check that minds.
fn two_looks(expect: &str, check: &str) -> String {
    format!(
        "-- @title Two looks\n-- @schema\nCREATE TABLE t (id int PRIMARY KEY, v int);\n-- @setup\n\
         INSERT INTO t VALUES (1, 0);\n-- @session reader\n\\step one\nSELECT v FROM t;\n\\step two\nSELECT v FROM t;\n\
         -- @session writer\nUPDATE t SET v = 1;\n{check}{expect}"
    )
}

#[test]
fn an_answer_that_no_check_minds_is_foreseen_by_anomaly() {
    let check =
        "-- @check the reader sees one value\nSELECT seen('reader', 'one', 'v') = seen('reader', 'two', 'v');\n";
    let explore = |expect: &str, check: &str, level: &str| {
        let (_folder, file) = file(&two_looks(&format!("-- @expect all: {expect}\n"), check));
        let (code, document) = json(&["explore", &file, "--isolation", level]);
        let found = &document["explore"][0];
        assert_eq!(found["expected"], expect);
        assert_eq!(found["as_expected"], code == 0);
        code
    };
    assert_eq!(explore("prevented", "", "read-committed"), 1, "nobody foresees it");
    assert_eq!(explore("prevented, explored anomaly", "", "read-committed"), 0);
    assert_eq!(explore("prevented, explored anomaly", "", "repeatable-read"), 1, "there is none");
    assert_eq!(explore("prevented", "", "repeatable-read"), 0);
    assert_eq!(explore("prevented, explored anomaly", check, "read-committed"), 1, "a check minds");
    assert_eq!(explore("prevented, explored happens", check, "read-committed"), 0);
    assert_eq!(explore("prevented, explored happens", check, "repeatable-read"), 1, "no schedule fails it");
}

#[test]
fn what_is_not_as_expected_is_said() {
    let (_folder, file) = file(&two_looks("-- @expect all: prevented\n", ""));
    for arguments in [&["explore", &file][..], &["matrix", &file, "--explore", "--isolation", "read-committed"]] {
        let (code, text) = isolab(arguments);
        assert!(code == 1 && text.contains("NOT "), "{text}");
    }
    let (_, text) = isolab(&["explore", &file]);
    assert!(text.contains("NOT as expected: prevented\n  What came instead: read skew (G-single)\n"), "{text}");
}

#[test]
fn the_staged_order_is_compared_without_what_exploring_finds() {
    let (code, document) =
        json(&["run", "rc-writer-bypasses-serializable", "--fix", "for-update", "--isolation", "all"]);
    let expected = |run: usize| document["runs"][run]["expected"].as_str().expect("one speaks");
    assert_eq!((expected(0), expected(2), code), ("waits", "waits", 0));
}

#[test]
fn the_anomalies_that_no_check_sees_are_foreseen() {
    let scenarios = ["circular-information-flow", "intermediate-read", "on-conflict-do-nothing-40001-at-rr"];
    let (code, text) = isolab(&[&["explore", "--isolation", "all"][..], &scenarios].concat());
    assert_eq!(code, 0, "{text}");
    let (code, _) = isolab(&["matrix", "rc-writer-bypasses-serializable", "--explore"]);
    assert_eq!(code, 0);
}

#[test]
fn a_check_that_asks_for_errors_fails_though_a_retry_repairs_the_data() {
    let explore = |fix: &[&str]| {
        let fixed = [&["explore", "partition-move-40001-at-rc", "--isolation", "read-committed"], fix].concat();
        let (code, document) = json(&fixed);
        let found = document["explore"][0].clone();
        assert_eq!(code, 0, "{found:#}");
        found
    };
    let as_written = explore(&[]);
    let failure = &as_written["failures"][0];
    assert_eq!((&as_written["verdict"], &failure["kind"]), (&"errors".into(), &"error 40001".into()));
    assert_eq!(failure["checks"].as_array().map(Vec::len), Some(1), "{failure:#}");
    assert_eq!(explore(&["--fix", "retry"])["verdict"], "safe");
}

#[test]
fn a_timeout_is_not_explored() {
    let (code, document) = json(&["explore", "ddl-lock-queue", "--isolation", "read-committed", "--no-reduce"]);
    let found = &document["explore"][0];
    assert_eq!((code, &found["verdict"]), (5, &"inconclusive".into()));
    assert!(found["notes"][0].as_str().expect("a note").contains("timeout"), "{found:#}");
}

#[test]
fn who_asks_who_is_running_gets_no_serial_answer_by_design() {
    let asks = "SELECT pg_snapshot_xmin(pg_current_snapshot()) = pg_snapshot_xmax(pg_current_snapshot()) AS alone";
    let (_folder, file) = file(&format!(
        "-- @title Asks\n-- @schema\nCREATE TABLE t (v int);\n-- @setup\nINSERT INTO t VALUES (0);\n\
         -- @session a\n{asks};\n-- @session b\nUPDATE t SET v = 1;\nSELECT 1;\n"
    ));
    assert_eq!(isolab(&["explore", &file]).0, 0);
}

#[test]
fn a_deadlock_that_is_foreseen_contradicts_nothing() {
    let (code, document) = json(&["explore", "deadlock-lock-order", "--isolation", "all"]);
    let found = document["explore"].as_array().expect("explorations");
    assert!(found.iter().all(|found| found["verdict"] == "deadlocks"), "{found:#?}");
    assert_eq!(code, 0);
}

#[test]
fn a_schema_goes_whatever_its_teardown_leaves_open() {
    let bin = common::installations().pop().expect("a PostgreSQL");
    let throwaway = Throwaway::start(&bin, &Extra::default()).expect("a server");
    let url = common::url(&throwaway);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.spec");
    let file = path.to_str().expect("UTF-8");
    for teardown in ["DROP TABLE t;", "BEGIN; DROP TABLE t;", "DROP TABLE unknown;", "SET ROLE pg_monitor;"] {
        let spec = format!(
            "setup {{ CREATE TABLE t (v int); }}\nteardown {{ {teardown} }}\n\
             session a\nstep s {{ SELECT * FROM t; }}\nsession b\nstep w {{ INSERT INTO t VALUES (1); }}\n"
        );
        std::fs::write(&path, spec).expect("written");
        isolab(&["explore", file, "--db", &url]);
        let left = common::query(&url, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'isolab%'");
        assert!(left.is_empty(), "{teardown} leaves {left:?}");
    }
}
