//! `isolab explore`: every interleaving of a scenario, or one of each kind, judged by the serial orders.

mod found;
mod search;

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::context::Context;
use super::diagnose;
use super::exit::Exit;
use super::reports::{Format, ReportArgs, Reports};
use super::selection::{FormArgs, ScenarioArgs, Selection};
use crate::explore::{Exploration, Mutated, Options, Verdict, mutate};
use crate::progress::Progress;
use crate::report::{Style, exploration};
use crate::scenario::Scenario;
use crate::server::Server;
pub use found::{Came, Shares, exit_of_all, explore_selection};
pub use search::{SearchArgs, document};

#[derive(Debug, Args)]
pub struct ExploreArgs {
    #[command(flatten)]
    scenarios: ScenarioArgs,
    #[command(flatten)]
    forms: FormArgs,
    #[command(flatten)]
    search: SearchArgs,
    /// Between what sessions take turns: statements, or the steps that the scenario names.
    #[arg(long, value_name = "UNIT", default_value = "statement")]
    by: By,
    /// Take each lock clause, each condition of a guarded UPDATE or DELETE, the retry and the level out of every form that
    /// holds, and explore it again: something must go wrong then.
    #[arg(long)]
    mutate: bool,
    /// Give up after this time, as in 30s or 2m. All forms and levels have an equal part of it.
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
struct Told {
    reference: String,
    exploration: Exploration,
    /// Of a set of steps.
    is_set: bool,
}

impl Told {
    fn text(&self, style: Style, seed: u64) -> String {
        let render = if self.is_set { exploration::of_step_set } else { exploration::render };
        render(style, &self.exploration, &self.reference, seed)
    }
}

pub fn run(args: &ExploreArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let names = args.scenarios.names();
    let scenarios = args.forms.params.load(&names)?;
    let references: BTreeMap<*const Scenario, &str> =
        scenarios.iter().map(|scenario| scenario as *const Scenario).zip(names).collect();
    let selections = args.forms.select(&scenarios)?;
    let mut reports = Reports::open(&args.report, &[Format::Text, Format::Json])?;
    let server = context.server()?;
    let tells = reports.stdout() == Format::Text;
    if tells && !context.global.quiet {
        context.introduce(&server)?;
    }
    let seed = args.search.seed();
    let options = Options { by_step: args.by == By::Step, ..args.search.options(seed, args.time_limit) };
    if tells {
        scenarios.iter().filter(|scenario| scenario.is_menu).try_for_each(|menu| {
            context.say(&exploration::step_sets(context.style, &menu.name, menu.variants.len()))
        })?;
    }
    let (mut told, mut time) = (Vec::new(), Shares::new(&selections));
    for selection in &selections {
        let options = time.share(selection, &options);
        let reference = references.get(&(selection.scenario as *const Scenario)).copied();
        let reference = reference.unwrap_or(&selection.scenario.name);
        let explorations = match explore_selection(selection, &server, &options, context)? {
            Came::Explored(explorations) => explorations,
            Came::Skipped { reason } => {
                if tells {
                    context.say(&skipped(selection, &reason))?;
                }
                continue;
            }
        };
        for mut exploration in explorations {
            if args.mutate {
                exploration.mutations = Some(mutate_explored(selection, &exploration, &server, &options, context)?);
            }
            let is_set = selection.scenario.is_menu;
            let new = Told { reference: reference.to_owned(), exploration, is_set };
            if tells && !context.global.quiet {
                context.say(&new.text(context.style, seed))?;
            }
            told.push(new);
        }
    }
    report(&told, tells, seed, &mut reports, &server, context)?;
    Ok(exit_of(&told))
}

fn skipped(selection: &Selection, reason: &str) -> String {
    let form = selection.fix.map(|fix| format!(", {fix}")).unwrap_or_default();
    format!("{}{form}: skipped, it {reason}\n\n", selection.scenario.name)
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
    told: &[Told],
    tells: bool,
    seed: u64,
    reports: &mut Reports,
    server: &Server,
    context: &mut Context,
) -> anyhow::Result<()> {
    let explorations: Vec<Exploration> = told.iter().map(|told| told.exploration.clone()).collect();
    if tells && (told.len() > 1 || context.global.quiet) {
        context.say(&exploration::summary(context.style, &explorations))?;
    }
    if reports.wants(Format::Json) {
        reports.write(Format::Json, &document(server, explorations, seed).to_text()?, context)?;
    }
    if reports.wants(Format::Text) {
        reports.write(
            Format::Text,
            &told.iter().map(|told| told.text(Style::PLAIN, seed)).collect::<String>(),
            context,
        )?;
    }
    context.out.flush()?;
    Ok(())
}

fn exit_of(told: &[Told]) -> Exit {
    let explored = exit_of_all(told.iter().map(|told| &told.exploration));
    explored.max(exit_of_mutations(told))
}

/// A part that holds a form together at none of the levels at which the form holds is one too many.
fn exit_of_mutations(told: &[Told]) -> Exit {
    let mut needed: BTreeMap<(&str, Option<&str>, &str, &str), Exit> = BTreeMap::new();
    for Told { exploration, .. } in told {
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
