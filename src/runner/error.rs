//! Why a run could not be made or finished.

use crate::history::StatementError;
use crate::interrupt::Interrupted;
use crate::scenario::source::{Sources, Span};
use crate::server;
use crate::wire::{ServerError, WireError};

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A statement of `@schema`, `@setup`, `@check`, `@measure` or a parameter's value was refused: the file is wrong.
    #[error("{part}: {error}")]
    Scenario { part: String, error: Box<ServerError>, span: Span },
    /// A check, a measure or an expression did not give what it must.
    #[error("{part}: {message}")]
    Shape { part: String, message: String, span: Span },
    /// A limit was reached before the run was over.
    #[error("the time limit was reached: {waited_for}")]
    TimeLimit { waited_for: String },
    /// Nobody can move, and what they wait for will not come by itself.
    #[error("the run cannot go on: {reason}")]
    Stuck { reason: String },
    /// A session waits where, by what an earlier run did, it would not: what it did next was sent along already.
    #[error("session `{session}` waits where it did not wait before")]
    Unforeseen { session: String },
    /// A session's connection was lost, and no scenario asked for it.
    #[error("session `{session}` lost its connection: {error}")]
    Lost { session: String, error: WireError },
    /// The scenario needs what this server has not; the run is skipped.
    #[error("{reason}")]
    Unmet { reason: String },
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(transparent)]
    Server(#[from] server::ServerError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// The server's error as it goes on record, with its place in the scenario's files.
pub(crate) fn statement_error(error: &ServerError, span: Option<Span>, sources: &Sources) -> StatementError {
    StatementError {
        sqlstate: error.sqlstate.clone(),
        message: error.message.clone(),
        detail: error.detail.clone(),
        hint: error.hint.clone(),
        place: span.map(|span| sources.place(span).to_string()),
        span,
    }
}
