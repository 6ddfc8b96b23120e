//! Where a scenario is played: a sandbox with its tables, and what stands around the sessions.

use std::collections::HashSet;
use std::time::Instant;

use super::assess::ask;
use super::error::RunError;
use super::kept::Kept;
use super::observer::Observer;
use super::processor::Stay;
use super::record::ToldRow;
use super::relations::{RELATIONS, Relation};
use super::reset::{self, Debris, Reset};
use super::scene::{TEARDOWN_LIMIT, teardown};
use super::script::Keeper;
use super::{processor, record, requirements, traces};
use crate::history::{Assessment, SessionInfo};
use crate::program::Variables;
use crate::scenario::template::Template;
use crate::scenario::value::Value;
use crate::scenario::{Check, Level, Param, Plan, Scenario};
use crate::schedule::LeftOut;
use crate::server::{Sandbox, Server};
use crate::wire::{ConnectOptions, Connection, ResultSet, ServerError, TransactionStatus, WireError};

/// How to run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// No wait goes on after this.
    pub deadline: Instant,
    /// Ask which lock a session waits for, for the story.
    pub name_locks: bool,
    /// One run of many: what can be kept between them is kept.
    pub explores: bool,
    /// Send statements together where what comes next is certain: not where somebody watches each of them.
    pub saves_round_trips: bool,
    /// Connect the observer only when somebody has not answered for long: not where a timeout makes the beginning of a wait
    /// count.
    pub observes_late: bool,
    /// The level of the next run, where there is to be one: its sessions connect while the tables are made.
    pub next: Option<Level>,
}

/// A scenario, in one of its forms, on a server.
pub struct Stage<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) plan: &'a Plan,
    pub(super) fix: Option<&'a str>,
    pub(super) server: &'a Server,
    pub(super) options: RunOptions,
    // Connections before the sandbox: fields are dropped in this order.
    pub(super) keeper: Keeper,
    pub(super) observer: Observer,
    pub(super) parameters: Variables,
    relations: Vec<Relation>,
    pub(super) reset: Reset,
    /// How many schedules were played since the tables were made.
    pub(super) played: u32,
    pub(super) debris: Debris,
    pub(super) kept: Kept,
    /// No body resets its settings, so that a kept connection can be set to another level.
    pub(super) may_switch: bool,
    /// What a session does may outlast its transactions.
    pub(super) leaves_traces: bool,
    /// What of the sessions does not take part.
    pub(super) left_out: LeftOut,
    /// The question about the tables' contents that is asked with the checks; empty: none.
    pub(super) contents: String,
    /// The processor of the thread that plays, where the backends are to be as well.
    pub(super) processor: Option<usize>,
    /// The backends that are.
    pub(super) placed: HashSet<i32>,
    pub(super) sandbox: Sandbox,
}

impl<'a> Stage<'a> {
    /// Makes the sandbox and its tables. Fails with [`RunError::Unmet`] where the server lacks what the scenario requires.
    pub fn prepare(
        server: &'a Server,
        scenario: &'a Scenario,
        fix: Option<&'a str>,
        options: RunOptions,
    ) -> Result<Stage<'a>, RunError> {
        let plan = scenario.plan(fix).unwrap_or(&scenario.as_written);
        requirements::check(plan, server)?;
        let kind = requirements::sandbox_kind(scenario, plan);
        let sandbox = requirements::sandbox(server, &kind)?;
        let databases = scenario.databases.iter();
        let others = databases.filter_map(|name| Some((name.clone(), Sandbox::own(sandbox.database(name)?)))).collect();
        let own = Sandbox::own(sandbox.options());
        let mut stage = Stage {
            scenario,
            plan,
            fix,
            server,
            options,
            keeper: Keeper::new(own.clone(), others, !reset::lets_go(plan)),
            observer: Observer::new(own),
            parameters: Variables::default(),
            relations: Vec::new(),
            reset: Reset::Rebuild,
            played: 0,
            debris: Debris::default(),
            kept: Kept::default(),
            may_switch: !reset::resets_settings(plan),
            leaves_traces: traces::leaves_traces(plan),
            left_out: LeftOut::default(),
            contents: String::new(),
            processor: None,
            placed: HashSet::new(),
            sandbox,
        };
        stage.connect_early()?;
        stage.move_in()?;
        Ok(stage)
    }

    /// Fills the sandbox, once it is there, with what every run needs.
    fn move_in(&mut self) -> Result<(), RunError> {
        let deadline = self.options.deadline;
        self.sandbox.finish()?;
        if !reset::lets_go(self.plan)
            && let Some(connection) = self.sandbox.lend()
        {
            self.keeper.borrow(connection);
        }
        self.parameters = evaluate_parameters(&self.scenario.params, &mut self.observer)?;
        for name in requirements::extensions(self.plan) {
            requirements::create_extension(self.keeper.home()?, name, deadline)?;
        }
        if record::is_asked(self.plan) {
            self.keeper.home()?.query(record::SCHEMA, deadline)?;
        }
        self.make_tables()?;
        let may_reset = self.scenario.databases.is_empty() && !reset::rebuilds(self.plan);
        if may_reset || self.options.explores {
            self.relations = Relation::read_all(self.query(RELATIONS)?.rows);
        }
        if may_reset {
            self.reset = Reset::of(&self.relations, self.server.is_superuser());
        }
        Ok(())
    }

    /// Begins to connect who will be needed. Where what the schema does makes a difference to a new session that is the
    /// observer alone, who is not to be met by it.
    fn connect_early(&mut self) -> Result<(), RunError> {
        const FOR_NEW_SESSIONS: [&str; 3] = ["alter", "database", "event"];
        if self.plan.schema.iter().any(|script| script.program.mentions(&FOR_NEW_SESSIONS)) {
            return Ok(self.observer.connect()?);
        }
        if !self.options.observes_late {
            self.observer.begin()?;
        }
        if let Some(level) = self.options.next {
            self.begin_to_connect(&session_infos(self.plan, level));
        }
        Ok(())
    }

    /// From now on this does not take part.
    pub fn leave_out(&mut self, left_out: LeftOut) {
        self.left_out = left_out;
    }

    /// What `@schema` made.
    pub(crate) fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// From now on this is asked with the checks; its rows go to [`Assessment::contents`].
    pub fn ask_for_contents(&mut self, sql: String) {
        self.contents = sql;
    }

    /// Keeps this thread on a processor, as long as the answer lives, and from now on the backends too: of a server that is
    /// ours, and whose processes we may move.
    pub(crate) fn stay_on(&mut self, processor: usize) -> Option<Stay> {
        let home = self.keeper.home().ok().filter(|_| self.server.is_ours())?.backend_pid();
        if !processor::place_backend(home, processor) {
            return None;
        }
        self.processor = Some(processor);
        self.placed = HashSet::from([home]);
        Some(Stay::on(processor))
    }

    /// Asks something on the connection that checks are asked on; gives the last result.
    pub(crate) fn query(&mut self, sql: &str) -> Result<ResultSet, RunError> {
        let results = self.keeper.home()?.query(sql, self.options.deadline)?;
        Ok(results.into_iter().next_back().unwrap_or_default())
    }

    /// A further connection like that of a session, with further settings of its own.
    pub(crate) fn connect_session(
        &self,
        session: usize,
        level: Level,
        settings: &[(&str, &str)],
    ) -> Result<Connection, RunError> {
        let session = &self.plan.sessions[session];
        let level = session.level.unwrap_or(level);
        let options = self.session_options(&self.sandbox.options(), &session.name, level);
        let set = |options: ConnectOptions, (name, value): &(&str, &str)| options.with_setting(name, value);
        let mut connection = Connection::connect(&settings.iter().fold(options, set))?;
        self.prepare_session(session, &mut connection)?;
        Ok(connection)
    }

    /// The value of an expression over variables; the inner error is the expression's own.
    pub(crate) fn evaluate(
        &mut self,
        expression: &Template,
        variables: &Variables,
    ) -> Result<Result<Value, ServerError>, RunError> {
        Ok(self.observer.evaluate(expression, variables)?)
    }

    /// The sessions of a run at a level.
    pub fn sessions(&self, level: Level) -> Vec<SessionInfo> {
        session_infos(self.plan, level)
    }

    /// Drops what was made and says whether that worked. Dropping the stage does the same in silence.
    pub fn close(mut self) -> Result<(), RunError> {
        let statements: Vec<String> = teardown(self.plan).chain(self.sandbox.removal()).collect();
        let home = self.keeper.home()?;
        let count = home.send_each(statements.iter().map(String::as_str))?;
        // Sessions leave while the server is at work, since it takes its time for each.
        self.kept = Kept::default();
        self.observer.leave();
        let is_removed = match home.results_of_each(count, Instant::now() + TEARDOWN_LIMIT) {
            Ok(answers) => {
                home.status() == TransactionStatus::Idle
                    && answers.last().is_some_and(|answer| self.sandbox.is_removal(answer))
            }
            Err(WireError::TimedOut { .. }) => false,
            Err(_) if self.plan.teardown.is_empty() => false,
            Err(error) => return Err(error.into()),
        };
        if is_removed {
            self.sandbox.forget();
            return Ok(());
        }
        self.give_back();
        Ok(self.sandbox.remove()?)
    }

    fn give_back(&mut self) {
        if let Some(home) = self.keeper.give_back() {
            self.sandbox.take_back(home);
        }
    }

    /// The values of the scenario's parameters.
    pub(crate) fn parameters(&self) -> &Variables {
        &self.parameters
    }

    /// How a worker of a load test gets in: its transactions run at that level, by the server's own settings otherwise.
    pub(crate) fn worker_options(&self, level: Level) -> ConnectOptions {
        self.sandbox.options().with_setting("default_transaction_isolation", &level.sql().to_lowercase())
    }

    /// The answers after a load test, with these rows in `isolab_told`.
    pub(crate) fn assess_load<'c>(
        &mut self,
        told: &[ToldRow],
        checks: impl Iterator<Item = &'c Check>,
        deadline: Instant,
    ) -> Result<Assessment, RunError> {
        if record::is_asked(self.plan) {
            self.keeper.home()?.query(&record::told_statements(told), deadline)?;
        }
        ask(&mut self.keeper, &mut self.observer, checks, &self.plan.measures, &self.parameters, deadline)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// The sessions in file order, then those of `@finally` that have no session's name.
pub(super) fn session_infos(plan: &Plan, level: Level) -> Vec<SessionInfo> {
    let mut infos: Vec<SessionInfo> = Vec::new();
    for session in plan.sessions.iter().chain(&plan.finally) {
        let calls = session.calls.iter().map(|call| call.written());
        match infos.iter_mut().find(|info| info.name == session.name) {
            Some(info) => info.calls.extend(calls),
            None => infos.push(SessionInfo {
                name: session.name.clone(),
                level: session.level.unwrap_or(level),
                calls: calls.collect(),
            }),
        }
    }
    infos
}

fn evaluate_parameters(params: &[Param], observer: &mut Observer) -> Result<Variables, RunError> {
    let mut variables = Variables::default();
    for param in params {
        let value = observer.evaluate(&param.value, &variables)?.map_err(|error| RunError::Scenario {
            part: format!("@param {}", param.name),
            error: Box::new(error),
            // Of `--set` where that gave the value.
            span: param.value.span,
        })?;
        variables.set(param.name.clone(), value);
    }
    Ok(variables)
}
