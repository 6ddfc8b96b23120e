//! What holds a form together, each taken out of it in turn: its locks, the guards of its writes, its retry, its level.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::program::{Action, Control, Op, Statement};
use crate::scenario::source::Span;
use crate::scenario::template::Template;
use crate::scenario::{CutKind, Keys, Level, Plan, Scenario, Transaction, cuts, without};

/// A part that is taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    pub kind: MutationKind,
    /// As written.
    pub taken_out: String,
    /// The file and the line.
    pub place: String,
    change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MutationKind {
    Lock,
    Guard,
    Retry,
    Level,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    /// The statement at this place becomes another one, or none.
    Statement {
        place: Span,
        text: Option<Template>,
    },
    Retry,
    /// The level that the form is meant for.
    Level(Level),
    /// The level that a session is pinned to.
    Session {
        index: usize,
        level: Level,
    },
}

impl Mutation {
    /// All that can be taken out of a form at a level. `keys` tell a lookup from a guard.
    pub fn all(scenario: &Scenario, fix: Option<&str>, level: Level, keys: &Keys) -> Vec<Mutation> {
        let plan = scenario.plan(fix).unwrap_or(&scenario.as_written);
        let variant = fix.and_then(|name| scenario.variant(name));
        let place = |span: Span| {
            let place = scenario.sources.place(span);
            format!("{}:{}", place.file, place.line)
        };
        let mutation = |kind, taken_out: String, span, change| Mutation { kind, taken_out, place: place(span), change };
        let mut mutations: Vec<Mutation> = Vec::new();
        for (op, statement) in statements(plan) {
            let text = &statement.text;
            for cut in cuts(text, keys) {
                let kind = match cut.kind {
                    CutKind::Lock => MutationKind::Lock,
                    CutKind::Guard => MutationKind::Guard,
                };
                let change = Change::Statement { place: op.span, text: Some(without(text, &cut)) };
                mutations.push(mutation(kind, cut.text.clone(), cut.span(text), change));
            }
            if only_locks(statement) {
                let change = Change::Statement { place: op.span, text: None };
                mutations.push(mutation(MutationKind::Lock, text.written(), op.span, change));
            }
        }
        let header = variant.map(|variant| variant.span).unwrap_or_default();
        if let Some(retry) = &plan.retry {
            let taken_out = format!("@retry {}", retry.attempts);
            mutations.push(mutation(MutationKind::Retry, taken_out, header, Change::Retry));
        }
        // A form that is meant for several levels holds, as it says, at the lowest of them too.
        let lowest = variant.and_then(|variant| variant.levels.iter().min());
        if let Some(lower) = lower(level).filter(|_| lowest == Some(&level)) {
            let taken_out = format!("{} for {}", lower.sql(), level.sql());
            mutations.push(mutation(MutationKind::Level, taken_out, header, Change::Level(lower)));
        }
        for (index, session) in plan.sessions.iter().enumerate() {
            let pinned = session.level.and_then(|level| Some((level, lower(level)?)));
            if let Some((level, lower)) = pinned {
                let taken_out = format!("{} for {} of {}", lower.sql(), level.sql(), session.name);
                let change = Change::Session { index, level: lower };
                mutations.push(mutation(MutationKind::Level, taken_out, session.span, change));
            }
        }
        mutations
    }

    /// The scenario without the part, and the level to explore it at.
    pub fn apply(&self, scenario: &Scenario, fix: Option<&str>, level: Level) -> (Scenario, Level) {
        let mut mutated = scenario.clone();
        let variant = mutated.variants.iter_mut().find(|variant| Some(variant.name.as_str()) == fix);
        let plan = variant.map_or(&mut mutated.as_written, |variant| &mut variant.plan);
        let mut explored_at = level;
        match &self.change {
            Change::Retry => plan.retry = None,
            Change::Level(lower) => explored_at = *lower,
            Change::Session { index, level } => plan.sessions[*index].level = Some(*level),
            Change::Statement { place, text } => {
                for call in plan.sessions.iter_mut().flat_map(|session| &mut session.calls) {
                    call.transaction = changed(&call.transaction, *place, text.as_ref());
                }
            }
        }
        (mutated, explored_at)
    }
}

/// The statements of a plan's sessions, each once however many sessions share it.
fn statements(plan: &Plan) -> Vec<(&Op, &Statement)> {
    let mut seen = BTreeSet::new();
    let ops = plan.sessions.iter().flat_map(|session| &session.calls).flat_map(|call| &call.transaction.program.ops);
    let statement =
        |op: &&Op| matches!(&op.action, Action::Statement(statement) if statement.control == Control::Other);
    ops.filter(statement)
        .filter_map(|op| match &op.action {
            Action::Statement(statement) => seen.insert(op.span).then_some((op, statement)),
            _ => None,
        })
        .collect()
}

/// `LOCK TABLE …` and `SELECT pg_advisory_xact_lock(…)`: nobody looks at their answer.
fn only_locks(statement: &Statement) -> bool {
    let sql = statement.text.written().to_lowercase();
    let takes = ["pg_advisory_xact_lock", "pg_advisory_lock"].iter().any(|name| sql.contains(name));
    statement.capture.is_none()
        && (sql.starts_with("lock ") || (sql.starts_with("select pg_advisory") && takes && !sql.contains(" from ")))
}

fn changed(transaction: &Arc<Transaction>, place: Span, text: Option<&Template>) -> Arc<Transaction> {
    if !transaction.program.ops.iter().any(|op| op.span == place) {
        return Arc::clone(transaction);
    }
    let mut changed = Transaction::clone(transaction);
    for (position, op) in changed.program.ops.iter_mut().enumerate().filter(|(_, op)| op.span == place) {
        match (&mut op.action, text) {
            (Action::Statement(statement), Some(text)) if statement.control == Control::Other => {
                statement.text = text.clone();
            }
            (Action::Statement(statement), None) if statement.control == Control::Other => {
                op.action = Action::Jump { target: position + 1 };
            }
            _ => {}
        }
    }
    Arc::new(changed)
}

fn lower(level: Level) -> Option<Level> {
    match level {
        Level::Serializable => Some(Level::RepeatableRead),
        Level::RepeatableRead => Some(Level::ReadCommitted),
        Level::ReadCommitted | Level::ReadUncommitted => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    fn taken_out(fix: &str, level: Level) -> Vec<String> {
        let scenario = load("write-skew").expect("built in");
        let keys = [("teams".to_owned(), "id".to_owned())].into();
        Mutation::all(&scenario, Some(fix), level, &keys).into_iter().map(|mutation| mutation.taken_out).collect()
    }

    #[test]
    fn every_part_that_holds_is_taken_out_once() {
        assert_eq!(taken_out("for-update", Level::ReadCommitted), ["FOR UPDATE", "@retry 10"]);
        assert_eq!(taken_out("conditional", Level::ReadCommitted), ["AND spent + :amount <= budget", "@retry 10"]);
        assert_eq!(taken_out("advisory-lock", Level::ReadCommitted), ["SELECT pg_advisory_xact_lock(1)", "@retry 10"]);
        let lower = "REPEATABLE READ for SERIALIZABLE";
        assert_eq!(taken_out("serializable", Level::Serializable), ["@retry 10", lower]);
    }
}
