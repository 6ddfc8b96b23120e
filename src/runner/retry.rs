//! What comes after the last move: failed calls are retried whole, one after the other, and `@finally` runs.

use super::actor::{Actor, FailedCall};
use super::conductor::Conductor;
use super::error::RunError;
use crate::history::{Phase, StatementError, Told, What};
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
    pub fn has_retries(&self) -> bool {
        self.actors
            .iter()
            .flat_map(|actor| &actor.failures)
            .any(|failure| is_retried(&failure.error.sqlstate, self.retry))
    }

    /// Retries session by session, each failed call until it is through or the attempts are used up.
    pub fn retry_all(&mut self) -> Result<(), RunError> {
        self.phase = Phase::Retry;
        for session in 0..self.actors.len() {
            for failure in std::mem::take(&mut self.actors[session].failures) {
                if is_retried(&failure.error.sqlstate, self.retry) {
                    self.retry_call(session, failure)?;
                }
            }
        }
        Ok(())
    }

    fn retry_call(&mut self, session: usize, failure: FailedCall) -> Result<(), RunError> {
        let next_call = self.actors[session].call;
        let mut failure = Some(failure);
        for attempt in 2..=self.attempts() {
            let Some(FailedCall { call, mut interpreter, .. }) = failure.take() else { break };
            interpreter.retry();
            let actor = &mut self.actors[session];
            (actor.call, actor.attempt) = (call, attempt);
            actor.interpreter = Some(interpreter);
            self.record(session, What::Retried);
            while self.actors[session].call == call {
                match self.actors[session].flight {
                    None => self.advance_alone(session)?,
                    Some(_) => self.until_any_free(&[session])?,
                }
            }
            failure = self.actors[session].failures.pop().filter(|again| is_retried(&again.error.sqlstate, self.retry));
        }
        self.actors[session].call = next_call;
        Ok(())
    }

    /// Attempts in all.
    fn attempts(&self) -> u32 {
        self.retry.map_or(STAGED_ATTEMPTS, |retry| retry.attempts)
    }

    /// What the client is told of an error that ended its attempt. During the schedule only a scenario with `@retry` has
    /// a client that goes on by itself.
    pub fn told_of(&self, session: usize, error: &StatementError) -> Told {
        let goes_on = self.retry.is_some() || self.phase == Phase::Retry;
        match goes_on && is_retried(&error.sqlstate, self.retry) {
            true if self.actors[session].attempt < self.attempts() => Told::Retried,
            true => Told::GaveUp,
            false => Told::Failed,
        }
    }

    /// Moves a session outside the schedule.
    fn advance_alone(&mut self, session: usize) -> Result<(), RunError> {
        let choices = self.schedule.choices.len();
        // Nobody else has anything left to do.
        self.advance(session, usize::MAX)?;
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
