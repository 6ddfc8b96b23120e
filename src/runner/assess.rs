//! Asks the checks and measures, with the record of the run in place.

use std::time::Instant;

use super::error::RunError;
use super::observer::Observer;
use super::record;
use super::script::Keeper;
use crate::history::{Assessment, CheckResult, Event, MeasureResult, SessionEnd, SessionInfo, Told, What};
use crate::program::Variables;
use crate::scenario::source::Span;
use crate::scenario::{Check, Measure, Plan, Script};
use crate::wire::ResultSet;

/// What the assessment is made of.
pub(crate) struct Asked<'a> {
    pub plan: &'a Plan,
    pub parameters: &'a Variables,
    pub sessions: &'a [SessionInfo],
    pub events: &'a [Event],
    pub deadline: Instant,
}

pub(crate) fn assess(keeper: &mut Keeper, observer: &mut Observer, asked: &Asked) -> Result<Assessment, RunError> {
    let sql = record::statements(asked.sessions, asked.events);
    keeper.home()?.query(&sql, asked.deadline)?;
    let Asked { plan, parameters, deadline, .. } = *asked;
    let mut assessment = ask(keeper, observer, plan.checks.iter(), &plan.measures, parameters, deadline)?;
    assessment.sessions = session_ends(asked.sessions, asked.events);
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
    let mut one_value = |script: &Script, part: String, span: Span| {
        let result = keeper.run(script, &part, parameters, observer, deadline)?;
        single_value(&result).map_err(|message| RunError::Shape { part, message, span })
    };
    let mut assessment = Assessment::default();
    for check in checks {
        let part = format!("check `{}`", check.name);
        let answer = one_value(&check.script, part.clone(), check.span)?;
        let holds = match answer.as_deref() {
            None | Some("t") => true,
            Some("f") => false,
            Some(other) => {
                let message = format!("gave `{other}`; a check gives true, false or null");
                return Err(RunError::Shape { part, message, span: check.span });
            }
        };
        assessment.checks.push(CheckResult { name: check.name.clone(), holds });
    }
    for measure in measures {
        let part = format!("measure `{}`", measure.name);
        let value = one_value(&measure.script, part.clone(), measure.span)?;
        if let Some(text) = value.as_deref().filter(|text| text.parse::<f64>().is_err()) {
            let message = format!("gave `{text}`; a measure gives one number");
            return Err(RunError::Shape { part, message, span: measure.span });
        }
        assessment.measures.push(MeasureResult { name: measure.name.clone(), unit: measure.unit.clone(), value });
    }
    Ok(assessment)
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
