//! Runs the statements around the sessions: `@schema`, `@setup`, checks and measures.

use std::collections::HashMap;
use std::time::Instant;

use super::error::RunError;
use super::observer::Observer;
use super::planned::Planned;
use crate::program::{Answer, End, Interpreter, Program, Request, Variables};
use crate::scenario::{Call, Script, Transaction};
use crate::wire::{ConnectOptions, Connection, ResultSet, ServerError, TransactionStatus, WireError};

/// The home database in `\connect`.
const MAIN: &str = "main";

/// The connections that scripts run on: one to each database of the sandbox, opened when it is first needed.
pub(crate) struct Keeper {
    options: HashMap<String, ConnectOptions>,
    connections: HashMap<String, Connection>,
    /// The connection to the home database is the sandbox's.
    is_lent: bool,
    pub(super) planned: Planned,
}

impl Keeper {
    /// `plans`: no script makes a connection forget what it has prepared.
    pub fn new(home: ConnectOptions, others: HashMap<String, ConnectOptions>, plans: bool) -> Keeper {
        let mut options = others;
        options.insert(MAIN.to_owned(), home);
        Keeper { options, connections: HashMap::new(), is_lent: false, planned: Planned::new(plans) }
    }

    /// Uses the sandbox's connection as the one to the home database.
    pub fn borrow(&mut self, home: Connection) {
        self.connections.insert(MAIN.to_owned(), home);
        self.is_lent = true;
    }

    /// The sandbox's connection, to be given back.
    pub fn give_back(&mut self) -> Option<Connection> {
        std::mem::take(&mut self.is_lent).then(|| self.connections.remove(MAIN)).flatten()
    }

    /// The connection to the home database.
    pub fn home(&mut self) -> Result<&mut Connection, WireError> {
        self.connection(MAIN)
    }

    /// The connection to a database by its name in the scenario. The parser made sure that there is one of that name.
    pub fn connection(&mut self, name: &str) -> Result<&mut Connection, WireError> {
        let home = || self.options[MAIN].clone();
        let options = self.options.get(name).cloned().unwrap_or_else(home);
        match self.connections.entry(name.to_owned()) {
            std::collections::hash_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            std::collections::hash_map::Entry::Vacant(entry) => Ok(entry.insert(Connection::connect(&options)?)),
        }
    }

    /// Runs a script and gives the last statement's result. `part` is its section in words, for errors.
    pub fn run(
        &mut self,
        script: &Script,
        part: &str,
        parameters: &Variables,
        observer: &mut Observer,
        deadline: Instant,
    ) -> Result<ResultSet, RunError> {
        let mut interpreter = Interpreter::new(&call_of(&script.program, script), parameters.clone());
        let mut database = MAIN.to_owned();
        let mut last = ResultSet::default();
        let refused = |interpreter: &Interpreter, error: Box<ServerError>| {
            let span = interpreter.place_of(error.position).unwrap_or(script.span);
            RunError::Scenario { part: part.to_owned(), error, span }
        };
        loop {
            match interpreter.request() {
                Request::Run(statement) => {
                    let sql = statement.text.sql(interpreter.variables());
                    let connection = self.connection(&database)?;
                    match connection.query(&sql, deadline) {
                        Ok(results) => {
                            last = results.into_iter().next_back().unwrap_or_default();
                            interpreter.answered(&answer(&last, connection.status()), 0);
                        }
                        Err(WireError::Server(error)) => return Err(refused(&interpreter, error)),
                        Err(other) => return Err(other.into()),
                    }
                }
                Request::Evaluate(expression) => match observer.evaluate(&expression, interpreter.variables())? {
                    Ok(value) => interpreter.evaluated(value),
                    Err(error) => return Err(refused(&interpreter, Box::new(error))),
                },
                Request::Connect { name } => {
                    database = name;
                    interpreter.done();
                }
                Request::Over(End::Failed(error)) => {
                    let message = error.message;
                    return Err(RunError::Shape { part: part.to_owned(), message, span: script.span });
                }
                Request::Over(_) => return Ok(last),
                Request::Note(_) => {}
                Request::RollBack | Request::Sleep { .. } | Request::Effect(_) | Request::Crash => {
                    let message = "only statements, conditions and variables belong here".to_owned();
                    return Err(RunError::Shape { part: part.to_owned(), message, span: script.span });
                }
            }
        }
    }
}

fn call_of(program: &Program, script: &Script) -> Call {
    let transaction =
        Transaction { name: String::new(), params: Vec::new(), program: program.clone(), span: script.span };
    Call { transaction: transaction.into(), arguments: Vec::new(), span: script.span }
}

fn answer(result: &ResultSet, status: TransactionStatus) -> Answer {
    Answer {
        tag: result.tag.clone(),
        columns: result.columns.iter().map(|column| (column.name.clone(), column.type_oid)).collect(),
        rows: result.rows.clone(),
        in_transaction: status != TransactionStatus::Idle,
    }
}
