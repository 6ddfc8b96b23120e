//! One cell: what a run showed, and what became of it after the retries.

use super::super::Run;
use crate::verdict::Outcome;

/// For a level that a form is not meant for, and for a run that the server cannot do.
const NOT_AVAILABLE: &str = "n/a";

/// `stopped 40001`; `happens (40001)` where an error was seen as well.
pub fn outcome(run: Option<&Run>) -> String {
    let Some(run) = run else { return NOT_AVAILABLE.to_owned() };
    let mut sqlstates: Vec<&str> = Vec::new();
    for stop in &run.verdict.stopped {
        if !sqlstates.contains(&stop.sqlstate.as_str()) {
            sqlstates.push(&stop.sqlstate);
        }
    }
    let sqlstates = sqlstates.join(", ");
    match &run.verdict.outcome {
        Outcome::Skipped { .. } => NOT_AVAILABLE.to_owned(),
        Outcome::Stopped => format!("stopped {sqlstates}"),
        Outcome::Happens if !sqlstates.is_empty() => format!("happens ({sqlstates})"),
        other => other.name().to_owned(),
    }
}

/// What the data are like when everything that was stopped has been retried; none where nothing was.
pub fn after_retry(run: Option<&Run>) -> Option<&'static str> {
    let after = run?.history.as_ref()?.after_retry.as_ref()?;
    Some(if after.failing_checks().is_empty() { "then holds" } else { "then does not hold" })
}
