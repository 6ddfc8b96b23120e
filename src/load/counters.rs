//! How far a load test is, for whoever watches it from another thread.

use std::sync::atomic::{AtomicU64, Ordering};

/// Only ever counts up.
#[derive(Debug, Default)]
pub struct Counters {
    requests: AtomicU64,
    retries: AtomicU64,
}

impl Counters {
    /// Requests that have ended, whatever their end.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Attempts beyond each request's first.
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    pub(super) fn request_ended(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn retried(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }
}
