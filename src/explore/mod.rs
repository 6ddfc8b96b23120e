//! Explores the schedules of a scenario: plays them, compares what they come to with the serial orders, and keeps the
//! simplest schedule of each failure.

mod catalog;
mod contents;
mod design;
mod findings;
mod footprints;
mod foreseen;
mod ground;
mod guided;
mod judging;
mod locks;
mod lookups;
mod measure;
mod mutate;
mod mutation;
mod naming;
mod oracle;
mod orders;
mod outcome;
mod pages;
mod pipeline;
mod playing;
mod probe;
mod repeating;
mod search;
mod shrinking;
mod simplifying;
mod team;
#[cfg(test)]
pub(crate) mod testing;
mod verdict;
mod watch;
mod words;
mod worker;

use std::time::Instant;

use serde::Serialize;

use crate::history::{History, SessionInfo};
use crate::runner::{RunError, RunOptions, runs_alone};
use crate::scenario::{Level, Scenario};
use crate::schedule::LeftOut;
use crate::server::Server;
use crate::verdict::Expected;

use team::Team;
use worker::Worker;

pub use mutate::{Mutated, mutate, retried};
pub use mutation::MutationKind;
pub use outcome::Outcome;
pub use verdict::Verdict;

/// SQLSTATE deadlock_detected.
const DEADLOCK: &str = "40P01";

/// The kind of a failure in which somebody waits for ever.
const HANG: &str = "hang";

/// The kind of a failure that is a deadlock, and nothing worse.
const DEADLOCKED: &str = "deadlock";

/// How to explore.
#[derive(Debug, Clone)]
pub struct Options {
    pub deadline: Instant,
    /// No more schedules than this at one level.
    pub max_schedules: u64,
    /// Where there are too many schedules, half of the limit goes to those that promise the most; this draws the random
    /// ones. None: all of it is for the search that would be complete.
    pub fallback_seed: Option<u64>,
    /// How many sandboxes work side by side; the result does not depend on it.
    pub runners: usize,
    /// Of schedules that come to the same, play one.
    pub reduces: bool,
    /// Change sessions between steps only, not between the statements of one.
    pub by_step: bool,
    /// Make the failures small, and play them twice.
    pub details: bool,
}

impl Options {
    /// The same with the time for `parts` of all that have still to be explored: an equal share for each.
    pub fn share(&self, parts: usize, of_all: usize) -> Options {
        let now = Instant::now();
        let left = self.deadline.saturating_duration_since(now);
        let share = left.mul_f64(parts as f64 / of_all.max(parts).max(1) as f64);
        Options { deadline: now + share, ..self.clone() }
    }
}

/// What came of exploring one form of a scenario at one level.
#[derive(Debug, Clone, PartialEq)]
pub struct Exploration {
    pub scenario: String,
    pub title: String,
    /// A fix or variant; none as written.
    pub fix: Option<String>,
    pub isolation: Level,
    pub sessions: Vec<SessionInfo>,
    pub verdict: Verdict,
    /// Played.
    pub schedules: u64,
    /// In how many orders the statements could start if nobody ever had to wait.
    pub orders: u64,
    /// Every order that can happen was played, or one that comes to the same.
    pub complete: bool,
    /// What was played in place of everything; none where everything could be.
    pub fallback: Option<Fallback>,
    /// Transactions that were tried again, in all schedules.
    pub retries: u64,
    /// Schedules after which a check failed until the retries had repaired it.
    pub repaired: u64,
    /// The errors that ended somebody's attempt, with the number of schedules.
    pub errors: Vec<(String, u64)>,
    /// Schedules with a race that could not be ordered.
    pub racy: u64,
    /// What is outside every isolation level by design, and used here.
    pub by_design: Vec<&'static str>,
    /// Everything that the schedules came to.
    pub outcomes: Vec<Outcome>,
    pub failures: Vec<Failure>,
    /// What the scenario foresees; none where it does not speak of this.
    pub expected: Option<Expected>,
    /// What became of it without the parts that hold it together; none where that was not asked.
    pub mutations: Option<Vec<Mutated>>,
    /// What to know besides: limits, schedules that could not be finished.
    pub notes: Vec<String>,
}

impl Exploration {
    /// Nothing was played yet, or nothing could be, for a reason.
    fn unplayed(scenario: &Scenario, fix: Option<&str>, level: Level, reason: Option<String>) -> Exploration {
        Exploration {
            scenario: scenario.name.clone(),
            title: scenario.title.clone(),
            fix: fix.map(str::to_owned),
            isolation: level,
            sessions: Vec::new(),
            verdict: Verdict::Inconclusive,
            schedules: 0,
            orders: 0,
            complete: false,
            fallback: None,
            retries: 0,
            repaired: 0,
            errors: Vec::new(),
            racy: 0,
            by_design: Vec::new(),
            outcomes: Vec::new(),
            failures: Vec::new(),
            expected: None,
            mutations: None,
            notes: reason.into_iter().collect(),
        }
    }

    /// How many orders were neither played nor are known to come to what was played, at most.
    pub fn orders_left(&self) -> u64 {
        if self.complete { 0 } else { self.orders.saturating_sub(self.schedules) }
    }

    /// In how many of the schedules something goes wrong.
    pub fn failing(&self) -> u64 {
        if self.verdict == Verdict::Deadlocks {
            return self.errors.iter().filter(|(sqlstate, _)| sqlstate == DEADLOCK).map(|(_, count)| count).sum();
        }
        // Some of the deadlocks may be counted with what is worse.
        let is_race = |failure: &&Failure| failure.kind != Verdict::NotARace.name() && failure.kind != DEADLOCKED;
        let races = self.failures.iter().filter(is_race);
        races.map(|failure| failure.schedules).sum()
    }

    /// Whether it is at odds with the scenario's `@expect`; where none speaks, whatever goes wrong is too much.
    pub fn is_unexpected(&self) -> bool {
        self.expected.as_ref().map_or_else(|| foreseen::goes_wrong(self), |expected| !expected.as_expected)
    }

    /// Nothing goes wrong but that somebody waits for ever.
    pub fn only_hangs(&self) -> bool {
        !self.failures.is_empty() && self.failures.iter().all(|failure| failure.kind == HANG)
    }
}

/// What was played where there were more schedules than a limit allows: first a part of the search that would have been
/// complete, then orders with few preemptions, then orders at random.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Fallback {
    /// Schedules of the search that was cut short.
    pub systematic: u64,
    /// Schedules with few preemptions: switches away from a session that could have gone on.
    pub bounded: u64,
    /// Every order with at most so many preemptions was played; none where not even those without are through.
    pub preemptions: Option<usize>,
    /// Schedules drawn at random, by PCT.
    pub random: u64,
}

/// One kind of failure, with its simplest schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// In the field's words: `write skew`.
    pub kind: String,
    /// Why it is one.
    pub reason: String,
    /// The cycle of dependencies between the committed transactions, a line for each; empty: not known.
    pub cycle: Vec<String>,
    /// How many of the played schedules show it.
    pub schedules: u64,
    /// The checks that fail.
    pub checks: Vec<String>,
    /// What of the program the failure does not need and the history does not have.
    pub left_out: LeftOut,
    /// What was different when the schedule was played a second time.
    pub differs: Option<String>,
    pub history: History,
}

impl Failure {
    /// One that fails no check, and of which nothing more is known yet.
    fn new(kind: &str, reason: String, schedules: u64, history: &History) -> Failure {
        Failure {
            kind: kind.to_owned(),
            reason,
            cycle: Vec::new(),
            schedules,
            checks: Vec::new(),
            left_out: LeftOut::default(),
            differs: None,
            history: history.clone(),
        }
    }
}

/// Explores one form of a scenario at some levels, in their order, each with an equal share of the time; a level for which
/// there is none left is inconclusive. `done` is called after each schedule.
pub fn explore(
    server: &Server,
    scenario: &Scenario,
    fix: Option<&str>,
    levels: &[Level],
    options: &Options,
    done: &mut dyn FnMut(),
) -> Result<Vec<Exploration>, RunError> {
    let plan = scenario.plan(fix).unwrap_or(&scenario.as_written);
    let run_options = RunOptions {
        deadline: options.deadline,
        name_locks: false,
        explores: true,
        saves_round_trips: true,
        observes_late: !design::has_timeout(plan),
        next: levels.first().copied(),
    };
    let prepare = || Worker::prepare(server, scenario, fix, run_options.clone());
    let runners = if runs_alone(plan) { 1 } else { options.runners };
    let cut = |levels: &[Level], error: &RunError| -> Vec<Exploration> {
        levels.iter().map(|&level| Exploration::unplayed(scenario, fix, level, Some(error.to_string()))).collect()
    };
    let mut team = match Team::assemble(runners, prepare).map_err(|error| at_the_limit(error, options.deadline)) {
        Err(error @ RunError::TimeLimit { .. }) => return Ok(cut(levels, &error)),
        team => team?,
    };
    let mut explorations = Vec::new();
    for (index, &level) in levels.iter().enumerate() {
        let share = options.share(1, levels.len() - index);
        let explored = search::explore_level(&mut team, scenario, fix, level, &share, done);
        match explored.map_err(|error| at_the_limit(error, options.deadline)) {
            Err(error @ RunError::TimeLimit { .. }) => {
                explorations.extend(cut(&levels[index..], &error));
                return Ok(explorations);
            }
            explored => {
                let mut exploration = explored?;
                exploration.expected = foreseen::compare(&exploration, &plan.expects, server.version().major);
                explorations.push(exploration);
            }
        }
    }
    team.close()?;
    Ok(explorations)
}

/// Whatever fails because the time is over fails because of that.
fn at_the_limit(error: RunError, deadline: Instant) -> RunError {
    match error {
        RunError::Wire(_) if Instant::now() > deadline => {
            RunError::TimeLimit { waited_for: "nothing was explored".to_owned() }
        }
        other => other,
    }
}
