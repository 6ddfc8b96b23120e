//! Connections of sessions that are kept from one run to the next, since a new one takes longer than a whole run; those of
//! the first run are made while the tables are.

use std::time::Instant;

use super::actor::Actor;
use super::links::Links;
use crate::history::SessionInfo;
use crate::scenario::Level;
use crate::wire::{ConnectOptions, Connecting, Connection, TransactionStatus, WireError};

/// A connection between two runs.
struct Idle {
    session: String,
    /// The level that came with the start-up message.
    born: Level,
    /// The level that it is set to.
    level: Level,
    connection: Connection,
    /// So many answers are on their way.
    awaited: usize,
    /// No run has had it yet.
    is_new: bool,
}

/// A connection that is being made for a session.
struct Begun {
    session: String,
    level: Level,
    connecting: Connecting,
}

/// Idle connections of a stage's sessions.
#[derive(Default)]
pub(super) struct Kept {
    idle: Vec<Idle>,
    begun: Vec<Begun>,
}

impl Kept {
    /// Begins to connect for a session. What goes wrong shows when the session connects for itself.
    pub fn begin(&mut self, session: &SessionInfo, options: &ConnectOptions) {
        if let Ok(connecting) = Connection::begin(options) {
            self.begun.push(Begun { session: session.name.clone(), level: session.level, connecting });
        }
    }

    /// Takes in the connections of a run's sessions. One with an answer outstanding is closed and its statement canceled:
    /// the server does not notice that a client is gone while its session waits. It must not go on to a COMMIT that was sent
    /// along: where canceling fails, so does this.
    pub fn keep(
        &mut self,
        actors: impl Iterator<Item = Actor>,
        mut links: Links,
        sessions: &[SessionInfo],
    ) -> Result<(), WireError> {
        for actor in actors {
            let Some(connection) = links.take(actor.home) else { continue };
            if actor.flight.is_some() || !actor.ahead.is_empty() {
                let canceled = connection.cancel_token().cancel();
                // What is left of a statement alone is removed with the sandbox.
                if !actor.ahead.is_empty() {
                    canceled?;
                }
                continue;
            }
            let level = sessions[actor.index].level;
            let born = actor.born.unwrap_or(level);
            self.idle.push(Idle { session: actor.name, born, level, connection, awaited: 0, is_new: false });
        }
        Ok(())
    }

    /// Whether there is a connection for the session, or will be.
    pub fn has(&self, session: &SessionInfo) -> bool {
        self.idle.iter().any(|idle| idle.session == session.name)
            || self.begun.iter().any(|begun| begun.session == session.name)
    }

    /// Asks the server to forget what the sessions did, if that `leaves_traces`: settings, prepared statements, temporary
    /// tables, advisory locks. A session that is to run at another level than it was born with is set to it, if
    /// `may_switch`; otherwise closed.
    pub fn clean(&mut self, sessions: &[SessionInfo], may_switch: bool, leaves_traces: bool) -> Result<(), WireError> {
        self.finish();
        self.idle.retain(|idle| may_switch || level_of(sessions, &idle.session).is_none_or(|level| level == idle.born));
        for idle in &mut self.idle {
            let mut statements = Vec::new();
            if idle.connection.status() != TransactionStatus::Idle {
                statements.push("ROLLBACK".to_owned());
            }
            if leaves_traces && !idle.is_new {
                statements.push("DISCARD ALL".to_owned());
                idle.level = idle.born;
            }
            if let Some(level) = level_of(sessions, &idle.session).filter(|level| *level != idle.level) {
                statements.push(format!("SET default_transaction_isolation = '{}'", level.sql().to_lowercase()));
                idle.level = level;
            }
            idle.awaited = statements.len();
            statements.iter().try_for_each(|sql| idle.connection.buffer_query(sql))?;
            idle.connection.flush();
        }
        Ok(())
    }

    /// Waits until that is done; a connection that did not come through is closed.
    pub fn settle(&mut self, deadline: Instant) {
        self.finish();
        self.idle.retain_mut(|idle| {
            (0..std::mem::take(&mut idle.awaited))
                .all(|_| idle.connection.results(deadline).is_ok_and(|answer| answer.is_ok()))
        });
    }

    /// The session's connection, with the level that it was born with.
    pub fn take(&mut self, session: &SessionInfo) -> Option<(Level, Connection)> {
        let position = self.idle.iter().position(|idle| idle.session == session.name)?;
        let Idle { born, connection, .. } = self.idle.swap_remove(position);
        Some((born, connection))
    }

    fn finish(&mut self) {
        self.idle.extend(self.begun.drain(..).filter_map(|Begun { session, level, connecting }| {
            let connection = connecting.finish().ok()?;
            Some(Idle { session, born: level, level, connection, awaited: 0, is_new: true })
        }));
    }
}

fn level_of(sessions: &[SessionInfo], name: &str) -> Option<Level> {
    sessions.iter().find(|session| session.name == name).map(|session| session.level)
}
