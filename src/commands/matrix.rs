//! `isolab matrix`: every form of a scenario at every level in one table, and the fix to take.

use std::io::Write;
use std::time::Duration;

use clap::Args;

use super::context::{Context, deadline};
use super::exit::Exit;
use super::reports::{Format, ReportArgs, Reports};
use super::run::{LevelChoice, Performance, load_all, names, perform_all, select, server_of};
use crate::report::json::Document;
use crate::report::matrix::{Advice, Matrix};
use crate::report::{Run, Style};
use crate::scenario::Scenario;
use crate::verdict::Outcome;

/// Which fix is the cheapest.
const AFTER_HELP: &str = "\
Cells: happens (a check fails), stopped (an error ended a transaction, with its SQLSTATE), waits (nothing wrong, somebody
had to wait), prevented (nothing wrong, nobody waited), n/a (the form is not meant for that level, or the server cannot do
it). Below: what the data are like when everything that was stopped has been retried.

The cheapest fix is the one that costs the clients least: no waiting and no error before waiting, waiting before an error
that a retry repairs, that before an error that stays. Of equal ones the lower level wins, then the one that the file has
first. Raising the level of the scenario as written counts as a fix where no other is as cheap.

The exit code is 1 where an outcome is not the one that an @expect foresees.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct MatrixArgs {
    /// Built-in scenarios by name, or files.
    #[arg(value_name = "NAME|FILE", required_unless_present = "all")]
    names: Vec<String>,
    /// Every built-in scenario.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Only this isolation level, for forms that have none of their own; otherwise all three. Repeatable.
    #[arg(long, value_name = "LEVEL")]
    isolation: Vec<LevelChoice>,
    /// Give a parameter of the scenarios another value. Repeatable.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Give up after this time, as in 30s or 2m.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration, env = "ISOLAB_TIME_LIMIT")]
    time_limit: Option<Duration>,
    #[command(flatten)]
    report: ReportArgs,
}

pub fn run(args: &MatrixArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let scenarios = load_all(&names(&args.names, args.all), &args.set)?;
    let levels = if args.isolation.is_empty() { &[LevelChoice::All][..] } else { &args.isolation };
    let selections = select(&scenarios, &["all".to_owned()], levels)?;
    let mut reports = Reports::open(&args.report, &[Format::Text, Format::Json, Format::Markdown])?;
    let server = context.server()?;
    let tells = reports.stdout() == Format::Text;
    if tells && !context.global.quiet {
        context.introduce(&server)?;
    }
    let performance = Performance {
        server: &server,
        deadline: deadline(args.time_limit),
        step: false,
        replay: None,
        error_style: context.error_style,
    };
    let mut runs = Vec::new();
    let mut matrices: Vec<Matrix> = Vec::new();
    let mut waiting = Vec::new();
    perform_all(&selections, &performance, |performed| {
        waiting.push(performed);
        let scenario = &scenarios[matrices.len()];
        if waiting.len() > scenario.variants.len() {
            let of_scenario: Vec<Run> = waiting.drain(..).flatten().collect();
            let matrix = Matrix::new(scenario, &of_scenario);
            if tells {
                let text = if context.global.quiet { quiet(scenario, &matrix) } else { matrix.text(context.style) };
                context.say(&text)?;
            }
            matrices.push(matrix);
            runs.extend(of_scenario);
        }
        Ok(())
    })?;
    if reports.wants(Format::Json) {
        let mut document = Document::new(server_of(&server), None);
        document.matrix = Some(matrices.iter().map(Matrix::advice).collect::<Vec<Advice>>());
        document.runs = Some(runs.clone());
        reports.write(Format::Json, &document.to_text()?, context)?;
    }
    let whole = |text: fn(&Matrix) -> String| matrices.iter().map(text).collect::<String>();
    reports.write(Format::Markdown, &whole(Matrix::markdown), context)?;
    reports.write(Format::Text, &whole(|matrix| matrix.text(Style::PLAIN)), context)?;
    context.out.flush()?;
    Ok(exit_of(&runs))
}

fn quiet(scenario: &Scenario, matrix: &Matrix) -> String {
    format!("{}: {}\n", scenario.name, matrix.advice().text)
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
