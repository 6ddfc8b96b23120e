//! One simple query to its end, for everything around the sessions under test.

use std::time::Instant;

use super::{Column, Connection, Message, WireError};

/// What one statement returned, in text format.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultSet {
    /// Empty where the statement returns no rows.
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Option<String>>>,
    /// The command tag, such as `SELECT 1`.
    pub tag: String,
}

impl Connection {
    /// Runs a simple query, one statement or several, on a connection with no answer outstanding.
    ///
    /// An error of the server is returned after everything up to ReadyForQuery was read, so the connection stays
    /// usable. Notices and notifications are dropped, and so are the rows of a COPY TO STDOUT; a COPY FROM STDIN fails.
    /// After [`WireError::TimedOut`] the answer is still outstanding.
    pub fn query(&mut self, sql: &str, deadline: Instant) -> Result<Vec<ResultSet>, WireError> {
        self.send_query(sql)?;
        let mut results = Vec::new();
        let mut columns = Vec::new();
        let mut rows = Vec::new();
        let mut failure = None;
        loop {
            match self.message(deadline)? {
                Message::RowDescription(described) => columns = described,
                Message::DataRow(row) => rows.push(row.texts()),
                Message::CommandComplete(tag) => {
                    results.push(ResultSet {
                        columns: std::mem::take(&mut columns),
                        rows: std::mem::take(&mut rows),
                        tag,
                    });
                }
                Message::CopyIn => {
                    self.buffer_copy_fail("COPY FROM STDIN has no data here")?;
                    self.flush();
                }
                Message::Error(error) => failure = Some(error),
                Message::ReadyForQuery(_) => return failure.map_or(Ok(results), |error| Err(WireError::Server(error))),
                _ => {}
            }
        }
    }
}
