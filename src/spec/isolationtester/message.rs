//! Errors and notices as libpq words them by default: severity, text, the place in the statement, detail and hint, and for
//! errors the context.

use textwrap::core::display_width;

use crate::wire::ServerError;

/// How much of a long line is shown, in columns.
const SHOWN: usize = 60;
/// How much is shown right of the place, where the line goes on.
const SHOWN_RIGHT: usize = 10;

/// An error in `sql`, with a final line break.
pub(super) fn error_message(error: &ServerError, sql: &str) -> String {
    let mut text = head(error);
    if let Some(position) = error.position {
        text += &excerpt(sql, position);
    } else if let (Some(query), Some(position)) = (&error.internal_query, error.internal_position) {
        text += &excerpt(query, position);
    }
    text += &field("DETAIL", error.detail.as_deref());
    text += &field("HINT", error.hint.as_deref());
    text += &field("QUERY", error.internal_query.as_deref());
    text + &field("CONTEXT", error.where_.as_deref())
}

/// A notice, with a final line break.
pub(super) fn notice_message(notice: &ServerError) -> String {
    head(notice) + &field("DETAIL", notice.detail.as_deref()) + &field("HINT", notice.hint.as_deref())
}

fn head(error: &ServerError) -> String {
    format!("{}:  {}\n", error.severity, error.message)
}

fn field(name: &str, value: Option<&str>) -> String {
    value.map(|value| format!("{name}:  {value}\n")).unwrap_or_default()
}

/// The line of `sql` that a place lies in, cut to fit, and a caret below the place. Nothing if it lies outside.
fn excerpt(sql: &str, position: usize) -> String {
    let text: Vec<char> = sql.replace("\r\n", " \n").chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
    let Some(place) = position.checked_sub(1).filter(|&place| place <= text.len()) else { return String::new() };
    let is_break = |c: &char| matches!(c, '\n' | '\r');
    let number = text[..place].iter().filter(|c| is_break(c)).count() + 1;
    let mut start = text[..place].iter().rposition(is_break).map_or(0, |before| before + 1);
    let mut end = text[place..].iter().position(is_break).map_or(text.len(), |length| place + length);
    let whole = (start, end);
    let width = |from: usize, to: usize| display_width(&text[from..to].iter().collect::<String>());
    if width(start, end) > SHOWN {
        if width(start, place) + SHOWN_RIGHT > SHOWN {
            while width(place, end) > SHOWN_RIGHT {
                end -= 1;
            }
            while width(start, end) > SHOWN {
                start += 1;
            }
        }
        while width(start, end) > SHOWN {
            end -= 1;
        }
    }
    let head = format!("LINE {number}: {}", if start > whole.0 { "..." } else { "" });
    let tail = if end < whole.1 { "..." } else { "" };
    let shown: String = text[start..end].iter().collect();
    let caret = " ".repeat(head.len() + width(start, place));
    format!("{head}{}{tail}\n{caret}^\n", shown.trim_end_matches('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> ServerError {
        ServerError { severity: "ERROR".to_owned(), message: "oops".to_owned(), ..ServerError::default() }
    }

    #[test]
    fn every_part_has_its_line() {
        let full = ServerError {
            position: Some(8),
            detail: Some("d1\nd2".to_owned()),
            hint: Some("h".to_owned()),
            where_: Some("c".to_owned()),
            ..error()
        };
        let expected = "ERROR:  oops\nLINE 1: SELECT x\n               ^\nDETAIL:  d1\nd2\nHINT:  h\nCONTEXT:  c\n";
        assert_eq!(error_message(&full, "SELECT x"), expected);
        assert_eq!(notice_message(&full), "ERROR:  oops\nDETAIL:  d1\nd2\nHINT:  h\n");
    }

    #[test]
    fn the_line_of_the_place_is_shown() {
        let second = ServerError { position: Some(10), ..error() };
        assert_eq!(
            error_message(&second, "\nSELECT\t\u{4e16}x\n;"),
            "ERROR:  oops\nLINE 2: SELECT 世x\n                 ^\n"
        );
        let outside = ServerError { position: Some(99), ..error() };
        assert_eq!(error_message(&outside, "x"), "ERROR:  oops\n");
    }

    #[test]
    fn a_statement_of_the_server_is_shown_in_its_place() {
        let internal =
            ServerError { internal_query: Some("SELECT y".to_owned()), internal_position: Some(8), ..error() };
        let expected = "ERROR:  oops\nLINE 1: SELECT y\n               ^\nQUERY:  SELECT y\n";
        assert_eq!(error_message(&internal, "SELECT f()"), expected);
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let long = format!("{}x{}", "a".repeat(70), "b".repeat(70));
        assert_eq!(excerpt(&long, 5), format!("LINE 1: {}...\n{}^\n", "a".repeat(60), " ".repeat(12)));
        let (left, right) = ("a".repeat(50), "b".repeat(9));
        assert_eq!(excerpt(&long, 71), format!("LINE 1: ...{left}x{right}...\n{}^\n", " ".repeat(61)));
    }
}
