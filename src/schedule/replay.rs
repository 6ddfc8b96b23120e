//! Plays a schedule again: the choices of an earlier run, in their order.

use std::collections::VecDeque;

use super::{Choice, Schedule, SessionView, Strategy};

/// Takes the choices as they come. Where a run has changed since (a session that cannot move), the choice is passed
/// over; when the choices are used up, the sessions finish in turn.
#[derive(Debug, Clone)]
pub struct Replay {
    choices: VecDeque<usize>,
}

impl Replay {
    pub fn new(schedule: Schedule) -> Replay {
        Replay { choices: schedule.choices.into() }
    }
}

impl Strategy for Replay {
    fn choose(&mut self, sessions: &[&dyn SessionView]) -> Choice {
        while let Some(session) = self.choices.pop_front() {
            if sessions.get(session).is_some_and(|session| session.can_move()) {
                return Choice::Move(session);
            }
        }
        finish_in_turn(sessions)
    }
}

/// The first session that can move.
pub(super) fn finish_in_turn(sessions: &[&dyn SessionView]) -> Choice {
    sessions.iter().position(|session| session.can_move()).map_or(Choice::Over, Choice::Move)
}
