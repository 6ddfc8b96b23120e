//! What happened while a file was played: the one record that every report on it is made from.

use super::stop::Stop;
use crate::wire::ServerError;

/// A file, played to its end or to where it could not go on.
#[derive(Debug)]
pub struct Playback {
    /// In the order in which isolationtester tells them.
    pub events: Vec<Event>,
    pub stop: Option<Stop>,
}

/// Steps and sessions are indices into the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A permutation begins; the steps that it launches.
    Permutation { steps: Vec<usize> },
    /// A notice of any severity on a session's connection.
    Notice { session: usize, notice: Box<ServerError> },
    /// A step was launched, and waits.
    Waiting { step: usize },
    /// A step is complete; its results follow. It has `waited` if a [`Event::Waiting`] came before.
    Completed { step: usize, waited: bool },
    /// Rows of the step before, or of a setup or teardown block.
    Rows(Table),
    /// The step before failed.
    Failed(Box<ServerError>),
    /// The server closed the connection of the step before.
    Lost,
    /// The step before began a COPY, which needs a client with data.
    Copy(Copy),
    /// A notification that the step before found on its connection.
    Notified { session: usize, sender: Sender, channel: String, payload: String },
    /// A step took longer than the limit, and the server was asked to cancel it.
    Canceling { step: usize, seconds: u64 },
    /// A session's teardown, or that of the file, failed.
    TeardownFailed { session: Option<usize>, failure: Failure },
}

/// Rows as the server wrote them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<String>,
    /// A null is empty.
    pub rows: Vec<Vec<Vec<u8>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copy {
    /// COPY FROM STDIN.
    In,
    /// COPY TO STDOUT.
    Out,
}

/// Who sent a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    Session(usize),
    /// A backend that is none of the file's sessions.
    Pid(i32),
}

/// Why a setup or teardown block failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The server refused a statement of this SQL.
    #[error("{error}")]
    Refused { error: Box<ServerError>, sql: String },
    /// The server closed the connection; before, it may have said why.
    #[error("the server closed the connection{}", .reason.as_ref().map(|error| format!(": {error}")).unwrap_or_default())]
    Lost { reason: Option<Box<ServerError>> },
    /// The connection had been closed before.
    #[error("the connection was closed before")]
    NotConnected,
    #[error("{} cannot run here", .0.sql())]
    Copy(Copy),
    #[error("there is no statement in it")]
    Empty,
}
