//! Which step each operation of a body belongs to.

use crate::program::{Control, Op};
use crate::scenario::source::Span;

/// The steps of a body as it is read from top to bottom.
///
/// `\step NAME` opens a step that takes the statements up to the next `\step`; a statement outside is a step by itself,
/// 1, 2, …; COMMIT, ROLLBACK and PREPARE TRANSACTION close the open step. A command goes with what stands before it. What
/// stands before the first statement, and a BEGIN with what follows it, waits for the next statement's step.
#[derive(Debug, Default)]
pub struct Steps {
    pub names: Vec<String>,
    /// The step that `\step` opened.
    open: Option<usize>,
    /// Where `\step` stands, while nothing has followed it.
    fresh: Option<Span>,
    /// The step of the latest statement.
    last: Option<usize>,
    /// Indices of operations that wait for the next statement's step.
    waiting: Vec<usize>,
    /// How many statements were numbered.
    numbered: usize,
}

impl Steps {
    /// `\step NAME`. The place of the `\step` before, where nothing stands between the two.
    pub fn open(&mut self, name: &str, span: Span) -> Option<Span> {
        let empty = self.fresh.replace(span);
        self.open = Some(self.push(name.to_owned()));
        empty
    }

    /// The place of a `\step` that nothing follows.
    pub fn empty(&self) -> Option<Span> {
        self.fresh
    }

    /// The operations that wait for the next statement's step.
    pub fn waiting(&self) -> &[usize] {
        &self.waiting
    }

    /// The step of a statement, which is about to be pushed to `ops`.
    pub fn of_statement(&mut self, control: Control, ops: &mut [Op]) -> usize {
        let named = if control == Control::Other { self.open } else { self.open.filter(|_| self.fresh.is_some()) };
        let step = match (control, named) {
            (_, Some(step)) => step,
            (Control::Begin, None) => return self.wait(ops.len()),
            (Control::Other, None) => {
                self.numbered += 1;
                self.push(self.numbered.to_string())
            }
            (Control::Commit | Control::Rollback | Control::Prepare, None) => {
                self.push(control.step_name().unwrap_or_default().to_owned())
            }
        };
        if control.step_name().is_some() {
            self.open = None;
        }
        self.settle(step, ops)
    }

    /// The step of a command that does something.
    pub fn of_command(&mut self, ops: &mut [Op]) -> usize {
        match self.open.filter(|_| self.fresh.is_some()) {
            Some(step) => self.settle(step, ops),
            None => self.of_jump(ops),
        }
    }

    /// The step of a loop's condition, which is asked before each round: that of the loop's first statement.
    pub fn of_loop(&mut self, ops: &mut [Op]) -> usize {
        match self.open.filter(|_| self.fresh.is_some()) {
            Some(step) => self.settle(step, ops),
            None => self.wait(ops.len()),
        }
    }

    /// The step of an operation that only leads from one block to the next.
    pub fn of_jump(&mut self, ops: &[Op]) -> usize {
        match self.last {
            Some(step) if self.waiting.is_empty() => step,
            _ => self.wait(ops.len()),
        }
    }

    /// At the end of the body: what still waits goes with the last statement.
    pub fn finish(&mut self, ops: &mut [Op]) {
        if self.waiting.is_empty() {
            return;
        }
        let step = self.last.or_else(|| self.names.len().checked_sub(1)).unwrap_or_else(|| self.push("1".to_owned()));
        self.settle(step, ops);
    }

    fn push(&mut self, name: String) -> usize {
        self.names.push(name);
        self.names.len() - 1
    }

    fn wait(&mut self, op: usize) -> usize {
        self.waiting.push(op);
        0
    }

    fn settle(&mut self, step: usize, ops: &mut [Op]) -> usize {
        for op in self.waiting.drain(..) {
            ops[op].step = step;
        }
        self.fresh = None;
        self.last = Some(step);
        step
    }
}
