//! Why a file could not be played to its end.

use super::event::{Copy, Failure};
use crate::scenario::source::Span;
use crate::scenario::{Diagnostic, Severity};
use crate::wire::WireError;

/// The first five end isolationtester too; at the others it would hang, or go on for ever.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    #[error("{} failed: {failure}", part_name("setup", .session.as_deref()))]
    Setup {
        session: Option<String>,
        failure: Failure,
        /// Of the block.
        span: Span,
    },
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
    #[error("the time limit was reached while {what} was on its way")]
    Deadline { what: String },
    #[error("{connection}: {error}")]
    Wire { connection: String, error: WireError },
}

impl Stop {
    /// For a statement that the server refused in a setup: its place in the file.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let Stop::Setup { session, failure: Failure::Refused { error, sql }, span } = self else { return None };
        let place = error.position.and_then(|position| {
            let (offset, character) = sql.char_indices().nth(position.checked_sub(1)?)?;
            let start = span.start + u32::try_from(offset).ok()?;
            // Where the SQL that was sent is not as long as the block, a name in it was replaced.
            let is_verbatim = span.range().len() == sql.len();
            is_verbatim.then_some(Span { start, end: start + character.len_utf8() as u32, ..*span })
        });
        Some(Diagnostic {
            severity: Severity::Error,
            message: format!("{} failed with {}", part_name("setup", session.as_deref()), error.sqlstate),
            span: place.unwrap_or(*span),
            label: Some(error.message.clone()),
            notes: Vec::new(),
            help: error.hint.clone(),
        })
    }
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
