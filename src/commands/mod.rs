//! One file for each subcommand: arguments, engine, report. Only in here both sides are known.

pub mod completions;
mod context;
mod diagnose;
pub mod exit;
pub mod explore;
mod finding;
mod input;
pub mod lint;
pub mod list;
pub mod load;
pub mod matrix;
pub mod new;
mod reports;
pub mod run;
mod selection;
pub mod server;
pub mod show;
pub mod spec;
pub mod tour;

use crate::cli::{Cli, Command};
use crate::wire::{self, Detail};
use context::Context;
use exit::Exit;

/// Runs what the command line asks for.
pub fn run(cli: &Cli) -> anyhow::Result<Exit> {
    // Where a first -v makes the report longer, the second is for what passes beside it.
    let in_report = u8::from(matches!(cli.command, Command::List(_) | Command::Spec(_)));
    wire::trace(match cli.global.verbose.saturating_sub(in_report) {
        0 => Detail::Nothing,
        1 => Detail::Statements,
        _ => Detail::Messages,
    });
    dispatch(&cli.command, &mut Context::new(&cli.global))
}

fn dispatch(command: &Command, context: &mut Context) -> anyhow::Result<Exit> {
    match command {
        Command::Tour(args) => tour::run(args, context),
        Command::LostUpdate(args) => run::one("lost-update", args, context),
        Command::ReadSkew(args) => run::one("read-skew", args, context),
        Command::WriteSkew(args) => run::one("write-skew", args, context),
        Command::Run(args) => run::run(args, context),
        Command::Explore(args) => explore::run(args, context),
        Command::Matrix(args) => matrix::run(args, context),
        Command::Load(args) => load::run(args, context),
        Command::List(args) => list::run(args, context),
        Command::New(args) => new::run(args, context),
        Command::Show(args) => show::run(args, context),
        Command::Lint(args) => lint::run(args, context),
        Command::Spec(args) => spec::run(args, context),
        Command::Server(args) => server::run(args, context),
        Command::Completions(args) => completions::run(args, context),
        Command::Man => completions::man(context),
    }
}
