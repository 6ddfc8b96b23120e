//! Orders at random, in such a way that a bug of small depth has a known chance to be met.
//!
//! PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding
//! Bugs", ASPLOS 2010. Sessions have random priorities, and the first one that can move does; at a few random places
//! the one whose turn it is drops below all others. Of `n` sessions and `k` choices, each schedule meets a bug that needs
//! `d` ordered choices with a probability of at least 1 / (n k^(d-1)). That is little for a deadlock in which many sessions
//! hold one lock each: every second schedule has as many changes as it happens to draw, up to one for each choice.

use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::search::{Attempt, Search, Step};

/// A bug's depth, in every other schedule: one less are the places where a priority changes.
const DEPTH: usize = 3;

/// Who goes first, and where that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priorities {
    /// By session; the highest that can move does.
    of_session: Vec<usize>,
    /// Before these choices the session whose turn it is drops.
    changes: Vec<usize>,
}

impl Priorities {
    /// Whose turn it is of those that can move, when so many choices have been made.
    pub fn pick(&mut self, can_move: &[usize], made: usize) -> Option<usize> {
        let first = self.first(can_move)?;
        let Some(change) = self.changes.iter().position(|place| *place == made) else { return Some(first) };
        self.of_session[first] = change;
        self.first(can_move)
    }

    fn first(&self, can_move: &[usize]) -> Option<usize> {
        let known = can_move.iter().copied().filter(|session| *session < self.of_session.len());
        known.max_by_key(|session| self.of_session[*session])
    }
}

/// Draws schedules without end.
#[derive(Debug)]
pub struct Random {
    rng: Xoshiro256PlusPlus,
    sessions: usize,
    length: usize,
    drawn: u64,
}

impl Random {
    /// `length`: how many choices a schedule has, about.
    pub fn new(seed: u64, sessions: usize, length: usize) -> Random {
        Random { rng: Xoshiro256PlusPlus::seed_from_u64(seed), sessions, length: length.max(1), drawn: 0 }
    }

    fn draw(&mut self) -> Priorities {
        let is_shallow = self.drawn.is_multiple_of(2);
        self.drawn += 1;
        let depth = if is_shallow { DEPTH } else { self.rng.random_range(1..=self.length + 1) };
        let mut of_session: Vec<usize> = (depth..depth + self.sessions).collect();
        of_session.shuffle(&mut self.rng);
        // All places in a random order: those that are drawn are different ones.
        let mut changes: Vec<usize> = (0..self.length.max(depth - 1)).collect();
        changes.shuffle(&mut self.rng);
        changes.truncate(depth - 1);
        Priorities { of_session, changes }
    }
}

impl<E> Search<E> for Random {
    fn next(&mut self) -> Option<Attempt<E>> {
        let priorities = Some(self.draw());
        Some(Attempt { prefix: Vec::new(), sleep: Vec::new(), priorities, origin: 0 })
    }

    fn learn(&mut self, _: &Attempt<E>, _: &[Step<E>]) {}

    /// There is always another one.
    fn pending(&self) -> usize {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, count: usize) -> Vec<Priorities> {
        let mut random = Random::new(seed, 3, 12);
        (0..count).map(|_| random.draw()).collect()
    }

    #[test]
    fn a_seed_gives_the_same_schedules_again() {
        assert_eq!(drawn(7, 20), drawn(7, 20));
        assert_ne!(drawn(7, 20), drawn(8, 20));
    }

    #[test]
    fn among_the_schedules_are_those_in_which_everybody_moves_before_anybody_moves_twice() {
        let everybody_moves = |mut priorities: Priorities| {
            let mut moved: Vec<usize> =
                (0..8).filter_map(|made| priorities.pick(&[0, 1, 2, 3, 4, 5, 6, 7], made)).collect();
            moved.sort_unstable();
            moved == [0, 1, 2, 3, 4, 5, 6, 7]
        };
        let mut random = Random::new(1, 8, 24);
        assert!((0..200).map(|_| random.draw()).any(everybody_moves));
    }

    #[test]
    fn the_first_that_can_move_does_until_it_drops() {
        let mut priorities = Priorities { of_session: vec![4, 5, 3], changes: vec![2, 9] };
        assert_eq!(priorities.pick(&[0, 1, 2], 0), Some(1));
        assert_eq!(priorities.pick(&[0, 2], 1), Some(0));
        assert_eq!(priorities.pick(&[0, 1, 2], 2), Some(0), "1 has dropped");
        assert_eq!(priorities.pick(&[1, 2], 3), Some(2));
        assert_eq!(priorities.pick(&[1], 4), Some(1));
        assert_eq!(priorities.pick(&[], 5), None);
    }
}
