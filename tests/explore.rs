//! Explores a scenario on a real server, and as a user does.

mod common;

use std::io::Write;
use std::path::Path;

use common::forms::{explored, losses, options};
use common::shapes;
use isolab::explore::{Options, Verdict};
use isolab::scenario::{Disk, Level, Scenario, load, parse};
use isolab::server::{FindOptions, Server};

fn write_skew() -> Scenario {
    load("write-skew").expect("built in")
}

#[test]
fn write_skew_takes_three_schedules_below_serializable() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let found = explored(&server, &write_skew(), None, &Level::ALL, &options(true, 100, 60));
    let verdicts: Vec<Verdict> = found.iter().map(|found| found.verdict).collect();
    assert_eq!(verdicts, [Verdict::Broken, Verdict::Broken, Verdict::Safe]);
    assert_eq!((found[0].schedules, found[1].schedules), (3, 3));
    assert!(found[2].schedules <= 15, "{}", found[2].schedules);
    assert!(found.iter().all(|found| found.complete && found.orders == 70));
}

/// At READ COMMITTED, REPEATABLE READ and SERIALIZABLE.
fn at_most(scenario: &Scenario, orders: u64, schedules: [u64; 3]) {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let found = explored(&server, scenario, None, &Level::ALL, &options(true, 1_000, 120));
    assert!(found.iter().all(|found| found.complete && found.orders == orders), "{}", scenario.title);
    let played: Vec<u64> = found.iter().map(|found| found.schedules).collect();
    let is_few = played.iter().zip(schedules).all(|(played, most)| *played <= most);
    assert!(is_few, "{}: {played:?} and not at most {schedules:?}", scenario.title);
}

#[test]
fn a_write_skew_with_five_choices_each_takes_few_schedules() {
    let scenario = shapes::write_skew();
    at_most(&scenario, 252, [3, 3, 15]);
    let server = Server::find(&FindOptions::default()).expect("a server");
    let [all, reduced] = [false, true].map(|reduces| {
        explored(&server, &scenario, None, &[Level::Serializable], &options(reduces, 300, 60)).remove(0)
    });
    assert_eq!((losses(&all, &reduced), all.schedules), (String::new(), 252));
}

#[test]
fn a_lost_update_of_three_sessions_takes_few_schedules() {
    at_most(&shapes::lost_update(3), 34_650, [100, 60, 190]);
}

#[test]
fn the_result_is_the_same_for_every_number_of_runners() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    for reduces in [true, false] {
        let [one, three] = [1, 3].map(|runners| {
            explored(&server, &write_skew(), None, &Level::ALL, &Options { runners, ..options(reduces, 100, 60) })
        });
        assert_eq!(one, three);
    }
}

#[test]
fn who_rolls_back_with_a_no_has_seen_nothing() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let scenario = load("tests/cases/coupon-once-per-customer.sql").expect("valid");
    let found = explored(&server, &scenario, Some("unique"), &Level::ALL, &options(true, 100, 60));
    assert!(found.iter().all(|found| found.verdict == Verdict::Safe), "{found:#?}");
    assert!(found[0].errors.iter().any(|(sqlstate, _)| sqlstate == "23505"));
}

#[test]
fn a_generated_number_counts_where_it_is_compared() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let scenario = load("outbox-cursor-gap").expect("built in");
    let verdict = |fix| explored(&server, &scenario, fix, &[Level::ReadCommitted], &options(true, 500, 60))[0].verdict;
    assert_eq!(verdict(None), Verdict::Broken, "the poller compares it");
    assert_eq!(verdict(Some("sent-flag")), Verdict::NotARace, "nobody does: only the last event waits for a poll");
}

#[test]
fn a_time_and_a_number_of_the_servers_do_not_count_also_where_a_type_hides_them() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let session = |name: &str| {
        format!("-- @session {name}\nINSERT INTO log (who, seen) VALUES ('{name}', clock_timestamp());\n\n")
    };
    let text = format!(
        "-- @title Stamps\n-- @schema\nCREATE DOMAIN moment AS timestamptz;\nCREATE TABLE log (\n  id serial PRIMARY KEY,\n  \
         at moment NOT NULL DEFAULT clock_timestamp(),\n  since interval DEFAULT now() - '2020-01-01',\n  \"Who\" text,\n  \
         who text,\n  seen information_schema.time_stamp\n);\nCREATE TABLE nothing ();\n\n{}{}-- @check true\nSELECT true;\n",
        session("a"),
        session("b")
    );
    let scenario = parse(&Disk, Path::new("stamps.sql"), &text).expect("valid").scenario;
    let found = explored(&server, &scenario, None, &Level::ALL, &options(false, 100, 60));
    for found in &found {
        assert_eq!((found.verdict, found.outcomes.len()), (Verdict::Safe, 1), "{found:#?}");
        assert_eq!(found.outcomes[0].contents.len(), 2, "both tables: {found:#?}");
    }
}

#[test]
fn only_who_is_explored_does_not_wait_for_the_disk() {
    let text = "-- @title Disk\n-- @schema\nCREATE TABLE t (waits text);\n\n\
                -- @session a\nINSERT INTO t SELECT current_setting('synchronous_commit');\n\n\
                -- @check nobody waits\nSELECT waits = 'off' FROM t;\n-- @expect all: happens\n";
    let mut file = tempfile::Builder::new().suffix(".sql").tempfile().expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    let path = file.path().to_str().expect("UTF-8");
    let (code, report) = isolab(&["run", path]);
    assert_eq!(code, 0, "{report}");
    let (code, report) = isolab(&["explore", path]);
    assert!(code == 1 && report.contains("safe"), "{report}");
}

fn isolab(arguments: &[&str]) -> (i32, String) {
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_isolab")).args(arguments).output().expect("it runs");
    (output.status.code().expect("it ends by itself"), String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn what_a_user_finds_can_be_played_again() {
    let (code, text) = isolab(&["explore", "write-skew", "--format", "json"]);
    assert_eq!(code, 0, "the scenario foresees the anomaly");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let found = &document["explore"][0];
    assert_eq!((&found["verdict"], &found["failures"][0]["kind"]), (&"broken".into(), &"write skew (G2)".into()));
    let schedule = found["failures"][0]["replay"].as_str().expect("a schedule");
    let (_, text) = isolab(&["run", "write-skew", "--replay", schedule, "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["runs"][0]["outcome"], "happens");
}

#[test]
fn a_broken_fix_that_is_not_foreseen_is_one_too_many() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("counter.sql");
    let body = "SELECT v FROM t \\gset\nUPDATE t SET v = :v + 1;\n";
    let text = format!(
        "-- @title Counter\n-- @schema\nCREATE TABLE t (v int);\n-- @setup\nINSERT INTO t VALUES (0);\n\
         -- @session a\n{body}-- @session b\n{body}-- @check both count\nSELECT v = 2 FROM t;\n"
    );
    std::fs::write(&file, text).expect("written");
    let file = file.to_str().expect("UTF-8");
    let (code, text) = isolab(&["explore", file]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("broken") && text.contains(&format!("isolab run {file} --isolation read-committed --replay")),
        "{text}"
    );
    assert_eq!(isolab(&["explore", file, "--isolation", "serializable"]).0, 0);
    assert_eq!(isolab(&["explore", file, "--max-schedules", "1"]).0, 5, "one schedule proves nothing");
}

#[test]
fn a_statement_that_fails_is_the_only_error_of_its_transaction() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let body = "INSERT INTO t VALUES (1);\nUPDATE t SET n = n;\nDELETE FROM t WHERE n = 2;\n";
    let text = format!(
        "-- @title Both\n-- @schema\nCREATE TABLE t (n int PRIMARY KEY);\n\n-- @session a\n{body}\n-- @session b\n{body}\n\
         -- @check one row\nSELECT count(*) = 1 FROM t;\n"
    );
    let scenario = parse(&Disk, Path::new("both.sql"), &text).expect("valid").scenario;
    let found = explored(&server, &scenario, None, &Level::ALL, &options(false, 300, 60));
    for found in &found {
        assert!(found.complete, "{found:#?}");
        let errors: Vec<&str> = found.errors.iter().map(|(sqlstate, _)| sqlstate.as_str()).collect();
        assert_eq!(errors, ["23505"], "{}", found.isolation);
    }
}

#[test]
fn a_retry_that_waits_is_waited_for() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let text = "-- @title Held\n-- @schema\nCREATE TABLE t (n int);\n-- @setup\nINSERT INTO t VALUES (0);\n\
                -- @session holder autocommit\nSELECT pg_advisory_lock(7);\n\n\
                -- @session writer\nSET LOCAL lock_timeout = '20ms';\nSELECT pg_advisory_xact_lock(7);\nUPDATE t SET n = n + 1;\n\n\
                -- @check true\nSELECT true;\n-- @retry 3 also 55P03\n";
    let scenario = parse(&Disk, Path::new("held.sql"), text).expect("valid").scenario;
    let found = explored(&server, &scenario, None, &[Level::ReadCommitted], &options(false, 300, 60)).remove(0);
    assert!(found.complete, "{found:#?}");
    let held = found.outcomes.iter().find(|outcome| outcome.told[1] != ["ok "]).expect("the lock is never let go");
    assert_eq!(held.told[1], ["failed 55P03"], "{found:#?}");
    // Two more attempts in each schedule in which the lock came first, and nothing besides.
    assert_eq!(found.retries % 2, 0, "{found:#?}");
}

/// So many sessions that each hold a lock and want the next one's.
fn ring(sessions: usize) -> Scenario {
    let session = |number: usize| {
        let next = (number + 1) % sessions;
        format!(
            "-- @session s{number}\nSELECT pg_advisory_xact_lock({number});\nSELECT pg_advisory_xact_lock({next});\n\n"
        )
    };
    let all: String = (0..sessions).map(session).collect();
    let text = format!("-- @title Ring\n-- @schema\nCREATE TABLE t (n int);\n\n{all}-- @check true\nSELECT true;\n");
    parse(&Disk, Path::new("ring.sql"), &text).expect("valid").scenario
}

#[test]
fn the_simplest_schedule_of_a_deadlock_is_shown() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let details = Options { details: true, ..options(true, 300, 60) };
    let found = explored(&server, &ring(2), None, &[Level::ReadCommitted], &details).remove(0);
    let [deadlock] = &found.failures[..] else { panic!("{found:#?}") };
    assert_eq!((found.verdict, deadlock.kind.as_str()), (Verdict::Deadlocks, "deadlock"));
    assert_eq!((deadlock.schedules, found.failing()), (found.failing(), 2));
    assert_eq!((&*deadlock.history.schedule, &deadlock.differs), ("s0 s1.2 s0 s1", &None));
}

#[test]
fn a_deadlock_of_many_is_met_at_random() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let limits = Options { fallback_seed: Some(1), ..options(false, 400, 120) };
    let found = explored(&server, &ring(6), None, &[Level::ReadCommitted], &limits).remove(0);
    assert!(!found.complete && found.fallback.is_some_and(|fallback| fallback.random > 0), "{found:#?}");
    assert!(found.failures.iter().any(|failure| failure.kind == "deadlock"), "{found:#?}");
}

#[test]
fn nothing_stays_on_its_way_when_the_answer_to_begin_is_lost() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let text = "-- @title Lost\n-- @schema\nCREATE TABLE t (n int);\n-- @setup\nINSERT INTO t VALUES (0);\n\
                -- @session a\nBEGIN \\lost\nUPDATE t SET n = n + 1;\nCOMMIT;\n\
                -- @retry 3 also 08006\n-- @check one\nSELECT n = 1 FROM t;\n";
    let scenario = parse(&Disk, Path::new("lost.sql"), text).expect("valid").scenario;
    let found = explored(&server, &scenario, None, &[Level::ReadCommitted], &options(false, 10, 60)).remove(0);
    assert_eq!((found.verdict, found.complete, found.retries), (Verdict::Safe, true, 1), "{found:#?}");
}
