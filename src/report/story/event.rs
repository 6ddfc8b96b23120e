//! What one event says, in lines.

use std::collections::HashMap;

use super::super::Style;
use super::super::layout::{printable, shorten, wrap};
use super::super::statement;
use super::super::style::Ink;
use super::page::Line;
use crate::history::{Event, Fate, StatementError, Told, What};

/// Of a longer result only the first rows are shown.
const MOST_ROWS: usize = 8;

/// What is longer, such as a document that was read, loses its middle.
const MOST_LINES: usize = 5;

/// Says events in words. It remembers what it has just said, so that nothing is said twice.
#[derive(Debug, Clone)]
pub struct Narrator {
    style: Style,
    names: Vec<String>,
    width: usize,
    /// One line a statement, and no BEGIN.
    compact: bool,
    spoken: HashMap<usize, Spoken>,
}

/// What was last said of a session.
#[derive(Debug, Clone, Default)]
struct Spoken {
    statement: String,
    /// The columns of the one row that it read.
    row: Vec<(String, Option<String>)>,
}

impl Narrator {
    pub fn new(style: Style, names: Vec<String>, width: usize) -> Narrator {
        Narrator { style, names, width, compact: false, spoken: HashMap::new() }
    }

    /// For the retries, which tell a story that the reader knows.
    pub fn compact(&self) -> Narrator {
        Narrator { compact: true, spoken: HashMap::new(), ..self.clone() }
    }

    pub fn lines(&mut self, event: &Event) -> Vec<Line> {
        match &event.what {
            What::Sent { sql } => self.sent(event.session, sql),
            What::Blocked { by, on } => self.result(Ink::Wait, &self.waiting(by, on.as_deref())),
            What::Woke => self.result(Ink::Wait, "goes on"),
            What::Done { tag, columns, rows, .. } => self.answer(event.session, tag, columns, rows),
            What::Failed { error } => self.error(error),
            What::Set { name, value } => self.set(event.session, name, value.as_deref()),
            What::Decided { written, condition, holds } => self.decision(written, condition, *holds),
            What::Said { text } => self.prose(Ink::Aside, &format!("-- {text}")),
            What::Effect { sql } => self.prose(Ink::Aside, &format!("outside: {sql}")),
            What::Rejected { text } => self.result(Ink::Value, &format!("rejected: {text}")),
            What::Notice { text } => self.prose(Ink::Aside, &format!("notice: {text}")),
            What::Notified { channel, payload } => {
                self.result(Ink::Value, &format!("notified on {channel}: {payload}"))
            }
            What::Disconnected { reason } => self.result(Ink::Bad, &format!("the connection is gone: {reason}")),
            What::Ended { fate, told, .. } => self.result(Ink::Plain, &ended(*fate, *told)),
            What::Retried => Vec::new(),
        }
    }

    fn sent(&mut self, session: usize, sql: &str) -> Vec<Line> {
        self.spoken.insert(session, Spoken { statement: sql.trim().to_owned(), row: Vec::new() });
        let gap = self.style.pick(" … ", " ... ");
        let lines = match self.compact {
            true if sql.trim().eq_ignore_ascii_case("begin") => Vec::new(),
            true => vec![statement::line(sql, self.width, gap)],
            false => statement::lines(sql, self.width, gap),
        };
        lines.into_iter().map(|text| Line { ink: Ink::Plain, text }).collect()
    }

    fn waiting(&self, by: &[usize], on: Option<&str>) -> String {
        let names: Vec<&str> = by.iter().filter_map(|&session| self.names.get(session)).map(String::as_str).collect();
        let whom = if names.is_empty() { "another transaction".to_owned() } else { names.join(" and ") };
        let lock = on.map(|lock| format!(" ({lock})")).unwrap_or_default();
        format!("waits for {whom}{lock}")
    }

    fn answer(&mut self, session: usize, tag: &str, columns: &[String], rows: &[Vec<Option<String>>]) -> Vec<Line> {
        let spoken = self.spoken.entry(session).or_default();
        if !columns.is_empty() {
            if let [row] = rows {
                spoken.row = columns.iter().cloned().zip(row.iter().cloned()).collect();
            }
            return self.rows(columns, rows);
        }
        if tag == "ROLLBACK" && !spoken.statement.to_ascii_uppercase().starts_with("ROLLBACK") {
            return self.result(Ink::Bad, "the server answers ROLLBACK: the transaction had failed before");
        }
        match tag.rsplit(' ').next().and_then(|count| count.parse::<u64>().ok()) {
            Some(1) => self.result(Ink::Value, "1 row"),
            Some(count) => self.result(Ink::Value, &format!("{count} rows")),
            None => Vec::new(),
        }
    }

    fn rows(&self, columns: &[String], rows: &[Vec<Option<String>>]) -> Vec<Line> {
        if rows.is_empty() {
            return self.result(Ink::Value, "no row");
        }
        let mut lines: Vec<Line> = rows
            .iter()
            .take(MOST_ROWS)
            .flat_map(|row| {
                let values = columns.iter().zip(row).map(|(column, value)| assignment(column, value.as_deref()));
                self.result(Ink::Value, &values.collect::<Vec<_>>().join(", "))
            })
            .collect();
        if rows.len() > MOST_ROWS {
            lines.extend(self.result(Ink::Value, &format!("and {} rows more", rows.len() - MOST_ROWS)));
        }
        lines
    }

    /// A variable, unless `\gset` took it from the row that was just shown.
    fn set(&mut self, session: usize, name: &str, value: Option<&str>) -> Vec<Line> {
        let row = &self.spoken.entry(session).or_default().row;
        if row.iter().any(|(column, shown)| name.ends_with(column.as_str()) && shown.as_deref() == value) {
            return Vec::new();
        }
        self.result(Ink::Value, &assignment(name, value))
    }

    fn decision(&self, written: &str, condition: &str, holds: bool) -> Vec<Line> {
        let question =
            if self.compact { Vec::new() } else { self.prose(Ink::Plain, &format!("if {}", written.trim())) };
        let answer = if holds { "yes" } else { "no" };
        let answer = self.result(Ink::Value, &format!("{}? {answer}", condition.trim()));
        question.into_iter().chain(answer).collect()
    }

    fn error(&self, error: &StatementError) -> Vec<Line> {
        let mut lines = self.result(Ink::Bad, &format!("ERROR {}: {}", error.sqlstate, error.message));
        // A deadlock's detail and hint speak of process numbers and the server's log; who waits for whom was told already.
        if error.sqlstate != "40P01" {
            let further = [("detail", &error.detail), ("hint", &error.hint)];
            for (word, text) in further.into_iter().filter_map(|(word, text)| Some((word, text.as_ref()?))) {
                lines.extend(self.prose(Ink::Aside, &format!("    {word}: {text}")));
            }
        }
        // In class 40 the transaction was in another's way: nothing is wrong with the statement.
        if let Some(place) = error.place.as_ref().filter(|_| !error.sqlstate.starts_with("40")) {
            lines.extend(self.prose(Ink::Aside, &format!("    at {place}")));
        }
        lines
    }

    /// What came of a statement.
    fn result(&self, ink: Ink, text: &str) -> Vec<Line> {
        self.prose(ink, &format!("  {} {text}", self.style.pick("→", "->")))
    }

    fn prose(&self, ink: Ink, text: &str) -> Vec<Line> {
        let indent = text.len() - text.trim_start().len() + 2;
        let text = shorten(&printable(text), self.width * MOST_LINES, self.style.pick(" … ", " ... "));
        wrap(&text, self.width, indent).into_iter().map(|text| Line { ink, text }).collect()
    }
}

fn assignment(name: &str, value: Option<&str>) -> String {
    format!("{name} = {}", value.unwrap_or("null"))
}

fn ended(fate: Option<Fate>, told: Option<Told>) -> String {
    let fate = match fate {
        None => "no transaction",
        Some(Fate::Committed) => "committed",
        Some(Fate::RolledBack) => "rolled back",
        Some(Fate::Unknown) => "nobody knows whether it was committed",
    };
    match told {
        Some(Told::Retried) => format!("{fate}, to be tried again"),
        Some(told) => format!("{fate}, the client is told: {}", told.name()),
        None => format!("{fate}, the client is gone and was told nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::testing::event;

    fn narrator() -> Narrator {
        Narrator::new(Style::PLAIN, vec!["alice".to_owned(), "bob".to_owned()], 66)
    }

    /// What is said of these events of bob's.
    fn said(events: impl IntoIterator<Item = What>) -> Vec<String> {
        let mut narrator = narrator();
        let lines = events.into_iter().flat_map(|what| narrator.lines(&event(1, "check", what)));
        lines.map(|line| line.text).collect()
    }

    fn sent(sql: &str) -> What {
        What::Sent { sql: sql.to_owned() }
    }

    fn done(tag: &str, columns: &[&str], rows: &[&[Option<&str>]]) -> What {
        let row = |row: &&[Option<&str>]| row.iter().map(|value| value.map(str::to_owned)).collect();
        What::Done {
            tag: tag.to_owned(),
            types: Vec::new(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: rows.iter().map(row).collect(),
            in_transaction: true,
        }
    }

    fn set(name: &str, value: Option<&str>) -> What {
        What::Set { name: name.to_owned(), value: value.map(str::to_owned) }
    }

    fn failed(sqlstate: &str) -> What {
        let text = |text: &str| Some(text.to_owned());
        let error = StatementError {
            sqlstate: sqlstate.to_owned(),
            message: "no".to_owned(),
            detail: text("why"),
            hint: text("do"),
            place: text("a.sql:1:2"),
            span: None,
        };
        What::Failed { error }
    }

    #[test]
    fn a_captured_row_is_shown_once() {
        let row = done("SELECT 1", &["budget", "name"], &[&[Some("5000"), None]]);
        let captured = [set("b_budget", Some("5000")), set("b_name", None), set("twice", Some("10000"))];
        let said = said([sent("SELECT 1"), row].into_iter().chain(captured));
        assert_eq!(said, ["SELECT 1", "  → budget = 5000, name = null", "  → twice = 10000"]);
    }

    #[test]
    fn a_long_value_loses_its_middle() {
        let value = format!("begin {} end", "x".repeat(100_000));
        let said = said([done("SELECT 1", &["document"], &[&[Some(&value)]])]);
        assert!(said.len() <= MOST_LINES + 1, "{} lines", said.len());
        assert!(said[0].contains("begin") && said[said.len() - 1].ends_with("end"), "{said:?}");
    }

    #[test]
    fn without_a_row_the_variables_are_null() {
        let said = said([done("SELECT 0", &["budget"], &[]), set("budget", None)]);
        assert_eq!(said, ["  → no row", "  → budget = null"]);
    }

    #[test]
    fn of_many_rows_the_first_are_shown() {
        let rows: Vec<&[Option<&str>]> = vec![&[Some("7")]; 20];
        let said = said([done("SELECT 20", &["id"], &rows)]);
        assert_eq!(said.len(), MOST_ROWS + 1);
        assert_eq!(said[MOST_ROWS], "  → and 12 rows more");
    }

    #[test]
    fn a_silent_rollback_is_told() {
        let expected = ["COMMIT", "  → the server answers ROLLBACK: the transaction had failed before"];
        assert_eq!(said([sent("COMMIT"), done("ROLLBACK", &[], &[])]), expected);
        assert_eq!(said([sent("rollback"), done("ROLLBACK", &[], &[])]), ["rollback"]);
    }

    #[test]
    fn errors_say_what_helps() {
        let all = ["  → ERROR 23505: no", "    detail: why", "    hint: do", "    at a.sql:1:2"];
        assert_eq!(said([failed("23505")]), all);
        assert_eq!(said([failed("40001")]), ["  → ERROR 40001: no", "    detail: why", "    hint: do"]);
        assert_eq!(said([failed("40P01")]), ["  → ERROR 40P01: no"]);
    }

    #[test]
    fn another_holder_has_no_name() {
        let waits = |by: &[usize], on: Option<&str>| What::Blocked { by: by.to_vec(), on: on.map(str::to_owned) };
        assert_eq!(said([waits(&[0, 1], Some("row of teams"))]), ["  → waits for alice and bob (row of teams)"]);
        assert_eq!(said([waits(&[], None)]), ["  → waits for another transaction"]);
    }
}
