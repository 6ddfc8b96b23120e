//! The data directory that every server of ours starts from: made by `initdb` once, kept in the cache, then copied.

use std::fs;
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::account::Account;
use super::{PgBin, ServerError, cache, files, program};

/// The bootstrap superuser of the servers that we make.
pub const SUPERUSER: &str = "postgres";

const INITDB_LIMIT: Duration = Duration::from_secs(120);

/// A data directory of `bin` in the cache, made now if there is none yet.
pub fn ready(bin: &PgBin, account: &Account) -> Result<PathBuf, ServerError> {
    // Two builds of one version may differ in their catalogs, so the folder of the programs counts too.
    let programs = files::fingerprint(&bin.folder);
    let place = cache::folder()?.join(format!("data-{}-{}-{programs}", bin.version, account.uid()));
    if !place.is_dir() {
        cache::TEMPLATE.at(
            &place,
            INITDB_LIMIT,
            || place.is_dir(),
            |new| {
                account.own(new).map_err(ServerError::file("change the owner of", new))?;
                initdb(bin, account, new)?;
                take_back(new)
            },
        )?;
    }
    Ok(place)
}

fn initdb(bin: &PgBin, account: &Account, data: &Path) -> Result<(), ServerError> {
    let mut command = Command::new(bin.program("initdb"));
    command.arg("--pgdata").arg(data).args(["--username", SUPERUSER, "--auth=trust", "--no-sync"]);
    command.args(["--encoding=UTF8", "--locale=C"]);
    program::run(account.run(&mut command), INITDB_LIMIT).map(drop)
}

/// As root, makes the template root's own, so that the server's user cannot slip in a link for root to follow.
fn take_back(folder: &Path) -> Result<(), ServerError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    lchown(folder, Some(0), Some(0)).map_err(ServerError::file("change the owner of", folder))?;
    for entry in fs::read_dir(folder).map_err(ServerError::file("read", folder))? {
        let entry = entry.map_err(ServerError::file("read", folder))?;
        let path = entry.path();
        if entry.file_type().map_err(ServerError::file("read", &path))?.is_dir() {
            take_back(&path)?;
        } else {
            lchown(&path, Some(0), Some(0)).map_err(ServerError::file("change the owner of", &path))?;
        }
    }
    Ok(())
}

/// Copies a template; where the file system can share blocks between files, it does.
pub fn copy(template: &Path, data: &Path, account: &Account) -> Result<(), ServerError> {
    fs::create_dir(data).map_err(ServerError::file("create", data))?;
    let permissions = fs::metadata(template).map_err(ServerError::file("read", template))?.permissions();
    fs::set_permissions(data, permissions).map_err(ServerError::file("change the mode of", data))?;
    for entry in fs::read_dir(template).map_err(ServerError::file("read", template))? {
        let entry = entry.map_err(ServerError::file("read", template))?;
        let (from, to) = (entry.path(), data.join(entry.file_name()));
        let kind = entry.file_type().map_err(ServerError::file("read", &from))?;
        if kind.is_dir() {
            copy(&from, &to, account)?;
        } else if kind.is_file() {
            fs::copy(&from, &to).map_err(ServerError::file("copy", &from))?;
            account.own(&to).map_err(ServerError::file("change the owner of", &to))?;
        }
    }
    account.own(data).map_err(ServerError::file("change the owner of", data))
}
