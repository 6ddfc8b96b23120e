//! From a fresh byte stream to a session that is ready for its first statement.

use std::time::Instant;

use postgres_protocol::message::{backend, frontend};

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

/// Starts a session: the start-up message, authentication, then everything up to the first ReadyForQuery.
pub(super) fn start(channel: &mut Channel, options: &ConnectOptions, deadline: Instant) -> Result<Session, WireError> {
    let settings = options.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let parameters = [("user", options.user.as_str()), ("database", options.database.as_str())]
        .into_iter()
        .chain([("application_name", options.application_name.as_str())])
        .chain(settings)
        .chain([("client_encoding", "UTF8")]);
    channel.put(|buffer| frontend::startup_message(parameters, buffer))?;
    channel.flush();
    authenticate(channel, options, deadline)?;

    let mut session = Session { pid: 0, secret_key: 0, parameters: Vec::new(), status: TransactionStatus::Idle };
    loop {
        match receive(channel, options, deadline)? {
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

fn authenticate(channel: &mut Channel, options: &ConnectOptions, deadline: Instant) -> Result<(), WireError> {
    match receive(channel, options, deadline)? {
        backend::Message::AuthenticationOk => Ok(()),
        _ => Err(WireError::Authentication {
            address: options.address(),
            reason: "the server asks for a way to log in that is not supported".to_owned(),
        }),
    }
}

/// The next message of the start-up, where an error is a refusal and notices have no reader yet.
fn receive(channel: &mut Channel, options: &ConnectOptions, deadline: Instant) -> Result<backend::Message, WireError> {
    let address = options.address();
    loop {
        let message =
            channel.receive(deadline, &format!("{address} to start a session")).map_err(|error| match error {
                WireError::Closed { .. } => WireError::Connect {
                    address: address.clone(),
                    reason: "the connection was closed before a session began; is this a PostgreSQL server?".to_owned(),
                },
                other => other,
            })?;
        match message {
            backend::Message::ErrorResponse(body) => {
                let error = ServerError::decode(body.fields())?;
                return Err(WireError::Refused { address, error });
            }
            backend::Message::NoticeResponse(_) => {}
            message => return Ok(message),
        }
    }
}
