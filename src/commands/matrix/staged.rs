//! The matrix of the staged schedules.

use super::super::context::{Context, deadline};
use super::super::exit::Exit;
use super::super::run::{Performance, perform_all, server_of};
use super::Task;
use crate::report::Run;
use crate::report::json::Document;
use crate::report::matrix::Matrix;
use crate::verdict::Outcome;

/// Stages all forms of the scenarios, several at once.
pub fn run(task: Task, context: &mut Context) -> anyhow::Result<Exit> {
    let Task { args, scenarios, selections, server, .. } = task;
    let performance = Performance {
        server,
        deadline: deadline(args.time_limit),
        step: false,
        replay: None,
        error_style: context.error_style,
    };
    let mut runs = Vec::new();
    let mut matrices: Vec<Matrix<Run>> = Vec::new();
    let mut waiting = Vec::new();
    perform_all(selections, &performance, |performed| {
        waiting.push(performed);
        let scenario = &scenarios[matrices.len()];
        if waiting.len() > scenario.variants.len() {
            let of_scenario: Vec<Run> = waiting.drain(..).flatten().collect();
            let matrix = Matrix::new(scenario, &of_scenario);
            task.tell(&matrix, context)?;
            matrices.push(matrix);
            runs.extend(of_scenario);
        }
        Ok(())
    })?;
    let exit = exit_of(&runs);
    let mut document = Document::new(server_of(server), None);
    document.runs = Some(runs);
    task.report(&matrices, document, context)?;
    Ok(exit)
}

/// The table is there to show anomalies, so that only a contradicted `@expect` is one too many.
fn exit_of(runs: &[Run]) -> Exit {
    let of = |run: &Run| match &run.verdict.outcome {
        Outcome::Skipped { .. } => Exit::NothingMatched,
        Outcome::Inconclusive { .. } => Exit::Inconclusive,
        _ if run.is_unexpected() => Exit::DidNotHold,
        _ => Exit::Held,
    };
    Exit::of_all(runs.iter().map(of))
}
