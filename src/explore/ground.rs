//! Where schedules are played: one form of a scenario at one level, with all that is known of it.

use std::sync::Arc;
use std::time::Instant;

use super::guided::Grain;
use super::team::Team;
use super::watch::Knowledge;
use super::worker::{Played, Task};
use crate::runner::RunError;
use crate::scenario::{Level, Plan};
use crate::schedule::LeftOut;

pub struct Ground<'g, 'a> {
    pub team: &'g mut Team<'a>,
    pub plan: &'g Plan,
    pub level: Level,
    pub grain: Grain,
    pub knowledge: Arc<Knowledge>,
    pub deadline: Instant,
}

impl Ground<'_, '_> {
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
