//! `isolab load`: every strategy of a scenario under load, the table of what came of it, and the assertions on it.

use std::io::Write;
use std::time::{Duration, Instant};

use clap::Args;
use rand::RngExt;

use super::context::{Context, deadline};
use super::diagnose;
use super::exit::{Exit, UsageError};
use super::reports::{Format, ReportArgs, Reports};
use super::run::server_of;
use super::selection::{LevelChoice, ParamArgs, chosen_levels};
use crate::load::assertion::Assertion;
use crate::load::statistics::{AssertionResult, LoadRow};
use crate::load::{LoadError, LoadOptions, LoadTest, Strategy};
use crate::progress::Progress;
use crate::report::json::Document;
use crate::report::style::Ink;
use crate::report::{Style, assertions, load_table};
use crate::runner::RunError;
use crate::scenario::{self, LoadAmount};
use crate::server::Server;

#[derive(Debug, Args)]
pub struct LoadArgs {
    /// A built-in scenario by name, or a file.
    #[arg(value_name = "NAME|FILE", default_value = "overspend")]
    name: String,
    /// Only this strategy: the scenario as written, a variant or a fix, by its name in the table. Repeatable.
    #[arg(long, value_name = "NAME")]
    strategy: Vec<String>,
    /// How many work at once, each on a connection of its own.
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    workers: Option<u32>,
    /// How many requests each strategy gets.
    #[arg(short = 't', long, value_name = "N", value_parser = some_requests)]
    requests: Option<u64>,
    /// Go on for this time in place of a number of requests, as in 30s or 2m.
    #[arg(short = 'T', long, value_name = "DURATION", value_parser = some_time, conflicts_with = "requests")]
    duration: Option<Duration>,
    /// Let the workers run for this time first, on tables that are then made anew. Not counted.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    warm_up: Option<Duration>,
    /// The isolation level of strategies that have none of their own. Repeatable.
    #[arg(long, value_name = "LEVEL")]
    isolation: Vec<LevelChoice>,
    #[command(flatten)]
    params: ParamArgs,
    /// Shuffle the requests and draw random numbers by this number.
    #[arg(long, value_name = "N", env = "ISOLAB_SEED")]
    seed: Option<u64>,
    /// The attempts in all of a client that retries, in place of what the scenario says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    retry: Option<u32>,
    /// What must hold of every row, as in 'over_budget == 0', or of one, as in 'for-update: p95 < 20ms'. Repeatable.
    #[arg(long = "assert", value_name = "[STRATEGY:] NAME OP NUMBER")]
    asserts: Vec<String>,
    /// Give up after this time, as in 30s or 2m.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration, env = "ISOLAB_TIME_LIMIT")]
    time_limit: Option<Duration>,
    #[command(flatten)]
    report: ReportArgs,
}

/// A number of requests, of which there is one at least.
fn some_requests(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("nothing happens without a request; write a number such as 400".to_owned()),
        other => other.map_err(|_| "write a whole number such as 400".to_owned()),
    }
}

/// A duration in which something can happen.
fn some_time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("nothing happens in no time; write a duration such as 30s".to_owned()),
        other => other.map_err(|error| error.to_string()),
    }
}

pub fn run(args: &LoadArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let deadline = deadline(args.time_limit);
    let scenario = scenario::load(&args.name)?;
    let test = LoadTest::new(&scenario, options(args, deadline)?).map_err(|error| match error {
        LoadError::OnlyStaged { command, span } => {
            diagnose::only_staged(command, span, &scenario.sources, context.error_style)
        }
        error => told(error),
    })?;
    let assertions = parse_assertions(&test, &args.asserts)?;
    let mut reports = Reports::open(&args.report, &[Format::Text, Format::Json])?;
    let server = context.server()?;
    let tells = reports.stdout() == Format::Text;
    if tells && !context.global.quiet {
        context.introduce(&server)?;
    }
    let ran = run_all(&test, &server, deadline, context)?;
    let results: Vec<AssertionResult> = assertions.iter().flat_map(|assertion| assertion.judge(&ran.rows)).collect();
    let seed = test.is_random().then(|| test.seed());
    if tells {
        let style = context.style;
        context.say(&text(style, &ran.rows, &results, seed))?;
    }
    if reports.wants(Format::Text) {
        reports.write(Format::Text, &text(Style::PLAIN, &ran.rows, &results, seed), context)?;
    }
    if reports.wants(Format::Json) {
        let mut document = Document::new(server_of(&server), seed);
        document.load = Some(ran.rows.clone());
        document.assertions = Some(results.clone());
        reports.write(Format::Json, &document.to_text()?, context)?;
    }
    context.out.flush()?;
    Ok(exit_of(&test, &ran, &results))
}

fn options(args: &LoadArgs, deadline: Instant) -> anyhow::Result<LoadOptions> {
    Ok(LoadOptions {
        strategies: args.strategy.clone(),
        levels: chosen_levels(&args.isolation),
        workers: args.workers,
        amount: args.duration.map(LoadAmount::For).or(args.requests.map(LoadAmount::Requests)),
        set: args.params.set.clone(),
        // Small enough for every reader of JSON.
        seed: args.seed.unwrap_or_else(|| rand::rng().random_range(0..1_000_000)),
        shuffled: args.seed.is_some(),
        attempts: args.retry,
        warm_up: args.warm_up.unwrap_or_default(),
        deadline,
    })
}

fn parse_assertions(test: &LoadTest, texts: &[String]) -> Result<Vec<Assertion>, UsageError> {
    let measures = test.measures();
    let strategies: Vec<&str> = test.strategies().iter().map(|strategy| strategy.name.as_str()).collect();
    let parse = |text: &String| {
        Assertion::parse(text, &measures, &strategies).map_err(|error| UsageError::new(format!("--assert: {error}")))
    };
    texts.iter().map(parse).collect()
}

/// What was run.
struct Ran {
    rows: Vec<LoadRow>,
    /// The time limit came before everything was done.
    cut_short: bool,
}

/// Runs all strategies that the server can run, up to the deadline.
fn run_all(test: &LoadTest, server: &Server, deadline: Instant, context: &Context) -> anyhow::Result<Ran> {
    let progress = Progress::new(!context.shows_progress(), context.global.ascii);
    let steps = match test.amount() {
        LoadAmount::Requests(requests) => Some(requests),
        LoadAmount::For(_) => None,
    };
    let mut ran = Ran { rows: Vec::new(), cut_short: false };
    for strategy in test.strategies() {
        let bar = progress.bar(&strategy.name, steps);
        let note = |text: &str| progress.suspend(|| context.note(&format!("{}: {text}", strategy.name)));
        if Instant::now() >= deadline {
            note("not run, the time limit was reached");
            ran.cut_short = true;
            continue;
        }
        match test.run(server, strategy, &|| bar.advance()) {
            Ok(row) => {
                diagnose::hopeless_load(&row, &test.scenario().sources, context.error_style)?;
                ran.cut_short |= row.cut_short;
                ran.rows.push(row);
            }
            Err(error) if error.is_time_limit() => {
                note(&format!("not run to its end: {error}"));
                ran.cut_short = true;
            }
            Err(LoadError::Run(error)) => match *error {
                RunError::Unmet { reason } => note(&format!("skipped, it {reason}")),
                error => return Err(diagnose::run_error(error, &test.scenario().sources, context.error_style)),
            },
            Err(error) => return Err(told(error)),
        }
    }
    Ok(ran)
}

/// The user's own mistakes are told as such.
fn told(error: LoadError) -> anyhow::Error {
    match error {
        LoadError::Set(error) => error.into(),
        LoadError::NoLoad { .. } | LoadError::UnknownStrategy { .. } => UsageError::new(error.to_string()).into(),
        other => other.into(),
    }
}

fn text(style: Style, rows: &[LoadRow], results: &[AssertionResult], seed: Option<u64>) -> String {
    let mut text = load_table::render(style, rows);
    if let Some(seed) = seed {
        text += &format!("\n{}\n", style.paint(Ink::Aside, &format!("drawn by --seed {seed}")));
    }
    if !results.is_empty() {
        text += "\n";
        text += &assertions::render(style, results);
    }
    text
}

fn exit_of(test: &LoadTest, ran: &Ran, results: &[AssertionResult]) -> Exit {
    let is_fix = |row: &LoadRow| {
        let of_row = |strategy: &&Strategy| strategy.name == row.strategy && strategy.level == row.isolation;
        test.strategies().iter().find(of_row).is_some_and(|strategy| strategy.is_fix)
    };
    let fails = |row: &LoadRow| row.checks.iter().any(|check| !check.holds);
    if ran.rows.iter().any(|row| is_fix(row) && fails(row)) || results.iter().any(|result| !result.holds) {
        return Exit::DidNotHold;
    }
    match (ran.cut_short, ran.rows.is_empty()) {
        (true, _) => Exit::Inconclusive,
        (false, true) => Exit::NothingMatched,
        (false, false) => Exit::Held,
    }
}
