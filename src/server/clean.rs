//! Removing what a killed lab left behind: only what bears its mark and whose owner is gone.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::account::Account;
use super::admin::Admin;
use super::cache::{self, FileLock};
use super::mark::{Mark, PREFIX};
use super::postmaster::Home;
use super::{FindOptions, Kept, ServerError, Source, environment, fetch, removal, template, throwaway};

/// Cleans up on this machine, on the server that `options` or the environment name, and on the kept server. Returns a
/// line for each thing that was removed.
pub fn clean(options: &FindOptions) -> Result<Vec<String>, ServerError> {
    let mut removed = throwaway_servers()?;
    removed.extend(unfinished(&cache::folder()?)?);
    if Kept::clean()? {
        removed.push("the remains of a kept server".to_owned());
    }
    if let Some(named) = environment::named(options.db.as_deref(), &environment::process)? {
        removed.extend(sandboxes(&mut Admin::connect(&named.options, named.source.name())?)?);
    }
    if let Some(kept) = Kept::find()? {
        removed.extend(sandboxes(&mut Admin::connect(kept.options(), Source::Kept.name())?)?);
    }
    Ok(removed)
}

/// The servers of runs that are gone. Ordinarily their guardians have seen to them.
fn throwaway_servers() -> Result<Vec<String>, ServerError> {
    let uid = Account::for_server()?.uid();
    let mut removed = Vec::new();
    let places = BTreeSet::from([throwaway::short_temporary_folder(), env::temp_dir(), PathBuf::from("/tmp")]);
    for folder in places.iter().flat_map(|place| entries(place, throwaway::PREFIX)) {
        let is_own = fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == uid);
        let lock = folder.join(throwaway::OWNER_LOCK);
        if !is_own || !lock.is_file() {
            continue;
        }
        let Ok(Some(_lock)) = FileLock::try_take_existing(&lock) else { continue };
        Home { folder: folder.clone() }.stop(uid)?;
        cache::remove(&folder)?;
        removed.push(format!("the throwaway server in {}", folder.display()));
    }
    Ok(removed)
}

/// What was being put into the cache when its isolab was killed. Who holds the lock is still at it.
fn unfinished(cache: &Path) -> Result<Vec<String>, ServerError> {
    let mut removed = Vec::new();
    for (lock, prefix) in [(fetch::LOCK, fetch::UNFINISHED), (template::LOCK, template::UNFINISHED)] {
        let Some(_lock) = FileLock::try_take(&cache.join(lock))? else { continue };
        for folder in entries(cache, prefix) {
            cache::remove(&folder)?;
            removed.push(format!("the unfinished {}", folder.display()));
        }
    }
    Ok(removed)
}

fn entries(place: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.path()).collect()
}

/// The schemas in the database of `admin` and the databases of its server.
fn sandboxes(admin: &mut Admin) -> Result<Vec<String>, ServerError> {
    let pattern = PREFIX.replace('_', r"\_");
    let schemas = format!(
        "SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname LIKE '{pattern}%'"
    );
    let databases = format!(
        "SELECT datname, shobj_description(oid, 'pg_database') FROM pg_database WHERE datname LIKE '{pattern}%'"
    );
    let mut removed = Vec::new();
    for name in abandoned(admin, "list the schemas", &schemas)? {
        removal::drop_schema(admin, &name)?;
        removed.push(format!("the schema {name}"));
    }
    for name in abandoned(admin, "list the databases", &databases)? {
        removal::drop_database(admin, &name)?;
        removed.push(format!("the database {name}"));
    }
    Ok(removed)
}

/// The names in a query of names and comments that bear the mark of an owner who is gone.
fn abandoned(admin: &mut Admin, what: &str, query: &str) -> Result<Vec<String>, ServerError> {
    let mut names = Vec::new();
    for row in admin.query(what, query)? {
        let [Some(name), Some(comment)] = row.as_slice() else { continue };
        if let Some(mark) = Mark::read(comment)
            && !mark.owner_lives(admin)?
        {
            names.push(name.clone());
        }
    }
    Ok(names)
}
