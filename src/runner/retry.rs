//! What comes after the last move: failed calls are retried whole, one after the other, and `@finally` runs.

use super::actor::{Actor, FailedCall};
use super::conductor::Conductor;
use super::error::RunError;
use crate::history::{Event, Phase, Told, What};
use crate::scenario::{Retry, Session};
use crate::schedule::Staged;

/// SQLSTATEs of serialization_failure and deadlock_detected: the whole transaction may be tried again.
pub const RETRIED: [&str; 2] = ["40001", "40P01"];
/// Attempts in all where the scenario's client does not retry and the lab shows what it would have given.
const STAGED_ATTEMPTS: u32 = 10;

fn is_retried(sqlstate: &str, retry: Option<&Retry>) -> bool {
    RETRIED.contains(&sqlstate) || retry.is_some_and(|retry| retry.also.iter().any(|also| also == sqlstate))
}

impl Conductor<'_> {
    /// Whether an error ended a call that a retry would try again.
    pub fn has_retries(&self, retry: Option<&Retry>) -> bool {
        let failures = self.actors.iter().flat_map(|actor| &actor.failures);
        failures.into_iter().any(|failure| is_retried(&failure.error.sqlstate, retry))
    }

    /// Retries session by session, each failed call until it is through or the attempts are used up.
    pub fn retry_all(&mut self, retry: Option<&Retry>) -> Result<(), RunError> {
        self.phase = Phase::Retry;
        let attempts = retry.map_or(STAGED_ATTEMPTS, |retry| retry.attempts);
        for session in 0..self.actors.len() {
            for failure in std::mem::take(&mut self.actors[session].failures) {
                if is_retried(&failure.error.sqlstate, retry) {
                    self.retry_call(session, failure, attempts, retry)?;
                }
            }
        }
        Ok(())
    }

    fn retry_call(
        &mut self,
        session: usize,
        mut failure: FailedCall,
        attempts: u32,
        retry: Option<&Retry>,
    ) -> Result<(), RunError> {
        let next_call = self.actors[session].call;
        for attempt in 2..=attempts {
            failure.interpreter.retry();
            let actor = &mut self.actors[session];
            (actor.call, actor.attempt) = (failure.call, attempt);
            actor.interpreter = Some(failure.interpreter);
            self.record(session, What::Retried);
            while self.actors[session].call == failure.call {
                self.advance_alone(session)?;
            }
            match self.actors[session].failures.pop() {
                Some(again) if is_retried(&again.error.sqlstate, retry) => failure = again,
                _ => {
                    self.actors[session].call = next_call;
                    return Ok(());
                }
            }
        }
        self.actors[session].call = next_call;
        self.give_up(session);
        Ok(())
    }

    /// The attempts are used up: what the last one was told is final.
    fn give_up(&mut self, session: usize) {
        let index = self.actors[session].index;
        let is_end = |event: &&mut Event| event.session == index && matches!(event.what, What::Ended { .. });
        if let Some(Event { what: What::Ended { told, .. }, .. }) = self.events.iter_mut().rev().find(is_end) {
            *told = Some(Told::GaveUp);
        }
    }

    /// Moves a session outside the schedule.
    fn advance_alone(&mut self, session: usize) -> Result<(), RunError> {
        let choices = self.schedule.choices.len();
        self.advance(session)?;
        self.schedule.choices.truncate(choices);
        Ok(())
    }

    /// Runs `@finally`: each in turn, in its session's connection and variables where it bears a session's name.
    pub fn finally(&mut self, sessions: &[Session], others: &mut Vec<Actor>) -> Result<(), RunError> {
        self.phase = Phase::Finally;
        let choices = self.schedule.choices.len();
        for session in sessions {
            match self.actors.iter_mut().find(|actor| actor.name == session.name) {
                Some(actor) => actor.go_on_with(&session.calls),
                None => {
                    if let Some(position) = others.iter().position(|actor| actor.name == session.name) {
                        self.actors.push(others.remove(position));
                    }
                }
            }
            self.play(&mut Staged::new(&[]))?;
        }
        self.schedule.choices.truncate(choices);
        Ok(())
    }
}
