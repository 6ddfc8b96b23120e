//! A value that a transaction read: text as the server sent it, with its type.

use postgres::types::Type;

/// OID of `text`; a value of this type is written as a bare quoted literal, so that the server decides its type in context.
pub const TEXT: u32 = 25;
const BOOL: u32 = 16;
const INT4: u32 = 23;

/// What a variable holds: the server's text for a value (none for SQL null) and the OID of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    pub type_oid: u32,
    pub text: Option<String>,
}

impl Value {
    pub fn null() -> Value {
        Value { type_oid: TEXT, text: None }
    }

    pub fn text(text: impl Into<String>) -> Value {
        Value { type_oid: TEXT, text: Some(text.into()) }
    }

    pub fn integer(value: i32) -> Value {
        Value { type_oid: INT4, text: Some(value.to_string()) }
    }

    /// Whether the value is true, as `\if` sees it: SQL null is false.
    pub fn is_true(&self) -> bool {
        self.text.as_deref() == Some("t")
    }

    /// The value as an SQL literal of its type. Types outside PostgreSQL's own catalogue are left for the server to
    /// decide in context, since their OIDs have no fixed names.
    pub fn literal(&self) -> String {
        let Some(text) = &self.text else {
            return match type_name(self.type_oid) {
                Some(name) => format!("NULL::{name}"),
                None => "NULL".to_owned(),
            };
        };
        match self.type_oid {
            // A sign of its own could meet the operator before it and become a comment (`1 --1`).
            INT4 if !text.starts_with('-') => text.clone(),
            BOOL => if text == "t" { "true" } else { "false" }.to_owned(),
            oid => match type_name(oid) {
                Some(name) => format!("{}::{name}", quoted(text)),
                None => quoted(text),
            },
        }
    }

    /// The type to declare for it as a parameter of a prepared statement, so that it means what [`Value::literal`]
    /// does: 0 where the server decides in context.
    pub fn parameter_type(&self) -> u32 {
        type_name(self.type_oid).map_or(0, |_| self.type_oid)
    }
}

/// A quoted literal. Needs `standard_conforming_strings`, which the lab sets on every connection.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A quoted identifier.
pub fn quoted_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The name to cast to, for every type but text (and unknown, which behaves as text does).
fn type_name(oid: u32) -> Option<String> {
    let known = Type::from_oid(oid)?;
    match known {
        Type::TEXT | Type::UNKNOWN | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::VOID | Type::RECORD => None,
        // `char` alone would be character(1); the one-byte type needs its quotes.
        Type::CHAR => Some("\"char\"".to_owned()),
        ref array if array.name().starts_with('_') => Some(format!("{}[]", &array.name()[1..])),
        _ => Some(known.name().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(type_oid: u32, text: &str) -> Value {
        Value { type_oid, text: Some(text.to_owned()) }
    }

    #[test]
    fn literals_keep_their_type() {
        assert_eq!(value(23, "5000").literal(), "5000");
        assert_eq!(value(23, "-5").literal(), "'-5'::int4");
        assert_eq!(value(20, "3000").literal(), "'3000'::int8");
        assert_eq!(value(1700, "1.50").literal(), "'1.50'::numeric");
        assert_eq!(value(16, "f").literal(), "false");
        assert_eq!(value(1007, "{1,2}").literal(), "'{1,2}'::int4[]");
        assert_eq!(value(25, "o'hara").literal(), "'o''hara'");
        assert_eq!(value(99_999, "x").literal(), "'x'");
    }

    #[test]
    fn null_keeps_its_type() {
        assert_eq!(Value { type_oid: 20, text: None }.literal(), "NULL::int8");
        assert_eq!(Value::null().literal(), "NULL");
    }

    #[test]
    fn parameters_are_typed_as_literals_are() {
        assert_eq!(value(20, "3000").parameter_type(), 20);
        assert_eq!(value(25, "x").parameter_type(), 0);
        assert_eq!(value(1043, "x").parameter_type(), 0);
        assert_eq!(value(99_999, "x").parameter_type(), 0);
    }

    #[test]
    fn null_is_false() {
        assert!(!Value::null().is_true());
        assert!(value(16, "t").is_true());
    }
}
