//! An error or a notice as the server reports it.

use std::fmt;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorFields;

use super::WireError;

/// The fields of an ErrorResponse or a NoticeResponse.
///
/// <https://www.postgresql.org/docs/current/protocol-error-fields.html>
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerError {
    /// `ERROR`, `FATAL`, `PANIC`, `WARNING`, `NOTICE`, `DEBUG`, `INFO` or `LOG`, whatever the server's language.
    pub severity: String,
    pub sqlstate: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// Where in the statement, in characters from 1.
    pub position: Option<usize>,
    /// A statement that the server made itself, such as one in a function's body.
    pub internal_query: Option<String>,
    /// Where in that one, in characters from 1.
    pub internal_position: Option<usize>,
    /// The call stack: which function, trigger or rule was at work.
    pub where_: Option<String>,
    pub schema: Option<String>,
    pub table: Option<String>,
    pub column: Option<String>,
    pub data_type: Option<String>,
    pub constraint: Option<String>,
}

impl ServerError {
    /// True where the server ends the session with this error.
    pub fn is_fatal(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }

    pub(super) fn decode(mut fields: ErrorFields<'_>) -> Result<Box<ServerError>, WireError> {
        let mut error = Box::<ServerError>::default();
        let mut severity_is_exact = false;
        while let Some(field) = fields.next().map_err(WireError::protocol)? {
            let value = String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                b'V' => {
                    error.severity = value;
                    severity_is_exact = true;
                }
                b'S' if !severity_is_exact => error.severity = value,
                b'C' => error.sqlstate = value,
                b'M' => error.message = value,
                b'D' => error.detail = Some(value),
                b'H' => error.hint = Some(value),
                b'P' => error.position = value.parse().ok(),
                b'q' => error.internal_query = Some(value),
                b'p' => error.internal_position = value.parse().ok(),
                b'W' => error.where_ = Some(value),
                b's' => error.schema = Some(value),
                b't' => error.table = Some(value),
                b'c' => error.column = Some(value),
                b'd' => error.data_type = Some(value),
                b'n' => error.constraint = Some(value),
                _ => {}
            }
        }
        Ok(error)
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.severity, self.sqlstate, self.message)
    }
}

impl std::error::Error for ServerError {}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use postgres_protocol::message::backend::Message;

    use super::*;

    fn decode(fields: &[u8]) -> Box<ServerError> {
        let mut bytes = BytesMut::from(&b"E"[..]);
        bytes.extend_from_slice(&(fields.len() as u32 + 4).to_be_bytes());
        bytes.extend_from_slice(fields);
        match Message::parse(&mut bytes) {
            Ok(Some(Message::ErrorResponse(body))) => ServerError::decode(body.fields()).unwrap(),
            _ => panic!("not an ErrorResponse"),
        }
    }

    #[test]
    fn the_severity_is_not_the_translated_one() {
        let fields = b"SFEHLER\0VERROR\0C40001\0Mconcurrent update\0P7\0Wline 3\0\0";
        let error = decode(fields);
        assert_eq!(error.to_string(), "ERROR 40001: concurrent update");
        assert_eq!((error.position, error.where_.as_deref()), (Some(7), Some("line 3")));
        assert!(!error.is_fatal());
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replaced() {
        assert_eq!(decode(b"SFATAL\0C28P01\0MPa\xdfwort\0\0").message, "Pa\u{fffd}wort");
    }
}
