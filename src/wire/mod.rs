//! Our own connection to the server for sessions under test: every message in the order in which it arrived.

mod options;

pub use options::{ConnectOptions, Host, TlsMode};
