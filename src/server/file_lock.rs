//! Locks between processes.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::ServerError;
use super::program::POLL;
use crate::interrupt;

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
                return Err(ServerError::Busy { what: what.to_owned(), limit });
            }
            interrupt::check()?;
            thread::sleep(POLL);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_lock_has_one_holder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = FileLock::try_take(&path).unwrap();
        assert!(held.is_some());
        assert!(FileLock::try_take(&path).unwrap().is_none());
        let error = FileLock::take(&path, "fetches PostgreSQL", Duration::from_millis(10)).unwrap_err();
        let told = error.to_string();
        assert!(
            told.starts_with("another isolab fetches PostgreSQL, and does not come to an end within 10ms"),
            "{told}"
        );
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
}
