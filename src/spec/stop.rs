//! Why a file could not be played to its end.

use super::event::{Copy, Failure};
use crate::wire::WireError;

/// The first five end isolationtester too; at the others it would hang, or go on for ever.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    #[error("{} failed", part_name("setup", .session.as_deref()))]
    Setup { session: Option<String>, failure: Failure },
    /// Markers hold each other back.
    #[error("failed to complete permutation due to mutually-blocking steps")]
    Mutual,
    /// A step was not over after twice the limit.
    #[error("step {step} timed out after {seconds} seconds")]
    TimedOut { step: String, seconds: u64 },
    /// The next step of a session could not be launched, since one before it was not over after twice the limit.
    #[error("step {step} timed out after {seconds} seconds; active steps are: {}", .active.join(" "))]
    Busy { step: String, seconds: u64, active: Vec<String> },
    #[error("failed to send query for step {step}: no connection to the server")]
    NotConnected { step: String },
    #[error("{what} runs {}, which no part of a spec file can: isolationtester would never end here", .copy.sql())]
    Copy { what: String, copy: Copy },
    /// Something that must be over before anything else can happen waits for a lock that only a later step could let go.
    #[error(
        "{what} waits for a lock that {} holds while nothing else can run: isolationtester would hang here",
        .holders.join(" and ")
    )]
    Stuck { what: String, holders: Vec<String> },
    /// The same, for a wait that is none for a lock of the file's sessions.
    #[error("{what} was not over after {seconds} seconds")]
    TooLong { what: String, seconds: u64 },
    #[error("{connection}: {error}")]
    Wire { connection: String, error: WireError },
}

impl Copy {
    /// As SQL has it.
    pub fn sql(self) -> &'static str {
        match self {
            Copy::In => "COPY FROM STDIN",
            Copy::Out => "COPY TO STDOUT",
        }
    }

    /// The result status that libpq has for it.
    pub(super) fn libpq_name(self) -> &'static str {
        match self {
            Copy::In => "PGRES_COPY_IN",
            Copy::Out => "PGRES_COPY_OUT",
        }
    }
}

/// `setup`, or `setup of session s1`.
pub(super) fn part_name(part: &str, session: Option<&str>) -> String {
    match session {
        None => part.to_owned(),
        Some(session) => format!("{part} of session {session}"),
    }
}
