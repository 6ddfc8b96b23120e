//! When the order of two choices can make a difference on PostgreSQL, by what they read, write, lock and wait for.
//!
//! Under MVCC a read does not conflict with a concurrent write but with the other transaction's COMMIT; and a choice has
//! consequences that are not choices: a COMMIT wakes who waits. So a choice is a list of atoms, and two choices depend on
//! each other where two of their atoms do.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::search::Effect;

/// Something that statements have in common: one key of a space (a table, an index, the advisory locks), or all of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    pub space: String,
    /// None: whatever keys there are or will be.
    pub key: Option<String>,
}

/// How an object is locked. Row locks weakest first, then the modes of tables, as in the manual's "Explicit Locking".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockMode {
    ForKeyShare,
    ForShare,
    ForNoKeyUpdate,
    ForUpdate,
    AccessShare,
    RowShare,
    RowExclusive,
    ShareUpdateExclusive,
    Share,
    ShareRowExclusive,
    Exclusive,
    AccessExclusive,
}

/// What a statement, or a whole transaction, touches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Nobody knows: it is taken to depend on everything.
    pub everything: bool,
    pub reads: BTreeSet<Object>,
    pub writes: BTreeSet<Object>,
    pub locks: BTreeSet<(Object, LockMode)>,
    /// State that it looks at outside its snapshot: who holds a lock, whether a referenced row is there.
    pub probes: BTreeSet<Object>,
    /// At SERIALIZABLE, tables of which it reads single rows by an index: a new entry there is a conflict.
    pub lookups: BTreeSet<String>,
    /// Tables whose indexes may get new entries.
    pub entries: BTreeSet<String>,
}

/// A part of what a choice brought about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atom {
    pub session: usize,
    pub kind: AtomKind,
    /// Of the statement; of an end, that of its whole transaction.
    pub footprint: Arc<Footprint>,
    /// What its transaction has touched until then, this included.
    pub touched: Arc<Footprint>,
    /// Of the whole transaction, whatever it has come to.
    pub transaction: Arc<Footprint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomKind {
    /// A statement was sent.
    Issue {
        /// It takes a snapshot: at READ COMMITTED every statement, else the first of a transaction.
        snapshot: bool,
        /// It has to wait.
        waits: bool,
    },
    /// A statement that waited goes on.
    Finish,
    Commit,
    Rollback,
}

/// Which rules hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    ReadCommitted,
    RepeatableRead,
    Serializable,
    /// Every order counts.
    Everything,
}

/// What one choice brought about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consequence {
    pub session: usize,
    pub rules: Rules,
    pub atoms: Vec<Atom>,
    /// For each session the number of its group: sessions of different groups are not connected by reads and writes,
    /// not even over others, so that no dangerous structure of SSI holds both.
    pub groups: Arc<Vec<usize>>,
}

impl Object {
    pub fn all(space: impl Into<String>) -> Object {
        Object { space: space.into(), key: None }
    }

    pub fn one(space: impl Into<String>, key: impl Into<String>) -> Object {
        Object { space: space.into(), key: Some(key.into()) }
    }

    /// Whether both may stand for the same thing.
    pub fn meets(&self, other: &Object) -> bool {
        self.space == other.space && (self.key.is_none() || other.key.is_none() || self.key == other.key)
    }
}

impl LockMode {
    fn conflicts_with(self, other: LockMode) -> bool {
        use LockMode::*;
        let (weaker, stronger) = if self <= other { (self, other) } else { (other, self) };
        match (weaker, stronger) {
            (ForKeyShare, ForUpdate) => true,
            (ForShare, ForNoKeyUpdate | ForUpdate) => true,
            (ForNoKeyUpdate, ForNoKeyUpdate | ForUpdate) | (ForUpdate, ForUpdate) => true,
            (AccessShare, AccessExclusive) => true,
            (RowShare, Exclusive | AccessExclusive) => true,
            (RowExclusive, Share | ShareRowExclusive | Exclusive | AccessExclusive) => true,
            (ShareUpdateExclusive, ShareUpdateExclusive) => true,
            (ShareUpdateExclusive, Share | ShareRowExclusive | Exclusive | AccessExclusive) => true,
            (Share, ShareRowExclusive | Exclusive | AccessExclusive) => true,
            (ShareRowExclusive | Exclusive | AccessExclusive, _) => stronger >= ShareRowExclusive,
            _ => false,
        }
    }
}

impl Footprint {
    /// Of something that nobody understands.
    pub fn of_everything() -> Footprint {
        Footprint { everything: true, ..Footprint::default() }
    }

    /// Adds what another one touches.
    pub fn absorb(&mut self, other: &Footprint) {
        self.everything |= other.everything;
        self.reads.extend(other.reads.iter().cloned());
        self.writes.extend(other.writes.iter().cloned());
        self.locks.extend(other.locks.iter().cloned());
        self.probes.extend(other.probes.iter().cloned());
        self.lookups.extend(other.lookups.iter().cloned());
        self.entries.extend(other.entries.iter().cloned());
    }

    /// The same with every key of the spaces that it touches, for a statement whose keys are not known.
    pub fn widened(&self) -> Footprint {
        let widen = |objects: &BTreeSet<Object>| objects.iter().map(|object| Object::all(&object.space)).collect();
        Footprint {
            everything: self.everything,
            reads: widen(&self.reads),
            writes: widen(&self.writes),
            locks: self.locks.iter().map(|(object, mode)| (Object::all(&object.space), *mode)).collect(),
            probes: widen(&self.probes),
            lookups: self.lookups.clone(),
            entries: self.entries.clone(),
        }
    }

    /// Whether it reads or writes anything.
    fn has_rows(&self) -> bool {
        self.has_reads() || !self.writes.is_empty()
    }

    fn has_reads(&self) -> bool {
        self.everything || !(self.reads.is_empty() && self.probes.is_empty() && self.lookups.is_empty())
    }

    /// Whether this reads, inside or outside its snapshot or on the way, or writes what the other wrote.
    pub fn touches_writes_of(&self, other: &Footprint) -> bool {
        self.everything
            || other.everything
            || meet(&self.reads, &other.writes)
            || meet(&self.probes, &other.writes)
            || meet(&self.writes, &other.writes)
            || !self.lookups.is_disjoint(&other.entries)
    }

    fn lock_conflicts_with(&self, other: &Footprint) -> bool {
        let conflict = |(object, mode): &(Object, LockMode)| {
            other.locks.iter().any(|(locked, held)| mode.conflicts_with(*held) && object.meets(locked))
        };
        self.locks.iter().any(conflict)
    }

    fn probes_locks_of(&self, other: &Footprint) -> bool {
        self.probes.iter().any(|probe| other.locks.iter().any(|(locked, _)| probe.meets(locked)))
    }
}

fn meet(left: &BTreeSet<Object>, right: &BTreeSet<Object>) -> bool {
    left.iter().any(|object| right.iter().any(|other| object.meets(other)))
}

impl Effect for Consequence {
    fn session(&self) -> usize {
        self.session
    }

    fn depends_on(&self, other: &Consequence) -> bool {
        self.rules == Rules::Everything
            || self.atoms.iter().any(|left| other.atoms.iter().any(|right| self.pair_depends(left, right)))
    }
}

impl Consequence {
    fn pair_depends(&self, left: &Atom, right: &Atom) -> bool {
        use AtomKind::{Commit, Finish, Issue, Rollback};
        if left.session == right.session || left.footprint.everything || right.footprint.everything {
            return true;
        }
        match (left.kind, right.kind) {
            (Issue { .. } | Finish, Issue { .. } | Finish) => self.statements_depend(left, right),
            (Commit | Rollback, Commit | Rollback) => self.ends_depend(left, right),
            (Issue { .. } | Finish, Commit | Rollback) => self.statement_depends_on_end(left, right),
            (Commit | Rollback, Issue { .. } | Finish) => self.statement_depends_on_end(right, left),
        }
    }

    fn statements_depend(&self, left: &Atom, right: &Atom) -> bool {
        let waits = |atom: &Atom| matches!(atom.kind, AtomKind::Issue { waits: true, .. });
        let (one, other) = (&left.footprint, &right.footprint);
        // Either of two that wait may turn out to close a cycle.
        (waits(left) && waits(right))
            || one.lock_conflicts_with(other)
            || one.probes_locks_of(other)
            || other.probes_locks_of(one)
            || (self.rules == Rules::Serializable && (dooms(left, right) || dooms(right, left)))
    }

    fn statement_depends_on_end(&self, statement: &Atom, end: &Atom) -> bool {
        let (touched, ended) = (&statement.footprint, &end.footprint);
        if touched.lock_conflicts_with(ended) || touched.probes_locks_of(ended) {
            return true;
        }
        let snapshot = matches!(statement.kind, AtomKind::Issue { snapshot: true, .. });
        let sees = match self.rules {
            // A dangerous structure that this end completes dooms the transaction: it fails when it reads or writes next,
            // or goes free if it rolls back before.
            Rules::Serializable => return self.are_connected(statement, end) && (snapshot || touched.has_rows()),
            Rules::ReadCommitted => touched.touches_writes_of(ended),
            // The snapshot serves the whole transaction.
            _ => statement.transaction.touches_writes_of(ended) || touched.touches_writes_of(ended),
        };
        snapshot && end.kind == AtomKind::Commit && sees
    }

    fn ends_depend(&self, left: &Atom, right: &Atom) -> bool {
        self.rules == Rules::Serializable && self.are_connected(left, right)
    }

    fn are_connected(&self, left: &Atom, right: &Atom) -> bool {
        self.groups.get(left.session) == self.groups.get(right.session)
    }
}

/// Who notices a dependency, at the read or at the write, decides who is its victim. And who reads what another one has
/// written dooms the writer if that has read something older than a third one's commit, which fails it at once if it
/// comes second.
fn dooms(reader: &Atom, writer: &Atom) -> bool {
    reader.footprint.touches_writes_of(&writer.footprint)
        || (writer.footprint.has_reads() && reader.footprint.touches_writes_of(&writer.touched))
}

fn meet_either_way(one: &Footprint, other: &Footprint) -> bool {
    one.touches_writes_of(other) || other.touches_writes_of(one)
}

/// The groups of sessions whose transactions are connected by reads and writes, directly or over others.
pub fn groups(sessions: &[Footprint]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..sessions.len()).collect();
    for one in 0..sessions.len() {
        for other in 0..one {
            let everything = sessions[one].everything || sessions[other].everything;
            if everything || meet_either_way(&sessions[one], &sessions[other]) {
                let (from, to) = (groups[one], groups[other]);
                groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str) -> Object {
        Object::one("teams", key)
    }

    fn footprint(reads: &[Object], writes: &[Object]) -> Footprint {
        Footprint {
            reads: reads.iter().cloned().collect(),
            writes: writes.iter().cloned().collect(),
            locks: writes.iter().map(|object| (object.clone(), LockMode::ForNoKeyUpdate)).collect(),
            ..Footprint::default()
        }
    }

    fn choice(rules: Rules, session: usize, kind: AtomKind, statement: &Footprint, whole: &Footprint) -> Consequence {
        let [footprint, touched, transaction] = [statement, whole, whole].map(|footprint| Arc::new(footprint.clone()));
        let atoms = vec![Atom { session, kind, footprint, touched, transaction }];
        Consequence { session, rules, atoms, groups: Arc::new(vec![0, 0, 1]) }
    }

    const FIRST: AtomKind = AtomKind::Issue { snapshot: true, waits: false };
    const LATER: AtomKind = AtomKind::Issue { snapshot: false, waits: false };
    const WAITS: AtomKind = AtomKind::Issue { snapshot: false, waits: true };

    #[test]
    fn a_read_depends_on_the_commit_and_not_on_the_write() {
        let (reads, writes) = (footprint(&[row("a")], &[]), footprint(&[], &[row("a")]));
        let read = choice(Rules::ReadCommitted, 0, FIRST, &reads, &reads);
        let write = choice(Rules::ReadCommitted, 1, FIRST, &writes, &writes);
        let commit = choice(Rules::ReadCommitted, 1, AtomKind::Commit, &writes, &writes);
        let rollback = choice(Rules::ReadCommitted, 1, AtomKind::Rollback, &writes, &writes);
        assert!(!read.depends_on(&write));
        assert!(read.depends_on(&commit) && commit.depends_on(&read));
        assert!(!read.depends_on(&rollback));
    }

    #[test]
    fn at_repeatable_read_the_snapshot_stands_for_the_whole_transaction() {
        let (first, whole) = (footprint(&[row("b")], &[]), footprint(&[row("a"), row("b")], &[]));
        let writes = footprint(&[], &[row("a")]);
        let commit = choice(Rules::RepeatableRead, 1, AtomKind::Commit, &writes, &writes);
        assert!(choice(Rules::RepeatableRead, 0, FIRST, &first, &whole).depends_on(&commit));
        assert!(!choice(Rules::RepeatableRead, 0, LATER, &whole, &whole).depends_on(&commit));
        assert!(!choice(Rules::ReadCommitted, 0, FIRST, &first, &whole).depends_on(&commit));
    }

    #[test]
    fn locks_of_one_row_conflict_and_two_waits_always_do() {
        let (one, other) = (footprint(&[], &[row("a")]), footprint(&[], &[row("b")]));
        let write = |session, touched| choice(Rules::ReadCommitted, session, LATER, touched, touched);
        assert!(write(0, &one).depends_on(&write(1, &one)));
        assert!(!write(0, &one).depends_on(&write(1, &other)));
        let wait = |session, touched| choice(Rules::ReadCommitted, session, WAITS, touched, touched);
        assert!(wait(0, &one).depends_on(&wait(1, &other)));
    }

    #[test]
    fn at_serializable_connected_ends_depend_on_each_other() {
        let nothing = Footprint::default();
        let end = |rules, session| choice(rules, session, AtomKind::Commit, &nothing, &nothing);
        assert!(end(Rules::Serializable, 0).depends_on(&end(Rules::Serializable, 1)));
        assert!(!end(Rules::Serializable, 0).depends_on(&end(Rules::Serializable, 2)));
        assert!(!end(Rules::RepeatableRead, 0).depends_on(&end(Rules::RepeatableRead, 1)));
    }

    #[test]
    fn at_serializable_a_read_may_doom_who_has_written() {
        let (reads, writes) = (footprint(&[row("a")], &[]), footprint(&[], &[row("a")]));
        let (elsewhere, nowhere) = (footprint(&[row("b")], &[]), Footprint::default());
        let read = |rules, statement| choice(rules, 0, LATER, statement, statement);
        let after_write = |rules, statement| choice(rules, 1, LATER, statement, &writes);
        let (serializable, below) = (Rules::Serializable, Rules::RepeatableRead);
        assert!(read(serializable, &reads).depends_on(&after_write(serializable, &elsewhere)));
        assert!(!read(below, &reads).depends_on(&after_write(below, &elsewhere)));
        assert!(!read(serializable, &reads).depends_on(&after_write(serializable, &nowhere)));
        assert!(!read(serializable, &elsewhere).depends_on(&after_write(serializable, &elsewhere)));
    }

    #[test]
    fn a_new_entry_meets_who_came_by_the_index() {
        let came = Footprint { lookups: ["teams".to_owned()].into(), ..footprint(&[row("a")], &[]) };
        let makes = Footprint { entries: ["teams".to_owned()].into(), ..footprint(&[], &[row("b")]) };
        assert!(came.touches_writes_of(&makes));
        assert!(!came.touches_writes_of(&footprint(&[], &[row("b")])));
        assert_eq!(groups(&[came, makes]), [0, 0]);
    }

    #[test]
    fn a_wildcard_meets_every_key() {
        let all = footprint(&[Object::all("teams")], &[]);
        assert!(all.touches_writes_of(&footprint(&[], &[row("a")])));
        assert!(!all.touches_writes_of(&footprint(&[], &[Object::one("expenses", "a")])));
    }

    #[test]
    fn groups_are_closed_over_others() {
        let sessions = [footprint(&[row("a")], &[]), footprint(&[row("b")], &[row("a")]), footprint(&[], &[row("b")])];
        assert_eq!(groups(&sessions), [0, 0, 0]);
        assert_eq!(groups(&[sessions[0].clone(), sessions[2].clone()]), [0, 1]);
    }

    #[test]
    fn lock_modes_conflict_as_in_the_manual() {
        use LockMode::*;
        let conflicts = |one: LockMode, other| one.conflicts_with(other) && other.conflicts_with(one);
        assert!(conflicts(ForKeyShare, ForUpdate) && !conflicts(ForKeyShare, ForNoKeyUpdate));
        assert!(conflicts(RowExclusive, Share) && !conflicts(RowExclusive, RowExclusive));
        assert!(conflicts(ShareRowExclusive, ShareRowExclusive) && !conflicts(Share, Share));
        assert!(conflicts(ShareUpdateExclusive, ShareUpdateExclusive) && !conflicts(AccessShare, Exclusive));
        assert!(!conflicts(ForUpdate, AccessExclusive), "a row and a table are different objects");
    }
}
