//! Orders by how often they take a session's turn away: those without preemption first, then those with one, and so on.
//!
//! Most bugs need few preemptions: Musuvathi, Qadeer, "Iterative Context Bounding for Systematic Testing of
//! Multithreaded Programs", PLDI 2007. A switch away from a session that waits or is done is no preemption.

use super::search::{Attempt, Effect, Search, Step};

/// With more preemptions than this nothing is played.
const MOST_PREEMPTIONS: usize = 3;

/// Plays each order once, those with fewer preemptions before those with more.
#[derive(Debug)]
pub struct Bounded {
    /// By the number of preemptions in them; the last are those with too many.
    pending: [Vec<Vec<usize>>; MOST_PREEMPTIONS + 2],
    /// What was given out and did not come back: a limit may cut it.
    under_way: [Vec<Vec<usize>>; MOST_PREEMPTIONS + 1],
}

impl Default for Bounded {
    fn default() -> Bounded {
        let mut pending = <[Vec<Vec<usize>>; MOST_PREEMPTIONS + 2]>::default();
        pending[0].push(Vec::new());
        Bounded { pending, under_way: Default::default() }
    }
}

impl Bounded {
    /// Every order with at most so many preemptions was played; none where not even those without are through.
    pub fn covered(&self) -> Option<usize> {
        let is_left = |preemptions: &usize| {
            let of = |orders: &[Vec<Vec<usize>>]| orders.get(*preemptions).is_some_and(|orders| !orders.is_empty());
            of(&self.pending) || of(&self.under_way)
        };
        let first_left = (0..self.pending.len()).find(is_left);
        first_left.unwrap_or(self.pending.len()).checked_sub(1)
    }

    /// No order at all is left, however many preemptions it has.
    pub fn is_complete(&self) -> bool {
        self.pending.iter().chain(&self.under_way).all(Vec::is_empty)
    }
}

impl<E: Effect> Search<E> for Bounded {
    fn next(&mut self) -> Option<Attempt<E>> {
        let mut orders = self.pending.iter_mut().zip(&mut self.under_way);
        let (pending, under_way) = orders.find(|(pending, under_way)| !pending.is_empty() || !under_way.is_empty())?;
        // Those that are under way may lead to more with as few preemptions.
        let prefix = pending.pop()?;
        under_way.push(prefix.clone());
        Some(Attempt { prefix, sleep: Vec::new(), priorities: None, origin: 0 })
    }

    fn learn(&mut self, attempt: &Attempt<E>, steps: &[Step<E>]) {
        self.under_way.iter_mut().for_each(|orders| orders.retain(|prefix| *prefix != attempt.prefix));
        let choices: Vec<usize> = steps.iter().map(|step| step.effect.session()).collect();
        let is_preemption = |depth: usize, next: usize| {
            let last = depth.checked_sub(1).map(|last| choices[last]);
            last.is_some_and(|last| last != next && steps[depth].enabled.contains(&last))
        };
        let mut preemptions = 0;
        for (depth, step) in steps.iter().enumerate() {
            if depth >= attempt.prefix.len() {
                for &other in step.enabled.iter().filter(|other| **other != choices[depth]) {
                    let all = preemptions + usize::from(is_preemption(depth, other));
                    self.pending[all.min(MOST_PREEMPTIONS + 1)].push([&choices[..depth], &[other]].concat());
                }
            }
            preemptions += usize::from(is_preemption(depth, choices[depth]));
        }
    }

    fn pending(&self) -> usize {
        self.pending[..=MOST_PREEMPTIONS].iter().map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulation::{Done, Program, explore};
    use super::*;

    fn switches(choices: &[usize]) -> usize {
        choices.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn fewer_preemptions_come_first_and_each_order_once() {
        let mut search = Bounded::default();
        let played = explore(&mut search, &Program::independent(&[3, 3]), 1);
        let switches: Vec<usize> = played.iter().map(|run| switches(&run.choices)).collect();
        // One switch is free: from the session that is done.
        assert!(switches.is_sorted(), "{switches:?}");
        assert_eq!((switches[0], switches.last()), (1, Some(&4)));
        // Of the 20 orders those with a fifth switch need a fourth preemption.
        assert_eq!(played.len(), 18);
        assert_eq!((search.covered(), search.is_complete()), (Some(3), false));
    }

    #[test]
    fn few_orders_are_all_played() {
        let mut search = Bounded::default();
        assert_eq!(explore(&mut search, &Program::independent(&[2, 2]), 1).len(), 6);
        assert!(search.is_complete());
    }

    #[test]
    fn what_is_covered_is_known_on_the_way() {
        let mut search = Bounded::default();
        assert_eq!(search.covered(), None);
        let program = Program::independent(&[4, 4]);
        let steps = |choices: &[usize]| program.run(choices).1;
        for _ in 0..2 {
            let attempt = search.next().expect("without preemption");
            search.learn(&attempt, &steps(&attempt.prefix));
        }
        assert_eq!(search.covered(), Some(0));
    }

    #[test]
    fn what_a_limit_cuts_is_not_covered() {
        let mut search = Bounded::default();
        let cut: Option<Attempt<Done>> = search.next();
        assert!(cut.is_some());
        assert_eq!((search.covered(), search.is_complete()), (None, false));
    }
}
