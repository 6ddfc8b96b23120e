//! Who waits for whom, and who of them cannot go on before the client does something.

use std::collections::{BTreeMap, BTreeSet};

/// A prepared transaction, where a process is meant.
const PREPARED: i32 = 0;

/// The backends that others wait for, as the server sees it at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WaitGraph {
    blockers: BTreeMap<i32, BTreeSet<i32>>,
}

impl WaitGraph {
    /// Of pairs of a backend and those that it waits for; none of them: it does not wait.
    pub fn new(waits: impl IntoIterator<Item = (i32, BTreeSet<i32>)>) -> WaitGraph {
        WaitGraph { blockers: waits.into_iter().filter(|(_, by)| !by.is_empty()).collect() }
    }

    /// True if nobody waits.
    pub fn is_empty(&self) -> bool {
        self.blockers.is_empty()
    }

    /// Those that a backend waits for.
    pub fn blockers(&self, pid: i32) -> impl Iterator<Item = i32> {
        self.blockers.get(&pid).into_iter().flatten().copied()
    }

    /// True if a backend waits, over any number of others, for one of the idle ones, which will not let go by itself;
    /// and if none of the backends on the way is part of a cycle, which the server would break.
    ///
    /// One that it waits for is enough: the lock is granted when all have let go.
    pub fn is_stuck(&self, pid: i32, idle: &BTreeSet<i32>) -> bool {
        !self.leads_to(pid, pid) && self.blockers(pid).any(|by| by != PREPARED && self.stays(by, idle))
    }

    /// True if a backend keeps its locks until the client does something.
    fn stays(&self, pid: i32, idle: &BTreeSet<i32>) -> bool {
        let waits = || !self.leads_to(pid, pid) && self.blockers(pid).any(|by| self.stays(by, idle));
        pid == PREPARED || idle.contains(&pid) || waits()
    }

    /// True if `from` waits, over any number of others, for `goal`.
    pub fn leads_to(&self, from: i32, goal: i32) -> bool {
        let mut seen = BTreeSet::new();
        let mut ahead: Vec<i32> = self.blockers(from).collect();
        while let Some(pid) = ahead.pop() {
            if pid == goal {
                return true;
            }
            if seen.insert(pid) {
                ahead.extend(self.blockers(pid));
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: [i32; 0] = [];

    fn graph<const N: usize>(waits: [(i32, &[i32]); N]) -> WaitGraph {
        WaitGraph::new(waits.into_iter().map(|(pid, by)| (pid, by.iter().copied().collect())))
    }

    fn stuck(graph: &WaitGraph, idle: &[i32]) -> Vec<i32> {
        let idle = idle.iter().copied().collect();
        (1..9).filter(|&pid| graph.is_stuck(pid, &idle)).collect()
    }

    #[test]
    fn who_waits_for_an_idle_one_is_stuck_and_so_is_who_waits_for_him() {
        assert_eq!(stuck(&graph([(1, &[2]), (2, &[3]), (4, &[5])]), &[3]), [1, 2]);
    }

    #[test]
    fn who_waits_for_one_that_works_may_go_on_soon() {
        assert_eq!(stuck(&graph([(1, &[2])]), &[]), NOBODY);
        assert_eq!(stuck(&graph([(1, &[2, 3])]), &[3]), [1]);
    }

    #[test]
    fn a_cycle_is_broken_by_the_server() {
        let cycle = graph([(1, &[2]), (2, &[1, 5]), (3, &[1]), (4, &[1, 5])]);
        assert_eq!(stuck(&cycle, &[5]), [4]);
    }

    #[test]
    fn a_prepared_transaction_holds_others_only_behind_a_session() {
        assert_eq!(stuck(&graph([(1, &[0])]), &[]), NOBODY);
        assert_eq!(stuck(&graph([(1, &[2]), (2, &[0])]), &[]), [1]);
    }
}
