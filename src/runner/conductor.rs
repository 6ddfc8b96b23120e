//! Plays a schedule: one thread that moves the sessions, takes their answers in, and asks the server who waits.

use std::time::{Duration, Instant};

use super::actor::{Actor, FailedCall, View};
use super::client::CONNECTION_FAILURE;
use super::deadlock;
use super::error::{RunError, statement_error};
use super::flight::Landed;
use super::links::{LinkId, Links};
use super::observer::Observer;
use super::wakes::Wakes;
use crate::history::{Event, Fate, Phase, StatementError, Told, What};
use crate::interrupt;
use crate::program::{Answer, End, Interpreter, Request};
use crate::scenario::Retry;
use crate::scenario::source::Sources;
use crate::schedule::{Choice, Schedule, SessionView, Strategy};
use crate::wire::{ServerError, TransactionStatus, WireError};

/// SQLSTATE of a deadlock's victim.
const DEADLOCK_DETECTED: &str = "40P01";

/// How the sessions' waits are to be treated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conduct {
    /// No wait goes on after this.
    pub deadline: Instant,
    /// How long a wait may last while nobody can move, before the run is given up.
    pub stuck_limit: Duration,
    /// Time that a blocked session's deadlock check needs; none where `deadlock_timeout` could not be set, so that the
    /// victim of a deadlock is a race.
    pub deadlock_check: Option<Duration>,
    /// Ask which lock a session waits for, for the story.
    pub name_locks: bool,
    /// Send statements together where what comes next is certain.
    pub saves_round_trips: bool,
}

pub(super) struct Conductor<'a> {
    pub actors: Vec<Actor>,
    pub links: Links,
    /// The connection of `\effect`.
    pub outside: LinkId,
    pub observer: &'a mut Observer,
    pub sources: &'a Sources,
    /// Whether and how the scenario's client retries.
    pub retry: Option<&'a Retry>,
    pub conduct: Conduct,
    pub wakes: Wakes,
    pub phase: Phase,
    pub events: Vec<Event>,
    pub schedule: Schedule,
    pub racy: bool,
    /// The session whose move it is.
    pub moving: Option<usize>,
    /// So many further moves are certain to be its own.
    pub further: usize,
    /// Is shown every event as it happens.
    pub listener: &'a mut dyn FnMut(&Event),
    pub waits_begun: u64,
}

impl Conductor<'_> {
    /// Plays a strategy to its end.
    pub fn play(&mut self, strategy: &mut dyn Strategy) -> Result<(), RunError> {
        loop {
            let views = self.views();
            let views: Vec<&dyn SessionView> = views.iter().map(|view| view as &dyn SessionView).collect();
            match strategy.choose(&views) {
                Choice::Move(session) => self.advance(session, strategy.stays())?,
                Choice::Await(session) => self.until_free(&[session])?,
                Choice::Over => {
                    let blocked: Vec<usize> =
                        (0..self.actors.len()).filter(|&session| self.actors[session].flight.is_some()).collect();
                    if blocked.is_empty() {
                        return Ok(());
                    }
                    self.until_any_free(&blocked)?;
                }
            }
        }
    }

    /// Sends the next statement of a session, and comes back when everybody has answered or waits. `further`: so many more
    /// moves are certain to be its own.
    pub fn advance(&mut self, session: usize, further: usize) -> Result<(), RunError> {
        debug_assert!(self.actors[session].flight.is_none(), "a session that waits does not move");
        self.schedule.choices.push(session);
        self.moving = Some(session);
        let waiting = self.waiting();
        // Whom it wakes goes on between its statements.
        self.further = if waiting.is_empty() { further } else { 0 };
        self.let_deadlock_checks_pass(&waiting)?;
        let backends: Vec<i32> = waiting.iter().filter_map(|&waiter| self.pid(waiter)).collect();
        let ordered = self.wakes.stop(backends.into_iter())?;
        self.proceed(session, true)?;
        // Its answer comes before those of the sessions that it woke, so that the record has one order.
        self.settle(&[session])?;
        if ordered {
            for &waiter in &waiting {
                if let Some(pid) = self.pid(waiter) {
                    self.wakes.resume(pid);
                }
                self.settle(&[waiter, session])?;
            }
        }
        let everybody: Vec<usize> = (0..self.actors.len()).collect();
        self.settle(&everybody)?;
        let woken = waiting.iter().filter(|&&waiter| self.actors[waiter].wait.is_none()).count();
        self.racy |= woken > 1 && !ordered;
        self.check_foresight(session)
    }

    fn views(&self) -> Vec<View<'_>> {
        let in_use = |link: LinkId| self.actors.iter().any(|other| other.flight.is_some() && other.link == link);
        self.actors.iter().map(|actor| View { actor, is_free: !in_use(actor.link) }).collect()
    }

    /// The backend that a session is in; none before it has connected.
    pub fn pid(&self, session: usize) -> Option<i32> {
        self.links.pid(self.actors[session].link)
    }

    /// The sessions that wait, in the order in which they blocked.
    fn waiting(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> =
            (0..self.actors.len()).filter(|&index| self.actors[index].wait.is_some()).collect();
        waiting.sort_by_key(|&index| self.actors[index].wait.as_ref().map(|wait| wait.order));
        waiting
    }

    /// What the server said of the waits is in doubt once a session has got further: it may have let a lock go after the
    /// server was asked.
    pub fn doubt_waits(&mut self) {
        for wait in self.actors.iter_mut().filter_map(|actor| actor.wait.as_mut()) {
            wait.confirmed = false;
        }
    }

    /// Lets the client's side of a session run up to its next statement, which is sent if `may_send`.
    fn proceed(&mut self, session: usize, may_send: bool) -> Result<(), RunError> {
        let begun = self.actors[session].goes_on.take();
        loop {
            interrupt::check()?;
            let actor = &mut self.actors[session];
            let Some(interpreter) = actor.interpreter() else { return Ok(()) };
            match interpreter.request() {
                Request::Run(statement) if may_send || begun == Some(interpreter.step_index()) => {
                    return self.send(session, &statement);
                }
                Request::Run(_) => return Ok(()),
                Request::RollBack => return self.send_text(session, "ROLLBACK"),
                Request::Note(what) => {
                    let what = self.placed(what);
                    self.record(session, what);
                }
                Request::Evaluate(expression) => {
                    let value = self.observer.evaluate(&expression, interpreter.variables())?;
                    match value {
                        Ok(value) => interpreter.evaluated(value),
                        Err(error) => {
                            let error = self.statement_error(session, &error);
                            self.fail(session, error, None);
                        }
                    }
                }
                Request::Over(end) => {
                    self.end_call(session, end);
                    return Ok(());
                }
                Request::Crash => self.crash(session)?,
                Request::Connect { name } => self.connect(session, &name)?,
                Request::Effect(sql) => self.effect(session, &sql)?,
                Request::Sleep { milliseconds } => self.sleep(session, milliseconds)?,
            }
        }
    }

    /// A statement's answer is whole.
    pub(super) fn land(&mut self, session: usize, landed: Landed) -> Result<(), RunError> {
        self.doubt_waits();
        self.actors[session].flight = None;
        if self.actors[session].wait.take().is_some_and(|wait| wait.told) {
            self.record(session, What::Woke);
        }
        if let Some(control) = self.actors[session].loses.take() {
            self.lose_answer(session, control)?;
            return self.proceed(session, false);
        }
        let in_transaction = landed.status != TransactionStatus::Idle;
        match landed.error {
            Some(error) => {
                let error = self.statement_error(session, &error);
                self.fail(session, error, Some(in_transaction));
            }
            None => {
                let answer = Answer {
                    tag: landed.tag.clone(),
                    columns: landed.columns.iter().map(|column| (column.name.clone(), column.type_oid)).collect(),
                    rows: landed.rows.clone(),
                    in_transaction,
                };
                self.record(
                    session,
                    What::Done {
                        tag: landed.tag,
                        types: landed.columns.iter().map(|column| column.type_oid).collect(),
                        columns: landed.columns.into_iter().map(|column| column.name).collect(),
                        rows: landed.rows,
                        in_transaction,
                    },
                );
                let notified = self.actors[session].notified;
                if let Some(interpreter) = &mut self.actors[session].interpreter {
                    interpreter.answered(&answer, notified);
                }
            }
        }
        self.proceed(session, false)
    }

    /// A statement (then with the server's word on its transaction) or an expression failed.
    pub fn fail(&mut self, session: usize, error: StatementError, in_transaction: Option<bool>) {
        // The one that closes the cycle is the victim, unless another one's check came late.
        self.racy |= error.sqlstate == DEADLOCK_DETECTED && self.moving != Some(session);
        self.record(session, What::Failed { error: error.clone() });
        let actor = &mut self.actors[session];
        actor.goes_on = None;
        if let Some(interpreter) = &mut actor.interpreter {
            match in_transaction {
                Some(open) => interpreter.refused(error, open),
                None => interpreter.failed(error),
            }
        }
    }

    /// The server's account of a deadlock, with sessions in place of their process and transaction numbers.
    fn with_names(&self, detail: &str) -> String {
        let named = |actor: &Actor| Some((self.links.pid(actor.link)?, actor.name.clone()));
        deadlock::with_names(detail, &self.actors.iter().filter_map(named).collect::<Vec<_>>())
    }

    /// The client's own errors know their span only.
    fn placed(&self, mut what: What) -> What {
        if let What::Failed { error } = &mut what {
            error.place = error.span.map(|span| self.sources.place(span).to_string());
        }
        what
    }

    pub fn statement_error(&self, session: usize, error: &ServerError) -> StatementError {
        let interpreter = self.actors[session].interpreter.as_ref();
        let span = interpreter.and_then(|interpreter| interpreter.place_of(error.position));
        let mut error = statement_error(error, span, self.sources);
        if error.sqlstate == DEADLOCK_DETECTED {
            error.detail = error.detail.map(|detail| self.with_names(&detail));
        }
        error
    }

    /// The connection is gone. With the server's own reason that is an answer like any other; without one the run ends.
    pub(super) fn disconnected(&mut self, session: usize, error: WireError) -> Result<(), RunError> {
        let WireError::Closed { reason: Some(reason) } = &error else {
            return Err(RunError::Lost { session: self.actors[session].name.clone(), error });
        };
        if reason.sqlstate.starts_with("57P") && self.observer.is_gone() {
            return Err(RunError::Lost { session: self.actors[session].name.clone(), error });
        }
        let failure = self.statement_error(session, reason);
        self.doubt_waits();
        self.actors[session].leave_connection();
        self.links.forget(self.actors[session].link);
        self.record(session, What::Disconnected { reason: reason.to_string() });
        let sqlstate =
            if failure.sqlstate.is_empty() { CONNECTION_FAILURE.to_owned() } else { failure.sqlstate.clone() };
        self.fail(session, StatementError { sqlstate, ..failure }, Some(false));
        self.proceed(session, false)
    }

    fn end_call(&mut self, session: usize, end: End) {
        let fate = self.actors[session].interpreter.as_ref().and_then(Interpreter::fate);
        let (told, message) = match &end {
            End::Completed => (Some(Told::Ok), None),
            End::Rejected(text) => (Some(Told::Rejected), Some(text.clone())),
            End::Failed(error) => (Some(self.told_of(session, error)), Some(error.message.clone())),
            End::Crashed => (None, None),
        };
        let fate = if matches!(end, End::Failed(_)) && fate.is_none() { Some(Fate::RolledBack) } else { fate };
        self.record(session, What::Ended { fate, told, message });
        let actor = &mut self.actors[session];
        let call = actor.call;
        match (actor.leave_call(), end) {
            (Some(interpreter), End::Failed(error)) => actor.failures.push(FailedCall { call, interpreter, error }),
            (_, End::Crashed) => actor.die(),
            _ => {}
        }
    }

    pub fn record(&mut self, session: usize, what: What) {
        let actor = &self.actors[session];
        let event = Event {
            phase: self.phase,
            session: actor.index,
            transaction: actor.transaction_name().to_owned(),
            call: actor.call,
            attempt: actor.attempt,
            step: actor.step_name().to_owned(),
            what,
        };
        (self.listener)(&event);
        self.events.push(event);
    }
}
