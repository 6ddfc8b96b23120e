//! Our own connection to the server, made for sessions under test: every message in the order in which it arrived.
//!
//! A thin client on the `postgres-protocol` crate. Sending never waits for an answer: what the socket does not take at
//! once stays buffered and goes out while the caller receives, so that two full sockets cannot lock each other up.
//! Receiving is polled ([`Connection::try_message`] with [`wait_readable`]) or waits ([`Connection::message`]).
//!
//! The protocol: <https://www.postgresql.org/docs/current/protocol.html>.

mod authentication;
mod cancel;
mod channel;
mod connection;
mod error;
mod message;
mod negotiate;
mod options;
mod query;
mod send;
mod server_error;
mod socket;
mod spin;
mod startup;
mod stream;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;
mod trace;
mod wait;

pub use cancel::CancelToken;
pub use connection::{Connecting, Connection, wait_readable};
pub use error::WireError;
pub use message::{Column, Message, Row, TransactionStatus};
pub use options::{ConnectOptions, Host, TlsMode};
pub use query::{Answered, ResultSet};
pub use server_error::ServerError;
pub use spin::AtWork;
pub use trace::{Detail, trace};
