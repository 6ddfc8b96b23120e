//! Asks the checks and measures.

use std::time::Instant;

use super::batch::Part;
use super::error::RunError;
use super::observer::Observer;
use super::record;
use super::script::Keeper;
use crate::history::{Assessment, CheckResult, Event, MeasureResult, SessionEnd, SessionInfo, Told, What};
use crate::program::Variables;
use crate::scenario::{Check, Measure, Plan};
use crate::wire::{ResultSet, WireError};

/// SQLSTATEs of a table or a column that is not there any more, or has another type.
const CHANGED: [&str; 4] = ["42P01", "42703", "42804", "42883"];
/// The contents of the tables as they are, where a session has changed them.
const WHATEVER_IS_THERE: &str = "
SELECT c.oid::regclass::text,
       query_to_xml(format('SELECT t::text FROM %s t ORDER BY t::text COLLATE \"C\"', c.oid::regclass), true, false, '')::text
  FROM pg_class c
 WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
 ORDER BY 1";

/// What the assessment is made of.
pub(crate) struct Asked<'a> {
    pub plan: &'a Plan,
    pub parameters: &'a Variables,
    pub sessions: &'a [SessionInfo],
    pub events: &'a [Event],
    /// A question about the tables' contents; empty: nobody asks.
    pub contents: &'a str,
    /// A check without a row is a mistake; where sessions are left out there may be none.
    pub needs_row: bool,
    pub deadline: Instant,
}

/// Asks with the record of the run in place, where a check asks about the run.
pub(crate) fn assess(keeper: &mut Keeper, observer: &mut Observer, asked: &Asked) -> Result<Assessment, RunError> {
    let Asked { plan, parameters, deadline, contents, .. } = *asked;
    let record = match record::is_asked(plan) {
        true => record::statements(asked.sessions, asked.events),
        false => String::new(),
    };
    let questions =
        Questions { checks: plan.checks.iter().collect(), measures: &plan.measures, needs_row: asked.needs_row };
    let mut ask = |contents| {
        let before = [Part::Again(contents), Part::Sql(&record)];
        questions.ask(&before, keeper, observer, parameters, deadline)
    };
    let (before, mut assessment) = match ask(contents) {
        Err(RunError::Wire(WireError::Server(error))) if CHANGED.contains(&error.sqlstate.as_str()) => {
            ask(WHATEVER_IS_THERE)?
        }
        asked => asked?,
    };
    assessment.sessions = session_ends(asked.sessions, asked.events);
    assessment.contents = before.into_iter().next().unwrap_or_default().rows;
    Ok(assessment)
}

/// Asks checks and measures, whatever stands in the record.
pub(crate) fn ask<'a>(
    keeper: &mut Keeper,
    observer: &mut Observer,
    checks: impl Iterator<Item = &'a Check>,
    measures: &[Measure],
    parameters: &Variables,
    deadline: Instant,
) -> Result<Assessment, RunError> {
    let questions = Questions { checks: checks.collect(), measures, needs_row: true };
    Ok(questions.ask(&[], keeper, observer, parameters, deadline)?.1)
}

struct Questions<'a> {
    checks: Vec<&'a Check>,
    measures: &'a [Measure],
    needs_row: bool,
}

impl Questions<'_> {
    /// Asks them after what comes before, all in one round trip, and gives the results of both.
    fn ask<'p>(
        &'p self,
        before: &[Part<'p>],
        keeper: &mut Keeper,
        observer: &mut Observer,
        parameters: &Variables,
        deadline: Instant,
    ) -> Result<(Vec<ResultSet>, Assessment), RunError> {
        let checks = self.checks.iter().map(|check| (&check.script, format!("check `{}`", check.name)));
        let measures = self.measures.iter().map(|measure| (&measure.script, format!("measure `{}`", measure.name)));
        let scripts = checks.chain(measures).map(|(script, name)| Part::Script { script, name });
        let parts: Vec<Part> = before.iter().map(Part::clone).chain(scripts).collect();
        let mut results = keeper.run_all(&parts, parameters, observer, deadline)?;
        let mut answers = results.split_off(before.len()).into_iter();
        let mut assessment = Assessment::default();
        for (check, answer) in self.checks.iter().zip(answers.by_ref()) {
            assessment.checks.push(CheckResult { name: check.name.clone(), holds: self.holds(check, &answer)? });
        }
        for (measure, answer) in self.measures.iter().zip(answers) {
            let value = self.number(measure, &answer)?;
            assessment.measures.push(MeasureResult { name: measure.name.clone(), unit: measure.unit.clone(), value });
        }
        Ok((results, assessment))
    }

    fn holds(&self, check: &Check, answer: &ResultSet) -> Result<bool, RunError> {
        if !self.needs_row && answer.rows.is_empty() {
            return Ok(true);
        }
        let shape = |message| RunError::Shape { part: format!("check `{}`", check.name), message, span: check.span };
        match single_value(answer).map_err(shape)?.as_deref() {
            None | Some("t") => Ok(true),
            Some("f") => Ok(false),
            Some(other) => Err(shape(format!("gave `{other}`; a check gives true, false or null"))),
        }
    }

    fn number(&self, measure: &Measure, answer: &ResultSet) -> Result<Option<String>, RunError> {
        if !self.needs_row && answer.rows.is_empty() {
            return Ok(None);
        }
        let part = format!("measure `{}`", measure.name);
        let shape = |message| RunError::Shape { part, message, span: measure.span };
        let value = single_value(answer);
        match value.as_ref().map(|value| value.as_deref().filter(|text| text.parse::<f64>().is_err())) {
            Ok(Some(text)) => Err(shape(format!("gave `{text}`; a measure gives one number"))),
            _ => value.map_err(shape),
        }
    }
}

/// How each session's last call ended.
fn session_ends(sessions: &[SessionInfo], events: &[Event]) -> Vec<SessionEnd> {
    let end = |(index, session): (usize, &SessionInfo)| {
        let last = events.iter().rev().find_map(|event| match &event.what {
            What::Ended { fate, told, .. } if event.session == index => Some((*fate, *told, event.attempt)),
            _ => None,
        });
        let (fate, told, attempts): (_, Option<Told>, _) = last.unwrap_or((None, None, 0));
        SessionEnd { name: session.name.clone(), fate, told, attempts }
    };
    sessions.iter().enumerate().map(end).collect()
}

fn single_value(result: &ResultSet) -> Result<Option<String>, String> {
    match (result.columns.len(), result.rows.as_slice()) {
        (1, [row]) => Ok(row.first().cloned().flatten()),
        (1, rows) => Err(format!("gave {} rows; its last statement must give one row", rows.len())),
        (columns, _) => Err(format!("gave {columns} columns; its last statement must give one column")),
    }
}
