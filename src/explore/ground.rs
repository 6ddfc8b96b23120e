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
        let task = |attempt: &Attempt<Consequence>| Task {
            sleep: attempt.sleep.clone(),
            priorities: attempt.priorities.clone(),
            ..self.task(attempt.prefix.clone())
        };
        let tasks: Vec<Task> = attempts.iter().map(task).collect();
        self.team.play(&tasks)
    }

    /// Plays these choices, as far as they can be made, then whichever session can move.
    pub fn play_again(&mut self, choices: Vec<usize>) -> Result<Option<Played>, RunError> {
        let task = self.task(choices);
        Ok(self.team.play(&[task])?.pop())
    }

    fn task(&self, prefix: Vec<usize>) -> Task {
        Task::new(self.level, Grain::Statement, prefix, &self.knowledge)
    }
}
