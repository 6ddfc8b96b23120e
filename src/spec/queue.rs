//! Which file is played next, where several are played side by side.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::model::SpecFile;
use super::shared::{Shared, shared};

/// A file's turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    /// Index among the files.
    pub file: usize,
    shared: Vec<Shared>,
}

impl Job {
    /// True if nothing else may go on meanwhile.
    pub fn is_alone(&self) -> bool {
        self.shared.contains(&Shared::Everything)
    }

    fn excludes(&self, other: &Job) -> bool {
        self.is_alone() || other.is_alone() || self.shared.iter().any(|kind| other.shared.contains(kind))
    }
}

/// The jobs that are waiting and running. The threads that do them share it.
pub(super) struct Queue {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

#[derive(Default)]
struct Jobs {
    waiting: Vec<Job>,
    running: Vec<Job>,
}

impl Queue {
    /// The longest jobs come first, so that no runner is left with one of them at the end; those that must be alone come
    /// last. A single runner goes by the order of the files.
    pub fn new(files: &[SpecFile], runners: usize) -> Queue {
        let job = |(file, spec)| Job { file, shared: shared(spec) };
        let mut waiting: Vec<Job> = files.iter().enumerate().map(job).collect();
        if runners > 1 {
            waiting.sort_by_cached_key(|job| (job.is_alone(), std::cmp::Reverse(launches(&files[job.file]))));
        }
        Queue { jobs: Mutex::new(Jobs { waiting, running: Vec::new() }), changed: Condvar::new() }
    }

    /// The next job that fits to those that are running, waited for; none when no job is left.
    pub fn take(&self) -> Option<Job> {
        let mut jobs = self.lock();
        loop {
            let fitting = jobs.waiting.iter().position(|job| !jobs.running.iter().any(|running| running.excludes(job)));
            if let Some(position) = fitting {
                let job = jobs.waiting.remove(position);
                jobs.running.push(job.clone());
                return Some(job);
            }
            if jobs.waiting.is_empty() {
                return None;
            }
            jobs = self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A job is over.
    pub fn done(&self, job: &Job) {
        self.lock().running.retain(|running| running.file != job.file);
        self.changed.notify_all();
    }

    /// No job is to be begun any more.
    pub fn give_up(&self) {
        self.lock().waiting.clear();
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many steps a file launches: about how long it takes.
fn launches(spec: &SpecFile) -> usize {
    spec.schedules().map(|permutation| permutation.entries.len() + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::testing::spec;

    fn queue(sqls: &[&str], runners: usize) -> Queue {
        let files: Vec<SpecFile> = sqls.iter().map(|sql| spec(&format!("session a {sql}"))).collect();
        Queue::new(&files, runners)
    }

    fn files(queue: &Queue) -> Vec<usize> {
        std::iter::from_fn(|| queue.take().inspect(|job| queue.done(job))).map(|job| job.file).collect()
    }

    const SHORT: &str = "step x { SELECT }";
    const LONG: &str = "step x { SELECT } step y { SELECT }";
    const ALONE: &str = "step x { ALTER SYSTEM } step y {} step z {}";
    const ROLES: &str = "step x { CREATE ROLE a }";

    #[test]
    fn one_runner_keeps_the_order_and_several_take_the_longest_first_and_the_lonely_last() {
        assert_eq!(files(&queue(&[SHORT, ALONE, LONG], 1)), [0, 1, 2]);
        assert_eq!(files(&queue(&[SHORT, ALONE, LONG], 2)), [2, 0, 1]);
    }

    #[test]
    fn what_shares_something_waits_for_its_turn() {
        let queue = queue(&[ROLES, ROLES, SHORT], 2);
        let first = queue.take().unwrap();
        assert_eq!(queue.take().map(|job| job.file), Some(2));
        queue.done(&first);
        assert_eq!(queue.take().map(|job| job.file), Some(1));
    }

    #[test]
    fn the_lonely_runs_when_all_others_are_over_and_nothing_runs_beside_it() {
        let queue = queue(&[ALONE, SHORT], 2);
        let short = queue.take().unwrap();
        std::thread::scope(|scope| {
            let alone = scope.spawn(|| queue.take().unwrap());
            queue.done(&short);
            assert!(alone.join().unwrap().is_alone());
        });
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn giving_up_leaves_nothing() {
        let queue = queue(&[SHORT, LONG], 2);
        queue.give_up();
        assert_eq!(queue.take(), None);
    }
}
