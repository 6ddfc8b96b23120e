//! One connection of the tester, read as libpq's users read theirs: a result counts when its statement is complete, and
//! notices are taken in when the connection is looked at.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::event::{Copy, Event, Sender, Table};
use crate::wire::{Connecting, Connection, Message, ServerError, WireError, wait_readable};

/// A question of ours, asked while nothing else runs on the connection.
const QUESTION_LIMIT: Duration = Duration::from_secs(10);

/// What one statement gave.
#[derive(Debug)]
pub(super) enum Outcome {
    Rows(Table),
    /// A command without rows.
    Done,
    /// A query string without a statement.
    Empty,
    Failed(Box<ServerError>),
    Copy(Copy),
    Lost,
}

pub(super) struct Backend {
    /// Index of the session; none for the control connection, whose notices nobody reads.
    session: Option<usize>,
    pid: i32,
    connection: Connection,
    /// What has arrived and not been taken in.
    inbox: VecDeque<Message>,
    running: bool,
    /// The answer to the query has arrived, up to its end.
    answered: bool,
    closed: bool,
    /// The user has been told that the connection is closed.
    told_closed: bool,
    /// The result that is being read.
    table: Option<Table>,
    complete: Option<Outcome>,
    notifications: VecDeque<(i32, String, String)>,
    notices: u32,
}

impl Backend {
    pub fn connect(connecting: Connecting, session: Option<usize>) -> Result<Backend, WireError> {
        let mut connection = connecting.finish()?;
        // A pooler answers the start-up itself, with a process number of its own.
        let answer = connection.query("SELECT pg_catalog.pg_backend_pid()", Instant::now() + QUESTION_LIMIT)?;
        let value = answer.first().and_then(|result| result.rows.first()?.first()?.as_deref());
        let pid = value.and_then(|pid| pid.parse().ok()).unwrap_or_else(|| connection.backend_pid());
        Ok(Backend {
            session,
            pid,
            connection,
            inbox: VecDeque::new(),
            running: false,
            answered: false,
            closed: false,
            told_closed: false,
            table: None,
            complete: None,
            notifications: VecDeque::new(),
            notices: 0,
        })
    }

    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// How many notices were taken in.
    pub fn notices(&self) -> u32 {
        self.notices
    }

    /// False if the connection is known to be gone; then nothing was sent.
    pub fn send(&mut self, sql: &str) -> Result<bool, WireError> {
        if self.told_closed {
            return Ok(false);
        }
        self.connection.send_query(sql)?;
        self.running = true;
        self.answered = false;
        Ok(true)
    }

    /// Fetches what has arrived, without taking it in; true if there was anything.
    pub fn fetch(&mut self) -> Result<bool, WireError> {
        let before = self.inbox.len();
        while !self.closed {
            match self.connection.try_message() {
                Ok(Some(message)) => {
                    let is_end = matches!(message, Message::ReadyForQuery(_));
                    self.inbox.push_back(message);
                    if is_end {
                        self.answered = true;
                        break;
                    }
                }
                Ok(None) => break,
                Err(WireError::Closed { .. }) => {
                    self.closed = true;
                    return Ok(true);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(self.inbox.len() > before)
    }

    /// The same, after waiting for something to arrive, at most `limit`.
    pub fn wait(&mut self, limit: Duration) -> Result<bool, WireError> {
        Ok(wait_readable(&[&self.connection], limit)? && self.fetch()?)
    }

    /// Nothing of a query is left on the server, as far as has been fetched. Its locks may be there, and stay.
    pub fn is_idle(&self) -> bool {
        !self.closed && (!self.running || self.answered)
    }

    /// Takes in what was fetched, up to the next complete result; true if none is complete and the query goes on.
    ///
    /// Like libpq this also takes in the notices that stand directly behind a completion.
    pub fn is_busy(&mut self, events: &mut Vec<Event>) -> bool {
        while let Some(message) = self.inbox.front() {
            let is_aside = matches!(message, Message::Notice(_) | Message::Notification { .. });
            if !is_aside && (self.complete.is_some() || !self.running) {
                break;
            }
            if let Some(message) = self.inbox.pop_front() {
                self.take_in(message, events);
            }
        }
        if self.inbox.is_empty() && self.closed && self.running && self.complete.is_none() {
            self.told_closed = true;
            self.running = false;
            self.complete = Some(Outcome::Lost);
        }
        self.running && self.complete.is_none()
    }

    /// The next result, or none at the end of the query. To be called while not busy.
    pub fn take_outcome(&mut self) -> Option<Outcome> {
        self.complete.take()
    }

    /// The oldest notification that was taken in: channel, payload and the sender's process.
    pub fn take_notification(&mut self) -> Option<(i32, String, String)> {
        self.notifications.pop_front()
    }

    /// Asks the server to cancel what runs here.
    pub fn cancel(&self) -> Result<(), WireError> {
        self.connection.cancel_token().cancel()
    }

    fn take_in(&mut self, message: Message, events: &mut Vec<Event>) {
        match message {
            Message::Notice(notice) => {
                self.notices += 1;
                events.extend(self.session.map(|session| Event::Notice { session, notice }));
            }
            Message::Notification { pid, channel, payload } => self.notifications.push_back((pid, channel, payload)),
            Message::RowDescription(columns) => {
                let columns = columns.into_iter().map(|column| column.name).collect();
                self.table = Some(Table { columns, rows: Vec::new() });
            }
            Message::DataRow(row) => {
                if let Some(table) = &mut self.table {
                    table.rows.push(row.values().map(|value| value.unwrap_or_default().to_vec()).collect());
                }
            }
            Message::CommandComplete(_) => {
                self.complete = Some(self.table.take().map_or(Outcome::Done, Outcome::Rows));
            }
            Message::EmptyQuery => self.complete = Some(Outcome::Empty),
            Message::Error(error) => {
                self.table = None;
                self.complete = Some(Outcome::Failed(error));
            }
            Message::CopyIn => self.complete = Some(Outcome::Copy(Copy::In)),
            Message::CopyOut => self.complete = Some(Outcome::Copy(Copy::Out)),
            Message::ReadyForQuery(_) => self.running = false,
            _ => {}
        }
    }
}

/// The sender of a notification, among the sessions where it is one of them.
pub(super) fn sender(pid: i32, sessions: &[Backend]) -> Sender {
    sessions.iter().position(|backend| backend.pid == pid).map_or(Sender::Pid(pid), Sender::Session)
}
