//! What one worker counts, and what all of them come to.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::statistics::{ErrorCount, Latency};
use crate::history::StatementError;

/// How a request ended. Each ends in exactly one of these ways, so the counts always add up to the requests.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestEnd {
    Ok,
    /// A business no, with its text.
    Rejected(String),
    /// The last attempt that the client's policy allows failed with this.
    GaveUp(StatementError),
    Failed(StatementError),
    /// The answer to COMMIT was lost.
    Unknown(StatementError),
}

/// Requests by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub ok: u64,
    pub rejected: u64,
    pub gave_up: u64,
    pub failed: u64,
    pub unknown: u64,
}

impl Counts {
    pub fn requests(&self) -> u64 {
        self.ok + self.rejected + self.gave_up + self.failed + self.unknown
    }
}

#[derive(Debug, Clone)]
pub struct Tally {
    pub counts: Counts,
    /// Attempts beyond each request's first.
    pub retries: u64,
    /// The most attempts that one request took.
    pub most_attempts: u32,
    /// By SQLSTATE.
    pub errors: Vec<ErrorCount>,
    /// In microseconds.
    latencies: Histogram<u64>,
    /// The histogram knows it only to three digits.
    slowest: Duration,
}

impl Default for Tally {
    fn default() -> Tally {
        const HOUR_IN_MICROSECONDS: u64 = 3_600_000_000;
        Tally {
            counts: Counts::default(),
            retries: 0,
            most_attempts: 0,
            errors: Vec::new(),
            latencies: Histogram::new_with_bounds(1, HOUR_IN_MICROSECONDS, 3).expect("the bounds are valid"),
            slowest: Duration::ZERO,
        }
    }
}

impl Tally {
    /// Counts one request.
    pub fn count(&mut self, end: RequestEnd, attempts: u32, latency: Duration) {
        let (counter, error) = match end {
            RequestEnd::Ok => (&mut self.counts.ok, None),
            RequestEnd::Rejected(_) => (&mut self.counts.rejected, None),
            RequestEnd::GaveUp(error) => (&mut self.counts.gave_up, Some(error)),
            RequestEnd::Failed(error) => (&mut self.counts.failed, Some(error)),
            RequestEnd::Unknown(error) => (&mut self.counts.unknown, Some(error)),
        };
        *counter += 1;
        if let Some(error) = error {
            self.count_error(ErrorCount { error, requests: 1 });
        }
        self.retries += u64::from(attempts.saturating_sub(1));
        self.most_attempts = self.most_attempts.max(attempts);
        self.latencies.saturating_record(latency.as_micros() as u64);
        self.slowest = self.slowest.max(latency);
    }

    /// Adds another worker's.
    pub fn add(&mut self, other: Tally) {
        let Counts { ok, rejected, gave_up, failed, unknown } = other.counts;
        self.counts.ok += ok;
        self.counts.rejected += rejected;
        self.counts.gave_up += gave_up;
        self.counts.failed += failed;
        self.counts.unknown += unknown;
        self.retries += other.retries;
        self.most_attempts = self.most_attempts.max(other.most_attempts);
        other.errors.into_iter().for_each(|error| self.count_error(error));
        self.latencies += &other.latencies;
        self.slowest = self.slowest.max(other.slowest);
    }

    /// None where nothing was counted.
    pub fn latency(&self) -> Option<Latency> {
        let milliseconds = |latency: Duration| latency.as_nanos() as f64 / 1_000_000.0;
        let quantile = |quantile| {
            // The histogram gives the upper edge of a bucket, which may lie above everything that was seen.
            milliseconds(Duration::from_micros(self.latencies.value_at_quantile(quantile)).min(self.slowest))
        };
        (!self.latencies.is_empty()).then(|| Latency {
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: milliseconds(self.slowest),
        })
    }

    fn count_error(&mut self, count: ErrorCount) {
        match self.errors.iter_mut().find(|known| known.error.sqlstate == count.error.sqlstate) {
            Some(known) => known.requests += count.requests,
            None => self.errors.push(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(sqlstate: &str) -> StatementError {
        StatementError { sqlstate: sqlstate.to_owned(), ..StatementError::default() }
    }

    #[test]
    fn the_counts_add_up_to_the_requests() {
        let ends = || {
            [
                RequestEnd::Ok,
                RequestEnd::Rejected("over budget".to_owned()),
                RequestEnd::GaveUp(error("40001")),
                RequestEnd::Failed(error("23514")),
                RequestEnd::Unknown(error("08006")),
            ]
        };
        let mut total = Tally::default();
        for worker in 1..=3 {
            let mut tally = Tally::default();
            ends().into_iter().for_each(|end| tally.count(end, worker, Duration::from_millis(1)));
            total.add(tally);
        }
        assert_eq!(total.counts.requests(), 15);
        assert_eq!((total.retries, total.most_attempts), (15, 3));
        let errors: Vec<_> = total.errors.iter().map(|count| (count.error.sqlstate.as_str(), count.requests)).collect();
        assert_eq!(errors, [("40001", 3), ("23514", 3), ("08006", 3)]);
    }

    #[test]
    fn latencies_stay_within_what_was_seen() {
        let mut tally = Tally::default();
        assert_eq!(tally.latency(), None);
        (1..=100).for_each(|n| tally.count(RequestEnd::Ok, 1, Duration::from_micros(100 * n)));
        let latency = tally.latency().unwrap();
        assert!((latency.p50 - 5.0).abs() < 0.01, "{latency:?}");
        assert!((latency.p95 - 9.5).abs() < 0.01, "{latency:?}");
        assert_eq!(latency.max, 10.0);
        tally.count(RequestEnd::Ok, 1, Duration::from_secs(100_000));
        assert_eq!(tally.latency().unwrap().max, 100_000_000.0);
    }
}
