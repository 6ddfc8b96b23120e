//! The cell of a staged run: what it showed, and what became of it after the retries.

use super::super::Run;
use super::{Cell, Cost, Words};
use crate::history::{Assessment, Told};
use crate::scenario::Level;
use crate::verdict::Outcome;

impl Cell for Run {
    const WORDS: Words = Words {
        holds: "holds",
        fails: "it does not hold",
        nothing: "Nothing that was run holds.",
        between_lines: ", ",
    };

    fn fix(&self) -> Option<&str> {
        self.fix.as_deref()
    }

    fn isolation(&self) -> Level {
        self.isolation
    }

    /// `stopped 40001`; `happens (40001)` where an error was seen as well.
    fn outcome(&self) -> Option<String> {
        let mut sqlstates: Vec<&str> = Vec::new();
        for stop in &self.verdict.stopped {
            if !sqlstates.contains(&stop.sqlstate.as_str()) {
                sqlstates.push(&stop.sqlstate);
            }
        }
        let sqlstates = sqlstates.join(", ");
        match &self.verdict.outcome {
            Outcome::Skipped { .. } => None,
            Outcome::Stopped => Some(format!("stopped {sqlstates}")),
            Outcome::Happens if !sqlstates.is_empty() => Some(format!("happens ({sqlstates})")),
            other => Some(other.name().to_owned()),
        }
    }

    /// What the data are like when everything that was stopped has been retried; none where nothing was.
    fn second_line(&self) -> Option<String> {
        let holds = after_retry(self)?.failing_checks().is_empty();
        Some(if holds { "then holds" } else { "then does not hold" }.to_owned())
    }

    fn cost(&self) -> Option<Cost> {
        let after = after_retry(self);
        if after.is_some_and(|after| !after.failing_checks().is_empty()) {
            return None;
        }
        let failed = |told: Option<Told>| matches!(told, Some(Told::Failed | Told::GaveUp));
        match self.verdict.outcome {
            Outcome::Prevented => Some(Cost::Nothing),
            Outcome::Waits => Some(Cost::Waiting),
            Outcome::Stopped => match after {
                Some(after) if !after.sessions.iter().any(|session| failed(session.told)) => Some(Cost::Retry),
                _ => Some(Cost::Error),
            },
            Outcome::Happens | Outcome::Skipped { .. } | Outcome::Inconclusive { .. } => None,
        }
    }

    fn price(&self, cost: Cost) -> String {
        let sqlstate = self.verdict.stopped.first().map(|stop| stop.sqlstate.as_str()).unwrap_or_default();
        match cost {
            Cost::Nothing => "nobody waits and nobody gets an error".to_owned(),
            Cost::Waiting => "somebody waits, nobody gets an error".to_owned(),
            Cost::Retry => format!("somebody gets {sqlstate} and has to retry"),
            Cost::Error => format!("somebody gets {sqlstate}, and no retry helps"),
        }
    }

    fn has_verdict(&self) -> bool {
        !matches!(self.verdict.outcome, Outcome::Skipped { .. } | Outcome::Inconclusive { .. })
    }

    fn is_unexpected(&self) -> bool {
        Run::is_unexpected(self)
    }

    fn notes(&self, form: &str) -> Vec<String> {
        let place = format!("{form} at {}", self.isolation.sql());
        let difference =
            self.expected.as_ref().and_then(|expected| Some((&expected.text, expected.difference.as_ref()?)));
        match (&self.verdict.outcome, difference) {
            (Outcome::Skipped { reason }, _) => vec![format!("{form}: n/a, it {reason}")],
            (Outcome::Inconclusive { reason }, _) => vec![format!("{place}: {reason}")],
            (_, Some((text, difference))) => vec![format!("{place}: NOT expected ({text}), came {difference}")],
            _ => Vec::new(),
        }
    }
}

fn after_retry(run: &Run) -> Option<&Assessment> {
    run.history.as_ref()?.after_retry.as_ref()
}
