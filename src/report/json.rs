//! The one JSON document. Equal input gives equal bytes; new keys may come, none changes its meaning or goes.

use serde::{Serialize, Serializer};

use super::Run;
use super::catalogue::Entry;
use super::matrix::Advice;
use super::specs::SpecRow;
use crate::explore::{Exploration, Failure, Fallback, Mutated, Verdict as Explored};
use crate::history::{Assessment, CheckResult, Event, History, MeasureResult, Phase, SessionEnd, What};
use crate::load::statistics::{AssertionResult, LoadRow};
use crate::scenario::Level;
use crate::verdict::Verdict;

/// Goes up only if a key ever changes its meaning.
const SCHEMA: u32 = 1;

/// The document. A command fills the parts that are its own; the others are absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    schema: u32,
    tool: Tool,
    /// Absent where none was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    pub seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<Entry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<Run>>,
    /// Of each scenario the fix to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Vec<Advice>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Vec<LoadRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explore: Option<Vec<Exploration>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specs: Option<Vec<SpecRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertions: Option<Vec<AssertionResult>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

/// Which server was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Server {
    /// `18.6`.
    pub version: String,
    /// `throwaway`, `kept`, `--db`, `DATABASE_URL` or `PG*`.
    pub source: String,
}

impl Document {
    /// A document without any part yet. The seed is none where nothing was random.
    pub fn new(server: impl Into<Option<Server>>, seed: Option<u64>) -> Document {
        let tool = Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") };
        Document {
            schema: SCHEMA,
            tool,
            server: server.into(),
            seed,
            list: None,
            runs: None,
            matrix: None,
            load: None,
            explore: None,
            specs: None,
            assertions: None,
        }
    }

    /// Indented, with a final newline.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let none = Assessment::default();
        let history = self.history.as_ref();
        RunEntry {
            scenario: &self.scenario,
            fix: self.fix.as_deref(),
            isolation: self.isolation,
            schedule: history.map(|history| history.schedule.as_str()),
            verdict: &self.verdict,
            end: history.map_or(&none, |history| &history.end).into(),
            after_retry: history.and_then(|history| history.after_retry.as_ref()).map(Moment::from),
            expected: self.expected.as_ref().map(|expected| expected.text.as_str()),
            as_expected: self.expected.as_ref().map(|expected| expected.as_expected),
            racy: history.is_some_and(|history| history.racy),
            events: history.map_or_else(Vec::new, event_entries),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct RunEntry<'a> {
    scenario: &'a str,
    fix: Option<&'a str>,
    isolation: Level,
    schedule: Option<&'a str>,
    #[serde(flatten)]
    verdict: &'a Verdict,
    #[serde(flatten)]
    end: Moment<'a>,
    after_retry: Option<Moment<'a>>,
    expected: Option<&'a str>,
    as_expected: Option<bool>,
    racy: bool,
    events: Vec<EventEntry<'a>>,
}

#[derive(Serialize)]
struct Moment<'a> {
    checks: &'a [CheckResult],
    #[serde(serialize_with = "MeasureResult::by_name")]
    measures: &'a [MeasureResult],
    sessions: &'a [SessionEnd],
}

impl<'a> From<&'a Assessment> for Moment<'a> {
    fn from(assessment: &'a Assessment) -> Moment<'a> {
        Moment { checks: &assessment.checks, measures: &assessment.measures, sessions: &assessment.sessions }
    }
}

impl Serialize for Exploration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let error =
            |(sqlstate, schedules): &(String, u64)| ErrorEntry { sqlstate: sqlstate.clone(), schedules: *schedules };
        ExplorationEntry {
            scenario: &self.scenario,
            fix: self.fix.as_deref(),
            isolation: self.isolation,
            verdict: self.verdict,
            schedules: self.schedules,
            orders: self.orders,
            complete: self.complete,
            orders_left: self.orders_left(),
            fallback: self.fallback,
            outcomes: self.outcomes.len(),
            retries: self.retries,
            repaired: self.repaired,
            racy: self.racy,
            errors: self.errors.iter().map(error).collect(),
            by_design: &self.by_design,
            failures: self.failures.iter().map(FailureEntry::from).collect(),
            expected: self.expected.as_ref().map(|expected| expected.text.as_str()),
            as_expected: self.expected.as_ref().map(|expected| expected.as_expected),
            mutations: self.mutations.as_deref(),
            notes: &self.notes,
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct ExplorationEntry<'a> {
    scenario: &'a str,
    fix: Option<&'a str>,
    isolation: Level,
    verdict: Explored,
    schedules: u64,
    orders: u64,
    complete: bool,
    /// At most so many orders were not covered.
    orders_left: u64,
    fallback: Option<Fallback>,
    /// How many different ones there were.
    outcomes: usize,
    retries: u64,
    repaired: u64,
    racy: u64,
    errors: Vec<ErrorEntry>,
    by_design: &'a [&'static str],
    failures: Vec<FailureEntry<'a>>,
    expected: Option<&'a str>,
    as_expected: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mutations: Option<&'a [Mutated]>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct ErrorEntry {
    sqlstate: String,
    schedules: u64,
}

#[derive(Serialize)]
struct FailureEntry<'a> {
    kind: &'a str,
    reason: &'a str,
    cycle: &'a [String],
    schedules: u64,
    checks: &'a [String],
    /// Sessions and statements that it does not need, as the schedule says it.
    left_out: Vec<String>,
    /// What came out differently the second time.
    differs: Option<&'a str>,
    replay: &'a str,
    events: Vec<EventEntry<'a>>,
}

impl<'a> From<&'a Failure> for FailureEntry<'a> {
    fn from(failure: &'a Failure) -> FailureEntry<'a> {
        FailureEntry {
            kind: &failure.kind,
            reason: &failure.reason,
            cycle: &failure.cycle,
            schedules: failure.schedules,
            checks: &failure.checks,
            left_out: failure.left_out.parts(&failure.history.session_names()),
            differs: failure.differs.as_deref(),
            replay: &failure.history.schedule,
            events: event_entries(&failure.history),
        }
    }
}

/// An event with its sessions by name.
#[derive(Serialize)]
struct EventEntry<'a> {
    phase: Phase,
    session: &'a str,
    transaction: &'a str,
    call: usize,
    attempt: u32,
    step: &'a str,
    #[serde(flatten)]
    what: WhatEntry<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WhatEntry<'a> {
    Blocked { event: &'static str, by: Vec<&'a str>, on: Option<&'a str> },
    Other(&'a What),
}

fn event_entries(history: &History) -> Vec<EventEntry<'_>> {
    let entry = |event| event_entry(history, event);
    history.events.iter().map(entry).collect()
}

fn event_entry<'a>(history: &'a History, event: &'a Event) -> EventEntry<'a> {
    let what = match &event.what {
        What::Blocked { by, on } => WhatEntry::Blocked {
            event: "blocked",
            by: by.iter().map(|&session| history.session_name(session)).collect(),
            on: on.as_deref(),
        },
        other => WhatEntry::Other(other),
    };
    EventEntry {
        phase: event.phase,
        session: history.session_name(event.session),
        transaction: &event.transaction,
        call: event.call,
        attempt: event.attempt,
        step: &event.step,
        what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::testing::{event, history};
    use crate::verdict::Outcome;
    use serde_json::{Value, json};

    fn document(runs: Vec<Run>) -> Document {
        let server = Server { version: "18.6".to_owned(), source: "throwaway".to_owned() };
        Document { runs: Some(runs), ..Document::new(server, None) }
    }

    fn parsed(document: &Document) -> Value {
        serde_json::from_str(&document.to_text().expect("serialises")).expect("is JSON")
    }

    fn measure(name: &str, value: Option<&str>) -> MeasureResult {
        MeasureResult { name: name.to_owned(), unit: None, value: value.map(str::to_owned) }
    }

    #[test]
    fn measures_are_numbers_in_their_own_order() {
        let mut run = history(Vec::new(), true);
        run.end.measures = vec![
            measure("total", Some("3000")),
            measure("average", Some("1.50")),
            measure("none", None),
            measure("nan", Some("NaN")),
        ];
        let text = serde_json::to_string(&Run::judged("Write skew", run, &[], 18)).expect("serialises");
        assert!(text.contains(r#""measures":{"total":3000,"average":1.5,"none":null,"nan":null}"#), "{text}");
    }

    #[test]
    fn events_name_their_sessions() {
        let blocked = What::Blocked { by: vec![0], on: Some("row of teams".to_owned()) };
        let run = Run::judged("Write skew", history(vec![event(1, "lock", blocked)], true), &[], 18);
        let expected = json!({
            "phase": "schedule", "session": "bob", "transaction": "approve", "call": 0, "attempt": 1, "step": "lock",
            "event": "blocked", "by": ["alice"], "on": "row of teams",
        });
        assert_eq!(parsed(&document(vec![run]))["runs"][0]["events"][0], expected);
    }

    #[test]
    fn a_skipped_run_has_the_same_keys_and_a_reason() {
        let run = Run::judged("Write skew", history(Vec::new(), true), &[], 18);
        let reason = "needs PostgreSQL 17".to_owned();
        let skipped = Run::without_verdict("merge", "Merge", None, Level::Serializable, Outcome::Skipped { reason });
        let text = parsed(&document(vec![run, skipped]));
        let keys = |index: usize| -> Vec<String> {
            text["runs"][index].as_object().expect("an object").keys().filter(|key| *key != "reason").cloned().collect()
        };
        assert_eq!(keys(0), keys(1));
        assert_eq!(text["runs"][1]["outcome"], "skipped");
        assert_eq!(text["runs"][1]["reason"], "needs PostgreSQL 17");
    }

    #[test]
    fn parts_of_other_commands_are_absent() {
        let text = parsed(&document(Vec::new()));
        assert_eq!(text["runs"], json!([]));
        assert_eq!(text.get("load"), None);
    }
}
