//! `isolab list`: the built-in scenarios.

use std::io::Write;

use clap::Args;

use crate::scenario::{Builtin, builtin};

#[derive(Debug, Args)]
pub struct ListArgs {}

/// A line for each scenario: its name and its title.
pub fn run(_args: &ListArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    let scenarios: Vec<Builtin> = builtin().collect();
    let width = scenarios.iter().map(|scenario| scenario.name.len()).max().unwrap_or_default();
    for scenario in scenarios {
        writeln!(out, "{:width$}  {}", scenario.name, scenario.title())?;
    }
    Ok(0)
}
