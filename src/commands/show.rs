//! `isolab show`: a scenario's file, ready to copy and change.

use std::io::Write;

use clap::Args;

use crate::scenario::open;

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The name of a built-in scenario, or a file.
    #[arg(value_name = "NAME")]
    name: String,
}

/// Prints the file whole, with what it refers to put in place: `isolab show NAME > mine.sql` gives a file that runs.
pub fn run(args: &ShowArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    out.write_all(open(&args.name)?.whole()?.as_bytes())?;
    Ok(0)
}
