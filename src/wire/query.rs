//! One simple query to its end, for everything around the sessions under test.

use std::time::Instant;

use super::{Column, Connection, Message, ServerError, TransactionStatus, WireError};

/// The results of a query's statements, or the server's error.
pub type Answered = Result<Vec<ResultSet>, Box<ServerError>>;

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
        self.results(deadline)?.map_err(WireError::Server)
    }

    /// Runs several simple queries in one round trip, each in a transaction of its own: what [`Connection::query`] would
    /// have given for each. One that fails does not keep the next from running.
    pub fn query_each<'a>(
        &mut self,
        queries: impl IntoIterator<Item = &'a str>,
        deadline: Instant,
    ) -> Result<Vec<Answered>, WireError> {
        let count = self.send_each(queries)?;
        self.results_of_each(count, deadline)
    }

    /// Sends several simple queries together; gives how many.
    pub fn send_each<'a>(&mut self, queries: impl IntoIterator<Item = &'a str>) -> Result<usize, WireError> {
        let mut count = 0;
        for sql in queries {
            self.buffer_query(sql)?;
            count += 1;
        }
        self.flush();
        Ok(count)
    }

    /// What comes back of so many simple queries that were sent.
    pub fn results_of_each(&mut self, count: usize, deadline: Instant) -> Result<Vec<Answered>, WireError> {
        (0..count).map(|_| self.results(deadline)).collect()
    }

    /// What comes back of a simple query that was sent, up to ReadyForQuery.
    pub fn results(&mut self, deadline: Instant) -> Result<Answered, WireError> {
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
                Message::ReadyForQuery(_) => return Ok(failure.map_or(Ok(results), Err)),
                _ => {}
            }
        }
    }

    /// Comes back to where a statement can be sent, whatever was under way: cancels that, and rolls back.
    pub fn recover(&mut self, deadline: Instant) -> Result<(), WireError> {
        while self.outstanding > 0 {
            self.cancel_token().cancel()?;
            // Of those that were sent together the next one begins when one is canceled.
            let _error = self.results(deadline)?;
        }
        if self.status() != TransactionStatus::Idle {
            self.query("ROLLBACK", deadline)?;
        }
        Ok(())
    }
}
