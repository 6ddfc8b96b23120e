//! The connections of a run: each session's own, those to further databases, and those that sessions share.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::error::RunError;
use super::observer::Observer;
use crate::wire::{ConnectOptions, Connection, TransactionStatus, WireError};

/// How long the server may take to notice that a client is gone.
const NOTICE_LIMIT: Duration = Duration::from_secs(10);
const NOTICE_PAUSE: Duration = Duration::from_micros(500);

/// An index into [`Links`].
pub(super) type LinkId = usize;

/// One connection, opened when it is first needed, and again after it was cut.
struct Link {
    options: ConnectOptions,
    connection: Option<Connection>,
}

#[derive(Default)]
pub(super) struct Links {
    links: Vec<Link>,
    /// Those of `@pool`, which no session owns.
    pools: HashMap<String, LinkId>,
}

impl Links {
    pub fn add(&mut self, options: ConnectOptions) -> LinkId {
        self.links.push(Link { options, connection: None });
        self.links.len() - 1
    }

    pub fn add_pool(&mut self, name: &str, options: ConnectOptions) {
        let id = self.add(options);
        self.pools.insert(name.to_owned(), id);
    }

    pub fn pool(&self, name: &str) -> Option<LinkId> {
        self.pools.get(name).copied()
    }

    /// The connection, opened where it is not.
    pub fn open(&mut self, id: LinkId) -> Result<&mut Connection, WireError> {
        let Link { options, connection } = &mut self.links[id];
        match connection {
            Some(connection) => Ok(connection),
            None => Ok(connection.insert(Connection::connect(options)?)),
        }
    }

    pub fn get(&self, id: LinkId) -> Option<&Connection> {
        self.links[id].connection.as_ref()
    }

    /// The backend's pid; none where the connection is not open.
    pub fn pid(&self, id: LinkId) -> Option<i32> {
        self.get(id).map(Connection::backend_pid)
    }

    /// The pids of all open connections.
    pub fn pids(&self) -> impl Iterator<Item = i32> {
        self.links.iter().filter_map(|link| link.connection.as_ref()).map(Connection::backend_pid)
    }

    pub fn in_transaction(&self, id: LinkId) -> bool {
        self.get(id).is_some_and(|connection| connection.status() != TransactionStatus::Idle)
    }

    /// Takes a connection of an earlier run in.
    pub fn reuse(&mut self, id: LinkId, connection: Connection) {
        self.links[id].connection = Some(connection);
    }

    /// Gives an open connection away, for a later run.
    pub fn take(&mut self, id: LinkId) -> Option<Connection> {
        self.links[id].connection.take()
    }

    /// Forgets a connection that the server has closed.
    pub fn forget(&mut self, id: LinkId) {
        self.links[id].connection = None;
    }

    /// Cuts a connection as a dying client does, and waits until the server has noticed.
    pub fn cut(&mut self, id: LinkId, observer: &mut Observer) -> Result<(), RunError> {
        let Some(pid) = self.pid(id) else { return Ok(()) };
        self.forget(id);
        let deadline = Instant::now() + NOTICE_LIMIT;
        while observer.has_client(pid)? {
            if Instant::now() > deadline {
                let waited_for = format!("the server to notice that the client of process {pid} is gone");
                return Err(RunError::TimeLimit { waited_for });
            }
            std::thread::sleep(NOTICE_PAUSE);
        }
        Ok(())
    }
}
