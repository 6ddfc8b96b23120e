//! Expressions beside a worker's statements: in the client where it can, else on a connection of the worker's own.

use crate::program::Variables;
use crate::runner::Observer;
use crate::scenario::template::Template;
use crate::scenario::value::Value;
use crate::wire::{ConnectOptions, ServerError, WireError};

/// Evaluates expressions for one worker.
pub struct Evaluator {
    observer: Observer,
}

impl Evaluator {
    /// `options` are those of the sandbox.
    pub fn new(options: ConnectOptions) -> Evaluator {
        Evaluator { observer: Observer::new(options) }
    }

    /// Connects now, so that no request has to wait for it.
    pub fn connect(&mut self) -> Result<(), WireError> {
        self.observer.connect()
    }

    /// The value of an expression, or its error; a connection that broke is one too.
    pub fn evaluate(&mut self, expression: &Template, variables: &Variables) -> Result<Value, Box<ServerError>> {
        match self.observer.evaluate(expression, variables) {
            Ok(result) => result.map_err(Box::new),
            Err(broken) => {
                let (sqlstate, message) = (broken.sqlstate().to_owned(), broken.to_string());
                Err(Box::new(ServerError { sqlstate, message, ..ServerError::default() }))
            }
        }
    }
}
