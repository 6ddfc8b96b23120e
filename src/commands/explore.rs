//! `isolab explore`: every interleaving of a scenario, or one of each kind, judged by the serial orders.

use std::collections::BTreeMap;
use std::io::Write;
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use rand::RngExt;

use super::context::{Context, deadline};
use super::diagnose;
use super::exit::Exit;
use super::reports::{Format, ReportArgs, Reports};
use super::run::{LevelChoice, Selection, load_all, names, select, server_of};
use crate::explore::{Exploration, Mutated, Options, Verdict, explore, mutate};
use crate::progress::Progress;
use crate::report::json::Document;
use crate::report::{Style, exploration};
use crate::runner::RunError;
use crate::scenario::{Expect, ExpectedOutcome, Scenario};
use crate::server::Server;

#[derive(Debug, Args)]
pub struct ExploreArgs {
    /// Built-in scenarios by name, or files; also `.spec` files of PostgreSQL's isolation tests.
    #[arg(value_name = "NAME|FILE", required_unless_present = "all")]
    names: Vec<String>,
    /// Every built-in scenario.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// The isolation level: read-committed, repeatable-read, serializable or all. Repeatable.
    #[arg(long, value_name = "LEVEL")]
    isolation: Vec<LevelChoice>,
    /// Only this fix or variant; all: as written and every one of them. Repeatable.
    #[arg(long, value_name = "NAME")]
    fix: Vec<String>,
    /// Give a parameter of the scenario another value. Repeatable.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Play no more schedules than this at one level. Where half of them do not cover everything, a quarter goes to orders
    /// with at most 0, 1, 2 and 3 preemptions, the rest to orders at random (PCT).
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_schedules: u64,
    /// Draws the random orders; the report says which one it was.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many sandboxes work side by side; the result is the same for every number. [default: the processors, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    runners: Option<u8>,
    /// Play every order, also those that come to the same.
    #[arg(long)]
    no_reduce: bool,
    /// Between what sessions take turns: statements, or the steps that the scenario names.
    #[arg(long, value_name = "UNIT", default_value = "statement")]
    by: By,
    /// Take each lock clause, each condition of a guarded UPDATE or DELETE, the retry and the level out of every form that
    /// holds, and explore it again: something must go wrong then.
    #[arg(long)]
    mutate: bool,
    /// Give up after this time, as in 30s or 2m.
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration, env = "ISOLAB_TIME_LIMIT")]
    time_limit: Option<Duration>,
    #[command(flatten)]
    report: ReportArgs,
}

/// Between what sessions take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Statement,
    Step,
}

/// An exploration, and what named its scenario on the command line.
struct Found {
    reference: String,
    exploration: Exploration,
    contradicts: bool,
}

pub fn run(args: &ExploreArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let names = names(&args.names, args.all);
    let scenarios = load_all(&names, &args.set)?;
    let references: BTreeMap<*const Scenario, &String> =
        scenarios.iter().map(|scenario| scenario as *const Scenario).zip(&names).collect();
    let selections = select(&scenarios, &args.fix, &args.isolation)?;
    let mut reports = Reports::open(&args.report, &[Format::Text, Format::Json])?;
    let server = context.server()?;
    let tells = reports.stdout() == Format::Text;
    if tells && !context.global.quiet {
        context.introduce(&server)?;
    }
    let seed = args.seed.unwrap_or_else(|| rand::rng().random_range(0..1_000_000));
    let options = Options {
        deadline: deadline(args.time_limit),
        max_schedules: args.max_schedules,
        fallback_seed: Some(seed),
        runners: args.runners.map_or_else(runners, usize::from),
        reduces: !args.no_reduce,
        by_step: args.by == By::Step,
        details: true,
    };
    let mut found = Vec::new();
    for selection in &selections {
        let reference = references.get(&(selection.scenario as *const Scenario)).copied();
        let explored = explore_selection(selection, &server, &options, tells, context)?;
        for mut exploration in explored {
            if args.mutate {
                exploration.mutations = Some(mutate_explored(selection, &exploration, &server, &options, context)?);
            }
            let reference = reference.unwrap_or(&exploration.scenario).clone();
            if tells && !context.global.quiet {
                context.say(&exploration::render(context.style, &exploration, &reference, seed))?;
            }
            let contradicts = contradicts(selection, &exploration, server.version().major);
            found.push(Found { reference, exploration, contradicts });
        }
    }
    report(&found, tells, seed, &mut reports, &server, context)?;
    Ok(exit_of(&found))
}

fn runners() -> usize {
    thread::available_parallelism().map_or(1, |number| number.get().min(4))
}

fn explore_selection(
    selection: &Selection,
    server: &Server,
    options: &Options,
    tells: bool,
    context: &mut Context,
) -> anyhow::Result<Vec<Exploration>> {
    let Selection { scenario, fix, levels } = selection;
    let progress = Progress::new(!context.shows_progress(), context.style.ascii);
    let bar = progress.bar(fix.unwrap_or(&scenario.name), None);
    let explored = explore(server, scenario, *fix, levels, options, &mut || bar.advance());
    drop(bar);
    match explored {
        Ok(explorations) => Ok(explorations),
        Err(RunError::Unmet { reason }) => {
            if tells {
                let form = fix.map(|fix| format!(", {fix}")).unwrap_or_default();
                context.say(&format!("{}{form}: skipped, it {reason}\n\n", scenario.name))?;
            }
            Ok(Vec::new())
        }
        Err(error) => Err(diagnose::run_error(error, &scenario.sources, context.error_style)),
    }
}

fn mutate_explored(
    selection: &Selection,
    exploration: &Exploration,
    server: &Server,
    options: &Options,
    context: &mut Context,
) -> anyhow::Result<Vec<Mutated>> {
    let progress = Progress::new(!context.shows_progress(), context.style.ascii);
    let bar = progress.bar("without its parts", None);
    let mutated = mutate(server, selection.scenario, exploration, options, &mut || bar.advance());
    mutated.map_err(|error| diagnose::run_error(error, &selection.scenario.sources, context.error_style))
}

fn report(
    found: &[Found],
    tells: bool,
    seed: u64,
    reports: &mut Reports,
    server: &Server,
    context: &mut Context,
) -> anyhow::Result<()> {
    let explorations: Vec<Exploration> = found.iter().map(|found| found.exploration.clone()).collect();
    if tells && (found.len() > 1 || context.global.quiet) {
        context.say(&exploration::summary(context.style, &explorations))?;
    }
    if reports.wants(Format::Json) {
        let is_random = explorations.iter().any(|found| found.fallback.is_some_and(|fallback| fallback.random > 0));
        let mut document = Document::new(server_of(server), is_random.then_some(seed));
        document.explore = Some(explorations);
        reports.write(Format::Json, &document.to_text()?, context)?;
    }
    if reports.wants(Format::Text) {
        let text = |found: &Found| exploration::render(Style::PLAIN, &found.exploration, &found.reference, seed);
        reports.write(Format::Text, &found.iter().map(text).collect::<String>(), context)?;
    }
    context.out.flush()?;
    Ok(())
}

/// Whether the verdict is at odds with the scenario's `@expect` for the level: one that foresees an anomaly wants a
/// schedule that shows it, any other wants none. Where none speaks, *broken* is one too many.
fn contradicts(selection: &Selection, exploration: &Exploration, server_major: u32) -> bool {
    let plan = selection.scenario.plan(selection.fix).unwrap_or(&selection.scenario.as_written);
    let speaks = |expect: &&Expect| {
        let of_version = expect.version.is_none_or(|(comparison, version)| comparison.holds(&server_major, &version));
        expect.levels.contains(&exploration.isolation) && of_version
    };
    let verdict = exploration.verdict;
    match plan.expects.iter().rev().find(speaks) {
        Some(Expect { outcome: ExpectedOutcome::Happens(_), .. }) => {
            verdict < Verdict::Inconclusive && exploration.repaired == 0
        }
        _ => verdict == Verdict::Broken,
    }
}

fn exit_of(found: &[Found]) -> Exit {
    let of = |found: &Found| match found.exploration.verdict {
        // What does not come out the same twice decides nothing.
        _ if found.exploration.failures.iter().any(|failure| failure.differs.is_some()) => Exit::Inconclusive,
        _ if found.contradicts => Exit::DidNotHold,
        Verdict::Inconclusive => Exit::Inconclusive,
        _ => Exit::Held,
    };
    let explored = found.iter().map(of).max().unwrap_or(Exit::NothingMatched);
    explored.max(exit_of_mutations(found))
}

/// A part that holds a form together at none of the levels at which the form holds is one too many.
fn exit_of_mutations(found: &[Found]) -> Exit {
    let mut needed: BTreeMap<(&str, Option<&str>, &str, &str), Exit> = BTreeMap::new();
    for Found { exploration, .. } in found {
        for mutated in exploration.mutations.iter().flatten().filter(|mutated| !mutated.idle) {
            let of_form = (exploration.scenario.as_str(), exploration.fix.as_deref());
            let exit = match mutated.after {
                _ if mutated.red => Exit::Held,
                Verdict::Inconclusive => Exit::Inconclusive,
                _ => Exit::DidNotHold,
            };
            let known = needed.entry((of_form.0, of_form.1, &mutated.place, &mutated.taken_out)).or_insert(exit);
            *known = exit.min(*known);
        }
    }
    needed.into_values().max().unwrap_or(Exit::Held)
}
