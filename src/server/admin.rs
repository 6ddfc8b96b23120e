//! The lab's own connections: making and dropping what the lab needs, asking settings. Each bears the name of a sandbox,
//! and has the settings of its sessions, so that the sandbox that is made on it can have it.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use super::ServerError;
use super::mark::PREFIX;
use crate::interrupt;
use crate::wire::{self, ConnectOptions, Connection, ResultSet, WireError};

/// The name of a session that belongs to no sandbox, where the user gives none.
pub const APPLICATION_NAME: &str = "isolab";

/// For a statement of ours. Making a database is the slowest.
const STATEMENT_LIMIT: Duration = Duration::from_secs(60);

/// For the answer of a server that may be gone.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// SQLSTATE too_many_connections.
const TOO_MANY_CONNECTIONS: &str = "53300";

/// A connection that has answered so recently is taken to live.
const RECENT: Duration = Duration::from_secs(1);

/// A connection for administration.
pub struct Admin {
    /// None while it is lent.
    connection: Option<Connection>,
    /// Of the sandbox's sessions, whichever database they are in.
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
    /// Connects to the server of `options`, with a name that no sandbox has yet. `origin` says where the address came from,
    /// for the error.
    pub fn connect(options: &ConnectOptions, origin: &str) -> Result<Admin, ServerError> {
        let application_name = format!("{PREFIX}{:012x}", rand::random::<u64>() >> 16);
        let options = ConnectOptions { application_name, ..options.clone() }
            .with_setting("standard_conforming_strings", "on")
            .with_setting("jit", "off");
        let connection = connect(&options).map_err(|error| unconnected(error, &options, origin))?;
        Ok(Admin {
            connection: Some(connection),
            options,
            origin: origin.to_owned(),
            last_answer: Some(Instant::now()),
        })
    }

    /// The same server and user in another database.
    pub fn connect_to(&self, database: &str) -> Result<Admin, ServerError> {
        let options = ConnectOptions { database: database.to_owned(), ..self.options.clone() };
        Admin::connect(&options, &self.origin)
    }

    /// How the sessions of its sandbox reach the server, but for the sandbox itself. They bear its name.
    pub fn options(&self) -> &ConnectOptions {
        &self.options
    }

    /// A setting that the server reports by itself, empty where it does not.
    pub fn parameter(&self, name: &str) -> &str {
        self.connection.as_ref().and_then(|connection| connection.parameter(name)).unwrap_or_default()
    }

    /// Gives its connection away.
    pub fn lend(&mut self) -> Option<Connection> {
        self.last_answer = None;
        self.connection.take()
    }

    /// Takes it back, whatever it was used for. One that cannot be used again is dropped.
    pub fn take_back(&mut self, mut connection: Connection) {
        let recovered = interrupt::shielded(|| connection.recover(Instant::now() + ANSWER_LIMIT));
        self.connection = recovered.is_ok().then_some(connection);
    }

    /// Connects anew if the connection was lost. True if it was, and with it what the session held.
    pub fn revive(&mut self) -> Result<bool, ServerError> {
        if self.last_answer.is_some_and(|answer| answer.elapsed() < RECENT) {
            return Ok(false);
        }
        let lives = |connection: &mut Connection| connection.query("", Instant::now() + ANSWER_LIMIT).is_ok();
        let lost = !self.connection.as_mut().is_some_and(lives);
        if lost {
            self.connection = Some(self.connect_again()?);
        }
        Ok(lost)
    }

    /// Where all connections are in use, some may be those of our own sessions that are about to leave.
    fn connect_again(&self) -> Result<Connection, ServerError> {
        let is_full = |error: &WireError| error.sqlstate() == TOO_MANY_CONNECTIONS;
        let connected = try_again_while(is_full, ANSWER_LIMIT, || connect(&self.options));
        connected.map_err(|error| unconnected(error, &self.options, &self.origin))
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
        let sent = self.connected().and_then(|connection| connection.send_query(statements));
        sent.map_err(|error| failed(what, error))
    }

    /// Waits for what was sent, whatever signal comes: what is being made could not be removed yet.
    pub fn receive(&mut self, what: &str) -> Result<Vec<Vec<Option<String>>>, ServerError> {
        let connection = self.connected().map_err(|error| failed(what, error))?;
        let answer = interrupt::shielded(|| connection.results(Instant::now() + STATEMENT_LIMIT));
        if let Err(WireError::TimedOut { .. }) = answer {
            // Nobody will look at what it still does, so the next answer must not be taken for its own.
            let _ = connection.cancel_token().cancel();
            self.connection = None;
        }
        let results = answer.and_then(|answered| answered.map_err(WireError::Server));
        self.last_answer = results.is_ok().then(Instant::now);
        let rows = |results: Vec<ResultSet>| results.into_iter().flat_map(|result| result.rows).collect();
        results.map(rows).map_err(|error| failed(what, error))
    }

    fn connected(&mut self) -> Result<&mut Connection, WireError> {
        self.connection.as_mut().ok_or(WireError::Closed { reason: None })
    }
}

/// Tries again, as long as an error passes by itself, for so long at most.
pub fn try_again_while<T, E>(
    passes: impl Fn(&E) -> bool,
    limit: Duration,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    const PAUSE: Duration = Duration::from_millis(20);
    let start = Instant::now();
    loop {
        match attempt() {
            Err(error) if passes(&error) && start.elapsed() < limit => thread::sleep(PAUSE),
            ended => return ended,
        }
    }
}

/// The same for what is not under test. The limits are ours, whatever the role's are, and nothing must outlast a crash.
pub fn own(options: ConnectOptions) -> ConnectOptions {
    options.with_setting("statement_timeout", "0").with_setting("synchronous_commit", "off")
}

fn connect(options: &ConnectOptions) -> Result<Connection, WireError> {
    Connection::connect(&own(options.clone().with_setting("search_path", &options.application_name)))
}

fn unconnected(error: WireError, options: &ConnectOptions, origin: &str) -> ServerError {
    match error {
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
    }
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
