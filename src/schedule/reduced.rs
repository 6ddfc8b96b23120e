//! Dynamic partial-order reduction: of schedules that differ only in the order of independent choices, one is played.
//!
//! Source sets and sleep sets, without wakeup trees: Abdulla, Aronis, Jonsson, Sagonas, "Source Sets: A Foundation for
//! Optimal Dynamic Partial Order Reduction", JACM 2017. After each schedule its races are looked at: two dependent
//! choices of different sessions with nothing in between that connects them. Where the later one could have come first,
//! a choice that leads there is added at the place before the earlier one.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::search::{Attempt, Effect, Search, Step};

/// The part of the tree of schedules that was played, or is to be.
#[derive(Debug)]
pub struct Reduced<E> {
    /// The root first; none before the first schedule was played.
    nodes: Vec<Node<E>>,
    begun: bool,
    /// Picks that are to be played: depth, place, pick. The deepest comes first, and at one place the oldest.
    pending: BTreeSet<(usize, usize, Reverse<usize>)>,
}

/// A place in the tree.
#[derive(Debug)]
struct Node<E> {
    /// The place before, and which of its picks leads here.
    parent: Option<(usize, usize)>,
    depth: usize,
    enabled: Vec<usize>,
    sleep: Vec<E>,
    /// In the order in which they were added; a later one may leave out what an earlier one leads to.
    picks: Vec<Pick<E>>,
}

#[derive(Debug)]
struct Pick<E> {
    session: usize,
    /// What it brought about; none before it was played.
    effect: Option<E>,
}

impl<E> Default for Reduced<E> {
    fn default() -> Reduced<E> {
        Reduced { nodes: Vec::new(), begun: false, pending: BTreeSet::new() }
    }
}

impl<E: Effect> Search<E> for Reduced<E> {
    fn next(&mut self) -> Option<Attempt<E>> {
        if !self.begun {
            self.begun = true;
            return Some(Attempt { prefix: Vec::new(), sleep: Vec::new(), priorities: None, origin: 0 });
        }
        let (_, origin, Reverse(pick)) = self.pending.pop_last()?;
        let node = &self.nodes[origin];
        let earlier = node.picks[..pick].iter().filter_map(|pick| pick.effect.clone());
        let sleep = node.sleep.iter().cloned().chain(earlier).collect();
        let places = self.path_to(origin);
        let choice =
            |pair: &[usize]| self.nodes[pair[1]].parent.map(|(parent, pick)| self.nodes[parent].picks[pick].session);
        let mut prefix: Vec<usize> = places.windows(2).filter_map(choice).collect();
        prefix.push(node.picks[pick].session);
        Some(Attempt { prefix, sleep, priorities: None, origin })
    }

    fn learn(&mut self, attempt: &Attempt<E>, steps: &[Step<E>]) {
        let first_new = attempt.prefix.len().saturating_sub(1);
        let path = self.grow(attempt, steps, first_new);
        let before = happens_before(steps);
        for later in first_new..steps.len() {
            for earlier in (0..later).filter(|&earlier| is_race(&before, steps, earlier, later)) {
                let initials = initials(&before, steps, earlier, later);
                self.make_room(path[earlier], &initials, steps[later].effect.session());
            }
        }
    }

    fn pending(&self) -> usize {
        self.pending.len()
    }
}

impl<E: Effect> Reduced<E> {
    /// The places from the root to this one, both included.
    fn path_to(&self, node: usize) -> Vec<usize> {
        let parent = |&node: &usize| self.nodes[node].parent.map(|(parent, _)| parent);
        let mut path: Vec<usize> = std::iter::successors(Some(node), parent).collect();
        path.reverse();
        path
    }

    /// Adds the places that a schedule came to for the first time; gives the place before each of its choices.
    fn grow(&mut self, attempt: &Attempt<E>, steps: &[Step<E>], first_new: usize) -> Vec<usize> {
        let mut path = if attempt.prefix.is_empty() { Vec::new() } else { self.path_to(attempt.origin) };
        let mut sleep = attempt.sleep.clone();
        let mut parent = None;
        for (depth, step) in steps.iter().enumerate().skip(first_new) {
            if depth == path.len() {
                self.nodes.push(Node {
                    parent,
                    depth,
                    enabled: step.enabled.clone(),
                    sleep: sleep.clone(),
                    picks: Vec::new(),
                });
                path.push(self.nodes.len() - 1);
            }
            let place = path[depth];
            parent = Some((place, self.nodes[place].played(&step.effect)));
            sleep.retain(|asleep| asleep.session() != step.effect.session() && !asleep.depends_on(&step.effect));
        }
        path
    }

    /// Sees to it that one of these sessions is chosen at a place, the preferred one if none is yet.
    fn make_room(&mut self, place: usize, initials: &[usize], preferred: usize) {
        let node = &mut self.nodes[place];
        let possible: Vec<usize> = initials.iter().copied().filter(|session| node.enabled.contains(session)).collect();
        let chosen = node.picks.iter().map(|pick| pick.session).chain(node.sleep.iter().map(E::session));
        if chosen.into_iter().any(|session| possible.contains(&session)) {
            return;
        }
        let Some(&first) = possible.first() else { return };
        let session = if possible.contains(&preferred) { preferred } else { first };
        node.picks.push(Pick { session, effect: None });
        self.pending.insert((node.depth, place, Reverse(node.picks.len() - 1)));
    }
}

impl<E: Effect> Node<E> {
    /// Notes what a pick brought about; gives its index.
    fn played(&mut self, effect: &E) -> usize {
        let session = effect.session();
        let pick = match self.picks.iter().position(|pick| pick.session == session) {
            Some(pick) => pick,
            None => {
                self.picks.push(Pick { session, effect: None });
                self.picks.len() - 1
            }
        };
        self.picks[pick].effect.get_or_insert_with(|| effect.clone());
        pick
    }
}

/// `before[j][i]`: the choice `i` comes before `j` in every schedule of the same class.
fn happens_before<E: Effect>(steps: &[Step<E>]) -> Vec<Vec<bool>> {
    let mut before: Vec<Vec<bool>> = Vec::with_capacity(steps.len());
    for (later, step) in steps.iter().enumerate() {
        let mut row = vec![false; later];
        for earlier in (0..later).rev() {
            let other = &steps[earlier].effect;
            if !row[earlier] && (other.session() == step.effect.session() || step.effect.depends_on(other)) {
                row[earlier] = true;
                row.iter_mut().zip(&before[earlier]).for_each(|(known, through)| *known |= through);
            }
        }
        before.push(row);
    }
    before
}

/// The choices of a schedule of the same class that changes seldom from one session to another: what is independent is
/// moved together. Needs no run; that it comes to the same is for a replay to confirm.
pub fn together<E: Effect>(steps: &[Step<E>]) -> Vec<usize> {
    let before = happens_before(steps);
    let session = |choice: usize| steps[choice].effect.session();
    let mut left: Vec<usize> = (0..steps.len()).collect();
    let mut order: Vec<usize> = Vec::new();
    while !left.is_empty() {
        // How far each session gets before it needs another one: the one that gets farthest goes first.
        let run_of = |first: usize| {
            let mut run: Vec<usize> = Vec::new();
            for &choice in left.iter().filter(|&&choice| session(choice) == first) {
                if left.iter().any(|&other| other < choice && before[choice][other] && !run.contains(&other)) {
                    break;
                }
                run.push(choice);
            }
            run
        };
        let goes_on = order.last().map(|&last| run_of(session(last))).filter(|run| !run.is_empty());
        let longest = || left.iter().map(|&choice| run_of(session(choice))).max_by_key(Vec::len).unwrap_or_default();
        let run = goes_on.unwrap_or_else(longest);
        left.retain(|choice| !run.contains(choice));
        order.extend(run);
    }
    order.into_iter().map(session).collect()
}

/// Two dependent choices of different sessions with nothing in between that connects them.
fn is_race<E: Effect>(before: &[Vec<bool>], steps: &[Step<E>], earlier: usize, later: usize) -> bool {
    before[later][earlier]
        && steps[earlier].effect.session() != steps[later].effect.session()
        && !(earlier + 1..later).any(|between| before[between][earlier] && before[later][between])
}

/// The sessions that can begin what leads to `later` without `earlier`.
fn initials<E: Effect>(before: &[Vec<bool>], steps: &[Step<E>], earlier: usize, later: usize) -> Vec<usize> {
    let mut without: Vec<usize> = (earlier + 1..later).filter(|&between| !before[between][earlier]).collect();
    without.push(later);
    let mut seen = Vec::new();
    let mut initials = Vec::new();
    for (position, &choice) in without.iter().enumerate() {
        let session = steps[choice].effect.session();
        if !seen.contains(&session) {
            seen.push(session);
            if !without[..position].iter().any(|&other| before[choice][other]) {
                initials.push(session);
            }
        }
    }
    initials
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::Exhaustive;
    use super::super::simulation::{Op, Program, Run, explore};
    use super::*;

    fn outcomes(runs: &[Run]) -> BTreeSet<&str> {
        runs.iter().filter(|run| !run.redundant).map(|run| run.outcome.as_str()).collect()
    }

    #[test]
    fn independent_sessions_are_played_once() {
        assert_eq!(explore(&mut Reduced::default(), &Program::independent(&[4, 4, 4]), 1).len(), 1);
    }

    #[test]
    fn a_lost_update_has_six_classes() {
        let session = vec![Op::Nothing, Op::Read(0), Op::Write(0), Op::Commit];
        let program = Program(vec![session.clone(), session]);
        assert_eq!(explore(&mut Reduced::default(), &program, 1).len(), 6);
    }

    #[test]
    fn write_skew_has_three_classes() {
        let session = |own: usize| vec![Op::Nothing, Op::Read(0), Op::Read(1), Op::Write(own), Op::Commit];
        let program = Program(vec![session(0), session(1)]);
        assert_eq!(explore(&mut Reduced::default(), &program, 1).len(), 3);
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![(0..3usize).prop_map(Op::Read), (0..3usize).prop_map(Op::Write), (0..3usize).prop_map(Op::Lock)]
    }

    fn program() -> impl Strategy<Value = Program> {
        let session = proptest::collection::vec(op(), 1..4).prop_map(|mut ops| {
            ops.push(Op::Commit);
            ops
        });
        proptest::collection::vec(session, 2..4).prop_map(Program)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn no_outcome_is_lost(program in program(), at_a_time in 1..6usize) {
            let all = explore(&mut Exhaustive::default(), &program, 1);
            let reduced = explore(&mut Reduced::default(), &program, at_a_time);
            prop_assert_eq!(outcomes(&all), outcomes(&reduced));
            prop_assert!(reduced.len() <= all.len());
        }
    }

    #[test]
    fn independent_choices_are_moved_together() {
        let (_, steps) = Program::independent(&[2, 2]).run(&[0, 1, 0, 1]);
        assert_eq!(together(&steps).windows(2).filter(|pair| pair[0] != pair[1]).count(), 1);
    }

    proptest! {
        #[test]
        fn moved_together_it_comes_to_the_same(program in program(), prefix in proptest::collection::vec(0..2usize, 0..8)) {
            let (run, steps) = program.run(&prefix);
            let moved = together(&steps);
            let (again, _) = program.run(&moved);
            prop_assert_eq!(&again.outcome, &run.outcome);
            prop_assert_eq!(again.choices, moved);
        }
    }

    #[test]
    fn attempts_do_not_depend_on_how_many_play_them() {
        let session = vec![Op::Read(0), Op::Write(0), Op::Commit];
        let program = Program(vec![session.clone(), session.clone(), session]);
        let mut search = Reduced::default();
        let first: Vec<_> = explore(&mut search, &program, 4).into_iter().map(|run| run.choices).collect();
        let again: Vec<_> = explore(&mut Reduced::default(), &program, 4).into_iter().map(|run| run.choices).collect();
        assert_eq!(first, again);
        assert_eq!(search.pending.len(), 0);
    }
}
