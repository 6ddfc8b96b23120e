//! Setup and teardown blocks, and whatever else has to be over before the next step: read to the end, as libpq's `PQexec`
//! does, but not for ever.

use std::time::{Duration, Instant};

use super::backend::Outcome;
use super::event::{Event, Failure};
use super::model::Block;
use super::stop::{Stop, part_name};
use super::tester::Tester;
use crate::wire::ServerError;

/// How long something may be silent before the server is asked whether it waits.
const PATIENCE: Duration = Duration::from_millis(100);
/// A lock that only a later step could let go is not waited for any longer.
const STUCK_LIMIT: Duration = Duration::from_secs(10);

impl Tester<'_> {
    /// The setups of the file, then those of the sessions.
    pub(super) fn set_up(&mut self) -> Result<(), Stop> {
        let spec = self.spec;
        let sessions = spec.sessions.iter().enumerate();
        let of_sessions = sessions.filter_map(|(index, session)| Some((Some(index), session.setup.as_ref()?)));
        for (session, block) in spec.setups.iter().map(|block| (None, block)).chain(of_sessions) {
            if let Err(failure) = self.run_block("setup", session, block)? {
                let session = session.map(|session| spec.sessions[session].name.clone());
                return Err(Stop::Setup { session, failure, span: block.span });
            }
        }
        Ok(())
    }

    /// The teardowns of the sessions, then that of the file. One that fails does not keep the others from running.
    pub(super) fn tear_down(&mut self) -> Result<(), Stop> {
        let spec = self.spec;
        let sessions = spec.sessions.iter().enumerate();
        let of_sessions = sessions.filter_map(|(index, session)| Some((Some(index), session.teardown.as_ref()?)));
        for (session, block) in of_sessions.chain(spec.teardown.iter().map(|block| (None, block))) {
            if let Err(failure) = self.run_block("teardown", session, block)? {
                let copy = if let Failure::Copy(copy) = failure { Some(copy) } else { None };
                self.events.push(Event::TeardownFailed { session, failure });
                if let Some(copy) = copy {
                    let what = part_name("teardown", session.map(|session| spec.sessions[session].name.as_str()));
                    return Err(Stop::Copy { what, copy });
                }
            }
        }
        Ok(())
    }

    /// Runs a block as one query. Only the last statement's result is looked at.
    fn run_block(&mut self, part: &str, session: Option<usize>, block: &Block) -> Result<Result<(), Failure>, Stop> {
        let lost = self.lost(session);
        if !self.backend(session).send(&block.sql).map_err(lost)? {
            return Ok(Err(Failure::NotConnected));
        }
        let what = part_name(part, session.map(|session| self.spec.sessions[session].name.as_str()));
        let mut last = None;
        let mut fatal: Option<Box<ServerError>> = None;
        while let Some(outcome) = self.next_outcome(session, &what)? {
            if let Outcome::Failed(error) = &outcome {
                fatal = Some(error.clone());
            }
            let is_copy = matches!(outcome, Outcome::Copy(_));
            last = Some(outcome);
            if is_copy {
                break;
            }
        }
        Ok(match last {
            Some(Outcome::Rows(table)) => {
                self.events.push(Event::Rows(table));
                Ok(())
            }
            Some(Outcome::Done) => Ok(()),
            Some(Outcome::Failed(error)) => Err(Failure::Refused { error, sql: block.sql.clone() }),
            Some(Outcome::Copy(copy)) => Err(Failure::Copy(copy)),
            Some(Outcome::Lost) => Err(Failure::Lost { reason: fatal }),
            Some(Outcome::Empty) | None => Err(Failure::Empty),
        })
    }

    /// The next result of a query, however long it takes within the limit; none at the query's end.
    pub(super) fn next_outcome(&mut self, session: Option<usize>, what: &str) -> Result<Option<Outcome>, Stop> {
        let begun = Instant::now();
        let mut stuck_since = None;
        loop {
            let Tester { control, sessions, events, .. } = self;
            let backend = session.map_or(control, |session| &mut sessions[session]);
            if !backend.is_busy(events) {
                return Ok(backend.take_outcome());
            }
            let lost = self.lost(session);
            if !self.backend(session).wait(PATIENCE).map_err(lost)? {
                self.limit_rest(session, what, begun, &mut stuck_since)?;
            }
        }
    }

    fn limit_rest(
        &mut self,
        session: Option<usize>,
        what: &str,
        begun: Instant,
        stuck_since: &mut Option<Instant>,
    ) -> Result<(), Stop> {
        self.check_deadline(what)?;
        if begun.elapsed() > self.options.step_limit.saturating_mul(2) {
            return Err(Stop::TooLong { what: what.to_owned(), seconds: begun.elapsed().as_secs() });
        }
        let pid = self.backend(session).pid();
        if self.timed || !self.is_stuck(pid)? {
            *stuck_since = None;
            return Ok(());
        }
        if stuck_since.get_or_insert_with(Instant::now).elapsed() < STUCK_LIMIT.min(self.options.step_limit) {
            return Ok(());
        }
        let holders: Vec<i32> = self.graph.blockers(pid).collect();
        let names = self.spec.sessions.iter().zip(&self.sessions);
        let holders = names.filter(|(_, backend)| holders.contains(&backend.pid()));
        Err(Stop::Stuck {
            what: what.to_owned(),
            holders: holders.map(|(session, _)| format!("session {}", session.name)).collect(),
        })
    }
}
