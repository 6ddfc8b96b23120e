//! The locks that a statement takes, as the server tells them.

use std::collections::BTreeSet;

use crate::runner::{RunError, Stage};
use crate::schedule::{Footprint, LockMode, Object};
use crate::wire::Connection;

/// The locks of a backend's transaction: `pg_locks`, with the table of an index. SIREAD locks outlive their transaction as
/// long as another one that ran beside it, in whichever sandbox: those of earlier statements do not count.
const LOCKS: &str = "
SELECT l.locktype, l.mode, coalesce(i.indrelid, l.relation)::regclass::text, i.indexrelid::regclass::text,
       i.indnkeyatts::text, coalesce(i.indisunique, false)::text, format('(%s,%s)', l.page, l.tuple),
       format('%s.%s.%s', l.classid, l.objid, l.objsubid)
  FROM pg_locks l
  LEFT JOIN pg_class c ON c.oid = l.relation
  LEFT JOIN pg_index i ON i.indexrelid = l.relation
 WHERE l.granted AND (l.locktype = 'advisory' OR c.relnamespace = quote_ident(current_schema())::regnamespace)
   AND (l.mode <> 'SIReadLock' OR l.virtualtransaction =
       (SELECT own.virtualtransaction FROM pg_locks own WHERE own.locktype = 'virtualxid' AND own.pid = l.pid))
   AND l.pid = ";

/// A row of [`LOCKS`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lock {
    pub kind: String,
    pub mode: String,
    pub table: String,
    pub index: Option<String>,
    pub index_columns: usize,
    pub is_unique: bool,
    pub ctid: String,
    pub advisory: String,
}

/// What a connection's transaction holds now.
pub fn held_by(stage: &mut Stage, connection: &Connection) -> Result<BTreeSet<Lock>, RunError> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let lock = |row: &Vec<Option<String>>| match row.as_slice() {
        [kind, mode, table, index, columns, unique, ctid, advisory] => Some(Lock {
            kind: text(kind),
            mode: text(mode),
            table: text(table),
            index: index.clone(),
            index_columns: text(columns).parse().unwrap_or_default(),
            is_unique: unique.as_deref() == Some("true"),
            ctid: text(ctid),
            advisory: text(advisory),
        }),
        _ => None,
    };
    let rows = stage.query(&format!("{LOCKS}{}", connection.backend_pid()))?.rows;
    Ok(rows.iter().filter_map(lock).collect())
}

/// Advisory locks that the statement took or let go of.
pub fn note_advisory(held: &BTreeSet<Lock>, locks: &BTreeSet<Lock>, sql: &str, footprint: &mut Footprint) {
    for lock in held.symmetric_difference(locks).filter(|lock| lock.kind == "advisory") {
        let object = Object::one("advisory", &lock.advisory);
        if sql.to_lowercase().contains("pg_try_advisory") {
            footprint.probes.insert(object.clone());
        }
        let mode = if lock.mode == "ShareLock" { LockMode::Share } else { LockMode::Exclusive };
        footprint.locks.insert((object, mode));
    }
}

/// The row lock that a statement's text asks for; without any it is that of a foreign key's check.
pub fn row_lock_of(sql: &str) -> LockMode {
    let sql = sql.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let modes = [
        ("for no key update", LockMode::ForNoKeyUpdate),
        ("for update", LockMode::ForUpdate),
        ("for key share", LockMode::ForKeyShare),
        ("for share", LockMode::ForShare),
        ("do update", LockMode::ForUpdate),
    ];
    modes.into_iter().find(|(text, _)| sql.contains(text)).map_or(LockMode::ForKeyShare, |(_, mode)| mode)
}

/// A table's lock by its name in `pg_locks`.
pub fn table_lock(mode: &str) -> Option<LockMode> {
    Some(match mode {
        "AccessShareLock" => LockMode::AccessShare,
        "RowShareLock" => LockMode::RowShare,
        "RowExclusiveLock" => LockMode::RowExclusive,
        "ShareUpdateExclusiveLock" => LockMode::ShareUpdateExclusive,
        "ShareLock" => LockMode::Share,
        "ShareRowExclusiveLock" => LockMode::ShareRowExclusive,
        "ExclusiveLock" => LockMode::Exclusive,
        "AccessExclusiveLock" => LockMode::AccessExclusive,
        _ => return None,
    })
}
