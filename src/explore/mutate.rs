//! Explores a form again without the parts that hold it together: something must go wrong then.

use serde::Serialize;

use super::mutation::{Mutation, MutationKind};
use super::verdict::Verdict;
use super::{Exploration, Options, explore};
use crate::runner::{RETRIED, RunError, RunOptions, Stage};
use crate::scenario::{Keys, Scenario};
use crate::server::Server;

/// What became of a form without one of its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mutated {
    pub kind: MutationKind,
    pub taken_out: String,
    pub place: String,
    /// With the part.
    pub before: Verdict,
    /// Without it.
    pub after: Verdict,
    /// In how many of the schedules it goes wrong, and how many were played.
    pub failing: u64,
    pub schedules: u64,
    /// Something goes wrong that did not before.
    pub red: bool,
    /// The part has nothing to do here: a retry at a level at which no schedule has an error.
    pub idle: bool,
}

/// The columns of the keys of all tables.
const KEYS: &str = "
SELECT c.relname, a.attname
  FROM pg_index i
  JOIN pg_class c ON c.oid = i.indrelid
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
 WHERE i.indisunique AND c.relnamespace = quote_ident(current_schema())::regnamespace";

/// Takes each part out of an explored form; nothing where that does not hold by itself.
pub fn mutate(
    server: &Server,
    scenario: &Scenario,
    explored: &Exploration,
    options: &Options,
    done: &mut dyn FnMut(),
) -> Result<Vec<Mutated>, RunError> {
    if explored.verdict != Verdict::Safe {
        return Ok(Vec::new());
    }
    let fix = explored.fix.as_deref();
    let options = Options { details: false, ..options.clone() };
    let keys = keys(server, scenario, fix, &options)?;
    let retried = retried(scenario, fix);
    let mut all = Vec::new();
    for mutation in Mutation::all(scenario, fix, explored.isolation, &keys) {
        let (without, level) = mutation.apply(scenario, fix, explored.isolation);
        let mut found = explore(server, &without, fix, &[level], &options, done)?;
        all.extend(found.pop().map(|found| Mutated::of(&mutation, explored, &found, &retried)));
    }
    Ok(all)
}

/// The SQLSTATEs after which clients of a form try again.
pub fn retried<'s>(scenario: &'s Scenario, fix: Option<&str>) -> Vec<&'s str> {
    let also = scenario.plan(fix).and_then(|plan| plan.retry.as_ref()).map(|retry| retry.also.as_slice());
    RETRIED.into_iter().chain(also.into_iter().flatten().map(String::as_str)).collect()
}

impl Mutated {
    fn of(mutation: &Mutation, before: &Exploration, found: &Exploration, retried: &[&str]) -> Mutated {
        let is_retry = mutation.kind == MutationKind::Retry;
        // The lab retries in any case, to see what a retry would give; without one the client is left with the error.
        let errors = |of: &Exploration| -> u64 {
            let of_retry = of.errors.iter().filter(|(sqlstate, _)| retried.contains(&sqlstate.as_str()));
            of_retry.map(|(_, schedules)| schedules).sum()
        };
        let unrepaired = if is_retry { errors(found) } else { 0 };
        let after = if unrepaired > 0 { found.verdict.max(Verdict::Errors) } else { found.verdict };
        let failing: u64 = found.failures.iter().map(|failure| failure.schedules).sum();
        Mutated {
            kind: mutation.kind,
            taken_out: mutation.taken_out.clone(),
            place: mutation.place.clone(),
            before: before.verdict,
            after,
            failing: failing.max(unrepaired).min(found.schedules),
            schedules: found.schedules,
            red: !matches!(after, Verdict::Safe | Verdict::Inconclusive),
            idle: is_retry && errors(before) == 0,
        }
    }
}

fn keys(server: &Server, scenario: &Scenario, fix: Option<&str>, options: &Options) -> Result<Keys, RunError> {
    let run_options = RunOptions {
        deadline: options.deadline,
        name_locks: false,
        explores: true,
        saves_round_trips: true,
        observes_late: true,
        next: None,
    };
    let mut stage = Stage::prepare(server, scenario, fix, run_options)?;
    let rows = stage.query(KEYS)?.rows;
    stage.close()?;
    let key = |row: Vec<Option<String>>| match <[Option<String>; 2]>::try_from(row) {
        Ok([Some(table), Some(column)]) => Some((table, column)),
        _ => None,
    };
    Ok(rows.into_iter().filter_map(key).collect())
}
