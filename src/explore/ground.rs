//! Where schedules are played: one form of a scenario at one level, with all that is known of it.

use std::sync::Arc;

use super::guided::Grain;
use super::team::Team;
use super::watch::Knowledge;
use super::worker::{Played, Task};
use crate::runner::RunError;
use crate::scenario::{Level, Plan};
use crate::schedule::{Attempt, Consequence};

pub struct Ground<'g, 'a> {
    pub team: &'g mut Team<'a>,
    pub plan: &'g Plan,
    pub level: Level,
    pub knowledge: Arc<Knowledge>,
}

impl Ground<'_, '_> {
    /// Plays attempts of a search; gives what came of each, in their order.
    pub fn play(&mut self, attempts: &[Attempt<Consequence>]) -> Result<Vec<Played>, RunError> {
        let tasks: Vec<Task> =
            attempts.iter().map(|attempt| self.task(attempt.prefix.clone(), attempt.sleep.clone())).collect();
        self.team.play(&tasks)
    }

    /// Plays these choices, as far as they can be made, then whichever session can move.
    pub fn play_again(&mut self, choices: Vec<usize>) -> Result<Option<Played>, RunError> {
        let task = self.task(choices, Vec::new());
        Ok(self.team.play(&[task])?.pop())
    }

    fn task(&self, prefix: Vec<usize>, sleep: Vec<Consequence>) -> Task {
        let knowledge = Arc::clone(&self.knowledge);
        Task { level: self.level, prefix, sleep, grain: Grain::Statement, only: Vec::new(), knowledge }
    }
}
