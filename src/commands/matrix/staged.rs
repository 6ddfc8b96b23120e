//! The matrix of the staged schedules.

use super::super::context::{Context, deadline};
use super::super::exit::Exit;
use super::super::reports::Reports;
use super::super::run::{Performance, Selection, perform_all, server_of};
use super::{MatrixArgs, report, tell};
use crate::report::Run;
use crate::report::json::Document;
use crate::report::matrix::Matrix;
use crate::scenario::Scenario;
use crate::server::Server;
use crate::verdict::Outcome;

/// Stages all forms of the scenarios, several at once.
pub fn run(
    args: &MatrixArgs,
    scenarios: &[Scenario],
    selections: &[Selection],
    server: &Server,
    reports: &mut Reports,
    context: &mut Context,
) -> anyhow::Result<Exit> {
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
            tell(&matrix, reports, context)?;
            matrices.push(matrix);
            runs.extend(of_scenario);
        }
        Ok(())
    })?;
    let exit = exit_of(&runs);
    let document = || {
        let mut document = Document::new(server_of(server), None);
        document.runs = Some(runs);
        document
    };
    report(&matrices, document, reports, context)?;
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
    let exits: Vec<Exit> = runs.iter().map(of).collect();
    let ran = exits.iter().copied().filter(|exit| *exit != Exit::NothingMatched).max();
    ran.unwrap_or(Exit::NothingMatched)
}
