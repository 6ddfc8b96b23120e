//! `isolab run` and its short forms: stage scenarios, tell their stories, compare with what they expect.

mod pause;
mod perform;

use std::io::Write;
use std::time::Duration;

use clap::Args;

use super::context::{Context, deadline};
use super::exit::{Exit, UsageError};
use super::reports::{Format, ReportArgs, Reports};
use super::selection::{FormArgs, ScenarioArgs, Selection, chosen_levels};
use crate::report::json::{self, Document};
use crate::report::{Run, Style, summary};
use crate::server::Server;
use crate::verdict::Outcome;
pub use perform::{Performance, perform_all};
use perform::{perform, stories};

/// What staging understands, whatever the scenario.
#[derive(Debug, Args)]
pub struct PlayArgs {
    #[command(flatten)]
    forms: FormArgs,
    /// Wait for Enter before each statement.
    #[arg(long)]
    pub step: bool,
    /// Play this schedule, as a report printed it, in place of the staged one: sessions by name or number.
    #[arg(long, value_name = "SCHEDULE")]
    pub replay: Option<String>,
    /// Give up after this time, as in 30s or 2m.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration, env = "ISOLAB_TIME_LIMIT")]
    pub time_limit: Option<Duration>,
    #[command(flatten)]
    pub report: ReportArgs,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    scenarios: ScenarioArgs,
    #[command(flatten)]
    play: PlayArgs,
}

pub fn run(args: &RunArgs, context: &mut Context) -> anyhow::Result<Exit> {
    run_named(&args.scenarios.names(), &args.play, context)
}

/// `isolab write-skew` is `isolab run write-skew`.
pub fn one(name: &str, args: &PlayArgs, context: &mut Context) -> anyhow::Result<Exit> {
    run_named(&[name], args, context)
}

fn run_named(names: &[&str], args: &PlayArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let scenarios = args.forms.params.load(names)?;
    let selections = args.forms.select(&scenarios)?;
    if let Some(schedule) = &args.replay {
        check_replay(schedule, &selections, args)?;
    }
    let mut reports = Reports::open(&args.report, &[Format::Text, Format::Json])?;
    let server = context.server()?;
    let tells = reports.stdout() == Format::Text;
    if tells && !context.global.quiet {
        context.introduce(&server)?;
    }
    let performance = Performance {
        server: &server,
        deadline: deadline(args.time_limit),
        step: args.step,
        replay: args.replay.as_deref(),
        error_style: context.error_style,
    };
    let tells_all = tells && !context.global.quiet;
    let mut runs = Vec::new();
    match selections.as_slice() {
        // One story is told while it goes on; of several each is told when it is over.
        [selection] => runs = perform(selection, &performance, tells_all.then_some(&mut *context))?,
        _ if args.step => {
            for selection in &selections {
                runs.extend(perform(selection, &performance, tells_all.then_some(&mut *context))?);
            }
        }
        _ => perform_all(&selections, &performance, |performed| {
            if tells_all {
                context.say(&stories(context.style, &performed))?;
            }
            runs.extend(performed);
            Ok(())
        })?,
    }
    if tells && (runs.len() > 1 || context.global.quiet) {
        let style = context.style;
        context.say(&summary::render(style, &runs))?;
    }
    if reports.wants(Format::Json) {
        let mut document = Document::new(server_of(&server), None);
        document.runs = Some(runs.clone());
        reports.write(Format::Json, &document.to_text()?, context)?;
    }
    if reports.wants(Format::Text) {
        reports.write(Format::Text, &stories(Style::PLAIN, &runs), context)?;
    }
    context.out.flush()?;
    Ok(exit_of(&runs))
}

/// A replay plays one schedule once.
fn check_replay(schedule: &str, selections: &[Selection], args: &PlayArgs) -> Result<(), UsageError> {
    if selections.len() != 1 || chosen_levels(&args.forms.isolation).len() != 1 {
        return Err(UsageError::new("--replay plays one run: name one scenario, one --fix and one --isolation"));
    }
    if schedule.trim().is_empty() {
        let help = "a report prints the schedule of each run, such as 'alice.3 bob.4 alice'".to_owned();
        return Err(UsageError { message: "--replay: there is no move in it".to_owned(), help: Some(help) });
    }
    Ok(())
}

/// The server as JSON names it.
pub fn server_of(server: &Server) -> json::Server {
    json::Server { version: server.version().to_string(), source: server.source().name().to_owned() }
}

/// Where an `@expect` speaks it decides; elsewhere an anomaly, before or after the retries, is one too many.
pub fn exit_of(runs: &[Run]) -> Exit {
    let of = |run: &Run| match &run.verdict.outcome {
        Outcome::Skipped { .. } => Exit::NothingMatched,
        Outcome::Inconclusive { .. } => Exit::Inconclusive,
        _ if run.is_unexpected() => Exit::DidNotHold,
        _ if run.expected.is_some() => Exit::Held,
        Outcome::Happens => Exit::DidNotHold,
        _ => {
            let after = run.history.as_ref().and_then(|history| history.after_retry.as_ref());
            let fails = after.is_some_and(|after| !after.failing_checks().is_empty());
            if fails { Exit::DidNotHold } else { Exit::Held }
        }
    };
    Exit::of_all(runs.iter().map(of))
}
