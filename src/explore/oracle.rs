//! Judges outcomes by the serial orders: whole transactions, one after the other, each session's own in their order.
//!
//! A run is anomalous when no serial order gives its contents and its answers: neither one of all sessions nor, where
//! some failed for good, one of those that did not. That needs no expected output, and finds what a check forgets.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::guided::Grain;
use super::outcome::Outcome;
use super::team::Team;
use super::watch::Knowledge;
use super::worker::{Played, Task};
use crate::runner::RunError;
use crate::scenario::Level;
use crate::schedule::{Attempt, Consequence, Exhaustive, LeftOut, Search};

/// More serial orders than this of one set of sessions are not played: those of six transactions. What these do not give
/// is then not known to be anomalous.
const MOST_ORDERS: u64 = 720;
/// Those of three transactions are played in any case.
const FEWEST_ORDERS: u64 = 6;
/// How many are played at a time.
const AT_A_TIME: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// Some serial order gives the same.
    Serial,
    /// The data are those of a serial order of the others; what these sessions were told is none's.
    Refused { told: Vec<String> },
    /// Some serial order gives the same, and yet a check fails that holds there: one that asks what happened on the way.
    OnTheWay,
    /// No serial order gives it, or a check fails.
    Anomaly {
        /// The contents are no serial order's.
        contents: bool,
        /// The answers are not those of a serial order that gives these contents.
        answers: bool,
    },
    /// There are more serial orders than were compared with.
    Unknown,
}

/// The outcomes of serial orders.
#[derive(Debug, Clone, Default)]
struct Serial {
    outcomes: Vec<Outcome>,
    /// Of all orders; otherwise of as many as were to be played.
    is_complete: bool,
}

/// What came of playing serial orders.
struct SerialRuns {
    runs: Vec<SerialRun>,
    is_complete: bool,
}

/// A run of whole transactions, which is also what comes of this prefix where others may come in between.
pub struct SerialRun {
    pub prefix: Vec<usize>,
    pub played: Played,
}

/// A serial order that fails a check.
pub fn failing(runs: &[SerialRun]) -> Option<&Played> {
    runs.iter().map(|run| &run.played).find(|played| !played.outcome.failing.is_empty())
}

/// The serial outcomes by the sessions that take part, played when they are first needed.
pub struct Oracle {
    level: Level,
    sessions: usize,
    /// Of the program that the serial orders are of.
    left_out: LeftOut,
    /// See [`MOST_ORDERS`].
    most_orders: usize,
    serial: BTreeMap<Vec<usize>, Serial>,
}

impl Oracle {
    /// Plays the serial orders of all sessions, and gives them too. Who wants few schedules gets few serial ones.
    pub fn ask(
        team: &mut Team,
        level: Level,
        sessions: usize,
        left_out: LeftOut,
        max_schedules: u64,
    ) -> Result<(Oracle, Vec<SerialRun>), RunError> {
        let most_orders = max_schedules.clamp(FEWEST_ORDERS, MOST_ORDERS) as usize;
        let mut oracle = Oracle { level, sessions, left_out, most_orders, serial: BTreeMap::new() };
        let everybody: Vec<usize> = (0..sessions).collect();
        let played = oracle.play_serial(team, &everybody)?;
        oracle.remember(everybody, &played);
        Ok((oracle, played.runs))
    }

    pub fn judge(&mut self, team: &mut Team, outcome: &Outcome) -> Result<Judgement, RunError> {
        let everybody: Vec<usize> = (0..self.sessions).collect();
        let Serial { outcomes: all, is_complete } = self.orders(team, everybody)?.clone();
        let mut alike = all.iter().filter(|serial| serial.is_like(outcome)).peekable();
        if alike.peek().is_some() {
            // A check that fails in a serial order as well is not about races.
            let fails_too = alike.any(|serial| outcome.failing.iter().all(|check| serial.failing.contains(check)));
            return Ok(if fails_too { Judgement::Serial } else { Judgement::OnTheWay });
        }
        if !is_complete {
            return Ok(unknown(outcome));
        }
        let refused = refused(&all, outcome);
        let mut references = all;
        if !refused.is_empty() {
            let others: Vec<usize> = (0..self.sessions).filter(|session| !refused.contains(session)).collect();
            let without = self.orders(team, others.clone())?.clone();
            if without.outcomes.iter().any(|serial| serial.agrees(outcome, &others)) && outcome.failing.is_empty() {
                return Ok(judge_refusals(&references, outcome, &refused));
            }
            if !without.is_complete {
                return Ok(unknown(outcome));
            }
            references.extend(without.outcomes);
        }
        let contents = !references.iter().any(|serial| serial.contents == outcome.contents);
        let answers = !references.iter().any(|serial| serial.answers == outcome.answers);
        Ok(Judgement::Anomaly { contents, answers })
    }

    /// Whether one of the outcomes is anomalous.
    pub fn finds_anomalies<'o>(
        &mut self,
        team: &mut Team,
        mut outcomes: impl Iterator<Item = &'o Outcome>,
    ) -> Result<bool, RunError> {
        let found = outcomes.find_map(|outcome| match self.judge(team, outcome) {
            Ok(Judgement::Anomaly { .. }) => Some(Ok(true)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        });
        found.unwrap_or(Ok(false))
    }

    fn orders(&mut self, team: &mut Team, sessions: Vec<usize>) -> Result<&Serial, RunError> {
        if !self.serial.contains_key(&sessions) {
            let played = self.play_serial(team, &sessions)?;
            self.remember(sessions.clone(), &played);
        }
        Ok(self.serial.entry(sessions).or_default())
    }

    fn remember(&mut self, sessions: Vec<usize>, played: &SerialRuns) {
        let mut outcomes: Vec<Outcome> = played.runs.iter().map(|run| run.played.outcome.clone()).collect();
        outcomes.sort();
        outcomes.dedup();
        self.serial.insert(sessions, Serial { outcomes, is_complete: played.is_complete });
    }

    /// Plays the serial orders of some sessions, up to the limit.
    fn play_serial(&self, team: &mut Team, sessions: &[usize]) -> Result<SerialRuns, RunError> {
        let knowledge = Arc::new(Knowledge::none());
        let mut search = Exhaustive::default();
        let mut runs: Vec<SerialRun> = Vec::new();
        let run = |prefix: Vec<usize>, played: Played| SerialRun { prefix, played };
        if sessions.is_empty() {
            // Nobody takes part: the seed rows stay as they are.
            let nothing = self.task(Vec::new(), &knowledge);
            let task = Task { only: vec![usize::MAX], ..nothing };
            let runs = team.play(&[task])?.into_iter().map(|played| run(Vec::new(), played)).collect();
            return Ok(SerialRuns { runs, is_complete: true });
        }
        loop {
            let attempts: Vec<Attempt<Consequence>> = std::iter::from_fn(|| search.next()).take(AT_A_TIME).collect();
            if attempts.is_empty() {
                return Ok(SerialRuns { runs, is_complete: true });
            }
            if runs.len() + attempts.len() > self.most_orders {
                return Ok(SerialRuns { runs, is_complete: false });
            }
            let task = |attempt: &Attempt<Consequence>| Task {
                only: sessions.to_vec(),
                ..self.task(attempt.prefix.clone(), &knowledge)
            };
            let tasks: Vec<Task> = attempts.iter().map(task).collect();
            for (attempt, played) in attempts.into_iter().zip(team.play(&tasks)?) {
                search.learn(&attempt, &played.path.whole_transactions());
                runs.push(run(attempt.prefix, played));
            }
        }
    }

    fn task(&self, prefix: Vec<usize>, knowledge: &Arc<Knowledge>) -> Task {
        let left_out = self.left_out.clone();
        Task { left_out, ..Task::new(self.level, Grain::Transaction, prefix, knowledge) }
    }
}

impl Outcome {
    /// Whether everybody was given and told the same, and the data are the same.
    fn is_like(&self, other: &Outcome) -> bool {
        (&self.contents, &self.answers, &self.told) == (&other.contents, &other.answers, &other.told)
    }

    /// Whether the data are the same and so is what these sessions were given.
    fn agrees(&self, other: &Outcome, sessions: &[usize]) -> bool {
        self.contents == other.contents
            && sessions.iter().all(|&session| {
                self.answers[session] == other.answers[session] && self.told[session] == other.told[session]
            })
    }
}

/// Without the serial orders only the checks can say anything.
fn unknown(outcome: &Outcome) -> Judgement {
    match outcome.failing.is_empty() {
        true => Judgement::Unknown,
        false => Judgement::Anomaly { contents: true, answers: false },
    }
}

/// The sessions that failed for good, rolled back with a no, or were told what no serial order tells them.
fn refused(serial: &[Outcome], outcome: &Outcome) -> Vec<usize> {
    let mut refused = outcome.failed_sessions();
    let without_trace = |&session: &usize| outcome.gave_in[session] || is_new(serial, outcome, session);
    refused.extend((0..outcome.told.len()).filter(without_trace));
    refused.sort_unstable();
    refused.dedup();
    refused
}

fn is_new(serial: &[Outcome], outcome: &Outcome, session: usize) -> bool {
    !serial.iter().any(|serial| serial.told[session] == outcome.told[session])
}

/// What the refused sessions were told, where no serial order tells them.
fn judge_refusals(serial: &[Outcome], outcome: &Outcome, refused: &[usize]) -> Judgement {
    let new = refused.iter().filter(|&&session| is_new(serial, outcome, session));
    let mut told: Vec<String> = new.flat_map(|&session| outcome.told[session].last().cloned()).collect();
    told.sort();
    told.dedup();
    if told.is_empty() { Judgement::Serial } else { Judgement::Refused { told } }
}
