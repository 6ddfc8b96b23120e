//! From a fresh byte stream to a session that is ready for its first statement.

use std::io;
use std::time::Instant;

use bytes::BytesMut;
use postgres_protocol::message::{backend, frontend};

use super::authentication::authenticate;
use super::channel::Channel;
use super::message::transaction_status;
use super::{ConnectOptions, ServerError, TransactionStatus, WireError};

/// What the server said while it started the session.
pub(super) struct Session {
    pub pid: i32,
    pub secret_key: i32,
    pub parameters: Vec<(String, String)>,
    pub status: TransactionStatus,
}

/// A session that is being started.
pub(super) struct Startup<'a> {
    pub channel: &'a mut Channel,
    pub options: &'a ConnectOptions,
    pub deadline: Instant,
}

impl Startup<'_> {
    /// Sends the start-up message.
    pub(super) fn begin(mut self) -> Result<(), WireError> {
        let options = self.options;
        let settings = options.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let parameters = [
            ("user", options.user.as_str()),
            ("database", options.database.as_str()),
            ("application_name", options.application_name.as_str()),
        ]
        .into_iter()
        .chain(settings)
        .chain([("client_encoding", "UTF8")]);
        self.send(|buffer| frontend::startup_message(parameters, buffer))
    }

    /// Authentication, then everything up to the first ReadyForQuery.
    pub(super) fn finish(mut self) -> Result<Session, WireError> {
        authenticate(&mut self)?;
        self.session()
    }

    fn session(mut self) -> Result<Session, WireError> {
        let mut session = Session { pid: 0, secret_key: 0, parameters: Vec::new(), status: TransactionStatus::Idle };
        loop {
            match self.receive()? {
                backend::Message::BackendKeyData(body) => {
                    session.pid = body.process_id();
                    session.secret_key = body.secret_key();
                }
                backend::Message::ParameterStatus(body) => {
                    let name = body.name().map_err(WireError::protocol)?;
                    let value = body.value().map_err(WireError::protocol)?;
                    session.parameters.push((name.to_owned(), value.to_owned()));
                }
                backend::Message::ReadyForQuery(body) => {
                    session.status = transaction_status(body.status())?;
                    return Ok(session);
                }
                _ => return Err(WireError::protocol("an unexpected message during start-up")),
            }
        }
    }

    pub(super) fn send(&mut self, encode: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> Result<(), WireError> {
        self.channel.put(encode)?;
        self.channel.flush();
        Ok(())
    }

    /// The next message of the start-up, where an error is a refusal and notices have no reader yet.
    pub(super) fn receive(&mut self) -> Result<backend::Message, WireError> {
        let address = self.options.address();
        loop {
            let received = self.channel.receive(self.deadline, &format!("{address} to start a session"));
            match received {
                Ok(backend::Message::ErrorResponse(body)) => {
                    let error = ServerError::decode(body.fields())?;
                    return Err(WireError::Refused { address, error });
                }
                Ok(backend::Message::NoticeResponse(_)) => {}
                Err(WireError::Closed { .. }) => {
                    let reason = "closed before a session began; is this a PostgreSQL server?".to_owned();
                    return Err(WireError::Connect { address, reason });
                }
                other => return other,
            }
        }
    }

    pub(super) fn cannot_log_in(&self, reason: &str) -> WireError {
        WireError::Authentication { address: self.options.address(), reason: reason.to_owned() }
    }
}
