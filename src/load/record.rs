//! What the checks may ask about a load test: `isolab_told`, where a check mentions it. `isolab_read` stays empty, and
//! checks that need it or the sessions of the staged run are left out.

use super::tally::RequestEnd;
use super::worker::Next;
use crate::history::{Fate, Told};
use crate::program::{Action, Interpreter, Program};
use crate::runner::ToldRow;
use crate::scenario::{Check, Plan};

/// A name that a check may use, with a bracket behind it where it is a function's.
const TOLD: [&str; 2] = ["isolab_told", "raised("];
const READ: [&str; 3] = ["isolab_read", "seen(", "committed("];

/// The checks that can be asked about a load test, and those that cannot.
pub fn checks(plan: &Plan) -> (Vec<&Check>, Vec<&Check>) {
    plan.checks.iter().partition(|check| !mentions(&check.script.program, &READ))
}

/// Whether a check or measure asks what the clients were told.
pub fn is_needed(plan: &Plan) -> bool {
    let checks = plan.checks.iter().map(|check| &check.script);
    checks.chain(plan.measures.iter().map(|measure| &measure.script)).any(|script| mentions(&script.program, &TOLD))
}

/// The row of one attempt.
pub fn told_row(worker: u32, interpreter: &Interpreter, next: &Next, attempt: u32) -> ToldRow {
    let (told, error) = match next {
        Next::Retry(error) => (Told::Retried, Some(error)),
        Next::End(RequestEnd::Ok) => (Told::Ok, None),
        Next::End(RequestEnd::Rejected(_)) => (Told::Rejected, None),
        Next::End(RequestEnd::GaveUp(error)) => (Told::GaveUp, Some(error)),
        Next::End(RequestEnd::Failed(error) | RequestEnd::Unknown(error)) => (Told::Failed, Some(error)),
    };
    let (fate, message) = match next {
        Next::End(RequestEnd::Unknown(error)) => (Some(Fate::Unknown), Some(error.message.clone())),
        Next::End(RequestEnd::Rejected(text)) => (interpreter.fate(), Some(text.clone())),
        _ => (interpreter.fate(), error.map(|error| error.message.clone())),
    };
    ToldRow {
        session: format!("worker {worker}"),
        transaction: interpreter.transaction().name.clone(),
        attempt,
        told: Some(told),
        fate,
        sqlstate: error.map(|error| error.sqlstate.clone()),
        step: error.map(|_| interpreter.step_name().to_owned()),
        message,
    }
}

/// Whether a program's SQL uses one of these names.
fn mentions(program: &Program, names: &[&str]) -> bool {
    program.ops.iter().any(|op| match &op.action {
        Action::Statement(statement) => {
            let sql = statement.text.written().to_ascii_lowercase();
            names.iter().any(|name| uses(&sql, name))
        }
        _ => false,
    })
}

fn uses(sql: &str, name: &str) -> bool {
    let is_part_of_a_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = name.trim_end_matches('(');
    sql.match_indices(word).any(|(start, _)| {
        let rest = &sql[start + word.len()..];
        let is_word = !sql[..start].ends_with(is_part_of_a_word) && !rest.starts_with(is_part_of_a_word);
        is_word && (word.len() == name.len() || rest.trim_start().starts_with('('))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_other_words() {
        assert!(uses("select count(*) from isolab_told", "isolab_told"));
        assert!(uses("select not raised ('40001')", "raised("));
        assert!(!uses("select raised from flags", "raised("));
        assert!(!uses("select count(*) filter (where fate = 'committed')", "committed("));
        assert!(!uses("select not unseen('x')", "seen("));
    }
}
