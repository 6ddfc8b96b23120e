//! Several workers side by side; what they give, and in which order, does not depend on how many they are.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

use super::worker::{Played, Task, Worker};
use crate::runner::RunError;

/// A further worker takes as long to prepare as some schedules take to play; with fewer to come, one does them all.
const WORTH_ANOTHER: usize = 8;

/// Workers prepared so far, the first at once and further ones when there is enough to do.
pub struct Team<'a> {
    workers: Vec<Worker<'a>>,
    size: usize,
    prepare: Box<dyn Fn() -> Result<Worker<'a>, RunError> + Sync + 'a>,
}

impl<'a> Team<'a> {
    /// At most so many workers, each prepared by `prepare`.
    pub fn assemble(
        size: usize,
        prepare: impl Fn() -> Result<Worker<'a>, RunError> + Sync + 'a,
    ) -> Result<Team<'a>, RunError> {
        Ok(Team { workers: vec![prepare()?], size, prepare: Box::new(prepare) })
    }

    /// Plays every task and gives what came of each, in their order.
    pub fn play(&mut self, tasks: &[Task]) -> Result<Vec<Played>, RunError> {
        let further = match tasks.len() < WORTH_ANOTHER {
            true => 0,
            false => self.size.saturating_sub(self.workers.len()),
        };
        if tasks.len() < 2 || self.workers.len() + further == 1 {
            return tasks.iter().map(|task| self.workers[0].play(task)).collect();
        }
        let next = AtomicUsize::new(0);
        let prepare = &self.prepare;
        let (played, more) = thread::scope(|scope| {
            let old: Vec<_> =
                self.workers.iter_mut().map(|worker| scope.spawn(|| play_some(worker, tasks, &next))).collect();
            let new: Vec<_> = (0..further)
                .map(|_| {
                    scope.spawn(|| {
                        let mut worker = prepare()?;
                        let played = play_some(&mut worker, tasks, &next);
                        Ok::<_, RunError>((worker, played))
                    })
                })
                .collect();
            let mut played: Vec<_> = old.into_iter().flat_map(joined).collect();
            let mut more = Vec::new();
            for worker in new.into_iter().map(joined) {
                more.push(worker.map(|(worker, by_it)| {
                    played.extend(by_it);
                    worker
                }));
            }
            (played, more)
        });
        for worker in more {
            self.workers.push(worker?);
        }
        in_order(played)
    }

    /// The worker for what is done once.
    pub fn first(&mut self) -> &mut Worker<'a> {
        &mut self.workers[0]
    }

    /// Drops all sandboxes and says whether that worked.
    pub fn close(self) -> Result<(), RunError> {
        thread::scope(|scope| {
            let closing: Vec<_> = self.workers.into_iter().map(|worker| scope.spawn(|| worker.close())).collect();
            closing.into_iter().map(joined).fold(Ok(()), Result::and)
        })
    }
}

/// A task's index and what came of it.
type Numbered = (usize, Result<Played, RunError>);

/// Plays tasks that nobody has taken yet.
fn play_some(worker: &mut Worker, tasks: &[Task], next: &AtomicUsize) -> Vec<Numbered> {
    let mut played = Vec::new();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = tasks.get(index) else { return played };
        played.push((index, worker.play(task)));
    }
}

/// In the order of the tasks; the first that failed speaks for all.
fn in_order(mut played: Vec<Numbered>) -> Result<Vec<Played>, RunError> {
    played.sort_by_key(|(index, _)| *index);
    played.into_iter().map(|(_, played)| played).collect()
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
