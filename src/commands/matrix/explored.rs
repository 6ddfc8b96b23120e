//! The matrix of all schedules.

use std::ptr;

use super::super::context::Context;
use super::super::exit::{self, Exit};
use super::super::explore::{Came, document, exit_of_all, explore_selection};
use super::super::reports::Reports;
use super::super::run::Selection;
use super::{MatrixArgs, report, tell};
use crate::explore::{Exploration, retried};
use crate::report::matrix::{Explored, Matrix, Unexplored};
use crate::scenario::{Level, Scenario};
use crate::server::Server;

/// Explores the forms of the scenarios one after the other; each with several runners.
pub fn run(
    args: &MatrixArgs,
    scenarios: &[Scenario],
    selections: &[Selection],
    server: &Server,
    reports: &mut Reports,
    context: &mut Context,
) -> anyhow::Result<Exit> {
    let seed = args.search.seed();
    let options = args.search.options(seed, args.time_limit);
    let (mut all, mut matrices) = (Vec::new(), Vec::new());
    let mut left = selections.len() as u32;
    let mut is_cut = false;
    for scenario in scenarios {
        let mut cells = Vec::new();
        for selection in selections.iter().filter(|selection| ptr::eq(selection.scenario, scenario)) {
            let share = options.share(left);
            left -= 1;
            match explore_selection(selection, server, &share, context) {
                Ok(Came::Explored(found)) => {
                    cells.extend(found.iter().map(|found| explored(selection, found, seed)));
                    all.extend(found);
                }
                Ok(Came::Skipped { reason }) => {
                    cells.extend(unexplored(selection, &Unexplored::Skipped { reason }, seed));
                }
                // The other forms have their part of the time.
                Err(error) if exit::kind(&error) == Exit::Inconclusive => {
                    is_cut = true;
                    cells.extend(unexplored(selection, &Unexplored::Cut { reason: error.to_string() }, seed));
                }
                Err(error) => return Err(error),
            }
        }
        let matrix = Matrix::new(scenario, &cells);
        tell(&matrix, reports, context)?;
        matrices.push(matrix);
    }
    let cut = if is_cut { Exit::Inconclusive } else { Exit::Held };
    let exit = exit_of_all(all.iter()).max(cut);
    report(&matrices, || document(server, all, seed), reports, context)?;
    Ok(exit)
}

fn explored(selection: &Selection, exploration: &Exploration, seed: u64) -> Explored {
    let retried = retried(selection.scenario, selection.fix);
    Explored {
        fix: selection.fix.map(str::to_owned),
        isolation: exploration.isolation,
        found: Ok(exploration.clone()),
        retried: retried.into_iter().map(str::to_owned).collect(),
        seed,
    }
}

/// At every level the same.
fn unexplored(selection: &Selection, why: &Unexplored, seed: u64) -> Vec<Explored> {
    let cell = |&isolation: &Level| Explored {
        fix: selection.fix.map(str::to_owned),
        isolation,
        found: Err(why.clone()),
        retried: Vec::new(),
        seed,
    };
    selection.levels.iter().map(cell).collect()
}
