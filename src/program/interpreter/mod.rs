//! Walks through one call of a transaction without doing any IO: it says what it wants, its driver says what came of it.
//!
//! The runner drives it with a polled connection, a load worker with a blocking one; both mean the same by it.

mod foresight;
mod outcomes;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::op::{Action, Control, Op, Statement};
use super::request::{End, Request};
use super::variables::Variables;
use crate::history::{Fate, StatementError, What};
use crate::scenario::source::Span;
use crate::scenario::template::Template;
use crate::scenario::{Call, Transaction};

pub use foresight::Foreseen;

/// A session's own connection in `\connect`.
const MAIN: &str = "main";
/// SQLSTATE of a `\while` that did not end.
const PROGRAM_LIMIT_EXCEEDED: &str = "54000";

/// Where a call is, and what it knows: all that a retry goes back to.
#[derive(Debug, Clone)]
struct State {
    /// Index of the next operation.
    position: usize,
    /// Index of the step that the next request belongs to.
    step: usize,
    variables: Variables,
    /// The `\try` blocks that are open, as positions.
    tries: Vec<usize>,
    /// Rounds so far of the loop at each position.
    rounds: Vec<u32>,
    /// The connection that it is in, by its name in `\connect`.
    place: String,
}

/// One call on its way.
#[derive(Debug, Clone)]
pub struct Interpreter {
    transaction: Arc<Transaction>,
    arguments: Vec<Template>,
    /// How many arguments were evaluated.
    arguments_done: usize,
    at: State,
    /// Where the transaction began that a retry would run again.
    checkpoint: State,
    /// The connections on which a transaction block is open.
    open: BTreeSet<String>,
    /// Where it has to go on before anything else.
    goes_to: Option<String>,
    fate: Option<Fate>,
    notes: Vec<What>,
    ending: Option<Ending>,
    /// How often each step, by index, was done or passed by.
    steps_done: Vec<u32>,
}

/// A call that is about to end: what is left to do first.
#[derive(Debug, Clone)]
struct Ending {
    end: End,
    closing: Option<Closing>,
}

#[derive(Debug, Clone)]
enum Closing {
    Commit,
    Rollback,
    Abort,
}

impl Interpreter {
    /// A call at its beginning; `variables` are those of `@param`.
    pub fn new(call: &Call, variables: Variables) -> Interpreter {
        let transaction = Arc::clone(&call.transaction);
        let at = State {
            position: 0,
            step: 0,
            variables,
            tries: Vec::new(),
            rounds: vec![0; transaction.program.ops.len()],
            place: MAIN.to_owned(),
        };
        Interpreter {
            checkpoint: at.clone(),
            at,
            steps_done: vec![0; transaction.program.steps.len()],
            arguments: call.arguments.clone(),
            arguments_done: 0,
            open: BTreeSet::new(),
            goes_to: None,
            fate: None,
            notes: Vec::new(),
            ending: None,
            transaction,
        }
    }

    pub fn transaction(&self) -> &Transaction {
        &self.transaction
    }

    pub fn variables(&self) -> &Variables {
        &self.at.variables
    }

    /// What became of its last transaction so far.
    pub fn fate(&self) -> Option<Fate> {
        self.fate
    }

    /// The step that the next request belongs to.
    pub fn step_name(&self) -> &str {
        match &self.ending {
            Some(Ending { closing: Some(Closing::Commit | Closing::Rollback), .. }) => "commit",
            _ => {
                let steps = &self.transaction.program.steps;
                steps.get(self.at.step).or(steps.last()).map_or("", String::as_str)
            }
        }
    }

    /// The index of the step that the next request belongs to.
    pub fn step_index(&self) -> usize {
        self.at.step
    }

    /// How many steps were done or passed by in this call.
    pub fn steps_done(&self) -> u32 {
        self.steps_done.iter().sum()
    }

    /// How often steps of this name were done or passed by in this call.
    pub fn times_done(&self, step: &str) -> u32 {
        let steps = self.transaction.program.steps.iter().zip(&self.steps_done);
        steps.filter(|(name, _)| *name == step).map(|(_, count)| count).sum()
    }

    /// The place in the file that the server's position (in characters, from 1) in the statement or expression on its
    /// way points at; the whole of it where the server gave none.
    pub fn place_of(&self, position: Option<usize>) -> Option<Span> {
        let template = match self.arguments.get(self.arguments_done) {
            Some(argument) => argument,
            None if self.ending.is_some() => return None,
            None => match &self.transaction.program.ops.get(self.at.position)?.action {
                Action::Statement(statement) => &statement.text,
                Action::Set { value: template, .. } | Action::JumpUnless { condition: template, .. } => template,
                Action::Effect(template) => template,
                _ => return None,
            },
        };
        let place = position.map(|position| template.place_of(&self.at.variables, position.saturating_sub(1)));
        Some(place.unwrap_or(template.span))
    }

    /// Whether a transaction block is open, failed or not.
    pub fn in_transaction(&self) -> bool {
        self.open.contains(&self.at.place)
    }

    /// The next thing to do. Asking again without an answer gives the same.
    pub fn request(&mut self) -> Request {
        if !self.notes.is_empty() {
            return Request::Note(self.notes.remove(0));
        }
        if let Some(name) = &self.goes_to {
            return Request::Connect { name: name.clone() };
        }
        if let Some(argument) = self.arguments.get(self.arguments_done) {
            return Request::Evaluate(argument.clone());
        }
        if self.ending.is_some() {
            return self.close();
        }
        let transaction = Arc::clone(&self.transaction);
        loop {
            let Some(op) = transaction.program.ops.get(self.at.position) else {
                self.ending = Some(Ending { end: End::Completed, closing: None });
                return self.close();
            };
            self.pass(op.step);
            if let Some(request) = self.request_of(op) {
                return request;
            }
        }
    }

    /// Goes back to where the failed transaction began, with the variables of that moment.
    pub fn retry(&mut self) {
        self.at = self.checkpoint.clone();
        let place = std::mem::replace(&mut self.at.place, MAIN.to_owned());
        self.goes_to = (place != MAIN).then_some(place);
        self.open.clear();
        self.fate = None;
        self.notes.clear();
        self.ending = None;
    }

    /// The request of an operation; none where it only moved the position.
    fn request_of(&mut self, op: &Op) -> Option<Request> {
        match &op.action {
            Action::Statement(statement) => {
                if statement.control == Control::Begin && self.open.is_empty() {
                    self.remember();
                }
                Some(Request::Run(statement.clone()))
            }
            Action::Set { value: expression, .. } | Action::JumpUnless { condition: expression, .. } => {
                Some(Request::Evaluate(expression.clone()))
            }
            Action::Jump { target } => {
                if *target < self.at.position {
                    self.begin_round(*target);
                }
                self.at.position = *target;
                None
            }
            Action::Echo(text) => {
                self.at.position += 1;
                Some(Request::Note(What::Said { text: text.prose(&self.at.variables) }))
            }
            Action::Reject { text, commit } => {
                let text = text.prose(&self.at.variables);
                self.pass_to_commit();
                let closing = if *commit { Closing::Commit } else { Closing::Rollback };
                let end = End::Rejected(text.clone());
                self.ending = Some(Ending { end, closing: self.open.contains(&self.at.place).then_some(closing) });
                Some(Request::Note(What::Rejected { text }))
            }
            Action::Round { limit } => {
                self.at.rounds[self.at.position] += 1;
                if self.at.rounds[self.at.position] > *limit {
                    let message = format!("the loop did not end within {limit} rounds");
                    let sqlstate = PROGRAM_LIMIT_EXCEEDED.to_owned();
                    self.raise(StatementError { sqlstate, message, span: Some(op.span), ..StatementError::default() });
                    return Some(self.request());
                }
                self.at.position += 1;
                None
            }
            Action::Try { .. } => {
                self.at.tries.push(self.at.position);
                self.at.position += 1;
                None
            }
            Action::Leave => {
                self.at.tries.pop();
                self.at.position += 1;
                None
            }
            Action::Sleep { milliseconds } => Some(Request::Sleep { milliseconds: *milliseconds }),
            Action::Effect(sql) => Some(Request::Effect(sql.clone())),
            Action::Connect { name } => Some(Request::Connect { name: name.clone() }),
            Action::Crash => {
                if !self.open.is_empty() {
                    self.fate = Some(Fate::RolledBack);
                }
                self.ending = Some(Ending { end: End::Crashed, closing: None });
                Some(Request::Crash)
            }
        }
    }

    /// What is left to do before the end, then the end.
    fn close(&mut self) -> Request {
        let Some(ending) = &self.ending else { return Request::Over(End::Completed) };
        match ending.closing {
            Some(Closing::Commit) => Request::Run(closing_statement("COMMIT", Control::Commit)),
            Some(Closing::Rollback) => Request::Run(closing_statement("ROLLBACK", Control::Rollback)),
            Some(Closing::Abort) => match self.open.first() {
                Some(name) if !self.open.contains(&self.at.place) => Request::Connect { name: name.clone() },
                _ => Request::RollBack,
            },
            None => {
                let end = ending.end.clone();
                self.pass(self.steps_done.len());
                Request::Over(end)
            }
        }
    }

    fn remember(&mut self) {
        self.checkpoint = self.at.clone();
    }

    /// A loop goes back to its start: its steps, even if it is one alone, come again, and the loops inside it begin anew.
    fn begin_round(&mut self, start: usize) {
        // The guard of the loop itself stands behind its condition.
        let inside = start + 2..self.at.position;
        if let Some(rounds) = self.at.rounds.get_mut(inside) {
            rounds.fill(0);
        }
        self.steps_done[self.at.step] += 1;
        self.at.step = self.transaction.program.ops[start].step;
    }

    /// Moves on to a step; those before it are done or passed by.
    fn pass(&mut self, step: usize) {
        while self.at.step < step {
            self.steps_done[self.at.step] += 1;
            self.at.step += 1;
        }
    }

    /// `\reject` ends the call with the step `commit`, the last of that name.
    fn pass_to_commit(&mut self) {
        let steps = &self.transaction.program.steps;
        if let Some(commit) = steps.iter().rposition(|name| name == "commit")
            && commit >= self.at.step
        {
            self.pass(commit);
        }
    }
}

/// The COMMIT or ROLLBACK that ends a rejected call.
fn closing_statement(sql: &str, control: Control) -> Statement {
    Statement { text: Template::verbatim(sql), capture: None, lost: false, control, implicit: true }
}

#[cfg(test)]
mod tests;
