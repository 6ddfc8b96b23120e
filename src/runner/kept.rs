//! Connections of sessions that are kept from one run to the next, since a new one takes longer than a whole run.

use std::time::Instant;

use super::actor::Actor;
use super::links::Links;
use crate::history::SessionInfo;
use crate::scenario::Level;
use crate::wire::{Connection, TransactionStatus, WireError};

/// Idle connections, by the session's name and its level, which came with the start-up message.
#[derive(Default)]
pub(super) struct Kept(Vec<(String, Level, Connection)>);

impl Kept {
    /// Takes in the connections of a run's sessions; one with an answer outstanding is closed.
    pub fn keep(&mut self, actors: impl Iterator<Item = Actor>, mut links: Links, sessions: &[SessionInfo]) {
        let idle = actors.filter(|actor| actor.flight.is_none());
        self.0.extend(idle.filter_map(|actor| {
            let connection = links.take(actor.home)?;
            Some((actor.name, sessions[actor.index].level, connection))
        }));
    }

    /// Asks the server to forget what the sessions did: settings, prepared statements, temporary tables, advisory locks.
    pub fn clean(&mut self) -> Result<(), WireError> {
        for (_, _, connection) in &mut self.0 {
            if connection.status() != TransactionStatus::Idle {
                connection.buffer_query("ROLLBACK")?;
            }
            connection.buffer_query("DISCARD ALL")?;
            connection.flush();
        }
        Ok(())
    }

    /// Waits until that is done; a connection that did not come through is closed.
    pub fn settle(&mut self, deadline: Instant) {
        self.0.retain_mut(|(_, _, connection)| {
            let rolls_back = connection.status() != TransactionStatus::Idle;
            let mut accepted = || connection.results(deadline).is_ok_and(|answer| answer.is_ok());
            (!rolls_back || accepted()) && accepted()
        });
    }

    pub fn take(&mut self, session: &SessionInfo) -> Option<Connection> {
        let fits = |(name, level, _): &(String, Level, Connection)| *name == session.name && *level == session.level;
        let position = self.0.iter().position(fits)?;
        Some(self.0.swap_remove(position).2)
    }
}
