//! Problems in a scenario file that only the server could find, shown where they stand.

use super::exit::FileError;
use crate::history::{StatementError, What};
use crate::load::statistics::{ErrorCount, LoadRow};
use crate::report::{Run, Style};
use crate::runner::RunError;
use crate::scenario::source::{Sources, Span};
use crate::scenario::{Diagnostic, Severity, render};
use crate::wire::ServerError;

/// Errors of this class (syntax error or access rule violation) come from the statement's text, not from a race.
const SYNTAX_OR_ACCESS_RULE: &str = "42";
/// Errors of the client's own: two rows for one `\gset`, a loop without an end.
const CLIENT_ERRORS: [&str; 2] = ["P0003", "54000"];

/// An error of a run, with an excerpt of the file where the file is what is wrong.
pub fn run_error(error: RunError, sources: &Sources, style: Style) -> anyhow::Error {
    let diagnostic = match &error {
        RunError::Scenario { part, error, span } => {
            let ServerError { sqlstate, message, hint, .. } = error.as_ref();
            diagnostic(format!("{part} failed with {sqlstate}"), *span, message.clone(), hint.clone())
        }
        RunError::Shape { part, message, span } => diagnostic(part.clone(), *span, message.clone(), None),
        _ => return error.into(),
    };
    FileError(render(&[diagnostic], sources, style.colour)).into()
}

/// A statement that cannot work as it is written, and that no `@expect` foresees, is a mistake in the file.
pub fn unforeseen_errors(run: &Run, sources: &Sources, style: Style) -> anyhow::Result<()> {
    let Some(history) = &run.history else { return Ok(()) };
    if run.expected.as_ref().is_some_and(|expected| expected.as_expected) {
        return Ok(());
    }
    let stops = &run.verdict.stopped;
    let failed = history.events.iter().filter_map(|event| match &event.what {
        What::Failed { error } if stops.iter().any(|stop| stop.sqlstate == error.sqlstate) => Some((event, error)),
        _ => None,
    });
    let mistakes: Vec<Diagnostic> = failed
        .filter(|(_, error)| {
            error.sqlstate.starts_with(SYNTAX_OR_ACCESS_RULE) || CLIENT_ERRORS.contains(&error.sqlstate.as_str())
        })
        .map(|(event, error)| {
            let StatementError { sqlstate, message, hint, span, .. } = error;
            let title = format!("{} at {} failed with {sqlstate}", history.session_name(event.session), event.step);
            diagnostic(title, span.unwrap_or_default(), message.clone(), hint.clone())
        })
        .collect();
    match mistakes.as_slice() {
        [] => Ok(()),
        mistakes => Err(FileError(render(mistakes, sources, style.colour)).into()),
    }
}

/// Statements that cannot work as they are written, so that no request of a load test came through.
pub fn hopeless_load(row: &LoadRow, sources: &Sources, style: Style) -> anyhow::Result<()> {
    let is_mistake = |error: &StatementError| error.sqlstate.starts_with(SYNTAX_OR_ACCESS_RULE);
    if row.requests == 0 || row.failed < row.requests || !row.errors.iter().all(|count| is_mistake(&count.error)) {
        return Ok(());
    }
    let mistake = |count: &ErrorCount| {
        let StatementError { sqlstate, message, hint, span, .. } = &count.error;
        let title =
            format!("{}: {} requests failed with {sqlstate}, and none came through", row.strategy, count.requests);
        diagnostic(title, span.unwrap_or_default(), message.clone(), hint.clone())
    };
    let mistakes: Vec<Diagnostic> = row.errors.iter().map(mistake).collect();
    Err(FileError(render(&mistakes, sources, style.colour)).into())
}

/// A command in a transaction of a load test that only a staged run can carry out.
pub fn only_staged(command: &str, span: Span, sources: &Sources, style: Style) -> anyhow::Error {
    let title = format!("`{command}` does not run in a load test");
    let help = "let `@load` call a transaction without it; `isolab run` stages this one".to_owned();
    FileError(render(
        &[diagnostic(title, span, "under load every request is the same client".to_owned(), Some(help))],
        sources,
        style.colour,
    ))
    .into()
}

fn diagnostic(message: String, span: Span, label: String, help: Option<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Error, message, span, label: Some(label), notes: Vec::new(), help }
}
