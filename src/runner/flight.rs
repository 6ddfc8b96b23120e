//! A statement on its way to the server, and what came back of it so far.

use crate::wire::{Column, Message, ServerError, TransactionStatus};

/// Collects the answer to one simple query. The results of several statements stand side by side, as columns.
#[derive(Debug, Default)]
pub(super) struct Flight {
    columns: Vec<Column>,
    /// Columns of earlier statements.
    earlier: usize,
    rows: Vec<Vec<Option<String>>>,
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
            Message::RowDescription(columns) => {
                self.earlier = self.columns.len();
                self.columns.extend(columns);
            }
            Message::DataRow(row) => {
                let mut texts = vec![None; self.earlier];
                texts.extend(row.texts());
                self.rows.push(texts);
            }
            Message::CommandComplete(tag) => self.tag = tag,
            Message::Error(error) => self.error = Some(error),
            Message::ReadyForQuery(status) => {
                let flight = std::mem::take(self);
                let mut rows = flight.rows;
                rows.iter_mut().for_each(|row| row.resize(flight.columns.len(), None));
                return Some(Landed { rows, columns: flight.columns, tag: flight.tag, error: flight.error, status });
            }
            _ => {}
        }
        None
    }
}
