//! What can go wrong on the wire.

use std::io;

use super::ServerError;
use crate::interrupt::Interrupted;

/// A failure of a connection. After `Server` the connection is usable; after anything else it is best dropped.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Nobody answered at the address.
    #[error("cannot connect to {address}: {reason}")]
    Connect { address: String, reason: String },
    /// The server answered, and said no: too many clients, no such database, wrong password.
    #[error("{address} refused the connection: {error}")]
    Refused { address: String, error: Box<ServerError> },
    /// The client cannot do what the server asks for.
    #[error("cannot log in to {address}: {reason}")]
    Authentication { address: String, reason: String },
    /// No TLS, or none that can be trusted.
    #[error("no TLS with {address}: {reason}")]
    Tls { address: String, reason: String },
    /// A statement failed.
    #[error("{0}")]
    Server(Box<ServerError>),
    /// The connection is gone; `reason` is the server's last FATAL, if it still sent one.
    #[error("the connection was lost{}", reason.as_ref().map(|error| format!(": {error}")).unwrap_or_default())]
    Closed { reason: Option<Box<ServerError>> },
    /// A limit was reached.
    #[error("timed out waiting for {waited_for}")]
    TimedOut { waited_for: String },
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// The message cannot be put on the wire, such as a statement with a NUL byte.
    #[error("cannot send this to the server: {reason}")]
    Unsendable { reason: String },
    /// The server does not speak as PostgreSQL does.
    #[error("the server broke the protocol: {reason}")]
    Protocol { reason: String },
    /// The operating system refused a wait.
    #[error("cannot wait for the server: {0}")]
    Wait(#[source] io::Error),
}

impl WireError {
    /// What the server said, where it said something.
    pub fn server_error(&self) -> Option<&ServerError> {
        match self {
            WireError::Server(error) | WireError::Refused { error, .. } => Some(error),
            WireError::Closed { reason } => reason.as_deref(),
            _ => None,
        }
    }

    /// What the server said, or connection_failure where it said nothing.
    pub fn sqlstate(&self) -> &str {
        const CONNECTION_FAILURE: &str = "08006";
        self.server_error().map_or(CONNECTION_FAILURE, |error| &error.sqlstate)
    }

    pub(super) fn protocol(reason: impl ToString) -> WireError {
        WireError::Protocol { reason: reason.to_string() }
    }
}
