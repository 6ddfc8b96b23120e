//! `isolab completions` and `isolab man`: made from the command line's own types.

use clap::{Args, CommandFactory};
use clap_complete::{Generator, Shell};

use super::context::Context;
use super::exit::Exit;
use crate::cli::Cli;

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell to complete for.
    shell: Shell,
}

pub fn run(args: &CompletionsArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let mut command = Cli::command();
    command.set_bin_name("isolab");
    command.build();
    args.shell.try_generate(&command, &mut context.out)?;
    context.out.flush()?;
    Ok(Exit::Held)
}

pub fn man(context: &mut Context) -> anyhow::Result<Exit> {
    clap_mangen::Man::new(Cli::command()).render(&mut context.out)?;
    context.out.flush()?;
    Ok(Exit::Held)
}
