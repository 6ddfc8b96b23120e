//! Exit codes, and what the user is told on the way out.

use std::io::{self, Write};
use std::process::ExitCode;

use super::context::style_of;
use crate::cli::Global;
use crate::interrupt::Interrupted;
use crate::report::style::Ink;
use crate::runner::RunError;
use crate::scenario::{LoadError, SetError};
use crate::wire::WireError;

/// How a command ended. If several hold, the one that is higher here counts: a reader must never see 0 when the data
/// are wrong or missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: everything that was expected held.
    Held,
    /// 4: nothing matched.
    NothingMatched,
    /// 5: a limit was reached before a verdict.
    Inconclusive,
    /// 1: something that was expected did not hold.
    DidNotHold,
    /// 2: wrong usage or an invalid scenario file.
    Invalid,
    /// 3: could not run.
    CouldNotRun,
}

impl Exit {
    /// The exit code of everything that was to run: nothing matched only where nothing else came of it.
    pub fn of_all(exits: impl Iterator<Item = Exit>) -> Exit {
        exits.filter(|exit| *exit != Exit::NothingMatched).max().unwrap_or(Exit::NothingMatched)
    }

    pub fn code(self) -> u8 {
        match self {
            Exit::Held => 0,
            Exit::DidNotHold => 1,
            Exit::Invalid => 2,
            Exit::CouldNotRun => 3,
            Exit::NothingMatched => 4,
            Exit::Inconclusive => 5,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        exit.code().into()
    }
}

/// The user's mistake on the command line, beyond what clap can see.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct UsageError {
    pub message: String,
    pub help: Option<String>,
}

impl UsageError {
    pub fn new(message: impl Into<String>) -> UsageError {
        UsageError { message: message.into(), help: None }
    }
}

/// A problem in a scenario file that only the server could find, drawn with its place.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FileError(pub String);

/// Tells the user what went wrong and gives the exit code.
pub fn report(error: &anyhow::Error, global: &Global) -> ExitCode {
    if is_closed_pipe(error) {
        return Exit::Held.into();
    }
    let style = style_of(global, &io::stderr());
    if let Some(interrupted) = interrupted(error) {
        let _ = writeln!(io::stderr(), "{interrupted}; everything was cleaned up");
        return interrupted.exit_code().into();
    }
    let drawn = match error.downcast_ref::<FileError>() {
        Some(drawn) => Some(drawn.0.clone()),
        None => error.downcast_ref::<LoadError>().and_then(|invalid| invalid.drawn(style.colour)),
    };
    let text = match drawn {
        Some(drawn) => drawn.trim_end().to_owned(),
        None => format!("{} {error:#}", style.paint(Ink::Bad, "error:")),
    };
    let help = error.downcast_ref::<UsageError>().and_then(|usage| usage.help.as_deref());
    let help = help.map(|help| format!("\n{} {help}", style.paint(Ink::Heading, "help:"))).unwrap_or_default();
    let _ = writeln!(io::stderr(), "{text}{help}");
    kind(error).into()
}

/// The exit code of an error.
pub fn kind(error: &anyhow::Error) -> Exit {
    let is_invalid =
        error.is::<UsageError>() || error.is::<FileError>() || error.is::<LoadError>() || error.is::<SetError>();
    match error.downcast_ref::<RunError>() {
        _ if is_invalid => Exit::Invalid,
        Some(RunError::Scenario { .. } | RunError::Shape { .. }) => Exit::Invalid,
        Some(RunError::TimeLimit { .. } | RunError::Stuck { .. } | RunError::Wire(WireError::TimedOut { .. })) => {
            Exit::Inconclusive
        }
        _ => Exit::CouldNotRun,
    }
}

/// A reader that has seen enough is no failure: `isolab list | head`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io_error = |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<io::Error>().map(io::Error::kind);
    error.chain().any(|cause| io_error(cause) == Some(io::ErrorKind::BrokenPipe))
}

fn interrupted(error: &anyhow::Error) -> Option<Interrupted> {
    let direct = error.chain().find_map(|cause| cause.downcast_ref::<Interrupted>().copied());
    // A signal makes other things fail as well; whatever was reported, the signal is the reason.
    direct.or_else(|| crate::interrupt::check().err())
}
