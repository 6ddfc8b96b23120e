//! What exploring found, and what that means for the exit code.

use super::super::context::Context;
use super::super::diagnose;
use super::super::exit::Exit;
use super::super::selection::Selection;
use crate::explore::{Exploration, Options, Verdict, explore};
use crate::progress::Progress;
use crate::runner::RunError;
use crate::server::Server;

/// What came of a selection.
pub enum Came {
    /// One for each of its levels.
    Explored(Vec<Exploration>),
    /// The server cannot do it.
    Skipped { reason: String },
}

/// Shares the time among forms and levels evenly, so that a slow one does not take that of the others.
pub struct Shares {
    /// Levels of forms that have still to be explored.
    left: usize,
}

impl Shares {
    pub fn new(selections: &[Selection]) -> Shares {
        Shares { left: selections.iter().map(|selection| selection.levels.len()).sum() }
    }

    /// The options for the next form, with its part of the time that is left.
    pub fn share(&mut self, next: &Selection, options: &Options) -> Options {
        let share = options.share(next.levels.len(), self.left);
        self.left = self.left.saturating_sub(next.levels.len());
        share
    }
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
    match explored {
        Ok(explorations) => Ok(Came::Explored(explorations)),
        Err(RunError::Unmet { reason }) => Ok(Came::Skipped { reason }),
        Err(error) => Err(diagnose::run_error(error, &scenario.sources, context.error_style)),
    }
}

/// The exit code of everything that was explored.
pub fn exit_of_all<'e>(explorations: impl Iterator<Item = &'e Exploration>) -> Exit {
    Exit::of_all(explorations.map(exit_of))
}

fn exit_of(exploration: &Exploration) -> Exit {
    match exploration.verdict {
        // What does not come out the same twice decides nothing.
        _ if exploration.failures.iter().any(|failure| failure.differs.is_some()) => Exit::Inconclusive,
        _ if exploration.is_unexpected() => Exit::DidNotHold,
        Verdict::Inconclusive => Exit::Inconclusive,
        _ => Exit::Held,
    }
}
