//! Runs one schedule on a real server and records what happened.

mod actor;
mod assess;
mod conductor;
mod error;
mod flight;
mod observer;
pub(crate) mod record;
mod requirements;
mod reset;
mod retry;
mod script;
mod settle;
mod stage;
mod wakes;

pub use error::RunError;
pub use retry::RETRIED;
pub use stage::{RunOptions, Stage};
