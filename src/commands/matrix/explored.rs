//! The matrix of all schedules.

use std::ptr;

use super::super::context::Context;
use super::super::exit::Exit;
use super::super::explore::{Came, Shares, document, exit_of_all, explore_selection};
use super::super::reports::Reports;
use super::super::run::Selection;
use super::{MatrixArgs, report, tell};
use crate::explore::{Exploration, retried};
use crate::report::matrix::{Explored, Matrix, Skipped};
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
    let mut time = Shares::new(selections);
    for scenario in scenarios {
        let mut cells = Vec::new();
        for selection in selections.iter().filter(|selection| ptr::eq(selection.scenario, scenario)) {
            match explore_selection(selection, server, &time.share(selection, &options), context)? {
                Came::Explored(found) => {
                    cells.extend(found.iter().map(|found| explored(selection, found, seed)));
                    all.extend(found);
                }
                Came::Skipped { reason } => cells.extend(skipped(selection, &Skipped { reason }, seed)),
            }
        }
        let matrix = Matrix::new(scenario, &cells);
        tell(&matrix, reports, context)?;
        matrices.push(matrix);
    }
    let exit = exit_of_all(all.iter());
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
fn skipped(selection: &Selection, why: &Skipped, seed: u64) -> Vec<Explored> {
    let cell = |&isolation: &Level| Explored {
        fix: selection.fix.map(str::to_owned),
        isolation,
        found: Err(why.clone()),
        retried: Vec::new(),
        seed,
    };
    selection.levels.iter().map(cell).collect()
}
