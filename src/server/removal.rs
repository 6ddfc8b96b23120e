//! Removing what the lab made on a server, also when sessions or prepared transactions still hold on to it.

use std::time::{Duration, Instant};

use super::ServerError;
use super::admin::{Admin, try_again_while};

/// For sessions to go after they were told to.
const LIMIT: Duration = Duration::from_secs(30);

/// The tags of [`drop_schema_unless_locked`].
pub const TAGS: [&str; 2] = ["SET", "DROP SCHEMA"];

/// The statements that drop a schema, in one message. Mostly everybody has left, and where not, a lock says so.
pub fn drop_schema_unless_locked(name: &str) -> String {
    drop_schema_within(name, 50)
}

fn drop_schema_within(name: &str, milliseconds: u32) -> String {
    format!("SET LOCAL lock_timeout = '{milliseconds}ms'; DROP SCHEMA IF EXISTS {name} CASCADE")
}

/// Drops a schema of the lab's in the database of `admin`, with all that is in it.
pub fn drop_schema(admin: &mut Admin, name: &str) -> Result<(), ServerError> {
    let what = format!("drop the schema {name}");
    // Our sessions bear the name of their sandbox, with their own behind a slash. Somebody else's, such as a dump of the whole database, are let be.
    let terminate = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND split_part(application_name, '/', 1) = '{name}' \
         AND pid <> pg_backend_pid()"
    );
    let mut ended = admin.execute(&what, &drop_schema_unless_locked(name));
    let start = Instant::now();
    while ended.as_ref().is_err_and(ServerError::is_lock_conflict) && start.elapsed() < LIMIT {
        admin.query(&what, &terminate)?;
        roll_back_prepared(admin, &what, &prepared_in_schema(name))?;
        ended = admin.execute(&what, &drop_schema_within(name, 1000));
    }
    ended
}

/// The prepared transactions that lock a schema, which whoever creates something in it does, or one of its tables.
fn prepared_in_schema(name: &str) -> String {
    // They have no process; their locks are those of the virtual transaction that locks their number.
    format!(
        "SELECT DISTINCT gid FROM pg_prepared_xacts p \
         JOIN pg_locks own ON own.transactionid = p.transaction AND own.pid IS NULL \
         JOIN pg_locks held ON held.virtualtransaction = own.virtualtransaction AND held.pid IS NULL \
         WHERE p.database = current_database() AND ( \
         held.classid = 'pg_namespace'::regclass AND held.objid = to_regnamespace('{name}') \
         OR held.relation IN (SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('{name}')))"
    )
}

/// Drops a database of the lab's; `admin` is in another one. A session whose client has left may still be at a PREPARE
/// TRANSACTION, and what it prepares keeps the database.
pub fn drop_database(admin: &mut Admin, name: &str) -> Result<(), ServerError> {
    let what = format!("drop the database {name}");
    let prepared = format!("SELECT gid FROM pg_prepared_xacts WHERE database = '{name}'");
    try_again_while(ServerError::is_in_use, LIMIT, || {
        if !admin.query(&what, &prepared)?.is_empty() {
            // They can only be rolled back from within.
            roll_back_prepared(&mut admin.connect_to(name)?, &what, &prepared)?;
        }
        admin.execute(&what, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
    })
}

fn roll_back_prepared(admin: &mut Admin, what: &str, query: &str) -> Result<(), ServerError> {
    for gid in admin.query(what, query)?.into_iter().flatten().flatten() {
        admin.execute(what, &format!("ROLLBACK PREPARED '{}'", gid.replace('\'', "''")))?;
    }
    Ok(())
}
