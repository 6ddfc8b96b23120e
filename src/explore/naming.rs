//! Names an anomaly by the dependencies between the transactions that committed.
//!
//! After Adya, Liskov, O'Neil, "Generalized Isolation Level Definitions", ICDE 2000: a transaction depends on another
//! one that wrote what it read (wr) or overwrote (ww), and comes before one that overwrote what it read (rw, an
//! antidependency). No serial order exists where these make a cycle; which ones it is made of names the anomaly.
//!
//! PostgreSQL shows nobody what another one has not committed, so that aborted and intermediate reads (G1a, G1b) cannot
//! happen inside it. What a transaction does outside stays when it rolls back: that is a G1a for whoever looks there.

use super::footprints::Footprints;
use super::probe::NEW_ROW;
use super::words::{first_word, has_word};
use crate::history::{Event, Fate, History, Phase, What};
use crate::schedule::{Footprint, Object};

/// What has no better name.
pub const ANOMALY: &str = "anomaly";

/// A committed transaction: what it read and wrote, and when.
#[derive(Debug, Default)]
struct Transaction {
    session: usize,
    reads: Vec<Access>,
    writes: Vec<Access>,
    /// The position of its COMMIT's answer among the events.
    committed: usize,
}

#[derive(Debug, Clone)]
struct Access {
    object: Object,
    /// When its snapshot was taken, as a position among the events.
    snapshot: usize,
    /// A row that an INSERT adds: nobody's row is overwritten.
    is_new: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    WriteRead,
    WriteWrite,
    ReadWrite,
}

/// One transaction comes before another in every serial order.
#[derive(Debug, Clone)]
struct Dependency {
    kind: Kind,
    from: usize,
    to: usize,
    object: Object,
    /// What was read is not a row but whatever a condition finds.
    is_predicate: bool,
    /// Which row was written is not known, so that it may have been another one.
    is_unclear: bool,
}

/// An anomaly's name, and the cycle that it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub name: String,
    /// One line for each dependency: who read or wrote what before whom.
    pub cycle: Vec<String>,
    /// The table whose rows cannot be told apart, which is why there is no better name.
    pub unclear: Option<String>,
}

/// Names what a run shows; none where its committed transactions make no cycle.
pub fn name(history: &History, footprints: &Footprints, snapshot_per_statement: bool) -> Option<Named> {
    let transactions = transactions(history, footprints, snapshot_per_statement);
    let dependencies = dependencies(&transactions);
    let Some(cycle) = shortest_cycle(&dependencies, transactions.len()) else { return aborted_effect(history) };
    let describe = |dependency: &&Dependency| describe(history, &transactions, dependency);
    let unclear = cycle.iter().find(|part| part.is_unclear).map(|part| part.object.space.clone());
    let name = if unclear.is_some() { ANOMALY.to_owned() } else { name_of(&cycle) };
    Some(Named { name, cycle: cycle.iter().map(describe).collect(), unclear })
}

/// What a transaction did outside, and rolled back.
fn aborted_effect(history: &History) -> Option<Named> {
    let scheduled = || history.events.iter().filter(|event| event.phase == Phase::Schedule);
    let ended_badly = |of: &Event| {
        scheduled().any(|event| {
            let same = (event.session, event.call, event.attempt) == (of.session, of.call, of.attempt);
            same && matches!(event.what, What::Ended { fate: Some(Fate::RolledBack), .. })
        })
    };
    let (session, sql) = scheduled().find_map(|event| match &event.what {
        What::Effect { sql } if ended_badly(event) => Some((history.session_name(event.session), sql)),
        _ => None,
    })?;
    let line = format!("{session} did this outside and rolled back, and it stays: {sql}");
    Some(Named { name: "aborted write that others see (G1a)".to_owned(), cycle: vec![line], unclear: None })
}

/// The transactions that the schedule itself committed; what a retry did came after all others.
fn transactions(history: &History, footprints: &Footprints, snapshot_per_statement: bool) -> Vec<Transaction> {
    let mut committed = Vec::new();
    let mut open: Vec<Transaction> = (0..history.sessions.len()).map(Transaction::of).collect();
    let mut snapshots: Vec<Option<usize>> = vec![None; history.sessions.len()];
    let scheduled = history.events.iter().enumerate().filter(|(_, event)| event.phase == Phase::Schedule);
    for (position, event) in scheduled {
        let session = event.session;
        match &event.what {
            What::Sent { sql }
                if !matches!(first_word(sql).as_str(), "BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK") =>
            {
                let snapshot = match snapshots[session] {
                    Some(first) if !snapshot_per_statement => first,
                    _ => position,
                };
                snapshots[session] = Some(snapshot);
                open[session].touch(&footprints.of_statement(session, event.call, sql), snapshot, filled_table(sql));
            }
            What::Done { tag, in_transaction: false, .. } => {
                snapshots[session] = None;
                let mut ended = std::mem::replace(&mut open[session], Transaction::of(session));
                if !tag.starts_with("ROLLBACK") {
                    ended.committed = position;
                    committed.push(ended);
                }
            }
            What::Failed { .. } | What::Disconnected { .. } => {
                snapshots[session] = None;
                open[session] = Transaction::of(session);
            }
            _ => {}
        }
    }
    committed
}

/// The table that an INSERT adds rows to; none where it may change rows that are there.
fn filled_table(sql: &str) -> Option<String> {
    let mut words = sql.split(|c: char| c.is_whitespace() || c == '(').filter(|word| !word.is_empty());
    let into = |word: Option<&str>, is: &str| word.is_some_and(|word| word.eq_ignore_ascii_case(is));
    let adds = into(words.next(), "INSERT") && into(words.next(), "INTO") && !has_word(sql, "conflict");
    words.next().filter(|_| adds).map(str::to_lowercase)
}

impl Transaction {
    fn of(session: usize) -> Transaction {
        Transaction { session, ..Transaction::default() }
    }

    fn touch(&mut self, footprint: &Footprint, snapshot: usize, filled: Option<String>) {
        let is_new = |object: &Object| filled.as_deref() == Some(object.space.as_str());
        let access = |object: &Object| Access { object: object.clone(), snapshot, is_new: is_new(object) };
        self.reads.extend(footprint.reads.iter().map(access));
        self.writes.extend(footprint.writes.iter().map(access));
    }
}

fn dependencies(transactions: &[Transaction]) -> Vec<Dependency> {
    let mut dependencies = Vec::new();
    for (from, one) in transactions.iter().enumerate() {
        for (to, other) in
            transactions.iter().enumerate().filter(|(to, other)| *to != from && other.session != one.session)
        {
            let mut add = |kind, first: &Access, second: &Access| {
                let is_predicate = first.object.key.is_none();
                let object = if is_predicate { second.object.clone() } else { first.object.clone() };
                let is_vague = |write: &Access| write.object.key.is_none() && !write.is_new;
                let is_unclear = match kind {
                    Kind::WriteRead => is_vague(first),
                    Kind::WriteWrite => is_vague(first) || is_vague(second),
                    Kind::ReadWrite => is_vague(second),
                };
                dependencies.push(Dependency { kind, from, to, object, is_predicate, is_unclear });
            };
            for write in &one.writes {
                let later = |access: &&Access| access.object.meets(&write.object);
                for read in other.reads.iter().filter(later).filter(|read| one.committed < read.snapshot) {
                    add(Kind::WriteRead, write, read);
                }
                // Rows that are added are others than those that are there, and whatever numbers they were given when
                // they were measured, two that are added are not the same.
                let somewhere = |access: &Access| access.is_new && access.object.key.is_none();
                let overwrites = other.writes.iter().filter(later).filter(|overwrite| {
                    !(somewhere(write) || somewhere(overwrite) || write.is_new && overwrite.is_new)
                });
                for overwrite in overwrites.filter(|_| one.committed < other.committed) {
                    add(Kind::WriteWrite, write, overwrite);
                }
            }
            for read in one.reads.iter().filter(|read| read.snapshot < other.committed) {
                for write in other.writes.iter().filter(|write| write.object.meets(&read.object)) {
                    add(Kind::ReadWrite, read, write);
                }
            }
        }
    }
    dependencies
}

/// A shortest cycle; of those the clearest, then one with the fewest antidependencies, then one on a single row.
fn shortest_cycle(dependencies: &[Dependency], transactions: usize) -> Option<Vec<&Dependency>> {
    fn extend<'d>(
        dependencies: &'d [Dependency],
        path: &mut Vec<&'d Dependency>,
        length: usize,
        found: &mut Vec<Vec<&'d Dependency>>,
    ) {
        let (start, end) = (path[0].from, path[path.len() - 1].to);
        if path.len() == length {
            if start == end {
                found.push(path.clone());
            }
            return;
        }
        // From the transaction of the smallest index on, so that each cycle is met once.
        let fresh =
            |next: &&Dependency| next.from == end && next.to >= start && path.iter().all(|known| known.to != next.to);
        for next in dependencies.iter().filter(fresh).collect::<Vec<_>>() {
            path.push(next);
            extend(dependencies, path, length, found);
            path.pop();
        }
    }
    let antidependencies = |cycle: &Vec<&Dependency>| cycle.iter().filter(|part| part.kind == Kind::ReadWrite).count();
    (2..=transactions).find_map(|length| {
        let mut found = Vec::new();
        for first in dependencies {
            extend(dependencies, &mut vec![first], length, &mut found);
        }
        let unclear = |cycle: &Vec<&Dependency>| cycle.iter().filter(|part| part.is_unclear).count();
        found.into_iter().min_by_key(|cycle| (unclear(cycle), antidependencies(cycle), !is_on_one_row(cycle)))
    })
}

fn is_on_one_row(cycle: &[&Dependency]) -> bool {
    cycle.windows(2).all(|pair| pair[0].object.meets(&pair[1].object))
}

fn name_of(cycle: &[&Dependency]) -> String {
    let antidependencies: Vec<&&Dependency> = cycle.iter().filter(|part| part.kind == Kind::ReadWrite).collect();
    let one_row = is_on_one_row(cycle);
    let overwrites = cycle.iter().any(|part| part.kind == Kind::WriteWrite);
    let predicate = antidependencies.iter().any(|part| part.is_predicate);
    let name = match (antidependencies.len(), overwrites) {
        (0, true) => "write cycle (G0)",
        (0, false) => "circular information flow (G1c)",
        (1, true) if one_row => "lost update (P4)",
        (1, _) => "read skew (G-single)",
        (2, _) if cycle.len() == 2 && predicate => "write skew (G2)",
        (2, _) if cycle.len() == 2 => "write skew (G2-item)",
        _ if predicate => "antidependency cycle (G2)",
        _ => "antidependency cycle (G2-item)",
    };
    name.to_owned()
}

fn describe(history: &History, transactions: &[Transaction], dependency: &Dependency) -> String {
    let session = |index: usize| history.session_name(transactions[index].session);
    let (from, to) = (session(dependency.from), session(dependency.to));
    let what = match &dependency.object.key {
        Some(key) if key.starts_with(NEW_ROW) => format!("a new row of {}", dependency.object.space),
        Some(key) => format!("{} {key}", dependency.object.space),
        None => dependency.object.space.clone(),
    };
    match dependency.kind {
        Kind::WriteRead => format!("{to} reads {what} after {from} wrote it, so {from} comes before {to}"),
        Kind::WriteWrite => format!("{to} overwrites {what} after {from} wrote it, so {from} comes before {to}"),
        Kind::ReadWrite => format!("{from} reads {what} before {to} writes it, so {from} comes before {to}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::testing::{event, history};

    fn sent(session: usize, sql: &str) -> crate::history::Event {
        event(session, "1", What::Sent { sql: sql.to_owned() })
    }

    fn commit(session: usize) -> crate::history::Event {
        let (tag, columns, types, rows) = ("COMMIT".to_owned(), Vec::new(), Vec::new(), Vec::new());
        event(session, "commit", What::Done { tag, columns, types, rows, in_transaction: false })
    }

    /// Statements are `read x` and `write x`, over rows; `read *` is a predicate.
    fn footprints() -> Footprints {
        let mut footprints = Footprints::default();
        let object = |key: &str| if key == "*" { Object::all("t") } else { Object::one("t", key) };
        for session in 0..2 {
            for key in ["x", "y", "z", "*"] {
                let read = Footprint { reads: [object(key)].into(), ..Footprint::default() };
                let write = Footprint { writes: [object(key)].into(), ..Footprint::default() };
                footprints.add((session, 0), &format!("read {key}"), &read);
                footprints.add((session, 0), &format!("write {key}"), &write);
                footprints.add((session, 0), &format!("INSERT INTO t ({key})"), &write);
            }
        }
        footprints
    }

    fn named(events: Vec<crate::history::Event>) -> Option<String> {
        name(&history(events, false), &footprints(), true).map(|named| named.name)
    }

    #[test]
    fn a_lost_update_is_a_read_that_was_overwritten_before_its_own_write() {
        let events =
            vec![sent(0, "read x"), sent(1, "read x"), sent(1, "write x"), commit(1), sent(0, "write x"), commit(0)];
        assert_eq!(named(events).as_deref(), Some("lost update (P4)"));
    }

    #[test]
    fn a_read_skew_sees_one_half_before_and_one_after() {
        let events =
            vec![sent(0, "read x"), sent(1, "write x"), sent(1, "write y"), commit(1), sent(0, "read y"), commit(0)];
        assert_eq!(named(events).as_deref(), Some("read skew (G-single)"));
    }

    #[test]
    fn write_skew_is_two_reads_that_the_other_one_made_untrue() {
        let skew = |one: &str, other: &str| {
            named(vec![sent(0, one), sent(1, other), sent(0, "write x"), sent(1, "write y"), commit(0), commit(1)])
        };
        assert_eq!(skew("read y", "read x").as_deref(), Some("write skew (G2-item)"));
        assert_eq!(skew("read *", "read *").as_deref(), Some("write skew (G2)"));
    }

    #[test]
    fn of_several_cycles_the_one_on_a_single_row_names_it() {
        let events = vec![
            sent(0, "read x"),
            sent(1, "write z"),
            sent(1, "write x"),
            commit(1),
            sent(0, "write z"),
            sent(0, "write x"),
            commit(0),
        ];
        assert_eq!(named(events).as_deref(), Some("lost update (P4)"));
    }

    #[test]
    fn rows_that_cannot_be_told_apart_have_no_name() {
        let both =
            |one: &str| vec![sent(0, "read *"), sent(1, "read *"), sent(1, one), commit(1), sent(0, one), commit(0)];
        let unclear = name(&history(both("write *"), false), &footprints(), true).expect("a cycle");
        assert_eq!((unclear.name.as_str(), unclear.unclear.as_deref()), ("anomaly", Some("t")));
        // Two rows that are added do not overwrite each other.
        assert_eq!(named(both("INSERT INTO t (*)")).as_deref(), Some("write skew (G2)"));
        assert_eq!(named(both("INSERT INTO t (x)")).as_deref(), Some("write skew (G2)"));
    }

    #[test]
    fn write_cycles_and_circular_flow_are_named_where_a_history_has_them() {
        // PostgreSQL gives neither: snapshots are taken before what they show is overwritten.
        let writes = vec![sent(0, "write x"), sent(1, "write x"), commit(1), sent(1, "write y"), commit(1), commit(0)];
        assert_eq!(named(writes), None, "the versions of x and y are in one order");
        let dependency = |kind, from, to| Dependency {
            kind,
            from,
            to,
            object: Object::one("t", "x"),
            is_predicate: false,
            is_unclear: false,
        };
        let cycle = |first, second| {
            let both = [dependency(first, 0, 1), dependency(second, 1, 0)];
            name_of(&both.iter().collect::<Vec<_>>())
        };
        assert_eq!(cycle(Kind::WriteWrite, Kind::WriteWrite), "write cycle (G0)");
        assert_eq!(cycle(Kind::WriteRead, Kind::WriteRead), "circular information flow (G1c)");
    }

    #[test]
    fn what_was_done_outside_and_rolled_back_is_seen_by_others() {
        let effect = || event(0, "1", What::Effect { sql: "INSERT INTO mails VALUES (1)".to_owned() });
        let ended = |fate| event(0, "commit", What::Ended { fate: Some(fate), told: None, message: None });
        assert_eq!(
            named(vec![effect(), ended(Fate::RolledBack)]).as_deref(),
            Some("aborted write that others see (G1a)")
        );
        assert_eq!(named(vec![effect(), ended(Fate::Committed)]), None);
    }

    #[test]
    fn a_serial_run_has_no_cycle() {
        let events =
            vec![sent(0, "read x"), sent(0, "write x"), commit(0), sent(1, "read x"), sent(1, "write x"), commit(1)];
        assert_eq!(named(events), None);
    }
}
