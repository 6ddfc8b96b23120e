//! What of a program a schedule leaves out: sessions that never move, statements that are passed over.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::program::{Action, Control, Op, Program, Statement};
use crate::scenario::{Call, Session, Transaction};

/// The statements of a session are counted from 1, over all of its calls as they are written; what begins and ends
/// transactions is not counted. A call that has none left is left out whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    pub sessions: BTreeSet<usize>,
    /// The session, and the number of its statement.
    pub statements: BTreeSet<(usize, usize)>,
}

impl LeftOut {
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.statements.is_empty()
    }

    /// Whether a session's statement is left out, alone or with its session.
    pub fn has(&self, session: usize, number: usize) -> bool {
        self.sessions.contains(&session) || self.statements.contains(&(session, number))
    }

    /// Both of them left out.
    pub fn and(&self, other: &LeftOut) -> LeftOut {
        let sessions: BTreeSet<usize> = &self.sessions | &other.sessions;
        let statements = self.statements.union(&other.statements).copied();
        LeftOut { statements: statements.filter(|(session, _)| !sessions.contains(session)).collect(), sessions }
    }

    /// What is left of a session.
    pub fn apply(&self, index: usize, session: &Session) -> Session {
        let mut left = session.clone();
        if self.sessions.contains(&index) {
            left.calls.clear();
        }
        let mut number = 0;
        for call in &mut left.calls {
            let numbers = number + 1..=number + statements(call).count();
            number = *numbers.end();
            let gone: BTreeSet<usize> =
                numbers.clone().filter(|number| self.statements.contains(&(index, *number))).collect();
            if !gone.is_empty() {
                call.transaction = without(&call.transaction, *numbers.start(), &gone);
            }
        }
        left
    }
}

/// The statements of a call that are counted.
pub fn statements(call: &Call) -> impl Iterator<Item = &Statement> {
    call.transaction.program.ops.iter().filter_map(counted)
}

fn counted(op: &Op) -> Option<&Statement> {
    match &op.action {
        Action::Statement(statement) if statement.control == Control::Other => Some(statement),
        _ => None,
    }
}

fn without(transaction: &Transaction, first: usize, gone: &BTreeSet<usize>) -> Arc<Transaction> {
    let mut ops = transaction.program.ops.clone();
    let mut number = first;
    let mut left = 0;
    for (position, op) in ops.iter_mut().enumerate() {
        if counted(op).is_some() {
            match gone.contains(&number) {
                // Other jumps keep their targets.
                true => op.action = Action::Jump { target: position + 1 },
                false => left += 1,
            }
            number += 1;
        }
    }
    if left == 0 {
        ops.clear();
    }
    for begin in 0..ops.len() {
        // BEGIN goes with the statement that follows it now.
        let begins = matches!(&ops[begin].action, Action::Statement(statement) if statement.control == Control::Begin);
        let next = ops[begin + 1..].iter().position(|op| !matches!(op.action, Action::Jump { .. }));
        if let Some(next) = next.filter(|_| begins).map(|next| &ops[begin + 1 + next])
            && counted(next).is_some()
        {
            ops[begin].step = next.step;
        }
    }
    let program = Program { ops, ..transaction.program.clone() };
    Arc::new(Transaction { program, ..transaction.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    fn sent(session: &Session) -> Vec<String> {
        session.calls.iter().flat_map(statements).map(|statement| statement.text.written()).collect()
    }

    #[test]
    fn a_session_is_left_without_calls_and_a_call_without_statements_is_empty() {
        let scenario = load("write-skew").expect("built in");
        let alice = &scenario.as_written.sessions[0];
        let nobody = LeftOut { sessions: [0].into(), ..LeftOut::default() };
        assert_eq!(nobody.apply(0, alice).calls, []);
        assert_eq!(nobody.apply(1, alice), *alice);
        let nothing = LeftOut { statements: [(0, 1), (0, 2), (0, 3)].into(), ..LeftOut::default() };
        assert!(nothing.apply(0, alice).calls[0].transaction.program.ops.is_empty());
    }

    #[test]
    fn a_statement_is_passed_over_and_begin_goes_with_the_next() {
        let scenario = load("write-skew").expect("built in");
        let alice = &scenario.as_written.sessions[0];
        let left_out = LeftOut { statements: [(0, 1), (0, 2)].into(), ..LeftOut::default() };
        let left = left_out.apply(0, alice);
        assert_eq!(sent(&left), sent(alice)[2..]);
        let ops = &left.calls[0].transaction.program.ops;
        assert_eq!(ops.len(), alice.calls[0].transaction.program.ops.len(), "jumps keep their targets");
    }
}
