//! The tables before each schedule, and the sessions' connections at their beginning.

use std::time::{Duration, Instant};

use super::batch::Part;
use super::error::RunError;
use super::links::{LinkId, Links};
use super::reset::{self, Debris, Emptying, Reset};
use super::stage::Stage;
use crate::history::SessionInfo;
use crate::scenario::template::Template;
use crate::scenario::{Level, Plan, Session};
use crate::wire::{Connection, ResultSet, WireError};

/// A teardown that takes longer waits for something that does not go away.
pub(super) const TEARDOWN_LIMIT: Duration = Duration::from_secs(10);
/// Whether a teardown has left something in the schema.
const REMAINS: &str = "
SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace)
    OR EXISTS (SELECT FROM pg_proc WHERE pronamespace = quote_ident(current_schema())::regnamespace)
    OR EXISTS (SELECT FROM pg_type WHERE typnamespace = quote_ident(current_schema())::regnamespace)";

impl Stage<'_> {
    /// Fresh tables with their seed rows, for a run of these sessions.
    pub(crate) fn set_the_scene(&mut self, sessions: &[SessionInfo]) -> Result<(), RunError> {
        self.rebuild_if_needed()?;
        self.fill(sessions)
    }

    /// The first half of setting the scene: tables that cannot be emptied are made anew.
    pub(super) fn rebuild_if_needed(&mut self) -> Result<(), RunError> {
        if self.played > 0 && self.reset == Reset::Rebuild {
            self.rebuild()?;
        }
        Ok(())
    }

    /// The second half: tables with their seed rows and no others.
    pub(super) fn fill(&mut self, sessions: &[SessionInfo]) -> Result<(), RunError> {
        let exact = sessions.iter().any(|session| session.level == Level::Serializable);
        self.played += 1;
        if self.played == 1 {
            self.ask(&[], None)?;
        } else if !self.empty_and_fill(exact)? {
            self.reset.distrust_deletes();
            self.empty_and_fill(exact)?;
        }
        Ok(())
    }

    /// Empties the tables and fills them again; false if their pages are not those of fresh tables, though they count.
    fn empty_and_fill(&mut self, exact: bool) -> Result<bool, RunError> {
        let Emptying { statements, deletes } = self.reset.emptying(exact, self.debris);
        let question = self.reset.is_compact().filter(|_| exact && deletes).map(str::to_owned);
        let answers = self.ask(&statements, question.as_deref())?;
        let deleted = |answer: &ResultSet| answer.tag.strip_prefix("DELETE ")?.parse::<u64>().ok();
        self.debris = match deletes {
            true => Debris {
                resets: self.debris.resets + 1,
                rows: self.debris.rows + answers.iter().filter_map(deleted).sum::<u64>(),
            },
            false => Debris::default(),
        };
        let is_compact = answers.last().and_then(|answer| answer.rows.first()?.first().cloned().flatten());
        Ok(question.is_none() || is_compact.as_deref() == Some("t"))
    }

    /// Sends the statements, the scenario's `@setup` and a question in one round trip.
    fn ask(&mut self, statements: &[String], question: Option<&str>) -> Result<Vec<ResultSet>, RunError> {
        let setup = self.plan.setup.iter().map(|script| Part::Script { script, name: "@setup".to_owned() });
        let reset = statements.iter().map(|sql| match sql.starts_with(reset::DELETE) {
            true => Part::Again(sql),
            false => Part::Sql(sql),
        });
        let parts: Vec<Part> = reset.chain(setup).chain(question.map(Part::Again)).collect();
        self.keeper.run_all(&parts, &self.parameters, &mut self.observer, self.options.deadline)
    }

    /// Makes the tables anew: where the scenario's own teardown leaves nothing behind, otherwise in another sandbox.
    fn rebuild(&mut self) -> Result<(), RunError> {
        let is_clean = self.tear_down()? && !reset::prepares(self.plan);
        if is_clean && self.query(REMAINS)?.rows.first().is_some_and(|row| row[0].as_deref() == Some("f")) {
            return self.make_tables();
        }
        let (options, contents) = (self.options.clone(), std::mem::take(&mut self.contents));
        let (left_out, processor) = (std::mem::take(&mut self.left_out), self.processor);
        *self = Stage::prepare(self.server, self.scenario, self.fix, options)?;
        (self.contents, self.left_out, self.processor) = (contents, left_out, processor);
        Ok(())
    }

    /// Runs the teardown, each statement whatever became of those before it; true if there is one and all went through.
    pub(super) fn tear_down(&mut self) -> Result<bool, RunError> {
        let statements: Vec<String> = teardown(self.plan).collect();
        if statements.is_empty() {
            return Ok(false);
        }
        let deadline = Instant::now() + TEARDOWN_LIMIT;
        match self.keeper.home()?.query_each(statements.iter().map(String::as_str), deadline) {
            Ok(answers) => Ok(answers.iter().all(Result::is_ok)),
            Err(WireError::TimedOut { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn make_tables(&mut self) -> Result<(), RunError> {
        for script in &self.plan.schema {
            let deadline = self.options.deadline;
            let made = self.keeper.run(script, "@schema", &self.parameters, &mut self.observer, deadline);
            if let Err(error) = made {
                // What was made of it may lie outside the sandbox.
                self.tear_down()?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Prepares the connections of sessions that ask for it, one after the other.
    pub(super) fn prepare_sessions(&self, links: &mut Links, homes: &[LinkId]) -> Result<(), RunError> {
        for (session, &home) in self.plan.sessions.iter().zip(homes) {
            self.prepare_session(session, links.open(home)?)?;
        }
        Ok(())
    }

    /// Runs the statements that a session's connection is prepared with.
    pub(super) fn prepare_session(&self, session: &Session, connection: &mut Connection) -> Result<(), RunError> {
        let statements: Vec<String> = session.setup.iter().map(Template::written).collect();
        let answers = connection.query_each(statements.iter().map(String::as_str), self.options.deadline)?;
        for (statement, answer) in session.setup.iter().zip(answers) {
            if let Err(error) = answer {
                let part = format!("setup of session {}", session.name);
                return Err(RunError::Scenario { part, error, span: statement.span });
            }
        }
        Ok(())
    }
}

/// The scenario's own statements for the end.
pub(super) fn teardown(plan: &Plan) -> impl Iterator<Item = String> {
    plan.teardown.iter().map(Template::written)
}
