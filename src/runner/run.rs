//! One schedule on a stage, from fresh tables to the answers of the checks.

use std::time::Duration;

use super::actor::Actor;
use super::assess::{Asked, assess};
use super::conductor::{Conduct, Conductor};
use super::error::RunError;
use super::links::{LinkId, Links};
use super::processor;
use super::stage::{Stage, session_infos};
use super::wakes::Wakes;
use crate::history::{Assessment, Event, History, Phase, SessionInfo};
use crate::scenario::{Level, Session};
use crate::schedule::{Schedule, Strategy};
use crate::wire::ConnectOptions;

/// `deadlock_timeout` of sessions under test, and the time in which their one check is over.
const DEADLOCK_TIMEOUT: &str = "1ms";
const DEADLOCK_CHECK: Duration = Duration::from_micros(2_500);
/// Nobody waits longer for something that will not come by itself.
const STUCK_LIMIT: Duration = Duration::from_secs(10);
/// The same where many schedules are played.
const STUCK_LIMIT_OF_MANY: Duration = Duration::from_secs(1);

/// Who plays.
struct Cast {
    actors: Vec<Actor>,
    /// Those of `@finally` that are not among the others.
    finally: Vec<Actor>,
    links: Links,
    /// The connection of `\effect`.
    outside: LinkId,
}

impl Stage<'_> {
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
        self.observer.finish()?;
        let Cast { actors, mut finally, links, outside } = self.cast(level, &sessions)?;
        let conduct = self.conduct();
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
        let played = conductor.play(strategy);
        let names: Vec<&str> = self.plan.sessions.iter().map(|session| session.name.as_str()).collect();
        let mut history = History {
            scenario: self.scenario.name.clone(),
            fix: self.fix.map(str::to_owned),
            isolation: level,
            sessions,
            schedule: conductor.schedule.text(&names),
            events: Vec::new(),
            end: Assessment::default(),
            after_retry: None,
            racy: false,
            unfinished: None,
        };
        let mut ask = |conductor: &mut Conductor, sessions: &[SessionInfo]| {
            let asked = Asked {
                plan: self.plan,
                parameters: &self.parameters,
                sessions,
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
                    history.end = ask(&mut conductor, &history.sessions)?;
                }
                conductor.retry_all()?;
            }
            conductor.finally(&self.plan.finally, &mut finally)?;
            let last = ask(&mut conductor, &history.sessions)?;
            match has_retries {
                true => history.after_retry = Some(last),
                false => history.end = last,
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

    fn conduct(&self) -> Conduct {
        Conduct {
            deadline: self.options.deadline,
            stuck_limit: if self.options.explores { STUCK_LIMIT_OF_MANY } else { STUCK_LIMIT },
            deadlock_check: self.server.is_superuser().then_some(DEADLOCK_CHECK),
            name_locks: self.options.name_locks,
            saves_round_trips: self.options.saves_round_trips,
        }
    }

    /// Those who are to play, with their connections prepared.
    fn cast(&mut self, level: Level, sessions: &[SessionInfo]) -> Result<Cast, RunError> {
        let mut links = Links::default();
        let outside = links.add(self.sandbox.options());
        for pool in &self.scenario.pools {
            links.add_pool(pool, self.session_options(&self.sandbox.options(), pool, level));
        }
        let playing = self.plan.sessions.iter().enumerate().map(|(index, session)| self.left_out.apply(index, session));
        let playing: Vec<Session> = playing.collect();
        let actors = self.actors(&playing, sessions, &mut links);
        let mut finally = self.actors(&self.plan.finally, sessions, &mut links);
        finally.retain(|actor| actor.index >= self.plan.sessions.len());
        let homes: Vec<LinkId> = actors.iter().map(|actor| actor.home).collect();
        self.prepare_sessions(&mut links, &homes)?;
        self.place_backends(&links)?;
        Ok(Cast { actors, finally, links, outside })
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

    /// Begins to connect those sessions of the schedule that have no connection.
    pub(super) fn begin_to_connect(&mut self, sessions: &[SessionInfo]) {
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
    pub(super) fn session_options(&self, database: &ConnectOptions, session: &str, level: Level) -> ConnectOptions {
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
