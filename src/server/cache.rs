//! The folder that outlives a run: templates of data directories, a fetched PostgreSQL, the kept server.

use std::env;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::file_lock::FileLock;
use super::{ServerError, account, files};

/// `$ISOLAB_CACHE`; as root `/var/cache/isolab`, which the server's user can read; else the user's own cache folder.
pub fn folder() -> Result<PathBuf, ServerError> {
    let path = locate()?;
    let made = DirBuilder::new().recursive(true).mode(0o755).create(&path).and_then(|()| path.canonicalize());
    match made {
        Ok(folder) if account::can_reach(&folder) => Ok(folder),
        Ok(folder) => {
            let reason = format!("the user that PostgreSQL runs as cannot get to {}", folder.display());
            Err(ServerError::Cache { reason })
        }
        Err(error) => Err(ServerError::Cache { reason: format!("cannot create {}: {error}", path.display()) }),
    }
}

fn locate() -> Result<PathBuf, ServerError> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = variable("ISOLAB_CACHE") {
        return Ok(path);
    }
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/var/cache/isolab"));
    }
    let unset = || ServerError::Cache { reason: "neither HOME nor ISOLAB_CACHE is set".to_owned() };
    let home = || variable("HOME").ok_or_else(unset);
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Caches/isolab"));
    }
    match variable("XDG_CACHE_HOME").filter(|path| path.is_absolute()) {
        Some(path) => Ok(path.join("isolab")),
        None => Ok(home()?.join(".cache/isolab")),
    }
}

/// A kind of folder that takes long to make. It is made under a name of its own and then moved into its place, by one
/// process at a time.
pub struct Making {
    /// The file in the cache that is locked meanwhile.
    lock: &'static str,
    /// How the folder's name begins until it is complete.
    unfinished: &'static str,
    /// What is being done, for others who wait.
    work: &'static str,
}

pub const TEMPLATE: Making = Making { lock: "template.lock", unfinished: "new-data-", work: "runs initdb" };
pub const FETCH: Making = Making { lock: "fetch.lock", unfinished: "new-postgresql-", work: "fetches PostgreSQL" };

impl Making {
    /// Lets `make` fill a new folder and moves it to `place` in the cache, unless by the time it is our turn a good one
    /// is there.
    pub fn at(
        &self,
        place: &Path,
        limit: Duration,
        is_good: impl FnOnce() -> bool,
        make: impl FnOnce(&Path) -> Result<(), ServerError>,
    ) -> Result<(), ServerError> {
        let cache = place.parent().unwrap_or(place);
        let _lock = FileLock::take(&cache.join(self.lock), self.work, limit)?;
        if is_good() {
            return Ok(());
        }
        files::remove(place)?;
        // What a killed process was making; if its initdb still runs, it is for the next time.
        let _ = self.remove_unfinished(cache);
        let new = files::private_folder(cache, self.unfinished)?;
        make(new.path())?;
        fs::rename(new.path(), place).map_err(ServerError::file("rename to", place))?;
        // The name that the guard would remove is gone.
        let _ = new.keep();
        Ok(())
    }

    /// Removes what killed processes left; nothing while somebody is at it.
    pub fn clean(&self) -> Result<Vec<PathBuf>, ServerError> {
        let cache = folder()?;
        match FileLock::try_take(&cache.join(self.lock))? {
            Some(_lock) => self.remove_unfinished(&cache),
            None => Ok(Vec::new()),
        }
    }

    fn remove_unfinished(&self, cache: &Path) -> Result<Vec<PathBuf>, ServerError> {
        let unfinished = files::entries(cache, self.unfinished);
        unfinished.iter().try_for_each(|folder| files::remove(folder))?;
        Ok(unfinished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_made_meanwhile_is_kept_and_what_is_no_good_is_made_again() {
        let cache = tempfile::tempdir().unwrap();
        let making = Making { lock: "lock", unfinished: "new-", work: "tests" };
        let place = cache.path().join("place");
        fs::create_dir(cache.path().join("new-left")).unwrap();
        for (is_good, content, expected) in [(false, "1", "1"), (true, "2", "1"), (false, "3", "3")] {
            let make = |new: &Path| fs::write(new.join("file"), content).map_err(ServerError::file("write", new));
            making.at(&place, Duration::from_secs(5), || is_good, make).unwrap();
            assert_eq!(fs::read_to_string(place.join("file")).unwrap(), expected);
        }
        assert_eq!(files::entries(cache.path(), "").len(), 2, "the place and the lock");
    }
}
