//! The one queue that all workers take their requests from.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::scenario::LoadAmount;

/// Hands out the numbers of requests, from 1, each of them once.
#[derive(Debug)]
pub struct Queue {
    amount: LoadAmount,
    /// Nothing is handed out after this.
    deadline: Instant,
    taken: AtomicU64,
    closed: AtomicBool,
}

impl Queue {
    pub fn new(amount: LoadAmount, deadline: Instant) -> Queue {
        Queue { amount, deadline, taken: AtomicU64::new(0), closed: AtomicBool::new(false) }
    }

    /// The next request for a worker that started at `started`; none when the test is over.
    pub fn take(&self, started: Instant) -> Option<u64> {
        if self.closed.load(Ordering::Relaxed) || Instant::now() >= self.deadline {
            return None;
        }
        match self.amount {
            LoadAmount::Requests(requests) => self
                .taken
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| (taken < requests).then_some(taken + 1))
                .ok()
                .map(|taken| taken + 1),
            LoadAmount::For(duration) => {
                (started.elapsed() < duration).then(|| self.taken.fetch_add(1, Ordering::Relaxed) + 1)
            }
        }
    }

    /// How many were handed out.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Hands out nothing more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn far() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn every_request_is_handed_out_once() {
        let queue = Queue::new(LoadAmount::Requests(1_000), far());
        let started = Instant::now();
        let mut taken: Vec<u64> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| std::iter::from_fn(|| queue.take(started)).collect::<Vec<_>>()))
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        taken.sort_unstable();
        assert_eq!(taken, (1..=1_000).collect::<Vec<_>>());
        assert_eq!(queue.taken(), 1_000);
    }

    #[test]
    fn nothing_is_handed_out_when_the_time_is_over() {
        let started = Instant::now();
        assert_eq!(Queue::new(LoadAmount::For(Duration::ZERO), far()).take(started), None);
        assert_eq!(Queue::new(LoadAmount::Requests(5), started).take(started), None);
        let queue = Queue::new(LoadAmount::Requests(5), far());
        queue.close();
        assert_eq!((queue.take(started), queue.taken()), (None, 0));
    }
}
