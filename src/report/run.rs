//! One run as all reports see it: what was run, what it showed, and whether that was expected.

use crate::history::History;
use crate::scenario::{Expect, Level};
use crate::verdict::{Expected, Outcome, Verdict, expectation, judge};

#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub scenario: String,
    pub title: String,
    /// The name of a fix or variant; none as written.
    pub fix: Option<String>,
    pub isolation: Level,
    pub verdict: Verdict,
    /// None where no `@expect` speaks.
    pub expected: Option<Expected>,
    /// None where it was not run.
    pub history: Option<History>,
}

impl Run {
    /// A finished run, judged and compared with what the scenario expects on a server of that major version.
    pub fn judged(title: &str, history: History, expects: &[Expect], server_major: u32) -> Run {
        let verdict = judge(&history);
        let expected = expectation(expects, history.isolation, server_major, &verdict, &history);
        Run {
            scenario: history.scenario.clone(),
            title: title.to_owned(),
            fix: history.fix.clone(),
            isolation: history.isolation,
            verdict,
            expected,
            history: Some(history),
        }
    }

    /// A run that gave no verdict: [`Outcome::Skipped`] or [`Outcome::Inconclusive`].
    pub fn without_verdict(scenario: &str, title: &str, fix: Option<&str>, isolation: Level, outcome: Outcome) -> Run {
        Run {
            scenario: scenario.to_owned(),
            title: title.to_owned(),
            fix: fix.map(str::to_owned),
            isolation,
            verdict: Verdict::without_run(outcome),
            expected: None,
            history: None,
        }
    }

    /// Whether it is the same form as another run, and skipped for the same reason.
    pub fn is_skipped_as(&self, other: &Run) -> bool {
        let reason = |run: &Run| match &run.verdict.outcome {
            Outcome::Skipped { reason } => Some(reason.clone()),
            _ => None,
        };
        (&self.scenario, &self.fix) == (&other.scenario, &other.fix)
            && reason(self).is_some_and(|own| Some(own) == reason(other))
    }

    /// Whether it contradicts its `@expect`. Where none speaks, nothing is contradicted.
    pub fn is_unexpected(&self) -> bool {
        self.expected.as_ref().is_some_and(|expected| !expected.as_expected)
    }
}
