//! Turns what happened after a choice into what it means for the order of choices.

use std::sync::Arc;

use super::footprints::Footprints;
use super::words::{begins, first_word};
use crate::history::{Event, History, Phase, What};
use crate::schedule::{Atom, AtomKind, Consequence, Footprint, Rules};

/// What is known of a program before it is explored.
#[derive(Debug, Clone)]
pub struct Knowledge {
    pub rules: Rules,
    pub footprints: Footprints,
    /// See [`Consequence::groups`].
    pub groups: Arc<Vec<usize>>,
}

impl Knowledge {
    /// Every order counts.
    pub fn none() -> Knowledge {
        Knowledge { rules: Rules::Everything, footprints: Footprints::default(), groups: Arc::default() }
    }

    /// The same with what a run shows to be missing; none where nothing is.
    pub fn corrected_by(&self, history: &History, sessions: usize) -> Option<Knowledge> {
        if self.rules == Rules::Everything {
            return None;
        }
        let mut footprints = self.footprints.clone();
        let mut is_new = false;
        for event in history.events.iter().filter(|event| event.phase == Phase::Schedule) {
            match &event.what {
                What::Sent { sql } if !is_control(sql) => is_new |= footprints.meet((event.session, event.call), sql),
                _ => {}
            }
        }
        if self.rules == Rules::Serializable {
            footprints.lock_pages();
        }
        let groups = Arc::new(footprints.groups(sessions));
        is_new.then_some(Knowledge { rules: self.rules, footprints, groups })
    }
}

/// Follows the transactions of a run.
pub struct Watch {
    knowledge: Arc<Knowledge>,
    sessions: Vec<Watched>,
}

/// A session as far as it has come.
#[derive(Debug, Clone, Default)]
struct Watched {
    in_transaction: bool,
    snapshot_taken: bool,
    /// What its transaction has touched so far.
    touched: Arc<Footprint>,
    /// The statement that was sent last: what it touches, and what its call as a whole does.
    statement: Arc<Footprint>,
    call: Arc<Footprint>,
}

impl Watch {
    pub fn new(knowledge: Arc<Knowledge>, sessions: usize) -> Watch {
        Watch { knowledge, sessions: vec![Watched::default(); sessions] }
    }

    /// Whether a session is inside a transaction block.
    pub fn is_open(&self, session: usize) -> bool {
        self.sessions.get(session).is_some_and(|watched| watched.in_transaction)
    }

    /// What the choice of a session brought about; `events` are all that came of it.
    pub fn consequence(&mut self, chosen: usize, events: &[Event]) -> Consequence {
        let mut atoms: Vec<Atom> = Vec::new();
        for event in events.iter().filter(|event| event.phase == Phase::Schedule) {
            self.take_in(event, &mut atoms);
        }
        let Knowledge { rules, groups, .. } = &*self.knowledge;
        Consequence { session: chosen, rules: *rules, atoms, groups: Arc::clone(groups) }
    }

    fn take_in(&mut self, event: &Event, atoms: &mut Vec<Atom>) {
        match &event.what {
            What::Sent { sql } => self.sent(event, sql, atoms),
            What::Blocked { .. } => {
                let issue = atoms.iter_mut().rfind(|atom| atom.session == event.session);
                if let Some(AtomKind::Issue { waits, .. }) = issue.map(|atom| &mut atom.kind) {
                    *waits = true;
                }
            }
            What::Done { tag, in_transaction: true, .. } => {
                // BEGIN has no atom of its own.
                if tag != "BEGIN" {
                    self.answered(event.session, atoms);
                }
                self.sessions[event.session].in_transaction = true;
            }
            What::Done { tag, in_transaction: false, .. } => {
                let kind = if tag.starts_with("ROLLBACK") { AtomKind::Rollback } else { AtomKind::Commit };
                self.answered(event.session, atoms);
                self.ended(event.session, kind, atoms);
            }
            What::Failed { .. } | What::Disconnected { .. } => {
                self.answered(event.session, atoms);
                self.ended(event.session, AtomKind::Rollback, atoms);
            }
            _ => {}
        }
    }

    fn sent(&mut self, event: &Event, sql: &str, atoms: &mut Vec<Atom>) {
        if begins(sql) {
            return;
        }
        let word = first_word(sql);
        let footprints = &self.knowledge.footprints;
        let watched = &mut self.sessions[event.session];
        watched.statement = match word.as_str() {
            "COMMIT" | "END" => footprints.at_commit(event.session, event.call),
            "ROLLBACK" | "ABORT" => Arc::default(),
            _ => footprints.of_statement(event.session, event.call, sql),
        };
        watched.call = footprints.of_call(event.session, event.call);
        let each_statement = self.knowledge.rules == Rules::ReadCommitted;
        let snapshot = each_statement || !watched.snapshot_taken;
        watched.snapshot_taken = true;
        Arc::make_mut(&mut watched.touched).absorb(&watched.statement);
        atoms.push(watched.atom(event.session, AtomKind::Issue { snapshot, waits: false }));
    }

    /// A statement that was sent with an earlier choice has waited until now.
    fn answered(&mut self, session: usize, atoms: &mut Vec<Atom>) {
        if !atoms.iter().any(|atom| atom.session == session) {
            atoms.push(self.sessions[session].atom(session, AtomKind::Finish));
        }
    }

    fn ended(&mut self, session: usize, kind: AtomKind, atoms: &mut Vec<Atom>) {
        let watched = &mut self.sessions[session];
        watched.in_transaction = false;
        watched.snapshot_taken = false;
        let footprint = std::mem::take(&mut watched.touched);
        let (touched, transaction) = (Arc::clone(&footprint), Arc::clone(&watched.call));
        atoms.push(Atom { session, kind, footprint, touched, transaction });
    }
}

impl Watched {
    fn atom(&self, session: usize, kind: AtomKind) -> Atom {
        let (footprint, touched, transaction) = (&self.statement, &self.touched, &self.call);
        let [footprint, touched, transaction] = [footprint, touched, transaction].map(Arc::clone);
        Atom { session, kind, footprint, touched, transaction }
    }
}

/// Whether a statement begins or ends a transaction.
fn is_control(sql: &str) -> bool {
    ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT"].contains(&first_word(sql).as_str())
}
