//! A session under test: its connection, where it is in its calls, and what it waits for.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use super::flight::{Flight, Landed};
use super::links::LinkId;
use crate::history::StatementError;
use crate::program::{Control, Foreseen, Interpreter, Variables};
use crate::scenario::{Call, Level, Session};
use crate::schedule::SessionView;

pub(super) struct Actor {
    pub name: String,
    pub calls: Vec<Call>,
    /// The connection that it is in.
    pub link: LinkId,
    /// Its own connection, where each call begins.
    pub home: LinkId,
    /// Its connections to further databases.
    pub databases: HashMap<String, LinkId>,
    /// The level that its own connection was born with, where an earlier run opened it.
    pub born: Option<Level>,
    /// Its index in the history.
    pub index: usize,
    /// The call that it is in, or that comes next.
    pub call: usize,
    /// Of that call, from 1.
    pub attempt: u32,
    pub interpreter: Option<Interpreter>,
    /// The variables that every call starts with.
    pub parameters: Variables,
    pub flight: Option<Flight>,
    /// Statements that went out together with the one on its way; their answers follow that one's.
    pub ahead: VecDeque<Foreseen>,
    /// The answer to a statement before those.
    failed: Option<Landed>,
    /// `\lost`: the answer to the statement on its way will be lost, and this is what the statement does.
    pub loses: Option<Control>,
    /// The statement on its way is a BEGIN: what follows it in this step, by index, belongs to the same move.
    pub goes_on: Option<usize>,
    pub wait: Option<Waiting>,
    /// Notifications received so far.
    pub notified: i32,
    /// Calls that an error ended, in order.
    pub failures: Vec<FailedCall>,
    /// What the last call left in its variables.
    last_variables: Option<Variables>,
    /// Steps of earlier calls, by transaction and step.
    steps_done: HashMap<(String, String), u32>,
}

/// A statement that the server says is blocked.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    /// When that was noticed.
    pub since: Instant,
    /// Counts the waits of a run: who blocked first.
    pub order: u64,
    /// The pids that it waits for, sorted.
    pub by: Vec<i32>,
    /// The server has said so since the last event.
    pub confirmed: bool,
    /// It was asleep then, with the clock of its deadlock check running.
    pub asleep: bool,
    /// Its one look for a deadlock is over.
    pub checked: bool,
    /// It is on record.
    pub told: bool,
}

impl Waiting {
    /// A wait that was noticed just now.
    pub fn new(order: u64, by: Vec<i32>, asleep: bool) -> Waiting {
        Waiting { since: Instant::now(), order, by, confirmed: false, asleep, checked: false, told: false }
    }
}

/// What is needed to run a failed call again.
pub(super) struct FailedCall {
    pub call: usize,
    pub interpreter: Interpreter,
    pub error: StatementError,
}

impl Actor {
    pub fn new(
        index: usize,
        session: &Session,
        home: LinkId,
        databases: HashMap<String, LinkId>,
        parameters: Variables,
    ) -> Actor {
        let mut actor = Actor {
            name: session.name.clone(),
            calls: session.calls.clone(),
            link: home,
            home,
            databases,
            index,
            born: None,
            call: 0,
            attempt: 1,
            interpreter: None,
            parameters,
            flight: None,
            ahead: VecDeque::new(),
            failed: None,
            loses: None,
            goes_on: None,
            wait: None,
            notified: 0,
            failures: Vec::new(),
            last_variables: None,
            steps_done: HashMap::new(),
        };
        actor.pass_empty_calls();
        actor
    }

    /// Calls that a schedule leaves out.
    fn pass_empty_calls(&mut self) {
        let is_empty = |call: &Call| call.transaction.program.ops.is_empty();
        while self.calls.get(self.call).is_some_and(is_empty) {
            self.call += 1;
        }
    }

    /// The call's interpreter; begun where there is none.
    pub fn interpreter(&mut self) -> Option<&mut Interpreter> {
        if self.interpreter.is_none() {
            let call = self.calls.get(self.call)?;
            self.interpreter = Some(Interpreter::new(call, self.parameters.clone()));
        }
        self.interpreter.as_mut()
    }

    /// Takes an answer in. An error counts once the server has refused what was sent along, but for the COMMIT or ROLLBACK
    /// among it, which ends the failed transaction.
    pub fn whole(&mut self, landed: Landed) -> Option<Landed> {
        let landed = self.failed.take().unwrap_or(landed);
        if landed.error.is_some() && self.ahead.front().is_some_and(|next| !next.ends) {
            self.ahead.pop_front();
            self.failed = Some(landed);
            return None;
        }
        Some(landed)
    }

    /// The connection is gone, and with it what was on its way.
    pub fn leave_connection(&mut self) {
        (self.flight, self.wait, self.failed) = (None, None, None);
        self.ahead.clear();
    }

    /// The call is over: its steps count, and the next one may begin.
    pub fn leave_call(&mut self) -> Option<Interpreter> {
        let interpreter = self.interpreter.take()?;
        let transaction = interpreter.transaction();
        let mut steps: Vec<&String> = transaction.program.steps.iter().collect();
        steps.sort_unstable();
        steps.dedup();
        for step in steps {
            let key = (transaction.name.clone(), step.clone());
            *self.steps_done.entry(key).or_default() += interpreter.times_done(step);
        }
        self.call += 1;
        self.pass_empty_calls();
        self.attempt = 1;
        self.link = self.home;
        self.last_variables = Some(interpreter.variables().clone());
        Some(interpreter)
    }

    /// The connections that no other session uses.
    pub fn own_links(&self) -> Vec<LinkId> {
        std::iter::once(self.home).chain(self.databases.values().copied()).collect()
    }

    /// The client is dead: no further call of it begins.
    pub fn die(&mut self) {
        self.call = self.calls.len();
    }

    /// More calls, in the variables that the last one left.
    pub fn go_on_with(&mut self, calls: &[Call]) {
        self.call = self.calls.len();
        self.calls.extend_from_slice(calls);
        if let Some(variables) = self.last_variables.take() {
            self.parameters = variables;
        }
    }

    /// The name of the transaction that it is in, or that comes next.
    pub fn transaction_name(&self) -> &str {
        self.calls.get(self.call).map_or("", |call| call.transaction.name.as_str())
    }

    /// The step that the session is at.
    pub fn step_name(&self) -> &str {
        self.interpreter.as_ref().map_or("", Interpreter::step_name)
    }

    /// No statement of it is on its way, and there is something left to do.
    pub fn is_idle(&self) -> bool {
        self.flight.is_none() && self.call < self.calls.len()
    }

    /// Messages of a statement are outstanding, and nobody has confirmed that it waits.
    pub fn is_unsettled(&self) -> bool {
        self.flight.is_some() && !self.wait.as_ref().is_some_and(|wait| wait.confirmed)
    }
}

/// A session as strategies see it.
pub(super) struct View<'a> {
    pub actor: &'a Actor,
    /// Nobody else's statement is on its way in the connection that it would use.
    pub is_free: bool,
}

impl SessionView for View<'_> {
    fn can_move(&self) -> bool {
        self.is_free && self.actor.is_idle()
    }

    fn is_blocked(&self) -> bool {
        self.actor.flight.is_some()
    }

    fn times_done(&self, transaction: Option<&str>, step: &str) -> u32 {
        let is_named = |name: &str| transaction.is_none_or(|transaction| transaction == name);
        let earlier: u32 = self
            .actor
            .steps_done
            .iter()
            .filter(|((transaction, done), _)| is_named(transaction) && done == step)
            .map(|(_, times)| times)
            .sum();
        let current = self.actor.interpreter.as_ref().filter(|interpreter| is_named(&interpreter.transaction().name));
        earlier + current.map_or(0, |interpreter| interpreter.times_done(step))
    }

    fn steps_done(&self) -> u32 {
        let earlier: u32 = self.actor.steps_done.values().sum();
        earlier + self.actor.interpreter.as_ref().map_or(0, Interpreter::steps_done)
    }
}
