//! One attempt of a call: the interpreter says what it wants, the session does it in as few round trips as that takes.
//!
//! The BEGIN that the lab added goes out with the first statement, its COMMIT with the last one. The outcomes are those
//! of a client that sends one statement at a time.

use std::time::{Duration, Instant};

use super::evaluator::Evaluator;
use super::round_trip::RoundTrip;
use super::session::{Broken, Session};
use crate::history::StatementError;
use crate::interrupt::{self, Interrupted};
use crate::program::{Answer, Control, End, Interpreter, Request, Statement};
use crate::runner::statement_error;
use crate::scenario::source::Sources;
use crate::scenario::template::Parameterised;
use crate::wire::WireError;

const FEATURE_NOT_SUPPORTED: &str = "0A000";
const QUERY_CANCELED: &str = "57014";

/// What an attempt works with.
pub struct Attempt<'a> {
    pub interpreter: &'a mut Interpreter,
    pub session: &'a mut Session,
    pub evaluator: &'a mut Evaluator,
    pub sources: &'a Sources,
    pub deadline: Instant,
    /// The BEGIN that waits for the first statement. The interpreter has been told that it was answered.
    pub begin: Option<Parameterised>,
}

/// Why an attempt came to no end of its own.
#[derive(Debug)]
pub enum Stop {
    /// The connection is gone; `in_doubt`: the transaction may have been committed all the same.
    Lost {
        error: Box<StatementError>,
        in_doubt: bool,
    },
    Interrupted(Interrupted),
}

impl Attempt<'_> {
    pub fn run(mut self) -> Result<End, Stop> {
        loop {
            match self.interpreter.request() {
                Request::Note(_) => {}
                Request::Run(statement) if statement.lost => self.refuse("\\lost"),
                Request::Run(statement) if statement.implicit && statement.control == Control::Begin => {
                    self.put_off_begin(&statement);
                }
                Request::Run(statement) => self.send(&statement)?,
                Request::Evaluate(expression) => {
                    match self.evaluator.evaluate(&expression, self.interpreter.variables()) {
                        Ok(value) => self.interpreter.evaluated(value),
                        Err(error) => {
                            let span = self.interpreter.place_of(error.position);
                            self.interpreter.failed(statement_error(&error, span, self.sources));
                        }
                    }
                }
                Request::RollBack => self.roll_back()?,
                Request::Sleep { .. } if self.begin.is_some() => self.send_begin()?,
                Request::Sleep { milliseconds } => self.sleep(Duration::from_millis(milliseconds))?,
                Request::Effect(_) => self.refuse("\\effect"),
                Request::Connect { .. } => self.refuse("\\connect"),
                Request::Crash => self.refuse("\\crash"),
                Request::Over(end) => return Ok(end),
            }
        }
    }

    fn put_off_begin(&mut self, begin: &Statement) {
        self.begin = Some(begin.text.parameterised(self.interpreter.variables()));
        let answer = Answer { tag: "BEGIN".to_owned(), in_transaction: true, ..Answer::default() };
        self.interpreter.answered(&answer, self.session.notified());
    }

    /// Sends a statement, with the BEGIN before it and the COMMIT after it where that is the same to everybody.
    fn send(&mut self, statement: &Statement) -> Result<(), Stop> {
        let parameterised = statement.text.parameterised(self.interpreter.variables());
        if self.session.is_literal_only(&parameterised) {
            return self.send_literal(statement);
        }
        let mut statements: Vec<Parameterised> = self.begin.take().into_iter().collect();
        let has_begin = !statements.is_empty();
        let is_verbatim = parameterised.values.is_empty();
        statements.push(parameterised);
        let mut commits = may_commit(statement.control, self.interpreter.in_transaction());
        if self.interpreter.commit_follows() {
            statements.push(verbatim("COMMIT"));
            commits = true;
        }
        let last = statements.len() - 1;
        let trip = self.session.run(statements, self.deadline);
        let trip = trip.map_err(|broken| stop(broken, commits.then_some(last)))?;
        self.settle(trip, has_begin, is_verbatim)
    }

    /// Sends a statement with its values written in. Where a BEGIN was put off, that goes first, by itself.
    fn send_literal(&mut self, statement: &Statement) -> Result<(), Stop> {
        if self.begin.is_some() {
            return self.send_begin();
        }
        let sql = statement.text.sql(self.interpreter.variables());
        let commits = may_commit(statement.control, self.interpreter.in_transaction()).then_some(0);
        let trip = self.session.run_literal(&sql, self.deadline).map_err(|broken| stop(broken, commits))?;
        self.settle(trip, false, true)
    }

    /// Sends the BEGIN that was put off. The interpreter then asks again for what it wanted.
    fn send_begin(&mut self) -> Result<(), Stop> {
        let begin = self.begin.take().into_iter().collect();
        let trip = self.session.run(begin, self.deadline).map_err(|broken| stop(broken, None))?;
        self.settle(trip, true, false)
    }

    /// Tells the interpreter what came back. `is_verbatim`: the server's position in the statement is one in the file.
    fn settle(&mut self, trip: RoundTrip, has_begin: bool, is_verbatim: bool) -> Result<(), Stop> {
        let mut answers = trip.answers.into_iter();
        if has_begin && answers.next().is_none() {
            // The BEGIN itself was refused: back to it.
            self.interpreter.retry();
        }
        for answer in answers {
            self.pass_notes();
            self.interpreter.answered(&answer, self.session.notified());
        }
        let Some(failure) = trip.failure else { return Ok(()) };
        if failure.only_as_literal {
            return self.start_over(failure.in_transaction);
        }
        self.pass_notes();
        let span = self.interpreter.place_of(failure.error.position.filter(|_| is_verbatim));
        let error = statement_error(&failure.error, span, self.sources);
        self.interpreter.refused(error, failure.in_transaction);
        Ok(())
    }

    /// Up to the next statement.
    fn pass_notes(&mut self) {
        while let Request::Note(_) = self.interpreter.request() {}
    }

    /// A statement turned out to work only with its values written in. Nothing of it was run, so the transaction
    /// begins again as if it had not been tried.
    fn start_over(&mut self, in_transaction: bool) -> Result<(), Stop> {
        if in_transaction {
            self.session.run(vec![verbatim("ROLLBACK")], self.deadline).map_err(|broken| stop(broken, None))?;
            self.interpreter.retry();
        }
        Ok(())
    }

    fn roll_back(&mut self) -> Result<(), Stop> {
        if self.begin.take().is_none()
            && let Err(broken) = self.session.run(vec![verbatim("ROLLBACK")], self.deadline)
            && let stop @ Stop::Interrupted(_) = stop(broken, None)
        {
            return Err(stop);
        }
        // A lost connection rolls back as well, and the error before it is the one that counts.
        self.interpreter.rolled_back();
        Ok(())
    }

    fn sleep(&mut self, duration: Duration) -> Result<(), Stop> {
        const SLICE: Duration = Duration::from_millis(50);
        let end = Instant::now() + duration;
        while Instant::now() < end {
            interrupt::check().map_err(Stop::Interrupted)?;
            if Instant::now() >= self.deadline {
                self.fail(QUERY_CANCELED, "the time limit was reached in a \\sleep".to_owned());
                return Ok(());
            }
            std::thread::sleep(SLICE.min(end.saturating_duration_since(Instant::now())));
        }
        self.interpreter.done();
        Ok(())
    }

    fn refuse(&mut self, command: &str) {
        self.fail(FEATURE_NOT_SUPPORTED, format!("{command} does not run in a load test"));
    }

    fn fail(&mut self, sqlstate: &str, message: String) {
        let sqlstate = sqlstate.to_owned();
        self.interpreter.failed(StatementError { sqlstate, message, ..StatementError::default() });
    }
}

fn verbatim(sql: &str) -> Parameterised {
    Parameterised { sql: sql.to_owned(), values: Vec::new() }
}

/// Whether the statement's work is durable once it is done.
fn may_commit(control: Control, in_transaction: bool) -> bool {
    match control {
        Control::Commit | Control::Prepare => true,
        Control::Begin | Control::Rollback => false,
        Control::Other => !in_transaction,
    }
}

/// `commits`: which statement of the round trip, from 0, commits.
fn stop(broken: Broken, commits: Option<usize>) -> Stop {
    // An error in front of the COMMIT made the server skip it.
    let in_doubt =
        commits.is_some_and(|commits| broken.answered <= commits && !(broken.refused && broken.answered < commits));
    match broken.error {
        WireError::Interrupted(interrupted) => Stop::Interrupted(interrupted),
        error => {
            let (sqlstate, message) = (error.sqlstate().to_owned(), error.to_string());
            Stop::Lost { error: Box::new(StatementError { sqlstate, message, ..StatementError::default() }), in_doubt }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in_doubt(answered: usize, refused: bool, commits: Option<usize>) -> bool {
        match stop(Broken { error: WireError::Closed { reason: None }, answered, refused }, commits) {
            Stop::Lost { in_doubt, .. } => in_doubt,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_an_unanswered_commit_is_in_doubt() {
        assert!(is_in_doubt(0, false, Some(2)), "BEGIN, INSERT, COMMIT: all may have arrived");
        assert!(is_in_doubt(2, true, Some(2)), "a FATAL in answer to COMMIT may come after it");
        assert!(!is_in_doubt(1, true, Some(2)), "the INSERT was refused, so the COMMIT was skipped");
        assert!(!is_in_doubt(0, false, None), "no COMMIT was sent");
    }

    #[test]
    fn a_statement_outside_a_transaction_commits_by_itself() {
        assert!(may_commit(Control::Other, false));
        assert!(!may_commit(Control::Other, true));
        assert!(may_commit(Control::Commit, true));
        assert!(!may_commit(Control::Rollback, true));
    }
}
