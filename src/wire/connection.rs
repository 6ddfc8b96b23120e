//! A session on the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use postgres_protocol::message::frontend;

use socket2::SockAddr;

use super::channel::Channel;
use super::spin::Waiting;
use super::startup::Startup;
use super::trace::Line;
use super::{CancelToken, ConnectOptions, Message, ServerError, TransactionStatus, WireError, negotiate, socket, wait};

/// One session: sends without waiting, and hands on every message in the order in which it arrived.
pub struct Connection {
    pub(super) channel: Channel,
    cancel_token: CancelToken,
    parameters: Vec<(String, String)>,
    status: TransactionStatus,
    /// How often the server will still say that it is ready.
    pub(super) outstanding: usize,
    last_fatal: Option<Box<ServerError>>,
}

/// A session that the server is starting. Several at once are ready sooner than one after the other.
pub struct Connecting {
    channel: Channel,
    options: ConnectOptions,
    server: SockAddr,
    /// What the server does for it takes a processor.
    _starting: Waiting,
}

impl Connecting {
    /// Waits for the session, again `connect_timeout` in all.
    pub fn finish(mut self) -> Result<Connection, WireError> {
        let deadline = wait::deadline(self.options.connect_timeout);
        let session = Startup { channel: &mut self.channel, options: &self.options, deadline }.finish()?;
        let options = Arc::new(self.options);
        Ok(Connection {
            channel: self.channel,
            cancel_token: CancelToken {
                options,
                server: self.server,
                pid: session.pid,
                secret_key: session.secret_key,
            },
            parameters: session.parameters,
            status: session.status,
            outstanding: 0,
            last_fatal: None,
        })
    }
}

impl Connection {
    /// Connects and starts a session.
    pub fn connect(options: &ConnectOptions) -> Result<Connection, WireError> {
        Connection::begin(options)?.finish()
    }

    /// Connects, within `connect_timeout`, and asks for a session without waiting for it.
    pub fn begin(options: &ConnectOptions) -> Result<Connecting, WireError> {
        let deadline = wait::deadline(options.connect_timeout);
        let addresses = socket::addresses(options, deadline)?;
        let (stream, server) = negotiate::open(&addresses, options, deadline)?;
        let mut channel = Channel::new(stream);
        Startup { channel: &mut channel, options, deadline }.begin()?;
        Ok(Connecting { channel, options: options.clone(), server, _starting: Waiting::begin() })
    }

    /// The process on the server, as `pg_backend_pid()` says it.
    pub fn backend_pid(&self) -> i32 {
        self.cancel_token.pid
    }

    /// The newest value of a setting that the server reports by itself, such as `server_version`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The transaction status of the last ReadyForQuery.
    pub fn status(&self) -> TransactionStatus {
        self.status
    }

    /// What cancels the running statement from another thread, or while this one waits.
    pub fn cancel_token(&self) -> CancelToken {
        self.cancel_token.clone()
    }

    /// The next message, if a whole one has arrived; never waits.
    pub fn try_message(&mut self) -> Result<Option<Message>, WireError> {
        match self.channel.try_receive() {
            Ok(Some(message)) => Message::decode(message).map(|message| Some(self.noted(message))),
            Ok(None) => Ok(None),
            Err(error) => Err(self.explained(error)),
        }
    }

    /// The next message, waited for until `deadline`.
    pub fn message(&mut self, deadline: Instant) -> Result<Message, WireError> {
        match self.channel.receive(deadline, "an answer from the server") {
            Ok(message) => Message::decode(message).map(|message| self.noted(message)),
            Err(error) => Err(self.explained(error)),
        }
    }

    /// Says goodbye; what is buffered and not flushed is dropped. The server ends the session when it has read that.
    pub fn close(mut self) {
        self.channel.output().clear();
        frontend::terminate(self.channel.output());
        self.channel.flush();
    }

    /// Who this is, where somebody looks on.
    pub(super) fn line(&self) -> Line<'_> {
        Line { name: &self.cancel_token.options.application_name, pid: self.cancel_token.pid }
    }

    fn noted(&mut self, message: Message) -> Message {
        self.line().receives(&message);
        match &message {
            Message::ReadyForQuery(status) => {
                self.status = *status;
                self.outstanding = self.outstanding.saturating_sub(1);
            }
            Message::ParameterStatus { name, value } => {
                match self.parameters.iter_mut().find(|(known, _)| known == name) {
                    Some((_, known)) => known.clone_from(value),
                    None => self.parameters.push((name.clone(), value.clone())),
                }
            }
            Message::Error(error) if error.is_fatal() => self.last_fatal = Some(error.clone()),
            _ => {}
        }
        message
    }

    fn explained(&self, error: WireError) -> WireError {
        match error {
            WireError::Closed { reason: None } => WireError::Closed { reason: self.last_fatal.clone() },
            other => other,
        }
    }
}

/// Waits until [`Connection::try_message`] of one of the connections has something to do, or the timeout; true if so.
///
/// A connection that has said [`WireError::Closed`] counts as ready for ever: leave it out.
pub fn wait_readable(connections: &[&Connection], timeout: Duration) -> Result<bool, WireError> {
    if connections.iter().any(|connection| connection.channel.has_input()) {
        return Ok(true);
    }
    let mut interests: Vec<_> = connections.iter().map(|connection| connection.channel.interest()).collect();
    wait::until_ready(&mut interests, timeout)
}
