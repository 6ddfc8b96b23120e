//! The command line that exploring prints for a failure, run by a shell as a user pastes it, gives the history that
//! exploring reported.
//!
//! All failures of a fixed part of the scenarios; `ISOLAB_ALL=1` takes every built-in one, `ISOLAB_ONLY=write-skew` these.

use std::env;
use std::path::Path;
use std::process::{Command, Output};

use isolab::scenario::builtin;
use serde_json::Value;

/// Some of each family that take little time.
const PART: [&str; 27] = [
    "commit-ack-lost",
    "retry-inside-transaction",
    "serializable-raises-23505",
    "sequence-gap",
    "deadlock-share-upgrade",
    "circular-information-flow",
    "intermediate-read",
    "cascade-delete-race",
    "fk-parent-invisible-at-rr",
    "advisory-unlock-before-commit",
    "prepared-transaction-in-doubt",
    "lost-update",
    "lost-update-subselect",
    "double-claim-subselect",
    "skip-locked-looks-empty",
    "for-update-out-of-order",
    "epq-join-mixes-versions",
    "partition-move-40001-at-rc",
    "predicate-write-misses",
    "nonrepeatable-read",
    "phantom-read",
    "read-skew-predicate",
    "volatile-function-read-skew",
    "advisory-lock-stale-at-rr",
    "truncate-not-mvcc-safe",
    "merge-insert-race",
    "write-skew",
];

/// What stands before a command line in a report.
const REPLAY: &str = "  replay: ";

/// A schedule of so many moves must be shorter than 200 characters.
const MOST_MOVES: usize = 40;

fn wanted() -> Vec<&'static str> {
    let only = env::var("ISOLAB_ONLY").ok();
    let is_wanted = |name: &&str| match &only {
        Some(names) => names.split(',').any(|only| only == *name),
        None => env::var_os("ISOLAB_ALL").is_some() || PART.contains(name),
    };
    builtin().map(|builtin| builtin.name).filter(is_wanted).collect()
}

/// What a shell makes of a line in which the program is called `isolab`.
fn shell(line: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_isolab"));
    let folder = program.parent().expect("a folder").to_path_buf();
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([folder].into_iter().chain(env::split_paths(&others))).expect("a PATH");
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("PATH", path).env_remove("ISOLAB_TIME_LIMIT").output().expect("a shell")
}

/// A failure as it was reported, and the command line beside it.
struct Printed {
    command: String,
    failure: Value,
}

/// Explores what a shell's words name.
fn explore(words: &str) -> Vec<Printed> {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json").display().to_string();
    let limits = "--isolation all --fix all --max-schedules 2000 --seed 1";
    let told = shell(&format!("isolab explore {words} {limits} --report 'json={report}'"));
    let errors = String::from_utf8_lossy(&told.stderr);
    let document = std::fs::read_to_string(report).unwrap_or_else(|error| panic!("{words}: {error}: {errors}"));
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let explorations = document["explore"].as_array().expect("explorations");
    let failures = explorations.iter().flat_map(|found| found["failures"].as_array().expect("failures").clone());
    let text = String::from_utf8(told.stdout).expect("UTF-8");
    let commands: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(REPLAY)).collect();
    let failures: Vec<Value> = failures.collect();
    assert_eq!(commands.len(), failures.len(), "{words}: a command for each failure");
    let printed = |(command, failure): (&str, Value)| Printed { command: command.to_owned(), failure };
    commands.into_iter().zip(failures).map(printed).collect()
}

/// What is wrong with the command line of a failure; none where it gives what was reported.
fn mistake(Printed { command, failure }: &Printed) -> Option<String> {
    let schedule = failure["replay"].as_str().expect("a schedule");
    if moves(schedule) <= MOST_MOVES && schedule.len() >= 200 {
        return Some(format!("{command}: {} characters for {} moves", schedule.len(), moves(schedule)));
    }
    if !failure["differs"].is_null() {
        return None;
    }
    let told = shell(&format!("{command} --format json"));
    let document: Value = match serde_json::from_slice(&told.stdout) {
        Ok(document) => document,
        Err(error) => return Some(format!("{command}: {error}: {}", String::from_utf8_lossy(&told.stderr))),
    };
    let run = &document["runs"][0];
    if run["racy"] == true {
        return None;
    }
    if run["schedule"] != schedule {
        return Some(format!("{command}: played {}", run["schedule"]));
    }
    let [reported, played] = [failure, run].map(|of| events(&of["events"]));
    let place = reported.iter().zip(&played).position(|(one, other)| one != other);
    match place {
        Some(place) => Some(format!("{command}:\n  {}\n  {}", reported[place], played[place])),
        None if reported.len() != played.len() => {
            Some(format!("{command}: {} and {} events", reported.len(), played.len()))
        }
        None => None,
    }
}

/// How many moves a schedule has: `alice.3 bob alice/2.0` has four.
fn moves(schedule: &str) -> usize {
    let count = |part: &str| match part.rsplit_once('.') {
        Some((_, count)) => count.parse().unwrap_or(1),
        None => 1,
    };
    schedule.split_whitespace().map(count).sum()
}

/// The events up to `@finally`, without the times in them and the names of locks, which exploring does not ask for.
fn events(events: &Value) -> Vec<String> {
    let before_finally = events.as_array().expect("events").iter().filter(|event| event["phase"] != "finally");
    let shown = |event: &Value| {
        let mut event = event.clone();
        event.as_object_mut().expect("an event").remove("on");
        without_times(&event.to_string())
    };
    before_finally.map(shown).collect()
}

/// `2026-11-30 10:26:01.5+00` is `…`.
fn without_times(text: &str) -> String {
    const SHAPE: &str = "dddd-dd-dd dd:dd:dd";
    let is_time = |text: &[u8]| {
        let fits = |(byte, shape): (&u8, u8)| if shape == b'd' { byte.is_ascii_digit() } else { *byte == shape };
        text.len() >= SHAPE.len() && text.iter().zip(SHAPE.bytes()).all(fits)
    };
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(place) = (0..rest.len()).find(|place| is_time(&rest.as_bytes()[*place..])) {
        shown += &rest[..place];
        shown.push('…');
        let behind = &rest[place + SHAPE.len()..];
        rest = behind.trim_start_matches(|c: char| c.is_ascii_digit() || ".:+-".contains(c));
    }
    shown + rest
}

#[test]
fn a_printed_command_line_plays_the_failure_again() {
    let mut mistakes = Vec::new();
    let mut count = 0;
    let names = wanted();
    for name in &names {
        for printed in explore(name) {
            count += 1;
            mistakes.extend(mistake(&printed));
        }
    }
    println!("{count} failures of {} scenarios", names.len());
    assert!(count > 0 && mistakes.is_empty(), "{} of {count}:\n{}", mistakes.len(), mistakes.join("\n"));
}

#[test]
fn a_path_that_a_shell_would_split_is_quoted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it's $here.sql");
    let body = "SELECT v FROM t WHERE id = 1 \\gset\nSELECT :v + 1;\nUPDATE t SET v = :v + 1 WHERE id = 1;\n";
    let text = format!(
        "-- @title Counter\n-- @schema\nCREATE TABLE t (id int PRIMARY KEY, v int);\n-- @setup\n\
         INSERT INTO t VALUES (1, 0);\n-- @session a\n{body}-- @session b\n{body}-- @session bystander\nSELECT 1;\n\
         -- @check both count\nSELECT v = 2 FROM t;\n"
    );
    std::fs::write(&path, text).expect("written");
    let printed = explore(&format!("'{}'", path.display().to_string().replace('\'', r"'\''")));
    assert!(!printed.is_empty());
    assert!(printed.iter().all(|printed| printed.command.contains(" bystander.0 a/")), "what is left out is written");
    let mistakes: Vec<String> = printed.iter().filter_map(mistake).collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn a_time_is_no_difference() {
    assert_eq!(without_times(r#"["2026-11-30 10:26:01.5+00", "2026-11-30"]"#), r#"["…", "2026-11-30"]"#);
    assert_eq!((moves("alice.3 bob alice/2.0 carol.0"), moves("")), (4, 0));
}
