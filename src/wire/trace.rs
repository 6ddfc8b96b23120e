//! Tells on standard error what passes between the lab and the server, for who wants to see it: a line for each message,
//! with the session's name and the process that serves it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};

use super::Message;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Detail {
    Nothing,
    /// The statements, and what came of them.
    Statements,
    /// Every message.
    Messages,
}

static DETAIL: AtomicU8 = AtomicU8::new(Detail::Nothing as u8);

/// From now on so much is told.
pub fn trace(detail: Detail) {
    DETAIL.store(detail as u8, Ordering::Relaxed);
}

/// Who talks to whom.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub name: &'a str,
    pub pid: i32,
}

impl Line<'_> {
    /// Something that the client says; `text` is made only where it is told.
    pub fn sends(self, detail: Detail, text: impl FnOnce() -> String) {
        if is_told(detail) {
            self.tell('>', &text());
        }
    }

    pub fn receives(self, message: &Message) {
        if !is_told(Detail::Statements) {
            return;
        }
        let (detail, text) = said(message);
        if is_told(detail) {
            self.tell('<', &text);
        }
    }

    fn tell(self, direction: char, text: &str) {
        let text = shown(text);
        // Whoever does not read standard error misses nothing else.
        let _ = writeln!(io::stderr().lock(), "{} [{}] {direction} {text}", self.name, self.pid);
    }
}

fn is_told(detail: Detail) -> bool {
    DETAIL.load(Ordering::Relaxed) >= detail as u8
}

/// On one line, without what a terminal would obey, and without what stands behind the word password: it can be written in
/// many ways.
fn shown(text: &str) -> String {
    const WORD: &str = "password";
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
    match line.to_ascii_lowercase().find(WORD) {
        Some(place) => format!("{} …", &line[..place + WORD.len()]),
        None => line,
    }
}

/// A message in words, and where it is told.
fn said(message: &Message) -> (Detail, String) {
    let of_statement = |text: String| (Detail::Statements, text);
    let other = |text: String| (Detail::Messages, text);
    match message {
        Message::CommandComplete(tag) => of_statement(tag.clone()),
        Message::Error(error) => of_statement(format!("{} {}: {}", error.severity, error.sqlstate, error.message)),
        Message::Notification { channel, payload, .. } => of_statement(format!("notification {channel}: {payload}")),
        Message::Notice(notice) => other(format!("{} {}: {}", notice.severity, notice.sqlstate, notice.message)),
        Message::RowDescription(columns) => {
            other(format!("columns {}", columns.iter().map(|column| &*column.name).collect::<Vec<_>>().join(", ")))
        }
        Message::DataRow(row) => {
            let values = row.texts().into_iter().map(|value| value.unwrap_or_else(|| "null".to_owned()));
            other(format!("row ({})", values.collect::<Vec<_>>().join(", ")))
        }
        Message::ReadyForQuery(status) => other(format!("ready: {status:?}")),
        Message::ParameterStatus { name, value } => other(format!("{name} = {value}")),
        Message::CopyData(data) => other(format!("{} bytes of COPY", data.len())),
        message => other(format!("{message:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::TransactionStatus;
    use super::*;

    #[test]
    fn a_password_is_not_told_and_a_terminal_is_not_commanded() {
        assert_eq!(shown("ALTER ROLE\n  ü PASSWORD E'it''s secret'; SELECT 1"), "ALTER ROLE ü PASSWORD …");
        assert_eq!(shown("dblink_connect('password=x')"), "dblink_connect('password …");
        assert_eq!(shown("\x1b[31m"), "\u{fffd}[31m");
    }

    #[test]
    fn what_came_of_a_statement_is_told_before_the_rest() {
        let tag = said(&Message::CommandComplete("UPDATE 1".to_owned()));
        assert_eq!(tag, (Detail::Statements, "UPDATE 1".to_owned()));
        let ready = said(&Message::ReadyForQuery(TransactionStatus::Failed));
        assert_eq!(ready, (Detail::Messages, "ready: Failed".to_owned()));
    }
}
