//! `isolab list`: the built-in scenarios.

use clap::Args;

use super::context::Context;
use super::exit::Exit;
use crate::scenario::{Builtin, builtin};

#[derive(Debug, Args)]
pub struct ListArgs {}

/// A line for each scenario: its name and its title.
pub fn run(_args: &ListArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let scenarios: Vec<Builtin> = builtin().collect();
    let width = scenarios.iter().map(|scenario| scenario.name.len()).max().unwrap_or_default();
    for scenario in scenarios {
        context.say(&format!("{:width$}  {}\n", scenario.name, scenario.title()))?;
    }
    Ok(Exit::Held)
}
