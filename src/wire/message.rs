//! The server's messages, as they are handed on.

use std::fmt;

use bytes::Bytes;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend;

use super::{ServerError, WireError};

/// One message of the server after start-up.
#[derive(Debug, Clone)]
pub enum Message {
    RowDescription(Vec<Column>),
    DataRow(Row),
    /// The command tag, such as `UPDATE 1`.
    CommandComplete(String),
    /// The answer to a statement without a command in it.
    EmptyQuery,
    Error(Box<ServerError>),
    Notice(Box<ServerError>),
    Notification {
        pid: i32,
        channel: String,
        payload: String,
    },
    ParameterStatus {
        name: String,
        value: String,
    },
    ParseComplete,
    BindComplete,
    CloseComplete,
    NoData,
    /// The types (OIDs) of a prepared statement's parameters.
    ParameterDescription(Vec<u32>),
    PortalSuspended,
    CopyIn,
    CopyOut,
    CopyData(Bytes),
    CopyDone,
    ReadyForQuery(TransactionStatus),
}

/// Where a session stands between two statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionStatus {
    /// Outside any transaction block.
    Idle,
    InTransaction,
    /// In a transaction block that only ROLLBACK gets out of.
    Failed,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub type_oid: u32,
}

/// A row in text format: the server's own bytes, not copied.
#[derive(Clone)]
pub struct Row(backend::DataRowBody);

impl Row {
    /// The values as the server wrote them; `None` is NULL.
    pub fn values(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let bytes = self.0.buffer();
        self.0.ranges().iterator().map_while(Result::ok).map(move |range| range.map(|range| &bytes[range]))
    }

    /// The values as text, where a byte that is not UTF-8 becomes U+FFFD (possible only after `SET client_encoding`).
    pub fn texts(&self) -> Vec<Option<String>> {
        self.values().map(|value| value.map(|bytes| String::from_utf8_lossy(bytes).into_owned())).collect()
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Row").field(&self.texts()).finish()
    }
}

impl Message {
    pub(super) fn decode(message: backend::Message) -> Result<Message, WireError> {
        use backend::Message as Raw;
        Ok(match message {
            Raw::RowDescription(body) => Message::RowDescription(columns(&body)?),
            Raw::DataRow(body) => {
                body.ranges().count().map_err(WireError::protocol)?;
                Message::DataRow(Row(body))
            }
            Raw::CommandComplete(body) => Message::CommandComplete(text(body.tag())?),
            Raw::EmptyQueryResponse => Message::EmptyQuery,
            Raw::ErrorResponse(body) => Message::Error(ServerError::decode(body.fields())?),
            Raw::NoticeResponse(body) => Message::Notice(ServerError::decode(body.fields())?),
            Raw::NotificationResponse(body) => Message::Notification {
                pid: body.process_id(),
                channel: text(body.channel())?,
                payload: text(body.message())?,
            },
            Raw::ParameterStatus(body) => {
                Message::ParameterStatus { name: text(body.name())?, value: text(body.value())? }
            }
            Raw::ParseComplete => Message::ParseComplete,
            Raw::BindComplete => Message::BindComplete,
            Raw::CloseComplete => Message::CloseComplete,
            Raw::NoData => Message::NoData,
            Raw::ParameterDescription(body) => {
                Message::ParameterDescription(body.parameters().collect().map_err(WireError::protocol)?)
            }
            Raw::PortalSuspended => Message::PortalSuspended,
            Raw::CopyInResponse(_) => Message::CopyIn,
            Raw::CopyOutResponse(_) => Message::CopyOut,
            Raw::CopyData(body) => Message::CopyData(body.into_bytes()),
            Raw::CopyDone => Message::CopyDone,
            Raw::ReadyForQuery(body) => Message::ReadyForQuery(transaction_status(body.status())?),
            _ => return Err(WireError::protocol("a message that belongs to the start-up came after it")),
        })
    }
}

fn columns(body: &backend::RowDescriptionBody) -> Result<Vec<Column>, WireError> {
    body.fields()
        .map(|field| Ok(Column { name: field.name().to_owned(), type_oid: field.type_oid() }))
        .collect()
        .map_err(WireError::protocol)
}

fn text(value: std::io::Result<&str>) -> Result<String, WireError> {
    value.map(str::to_owned).map_err(WireError::protocol)
}

pub(super) fn transaction_status(byte: u8) -> Result<TransactionStatus, WireError> {
    match byte {
        b'I' => Ok(TransactionStatus::Idle),
        b'T' => Ok(TransactionStatus::InTransaction),
        b'E' => Ok(TransactionStatus::Failed),
        other => Err(WireError::protocol(format!("unknown transaction status {other:#04x}"))),
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;

    fn decode(tag: u8, body: &[u8]) -> Result<Message, WireError> {
        let mut bytes = BytesMut::from(&[tag][..]);
        bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        bytes.extend_from_slice(body);
        Message::decode(backend::Message::parse(&mut bytes).unwrap().unwrap())
    }

    #[test]
    fn a_row_keeps_its_bytes() {
        let body = b"\0\x03\0\0\0\x02\xdfa\xff\xff\xff\xff\0\0\0\0";
        let Ok(Message::DataRow(row)) = decode(b'D', body) else { panic!("not a row") };
        assert_eq!(row.values().collect::<Vec<_>>(), [Some(&b"\xdfa"[..]), None, Some(b"")]);
        assert_eq!(row.texts(), [Some("\u{fffd}a".to_owned()), None, Some(String::new())]);
    }

    #[test]
    fn a_row_that_ends_early_breaks_the_protocol() {
        assert!(matches!(decode(b'D', b"\0\x01\0\0\0\x05abc"), Err(WireError::Protocol { .. })));
        assert!(matches!(decode(b'D', b"\0\x02\0\0\0\x01a"), Err(WireError::Protocol { .. })));
    }

    #[test]
    fn the_transaction_status_is_one_of_three() {
        assert!(matches!(decode(b'Z', b"E"), Ok(Message::ReadyForQuery(TransactionStatus::Failed))));
        assert!(matches!(decode(b'Z', b"?"), Err(WireError::Protocol { .. })));
    }
}
