//! When and how soon a client tries a failed transaction again.
//!
//! Exponential backoff with full jitter: before retry n the client waits a random time between nothing and
//! `min(100 ms, 1 ms * 2^(n - 1))`, so that those who failed together do not come back together
//! (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).

use std::time::Duration;

use rand::{Rng, RngExt};

use crate::runner::RETRIED;
use crate::scenario::Retry;

const BASE: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(100);

/// What a client does after a failure: `@retry`, or nothing where the scenario has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetryPolicy {
    retry: Option<Retry>,
}

impl RetryPolicy {
    /// `attempts` replaces the cap of a client that retries; one that does not stays as it is.
    pub fn new(retry: Option<&Retry>, attempts: Option<u32>) -> RetryPolicy {
        let capped = |retry: &Retry| Retry { attempts: attempts.unwrap_or(retry.attempts), also: retry.also.clone() };
        RetryPolicy { retry: retry.map(capped) }
    }

    /// Whether the client would try again after this error, were it not for the cap.
    pub fn covers(&self, sqlstate: &str) -> bool {
        self.retry
            .as_ref()
            .is_some_and(|retry| RETRIED.contains(&sqlstate) || retry.also.iter().any(|also| also == sqlstate))
    }

    /// Whether that many attempts in all are as many as there may be.
    pub fn is_used_up(&self, attempts: u32) -> bool {
        self.retry.as_ref().is_none_or(|retry| attempts >= retry.attempts)
    }
}

/// How long to wait when that many attempts have failed.
pub fn pause(failed_attempts: u32, rng: &mut impl Rng) -> Duration {
    let doublings = failed_attempts.saturating_sub(1).min(16);
    let longest = LONGEST.min(BASE * (1 << doublings));
    Duration::from_micros(rng.random_range(0..=longest.as_micros() as u64))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn pauses_grow_up_to_their_limit() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut longest = |failed| (0..500).map(|_| pause(failed, &mut rng)).max().unwrap();
        assert!(longest(1) <= Duration::from_millis(1));
        assert!(longest(4) > Duration::from_millis(4) && longest(4) <= Duration::from_millis(8));
        assert!(longest(u32::MAX) > Duration::from_millis(50) && longest(u32::MAX) <= LONGEST);
    }

    #[test]
    fn a_client_without_a_policy_never_retries() {
        let policy = RetryPolicy::new(None, Some(5));
        assert!(!policy.covers("40001"));
        assert!(policy.is_used_up(1));
    }

    #[test]
    fn the_cap_counts_attempts_in_all() {
        let retry = Retry { attempts: 10, also: vec!["23505".to_owned()] };
        let policy = RetryPolicy::new(Some(&retry), Some(3));
        assert!(["40001", "40P01", "23505"].iter().all(|sqlstate| policy.covers(sqlstate)));
        assert!(!policy.covers("23514"));
        assert_eq!((policy.is_used_up(2), policy.is_used_up(3)), (false, true));
        assert!(!RetryPolicy::new(Some(&retry), None).is_used_up(9));
    }
}
