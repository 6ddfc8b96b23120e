//! What can go wrong before a server is there to work on.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::interrupt::Interrupted;

/// Why there is no server, or no sandbox in it. No variant holds a password.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(transparent)]
    Interrupted(#[from] Interrupted),

    /// A file operation: what was tried, on which path.
    #[error("cannot {action} {}: {reason}", .path.display())]
    File { action: &'static str, path: PathBuf, reason: io::Error },

    /// A program that could not be run, or that ended badly.
    #[error("{program} failed: {reason}")]
    Program { program: String, reason: String },

    #[error("{what} took longer than {}", humantime::format_duration(*.limit))]
    TooSlow { what: String, limit: Duration },

    /// The server was started and did not come up; `log` is the tail of what it wrote.
    #[error("the PostgreSQL server in {} did not start: {reason}\n{log}", .folder.display())]
    Start { folder: PathBuf, reason: String, log: String },

    #[error(
        "PostgreSQL refuses to run as root, and this machine has neither a user `postgres` nor a user `nobody` to run it as\n\
         help: create one of them, or run isolab as an ordinary user"
    )]
    NoAccount,

    #[error(
        "cannot tell where to keep files: neither HOME nor ISOLAB_CACHE is set\nhelp: set ISOLAB_CACHE to a folder that you can write to"
    )]
    NoHome,

    #[error("cannot connect to {address} as {user} to database {database} (the address is from {origin}): {reason}")]
    Connect { address: String, user: String, database: String, origin: String, reason: String },

    /// A statement of the lab's own that the server refused.
    #[error("cannot {what}: {reason}")]
    Statement { what: String, reason: String },

    #[error("{} is not a folder of PostgreSQL's programs: {reason}", .folder.display())]
    NotPostgres { folder: PathBuf, reason: String },
}

impl ServerError {
    /// For `map_err` on a file operation.
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> ServerError {
        let path = path.into();
        move |reason| ServerError::File { action, path, reason }
    }
}
