//! All workers at once: they start together, and end when the queue gives nothing more.

use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel;
use crossbeam::sync::WaitGroup;

use super::error::LoadError;
use super::queue::Queue;
use super::tally::Tally;
use super::worker::{Finished, Worker};
use crate::runner::ToldRow;

/// What all workers together did.
pub struct Played {
    pub tally: Tally,
    pub told: Vec<ToldRow>,
    /// From the common start to the last answer.
    pub lasted: Duration,
    /// When the last answer came.
    pub ended: Instant,
}

/// Runs the workers, each on a thread of its own. The first error of one ends them all.
pub fn play<'a>(workers: Vec<Worker<'a>>, queue: &Queue) -> Result<Played, LoadError> {
    thread::scope(|scope| {
        let ready = WaitGroup::new();
        // Nothing is ever sent: the gate opens for all when the sender is dropped.
        let (closed, gate) = channel::bounded::<()>(0);
        let start = |worker: Worker<'a>| {
            let (ready, gate) = (ready.clone(), gate.clone());
            let name = format!("worker {}", worker.number());
            thread::Builder::new().name(name).spawn_scoped(scope, move || {
                drop(ready);
                let _ = gate.recv();
                worker.run()
            })
        };
        let threads: Result<Vec<_>, _> = workers.into_iter().map(start).collect();
        if threads.is_err() {
            // The threads that were started shall find nothing to do.
            queue.close();
        }
        ready.wait();
        let started = Instant::now();
        drop(closed);
        let threads = threads.map_err(LoadError::Thread)?;
        let finished: Result<Vec<Finished>, LoadError> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        total(finished?, started, queue)
    })
}

fn total(finished: Vec<Finished>, started: Instant, queue: &Queue) -> Result<Played, LoadError> {
    let mut played = Played { tally: Tally::default(), told: Vec::new(), lasted: Duration::ZERO, ended: started };
    for worker in finished {
        played.tally.add(worker.tally);
        played.told.extend(worker.told);
        played.ended = played.ended.max(worker.at);
    }
    played.lasted = played.ended - started;
    let (requests, counted) = (queue.taken(), played.tally.counts.requests());
    if requests != counted {
        return Err(LoadError::CountsDoNotAddUp { requests, counted });
    }
    Ok(played)
}
