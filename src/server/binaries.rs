//! PostgreSQL's programs on this machine: where they are, and which are the newest.

use std::collections::HashSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::account::Account;
use super::{ServerError, ServerVersion};
use super::{fetch, program};

/// Replaces all places that are searched, but for `--pg-bin` and an earlier fetch: folders as in `PATH`.
pub const SEARCH_VARIABLE: &str = "ISOLAB_PG_SEARCH";

/// Where packages put the programs; `*` stands for a version.
const USUAL_FOLDERS: [&str; 9] = [
    "/usr/lib/postgresql/*/bin",                          // Debian
    "/usr/lib/postgresql*/bin",                           // SUSE
    "/usr/libexec/postgresql*",                           // Alpine
    "/usr/pgsql-*/bin",                                   // Red Hat
    "/usr/local/pgsql/bin",                               // built from source
    "/opt/homebrew/opt/postgresql*/bin",                  // Homebrew on Apple silicon
    "/usr/local/opt/postgresql*/bin",                     // Homebrew on Intel
    "/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",     // Homebrew on Linux
    "/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
];

const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// A folder with PostgreSQL's programs, at least `postgres` and `initdb`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgBin {
    pub folder: PathBuf,
    pub version: ServerVersion,
}

impl PgBin {
    /// Looks at the programs in `folder` by running `postgres --version` as the user that would run the server.
    pub fn probe(folder: &Path) -> Result<PgBin, ServerError> {
        let real = PgBin::locate(folder)?;
        let mut command = Command::new(real.join("postgres"));
        Account::for_server()?.run(command.arg("--version"));
        let output = match program::run(&mut command, PROBE_LIMIT) {
            Err(interrupted @ ServerError::Interrupted(_)) => return Err(interrupted),
            Err(error) => return Err(not_postgres(folder, error.to_string())),
            Ok(output) => output,
        };
        let version = ServerVersion::parse(&output)
            .ok_or_else(|| not_postgres(folder, format!("postgres --version wrote {:?}", output.trim_end())))?;
        Ok(PgBin { folder: real, version })
    }

    /// The folder that the programs in `folder` lie in, all links resolved.
    pub fn locate(folder: &Path) -> Result<PathBuf, ServerError> {
        // Through a link such as /usr/local/bin/postgres the other programs are found beside the real one.
        let postgres = folder
            .join("postgres")
            .canonicalize()
            .map_err(|error| not_postgres(folder, format!("postgres: {error}")))?;
        let real = postgres.parent().unwrap_or(folder).to_owned();
        match real.join("initdb").is_file() {
            true => Ok(real),
            false => Err(not_postgres(folder, format!("there is no initdb in {}", real.display()))),
        }
    }

    /// All that are installed on this machine, in the order in which they were found.
    pub fn installed() -> Result<Vec<PgBin>, ServerError> {
        Ok(Search::run()?.found)
    }

    /// The path of one of the programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn not_postgres(folder: &Path, reason: String) -> ServerError {
    ServerError::NotPostgres { folder: folder.to_owned(), reason }
}

/// What a search saw.
#[derive(Debug, Default)]
pub struct Search {
    /// Every installation, in the order of the places.
    pub found: Vec<PgBin>,
    /// One line for each place, with what was wrong with a PostgreSQL there.
    pub places: Vec<String>,
    seen: HashSet<PathBuf>,
}

impl Search {
    /// Looks everywhere.
    pub fn run() -> Result<Search, ServerError> {
        let mut search = Search::default();
        let fetched = fetch::place()?;
        search.look(format!("an earlier fetch in {}", fetched.display()), [fetch::programs(&fetched)])?;
        if let Some(folders) = env::var_os(SEARCH_VARIABLE) {
            search.look(format!("{SEARCH_VARIABLE}: {}", folders.display()), env::split_paths(&folders))?;
            return Ok(search);
        }
        let path = env::var_os("PATH").unwrap_or_default();
        search.look(format!("PATH: {}", path.display()), env::split_paths(&path))?;
        let told = program::run(Command::new("pg_config").arg("--bindir"), PROBE_LIMIT);
        search.look("pg_config --bindir".to_owned(), told.ok().map(|folder| PathBuf::from(folder.trim_end())))?;
        for pattern in USUAL_FOLDERS {
            search.look(pattern.to_owned(), expand(Path::new(pattern)))?;
        }
        Ok(search)
    }

    /// The newest; of several equally new ones the first.
    pub fn newest(mut self) -> Result<PgBin, ServerError> {
        self.found.reverse();
        let newest = self.found.into_iter().max_by_key(|bin| bin.version.rank());
        newest.ok_or(ServerError::NotFound { places: self.places })
    }

    fn look(&mut self, place: String, folders: impl IntoIterator<Item = PathBuf>) -> Result<(), ServerError> {
        self.places.push(place);
        for folder in folders {
            let Ok(postgres) = folder.join("postgres").canonicalize() else { continue };
            if !self.seen.insert(postgres) {
                continue;
            }
            match PgBin::probe(&folder) {
                Ok(bin) => self.found.push(bin),
                Err(error @ ServerError::NotPostgres { .. }) => self.places.push(format!("  {error}")),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The folders that a pattern with at most one `*` in one of its parts stands for.
fn expand(pattern: &Path) -> Vec<PathBuf> {
    let parts: Vec<&OsStr> = pattern.iter().collect();
    let Some(star) = parts.iter().position(|part| part.to_string_lossy().contains('*')) else {
        return vec![pattern.to_owned()];
    };
    let (parent, rest): (PathBuf, PathBuf) = (parts[..star].iter().collect(), parts[star + 1..].iter().collect());
    let wanted = parts[star].to_string_lossy();
    let (start, end) = wanted.split_once('*').unwrap_or((&wanted, ""));
    let entries = fs::read_dir(&parent).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name()).filter(|name| {
        let name = name.to_string_lossy();
        name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    });
    names.map(|name| parent.join(name).join(&rest)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn fake(folder: &Path, script: &str) {
        fs::create_dir_all(folder).unwrap();
        for name in ["postgres", "initdb"] {
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    fn readable_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    #[test]
    fn the_newest_wins_and_a_failing_wrapper_is_passed_over() {
        let root = readable_folder();
        for (name, script) in
            [("9.6", "echo postgres 9.6.24"), ("16", "echo 16.3"), ("17", "echo broken >&2; exit 1"), ("x", "")]
        {
            fake(&root.path().join(name).join("bin"), script);
        }
        let mut search = Search::default();
        search.look("here".to_owned(), expand(&root.path().join("*/bin"))).unwrap();
        assert!(search.places.iter().any(|line| line.contains("broken")), "{:?}", search.places);
        assert_eq!(search.newest().unwrap().version.text, "16.3");
    }

    #[test]
    fn a_link_leads_to_the_folder_of_the_real_program() {
        let root = readable_folder();
        fake(&root.path().join("real"), "echo postgres 18.6");
        fs::create_dir(root.path().join("links")).unwrap();
        std::os::unix::fs::symlink(root.path().join("real/postgres"), root.path().join("links/postgres")).unwrap();
        let bin = PgBin::probe(&root.path().join("links")).unwrap();
        assert_eq!(bin.folder, root.path().canonicalize().unwrap().join("real"));
    }

    #[test]
    fn nothing_found_gives_the_list_of_places() {
        let mut search = Search::default();
        search.look("/nowhere".to_owned(), [PathBuf::from("/nowhere")]).unwrap();
        let error = search.newest().unwrap_err().to_string();
        assert!(error.contains("\n  /nowhere\n") && error.contains("--pg-bin") && error.contains("--fetch"), "{error}");
    }
}
