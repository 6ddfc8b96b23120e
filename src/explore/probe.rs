//! Measures one statement: it runs in a SERIALIZABLE transaction of its own, where the server says by its SIREAD locks
//! what was read; what was written and locked shows in the rows' marks before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::catalog::{Catalog, Snapshot, Version};
use super::locks::{self, Lock};
use super::lookups::Lookups;
use super::pages::Pages;
use super::words::{first_word, has_word};
use crate::runner::{RunError, Stage};
use crate::schedule::{Footprint, LockMode, Object};
use crate::wire::{Answered, Connection};

/// How statements are measured.
pub struct Probe {
    pub catalog: Catalog,
    /// Footprints by row, where what a predicate means does not depend on the plan; at SERIALIZABLE what a plan locks
    /// counts as it is.
    pub by_row: bool,
    pub pages: Pages,
    pub snapshot: Snapshot,
    /// Names for rows with a generated key, by their table and key: who inserted them, as which.
    pub labels: BTreeMap<(String, String), String>,
    pub deadline: Instant,
}

/// How the names begin that rows with a generated key get.
pub const NEW_ROW: &str = "new of ";

impl Probe {
    /// Runs a statement and gives its answer, with its footprint where it did not fail.
    pub fn run(
        &mut self,
        stage: &mut Stage,
        connection: &mut Connection,
        sql: &str,
        inserter: &str,
    ) -> Result<(Answered, Option<Footprint>), RunError> {
        let lookups = self.lookups(connection, sql)?;
        let held = locks::held_by(stage, connection)?;
        let statements = ["BEGIN ISOLATION LEVEL SERIALIZABLE", sql];
        let answer = connection.query_each(statements, self.deadline)?.pop().unwrap_or_else(|| Ok(Vec::new()));
        if answer.is_err() {
            connection.query("ROLLBACK", self.deadline)?;
            return Ok((answer, None));
        }
        let locks = locks::held_by(stage, connection)?;
        let ends = connection.query_each(["COMMIT"], self.deadline)?;
        if let Some(Err(error)) = ends.into_iter().next() {
            return Ok((Err(error), None));
        }
        let after = self.catalog.snapshot(stage)?;
        let before = std::mem::replace(&mut self.snapshot, after);
        let mut footprint = Footprint::default();
        self.note_writes(&before, sql, inserter, &mut footprint);
        self.note_reads(&before, &locks, &lookups, &mut footprint);
        locks::note_advisory(&held, &locks, sql, &mut footprint);
        self.note_candidates(sql, &mut footprint);
        self.widen(sql, &mut footprint);
        self.note_entries(sql, &mut footprint);
        Ok((answer, Some(footprint)))
    }

    fn lookups(&self, connection: &mut Connection, sql: &str) -> Result<Lookups, RunError> {
        let explainable = ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES"];
        if !(self.by_row || self.pages.are_known) || !explainable.contains(&first_word(sql).as_str()) {
            return Ok(Lookups::default());
        }
        // Before the transaction: EXPLAIN takes locks of its own.
        let explained = connection.query_each([format!("EXPLAIN (FORMAT JSON) {sql}").as_str()], self.deadline)?;
        let text = explained.into_iter().next().and_then(Result::ok).and_then(|mut results| results.pop());
        let plan =
            text.and_then(|result| result.rows.into_iter().next()).and_then(|row| row.into_iter().next().flatten());
        Ok(plan.map(|plan| Lookups::parse(&plan)).unwrap_or_default())
    }

    /// The object that stands for a row.
    fn row(&self, table: &str, key: &str) -> Object {
        match self.labels.get(&(table.to_owned(), key.to_owned())) {
            _ if !self.catalog.has_key(table) => Object::all(table),
            Some(label) => Object::one(table, label),
            None => Object::one(table, key),
        }
    }

    fn note_writes(&mut self, before: &Snapshot, sql: &str, inserter: &str, footprint: &mut Footprint) {
        let after = std::mem::take(&mut self.snapshot);
        for (place, version) in &after.rows {
            if !before.rows.contains_key(place) {
                self.name_new(place, inserter);
                self.note_new_key(place, version, footprint);
            }
        }
        for (place, old) in &before.rows {
            let row = self.row(&place.0, &place.1);
            match after.rows.get(place) {
                None => {
                    self.note_new_key(place, old, footprint);
                    self.note_key_change(&place.0, footprint);
                }
                Some(new) if (&new.ctid, &new.xmin) != (&old.ctid, &old.xmin) => {
                    let keeps_key = new.unique == old.unique;
                    let mode = if keeps_key { LockMode::ForNoKeyUpdate } else { LockMode::ForUpdate };
                    footprint.writes.insert(row.clone());
                    footprint.locks.insert((row, mode));
                    if !keeps_key {
                        self.note_key_change(&place.0, footprint);
                        let keys = unique_keys(&place.0, old).chain(unique_keys(&place.0, new));
                        footprint.locks.extend(keys.map(|key| (key, LockMode::ForUpdate)));
                    }
                }
                Some(new) if new.xmax != old.xmax => {
                    footprint.locks.insert((row, locks::row_lock_of(sql)));
                }
                Some(_) => {}
            }
        }
        let moved = after.sequences.iter().filter(|(name, value)| before.sequences.get(*name) != Some(value));
        footprint.locks.extend(moved.map(|(name, _)| (Object::one("sequence", name), LockMode::Exclusive)));
        self.snapshot = after;
    }

    /// Rows whose key the server draws are known by who inserted them.
    fn name_new(&mut self, place: &(String, String), inserter: &str) {
        if self.catalog.tables.get(&place.0).is_some_and(|facts| facts.is_generated) && !self.labels.contains_key(place)
        {
            let number = self.labels.values().filter(|label| label.starts_with(inserter)).count();
            self.labels.insert(place.clone(), format!("{inserter}/{number}"));
        }
    }

    fn note_new_key(&self, place: &(String, String), version: &Version, footprint: &mut Footprint) {
        let row = self.row(&place.0, &place.1);
        footprint.writes.insert(row.clone());
        footprint.locks.insert((row, LockMode::ForUpdate));
        footprint.locks.extend(unique_keys(&place.0, version).map(|key| (key, LockMode::ForUpdate)));
    }

    /// Foreign keys are checked outside any snapshot.
    fn note_key_change(&self, table: &str, footprint: &mut Footprint) {
        let referencing = self.catalog.tables.get(table).map(|facts| &facts.referenced_by);
        footprint.probes.extend(referencing.into_iter().flatten().map(Object::all));
    }

    fn note_reads(&self, before: &Snapshot, locks: &BTreeSet<Lock>, lookups: &Lookups, footprint: &mut Footprint) {
        let mut looked_up = BTreeSet::new();
        for lock in locks {
            match (lock.mode.as_str(), lock.kind.as_str(), &lock.index) {
                ("SIReadLock", "tuple", None) => {
                    let read = self.row_at(before, &lock.table, &lock.ctid);
                    footprint.reads.insert(read.unwrap_or_else(|| Object::all(&lock.table)));
                }
                ("SIReadLock", _, Some(index)) if self.is_single(lock, index, lookups, footprint) => {
                    looked_up.insert(lock.table.clone());
                    if !self.by_row {
                        footprint.lookups.insert(lock.table.clone());
                    }
                }
                ("SIReadLock", _, _) => {
                    footprint.reads.insert(Object::all(&lock.table));
                }
                (mode, "relation", None) => {
                    let object = Object::all(format!("lock on {}", lock.table));
                    footprint.locks.extend(locks::table_lock(mode).map(|mode| (object, mode)));
                }
                _ => {}
            }
        }
        for table in looked_up {
            let found = |object: &Object| object.space == table;
            let is_found = footprint.reads.iter().any(found)
                || footprint.writes.iter().any(found)
                || footprint.locks.iter().any(|(object, _)| found(object));
            // A key that is not there yet may come.
            if !is_found {
                footprint.reads.insert(Object::all(table));
            }
        }
    }

    /// Whether an index was read for a single key: by the plan, or by the check of a foreign key that locked its row.
    fn is_single(&self, lock: &Lock, index: &str, lookups: &Lookups, footprint: &Footprint) -> bool {
        let checks_a_key = || {
            let shared =
                |(object, mode): &(Object, LockMode)| object.space == lock.table && *mode == LockMode::ForKeyShare;
            !lookups.has(index) && footprint.locks.iter().any(shared)
        };
        let is_known = if self.by_row { true } else { self.pages.are_known && lookups.is_fixed(index) };
        let is_single = is_known && lookups.is_single(index, lock.index_columns);
        lock.is_unique && (is_single || (self.by_row && checks_a_key()))
    }

    /// The row that was, or is, at a place in a table.
    fn row_at(&self, before: &Snapshot, table: &str, ctid: &str) -> Option<Object> {
        let mut rows = before.rows.iter().chain(&self.snapshot.rows);
        let ((table, key), _) = rows.find(|((of, _), version)| of == table && version.ctid == ctid)?;
        Some(self.row(table, key))
    }

    /// A row that is looked at in order to change or lock it may in another state of the tables satisfy the condition.
    fn note_candidates(&self, sql: &str, footprint: &mut Footprint) {
        let word = first_word(sql);
        let change = if word == "DELETE" { LockMode::ForUpdate } else { LockMode::ForNoKeyUpdate };
        let locks =
            |table: &str, mode: LockMode| footprint.locks.contains(&(Object::all(format!("lock on {table}")), mode));
        let is_changed = |object: &&Object| word != "INSERT" && locks(&object.space, LockMode::RowExclusive);
        let is_locked = |object: &&Object| locks(&object.space, LockMode::RowShare);
        let changed: Vec<Object> = footprint.reads.iter().filter(is_changed).cloned().collect();
        let locked: Vec<Object> = footprint.reads.iter().filter(is_locked).cloned().collect();
        footprint.locks.extend(changed.iter().map(|object| (object.clone(), change)));
        footprint.locks.extend(locked.into_iter().map(|object| (object, locks::row_lock_of(sql))));
        footprint.writes.extend(changed);
    }

    /// Tables whose indexes get new entries, or may in another state.
    fn note_entries(&self, sql: &str, footprint: &mut Footprint) {
        let written: BTreeSet<&String> = footprint.writes.iter().map(|object| &object.space).collect();
        let adds = |table: &&String| {
            let facts = self.catalog.tables.get(*table);
            !facts.is_some_and(|facts| self.pages.keep_entries(table, facts, &self.snapshot, sql))
        };
        if !self.by_row {
            footprint.entries = written.into_iter().filter(adds).cloned().collect();
        }
    }

    /// What another state of the tables may turn into other rows.
    fn widen(&self, sql: &str, footprint: &mut Footprint) {
        let whole: BTreeSet<Object> = footprint.reads.iter().filter(|object| object.key.is_none()).cloned().collect();
        let skips = has_word(sql, "skip") || has_word(sql, "nowait");
        let is_wide = |object: &Object| whole.iter().any(|all| all.space == object.space);
        let is_row = |mode: LockMode| mode <= LockMode::ForUpdate;
        let writes: Vec<Object> =
            footprint.writes.iter().filter(|object| is_wide(object)).map(|object| Object::all(&object.space)).collect();
        let locks: Vec<(Object, LockMode)> = footprint
            .locks
            .iter()
            .filter(|(object, mode)| is_row(*mode) && (is_wide(object) || skips))
            .map(|(object, mode)| (Object::all(&object.space), *mode))
            .collect();
        if skips {
            footprint.probes.extend(locks.iter().map(|(object, _)| object.clone()));
            footprint.probes.extend(whole.iter().cloned());
        }
        footprint.writes.extend(writes);
        footprint.locks.extend(locks);
        if has_word(sql, "conflict") && has_word(sql, "nothing") {
            // It fails where the row that is there already is not yet in its snapshot.
            let targets = footprint.locks.iter().filter(|(_, mode)| *mode == LockMode::RowExclusive);
            let tables = targets.filter_map(|(object, _)| object.space.strip_prefix("lock on ").map(Object::all));
            footprint.probes.extend(tables);
        }
        let written = |object: &Object| self.catalog.tables.get(&object.space).is_some_and(|facts| facts.excludes);
        footprint.everything |= footprint.writes.iter().any(written);
    }
}

fn unique_keys(table: &str, version: &Version) -> impl Iterator<Item = Object> {
    version.unique.iter().map(move |values| Object::one(format!("unique of {table}"), values))
}
