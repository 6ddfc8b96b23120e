//! Looking again and again for a moment before a thread is put to sleep: to wake it, and the processor that it slept on,
//! takes as long as many a statement.

use std::hint;
use std::num::NonZero;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Most statements on a few rows are answered in less.
const LIMIT: Duration = Duration::from_millis(1);

/// So many looks, of half a microsecond each, between two offers of the processor to somebody else.
const LOOKS_IN_A_ROW: u32 = 16;

/// So many threads may wait, or be at work, before looking does harm: the other half of the processors is the server's.
static ROOM: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get) / 2);
static WAITING: AtomicUsize = AtomicUsize::new(0);
static AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// A thread that does nothing but ask the server, one thing after another, until it is dropped.
pub struct AtWork(());

impl AtWork {
    pub fn begin() -> AtWork {
        AT_WORK.fetch_add(1, Ordering::Relaxed);
        AtWork(())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        AT_WORK.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A thread that waits for an answer, or a session that the server is starting, until it is dropped.
pub(super) struct Waiting;

impl Waiting {
    pub fn begin() -> Waiting {
        WAITING.fetch_add(1, Ordering::Relaxed);
        Waiting
    }

    /// Looks until `is_there`, at most `limit` long and while few wait. True if it is there.
    pub fn look<E>(&self, limit: Duration, mut is_there: impl FnMut() -> Result<bool, E>) -> Result<bool, E> {
        let start = Instant::now();
        let mut looks: u32 = 0;
        while has_room() && start.elapsed() < limit.min(LIMIT) {
            if is_there()? {
                return Ok(true);
            }
            looks += 1;
            // The server may have nothing else to run on.
            if looks.is_multiple_of(LOOKS_IN_A_ROW) { thread::yield_now() } else { hint::spin_loop() }
        }
        Ok(false)
    }
}

fn has_room() -> bool {
    [&WAITING, &AT_WORK].iter().all(|threads| threads.load(Ordering::Relaxed) <= *ROOM)
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn nobody_looks_while_many_wait() {
        let waiting: Vec<Waiting> = (0..=*ROOM).map(|_| Waiting::begin()).collect();
        let nobody = || -> Result<bool, Infallible> { panic!("looked") };
        assert_eq!(waiting[0].look(Duration::from_secs(1), nobody), Ok(false));
    }
}
