//! Which session moves next: schedules as data, and the strategies that make them. Knows no database.

mod bounded;
mod dependence;
mod exhaustive;
mod left_out;
mod random;
mod reduced;
mod replay;
mod search;
#[cfg(test)]
mod simulation;
mod staged;
mod text;

pub use bounded::Bounded;
pub use dependence::{Atom, AtomKind, Consequence, Footprint, LockMode, Object, Rules, groups};
pub use exhaustive::Exhaustive;
pub use left_out::{LeftOut, statements};
pub use random::{Priorities, Random};
pub use reduced::{Reduced, together};
pub use replay::Replay;
pub use search::{Attempt, Effect, Search, Step};
pub use staged::Staged;
pub use text::{Schedule, ScheduleError};

/// What a strategy may look at: one session, as it stands between two choices.
pub trait SessionView {
    /// Its next statement can be sent now.
    fn can_move(&self) -> bool;
    /// A statement of it is on its way: the server says that it waits for a lock.
    fn is_blocked(&self) -> bool;
    /// How often a step of this name (of this transaction, where one is named) was done or passed by.
    fn times_done(&self, transaction: Option<&str>, step: &str) -> u32;
    /// How many steps it has done or passed by: as long as this stays, its next statement belongs to the same one.
    fn steps_done(&self) -> u32;
}

/// A strategy's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Send the next statement of this session, which can move.
    Move(usize),
    /// Wait until this session is not blocked any more.
    Await(usize),
    /// No session can move, or the schedule ends here.
    Over,
}

/// Picks the order in which statements start. Asked again after each statement was answered or is blocked.
pub trait Strategy {
    fn choose(&mut self, sessions: &[&dyn SessionView]) -> Choice;

    /// How many further choices are certain to be the session that was chosen last, as long as it does not wait.
    fn stays(&self) -> usize {
        0
    }
}
