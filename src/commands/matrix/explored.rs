//! The matrix of all schedules.

use std::ptr;

use super::super::context::Context;
use super::super::exit::Exit;
use super::super::explore::{Came, Shares, document, exit_of_all, explore_selection};
use super::super::selection::Selection;
use super::Task;
use crate::explore::{Exploration, retried};
use crate::report::matrix::{Explored, Matrix, Skipped};
use crate::scenario::Level;

/// Explores the forms of the scenarios one after the other; each with several runners.
pub fn run(task: Task, context: &mut Context) -> anyhow::Result<Exit> {
    let Task { args, scenarios, selections, server, .. } = task;
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
        task.tell(&matrix, context)?;
        matrices.push(matrix);
    }
    let exit = exit_of_all(all.iter());
    task.report(&matrices, document(server, all, seed), context)?;
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
