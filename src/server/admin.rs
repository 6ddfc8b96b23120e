//! The lab's own connections: making and dropping what the lab needs, asking settings.

use std::fmt;
use std::time::{Duration, Instant};

use super::ServerError;
use crate::interrupt;
use crate::wire::{self, ConnectOptions, Connection, ResultSet, WireError};

/// What the server sees as the name of the lab's own connections.
pub const APPLICATION_NAME: &str = "isolab";

/// For a statement of ours. Making a database is the slowest.
const STATEMENT_LIMIT: Duration = Duration::from_secs(60);

/// What an answer may take besides, and that of a server that may be gone.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// A connection that has answered so recently is taken to live.
const RECENT: Duration = Duration::from_secs(1);

/// A connection for administration.
pub struct Admin {
    connection: Connection,
    options: ConnectOptions,
    origin: String,
    /// None after an error.
    last_answer: Option<Instant>,
}

impl fmt::Debug for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Admin").field(&self.options).finish()
    }
}

impl Admin {
    /// Connects. `origin` says where the address came from, for the error.
    pub fn connect(options: &ConnectOptions, origin: &str) -> Result<Admin, ServerError> {
        let connection = connect(options, origin)?;
        Ok(Admin { connection, options: options.clone(), origin: origin.to_owned(), last_answer: Some(Instant::now()) })
    }

    /// The same server and user in another database.
    pub fn connect_to(&self, database: &str) -> Result<Admin, ServerError> {
        let options = ConnectOptions { database: database.to_owned(), ..self.options.clone() };
        Admin::connect(&options, &self.origin)
    }

    /// A setting that the server reports by itself, empty where it does not.
    pub fn parameter(&self, name: &str) -> &str {
        self.connection.parameter(name).unwrap_or_default()
    }

    /// Connects anew if the connection was lost. True if it was, and with it what the session held.
    pub fn revive(&mut self) -> Result<bool, ServerError> {
        if self.last_answer.is_some_and(|answer| answer.elapsed() < RECENT) {
            return Ok(false);
        }
        let lost = self.connection.query("", Instant::now() + ANSWER_LIMIT).is_err();
        if lost {
            self.connection = connect(&self.options, &self.origin)?;
        }
        Ok(lost)
    }

    /// Runs statements; `what` is what they are to do.
    pub fn execute(&mut self, what: &str, statements: &str) -> Result<(), ServerError> {
        self.query(what, statements).map(|_| ())
    }

    /// The rows of a query, all values as text.
    pub fn query(&mut self, what: &str, query: &str) -> Result<Vec<Vec<Option<String>>>, ServerError> {
        self.send(what, query)?;
        self.receive(what)
    }

    /// Sends statements whose rows [`Admin::receive`] waits for.
    pub fn send(&mut self, what: &str, statements: &str) -> Result<(), ServerError> {
        self.connection.send_query(statements).map_err(|error| failed(what, error))
    }

    /// Waits for what was sent, whatever signal comes: what is being made could not be removed yet.
    pub fn receive(&mut self, what: &str) -> Result<Vec<Vec<Option<String>>>, ServerError> {
        let deadline = Instant::now() + STATEMENT_LIMIT + ANSWER_LIMIT;
        let answer = interrupt::shielded(|| self.connection.results(deadline));
        let results = answer.and_then(|answered| answered.map_err(WireError::Server));
        self.last_answer = results.is_ok().then(Instant::now);
        let rows = |results: Vec<ResultSet>| results.into_iter().flat_map(|result| result.rows).collect();
        results.map(rows).map_err(|error| failed(what, error))
    }
}

fn connect(options: &ConnectOptions, origin: &str) -> Result<Connection, ServerError> {
    let limit = STATEMENT_LIMIT.as_millis().to_string();
    let connected = Connection::connect(&options.clone().with_setting("statement_timeout", &limit));
    connected.map_err(|error| match error {
        WireError::Interrupted(interrupted) => interrupted.into(),
        error => ServerError::Connect {
            address: options.address(),
            user: options.user.clone(),
            database: options.database.clone(),
            origin: origin.to_owned(),
            reason: match error {
                WireError::Connect { reason, .. } => reason,
                error => reason(&error),
            },
        },
    })
}

/// A statement of ours that did not succeed: what was to be done.
fn failed(what: &str, error: WireError) -> ServerError {
    let sqlstate = error.server_error().map(|error| error.sqlstate.clone());
    ServerError::Statement { what: what.to_owned(), reason: reason(&error), sqlstate }
}

/// What the server said, or what came in between.
fn reason(error: &WireError) -> String {
    let Some(wire::ServerError { message, detail, .. }) = error.server_error() else { return error.to_string() };
    match detail {
        Some(detail) => format!("{message}: {detail}"),
        None => message.clone(),
    }
}
