//! The search for a server, in the order: named by the user, kept, throwaway.

use std::env;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use super::binaries::Search;
use super::{Extra, Kept, PgBin, Server, ServerError, Source, Throwaway, environment, fetch};

/// Whether PostgreSQL may be fetched where none is found.
#[derive(Debug, Clone, Copy, Default)]
pub enum Fetch {
    #[default]
    Never,
    /// The user is shown the question and answers it.
    Ask(fn(&str) -> bool),
    Always,
}

impl Fetch {
    /// Always with `--fetch` (`flag`) or `ISOLAB_FETCH=1`; in a terminal outside CI `ask` decides; else never.
    pub fn decide(flag: bool, ask: fn(&str) -> bool) -> Fetch {
        let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        if flag || set("ISOLAB_FETCH") {
            Fetch::Always
        } else if io::stdin().is_terminal() && io::stderr().is_terminal() && !set("CI") {
            Fetch::Ask(ask)
        } else {
            Fetch::Never
        }
    }
}

/// What the user said about the server.
#[derive(Clone)]
pub struct FindOptions {
    /// `--db`: a URL or `keyword=value` pairs.
    pub db: Option<String>,
    /// `--pg-bin`: the folder of PostgreSQL's programs for a throwaway server. `ISOLAB_PG_BIN` stands in for it.
    pub pg_bin: Option<PathBuf>,
    pub fetch: Fetch,
    /// Is told what takes long.
    pub tell: fn(&str),
}

impl Default for FindOptions {
    fn default() -> FindOptions {
        FindOptions { db: None, pg_bin: None, fetch: Fetch::Never, tell: |_| {} }
    }
}

impl Server {
    /// The server that the user named; else the kept one, unless it is not of the programs that the user named; else a
    /// new one for this run.
    pub fn find(options: &FindOptions) -> Result<Server, ServerError> {
        if let Some(named) = environment::named(options.db.as_deref(), &environment::process)? {
            return Server::connect(named.options, named.source, None);
        }
        if let Some(kept) = Kept::find()? {
            let named = named_folder(options).map(|folder| PgBin::locate(&folder)).transpose()?;
            if named.is_none_or(|folder| folder == kept.programs) {
                return Server::connect(kept.options().clone(), Source::Kept, None);
            }
        }
        let bin = programs(options)?;
        let throwaway = Throwaway::start(&bin, &Extra::default())?;
        Server::connect(throwaway.options().clone(), Source::Throwaway, Some(throwaway))
    }
}

/// PostgreSQL's programs for a server of our own: the named ones, else the newest, fetched where there are none.
pub fn programs(options: &FindOptions) -> Result<PgBin, ServerError> {
    match named_folder(options) {
        Some(folder) => PgBin::probe(&folder),
        None => newest_programs(options),
    }
}

fn named_folder(options: &FindOptions) -> Option<PathBuf> {
    let by_variable = || env::var_os("ISOLAB_PG_BIN").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    options.pg_bin.clone().or_else(by_variable)
}

fn newest_programs(options: &FindOptions) -> Result<PgBin, ServerError> {
    match (Search::run()?.newest(), options.fetch) {
        (Err(ServerError::NotFound { .. }), Fetch::Always) => fetch::fetch(options.tell),
        (Err(ServerError::NotFound { .. }), Fetch::Ask(ask)) if ask(fetch::QUESTION) => fetch::fetch(options.tell),
        (found, _) => found,
    }
}
