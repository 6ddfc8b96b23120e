//! What exploring promises, over the built-in scenarios and the reported cases: reduction loses nothing, SERIALIZABLE with
//! its retries is serial, the anomalies that a scenario foresees are found, and a failing schedule can be played again.
//!
//! A fixed part of the scenarios; `ISOLAB_ALL=1` takes all of them, `ISOLAB_ONLY=write-skew,long-fork` these. With
//! `--nocapture` a line is printed for each form and level.

mod common;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::LazyLock;

use common::forms::{all_scenarios, explored, forms, losses, options, played_again, staged};
use isolab::explore::{Exploration, Failure, Verdict};
use isolab::history::{History, Phase, What};
use isolab::runner::{room, runs_alone, side_by_side};
use isolab::scenario::{Expect, ExpectedOutcome, Level, Scenario};
use isolab::server::Server;

/// With more orders than this a form is not compared with all of its orders.
const MOST_ORDERS: u64 = 300;
/// With more schedules than this, or after this time, exploring a form ends.
const MOST_SCHEDULES: u64 = 1_000;
const SECONDS: u64 = 60;

/// One of each family.
const PART: [&str; 16] = [
    "write-skew",
    "lost-update",
    "read-skew",
    "nonrepeatable-read",
    "for-update-stale-at-rr",
    "deadlock-lock-order",
    "deadlock-share-upgrade",
    "check-then-debit",
    "double-claim-subselect",
    "delete-insert-replace",
    "cascade-delete-race",
    "advisory-unlock-before-commit",
    "max-plus-one",
    "deposit-report",
    "read-only-anomaly",
    "coupon-once-per-customer",
];

/// A form at a level, explored.
struct Explored {
    name: String,
    /// What the scenario foresees.
    expected: Option<Expect>,
    /// All orders; none where there are too many.
    all: Option<Exploration>,
    reduced: Exploration,
    /// The order that the author wrote down.
    staged: History,
    /// Of each failure the schedule that was printed, played again.
    again: Vec<History>,
}

static EXPLORED: LazyLock<Vec<Explored>> = LazyLock::new(|| {
    let server = Server::find(&common::find_options()).expect("a server");
    let scenarios: Vec<Scenario> = all_scenarios().into_iter().filter(is_wanted).collect();
    let jobs: Vec<_> =
        scenarios.iter().flat_map(|scenario| forms(scenario).into_iter().map(move |form| (scenario, form))).collect();
    let alone =
        |(scenario, (fix, _)): &(&Scenario, (Option<&str>, Vec<Level>))| scenario.plan(*fix).is_some_and(runs_alone);
    let mut everything = Vec::new();
    let work = |(scenario, (fix, levels)): &(&Scenario, (Option<&str>, Vec<Level>))| {
        explore_form(&server, scenario, *fix, levels)
    };
    let take = |explored: Vec<Explored>| {
        explored.iter().for_each(|explored| println!("{}", line(explored)));
        everything.extend(explored);
        Ok::<(), Infallible>(())
    };
    let threads = room(&server).expect("an answer");
    side_by_side(&jobs, threads, alone, work, take).expect("no error stops it");
    everything
});

fn is_wanted(scenario: &Scenario) -> bool {
    match std::env::var("ISOLAB_ONLY") {
        Ok(names) => names.split(',').any(|name| name == scenario.name),
        Err(_) => std::env::var_os("ISOLAB_ALL").is_some() || PART.contains(&scenario.name.as_str()),
    }
}

fn explore_form(server: &Server, scenario: &Scenario, fix: Option<&str>, levels: &[Level]) -> Vec<Explored> {
    let plan = scenario.plan(fix).expect("known");
    let all = explored(server, scenario, fix, levels, &options(false, MOST_ORDERS, SECONDS));
    let reduced = explored(server, scenario, fix, levels, &options(true, MOST_SCHEDULES, SECONDS));
    let explored = |(all, reduced): (Exploration, Exploration)| {
        let level = reduced.isolation;
        let schedules = reduced.failures.iter().map(|failure| &failure.history);
        Explored {
            name: format!("{} {} {level}", scenario.name, fix.unwrap_or("as written")),
            expected: plan.expects.iter().rev().find(|expect| speaks(expect, level, server)).cloned(),
            staged: staged(server, scenario, fix, level),
            again: schedules.map(|history| played_again(server, scenario, fix, history)).collect(),
            all: Some(all).filter(|all| all.complete),
            reduced,
        }
    };
    // For some levels the time may have been over before anything was played.
    all.into_iter().zip(reduced).filter(|(_, reduced)| reduced.schedules > 0).map(explored).collect()
}

fn speaks(expect: &Expect, level: Level, server: &Server) -> bool {
    let major = server.version().major;
    expect.levels.contains(&level)
        && expect.version.is_none_or(|(comparison, version)| comparison.holds(&major, &version))
}

fn line(explored: &Explored) -> String {
    let Explored { name, all, reduced, expected, .. } = explored;
    let played = all.as_ref().map_or("-".to_owned(), |all| all.schedules.to_string());
    let kinds: Vec<String> =
        reduced.failures.iter().map(|failure| format!("{} {:?}", failure.kind, failure.checks)).collect();
    format!(
        "{name}\t{}\torders {}\tcan happen {played}\tplayed {}{}\toutcomes {}\trepaired {}\t{:?}\t{}\t{}",
        reduced.verdict.name(),
        reduced.orders,
        reduced.schedules,
        if reduced.complete { "" } else { " (cut)" },
        reduced.outcomes.len(),
        reduced.repaired,
        expected.as_ref().map(|expect| expect.text.as_str()).unwrap_or_default(),
        kinds.join("; "),
        reduced.by_design.join("; ")
    )
}

fn none_of(mistakes: Vec<String>) {
    assert!(!EXPLORED.is_empty(), "nothing was explored");
    assert!(mistakes.is_empty(), "{} of {}:\n{}", mistakes.len(), EXPLORED.len(), mistakes.join("\n"));
}

#[test]
fn reduction_loses_no_outcome() {
    let mut compared = 0;
    let mut mistakes = Vec::new();
    for Explored { name, all, reduced, .. } in EXPLORED.iter() {
        let Some(all) = all.as_ref().filter(|_| !a_timeout_may_decide(reduced)) else { continue };
        compared += 1;
        let losses = losses(all, reduced);
        if !losses.is_empty() || reduced.schedules > all.schedules {
            mistakes.push(format!("{name}: {} of {} schedules\n{losses}", reduced.schedules, all.schedules));
        }
    }
    println!("{compared} of {} were compared with all orders", EXPLORED.len());
    none_of(mistakes);
}

/// Without what is outside every level by design, and without what its author calls a bug at SERIALIZABLE: the client's own
/// mistakes.
#[test]
fn serializable_is_serial_but_for_what_no_level_covers() {
    let is_wrong = |explored: &&Explored| {
        let Explored { reduced, expected, .. } = explored;
        let is_foreseen = expected.as_ref().is_some_and(happens);
        reduced.isolation == Level::Serializable
            && reduced.verdict == Verdict::Broken
            && reduced.by_design.is_empty()
            && !is_foreseen
    };
    none_of(EXPLORED.iter().filter(is_wrong).map(line).collect());
}

fn happens(expect: &Expect) -> bool {
    matches!(expect.outcome, ExpectedOutcome::Happens(_))
}

#[test]
fn what_the_author_staged_is_among_what_is_found() {
    let is_missing = |explored: &&Explored| {
        let Explored { reduced, staged, .. } = explored;
        let last = staged.after_retry.as_ref().unwrap_or(&staged.end);
        let errors = first_errors(staged);
        let is_like = |outcome: &isolab::explore::Outcome| {
            let failing: Vec<&str> = outcome.failing.iter().map(String::as_str).collect();
            failing == last.failing_checks() && outcome.errors == errors
        };
        !reduced.outcomes.iter().any(is_like) && !waits_for_a_timeout(reduced)
    };
    none_of(EXPLORED.iter().filter(is_missing).map(line).collect());
}

/// Exploring lets no time pass, and says so: where a timeout may decide and nothing else goes wrong, there is no verdict.
/// Where attempt after attempt waits for one, the limit cuts what is found.
fn waits_for_a_timeout(reduced: &Exploration) -> bool {
    let is_open = reduced.verdict == Verdict::Inconclusive || !reduced.complete;
    is_open && a_timeout_may_decide(reduced)
}

/// On a busy machine a timeout may end what it otherwise does not.
fn a_timeout_may_decide(reduced: &Exploration) -> bool {
    reduced.by_design.iter().any(|reason| reason.contains("timeout"))
}

/// For each session the first error of the schedule.
fn first_errors(history: &History) -> Vec<Option<String>> {
    let first = |session: usize| {
        history.events.iter().find_map(|event| match &event.what {
            What::Failed { error } if event.session == session && event.phase == Phase::Schedule => {
                Some(error.sqlstate.clone())
            }
            _ => None,
        })
    };
    (0..history.sessions.len()).map(first).collect()
}

#[test]
fn what_is_foreseen_is_found() {
    let is_missing = |explored: &&Explored| {
        let Explored { reduced, expected, .. } = explored;
        let fails = reduced.outcomes.iter().any(|outcome| !outcome.failing.is_empty());
        expected.as_ref().is_some_and(happens) && !fails && reduced.repaired == 0 && !waits_for_a_timeout(reduced)
    };
    none_of(EXPLORED.iter().filter(is_missing).map(line).collect());
}

#[test]
fn failing_schedules_play_again_to_the_same_history() {
    let mut mistakes = Vec::new();
    let mut played = BTreeSet::new();
    for Explored { name, reduced, again, .. } in EXPLORED.iter() {
        // Where two plays may differ, the report says so.
        let may_differ =
            |failure: &Failure| failure.history.racy || (failure.differs.is_some() && a_timeout_may_decide(reduced));
        for (failure, again) in reduced.failures.iter().zip(again).filter(|(failure, _)| !may_differ(failure)) {
            played.insert(&failure.history.schedule);
            let [first, second] = [&failure.history, again].map(common::forms::without_passing_values);
            if let Some(place) = first.iter().zip(&second).position(|(one, other)| one != other) {
                mistakes.push(format!("{name}: {}\n  {}\n  {}", again.schedule, first[place], second[place]));
            } else if first.len() != second.len() {
                mistakes.push(format!("{name}: {} and {} events", first.len(), second.len()));
            }
        }
    }
    assert!(!played.is_empty(), "no failure was found");
    none_of(mistakes);
}
