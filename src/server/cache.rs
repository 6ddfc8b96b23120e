//! The folder that outlives a run: templates of data directories, a fetched PostgreSQL, the kept server.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
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
    /// Takes the lock, or none when another process (or another handle of ours) holds it. The file is made if need be.
    pub fn try_take(path: &Path) -> Result<Option<FileLock>, ServerError> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
        FileLock::of(file.map_err(ServerError::file("open", path))?, path)
    }

    /// The same for a file in a folder that others can write to: it must be there, and no link.
    pub fn try_take_existing(path: &Path) -> Result<Option<FileLock>, ServerError> {
        let no_link = OFlags::NOFOLLOW.bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(no_link).open(path);
        FileLock::of(file.map_err(ServerError::file("open", path))?, path)
    }

    fn of(file: File, path: &Path) -> Result<Option<FileLock>, ServerError> {
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

/// A new folder that only its owner can enter.
pub fn create_private(path: &Path) -> Result<(), ServerError> {
    DirBuilder::new().mode(0o700).create(path).map_err(ServerError::file("create", path))
}

/// Writes a file that only its owner can read, whole or not at all.
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), ServerError> {
    let parent = path.parent().unwrap_or(path);
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(parent)?;
        file.write_all(content)?;
        file.persist(path).map_err(|error| error.error)
    };
    write().map(drop).map_err(ServerError::file("write", path))
}

/// Removes a file or a folder, if it is there.
pub fn remove(path: &Path) -> Result<(), ServerError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ServerError::file("remove", path)(error)),
        _ => Ok(()),
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

/// Moves a finished folder into its place.
pub fn publish(folder: tempfile::TempDir, place: &Path) -> Result<(), ServerError> {
    fs::rename(folder.path(), place).map_err(ServerError::file("rename to", place))?;
    // The name that the guard would remove is gone.
    let _ = folder.keep();
    Ok(())
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
    fn a_link_is_not_locked() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(FileLock::try_take_existing(&file).unwrap().is_some());
        assert!(FileLock::try_take_existing(&link).is_err());
    }

    #[test]
    fn what_is_removed_is_gone_and_what_is_not_there_is_no_error() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, file) = (parent.path().join("folder"), parent.path().join("file"));
        create_private(&folder).unwrap();
        write_private(&folder.join("inside"), b"x").unwrap();
        write_private(&file, b"x").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        for _ in 0..2 {
            remove(&folder).unwrap();
            remove(&file).unwrap();
        }
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
