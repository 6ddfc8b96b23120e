//! What a run came to, without how it came to it: equal outcomes mean the same to everybody who looks at the data or was
//! given an answer.

use std::collections::{BTreeMap, BTreeSet};

use super::contents::{ColumnKind, Contents};
use super::words::has_word;
use crate::history::{Event, Fate, History, Phase, Told, What};

/// OIDs of types whose values differ from run to run: dates and times, transaction ids, places in the WAL and in tables.
const PASSING_TYPES: [u32; 11] = [27, 28, 1082, 1083, 1114, 1184, 1186, 1266, 2970, 3220, 5069];

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// For each table its name and rows.
    pub contents: Vec<String>,
    /// For each session what its committed transactions were answered.
    pub answers: Vec<Vec<String>>,
    /// For each session what its calls were told in the end, with the SQLSTATE of those that failed for good.
    pub told: Vec<Vec<String>>,
    /// The checks that fail at the very end.
    pub failing: Vec<String>,
    /// For each session the first error of its schedule, repaired by a retry or not.
    pub errors: Vec<Option<String>>,
    /// For each session whether it rolled back a call with a business no: then it has done and seen nothing.
    pub gave_in: Vec<bool>,
}

/// How the line of a call that failed for good begins.
const FAILED: &str = "failed";

impl Outcome {
    pub fn of(history: &History, contents: &Contents) -> Outcome {
        let last = history.after_retry.as_ref().unwrap_or(&history.end);
        let table = |row: &Vec<Option<String>>| {
            row.iter().map(|text| text.as_deref().unwrap_or_default()).collect::<Vec<_>>().join("\n")
        };
        let ranks = Ranks::of(history, contents);
        let sessions = 0..history.sessions.len();
        Outcome {
            contents: last.contents.iter().map(table).collect(),
            answers: sessions.clone().map(|session| answers(history, session, contents, &ranks)).collect(),
            told: sessions.clone().map(|session| told(history, session)).collect(),
            failing: last.failing_checks().into_iter().map(str::to_owned).collect(),
            errors: sessions.clone().map(|session| first_error(history, session)).collect(),
            gave_in: sessions.map(|session| gave_in(history, session)).collect(),
        }
    }

    /// The SQLSTATEs of what ended somebody's attempt, each once.
    pub fn distinct_errors(&self) -> Vec<&str> {
        let errors: BTreeSet<&str> = self.errors.iter().flatten().map(String::as_str).collect();
        errors.into_iter().collect()
    }

    /// The sessions with a call that failed for good.
    pub fn failed_sessions(&self) -> Vec<usize> {
        let failed = |told: &Vec<String>| told.iter().any(|told| told.starts_with(FAILED));
        (0..self.told.len()).filter(|&session| failed(&self.told[session])).collect()
    }
}

fn of_session(history: &History, session: usize) -> impl Iterator<Item = &Event> {
    history.events.iter().filter(move |event| event.session == session)
}

fn answers(history: &History, session: usize, contents: &Contents, ranks: &Ranks) -> Vec<String> {
    let (mut answers, mut undecided, mut sql) = (Vec::new(), Vec::new(), "");
    for event in of_session(history, session) {
        match &event.what {
            What::Sent { sql: sent } => sql = sent,
            What::Done { tag, columns, types, rows, in_transaction } => {
                let shown = |(name, type_oid): (&String, &u32)| match PASSING_TYPES.contains(type_oid) {
                    true => (name.clone(), ColumnKind::Time),
                    false => (name.clone(), contents.kind_of(sql, name)),
                };
                let columns: Vec<(String, ColumnKind)> = columns.iter().zip(types).map(shown).collect();
                let mut rows: Vec<String> = rows.iter().map(|row| shown_row(row, &columns, ranks)).collect();
                // Without ORDER BY the order of rows is the server's own business.
                if !has_word(sql, "order") {
                    rows.sort_unstable();
                }
                undecided.push(format!("{}: {tag} {}", event.step, rows.join(" ")));
                if !in_transaction {
                    match tag.starts_with("ROLLBACK") {
                        true => undecided.clear(),
                        false => answers.append(&mut undecided),
                    }
                }
            }
            What::Failed { .. } | What::Disconnected { .. } | What::Retried => undecided.clear(),
            _ => {}
        }
    }
    answers
}

fn shown_row(row: &[Option<String>], columns: &[(String, ColumnKind)], ranks: &Ranks) -> String {
    let value = |(value, (name, kind)): (&Option<String>, &(String, ColumnKind))| match (value, kind) {
        (None, _) => "null".to_owned(),
        (Some(_), ColumnKind::Time | ColumnKind::Generated) => "generated".to_owned(),
        (Some(value), ColumnKind::Compared) => ranks.rank(name, value),
        (Some(value), ColumnKind::Plain) => value.clone(),
    };
    format!("({})", row.iter().zip(columns).map(value).collect::<Vec<_>>().join(","))
}

/// The generated numbers that a run read, by column, in their order.
struct Ranks(BTreeMap<String, BTreeSet<i64>>);

impl Ranks {
    fn of(history: &History, contents: &Contents) -> Ranks {
        let mut ranks: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
        let compared = contents.tables.iter().flat_map(|table| &table.columns);
        for column in compared.filter(|column| column.kind == ColumnKind::Compared) {
            let known = ranks.entry(column.name.clone()).or_default();
            for event in &history.events {
                let What::Done { columns, rows, .. } = &event.what else { continue };
                let Some(position) = columns.iter().position(|name| *name == column.name) else { continue };
                known.extend(rows.iter().filter_map(|row| row.get(position)?.as_ref()?.parse::<i64>().ok()));
            }
        }
        Ranks(ranks)
    }

    fn rank(&self, column: &str, value: &str) -> String {
        let number = value.parse::<i64>().ok();
        let position = self.0.get(column).zip(number).map(|(known, number)| known.range(..number).count());
        position.map_or_else(|| value.to_owned(), |position| format!("#{}", position + 1))
    }
}

fn told(history: &History, session: usize) -> Vec<String> {
    let mut calls: BTreeMap<usize, String> = BTreeMap::new();
    let mut error = "";
    for event in of_session(history, session) {
        match &event.what {
            What::Failed { error: failure } => error = &failure.sqlstate,
            What::Ended { told, message, .. } => {
                let line = match told {
                    Some(Told::Failed | Told::GaveUp | Told::Retried) => format!("{FAILED} {error}"),
                    Some(told) => format!("{} {}", told.name(), message.as_deref().unwrap_or_default()),
                    None => "nothing".to_owned(),
                };
                calls.insert(event.call, line);
            }
            _ => {}
        }
    }
    calls.into_values().collect()
}

fn gave_in(history: &History, session: usize) -> bool {
    of_session(history, session)
        .any(|event| matches!(event.what, What::Ended { fate: Some(Fate::RolledBack), told: Some(Told::Rejected), .. }))
}

fn first_error(history: &History, session: usize) -> Option<String> {
    let mut scheduled = of_session(history, session).filter(|event| event.phase == Phase::Schedule);
    scheduled.find_map(|event| match &event.what {
        What::Failed { error } => Some(error.sqlstate.clone()),
        _ => None,
    })
}
