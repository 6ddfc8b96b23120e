//! Where a scenario is played: a sandbox with its tables, and what stands around the sessions.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::actor::Actor;
use super::assess::{Asked, ask, assess};
use super::conductor::{Conduct, Conductor};
use super::error::RunError;
use super::kept::Kept;
use super::links::{LinkId, Links};
use super::observer::Observer;
use super::processor::Stay;
use super::record::ToldRow;
use super::relations::Relation;
use super::reset::{self, Debris, Reset};
use super::scene::TEARDOWN_LIMIT;
use super::script::Keeper;
use super::wakes::Wakes;
use super::{processor, record, requirements, traces};
use crate::history::{Assessment, Event, History, Phase, SessionInfo};
use crate::program::Variables;
use crate::scenario::template::Template;
use crate::scenario::value::Value;
use crate::scenario::{Check, Level, Param, Plan, Scenario, Session};
use crate::schedule::{LeftOut, Schedule, Strategy};
use crate::server::{Sandbox, Server};
use crate::wire::{ConnectOptions, Connection, ResultSet, ServerError, TransactionStatus, WireError};

/// `deadlock_timeout` of sessions under test, and the time in which their one check is over.
const DEADLOCK_TIMEOUT: &str = "1ms";
const DEADLOCK_CHECK: Duration = Duration::from_micros(2_500);
/// Nobody waits longer for something that will not come by itself.
const STUCK_LIMIT: Duration = Duration::from_secs(10);
/// The same where many schedules are played.
const STUCK_LIMIT_OF_MANY: Duration = Duration::from_secs(1);

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
    kept: Kept,
    /// No body resets its settings, so that a kept connection can be set to another level.
    may_switch: bool,
    /// What a session does may outlast its transactions.
    leaves_traces: bool,
    /// What of the sessions does not take part.
    pub(super) left_out: LeftOut,
    /// The question about the tables' contents that is asked with the checks; empty: none.
    pub(super) contents: String,
    /// The processor of the thread that plays, where the backends are to be as well.
    pub(super) processor: Option<usize>,
    /// The backends that are.
    placed: HashSet<i32>,
    sandbox: Sandbox,
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
        let others = databases.filter_map(|name| Some((name.clone(), sandbox.database(name)?))).collect();
        let mut stage = Stage {
            scenario,
            plan,
            fix,
            server,
            options,
            keeper: Keeper::new(sandbox.options(), others, !reset::lets_go(plan)),
            observer: Observer::new(sandbox.options()),
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
        stage.connect_early();
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
            self.keeper.take_over(connection);
        }
        self.parameters = evaluate_parameters(&self.scenario.params, &mut self.observer)?;
        for name in requirements::extensions(self.plan) {
            requirements::create_extension(self.keeper.home()?, name, deadline)?;
        }
        if record::is_asked(self.plan) {
            self.keeper.home()?.query(record::SCHEMA, deadline)?;
        }
        self.make_tables()?;
        self.relations = Relation::find_all(self.keeper.home()?, deadline)?;
        if self.scenario.databases.is_empty() {
            self.reset = Reset::of(&self.relations, self.plan, self.server.is_superuser());
        }
        Ok(())
    }

    /// Begins to connect the sessions of the next run, where what the schema does makes no difference to a new session.
    fn connect_early(&mut self) {
        const FOR_NEW_SESSIONS: [&str; 3] = ["alter", "database", "event"];
        let Some(level) = self.options.next else { return };
        if !self.plan.schema.iter().any(|script| script.program.mentions(&FOR_NEW_SESSIONS)) {
            self.begin_to_connect(&session_infos(self.plan, level));
        }
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

    fn place_backends(&mut self, links: &Links) -> Result<(), RunError> {
        let Some(processor) = self.processor else { return Ok(()) };
        let home = self.keeper.home()?.backend_pid();
        for pid in links.pids().chain([home]) {
            if self.placed.insert(pid) {
                processor::place_backend(pid, processor);
            }
        }
        Ok(())
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

    /// Plays one schedule at a level. `listener` is shown every event as it happens.
    pub fn run(
        &mut self,
        level: Level,
        strategy: &mut dyn Strategy,
        listener: &mut dyn FnMut(&Event),
    ) -> Result<History, RunError> {
        let sessions = session_infos(self.plan, level);
        self.kept.clean(&sessions, self.may_switch, self.leaves_traces)?;
        self.options.next = Some(level);
        self.rebuild_if_needed()?;
        self.begin_to_connect(&sessions);
        self.fill(&sessions)?;
        self.kept.settle(self.options.deadline);
        let conduct = Conduct {
            deadline: self.options.deadline,
            stuck_limit: if self.options.explores { STUCK_LIMIT_OF_MANY } else { STUCK_LIMIT },
            deadlock_check: self.server.is_superuser().then_some(DEADLOCK_CHECK),
            name_locks: self.options.name_locks,
            saves_round_trips: self.options.saves_round_trips,
        };
        let mut links = Links::default();
        let outside = links.add(self.sandbox.options());
        for pool in &self.scenario.pools {
            links.add_pool(pool, self.session_options(&self.sandbox.options(), pool, level));
        }
        let playing = self.plan.sessions.iter().enumerate().map(|(index, session)| self.left_out.apply(index, session));
        let playing: Vec<Session> = playing.collect();
        let actors = self.actors(&playing, &sessions, &mut links);
        let mut finally = self.actors(&self.plan.finally, &sessions, &mut links);
        finally.retain(|actor| actor.index >= self.plan.sessions.len());
        let homes: Vec<LinkId> = actors.iter().map(|actor| actor.home).collect();
        self.prepare_sessions(&mut links, &homes)?;
        self.place_backends(&links)?;
        let some_backend = links.pids().next().unwrap_or_default();
        let mut conductor = Conductor {
            actors,
            links,
            outside,
            observer: &mut self.observer,
            sources: &self.scenario.sources,
            retry: self.plan.retry.as_ref(),
            conduct,
            wakes: Wakes::new(self.server.is_ours(), some_backend),
            phase: Phase::Schedule,
            events: Vec::new(),
            schedule: Schedule { left_out: self.left_out.clone(), ..Schedule::default() },
            racy: false,
            moving: None,
            further: 0,
            listener,
            waits_begun: 0,
        };
        let mut history = History {
            scenario: self.scenario.name.clone(),
            fix: self.fix.map(str::to_owned),
            isolation: level,
            sessions,
            schedule: String::new(),
            events: Vec::new(),
            end: Default::default(),
            after_retry: None,
            racy: false,
            unfinished: None,
        };
        let played = conductor.play(strategy);
        let names: Vec<&str> = self.plan.sessions.iter().map(|session| session.name.as_str()).collect();
        history.schedule = conductor.schedule.text(&names);
        let mut ask = |conductor: &mut Conductor| {
            let asked = Asked {
                plan: self.plan,
                parameters: &self.parameters,
                sessions: &history.sessions,
                events: &conductor.events,
                contents: &self.contents,
                needs_row: !self.options.explores,
                deadline: self.options.deadline,
            };
            assess(&mut self.keeper, conductor.observer, &asked)
        };
        let finished = played.and_then(|()| {
            let has_retries = conductor.has_retries();
            if has_retries {
                // Where many schedules are played only checks are of interest before the retries.
                if !self.options.explores || !self.plan.checks.is_empty() {
                    history.end = ask(&mut conductor)?;
                }
                conductor.retry_all()?;
            }
            conductor.finally(&self.plan.finally, &mut finally)?;
            let last = ask(&mut conductor)?;
            if has_retries {
                history.after_retry = Some(last);
            } else {
                history.end = last;
            }
            Ok(())
        });
        history.events = std::mem::take(&mut conductor.events);
        history.racy = conductor.racy;
        if self.options.explores || self.may_switch {
            self.kept.keep(conductor.actors.into_iter().chain(finally), conductor.links, &history.sessions)?;
        }
        match finished {
            Ok(()) => Ok(history),
            // Of schedules that time cuts exploring learns nothing.
            Err(error @ RunError::TimeLimit { .. }) if self.options.explores => Err(error),
            Err(error @ (RunError::Stuck { .. } | RunError::TimeLimit { .. })) => {
                history.unfinished = Some(error.to_string());
                Ok(history)
            }
            Err(error) => Err(error),
        }
    }

    /// Drops what was made and says whether that worked. Dropping the stage does the same in silence.
    pub fn close(self) -> Result<(), RunError> {
        let Stage { plan, mut keeper, kept, observer, sandbox, .. } = self;
        let teardown = plan.teardown.iter().map(Template::written);
        let statements: Vec<String> = teardown.chain(sandbox.removal()).collect();
        let home = keeper.home()?;
        let count = home.send_each(statements.iter().map(String::as_str))?;
        // Sessions leave while the server is at work, since it takes its time for each.
        drop((kept, observer));
        let is_removed = match home.results_of_each(count, Instant::now() + TEARDOWN_LIMIT) {
            Ok(answers) => {
                home.status() == TransactionStatus::Idle
                    && answers.last().is_some_and(|answer| sandbox.is_removal(answer))
            }
            Err(WireError::TimedOut { .. }) => false,
            Err(_) if plan.teardown.is_empty() => false,
            Err(error) => return Err(error.into()),
        };
        if is_removed {
            sandbox.forget();
            return Ok(());
        }
        drop(keeper);
        Ok(sandbox.close()?)
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

    /// Begins to connect those sessions of the schedule that have no connection.
    fn begin_to_connect(&mut self, sessions: &[SessionInfo]) {
        for session in sessions.iter().take(self.plan.sessions.len()) {
            if !self.kept.has(session) {
                let options = self.session_options(&self.sandbox.options(), &session.name, session.level);
                self.kept.begin(session, &options);
            }
        }
    }

    /// The sessions at their beginning, with the connections that they may need; those open when they are first used.
    fn actors(&mut self, sessions: &[Session], infos: &[SessionInfo], links: &mut Links) -> Vec<Actor> {
        let mut actor = |session: &Session| {
            let index = infos.iter().position(|info| info.name == session.name).unwrap_or_default();
            let level = infos[index].level;
            let home = links.add(self.session_options(&self.sandbox.options(), &session.name, level));
            let mut born = None;
            if let Some((level, connection)) = self.kept.take(&infos[index]) {
                links.reuse(home, connection);
                born = Some(level);
            }
            let databases = self.scenario.databases.iter().filter_map(|name| {
                let options = self.session_options(&self.sandbox.database(name)?, &session.name, level);
                Some((name.clone(), links.add(options)))
            });
            let mut actor = Actor::new(index, session, home, databases.collect(), self.parameters.clone());
            actor.born = born;
            actor
        };
        sessions.iter().map(&mut actor).collect()
    }

    /// Settings come with the start-up message, so that `DISCARD ALL` comes back to them.
    fn session_options(&self, database: &ConnectOptions, session: &str, level: Level) -> ConnectOptions {
        let mut options = database.clone();
        options.application_name = format!("{}/{session}", database.application_name);
        options = options.with_setting("default_transaction_isolation", &level.sql().to_lowercase());
        if self.options.explores {
            // What others see does not depend on when it is on disk.
            options = options.with_setting("synchronous_commit", "off");
        }
        match self.server.is_superuser() {
            true => options.with_setting("deadlock_timeout", DEADLOCK_TIMEOUT),
            false => options,
        }
    }
}

/// The sessions in file order, then those of `@finally` that have no session's name.
fn session_infos(plan: &Plan, level: Level) -> Vec<SessionInfo> {
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
