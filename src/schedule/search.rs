//! Searches through the schedules of a program: what to play next, given what came of those that were played.
//!
//! A search is stateless: it knows a place in the tree of schedules only as the choices that lead there, and comes back
//! to it by playing them again.

use super::Priorities;

/// What one choice brought about, as far as a search looks at it.
pub trait Effect: Clone {
    /// The session that was chosen.
    fn session(&self) -> usize;
    /// Whether the order of the two can make a difference.
    fn depends_on(&self, other: &Self) -> bool;
}

/// A schedule that is to be played: these choices, then whichever session can move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt<E> {
    pub prefix: Vec<usize>,
    /// Sessions that need not be chosen from the prefix's last choice on, by what they would bring about, until
    /// something happens that this depends on.
    pub sleep: Vec<E>,
    /// Who moves behind the prefix, in place of the session that moved last.
    pub priorities: Option<Priorities>,
    /// Where the search comes from; its own business.
    pub(super) origin: usize,
}

/// One choice of a schedule that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<E> {
    /// The sessions that could be chosen.
    pub enabled: Vec<usize>,
    pub effect: E,
}

/// Decides what to play. Several attempts may be under way at a time; what is learnt, and the order of the attempts,
/// depends on the order of the calls alone.
pub trait Search<E> {
    /// The next attempt; none where there is none now. When none is under way either, the search is over.
    fn next(&mut self) -> Option<Attempt<E>>;
    /// What came of an attempt.
    fn learn(&mut self, attempt: &Attempt<E>, steps: &[Step<E>]);
    /// How many attempts are known to be left: at least as many will be.
    fn pending(&self) -> usize;
}
