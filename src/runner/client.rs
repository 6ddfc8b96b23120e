//! What a session's client does besides sending statements: it dies, loses an answer, goes on elsewhere, acts outside.

use std::time::{Duration, Instant};

use super::conductor::Conductor;
use super::error::RunError;
use crate::history::{StatementError, What};
use crate::interrupt;
use crate::program::Control;
use crate::scenario::template::Template;
use crate::wire::WireError;

/// SQLSTATE of a connection that is gone without a reason.
pub(super) const CONNECTION_FAILURE: &str = "08006";
/// The session's own connection in `\connect`.
const MAIN: &str = "main";
/// An effect outside takes no longer, or it waits for the session that it belongs to.
const EFFECT_LIMIT: Duration = Duration::from_secs(10);
const SLEEP_SLICE: Duration = Duration::from_millis(20);

impl Conductor<'_> {
    /// `\crash`: all connections of the client are cut, and nothing more comes of it.
    pub(super) fn crash(&mut self, session: usize) -> Result<(), RunError> {
        self.record(session, What::Disconnected { reason: "the client died".to_owned() });
        for link in self.actors[session].own_links() {
            self.links.cut(link, self.observer)?;
        }
        self.doubt_waits();
        Ok(())
    }

    /// `\lost`: the server has run the statement, the answer is lost with the connection.
    pub(super) fn lose_answer(&mut self, session: usize, control: Control) -> Result<(), RunError> {
        let reason = "the answer was lost with the connection".to_owned();
        self.record(session, What::Disconnected { reason: reason.clone() });
        self.links.cut(self.actors[session].link, self.observer)?;
        self.actors[session].leave_connection();
        self.doubt_waits();
        let sqlstate = CONNECTION_FAILURE.to_owned();
        self.fail(session, StatementError { sqlstate, message: reason, ..Default::default() }, Some(false));
        if control == Control::Commit
            && let Some(interpreter) = &mut self.actors[session].interpreter
        {
            interpreter.commit_is_unknown();
        }
        Ok(())
    }

    /// `\connect NAME`. The parser made sure that there is such a connection.
    pub(super) fn connect(&mut self, session: usize, name: &str) -> Result<(), RunError> {
        let actor = &mut self.actors[session];
        let home = actor.home;
        let link = match name {
            MAIN => home,
            name => actor.databases.get(name).copied().or_else(|| self.links.pool(name)).unwrap_or(home),
        };
        actor.link = link;
        self.links.open(link)?;
        let in_transaction = self.links.in_transaction(link);
        if let Some(interpreter) = &mut actor.interpreter {
            interpreter.connected(name, in_transaction);
        }
        Ok(())
    }

    /// `\effect SQL`: at once, on a connection of its own, whatever becomes of the session's transaction.
    pub(super) fn effect(&mut self, session: usize, sql: &Template) -> Result<(), RunError> {
        let Some(interpreter) = &self.actors[session].interpreter else { return Ok(()) };
        let sql = sql.sql(interpreter.variables());
        self.record(session, What::Effect { sql: sql.clone() });
        let limit = self.conduct.deadline.min(Instant::now() + EFFECT_LIMIT);
        match self.links.open(self.outside)?.query(&sql, limit) {
            Ok(_) => self.done(session),
            Err(WireError::Server(error)) => {
                let error = self.statement_error(session, &error);
                self.fail(session, error, None);
            }
            Err(other) => return Err(other.into()),
        }
        Ok(())
    }

    /// `\sleep N ms`.
    pub(super) fn sleep(&mut self, session: usize, milliseconds: u64) -> Result<(), RunError> {
        let end = Instant::now() + Duration::from_millis(milliseconds);
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            interrupt::check()?;
            if Instant::now() > self.conduct.deadline {
                return Err(RunError::TimeLimit { waited_for: format!("{} to wake up", self.actors[session].name) });
            }
            std::thread::sleep(left.min(SLEEP_SLICE));
        }
        self.done(session);
        Ok(())
    }

    fn done(&mut self, session: usize) {
        if let Some(interpreter) = &mut self.actors[session].interpreter {
            interpreter.done();
        }
    }
}
