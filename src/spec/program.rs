//! A session's steps as calls, one for each of its transactions.

use std::sync::Arc;

use super::model::Block;
use super::scenario::{statement, text};
use crate::program::{Control, Op, Program};
use crate::scenario::source::Span;
use crate::scenario::template::Template;
use crate::scenario::{Call, Piece, Transaction, split};

/// The steps that are no step of the file's.
const SETUP: &str = "setup";
const TEARDOWN: &str = "teardown";
const ROLLBACK: &str = "rollback";
/// What may stand behind a BEGIN without a snapshot being taken.
pub(super) const TAKES_NO_SNAPSHOT: [&str; 3] = ["BEGIN", "START", "SET"];

/// The calls of a session while its blocks are read.
pub(super) struct Draft<'n> {
    name: &'n str,
    span: Span,
    calls: Vec<Call>,
    /// The call that is being read.
    program: Program,
    in_transaction: bool,
}

impl<'n> Draft<'n> {
    pub fn new(name: &'n str, span: Span) -> Draft<'n> {
        Draft { name, span, calls: Vec::new(), program: Program::default(), in_transaction: false }
    }

    /// What a session's setup does from its BEGIN on. It goes with the first step, unless it does more than begin.
    pub fn open(&mut self, pieces: &[Piece]) {
        let begins = |piece: &Piece| TAKES_NO_SNAPSHOT.iter().any(|word| piece.begins_with(&[word]));
        match pieces {
            [] => {}
            pieces if pieces.iter().all(begins) => {
                let action = statement(text(pieces), Control::Begin);
                self.program.ops.push(Op { step: 0, action, span: pieces[0].span() });
                self.in_transaction = true;
            }
            pieces => self.add(SETUP, text(pieces), pieces, pieces[0].span()),
        }
    }

    /// A step, which is sent as one query.
    pub fn step(&mut self, name: &str, block: &Block) {
        let pieces = split(&block.sql, block.span);
        self.add(name, text(&pieces), &pieces, block.span);
    }

    /// The calls. A transaction that is still open ends with the session's teardown, if that says how, or is rolled back as
    /// if its client went away.
    pub fn finish(mut self, teardown: Option<&Block>) -> Vec<Call> {
        let ends = |block: &&Block| {
            split(&block.sql, block.span)
                .iter()
                .any(|piece| matches!(piece.control(), Control::Commit | Control::Rollback))
        };
        match teardown.filter(ends) {
            Some(block) if self.in_transaction => self.step(TEARDOWN, block),
            _ => {}
        }
        if self.in_transaction {
            let step = self.push_step(ROLLBACK);
            let action = statement(Template::verbatim("ROLLBACK"), Control::Rollback);
            self.program.ops.push(Op { step, action, span: self.span });
            self.end_call();
        }
        self.calls
    }

    fn add(&mut self, name: &str, text: Template, pieces: &[Piece], span: Span) {
        let step = self.push_step(name);
        let mut control = Control::Other;
        for piece in pieces {
            match piece.control() {
                Control::Other => continue,
                decisive => control = decisive,
            }
            self.in_transaction = control == Control::Begin;
        }
        self.program.ops.push(Op { step, action: statement(text, control), span });
        if !self.in_transaction {
            self.end_call();
        }
    }

    fn push_step(&mut self, name: &str) -> usize {
        self.program.steps.push(name.to_owned());
        self.program.steps.len() - 1
    }

    fn end_call(&mut self) {
        self.in_transaction = false;
        let program = std::mem::take(&mut self.program);
        let transaction = Transaction { name: self.name.to_owned(), params: Vec::new(), program, span: self.span };
        self.calls.push(Call { transaction: Arc::new(transaction), arguments: Vec::new(), span: self.span });
    }
}
