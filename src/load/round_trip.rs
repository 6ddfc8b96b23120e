//! What came back for statements that were sent together.

use std::sync::Arc;

use super::session::Prepared;
use crate::program::Answer;
use crate::wire::{Column, Message, Row, ServerError, TransactionStatus};

/// Class 42, syntax error or access rule violation: what Parse says where a parameter cannot stand in for a literal.
const SYNTAX_ERROR_CLASS: &str = "42";

/// How a statement of a round trip was sent.
#[derive(Debug)]
pub enum Slot {
    /// Prepared in an earlier round trip.
    Known(Arc<Prepared>),
    /// Prepared in this one.
    New { sql: String, prepared: Prepared },
    /// As a simple query.
    Literal,
}

impl Slot {
    /// The name of its prepared statement.
    pub fn name(&self) -> &str {
        match self {
            Slot::Known(prepared) => &prepared.name,
            Slot::New { prepared, .. } => &prepared.name,
            Slot::Literal => "",
        }
    }
}

/// The answers to statements that were sent together, up to the first that failed.
#[derive(Debug)]
pub struct RoundTrip {
    pub answers: Vec<Answer>,
    pub failure: Option<Failure>,
    slots: Vec<Slot>,
    columns: Vec<(String, u32)>,
    rows: Vec<Row>,
    /// The statement whose answer comes next has been described, so it was parsed.
    described: bool,
}

/// Why the statement after the last answer failed.
#[derive(Debug)]
pub struct Failure {
    pub error: Box<ServerError>,
    /// The server's word: a (failed) transaction block is open.
    pub in_transaction: bool,
    /// It was not even parsed, and may well work with its values written in.
    pub only_as_literal: bool,
}

impl RoundTrip {
    pub fn new(slots: Vec<Slot>) -> RoundTrip {
        RoundTrip {
            answers: Vec::with_capacity(slots.len()),
            failure: None,
            slots,
            columns: Vec::new(),
            rows: Vec::new(),
            described: false,
        }
    }

    /// The statement that only works with its values written in, where there was one.
    pub fn only_as_literal(&self) -> Option<&str> {
        let refused = self.failure.as_ref().is_some_and(|failure| failure.only_as_literal);
        match self.slots.get(self.answers.len()) {
            Some(Slot::New { sql, .. }) if refused => Some(sql),
            _ => None,
        }
    }

    /// Takes a message in. Gives a statement that is prepared from now on.
    pub fn take(&mut self, message: Message) -> Option<(String, Prepared)> {
        match message {
            Message::RowDescription(columns) => return self.describe(columns),
            Message::NoData => return self.describe(Vec::new()),
            Message::DataRow(row) => self.rows.push(row),
            Message::CommandComplete(tag) => self.complete(tag),
            Message::EmptyQuery => self.complete(String::new()),
            Message::Error(error) => {
                let refused = !self.described && error.sqlstate.starts_with(SYNTAX_ERROR_CLASS);
                let only_as_literal = refused && self.is_new_with_parameters();
                self.failure = Some(Failure { error, in_transaction: false, only_as_literal });
            }
            Message::ReadyForQuery(status) => {
                let in_transaction = status != TransactionStatus::Idle;
                match (&mut self.failure, self.answers.last_mut()) {
                    (Some(failure), _) => failure.in_transaction = in_transaction,
                    (None, Some(answer)) => answer.in_transaction = in_transaction,
                    (None, None) => {}
                }
            }
            _ => {}
        }
        None
    }

    fn describe(&mut self, columns: Vec<Column>) -> Option<(String, Prepared)> {
        self.described = true;
        self.columns = columns.into_iter().map(|column| (column.name, column.type_oid)).collect();
        match self.slots.get(self.answers.len()) {
            Some(Slot::New { sql, prepared }) => {
                Some((sql.clone(), Prepared { columns: self.columns.clone(), ..prepared.clone() }))
            }
            _ => None,
        }
    }

    fn complete(&mut self, tag: String) {
        let columns = match self.slots.get(self.answers.len()) {
            Some(Slot::Known(prepared)) => prepared.columns.clone(),
            _ => std::mem::take(&mut self.columns),
        };
        let rows = std::mem::take(&mut self.rows).iter().map(Row::texts).collect();
        // Between two statements that are sent together a transaction is open; the last one gets the server's word.
        self.answers.push(Answer { tag, columns, rows, in_transaction: true });
        self.described = false;
    }

    fn is_new_with_parameters(&self) -> bool {
        matches!(self.slots.get(self.answers.len()), Some(Slot::New { prepared, .. }) if !prepared.types.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(columns: &[(&str, u32)]) -> Slot {
        let columns = columns.iter().map(|(name, oid)| ((*name).to_owned(), *oid)).collect();
        Slot::Known(Arc::new(Prepared { name: "s0".to_owned(), types: Vec::new(), columns }))
    }

    fn new(sql: &str, types: &[u32]) -> Slot {
        let prepared = Prepared { name: "s1".to_owned(), types: types.to_vec(), columns: Vec::new() };
        Slot::New { sql: sql.to_owned(), prepared }
    }

    fn error(sqlstate: &str) -> Message {
        Message::Error(Box::new(ServerError { sqlstate: sqlstate.to_owned(), ..ServerError::default() }))
    }

    #[test]
    fn answers_are_told_apart() {
        let mut trip = RoundTrip::new(vec![known(&[]), known(&[("budget", 23)]), new("COMMIT", &[])]);
        for message in [
            Message::BindComplete,
            Message::CommandComplete("BEGIN".to_owned()),
            Message::BindComplete,
            Message::CommandComplete("SELECT 0".to_owned()),
            Message::ParseComplete,
        ] {
            assert!(trip.take(message).is_none());
        }
        assert_eq!(trip.take(Message::NoData).map(|(sql, _)| sql).as_deref(), Some("COMMIT"));
        trip.take(Message::CommandComplete("COMMIT".to_owned()));
        trip.take(Message::ReadyForQuery(TransactionStatus::Idle));
        let summary: Vec<_> = trip
            .answers
            .iter()
            .map(|answer| (answer.tag.as_str(), answer.columns.len(), answer.in_transaction))
            .collect();
        assert_eq!(summary, [("BEGIN", 0, true), ("SELECT 0", 1, true), ("COMMIT", 0, false)]);
        assert!(trip.failure.is_none());
    }

    #[test]
    fn an_error_belongs_to_the_statement_after_the_last_answer() {
        let mut trip = RoundTrip::new(vec![known(&[]), known(&[])]);
        trip.take(Message::CommandComplete("INSERT 0 1".to_owned()));
        trip.take(error("40001"));
        trip.take(Message::ReadyForQuery(TransactionStatus::Idle));
        let failure = trip.failure.unwrap();
        assert_eq!((trip.answers.len(), failure.in_transaction, failure.only_as_literal), (1, false, false));
    }

    #[test]
    fn only_a_statement_that_parse_refused_goes_as_a_literal() {
        let refused = |slot, before: Option<Message>, sqlstate| {
            let mut trip = RoundTrip::new(vec![slot]);
            before.and_then(|message| trip.take(message));
            trip.take(error(sqlstate));
            trip.only_as_literal().map(str::to_owned)
        };
        assert_eq!(refused(new("SET x = $1", &[23]), None, "42601").as_deref(), Some("SET x = $1"));
        assert_eq!(refused(new("SELECT $1", &[23]), Some(Message::NoData), "42501"), None);
        assert_eq!(refused(new("SELECT 1", &[]), None, "42601"), None);
        assert_eq!(refused(new("SELECT $1", &[23]), None, "40001"), None);
        assert_eq!(refused(Slot::Literal, None, "42601"), None);
    }
}
