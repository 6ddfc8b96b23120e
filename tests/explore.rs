//! Explores the built-in scenarios on a real server: what reduction may not lose, and what a replay must give again.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use isolab::explore::{Exploration, Options, Verdict, explore};
use isolab::history::Event;
use isolab::runner::{RunError, RunOptions, Stage};
use isolab::scenario::{Level, Scenario, builtin, load};
use isolab::schedule::{Replay, Schedule};
use isolab::server::{FindOptions, Server};

/// With more orders than this a form is not compared.
const MOST_ORDERS: u64 = 70;

/// One of each family; ISOLAB_ALL=1 compares all that are built in.
const COMPARED: [&str; 8] = [
    "write-skew",
    "lost-update",
    "read-skew",
    "nonrepeatable-read",
    "for-update-stale-at-rr",
    "deadlock-lock-order",
    "deadlock-share-upgrade",
    "check-then-debit",
];

fn compared() -> Vec<&'static str> {
    let all = std::env::var_os("ISOLAB_ALL").is_some();
    builtin().map(|builtin| builtin.name).filter(|name| all || COMPARED.contains(name)).collect()
}

fn options(reduces: bool, runners: usize) -> Options {
    let deadline = Instant::now() + Duration::from_secs(10);
    Options { deadline, max_schedules: MOST_ORDERS, runners, reduces }
}

fn forms(scenario: &Scenario) -> Vec<(Option<&str>, Vec<Level>)> {
    let variants = scenario.variants.iter().map(|variant| {
        let levels = if variant.levels.is_empty() { Level::ALL.to_vec() } else { variant.levels.clone() };
        (Some(variant.name.as_str()), levels)
    });
    std::iter::once((None, Level::ALL.to_vec())).chain(variants).collect()
}

fn explored(
    server: &Server,
    scenario: &Scenario,
    fix: Option<&str>,
    levels: &[Level],
    options: &Options,
) -> Vec<Exploration> {
    match explore(server, scenario, fix, levels, options, &mut || ()) {
        Ok(explorations) => explorations,
        Err(RunError::Unmet { reason }) => {
            eprintln!("{} skipped: {reason}", scenario.name);
            Vec::new()
        }
        Err(RunError::TimeLimit { .. }) => Vec::new(),
        Err(error) => panic!("{} {fix:?}: {error}", scenario.name),
    }
}

fn write_skew() -> Scenario {
    load("write-skew").expect("built in")
}

#[test]
fn reduction_loses_no_outcome_of_the_built_in_scenarios() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let (mut count, mut differing) = (0, Vec::new());
    for name in compared() {
        let scenario = load(name).expect(name);
        for (fix, levels) in forms(&scenario) {
            let all = explored(&server, &scenario, fix, &levels, &options(false, 2));
            let reduced = explored(&server, &scenario, fix, &levels, &options(true, 2));
            for (all, reduced) in all.iter().zip(&reduced).filter(|(all, _)| all.complete) {
                count += 1;
                let outcomes = |of: &Exploration| of.outcomes.iter().cloned().collect::<BTreeSet<_>>();
                if outcomes(all) != outcomes(reduced) || reduced.schedules > all.schedules {
                    let counts = [all, reduced].map(|of| (of.outcomes.len(), of.schedules));
                    differing.push(format!("{name} {fix:?} {}: {counts:?}", all.isolation));
                }
            }
        }
    }
    assert!(count > 20, "only {count} were compared");
    assert!(differing.is_empty(), "{} of {count} differ:\n{}", differing.len(), differing.join("\n"));
}

#[test]
fn write_skew_takes_three_schedules_below_serializable() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    let found = explored(&server, &write_skew(), None, &Level::ALL, &options(true, 1));
    let verdicts: Vec<Verdict> = found.iter().map(|found| found.verdict).collect();
    assert_eq!(verdicts, [Verdict::Broken, Verdict::Broken, Verdict::Safe]);
    assert_eq!((found[0].schedules, found[1].schedules), (3, 3));
    assert!(found[2].schedules <= 15, "{}", found[2].schedules);
    assert!(found.iter().all(|found| found.complete && found.orders == 70));
}

#[test]
fn the_result_is_the_same_for_every_number_of_runners() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    for reduces in [true, false] {
        let [one, three] =
            [1, 3].map(|runners| explored(&server, &write_skew(), None, &Level::ALL, &options(reduces, runners)));
        assert_eq!(one, three);
    }
}

#[test]
fn a_failing_schedule_replays_to_the_same_history() {
    let server = Server::find(&FindOptions::default()).expect("a server");
    for name in ["write-skew", "lost-update", "read-skew"] {
        let scenario = load(name).expect(name);
        for (fix, levels) in forms(&scenario) {
            for exploration in explored(&server, &scenario, fix, &levels, &options(true, 1)) {
                for failure in &exploration.failures {
                    let again = replayed(&server, &scenario, fix, exploration.isolation, &failure.history.schedule);
                    assert_eq!(again, failure.history.events, "{name} {fix:?} {}", exploration.isolation);
                    assert!(failure.history.schedule.len() < 200);
                }
            }
        }
    }
}

fn replayed(server: &Server, scenario: &Scenario, fix: Option<&str>, level: Level, schedule: &str) -> Vec<Event> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let options = RunOptions { deadline, name_locks: false, explores: false };
    let mut stage = Stage::prepare(server, scenario, fix, options).expect("a stage");
    let plan = scenario.plan(fix).expect("known");
    let names: Vec<&str> = plan.sessions.iter().map(|session| session.name.as_str()).collect();
    let schedule = Schedule::parse(schedule, &names).expect("as it was printed");
    stage.run(level, &mut Replay::new(schedule), &mut |_| {}).expect("a run").events
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
