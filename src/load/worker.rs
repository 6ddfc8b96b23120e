//! One worker: takes requests from the queue, runs each to its end, and retries as the client would.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use super::attempt::{Attempt, Stop};
use super::backoff::{self, RetryPolicy};
use super::error::LoadError;
use super::evaluator::Evaluator;
use super::queue::Queue;
use super::record;
use super::session::Session;
use super::tally::{RequestEnd, Tally};
use super::workload::{Argument, Request, Workload};
use crate::history::StatementError;
use crate::interrupt;
use crate::program::{End, Interpreter, Variables};
use crate::runner::{ToldRow, statement_error};
use crate::scenario::Call;
use crate::scenario::source::Sources;
use crate::wire::WireError;

/// So many times in a row a worker tries to reconnect, with a pause in between.
const RECONNECTS: u32 = 10;
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

/// What all workers of a test share.
pub struct Shared<'a> {
    pub workload: &'a Workload<'a>,
    pub queue: &'a Queue,
    pub policy: &'a RetryPolicy,
    pub sources: &'a Sources,
    /// Is called whenever a request has ended.
    pub ended: &'a (dyn Fn() + Sync),
    pub deadline: Instant,
    /// Keep a row of `isolab_told` for each attempt.
    pub keeps_record: bool,
}

pub struct Worker<'a> {
    shared: &'a Shared<'a>,
    /// From 1.
    number: u32,
    session: Session,
    evaluator: Evaluator,
    rng: Xoshiro256PlusPlus,
    tally: Tally,
    told: Vec<ToldRow>,
}

/// What a worker leaves behind.
pub struct Finished {
    pub tally: Tally,
    pub told: Vec<ToldRow>,
    pub at: Instant,
}

/// What comes after an attempt.
#[derive(Debug)]
pub enum Next {
    Retry(StatementError),
    End(RequestEnd),
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared<'a>, number: u32, session: Session, evaluator: Evaluator) -> Worker<'a> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(shared.workload.seed().wrapping_add(u64::from(number)));
        Worker { shared, number, session, evaluator, rng, tally: Tally::default(), told: Vec::new() }
    }

    /// From 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Works until the queue gives nothing more. An error ends the test for all.
    pub fn run(mut self) -> Result<Finished, LoadError> {
        let started = Instant::now();
        while let Some(number) = self.shared.queue.take(started) {
            let begun = Instant::now();
            let (end, attempts) = self.serve(number).inspect_err(|_| self.shared.queue.close())?;
            self.tally.count(end, attempts, begun.elapsed());
            (self.shared.ended)();
        }
        Ok(Finished { tally: self.tally, told: self.told, at: Instant::now() })
    }

    /// One request to its end, and the attempts that it took.
    fn serve(&mut self, number: u64) -> Result<(RequestEnd, u32), LoadError> {
        interrupt::check()?;
        let request = self.shared.workload.request(number, self.number);
        let variables = match self.arguments(&request) {
            Ok(variables) => variables,
            Err(error) => return Ok((RequestEnd::Failed(*error), 1)),
        };
        let transaction = Arc::clone(request.transaction);
        let span = transaction.span;
        let mut interpreter = Interpreter::new(&Call { transaction, arguments: Vec::new(), span }, variables);
        let mut attempts = 1;
        loop {
            self.reconnect_if_broken()?;
            let attempt = Attempt {
                interpreter: &mut interpreter,
                session: &mut self.session,
                evaluator: &mut self.evaluator,
                sources: self.shared.sources,
                deadline: self.shared.deadline,
                begin: None,
            };
            let outcome = attempt.run();
            let next = self.next(outcome, attempts)?;
            if self.shared.keeps_record {
                self.told.push(record::told_row(self.number, &interpreter, &next, attempts));
            }
            match next {
                Next::End(end) => return Ok((end, attempts)),
                Next::Retry(_) => {
                    std::thread::sleep(backoff::pause(attempts, &mut self.rng));
                    interpreter.retry();
                    attempts += 1;
                }
            }
        }
    }

    /// The variables that the call begins with.
    fn arguments(&mut self, request: &Request) -> Result<Variables, Box<StatementError>> {
        let mut variables = self.shared.workload.parameters().clone();
        for (name, argument) in request.transaction.params.iter().zip(&request.arguments) {
            let value = match argument {
                Argument::Value(value) => value.clone(),
                Argument::Expression(expression) => {
                    self.evaluator.evaluate(expression, &request.scope).map_err(|error| {
                        let place = error.position.map(|at| expression.place_of(&request.scope, at.saturating_sub(1)));
                        Box::new(statement_error(&error, Some(place.unwrap_or(expression.span)), self.shared.sources))
                    })?
                }
            };
            variables.set(name.clone(), value);
        }
        Ok(variables)
    }

    /// What the client makes of an attempt's outcome.
    fn next(&self, outcome: Result<End, Stop>, attempts: u32) -> Result<Next, LoadError> {
        let (error, in_doubt) = match outcome {
            Ok(End::Completed) => return Ok(Next::End(RequestEnd::Ok)),
            Ok(End::Rejected(text)) => return Ok(Next::End(RequestEnd::Rejected(text))),
            Ok(End::Failed(error)) => (error, false),
            Ok(End::Crashed) => {
                (StatementError { message: "the client crashed".to_owned(), ..Default::default() }, false)
            }
            Err(Stop::Lost { error, in_doubt }) => (*error, in_doubt),
            Err(Stop::Interrupted(interrupted)) => {
                self.session.cancel();
                return Err(interrupted.into());
            }
        };
        let is_covered = self.shared.policy.covers(&error.sqlstate);
        let is_used_up = self.shared.policy.is_used_up(attempts);
        let is_over = Instant::now() >= self.shared.deadline;
        Ok(if is_covered && !is_used_up && !is_over {
            Next::Retry(error)
        } else if in_doubt {
            Next::End(RequestEnd::Unknown(error))
        } else if is_covered && is_used_up {
            Next::End(RequestEnd::GaveUp(error))
        } else {
            Next::End(RequestEnd::Failed(error))
        })
    }

    fn reconnect_if_broken(&mut self) -> Result<(), LoadError> {
        let mut failures = 0;
        while self.session.is_broken() {
            match self.session.reconnect() {
                Ok(()) => {}
                Err(WireError::Interrupted(interrupted)) => return Err(interrupted.into()),
                Err(error) => {
                    failures += 1;
                    if failures == RECONNECTS || Instant::now() >= self.shared.deadline {
                        return Err(LoadError::ServerLost { worker: self.number, failures, error });
                    }
                    std::thread::sleep(RECONNECT_PAUSE);
                }
            }
        }
        Ok(())
    }
}
