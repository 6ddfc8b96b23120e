//! Several workers side by side; what they give, and in which order, does not depend on how many they are.

use std::panic::resume_unwind;
use std::thread;

use super::worker::{Played, Task, Worker};
use crate::runner::RunError;

pub struct Team<'a> {
    workers: Vec<Worker<'a>>,
}

impl<'a> Team<'a> {
    /// Prepares so many workers, each by `prepare`.
    pub fn assemble(size: usize, prepare: impl Fn() -> Result<Worker<'a>, RunError>) -> Result<Team<'a>, RunError> {
        Ok(Team { workers: (0..size.max(1)).map(|_| prepare()).collect::<Result<_, _>>()? })
    }

    /// Plays every task and gives what came of each, in their order.
    pub fn play(&mut self, tasks: &[Task]) -> Result<Vec<Played>, RunError> {
        let size = self.workers.len();
        if size == 1 || tasks.len() < 2 {
            return tasks.iter().map(|task| self.workers[0].play(task)).collect();
        }
        let share = |(index, worker): (usize, &mut Worker)| -> Vec<Result<Played, RunError>> {
            tasks.iter().skip(index).step_by(size).map(|task| worker.play(task)).collect()
        };
        let mut shares: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> =
                self.workers.iter_mut().enumerate().map(|worker| scope.spawn(move || share(worker))).collect();
            running
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)).into_iter())
                .collect()
        });
        (0..tasks.len()).filter_map(|index| shares[index % size].next()).collect()
    }

    /// The worker for what is done once.
    pub fn first(&mut self) -> &mut Worker<'a> {
        &mut self.workers[0]
    }

    /// Drops all sandboxes and says whether that worked.
    pub fn close(self) -> Result<(), RunError> {
        self.workers.into_iter().try_for_each(Worker::close)
    }
}
