//! Where PostgreSQL's programs are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::account::Account;
use super::program;
use super::{ServerError, ServerVersion};

/// A folder with PostgreSQL's programs, at least `postgres` and `initdb`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgBin {
    pub folder: PathBuf,
    pub version: ServerVersion,
}

impl PgBin {
    /// Looks at the programs in `folder` by running `postgres --version` as the user that would run the server.
    pub fn probe(folder: &Path) -> Result<PgBin, ServerError> {
        let not_postgres = |reason: String| ServerError::NotPostgres { folder: folder.to_owned(), reason };
        // Through a link such as /usr/local/bin/postgres the other programs are found beside the real one.
        let postgres =
            folder.join("postgres").canonicalize().map_err(|error| not_postgres(format!("postgres: {error}")))?;
        let folder = postgres.parent().unwrap_or(folder).to_owned();
        if !folder.join("initdb").is_file() {
            return Err(not_postgres(format!("there is no initdb in {}", folder.display())));
        }
        let mut command = Command::new(&postgres);
        Account::for_server()?.run(command.arg("--version"));
        let output = match program::run(&mut command, Duration::from_secs(10)) {
            Err(interrupted @ ServerError::Interrupted(_)) => return Err(interrupted),
            Err(error) => return Err(not_postgres(error.to_string())),
            Ok(output) => output,
        };
        let version = ServerVersion::parse(&output)
            .ok_or_else(|| not_postgres(format!("postgres --version wrote {:?}", output.trim_end())))?;
        Ok(PgBin { folder, version })
    }

    /// The path of one of the programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}
