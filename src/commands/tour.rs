//! `isolab tour`: a text file that explains, and the commands in it, run as they stand there.

use clap::{Args, Parser};

use super::context::Context;
use super::exit::Exit;
use crate::cli::{Cli, Command};
use crate::report::style::Ink;

const TOUR: &str = include_str!("../../scenarios/tour.txt");
/// How a line with a command begins.
const PROMPT: &str = "$ ";
/// How a heading begins.
const HEADING: &str = "# ";

#[derive(Debug, Args)]
pub struct TourArgs {
    /// Wait for Enter before each statement.
    #[arg(long)]
    step: bool,
}

pub fn run(args: &TourArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let mut worst = Exit::Held;
    for (index, line) in TOUR.lines().enumerate() {
        if let Some(heading) = line.strip_prefix(HEADING) {
            let heading = context.style.paint(Ink::Heading, heading);
            let above = if index == 0 { "" } else { "\n" };
            context.say(&format!("{above}{heading}\n"))?;
        } else if let Some(command) = line.strip_prefix(PROMPT) {
            let shown = context.style.paint(Ink::Aside, line);
            context.say(&format!("{shown}\n\n"))?;
            worst = worst.max(perform(command, args.step, context)?);
        } else {
            context.say(&format!("{line}\n"))?;
        }
    }
    Ok(worst)
}

fn perform(command: &str, step: bool, context: &mut Context) -> anyhow::Result<Exit> {
    let mut command = Cli::try_parse_from(command.split_whitespace())?.command;
    if let Command::LostUpdate(play) | Command::ReadSkew(play) | Command::WriteSkew(play) = &mut command {
        play.step = step;
    }
    super::dispatch(&command, context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_tour_is_one() {
        let commands: Vec<&str> = TOUR.lines().filter_map(|line| line.strip_prefix(PROMPT)).collect();
        assert!(commands.len() >= 6);
        for command in commands {
            Cli::try_parse_from(command.split_whitespace()).expect(command);
        }
    }
}
