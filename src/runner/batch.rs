//! Several scripts in one round trip, where their statements need nothing but to be sent.

use std::time::Instant;

use super::error::RunError;
use super::observer::Observer;
use super::planned::Planned;
use super::script::Keeper;
use crate::program::{Action, Variables};
use crate::scenario::Script;
use crate::scenario::template::{Template, Variables as _};
use crate::wire::{Answered, ResultSet};

/// What a batch is made of.
#[derive(Clone)]
pub(crate) enum Part<'a> {
    /// The lab's own statements; empty: none.
    Sql(&'a str),
    /// One that the lab sends with every run, so that it is worth a plan.
    Again(&'a str),
    /// A script of the scenario; `name` is its section in words, for errors.
    Script { script: &'a Script, name: String },
}

impl Keeper {
    /// Runs the parts in their order and gives the last result of each.
    pub fn run_all(
        &mut self,
        parts: &[Part],
        parameters: &Variables,
        observer: &mut Observer,
        deadline: Instant,
    ) -> Result<Vec<ResultSet>, RunError> {
        let planned = &mut self.planned;
        let plain: Option<Vec<Vec<String>>> = parts.iter().map(|part| part.statements(parameters, planned)).collect();
        let Some(plain) = plain else {
            let one_by_one = |part| self.run_one(part, parameters, observer, deadline);
            return parts.iter().map(one_by_one).collect();
        };
        let answers = self.home()?.query_each(plain.iter().flatten().map(String::as_str), deadline)?;
        let mut answers = answers.into_iter();
        let mut last_of = |(part, statements): (&Part, &Vec<String>)| {
            let mut last = ResultSet::default();
            for (index, answer) in answers.by_ref().take(statements.len()).enumerate() {
                if answer.is_ok() {
                    self.planned.went_through(&statements[index]);
                }
                last = part.accepted(index, answer, parameters)?;
            }
            Ok(last)
        };
        parts.iter().zip(&plain).map(&mut last_of).collect()
    }

    fn run_one(
        &mut self,
        part: &Part,
        parameters: &Variables,
        observer: &mut Observer,
        deadline: Instant,
    ) -> Result<ResultSet, RunError> {
        match part {
            Part::Sql(sql) | Part::Again(sql) => Ok(self.home()?.query(sql, deadline)?.pop().unwrap_or_default()),
            Part::Script { script, name } => self.run(script, name, parameters, observer, deadline),
        }
    }
}

impl Part<'_> {
    /// Its statements, if they can be sent one after the other, whatever their answers are.
    fn statements(&self, parameters: &Variables, planned: &mut Planned) -> Option<Vec<String>> {
        match self {
            Part::Sql("") | Part::Again("") => Some(Vec::new()),
            Part::Sql(sql) => Some(vec![(*sql).to_owned()]),
            Part::Again(sql) => Some(planned.sent_as(sql)),
            Part::Script { script, .. } => {
                script.program.ops.iter().map(|op| Some(plain(&op.action, parameters)?.sql(parameters))).collect()
            }
        }
    }

    /// The result of its statement of that index; an error of the server with its place in the file.
    fn accepted(&self, index: usize, answer: Answered, parameters: &Variables) -> Result<ResultSet, RunError> {
        match (self, answer) {
            (_, Ok(mut results)) => Ok(results.pop().unwrap_or_default()),
            (Part::Sql(_) | Part::Again(_), Err(error)) => Err(crate::wire::WireError::Server(error).into()),
            (Part::Script { script, name }, Err(error)) => {
                let template = script.program.ops.get(index).and_then(|op| plain(&op.action, parameters));
                let place = |template: &Template| match error.position {
                    Some(position) => template.place_of(parameters, position.saturating_sub(1)),
                    None => template.span,
                };
                let span = template.map_or(script.span, place);
                Err(RunError::Scenario { part: name.clone(), error, span })
            }
        }
    }
}

/// A statement whose answer nobody looks at, over nothing but parameters.
fn plain<'a>(action: &'a Action, parameters: &Variables) -> Option<&'a Template> {
    let Action::Statement(statement) = action else { return None };
    let known = statement.text.variables().all(|(name, _)| parameters.get(name).is_some());
    (statement.capture.is_none() && known).then_some(&statement.text)
}
