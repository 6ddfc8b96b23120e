//! The folder that outlives a run: templates of data directories, a fetched PostgreSQL, the kept server.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::ServerError;
use super::program::POLL;
use crate::interrupt;

/// `$ISOLAB_CACHE`; as root `/var/cache/isolab`, which the server's user can read; else the user's own cache folder.
pub fn folder() -> Result<PathBuf, ServerError> {
    let path = locate()?;
    DirBuilder::new().recursive(true).mode(0o755).create(&path).map_err(ServerError::file("create", &path))?;
    path.canonicalize().map_err(ServerError::file("open", &path))
}

fn locate() -> Result<PathBuf, ServerError> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = variable("ISOLAB_CACHE") {
        return Ok(path);
    }
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/var/cache/isolab"));
    }
    let home = || variable("HOME").ok_or(ServerError::NoHome);
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Caches/isolab"));
    }
    match variable("XDG_CACHE_HOME").filter(|path| path.is_absolute()) {
        Some(path) => Ok(path.join("isolab")),
        None => Ok(home()?.join(".cache/isolab")),
    }
}

/// A lock on a file that the kernel gives back when its holder ends, however it ends.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes the lock, or none when another process (or another handle of ours) holds it.
    pub fn try_take(path: &Path) -> Result<Option<FileLock>, ServerError> {
        let mut options = OpenOptions::new();
        let file =
            options.create(true).truncate(false).write(true).open(path).map_err(ServerError::file("open", path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(FileLock { _file: file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(ServerError::file("lock", path)(error.into())),
        }
    }

    /// Takes the lock, waiting for another process that does `what`.
    pub fn take(path: &Path, what: &str, limit: Duration) -> Result<FileLock, ServerError> {
        let start = Instant::now();
        loop {
            if let Some(lock) = FileLock::try_take(path)? {
                return Ok(lock);
            }
            if start.elapsed() > limit {
                return Err(ServerError::TooSlow { what: format!("another isolab that {what}"), limit });
            }
            interrupt::check()?;
            thread::sleep(POLL);
        }
    }
}

/// A new folder in `parent` that only its owner can enter, removed when dropped.
pub fn private_folder(parent: &Path, prefix: &str) -> Result<tempfile::TempDir, ServerError> {
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(ServerError::file("create a folder in", parent))
}

/// Moves a finished folder into its place. False when another process was faster: its folder stays.
pub fn publish(folder: tempfile::TempDir, place: &Path) -> Result<bool, ServerError> {
    match fs::rename(folder.path(), place) {
        Ok(()) => {
            // The name that the guard would remove is gone.
            let _ = folder.keep();
            Ok(true)
        }
        Err(_) if place.is_dir() => Ok(false),
        Err(error) => Err(ServerError::file("rename to", place)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_lock_has_one_holder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = FileLock::try_take(&path).unwrap();
        assert!(held.is_some());
        assert!(FileLock::try_take(&path).unwrap().is_none());
        let error = FileLock::take(&path, "fetches PostgreSQL", Duration::from_millis(10)).unwrap_err();
        assert_eq!(error.to_string(), "another isolab that fetches PostgreSQL took longer than 10ms");
        drop(held);
        assert!(FileLock::try_take(&path).unwrap().is_some());
    }

    #[test]
    fn the_first_to_publish_wins() {
        let parent = tempfile::tempdir().unwrap();
        let place = parent.path().join("place");
        for (content, wins) in [("first", true), ("second", false)] {
            let folder = private_folder(parent.path(), "new-").unwrap();
            fs::write(folder.path().join("file"), content).unwrap();
            assert_eq!(publish(folder, &place).unwrap(), wins);
        }
        assert_eq!(fs::read_to_string(place.join("file")).unwrap(), "first");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
