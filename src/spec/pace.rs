//! How long to wait before what the server says is taken for final.
//!
//! isolationtester calls a step waiting when nothing has come from it for ten milliseconds and the server says that it is
//! blocked. Most of that time is not needed: a session that waits for one which is idle stays there until the client does
//! something, so the server's first word on it is as good as its tenth. Where something else could still end the wait
//! (a deadlock, a timeout, a signal, a blocker that is at work) the ten milliseconds are kept.

use std::time::{Duration, Instant};

use super::model::SpecFile;

/// The silence after which isolationtester asks whether a step is blocked.
pub(super) const SILENCE: Duration = Duration::from_millis(10);
/// How long a fresh step may take before the server is asked about it.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
/// The pause between two questions grows up to this.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// SQL that can end a wait without any step: a timeout, or a signal that arrives a little after its sender has gone on.
const SIGNALS: [&str; 2] = ["pg_cancel_backend", "pg_terminate_backend"];

/// True if waits in this file may end by themselves, other than by a deadlock.
pub(super) fn has_timed_waits(spec: &SpecFile) -> bool {
    spec.blocks().any(|block| {
        let sql = block.sql.to_lowercase();
        let timeouts = sql.matches("timeout").count() > sql.matches("deadlock_timeout").count();
        timeouts || SIGNALS.iter().any(|function| sql.contains(function))
    })
}

/// True if this SQL only ends a transaction, and so waits for nobody.
pub(super) fn ends_transaction(sql: &str) -> bool {
    let mut words = sql.split(|c: char| c.is_whitespace() || c == ';').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_lowercase();
    matches!(first.as_str(), "commit" | "rollback" | "abort" | "end") && words.next().is_none()
}

/// The time of one wait for a step.
pub(super) struct Clock {
    begun: Instant,
    heard: Instant,
    pause: Duration,
}

impl Clock {
    /// A step that has just been launched gets a moment to answer.
    pub fn start(launched: bool) -> Clock {
        let now = Instant::now();
        Clock { begun: now, heard: now, pause: if launched { FIRST_PAUSE } else { Duration::ZERO } }
    }

    /// Something has come from the step.
    pub fn hear(&mut self) {
        self.heard = Instant::now();
        self.pause = FIRST_PAUSE;
    }

    /// How long to wait now.
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Nothing has come in the last pause.
    pub fn miss(&mut self) {
        self.pause = (self.pause * 3 / 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
    }

    pub fn silence(&self) -> Duration {
        self.heard.elapsed()
    }

    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::testing::spec;

    #[test]
    fn timeouts_and_signals_make_waits_timed_but_deadlocks_are_seen_by_themselves() {
        let timed = |sql: &str| has_timed_waits(&spec(&format!("session a setup {{ {sql} }} step x {{ SELECT }}")));
        assert!(timed("SET lock_timeout = '10ms'"));
        assert!(timed("SELECT set_config('Statement_Timeout', '1', false)"));
        assert!(timed("SET deadlock_timeout = 1; SET lock_timeout = 5"));
        assert!(timed("SELECT pg_cancel_backend(1)"));
        assert!(!timed("SET DEADLOCK_TIMEOUT = '10ms'"));
    }

    #[test]
    fn the_end_of_a_transaction_waits_for_nobody() {
        for sql in ["COMMIT", " commit;", "ROLLBACK ;\n", "END;", "abort"] {
            assert!(ends_transaction(sql), "{sql}");
        }
        for sql in ["", "COMMIT; SELECT 1", "COMMIT PREPARED 's1'", "ROLLBACK TO a", "SELECT 1", "END WORK"] {
            assert!(!ends_transaction(sql), "{sql}");
        }
    }
}
