//! Several workers side by side; what they give, and in which order, does not depend on how many they are.

use std::panic::resume_unwind;
use std::thread;

use super::pipeline::Pipeline;
use super::worker::{Played, Task, Worker};
use crate::runner::RunError;

/// Makes a worker, in whatever thread.
pub type Prepare<'a> = dyn Fn() -> Result<Worker<'a>, RunError> + Sync + 'a;

/// Workers prepared so far, the first at once and further ones when there is enough to do.
pub struct Team<'a> {
    first: Worker<'a>,
    others: Vec<Worker<'a>>,
    size: usize,
    prepare: Box<Prepare<'a>>,
}

impl<'a> Team<'a> {
    /// At most so many workers, each prepared by `prepare`.
    pub fn assemble(
        size: usize,
        prepare: impl Fn() -> Result<Worker<'a>, RunError> + Sync + 'a,
    ) -> Result<Team<'a>, RunError> {
        Ok(Team { first: prepare()?, others: Vec::new(), size, prepare: Box::new(prepare) })
    }

    /// Plays every task and gives what came of each, in their order.
    pub fn play(&mut self, tasks: &[Task]) -> Result<Vec<Played>, RunError> {
        self.side_by_side(|pipeline| {
            tasks.iter().for_each(|task| pipeline.send(task.clone()));
            tasks.iter().map(|_| pipeline.receive()).collect()
        })
    }

    /// Lets `work` send tasks and receive what came of them.
    pub fn side_by_side<T>(
        &mut self,
        work: impl FnOnce(&mut Pipeline<'_, '_, 'a>) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let further = self.size.saturating_sub(1 + self.others.len());
        let (first, prepare) = (&mut self.first, &*self.prepare);
        let resting = self.others.iter_mut().collect();
        let (result, prepared) = thread::scope(|scope| {
            let mut pipeline = Pipeline::new(scope, first, resting, further, prepare);
            let result = work(&mut pipeline);
            (result, pipeline.close())
        });
        let wanted = prepared.len();
        let before = self.others.len();
        self.others.extend(prepared.into_iter().flatten());
        if self.others.len() < before + wanted {
            // Those that there are have done the work, and no more can be had.
            self.size = 1 + self.others.len();
        }
        result
    }

    /// The worker for what is done once.
    pub fn first(&mut self) -> &mut Worker<'a> {
        &mut self.first
    }

    /// Drops all sandboxes and says whether that worked.
    pub fn close(self) -> Result<(), RunError> {
        thread::scope(|scope| {
            let others: Vec<_> = self.others.into_iter().map(|worker| scope.spawn(|| worker.close())).collect();
            let first = self.first.close();
            let joined = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            joined.fold(first, Result::and)
        })
    }
}
