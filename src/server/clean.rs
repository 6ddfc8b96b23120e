//! Removing what a killed lab left behind: only what bears its mark and whose owner is gone.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::account::Account;
use super::admin::Admin;
use super::file_lock::FileLock;
use super::mark::{Mark, PREFIX};
use super::postmaster::Home;
use super::{FindOptions, Kept, ServerError, Source, cache, environment, files, guardian, removal, throwaway};

/// Cleans up on this machine, on the server that `options` or the environment name, and on the kept server. `removed`
/// hears of each thing as it goes.
pub fn clean(options: &FindOptions, removed: &mut dyn FnMut(String)) -> Result<(), ServerError> {
    throwaway_servers(removed)?;
    for making in [cache::TEMPLATE, cache::FETCH] {
        making.clean()?.iter().for_each(|folder| removed(format!("the unfinished {}", folder.display())));
    }
    if Kept::clean()? {
        removed("the remains of a kept server".to_owned());
    }
    if let Some(kept) = Kept::find()? {
        sandboxes(&mut Admin::connect(kept.options(), Source::Kept.name())?, removed)?;
    }
    if let Some(named) = environment::named(options.db.as_deref(), &environment::process)? {
        sandboxes(&mut Admin::connect(&named.options, named.source.name())?, removed)?;
    }
    Ok(())
}

/// The servers of runs that are gone. Ordinarily their guardians have seen to them.
fn throwaway_servers(removed: &mut dyn FnMut(String)) -> Result<(), ServerError> {
    let uid = Account::for_server()?.uid();
    // As root, a folder is our own until it is filled.
    let owners = [uid, rustix::process::geteuid().as_raw()];
    for folder in throwaway::places().flat_map(|place| files::entries(&place, guardian::PREFIX)) {
        let is_own =
            fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir() && owners.contains(&metadata.uid()));
        let lock = folder.join(guardian::OWNER_LOCK);
        if !is_own || !lock.is_file() {
            continue;
        }
        let Ok(Some(_lock)) = FileLock::try_take_existing(&lock) else { continue };
        Home { folder: folder.clone() }.stop(uid)?;
        files::remove(&folder)?;
        removed(format!("the throwaway server in {}", folder.display()));
    }
    Ok(())
}

/// The schemas in the database of `admin` and the databases of its server.
fn sandboxes(admin: &mut Admin, removed: &mut dyn FnMut(String)) -> Result<(), ServerError> {
    let pattern = PREFIX.replace('_', r"\_");
    let schemas = format!(
        "SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname LIKE '{pattern}%'"
    );
    let databases = format!(
        "SELECT datname, shobj_description(oid, 'pg_database') FROM pg_database WHERE datname LIKE '{pattern}%'"
    );
    for name in abandoned(admin, "list the schemas", &schemas)? {
        removal::drop_schema(admin, &name)?;
        removed(format!("the schema {name}"));
    }
    for name in abandoned(admin, "list the databases", &databases)? {
        removal::drop_database(admin, &name)?;
        removed(format!("the database {name}"));
    }
    Ok(())
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
