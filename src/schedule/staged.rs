//! The order that the scenario's author wrote down.

use std::collections::VecDeque;

use super::replay::finish_in_turn;
use super::{Choice, SessionView, Strategy};
use crate::scenario::Move;

/// Plays `@order`. A move lets its session run on until its next step of that name is done or passed by. Moves of a
/// blocked session wait with it; once woken it catches up before the next move. After the last move the sessions
/// finish in turn.
#[derive(Debug, Clone)]
pub struct Staged {
    moves: VecDeque<Move>,
    /// Moves that have begun and are not done, oldest first.
    begun: Vec<Goal>,
}

/// A session is to have done a step this often.
#[derive(Debug, Clone)]
struct Goal {
    session: usize,
    transaction: Option<String>,
    step: String,
    times: u32,
}

impl Staged {
    pub fn new(order: &[Move]) -> Staged {
        Staged { moves: order.iter().cloned().collect(), begun: Vec::new() }
    }

    fn begin(&mut self, next: Move, sessions: &[&dyn SessionView]) -> Option<Choice> {
        match next {
            Move::Wait { session, .. } => sessions.get(session)?.is_blocked().then_some(Choice::Await(session)),
            Move::Step { session, transaction, step, .. } => {
                let pending = self
                    .begun
                    .iter()
                    .filter(|goal| goal.session == session && goal.transaction == transaction && goal.step == step);
                let times = match pending.map(|goal| goal.times).max() {
                    Some(times) => times + 1,
                    None => sessions.get(session)?.times_done(transaction.as_deref(), &step) + 1,
                };
                self.begun.push(Goal { session, transaction, step, times });
                None
            }
        }
    }
}

impl Goal {
    fn is_done(&self, sessions: &[&dyn SessionView]) -> bool {
        let session = sessions[self.session];
        let finished = !session.can_move() && !session.is_blocked();
        finished || session.times_done(self.transaction.as_deref(), &self.step) >= self.times
    }
}

impl Strategy for Staged {
    fn choose(&mut self, sessions: &[&dyn SessionView]) -> Choice {
        loop {
            self.begun.retain(|goal| !goal.is_done(sessions));
            if let Some(goal) = self.begun.iter().find(|goal| sessions[goal.session].can_move()) {
                return Choice::Move(goal.session);
            }
            let Some(next) = self.moves.pop_front() else { return finish_in_turn(sessions) };
            if let Some(choice) = self.begin(next, sessions) {
                return choice;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::source::Span;

    /// A session whose steps are letters, each of one statement.
    struct Fake {
        steps: &'static str,
        done: usize,
        blocked: bool,
    }

    impl SessionView for Fake {
        fn can_move(&self) -> bool {
            !self.blocked && self.done < self.steps.len()
        }

        fn is_blocked(&self) -> bool {
            self.blocked
        }

        fn times_done(&self, _: Option<&str>, step: &str) -> u32 {
            self.steps[..self.done].matches(step).count() as u32
        }

        fn steps_done(&self) -> u32 {
            self.done as u32
        }
    }

    fn order(moves: &[(usize, &str)]) -> Vec<Move> {
        let step = |&(session, step): &(usize, &str)| Move::Step {
            session,
            transaction: None,
            step: step.to_owned(),
            span: Span::default(),
        };
        moves.iter().map(step).collect()
    }

    fn play(
        staged: &mut Staged,
        sessions: &mut [Fake],
        blocks_at: Option<(usize, usize)>,
        wakes_after: usize,
    ) -> String {
        let mut played = String::new();
        loop {
            let views: Vec<&dyn SessionView> = sessions.iter().map(|session| session as &dyn SessionView).collect();
            let Choice::Move(chosen) = staged.choose(&views) else { return played };
            played.push_str(&format!("{chosen}{} ", &sessions[chosen].steps[sessions[chosen].done..][..1]));
            if blocks_at == Some((chosen, sessions[chosen].done)) {
                sessions[chosen].blocked = true;
            } else {
                sessions[chosen].done += 1;
            }
            if played.split_whitespace().count() == wakes_after {
                for session in sessions.iter_mut().filter(|session| session.blocked) {
                    session.blocked = false;
                    session.done += 1;
                }
            }
        }
    }

    fn fakes() -> [Fake; 2] {
        ["abc", "abc"].map(|steps| Fake { steps, done: 0, blocked: false })
    }

    #[test]
    fn a_move_takes_unlisted_steps_along_and_the_rest_finishes_in_turn() {
        let mut staged = Staged::new(&order(&[(0, "b"), (1, "a")]));
        assert_eq!(play(&mut staged, &mut fakes(), None, 0), "0a 0b 1a 0c 1b 1c ");
    }

    #[test]
    fn moves_of_a_blocked_session_queue_until_it_wakes() {
        let mut staged = Staged::new(&order(&[(0, "a"), (1, "a"), (1, "b"), (0, "b"), (0, "c"), (1, "c")]));
        // 1 blocks at its first statement and wakes after 0's b: it catches up with b before 0 goes on.
        assert_eq!(play(&mut staged, &mut fakes(), Some((1, 0)), 3), "0a 1a 0b 1b 0c 1c ");
    }

    #[test]
    fn a_step_that_was_passed_is_awaited_as_its_next_occurrence() {
        let mut sessions =
            [Fake { steps: "abab", done: 0, blocked: false }, Fake { steps: "a", done: 0, blocked: false }];
        let mut staged = Staged::new(&order(&[(0, "b"), (0, "a"), (1, "a")]));
        assert_eq!(play(&mut staged, &mut sessions, None, 0), "0a 0b 0a 1a 0b ");
    }
}
