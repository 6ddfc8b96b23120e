//! `isolab new`: a scenario to begin with.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::context::Context;
use super::exit::{Exit, UsageError};
use crate::scenario::builtin;

const STARTING_POINT: &str = include_str!("new.sql");

#[derive(Debug, Args)]
pub struct NewArgs {
    /// The file to write, such as mine.sql; one that is there already stays as it is.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub fn run(args: &NewArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let path = &args.file;
    check_name(path)?;
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = match file {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(taken(path).into()),
        file => file.with_context(|| format!("cannot write {}", path.display()))?,
    };
    file.write_all(STARTING_POINT.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    let name = path.display();
    context.say(&format!("wrote {name}, which runs as it is:\n\n  isolab run {name}\n  isolab matrix {name}\n"))?;
    Ok(Exit::Held)
}

/// A file that other commands would take for a built-in scenario could never be run.
fn check_name(path: &Path) -> Result<(), UsageError> {
    let is_builtin = builtin().any(|builtin| path == Path::new(builtin.name));
    if is_builtin {
        let message = format!("`{}` is a built-in scenario", path.display());
        return Err(UsageError { message, help: Some(format!("write {}.sql", path.display())) });
    }
    Ok(())
}

fn taken(path: &Path) -> UsageError {
    let help = "give another name; a file that is there is never written over".to_owned();
    UsageError { message: format!("{} is there already", path.display()), help: Some(help) }
}
