//! `isolab show`: a scenario's file, ready to copy and change.

use clap::Args;

use super::context::Context;
use super::exit::Exit;
use crate::scenario::open;

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The name of a built-in scenario, or a file.
    #[arg(value_name = "NAME")]
    name: String,
}

/// Prints the file whole, with what it refers to put in place: `isolab show NAME > mine.sql` gives a file that runs.
pub fn run(args: &ShowArgs, context: &mut Context) -> anyhow::Result<Exit> {
    context.say(&open(&args.name)?.whole()?)?;
    Ok(Exit::Held)
}
