//! What the checks may ask about a load test: `isolab_told`, where a check mentions it. `isolab_read` stays empty, and
//! checks that need it or the sessions of the staged run are left out.

use super::tally::RequestEnd;
use super::worker::Next;
use crate::history::{Fate, Told};
use crate::program::Interpreter;
use crate::runner::{ASKS_READ, ASKS_TOLD, ToldRow};
use crate::scenario::{Check, Plan};

/// The checks that can be asked about a load test, and those that cannot.
pub fn checks(plan: &Plan) -> (Vec<&Check>, Vec<&Check>) {
    plan.checks.iter().partition(|check| !check.script.program.mentions(&ASKS_READ))
}

/// Whether a check or measure asks what the clients were told.
pub fn is_needed(plan: &Plan) -> bool {
    let checks = plan.checks.iter().map(|check| &check.script);
    checks.chain(plan.measures.iter().map(|measure| &measure.script)).any(|script| script.program.mentions(&ASKS_TOLD))
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
