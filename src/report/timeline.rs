//! A schedule as a timeline: time goes down, each session has a column.

use super::Style;
use super::layout::{columns, printable, shorten, wrap};
use super::style::Ink;
use crate::history::{Event, Fate, History, Phase, Told, What};

/// Between two columns.
const GAP: &str = "  ";
/// A narrower column would show nothing but broken words.
const NARROWEST: usize = 16;
/// Rows of an answer that are shown.
const MOST_ROWS: usize = 3;

/// The schedule of a run, line by line: what was sent, what came back, who waited.
pub fn lines(style: Style, history: &History) -> Vec<String> {
    let scheduled = || history.events.iter().filter(|event| event.phase == Phase::Schedule);
    // Sessions that never moved, and those of `@finally`, have no column.
    let mut sessions: Vec<usize> = scheduled().map(|event| event.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let width = (style.width / sessions.len().max(1)).saturating_sub(GAP.len()).max(NARROWEST);
    let name = |&session: &usize| (Ink::Session(session), history.session_name(session).to_owned());
    let header: Vec<(Ink, String)> = sessions.iter().map(name).collect();
    let rule = style.pick("─", "-").repeat(width);
    let mut lines = vec![row(style, width, &header), vec![rule; sessions.len()].join(GAP)];
    for event in scheduled() {
        let Some((ink, text)) = text_of(style, history, event) else { continue };
        for line in wrap(&printable(&text), width, 2) {
            let line = shorten(&line, width, style.pick("…", ".."));
            let cell = |session: &usize| match *session == event.session {
                true => (ink, line.clone()),
                false => (Ink::Plain, String::new()),
            };
            lines.push(row(style, width, &sessions.iter().map(cell).collect::<Vec<_>>()));
        }
    }
    lines
}

fn row(style: Style, width: usize, cells: &[(Ink, String)]) -> String {
    let cell = |(ink, text): &(Ink, String)| {
        let padding = " ".repeat(width.saturating_sub(columns(text)));
        style.paint(*ink, text) + &padding
    };
    cells.iter().map(cell).collect::<Vec<_>>().join(GAP).trim_end().to_owned()
}

fn text_of(style: Style, history: &History, event: &Event) -> Option<(Ink, String)> {
    let arrow = style.pick("→", "->");
    match &event.what {
        What::Sent { sql } if sql.eq_ignore_ascii_case("begin") => None,
        What::Sent { sql } => Some((Ink::Plain, sql.split_whitespace().collect::<Vec<_>>().join(" "))),
        What::Blocked { by, .. } => {
            let names: Vec<&str> = by.iter().map(|&session| history.session_name(session)).collect();
            let whom = if names.is_empty() { "another transaction".to_owned() } else { names.join(" and ") };
            Some((Ink::Wait, format!("{} waits for {whom}", style.pick("…", "..."))))
        }
        What::Woke => Some((Ink::Wait, format!("{} goes on", style.pick("…", "...")))),
        What::Done { columns, rows, .. } if !columns.is_empty() => {
            let shown = rows.iter().take(MOST_ROWS).map(|row| shown_row(columns, row)).collect::<Vec<_>>().join("; ");
            let more = if rows.len() > MOST_ROWS { format!("; {} in all", rows.len()) } else { String::new() };
            let text = if rows.is_empty() { "no row".to_owned() } else { shown + &more };
            Some((Ink::Value, format!("{arrow} {text}")))
        }
        What::Done { tag, .. } => {
            let affected = tag.rsplit(' ').next().and_then(|count| count.parse::<u64>().ok());
            affected.map(|rows| (Ink::Plain, format!("{arrow} {rows} row{}", if rows == 1 { "" } else { "s" })))
        }
        What::Failed { error } => Some((Ink::Bad, format!("{arrow} ERROR {}: {}", error.sqlstate, error.message))),
        What::Rejected { text } => Some((Ink::Plain, format!("{arrow} rejected: {text}"))),
        What::Disconnected { reason } => Some((Ink::Bad, format!("{arrow} connection lost: {reason}"))),
        What::Ended { fate, told, .. } => Some((Ink::Aside, ending(*fate, *told))),
        _ => None,
    }
}

fn shown_row(columns: &[String], row: &[Option<String>]) -> String {
    let value =
        |(column, value): (&String, &Option<String>)| format!("{column} = {}", value.as_deref().unwrap_or("null"));
    columns.iter().zip(row).map(value).collect::<Vec<_>>().join(", ")
}

fn ending(fate: Option<Fate>, told: Option<Told>) -> String {
    let fate = fate.map_or("no transaction", Fate::name);
    told.map_or_else(|| format!("({fate})"), |told| format!("({fate}, told {})", told.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::testing::{error, event, history};

    #[test]
    fn each_session_has_a_column() {
        let sent = |sql: &str| What::Sent { sql: sql.to_owned() };
        let rows = vec![vec![Some("5000".to_owned())]];
        let columns = vec!["budget".to_owned()];
        let answer = What::Done { tag: "SELECT 1".to_owned(), columns, types: vec![23], rows, in_transaction: true };
        let events = vec![
            event(0, "check", sent("BEGIN")),
            event(0, "check", sent("SELECT budget\n  FROM teams")),
            event(0, "check", answer),
            event(1, "lock", sent("LOCK teams")),
            event(1, "lock", What::Blocked { by: vec![0], on: None }),
            event(1, "lock", What::Woke),
            event(1, "lock", error("40001")),
        ];
        let style = Style { width: 60, ..Style::PLAIN };
        let expected = [
            "alice                         bob",
            "────────────────────────────  ────────────────────────────",
            "SELECT budget FROM teams",
            "→ budget = 5000",
            "                              LOCK teams",
            "                              … waits for alice",
            "                              … goes on",
            "                              → ERROR 40001:",
        ];
        assert_eq!(lines(style, &history(events, true)), expected);
    }
}
