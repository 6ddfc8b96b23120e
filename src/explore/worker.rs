//! Plays what the exploration asks for, in a sandbox of its own.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use super::contents::Contents;
use super::design;
use super::guided::{Grain, Guided, Path};
use super::measure::measure;
use super::outcome::Outcome;
use super::watch::{Knowledge, Watch};
use crate::history::{Event, History, What};
use crate::runner::{RunError, RunOptions, Stage, Stay};
use crate::scenario::{Level, Plan, Scenario};
use crate::schedule::{Attempt, Consequence, LeftOut, Priorities, Rules};
use crate::server::Server;

/// A schedule to play.
#[derive(Debug, Clone)]
pub struct Task {
    pub level: Level,
    pub prefix: Vec<usize>,
    pub sleep: Vec<Consequence>,
    /// Who moves behind the prefix; none: the session that moved last, as long as it can.
    pub priorities: Option<Priorities>,
    pub grain: Grain,
    /// The sessions that take part; empty: all.
    pub only: Vec<usize>,
    /// What of the program does not take part.
    pub left_out: LeftOut,
    pub knowledge: Arc<Knowledge>,
    /// Where a session waits is taken to be known from earlier runs.
    pub foresees: bool,
}

impl Task {
    /// Plays these choices, as far as they can be made, then whichever session can move.
    pub fn new(level: Level, grain: Grain, prefix: Vec<usize>, knowledge: &Arc<Knowledge>) -> Task {
        let knowledge = Arc::clone(knowledge);
        Task {
            level,
            prefix,
            sleep: Vec::new(),
            priorities: None,
            grain,
            only: Vec::new(),
            left_out: LeftOut::default(),
            knowledge,
            foresees: true,
        }
    }

    /// The same for an attempt of a search.
    pub fn of_attempt(&self, attempt: &Attempt<Consequence>) -> Task {
        Task {
            prefix: attempt.prefix.clone(),
            sleep: attempt.sleep.clone(),
            priorities: attempt.priorities.clone(),
            ..self.clone()
        }
    }
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Played {
    pub path: Path,
    pub outcome: Outcome,
    pub history: History,
}

impl Played {
    /// How often a transaction was tried again.
    pub fn retries(&self) -> u64 {
        self.history.events.iter().filter(|event| matches!(event.what, What::Retried)).count() as u64
    }

    /// A check failed at the end of the schedule, and holds after the retries.
    pub fn is_repaired(&self) -> bool {
        self.outcome.failing.is_empty() && !self.history.end.failing_checks().is_empty()
    }
}

/// A stage, and what is known of its tables.
pub struct Worker<'a> {
    stage: Stage<'a>,
    contents: Contents,
}

impl<'a> Worker<'a> {
    pub fn prepare(
        server: &'a Server,
        scenario: &'a Scenario,
        fix: Option<&'a str>,
        options: RunOptions,
    ) -> Result<Worker<'a>, RunError> {
        let mut stage = Stage::prepare(server, scenario, fix, options)?;
        let plan = scenario.plan(fix).unwrap_or(&scenario.as_written);
        let contents = Contents::find(&mut stage, plan)?;
        stage.ask_for_contents(contents.question());
        Ok(Worker { stage, contents })
    }

    /// Plays a schedule. Where a session waits that did not wait before, once more, statement by statement.
    pub fn play(&mut self, task: &Task) -> Result<Played, RunError> {
        match self.try_to_play(task) {
            Err(RunError::Unforeseen { .. }) => self.try_to_play(&Task { foresees: false, ..task.clone() }),
            played => played,
        }
    }

    fn try_to_play(&mut self, task: &Task) -> Result<Played, RunError> {
        self.stage.leave_out(task.left_out.clone());
        let events = RefCell::new(Vec::new());
        let watch = Watch::new(Arc::clone(&task.knowledge), self.stage.sessions(task.level).len());
        let mut guided = Guided::new(task, &events, watch);
        let mut listener = |event: &Event| events.borrow_mut().push(event.clone());
        let history = self.stage.run(task.level, &mut guided, &mut listener)?;
        let path = guided.path();
        let outcome = Outcome::of(&history, &self.contents);
        Ok(Played { path, outcome, history })
    }

    /// What is known of the program at a level before it is explored: what every statement touches. None where its
    /// statements have something in common that cannot be measured.
    pub fn study(
        &mut self,
        scenario: &Scenario,
        plan: &Plan,
        level: Level,
        deadline: Instant,
    ) -> Result<Option<Knowledge>, RunError> {
        if !design::is_understood(scenario, plan, level) || self.contents.compares_times {
            return Ok(None);
        }
        let Some(footprints) = measure(&mut self.stage, plan, &self.contents, level, deadline)? else {
            return Ok(None);
        };
        let rules = match level {
            Level::ReadUncommitted | Level::ReadCommitted => Rules::ReadCommitted,
            Level::RepeatableRead => Rules::RepeatableRead,
            Level::Serializable => Rules::Serializable,
        };
        let groups = Arc::new(footprints.groups(plan.sessions.len()));
        Ok(Some(Knowledge { rules, footprints, groups }))
    }

    /// See [`Stage::stay_on`].
    pub fn stay_on(&mut self, processor: usize) -> Option<Stay> {
        self.stage.stay_on(processor)
    }

    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    pub fn stage(&mut self) -> &mut Stage<'a> {
        &mut self.stage
    }

    pub fn close(self) -> Result<(), RunError> {
        self.stage.close()
    }
}
