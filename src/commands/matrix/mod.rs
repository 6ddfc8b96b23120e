//! `isolab matrix`: every form of a scenario at every level in one table, and the fix to take.

mod explored;
mod staged;

use std::io::Write;
use std::time::Duration;

use clap::Args;

use super::context::Context;
use super::exit::{Exit, UsageError};
use super::explore::SearchArgs;
use super::reports::{Format, ReportArgs, Reports};
use super::selection::{LevelChoice, ParamArgs, ScenarioArgs, Selection, select};
use crate::report::Style;
use crate::report::json::Document;
use crate::report::matrix::{Cell, Matrix};
use crate::scenario::Scenario;
use crate::server::Server;

/// Which fix is the cheapest.
const AFTER_HELP: &str = "\
Cells: happens (a check fails), stopped (an error ended a transaction, with its SQLSTATE), waits (nothing wrong, somebody
had to wait), prevented (nothing wrong, nobody waited), n/a (the form is not meant for that level, or the server cannot do
it). Below: what the data are like when everything that was stopped has been retried.

The cheapest fix is the one that costs the clients least: no waiting and no error before waiting, waiting before an error
that a retry repairs, that before an error that stays. Of equal ones the lower level wins, then the one that the file has
first. Raising the level of the scenario as written counts as a fix where no other is as cheap.

The exit code is 1 where an outcome is not the one that an @expect foresees.

With --explore a cell is the verdict on all schedules: safe (14) of 14 that were played, after the retries that it names;
broken, deadlocks, errors or hang in so many of them; not a race (the check fails one after the other as well);
inconclusive. The cheapest fix is then one that is safe over all schedules: no error before a retry, that before an error
that is not retried, then the lower level; who waits is not counted. The exit codes are those of `isolab explore`.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, mut_group("SearchArgs", |group| group.requires("explore")))]
pub struct MatrixArgs {
    #[command(flatten)]
    scenarios: ScenarioArgs,
    /// Only this isolation level, for forms that have none of their own; otherwise all three. Repeatable.
    #[arg(long, value_name = "LEVEL")]
    isolation: Vec<LevelChoice>,
    #[command(flatten)]
    params: ParamArgs,
    /// Play all schedules of every form at every level, as `isolab explore` does, in place of the staged one.
    #[arg(long)]
    explore: bool,
    /// Give up after this time, as in 30s or 2m. With --explore all forms and levels have an equal part of it.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration, env = "ISOLAB_TIME_LIMIT")]
    time_limit: Option<Duration>,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten, next_help_heading = "With --explore")]
    search: SearchArgs,
}

pub fn run(args: &MatrixArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let scenarios = args.params.load(&args.scenarios.names())?;
    scenarios.iter().try_for_each(has_forms)?;
    let levels = if args.isolation.is_empty() { &[LevelChoice::All][..] } else { &args.isolation };
    let selections = select(&scenarios, &["all".to_owned()], levels)?;
    let reports = Reports::open(&args.report, &[Format::Text, Format::Json, Format::Markdown])?;
    let server = context.server()?;
    if reports.stdout() == Format::Text && !context.global.quiet {
        context.introduce(&server)?;
    }
    let task = Task { args, scenarios: &scenarios, selections: &selections, server: &server, reports };
    match args.explore {
        true => explored::run(task, context),
        false => staged::run(task, context),
    }
}

/// Sets of steps are no forms of one thing.
fn has_forms(scenario: &Scenario) -> Result<(), UsageError> {
    match scenario.is_menu {
        false => Ok(()),
        true => Err(UsageError {
            message: format!(
                "the permutations of {} choose from its steps: there are no fixes to compare",
                scenario.name
            ),
            help: Some("`isolab explore` explores each set of steps".to_owned()),
        }),
    }
}

/// What is to be tabulated, on which server, and where the tables go.
struct Task<'a> {
    args: &'a MatrixArgs,
    scenarios: &'a [Scenario],
    selections: &'a [Selection<'a>],
    server: &'a Server,
    reports: Reports,
}

impl Task<'_> {
    /// Tells a matrix at once, where text is what standard output gets.
    fn tell<C: Cell>(&self, matrix: &Matrix<C>, context: &mut Context) -> anyhow::Result<()> {
        if self.reports.stdout() == Format::Text {
            let text = match context.global.quiet {
                true => format!("{}: {}\n", matrix.scenario, matrix.advice().text),
                false => matrix.text(context.style),
            };
            context.say(&text)?;
        }
        Ok(())
    }

    /// Writes all matrices wherever they are still to be written. `document` has what they were made of.
    fn report<C: Cell>(
        mut self,
        matrices: &[Matrix<C>],
        mut document: Document,
        context: &mut Context,
    ) -> anyhow::Result<()> {
        if self.reports.wants(Format::Json) {
            document.matrix = Some(matrices.iter().map(Matrix::advice).collect());
            self.reports.write(Format::Json, &document.to_text()?, context)?;
        }
        let whole = |text: fn(&Matrix<C>) -> String| matrices.iter().map(text).collect::<String>();
        self.reports.write(Format::Markdown, &whole(Matrix::markdown), context)?;
        self.reports.write(Format::Text, &whole(|matrix| matrix.text(Style::PLAIN)), context)?;
        context.out.flush()?;
        Ok(())
    }
}
