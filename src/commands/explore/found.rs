//! What exploring found, and what that means for the exit code.

use super::super::context::Context;
use super::super::diagnose;
use super::super::exit::Exit;
use super::super::run::Selection;
use crate::explore::{Exploration, Options, Verdict, explore};
use crate::progress::Progress;
use crate::runner::RunError;
use crate::scenario::{Expect, ExpectedOutcome, ExpectedStop};
use crate::server::Server;

/// An exploration, and whether it contradicts what its scenario expects.
pub struct Found {
    pub exploration: Exploration,
    pub contradicts: bool,
}

/// What came of a selection.
pub enum Came {
    /// One for each of its levels.
    Explored(Vec<Found>),
    /// The server cannot do it.
    Skipped { reason: String },
}

/// Explores a form at its levels.
pub fn explore_selection(
    selection: &Selection,
    server: &Server,
    options: &Options,
    context: &mut Context,
) -> anyhow::Result<Came> {
    let Selection { scenario, fix, levels } = selection;
    let progress = Progress::new(!context.shows_progress(), context.style.ascii);
    let bar = progress.bar(fix.unwrap_or(&scenario.name), None);
    let explored = explore(server, scenario, *fix, levels, options, &mut || bar.advance());
    drop(bar);
    let found = |exploration| {
        let contradicts = contradicts(selection, &exploration, server.version().major);
        Found { exploration, contradicts }
    };
    match explored {
        Ok(explorations) => Ok(Came::Explored(explorations.into_iter().map(found).collect())),
        Err(RunError::Unmet { reason }) => Ok(Came::Skipped { reason }),
        Err(error) => Err(diagnose::run_error(error, &scenario.sources, context.error_style)),
    }
}

/// Whether the verdict is at odds with the scenario's `@expect` for the level: one that foresees an anomaly wants a
/// schedule that shows it, or ends with the error that it names; any other wants none. Where none speaks, *broken* is one
/// too many.
fn contradicts(selection: &Selection, exploration: &Exploration, server_major: u32) -> bool {
    let speaks = |expect: &&Expect| {
        let of_version = expect.version.is_none_or(|(comparison, version)| comparison.holds(&server_major, &version));
        expect.levels.contains(&exploration.isolation) && of_version
    };
    let verdict = exploration.verdict;
    match selection.plan().expects.iter().rev().find(speaks) {
        Some(Expect { outcome: ExpectedOutcome::Happens(stop), .. }) => {
            let foreseen =
                |stop: &ExpectedStop| exploration.errors.iter().any(|(sqlstate, _)| *sqlstate == stop.sqlstate);
            let shown = verdict > Verdict::Safe && stop.as_ref().is_some_and(foreseen);
            verdict < Verdict::Inconclusive && exploration.repaired == 0 && !shown
        }
        _ => verdict == Verdict::Broken,
    }
}

/// The exit code of everything that was explored.
pub fn exit_of_all<'f>(found: impl Iterator<Item = &'f Found>) -> Exit {
    found.map(exit_of).max().unwrap_or(Exit::NothingMatched)
}

fn exit_of(found: &Found) -> Exit {
    match found.exploration.verdict {
        // What does not come out the same twice decides nothing.
        _ if found.exploration.failures.iter().any(|failure| failure.differs.is_some()) => Exit::Inconclusive,
        _ if found.contradicts => Exit::DidNotHold,
        Verdict::Inconclusive => Exit::Inconclusive,
        _ => Exit::Held,
    }
}
