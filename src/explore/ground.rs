//! Where schedules are played: one form of a scenario at one level, with all that is known of it.

use std::sync::Arc;
use std::time::Instant;

use super::guided::Grain;
use super::oracle::SerialRun;
use super::team::Team;
use super::watch::Knowledge;
use super::worker::{Played, Task};
use crate::runner::RunError;
use crate::scenario::{Level, Plan};
use crate::schedule::{Attempt, Consequence, LeftOut, Rules};

pub struct Ground<'g, 'a> {
    pub team: &'g mut Team<'a>,
    pub plan: &'g Plan,
    pub level: Level,
    pub grain: Grain,
    pub knowledge: Arc<Knowledge>,
    pub deadline: Instant,
    /// What was played and is still to be learnt from.
    pub played: Vec<SerialRun>,
}

/// Takes out what came of an attempt, where it was played already.
pub fn take_played(played: &mut Vec<SerialRun>, attempt: &Attempt<Consequence>) -> Option<Played> {
    let leads_there = |run: &SerialRun| run.prefix == attempt.prefix;
    let position = played.iter().position(leads_there)?;
    (attempt.sleep.is_empty() && attempt.priorities.is_none()).then(|| played.swap_remove(position).played)
}

impl Ground<'_, '_> {
    /// Serial runs tell a search as much as any, if it changes sessions between statements and takes what they brought
    /// about as they do.
    pub fn reuse(&mut self, serial: Vec<SerialRun>) {
        if self.knowledge.rules == Rules::Everything && self.grain == Grain::Statement {
            self.played = serial;
        }
    }

    /// Plays these choices of what is left of the program, as far as they can be made, then whichever session can move.
    /// None once the time is over.
    pub fn play_again(&mut self, choices: Vec<usize>, left_out: &LeftOut) -> Result<Option<Played>, RunError> {
        let task = Task { left_out: left_out.clone(), ..self.task(choices) };
        match self.team.play(&[task]) {
            Err(_) if Instant::now() > self.deadline => Ok(None),
            played => Ok(played?.pop()),
        }
    }

    /// Plays these choices, then whichever session can move.
    pub fn task(&self, prefix: Vec<usize>) -> Task {
        Task::new(self.level, self.grain, prefix, &self.knowledge)
    }
}
