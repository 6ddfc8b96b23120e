//! What a call is sure to send next: a driver may send it along and save the round trips.

use super::Interpreter;
use crate::program::op::{Action, Control, Op, Statement};

/// The variables that every answer sets.
const SET_BY_ANSWERS: [&str; 4] = ["ROW_COUNT", "SQLSTATE", "COMMAND_TAG", "NOTIFIED"];

/// A statement that will be sent, unless one before it fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreseen {
    pub sql: String,
    /// It ends the transaction: after an error as a ROLLBACK does.
    pub ends: bool,
}

impl Interpreter {
    /// The statements that will be sent after the one on its way, whatever the answers are: those of the same move and of
    /// `moves` further ones, none beyond the end of the transaction. After an error the server refuses them all until the
    /// one that ends it.
    pub fn foreseen(&self, moves: usize) -> Vec<Foreseen> {
        let mut foreseen = Vec::new();
        let Some((current, step)) = self.current() else { return foreseen };
        let begins = self.open.is_empty() && current.is_plain_begin();
        let goes_on = self.in_transaction() && current.control == Control::Other;
        if !is_unconditional(current) || !(begins || goes_on) {
            return foreseen;
        }
        // What follows BEGIN in its step belongs to the same move.
        let mut first_step = begins.then_some(step);
        let (mut moves, mut position) = (moves, self.at.position);
        while let Some((next, Op { step, action: Action::Statement(statement), .. })) = self.op_after(position) {
            if first_step.take() != Some(*step) {
                let Some(left) = moves.checked_sub(1) else { break };
                moves = left;
            }
            let ends = is_plain_end(statement);
            if statement.lost || depends_on_answers(statement) || !(ends || is_refused_after_an_error(statement)) {
                break;
            }
            foreseen.push(Foreseen { sql: statement.text.sql(&self.at.variables), ends });
            if ends || !is_unconditional(statement) {
                break;
            }
            position = next;
        }
        foreseen
    }

    /// Whether the COMMIT that the lab added comes right after the statement on its way, whatever its answer is: a driver
    /// may then send the two together. After an error the server skips that COMMIT.
    pub fn commit_follows(&self) -> bool {
        let is_plain = |(statement, _): (&Statement, usize)| {
            statement.control == Control::Other && is_unconditional(statement) && self.in_transaction()
        };
        self.current().is_some_and(is_plain)
            && matches!(self.op_after(self.at.position), Some((_, Op { action: Action::Statement(next), .. }))
                if next.implicit && next.control == Control::Commit)
    }

    /// The statement on its way, with its step, where an error ends the call.
    fn current(&self) -> Option<(&Statement, usize)> {
        match self.transaction.program.ops.get(self.at.position)? {
            Op { action: Action::Statement(statement), step, .. }
                if self.ending.is_none() && self.at.tries.is_empty() =>
            {
                Some((statement, *step))
            }
            _ => None,
        }
    }

    /// The next operation in any case, with its position.
    fn op_after(&self, position: usize) -> Option<(usize, &Op)> {
        let mut next = position + 1;
        loop {
            match self.transaction.program.ops.get(next)? {
                Op { action: Action::Jump { target }, .. } if *target > next => next = *target,
                op => return Some((next, op)),
            }
        }
    }
}

/// Its answer changes nothing about what comes next.
fn is_unconditional(statement: &Statement) -> bool {
    statement.capture.is_none() && !statement.lost
}

fn depends_on_answers(statement: &Statement) -> bool {
    statement.text.variables().any(|(name, _)| SET_BY_ANSWERS.contains(&name))
}

/// COMMIT or ROLLBACK, and nothing more.
fn is_plain_end(statement: &Statement) -> bool {
    matches!(statement.control, Control::Commit | Control::Rollback)
        && statement.text.written().split_whitespace().count() == 1
}

/// ROLLBACK TO is not: it brings a failed transaction back to life.
fn is_refused_after_an_error(statement: &Statement) -> bool {
    statement.control == Control::Other && !statement.text.written().to_uppercase().contains("ROLLBACK")
}
