//! Everything that was sent and what came back, in order: the one record that all verdicts and reports are made from.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Number;

use crate::scenario::Level;
use crate::scenario::source::Span;

/// One run of one schedule, with what was asked before and after its retries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct History {
    pub scenario: String,
    /// The fix or variant; none as written.
    pub fix: Option<String>,
    pub isolation: Level,
    /// In file order; those of `@finally` last.
    pub sessions: Vec<SessionInfo>,
    /// The choices that were made, as text that `--replay` takes.
    pub schedule: String,
    pub events: Vec<Event>,
    /// At the end of the schedule, before any retry.
    pub end: Assessment,
    /// After every stopped transaction was retried whole; none where nothing was.
    pub after_retry: Option<Assessment>,
    /// Who woke first was a race that could not be ordered.
    pub racy: bool,
    /// Why the run could not be played to its end; nothing was asked of the data then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
}

impl History {
    /// The name of the session that an event's index points to.
    pub fn session_name(&self, index: usize) -> &str {
        self.sessions.get(index).map_or("?", |session| &session.name)
    }

    /// The names of all sessions.
    pub fn session_names(&self) -> Vec<&str> {
        self.sessions.iter().map(|session| session.name.as_str()).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionInfo {
    pub name: String,
    /// The level that its connection begins transactions at.
    pub level: Level,
    /// Its calls as written: `approve('alice', 3000)`.
    pub calls: Vec<String>,
}

/// What happened, and in whose what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub phase: Phase,
    /// Index into [`History::sessions`].
    pub session: usize,
    pub transaction: String,
    /// Which of the session's calls, from 0.
    pub call: usize,
    /// From 1.
    pub attempt: u32,
    pub step: String,
    #[serde(flatten)]
    pub what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    Schedule,
    Retry,
    Finally,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum What {
    /// A statement went to the server, as it was sent.
    Sent {
        sql: String,
    },
    /// The server says that the session waits.
    Blocked {
        /// The sessions that it waits for; empty: another holder, such as a prepared transaction.
        by: Vec<usize>,
        /// The lock, in words: `row of teams`, `transaction of alice`.
        on: Option<String>,
    },
    /// It waits no longer: its answer follows.
    Woke,
    /// A statement's answer.
    Done {
        /// The command tag: `UPDATE 1`; `ROLLBACK` for the COMMIT of a failed block.
        tag: String,
        columns: Vec<String>,
        /// The columns' type OIDs; not stored.
        #[serde(skip)]
        types: Vec<u32>,
        rows: Vec<Vec<Option<String>>>,
        /// A transaction block is open after it.
        in_transaction: bool,
    },
    /// A statement failed.
    Failed {
        error: StatementError,
    },
    /// `\gset` or `\set`: a variable's text.
    Set {
        name: String,
        value: Option<String>,
    },
    /// `\if`, `\elif`, `\while`: whether the condition was true.
    Decided {
        /// As written: `:approved + :amount > :budget`.
        written: String,
        /// With its values in place: `3000 + 3000 > 5000`.
        condition: String,
        holds: bool,
    },
    /// `\echo`.
    Said {
        text: String,
    },
    /// `\effect`: done outside, whatever becomes of the transaction.
    Effect {
        sql: String,
    },
    /// `\reject` and `\rollback`: the call ends with a business no.
    Rejected {
        text: String,
    },
    Notice {
        text: String,
    },
    /// NOTIFY, as received.
    Notified {
        channel: String,
        payload: String,
    },
    /// The connection is gone, with the reason.
    Disconnected {
        reason: String,
    },
    /// An attempt of a call ended; the fate is that of its last transaction (none: it began none).
    Ended {
        fate: Option<Fate>,
        told: Option<Told>,
        message: Option<String>,
    },
    /// The failed transaction is tried again from its start.
    Retried,
}

/// What became of a transaction on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fate {
    #[serde(rename = "committed")]
    Committed,
    #[serde(rename = "rolled back")]
    RolledBack,
    /// The answer to COMMIT was lost.
    #[serde(rename = "unknown")]
    Unknown,
}

impl Fate {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Committed => "committed",
            Fate::RolledBack => "rolled back",
            Fate::Unknown => "unknown",
        }
    }
}

/// What the client was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    #[serde(rename = "ok")]
    Ok,
    /// A business no.
    #[serde(rename = "rejected")]
    Rejected,
    #[serde(rename = "gave up")]
    GaveUp,
    #[serde(rename = "failed")]
    Failed,
    /// An attempt that is followed by another.
    #[serde(rename = "retried")]
    Retried,
}

impl Told {
    /// As in JSON and in `isolab_told`.
    pub fn name(self) -> &'static str {
        match self {
            Told::Ok => "ok",
            Told::Rejected => "rejected",
            Told::GaveUp => "gave up",
            Told::Failed => "failed",
            Told::Retried => "retried",
        }
    }
}

/// An error of the server, or of the connection (then without detail).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementError {
    pub sqlstate: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// Where in the file: `scenarios/write-skew/write-skew.sql:24:24`.
    pub place: Option<String>,
    /// The same for a diagnostic with an excerpt; not stored.
    #[serde(skip)]
    pub span: Option<Span>,
}

/// The answers to the checks and measures at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    pub checks: Vec<CheckResult>,
    pub measures: Vec<MeasureResult>,
    pub sessions: Vec<SessionEnd>,
    /// What the tables hold, where that was asked: for each its name and its rows as text; not stored.
    #[serde(skip)]
    pub contents: Vec<Vec<Option<String>>>,
}

impl Assessment {
    /// The names of the checks that do not hold.
    pub fn failing_checks(&self) -> Vec<&str> {
        self.checks.iter().filter(|check| !check.holds).map(|check| check.name.as_str()).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: String,
    pub holds: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureResult {
    pub name: String,
    pub unit: Option<String>,
    /// The server's text for the number; none for null.
    pub value: Option<String>,
}

impl MeasureResult {
    /// The value as JSON has it: whole where it is whole; none for null, NaN and infinity.
    pub fn number(&self) -> Option<Number> {
        let text = self.value.as_deref()?;
        let whole = text.parse::<i64>().ok().map(Number::from);
        whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))
    }

    /// Serialises measures as one object, `{"total": 3000, "over_budget": 0}`, in their order.
    pub fn by_name<S: Serializer>(measures: &[MeasureResult], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(measures.iter().map(|measure| (&measure.name, measure.number())))
    }
}

/// How a session's last call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    pub name: String,
    /// None: it never began a transaction.
    pub fate: Option<Fate>,
    /// None: it crashed before it was told anything.
    pub told: Option<Told>,
    /// Of its last call.
    pub attempts: u32,
}

/// Short histories for unit tests: two sessions, `alice` and `bob`, and one check, `within budget`.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    pub(crate) fn history(events: Vec<Event>, holds: bool) -> History {
        let session = |name: &str| SessionInfo {
            name: name.to_owned(),
            level: Level::ReadCommitted,
            calls: vec![format!("approve('{name}', 3000)")],
        };
        History {
            scenario: "write-skew".to_owned(),
            fix: None,
            isolation: Level::ReadCommitted,
            sessions: vec![session("alice"), session("bob")],
            schedule: String::new(),
            events,
            end: assessment(holds),
            after_retry: None,
            racy: false,
            unfinished: None,
        }
    }

    pub(crate) fn assessment(holds: bool) -> Assessment {
        let checks = vec![CheckResult { name: "within budget".to_owned(), holds }];
        Assessment { checks, ..Assessment::default() }
    }

    pub(crate) fn event(session: usize, step: &str, what: What) -> Event {
        let transaction = "approve".to_owned();
        Event { phase: Phase::Schedule, session, transaction, call: 0, attempt: 1, step: step.to_owned(), what }
    }

    pub(crate) fn error(sqlstate: &str) -> What {
        What::Failed { error: StatementError { sqlstate: sqlstate.to_owned(), ..StatementError::default() } }
    }
}
