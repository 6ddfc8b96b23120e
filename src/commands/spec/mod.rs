//! `isolab spec`: PostgreSQL's own isolation tests, as isolationtester runs them.

mod inputs;
mod outcome;
mod teller;

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use clap::{Args, ValueEnum};

use super::context::{Context, deadline};
use super::exit::{Exit, UsageError};
use crate::progress::Progress;
use crate::server::Server;
use crate::spec::{PlayOptions, SpecFile, play_all};
use inputs::{Input, read_all};
use outcome::Outcome;
use teller::Teller;

/// isolationtester's limit for a step is twice this many seconds.
const TIMEOUT_VARIABLE: &str = "PG_TEST_TIMEOUT_DEFAULT";
const DEFAULT_TIMEOUT: u64 = 180;
/// Connections beside the sessions, for each file: control, the database's owner, the observer.
const BESIDE_SESSIONS: usize = 3;
/// Connections that make the next database and drop the last.
const BESIDE_FILES: usize = 2;

#[derive(Debug, Args)]
pub struct SpecArgs {
    /// Isolation tests (.spec), and folders of them.
    #[arg(value_name = "FILE|FOLDER", required = true)]
    paths: Vec<PathBuf>,
    /// Compare each output with NAME.out and NAME_0.out to NAME_9.out in this folder.
    #[arg(long, value_name = "FOLDER")]
    expected: Option<PathBuf>,
    /// What standard output gets. Left out it is text, and with --expected isolationtester.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// How many files to play side by side.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=64))]
    runners: u32,
    /// Cancel a step that takes longer than this, as in 30s or 2m, and give its file up after twice that. Left out it is
    /// isolationtester's: twice PG_TEST_TIMEOUT_DEFAULT seconds, or 6m.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    step_limit: Option<Duration>,
    /// Give up after this time, as in 30s or 2m.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration, env = "ISOLAB_TIME_LIMIT")]
    time_limit: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// What isolationtester prints, byte for byte; differences go to standard error.
    Isolationtester,
    /// How the permutations ended; with --expected a list of the files and their differences.
    Text,
    Json,
    Junit,
}

impl Format {
    /// Whether the server is part of what is told.
    fn names_server(self) -> bool {
        matches!(self, Format::Json | Format::Junit)
    }
}

pub fn run(args: &SpecArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let inputs = read_all(&args.paths)?;
    if let Some(folder) = &args.expected {
        ensure!(folder.is_dir(), UsageError::new(format!("--expected {}: no such folder", folder.display())));
    }
    if inputs.is_empty() {
        context.note("no .spec file is there");
        return Ok(Exit::NothingMatched);
    }
    let default = if args.expected.is_some() { Format::Isolationtester } else { Format::Text };
    let format = args.format.unwrap_or(default);
    let to_play = inputs.iter().any(|input| input.parsed.is_ok());
    let server = if to_play || format.names_server() { Some(context.server()?) } else { None };
    let teller = Teller { format, compares: args.expected.is_some(), server: server.as_deref() };
    let mut outcomes = Outcomes { list: inputs.iter().map(|_| None).collect(), told: 0 };
    for (index, input) in inputs.iter().enumerate() {
        if let Err(refused) = &input.parsed {
            outcomes.list[index] = Some(Outcome::refused(input, refused, args.expected.as_deref())?);
        }
    }
    teller.introduce(context)?;
    outcomes.tell(&inputs, &teller, context)?;
    if let Some(server) = server.as_deref().filter(|_| to_play) {
        play(args, &inputs, server, &mut outcomes, &teller, context)?;
    }
    let finished: Vec<Outcome> = outcomes.list.into_iter().flatten().collect();
    teller.conclude(&finished, context)?;
    Ok(finished.iter().map(|outcome| outcome.exit).max().unwrap_or(Exit::NothingMatched))
}

/// Plays the files that have no mistakes.
fn play(
    args: &SpecArgs,
    inputs: &[Input],
    server: &Server,
    outcomes: &mut Outcomes,
    teller: &Teller,
    context: &mut Context,
) -> anyhow::Result<()> {
    let (indices, specs): (Vec<usize>, Vec<SpecFile>) = inputs
        .iter()
        .enumerate()
        .filter_map(|(index, input)| Some((index, input.parsed.as_ref().ok()?.clone())))
        .unzip();
    ensure_connections(server, &specs, args.runners as usize)?;
    if args.expected.is_some() && server.setting("autovacuum")? != "on" {
        context.note("note: autovacuum is off on this server, which changes plans that some expected outputs show");
    }
    let options = PlayOptions { step_limit: step_limit(args)?, deadline: deadline(args.time_limit) };
    let progress = Progress::new(!context.shows_progress(), context.global.ascii);
    let bar = progress.bar("spec", Some(specs.len() as u64));
    play_all(&specs, server, args.runners as usize, options, |played| -> anyhow::Result<()> {
        bar.advance();
        let index = indices[played.file];
        let outcome = Outcome::played(&inputs[index], &specs[played.file], &played, args.expected.as_deref())?;
        outcomes.list[index] = Some(outcome);
        progress.suspend(|| outcomes.tell(inputs, teller, context))
    })?;
    drop(bar);
    for (outcome, input) in outcomes.list.iter_mut().zip(inputs) {
        outcome.get_or_insert_with(|| Outcome::left_out(input));
    }
    outcomes.tell(inputs, teller, context)
}

/// What came of the files so far, in the order of the files.
struct Outcomes {
    list: Vec<Option<Outcome>>,
    /// So many were told.
    told: usize,
}

impl Outcomes {
    /// Tells those whose turn it is.
    fn tell(&mut self, inputs: &[Input], teller: &Teller, context: &mut Context) -> anyhow::Result<()> {
        while let Some(Some(outcome)) = self.list.get(self.told) {
            teller.tell(&inputs[self.told], outcome, context)?;
            self.told += 1;
        }
        Ok(())
    }
}

fn step_limit(args: &SpecArgs) -> anyhow::Result<Duration> {
    if let Some(limit) = args.step_limit {
        return Ok(limit);
    }
    let seconds = match env::var(TIMEOUT_VARIABLE) {
        Ok(text) => text.trim().parse().map_err(|_| {
            UsageError::new(format!("{TIMEOUT_VARIABLE} is a number of seconds, and not `{}`", text.escape_debug()))
        })?,
        Err(_) => DEFAULT_TIMEOUT,
    };
    Ok(Duration::from_secs(seconds).saturating_mul(2))
}

fn ensure_connections(server: &Server, specs: &[SpecFile], runners: usize) -> anyhow::Result<()> {
    let mut sessions: Vec<usize> = specs.iter().map(|spec| spec.sessions.len()).collect();
    sessions.sort_unstable_by(|one, other| other.cmp(one));
    let needed = sessions.iter().take(runners).map(|sessions| sessions + BESIDE_SESSIONS).sum::<usize>() + BESIDE_FILES;
    let connections = server.connections()?;
    let error = || UsageError {
        message: format!("{runners} runners may need {needed} connections; {connections}"),
        help: Some("lower --runners or raise the limit".to_owned()),
    };
    ensure!(needed <= connections.free() as usize, error());
    Ok(())
}
