//! `isolab_told` and `isolab_read`: what the run itself was, as tables that checks and measures can ask.

use postgres::types::Type;
use serde_json::{Map, Value as Json};

use crate::history::{Event, Fate, SessionInfo, Told, What};
use crate::scenario::Plan;
use crate::scenario::value::quoted;

/// Creates the two tables and the helpers `seen`, `committed` and `raised` in the schema at the head of the search path.
pub(crate) const SCHEMA: &str = "
CREATE TABLE isolab_told (session text, transaction text, attempt int, told text, sqlstate text, step text, message text,
                          fate text, seq int);
CREATE TABLE isolab_read (session text, transaction text, attempt int, step text, row_no int, committed bool, row jsonb,
                          seq int);
CREATE FUNCTION seen(_session text, _step text, _column text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT row ->> _column FROM isolab_read
   WHERE session = _session AND step = _step AND committed AND row ? _column ORDER BY seq DESC LIMIT 1 $$;
CREATE FUNCTION committed(_session text) RETURNS bool LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT fate = 'committed' FROM isolab_told
                    WHERE session = _session ORDER BY seq DESC LIMIT 1), false) $$;
CREATE FUNCTION raised(_sqlstate text) RETURNS bool LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM isolab_told WHERE sqlstate = _sqlstate) $$;
";

/// Names by which a check asks what the clients were told, and what they read.
pub(crate) const ASKS_TOLD: [&str; 2] = ["isolab_told", "raised("];
pub(crate) const ASKS_READ: [&str; 3] = ["isolab_read", "seen(", "committed("];

/// Whether a check or measure, or a function that the schema defines for them, asks about the run itself.
pub(crate) fn is_asked(plan: &Plan) -> bool {
    let checks = plan.checks.iter().map(|check| &check.script);
    let scripts = checks.chain(plan.measures.iter().map(|measure| &measure.script)).chain(&plan.schema);
    scripts.map(|script| &script.program).any(|program| program.mentions(&ASKS_TOLD) || program.mentions(&ASKS_READ))
}

/// The names of the tables, which a reset leaves to [`statements`].
pub(crate) const TABLES: [&str; 2] = ["isolab_told", "isolab_read"];

/// One attempt of a call, as the client lived it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToldRow {
    pub session: String,
    pub transaction: String,
    pub attempt: u32,
    /// None: the client died before it was told anything.
    pub told: Option<Told>,
    pub fate: Option<Fate>,
    pub sqlstate: Option<String>,
    pub step: Option<String>,
    pub message: Option<String>,
}

/// A row that a statement returned.
#[derive(Debug, Clone, PartialEq)]
struct ReadRow<'a> {
    event: &'a Event,
    row_no: usize,
    committed: bool,
    row: Json,
}

/// SQL that makes the two tables say what these events are.
pub(crate) fn statements(sessions: &[SessionInfo], events: &[Event]) -> String {
    let told = told_rows(sessions, events);
    let mut sql = told_statements(&told);
    let read: Vec<String> = (0..sessions.len())
        .flat_map(|session| read_rows(events.iter().filter(|event| event.session == session)))
        .enumerate()
        .map(|(seq, read)| {
            let Event { transaction, attempt, step, session, .. } = read.event;
            let texts = [&sessions[*session].name, transaction].map(|text| quoted(text)).join(", ");
            let row = quoted(&read.row.to_string());
            format!("({texts}, {attempt}, {}, {}, {}, {row}, {seq})", quoted(step), read.row_no, read.committed)
        })
        .collect();
    insert(&mut sql, "isolab_read (session, transaction, attempt, step, row_no, committed, row, seq)", &read);
    sql
}

/// SQL that makes `isolab_told` hold these rows, and `isolab_read` none.
pub(crate) fn told_statements(rows: &[ToldRow]) -> String {
    /// Of one INSERT: a load test has many.
    const MOST_ROWS: usize = 1_000;
    let mut sql = TABLES.map(|table| format!("DELETE FROM {table};")).concat();
    for rows in told_values(rows).chunks(MOST_ROWS) {
        let target = "isolab_told (session, transaction, attempt, told, sqlstate, step, message, fate, seq)";
        insert(&mut sql, target, rows);
    }
    sql
}

/// The rows of `isolab_told` as SQL, each in brackets.
fn told_values(rows: &[ToldRow]) -> Vec<String> {
    let text = |value: Option<&str>| value.map_or_else(|| "NULL".to_owned(), quoted);
    rows.iter()
        .enumerate()
        .map(|(seq, row)| {
            let texts = [
                row.told.map(Told::name),
                row.sqlstate.as_deref(),
                row.step.as_deref(),
                row.message.as_deref(),
                row.fate.map(Fate::name),
            ];
            let texts: Vec<String> = texts.into_iter().map(text).collect();
            let (session, transaction) = (quoted(&row.session), quoted(&row.transaction));
            format!("({session}, {transaction}, {}, {}, {seq})", row.attempt, texts.join(", "))
        })
        .collect()
}

fn insert(sql: &mut String, target: &str, values: &[String]) {
    if !values.is_empty() {
        sql.push_str(&format!(" INSERT INTO {target} VALUES {};", values.join(", ")));
    }
}

/// An attempt that is followed by another was told nothing yet: its row says `retried`.
fn told_rows(sessions: &[SessionInfo], events: &[Event]) -> Vec<ToldRow> {
    let mut rows: Vec<(usize, usize, ToldRow)> = Vec::new();
    for (index, event) in events.iter().enumerate() {
        match &event.what {
            What::Ended { fate, told, message } => {
                let failure = last_failure(&events[..index], event);
                let row = ToldRow {
                    session: sessions[event.session].name.clone(),
                    transaction: event.transaction.clone(),
                    attempt: event.attempt,
                    told: *told,
                    fate: *fate,
                    sqlstate: failure.as_ref().map(|(sqlstate, _)| sqlstate.clone()),
                    step: failure.map(|(_, step)| step),
                    message: message.clone(),
                };
                rows.push((event.session, event.call, row));
            }
            What::Retried => {
                let earlier =
                    rows.iter_mut().rev().find(|(session, call, _)| *session == event.session && *call == event.call);
                if let Some((_, _, row)) = earlier {
                    row.told = Some(Told::Retried);
                }
            }
            _ => {}
        }
    }
    rows.into_iter().map(|(_, _, row)| row).collect()
}

/// SQLSTATE and step of an attempt's last error, one that the client caught included.
fn last_failure(events: &[Event], of: &Event) -> Option<(String, String)> {
    let same = |event: &&Event| (event.session, event.call, event.attempt) == (of.session, of.call, of.attempt);
    events.iter().rev().filter(same).find_map(|event| match &event.what {
        What::Failed { error } => Some((error.sqlstate.clone(), event.step.clone())),
        _ => None,
    })
}

/// A value as `to_jsonb` would write it: numbers, booleans and JSON as such, all else as text.
fn json(type_oid: Option<&u32>, text: Option<&str>) -> Json {
    let Some(text) = text else { return Json::Null };
    let parsed = match type_oid.and_then(|oid| Type::from_oid(*oid)) {
        Some(Type::BOOL) => Some(Json::from(text == "t")),
        Some(Type::INT2 | Type::INT4 | Type::INT8 | Type::OID | Type::JSON | Type::JSONB) => {
            serde_json::from_str(text).ok()
        }
        Some(Type::FLOAT4 | Type::FLOAT8 | Type::NUMERIC) => text.parse().ok().map(Json::Number),
        _ => None,
    };
    parsed.unwrap_or_else(|| Json::from(text))
}

/// What one session read; `committed` is the fate of the transaction that read it.
fn read_rows<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<ReadRow<'a>> {
    let mut rows = Vec::new();
    let mut undecided = 0;
    for event in events {
        let decided = match &event.what {
            What::Done { tag, columns, types, rows: values, in_transaction } => {
                rows.extend(values.iter().enumerate().map(|(index, values)| {
                    let typed =
                        values.iter().enumerate().map(|(column, text)| json(types.get(column), text.as_deref()));
                    let row: Map<String, Json> = columns.iter().cloned().zip(typed).collect();
                    ReadRow { event, row_no: index + 1, committed: false, row: row.into() }
                }));
                (!in_transaction).then(|| !tag.starts_with("ROLLBACK"))
            }
            What::Disconnected { .. } | What::Retried => Some(false),
            _ => None,
        };
        if let Some(committed) = decided {
            for row in &mut rows[undecided..] {
                row.committed = committed;
            }
            undecided = rows.len();
        }
    }
    rows
}
