//! Several jobs at once on threads of their own, their results in the order of the jobs.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, mpsc};
use std::thread;

use crate::server::{Server, ServerError};

/// More connections than a scenario opens.
const CONNECTIONS_OF_A_STAGE: u32 = 16;
/// A run waits for the server and for time to pass more than it computes.
const STAGES_PER_PROCESSOR: usize = 2;

/// How many stages the machine and the server bear at once.
pub fn room(server: &Server) -> Result<usize, ServerError> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let connections = server.connections()?.free() / CONNECTIONS_OF_A_STAGE;
    Ok((processors * STAGES_PER_PROCESSOR).min(connections as usize).max(1))
}

/// Does all jobs on so many threads, those that are to run `alone` while nothing else runs. `take` gets each result as soon
/// as those before it are there; its first error ends everything, and jobs that were not begun are left out.
pub fn side_by_side<J: Sync, T: Send, E>(
    jobs: &[J],
    threads: usize,
    alone: impl Fn(&J) -> bool + Sync,
    work: impl Fn(&J) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    // Held by all who run, and for writing by the one who runs alone.
    let room = RwLock::new(());
    let perform = |job: &J| {
        if alone(job) {
            let _room = room.write().unwrap_or_else(PoisonError::into_inner);
            work(job)
        } else {
            let _room = room.read().unwrap_or_else(PoisonError::into_inner);
            work(job)
        }
    };
    thread::scope(|scope| {
        let (results, finished) = mpsc::channel();
        for _ in 0..threads.min(jobs.len()) {
            let (results, next, perform) = (results.clone(), &next, &perform);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    if results.send((index, perform(job))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(results);
        let mut early = BTreeMap::new();
        let mut taken = 0;
        for (index, result) in finished {
            early.insert(index, result);
            while let Some(result) = early.remove(&taken) {
                taken += 1;
                if let Err(error) = take(result) {
                    next.store(jobs.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..40).collect();
        let mut taken = Vec::new();
        let work = |job: &u64| {
            thread::sleep(std::time::Duration::from_micros((job * 7919) % 500));
            *job
        };
        let take = |result| {
            taken.push(result);
            Ok::<(), Infallible>(())
        };
        assert_eq!(side_by_side(&jobs, 4, |_| false, work, take), Ok(()));
        assert_eq!(taken, jobs);
    }

    #[test]
    fn nothing_runs_beside_a_job_that_runs_alone() {
        let running = AtomicU32::new(0);
        let jobs: Vec<u32> = (0..60).collect();
        let is_alone = |job: &u32| job.is_multiple_of(3);
        let work = |job: &u32| {
            let before = running.fetch_add(1, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_micros(100));
            let after = running.fetch_sub(1, Ordering::SeqCst);
            !is_alone(job) || (before, after) == (0, 1)
        };
        let take = |was_alone: bool| if was_alone { Ok(()) } else { Err("another one ran") };
        assert_eq!(side_by_side(&jobs, 4, is_alone, work, take), Ok(()));
    }

    #[test]
    fn an_error_ends_it() {
        let begun = AtomicUsize::new(0);
        let jobs = [(); 1000];
        let work = |_: &()| begun.fetch_add(1, Ordering::SeqCst);
        assert_eq!(side_by_side(&jobs, 2, |_| false, work, |_| Err("no")), Err("no"));
        assert!(begun.load(Ordering::SeqCst) <= jobs.len());
    }
}
