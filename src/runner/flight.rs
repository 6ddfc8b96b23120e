//! A statement on its way to the server, and what came back of it so far.

use crate::wire::{Column, Message, Row, ServerError, TransactionStatus};

/// Collects the answer to one simple query.
#[derive(Debug, Default)]
pub(super) struct Flight {
    columns: Vec<Column>,
    rows: Vec<Row>,
    tag: String,
    error: Option<Box<ServerError>>,
}

/// A whole answer.
#[derive(Debug)]
pub(super) struct Landed {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Option<String>>>,
    pub tag: String,
    pub error: Option<Box<ServerError>>,
    pub status: TransactionStatus,
}

impl Flight {
    /// Takes a message in; the answer is whole with ReadyForQuery.
    pub fn take(&mut self, message: Message) -> Option<Landed> {
        match message {
            Message::RowDescription(columns) => self.columns = columns,
            Message::DataRow(row) => self.rows.push(row),
            Message::CommandComplete(tag) => self.tag = tag,
            Message::Error(error) => self.error = Some(error),
            Message::ReadyForQuery(status) => {
                let flight = std::mem::take(self);
                return Some(Landed {
                    rows: flight.rows.iter().map(Row::texts).collect(),
                    columns: flight.columns,
                    tag: flight.tag,
                    error: flight.error,
                    status,
                });
            }
            _ => {}
        }
        None
    }
}
