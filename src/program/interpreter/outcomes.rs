//! What came of the requests: answers, values, errors.

use super::{Closing, Ending, Interpreter};
use crate::history::{Fate, StatementError, What};
use crate::program::op::{Action, Control, Op};
use crate::program::request::{Answer, End};
use crate::scenario::value::Value;

/// SQLSTATE of a `\gset` that met more than one row.
const TOO_MANY_ROWS: &str = "P0003";

impl Interpreter {
    /// The statement was answered; `notified` counts the session's notifications so far.
    pub fn answered(&mut self, answer: &Answer, notified: i32) {
        self.set_open(answer.in_transaction);
        self.at.variables.set("ROW_COUNT", Value::integer(affected_rows(&answer.tag)));
        self.at.variables.set("SQLSTATE", Value::text("00000"));
        self.at.variables.set("COMMAND_TAG", Value::text(answer.tag.as_str()));
        self.at.variables.set("NOTIFIED", Value::integer(notified));
        let statement = match (&mut self.ending, self.transaction.program.ops.get(self.at.position)) {
            (Some(ending), _) => {
                if !matches!(ending.closing, Some(Closing::Abort)) || self.open.is_empty() {
                    ending.closing = None;
                }
                self.fate = Some(fate_of(&answer.tag));
                return;
            }
            (None, Some(Op { action: Action::Statement(statement), .. })) => statement.clone(),
            _ => return,
        };
        self.fate = match statement.control {
            Control::Begin => None,
            Control::Commit | Control::Prepare | Control::Rollback => Some(fate_of(&answer.tag)),
            Control::Other if !answer.in_transaction => Some(Fate::Committed),
            Control::Other => self.fate,
        };
        if let Some(capture) = &statement.capture
            && let Err(error) = self.capture(&capture.prefix, answer)
        {
            return self.raise(*error);
        }
        self.at.position += 1;
        if self.open.is_empty() {
            self.remember();
        }
    }

    /// The expression has this value.
    pub fn evaluated(&mut self, value: Value) {
        if self.arguments_done < self.arguments.len() {
            let name = self.transaction.params.get(self.arguments_done).cloned().unwrap_or_default();
            self.at.variables.set(name, value);
            self.arguments_done += 1;
            self.checkpoint.variables = self.at.variables.clone();
            return;
        }
        match self.transaction.program.ops.get(self.at.position).map(|op| &op.action) {
            Some(Action::Set { name, .. }) => {
                self.notes.push(What::Set { name: name.clone(), value: value.text.clone() });
                self.at.variables.set(name.clone(), value);
                self.at.position += 1;
            }
            Some(Action::JumpUnless { condition, target }) => {
                let holds = value.is_true();
                self.notes.push(What::Decided {
                    written: condition.written(),
                    condition: condition.prose(&self.at.variables),
                    holds,
                });
                self.at.position = if holds { self.at.position + 1 } else { *target };
            }
            _ => {}
        }
    }

    /// The client goes on in this connection; the server's word is whether a transaction block is open there.
    pub fn connected(&mut self, name: &str, in_transaction: bool) {
        self.at.place = name.to_owned();
        self.set_open(in_transaction);
        if self.goes_to.take().is_none() && self.ending.is_none() {
            self.at.position += 1;
        }
    }

    fn set_open(&mut self, in_transaction: bool) {
        if in_transaction {
            self.open.insert(self.at.place.clone());
        } else {
            self.open.remove(&self.at.place);
        }
    }

    /// What was asked for is done: a sleep or an effect.
    pub fn done(&mut self) {
        self.at.position += 1;
    }

    /// An expression, or something else that is not a statement, failed. Inside a `\try` that names the SQLSTATE the call goes on there.
    pub fn failed(&mut self, error: StatementError) {
        self.at.variables.set("SQLSTATE", Value::text(error.sqlstate.as_str()));
        if self.ending.is_none() {
            while let Some(block) = self.at.tries.pop() {
                if let Action::Try { arms } = &self.transaction.program.ops[block].action
                    && let Some(arm) = arms.iter().find(|arm| arm.sqlstates.contains(&error.sqlstate))
                {
                    self.at.position = arm.target;
                    return;
                }
            }
        }
        self.arguments_done = self.arguments.len();
        self.fate = Some(Fate::RolledBack);
        self.ending =
            Some(Ending { end: End::Failed(error), closing: (!self.open.is_empty()).then_some(Closing::Abort) });
    }

    /// The server answered the statement with an error; `in_transaction` is its word that a (failed) block is still open.
    pub fn refused(&mut self, error: StatementError, in_transaction: bool) {
        self.set_open(in_transaction);
        self.failed(error);
    }

    /// An error of the client's own, which no driver has put on record.
    pub(super) fn raise(&mut self, mut error: StatementError) {
        error.span = error.span.or_else(|| self.place_of(None));
        self.notes.push(What::Failed { error: error.clone() });
        self.failed(error);
    }

    /// The connection is gone in the middle of a COMMIT: nobody told the client what became of it.
    pub fn commit_is_unknown(&mut self) {
        self.fate = Some(Fate::Unknown);
    }

    /// The ROLLBACK that [`Request::RollBack`] asked for was done.
    pub fn rolled_back(&mut self) {
        self.set_open(false);
        if let Some(ending) = &mut self.ending
            && self.open.is_empty()
        {
            ending.closing = None;
        }
    }

    fn capture(&mut self, prefix: &str, answer: &Answer) -> Result<(), Box<StatementError>> {
        if answer.rows.len() > 1 {
            return Err(Box::new(StatementError {
                sqlstate: TOO_MANY_ROWS.to_owned(),
                message: format!("\\gset takes one row, but the query returned {}", answer.rows.len()),
                hint: Some("narrow the query down to one row, or aggregate".to_owned()),
                ..StatementError::default()
            }));
        }
        for (index, (column, type_oid)) in answer.columns.iter().enumerate() {
            let text = answer.rows.first().and_then(|row| row.get(index)).cloned().flatten();
            let name = format!("{prefix}{column}");
            self.notes.push(What::Set { name: name.clone(), value: text.clone() });
            self.at.variables.set(name, Value { type_oid: *type_oid, text });
        }
        Ok(())
    }
}

/// The number at the end of a command tag: `UPDATE 1`, `INSERT 0 1`; 0 where there is none.
fn affected_rows(tag: &str) -> i32 {
    tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// COMMIT of a failed block is answered with the tag ROLLBACK.
fn fate_of(tag: &str) -> Fate {
    if tag.starts_with("ROLLBACK") { Fate::RolledBack } else { Fate::Committed }
}
