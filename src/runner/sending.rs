//! Statements on their way: sent alone, or together where what comes next is certain, and their answers read.

use super::actor::Actor;
use super::conductor::Conductor;
use super::error::RunError;
use super::flight::Flight;
use crate::history::{Phase, What};
use crate::program::{Control, Foreseen, Statement};
use crate::wire::Message;

impl Conductor<'_> {
    pub(super) fn send(&mut self, session: usize, statement: &Statement) -> Result<(), RunError> {
        let actor = &mut self.actors[session];
        let Some(interpreter) = &actor.interpreter else { return Ok(()) };
        actor.goes_on = (statement.control == Control::Begin).then_some(interpreter.step_index());
        actor.loses = (statement.lost && actor.attempt == 1).then_some(statement.control);
        let sql = statement.text.sql(interpreter.variables());
        if self.conduct.saves_round_trips && actor.ahead.is_empty() {
            let ahead = interpreter.foreseen(self.further);
            return self.send_together(session, &sql, ahead);
        }
        self.send_text(session, &sql)
    }

    /// Saves the round trips between statements. Each goes on record when the one before it is answered.
    fn send_together(&mut self, session: usize, sql: &str, ahead: Vec<Foreseen>) -> Result<(), RunError> {
        self.record(session, What::Sent { sql: sql.to_owned() });
        let actor = &mut self.actors[session];
        actor.flight = Some(Flight::default());
        let connection = self.links.open(actor.link)?;
        let mut texts = std::iter::once(sql).chain(ahead.iter().map(|foreseen| foreseen.sql.as_str()));
        let sent = texts.try_for_each(|text| connection.buffer_query(text));
        connection.flush();
        actor.ahead.extend(ahead);
        sent.or_else(|error| self.disconnected(session, error))
    }

    pub(super) fn send_text(&mut self, session: usize, sql: &str) -> Result<(), RunError> {
        match self.actors[session].ahead.pop_front() {
            None => self.send_together(session, sql, Vec::new()),
            Some(foreseen) => {
                debug_assert!(foreseen.sql == sql || foreseen.ends, "{} was sent for {sql}", foreseen.sql);
                self.record(session, What::Sent { sql: sql.to_owned() });
                self.actors[session].flight = Some(Flight::default());
                Ok(())
            }
        }
    }

    /// Takes in what a session's connection has to say; true if anything came.
    pub(super) fn read(&mut self, session: usize) -> Result<bool, RunError> {
        let mut progress = false;
        while self.actors[session].flight.is_some() {
            let message = match self.links.open(self.actors[session].link)?.try_message() {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) => {
                    self.disconnected(session, error)?;
                    return Ok(true);
                }
            };
            progress = true;
            match message {
                Message::Notice(notice) => {
                    self.record(session, What::Notice { text: format!("{}: {}", notice.severity, notice.message) });
                }
                Message::Notification { channel, payload, .. } => {
                    self.actors[session].notified += 1;
                    self.record(session, What::Notified { channel, payload });
                }
                Message::CopyIn => {
                    return Err(RunError::Unmet { reason: "COPY FROM STDIN cannot be staged".to_owned() });
                }
                message => {
                    let actor = &mut self.actors[session];
                    let landed = actor.flight.as_mut().and_then(|flight| flight.take(message));
                    if let Some(landed) = landed.and_then(|landed| actor.whole(landed)) {
                        self.land(session, landed)?;
                    }
                }
            }
        }
        Ok(progress)
    }

    /// A session that waits with statements behind it that were sent along will go on by itself: not where others may
    /// move before.
    pub(super) fn check_foresight(&self, session: usize) -> Result<(), RunError> {
        let actor = &self.actors[session];
        let goes_on = actor.wait.is_some() && !actor.ahead.is_empty();
        match goes_on && self.phase == Phase::Schedule && self.actors.iter().any(Actor::is_idle) {
            true => Err(RunError::Unforeseen { session: actor.name.clone() }),
            false => Ok(()),
        }
    }
}
