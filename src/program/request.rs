//! What passes between an interpreter and its driver.

use crate::history::{StatementError, What};
use crate::program::Statement;
use crate::scenario::template::Template;

/// What the interpreter wants. Only [`Request::Note`] needs no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Send the statement, then say [`super::Interpreter::answered`] or [`super::Interpreter::refused`].
    Run(Statement),
    /// Evaluate an SQL expression over the variables, then say [`super::Interpreter::evaluated`] or [`super::Interpreter::failed`].
    Evaluate(Template),
    /// Something to put on record.
    Note(What),
    /// The call failed inside a transaction: send ROLLBACK at once, then say [`super::Interpreter::rolled_back`].
    RollBack,
    /// Do it, then say [`super::Interpreter::done`] or [`super::Interpreter::failed`].
    Sleep { milliseconds: u64 },
    /// Likewise: run it at once, on a connection of its own.
    Effect(Template),
    /// Go on in another connection, then say [`super::Interpreter::connected`].
    Connect { name: String },
    /// Cut the connection; nothing follows but [`Request::Over`].
    Crash,
    /// The call has ended.
    Over(End),
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    Completed,
    /// A business no, with its text.
    Rejected(String),
    Failed(StatementError),
    /// The client died.
    Crashed,
}

/// A statement's answer, as far as the client looks at it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    pub tag: String,
    /// Names and type OIDs.
    pub columns: Vec<(String, u32)>,
    pub rows: Vec<Vec<Option<String>>>,
    /// The server's word: a transaction block is open, failed or not.
    pub in_transaction: bool,
}
