//! A worker's connection: statements prepared once, several of them in one round trip.
//!
//! Pipelining: <https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING>. One Sync ends a
//! round trip, so the server skips whatever follows an error in it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::round_trip::{RoundTrip, Slot};
use crate::scenario::template::Parameterised;
use crate::scenario::value::Value;
use crate::wire::{ConnectOptions, Connection, Message, WireError};

/// The server stops what was cancelled within this, or the connection counts as lost.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

/// One connection of a load test.
pub struct Session {
    options: ConnectOptions,
    connection: Connection,
    /// By SQL text; one for each set of parameter types.
    prepared: HashMap<String, Vec<Arc<Prepared>>>,
    names_given: u64,
    /// Statements that only work with their values written in.
    literal_only: HashSet<String>,
    /// Notifications received so far.
    notified: i32,
    broken: bool,
}

/// A statement that the server has parsed.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub name: String,
    /// Of the parameters; 0 where the server was to decide.
    pub types: Vec<u32>,
    /// Names and types of the result.
    pub columns: Vec<(String, u32)>,
}

/// The connection broke, or a limit was reached, before everything was answered.
#[derive(Debug)]
pub struct Broken {
    pub error: WireError,
    /// How many statements of the round trip were answered.
    pub answered: usize,
    /// The one after these was refused.
    pub refused: bool,
}

impl Session {
    pub fn connect(options: ConnectOptions) -> Result<Session, WireError> {
        let connection = Connection::connect(&options)?;
        Ok(Session {
            options,
            connection,
            prepared: HashMap::new(),
            names_given: 0,
            literal_only: HashSet::new(),
            notified: 0,
            broken: false,
        })
    }

    /// Connects anew, with nothing prepared.
    pub fn reconnect(&mut self) -> Result<(), WireError> {
        self.connection = Connection::connect(&self.options)?;
        self.prepared.clear();
        self.notified = 0;
        self.broken = false;
        Ok(())
    }

    /// Whether only [`Session::reconnect`] helps.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    pub fn notified(&self) -> i32 {
        self.notified
    }

    /// Asks the server to stop what runs here. Locks are let go only then, however soon the socket is closed.
    pub fn cancel(&self) {
        // A server that cannot be asked does not go on with it either.
        let _ = self.connection.cancel_token().cancel();
    }

    /// Whether a statement has to go by [`Session::run_literal`].
    pub fn is_literal_only(&self, statement: &Parameterised) -> bool {
        self.literal_only.contains(&statement.sql)
    }

    /// Runs statements with their values as parameters, in one round trip.
    pub fn run(&mut self, statements: Vec<Parameterised>, deadline: Instant) -> Result<RoundTrip, Broken> {
        let mut slots = Vec::with_capacity(statements.len());
        for statement in statements {
            slots.push(self.buffer(statement).map_err(|error| self.unsent(error))?);
        }
        self.connection.buffer_sync();
        self.connection.flush();
        let trip = self.receive(RoundTrip::new(slots), deadline)?;
        if let Some(sql) = trip.only_as_literal() {
            self.literal_only.insert(sql.to_owned());
        }
        Ok(trip)
    }

    /// Runs one statement, with its values written in, as a simple query.
    pub fn run_literal(&mut self, sql: &str, deadline: Instant) -> Result<RoundTrip, Broken> {
        self.connection.send_query(sql).map_err(|error| self.unsent(error))?;
        self.receive(RoundTrip::new(vec![Slot::Literal]), deadline)
    }

    /// Buffers what runs a statement, and before it what prepares it where that is still to be done.
    fn buffer(&mut self, statement: Parameterised) -> Result<Slot, WireError> {
        let types: Vec<u32> = statement.values.iter().map(Value::parameter_type).collect();
        let known = self.prepared.get(&statement.sql).and_then(|all| all.iter().find(|known| known.types == types));
        let slot = match known {
            Some(known) => Slot::Known(Arc::clone(known)),
            None => {
                self.names_given += 1;
                let name = format!("s{}", self.names_given);
                self.connection.buffer_parse(&name, &statement.sql, &types)?;
                self.connection.buffer_describe_statement(&name)?;
                Slot::New { sql: statement.sql, prepared: Prepared { name, types, columns: Vec::new() } }
            }
        };
        let values: Vec<Option<&str>> = statement.values.iter().map(|value| value.text.as_deref()).collect();
        self.connection.buffer_bind("", slot.name(), &values)?;
        self.connection.buffer_execute("", 0)?;
        Ok(slot)
    }

    /// What is buffered of the round trip must not go out with the next one.
    fn unsent(&mut self, error: WireError) -> Broken {
        self.broken = true;
        Broken { error, answered: 0, refused: true }
    }

    /// At the deadline the server is asked to stop; what it says to that is the answer.
    fn receive(&mut self, mut trip: RoundTrip, deadline: Instant) -> Result<RoundTrip, Broken> {
        let mut limit = deadline;
        loop {
            let message = match self.connection.message(limit) {
                Ok(message) => message,
                Err(WireError::TimedOut { .. }) if limit == deadline => {
                    self.cancel();
                    limit = Instant::now() + CANCEL_LIMIT;
                    continue;
                }
                Err(error) => {
                    self.broken = true;
                    return Err(Broken { error, answered: trip.answers.len(), refused: trip.failure.is_some() });
                }
            };
            if matches!(message, Message::Notification { .. }) {
                self.notified = self.notified.saturating_add(1);
            }
            let is_last = matches!(message, Message::ReadyForQuery(_));
            if let Some((sql, prepared)) = trip.take(message) {
                self.prepared.entry(sql).or_default().push(Arc::new(prepared));
            }
            if is_last {
                return Ok(trip);
            }
        }
    }
}
