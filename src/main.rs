//! The `isolab` program: parse the arguments, run, map an error to its text and exit code.

use std::process::ExitCode;

use clap::Parser;
use isolab::cli::Cli;
use isolab::{commands, interrupt};

fn main() -> ExitCode {
    let cli = Cli::parse();
    // Before anything is created, so that it can be undone.
    if let Err(error) = interrupt::install() {
        return commands::exit::report(&error.into(), &cli.global);
    }
    match commands::run(&cli) {
        Ok(code) => code.into(),
        Err(error) => commands::exit::report(&error, &cli.global),
    }
}
