//! A load test: each strategy in a fresh sandbox, all its workers started together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::backoff::RetryPolicy;
use super::crew::{self, Played};
use super::error::LoadError;
use super::evaluator::Evaluator;
use super::queue::Queue;
use super::record;
use super::session::Session;
use super::statistics::LoadRow;
use super::strategy::{self, Strategy};
use super::worker::{Shared, Worker};
use super::workload::Workload;
use crate::history::Assessment;
use crate::program::arithmetic;
use crate::runner::{RunError, RunOptions, Stage};
use crate::scenario::{Level, Load, LoadAmount, LoadArgument, Plan, Scenario, Transaction};
use crate::server::Server;

/// The checks and measures of a run that the time limit cut short are still asked.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// What the user asks for in place of what `@load` says.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// Empty: all.
    pub strategies: Vec<String>,
    /// For strategies without a level of their own; empty: read-committed.
    pub levels: Vec<Level>,
    pub workers: Option<u32>,
    pub amount: Option<LoadAmount>,
    /// Parameters and their values, as SQL.
    pub set: Vec<(String, String)>,
    /// Of the random numbers.
    pub seed: u64,
    /// The seed puts the rows of the file in order as well.
    pub shuffled: bool,
    /// The cap of clients that retry.
    pub attempts: Option<u32>,
    /// For so long the workers run before the run that counts. The tables are made anew in between.
    pub warm_up: Duration,
    /// Nothing goes on after this.
    pub deadline: Instant,
}

/// A scenario's load test, ready to be run strategy by strategy.
#[derive(Debug)]
pub struct LoadTest {
    /// With the parameters of this test.
    scenario: Scenario,
    load: Load,
    strategies: Vec<Strategy>,
    options: LoadOptions,
}

impl LoadTest {
    pub fn new(scenario: &Scenario, options: LoadOptions) -> Result<LoadTest, LoadError> {
        let no_load = || LoadError::NoLoad { scenario: scenario.name.clone() };
        let mut load = scenario.load.clone().ok_or_else(no_load)?;
        load.workers = options.workers.unwrap_or(load.workers);
        load.amount = options.amount.unwrap_or(load.amount);
        let strategies = strategy::strategies(scenario, &load, &options.strategies, &options.levels)?;
        let mut scenario = scenario.clone();
        for (name, value) in &load.set {
            // The parser made sure that there is one of that name.
            if let Some(param) = scenario.params.iter_mut().find(|param| param.name == *name) {
                param.value = value.clone();
            }
        }
        for (name, value) in &options.set {
            scenario.set_param(name, value)?;
        }
        let test = LoadTest { scenario, load, strategies, options };
        test.check_commands()?;
        Ok(test)
    }

    /// What a load test cannot do is said before it begins.
    fn check_commands(&self) -> Result<(), LoadError> {
        let plans = self.strategies.iter().map(|strategy| self.plan(strategy));
        let is_called =
            |transaction: &&Arc<Transaction>| self.load.calls.iter().any(|call| call.transaction == transaction.name);
        let called = plans.flat_map(|plan| &plan.transactions).filter(is_called);
        for op in called.flat_map(|transaction| &transaction.program.ops) {
            if let Some(command) = op.action.only_staged() {
                return Err(LoadError::OnlyStaged { command, span: op.span });
            }
        }
        Ok(())
    }

    pub fn strategies(&self) -> &[Strategy] {
        &self.strategies
    }

    /// How much each strategy is to do.
    pub fn amount(&self) -> LoadAmount {
        self.load.amount
    }

    pub fn seed(&self) -> u64 {
        self.options.seed
    }

    /// Whether anything in it is drawn by the seed.
    pub fn is_random(&self) -> bool {
        let mut arguments = self.load.calls.iter().flat_map(|call| &call.arguments);
        self.options.shuffled && self.load.rows.is_some()
            || arguments.any(|argument| matches!(argument, LoadArgument::Random { .. }))
    }

    /// The scenario with the parameters of this test.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The names of all measures that a row may have.
    pub fn measures(&self) -> Vec<&str> {
        let plans = self.strategies.iter().map(|strategy| self.plan(strategy));
        let mut names: Vec<&str> = plans.flat_map(|plan| &plan.measures).map(|measure| measure.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Runs one strategy in a sandbox of its own. `ended` is called by the workers whenever a request has ended.
    pub fn run(&self, server: &Server, strategy: &Strategy, ended: &(dyn Fn() + Sync)) -> Result<LoadRow, LoadError> {
        let plan = self.plan(strategy);
        let run_options = RunOptions {
            deadline: self.options.deadline,
            name_locks: false,
            explores: false,
            saves_round_trips: true,
            observes_late: false,
            next: None,
        };
        let mut stage = Stage::prepare(server, &self.scenario, strategy.fix.as_deref(), run_options)?;
        let workload =
            Workload::new(&self.load, plan, stage.parameters().clone(), self.options.seed, self.options.shuffled)?;
        let mut play = |amount, ended: &(dyn Fn() + Sync)| {
            stage.set_the_scene(&stage.sessions(strategy.level))?;
            let shared = Shared {
                workload: &workload,
                queue: &Queue::new(amount, self.options.deadline),
                policy: &RetryPolicy::new(plan.retry.as_ref(), self.options.attempts),
                sources: &self.scenario.sources,
                ended,
                deadline: self.options.deadline,
                keeps_record: record::is_needed(plan),
            };
            crew::play(self.workers(server, &stage, &shared, strategy.level)?, shared.queue)
        };
        if !self.options.warm_up.is_zero() {
            play(LoadAmount::For(self.options.warm_up), &|| ())?;
        }
        let played = play(self.load.amount, ended)?;
        let deadline = self.options.deadline.max(Instant::now() + LAST_WORDS);
        let (asked, left_out) = record::checks(plan);
        let assessment = stage.assess_load(&played.told, asked.into_iter(), deadline)?;
        stage.close()?;
        let left_out = left_out.iter().map(|check| check.name.clone()).collect();
        Ok(self.row(strategy, &played, assessment, left_out))
    }

    fn plan(&self, strategy: &Strategy) -> &Plan {
        self.scenario.plan(strategy.fix.as_deref()).unwrap_or(&self.scenario.as_written)
    }

    /// Connects the workers.
    fn workers<'a>(
        &self,
        server: &Server,
        stage: &Stage,
        shared: &'a Shared<'a>,
        level: Level,
    ) -> Result<Vec<Worker<'a>>, LoadError> {
        let asks_server = shared.workload.expressions().any(|expression| !arithmetic::understands(expression));
        let needed = self.load.workers.saturating_mul(if asks_server { 2 } else { 1 });
        let connections = server.connections().map_err(RunError::from)?;
        if needed > connections.free() {
            return Err(LoadError::TooFewConnections { needed, connections });
        }
        let connect = |number| {
            let session = Session::connect(stage.worker_options(level))?;
            let mut evaluator = Evaluator::new(stage.worker_options(level));
            if asks_server {
                evaluator.connect()?;
            }
            Ok(Worker::new(shared, number, session, evaluator))
        };
        (1..=self.load.workers).map(connect).collect()
    }

    fn row(&self, strategy: &Strategy, played: &Played, assessment: Assessment, left_out: Vec<String>) -> LoadRow {
        let tally = &played.tally;
        let requests = tally.counts.requests();
        let seconds = played.lasted.as_secs_f64();
        LoadRow {
            scenario: self.scenario.name.clone(),
            strategy: strategy.name.clone(),
            fix: strategy.fix.clone(),
            isolation: strategy.level,
            workers: self.load.workers,
            requests,
            ok: tally.counts.ok,
            rejected: tally.counts.rejected,
            gave_up: tally.counts.gave_up,
            failed: tally.counts.failed,
            unknown: tally.counts.unknown,
            retries: tally.retries,
            most_attempts: tally.most_attempts,
            errors: tally.errors.clone(),
            checks: assessment.checks,
            left_out,
            measures: assessment.measures,
            seconds,
            tps: if seconds > 0.0 { requests as f64 / seconds } else { 0.0 },
            latency_ms: tally.latency(),
            cut_short: played.ended >= self.options.deadline,
        }
    }
}
