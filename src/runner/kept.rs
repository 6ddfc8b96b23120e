//! Connections of sessions that are kept from one run to the next, since a new one takes longer than a whole run.

use std::time::Instant;

use super::actor::Actor;
use super::links::Links;
use crate::history::SessionInfo;
use crate::scenario::Level;
use crate::wire::{Connection, TransactionStatus, WireError};

/// Idle connections, by the session's name and the level that came with the start-up message.
#[derive(Default)]
pub(super) struct Kept(Vec<(String, Level, Connection)>);

impl Kept {
    /// Takes in the connections of a run's sessions. One with an answer outstanding is closed and its statement canceled:
    /// the server does not notice that a client is gone while its session waits.
    pub fn keep(&mut self, actors: impl Iterator<Item = Actor>, mut links: Links, sessions: &[SessionInfo]) {
        self.0.extend(actors.filter_map(|actor| {
            let connection = links.take(actor.home)?;
            if actor.flight.is_some() {
                // What cannot be canceled now is removed with the sandbox.
                let _ = connection.cancel_token().cancel();
                return None;
            }
            Some((actor.name, actor.born.unwrap_or(sessions[actor.index].level), connection))
        }));
    }

    /// Asks the server to forget what the sessions did: settings, prepared statements, temporary tables, advisory locks.
    /// A session that is to run at another level than it was born with is set to it, if `may_switch`; otherwise closed.
    pub fn clean(&mut self, sessions: &[SessionInfo], may_switch: bool) -> Result<(), WireError> {
        self.0.retain(|(name, born, _)| may_switch || level_of(sessions, name).is_none_or(|level| level == *born));
        for (name, born, connection) in &mut self.0 {
            if connection.status() != TransactionStatus::Idle {
                connection.buffer_query("ROLLBACK")?;
            }
            connection.buffer_query("DISCARD ALL")?;
            if let Some(level) = level_of(sessions, name).filter(|level| level != born) {
                let sql = format!("SET default_transaction_isolation = '{}'", level.sql().to_lowercase());
                connection.buffer_query(&sql)?;
            }
            connection.flush();
        }
        Ok(())
    }

    /// Waits until that is done; a connection that did not come through is closed.
    pub fn settle(&mut self, sessions: &[SessionInfo], deadline: Instant) {
        self.0.retain_mut(|(name, born, connection)| {
            let rolls_back = connection.status() != TransactionStatus::Idle;
            let mut accepted = || connection.results(deadline).is_ok_and(|answer| answer.is_ok());
            let switches = level_of(sessions, name).is_some_and(|level| level != *born);
            (!rolls_back || accepted()) && accepted() && (!switches || accepted())
        });
    }

    /// The session's connection, with the level that it was born with.
    pub fn take(&mut self, session: &SessionInfo) -> Option<(Level, Connection)> {
        let position = self.0.iter().position(|(name, _, _)| *name == session.name)?;
        let (_, born, connection) = self.0.swap_remove(position);
        Some((born, connection))
    }
}

fn level_of(sessions: &[SessionInfo], name: &str) -> Option<Level> {
    sessions.iter().find(|session| session.name == name).map(|session| session.level)
}
