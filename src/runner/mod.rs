//! Runs one schedule on a real server and records what happened.

mod actor;
mod assess;
mod batch;
mod client;
mod conductor;
mod deadlock;
mod error;
mod flight;
mod kept;
mod links;
mod observer;
mod planned;
mod processor;
mod record;
mod relations;
mod requirements;
mod reset;
mod retry;
mod scene;
mod script;
mod sending;
mod settle;
mod side_by_side;
mod stage;
mod traces;
mod wakes;

pub use error::RunError;
pub(crate) use error::statement_error;
pub(crate) use observer::Observer;
pub(crate) use processor::{Stay, processors};
pub(crate) use record::{ASKS_READ, ASKS_TOLD, ToldRow};
pub(crate) use relations::{Attribute, Relation};
pub use requirements::runs_alone;
pub use retry::RETRIED;
pub use side_by_side::{room, side_by_side};
pub use stage::{RunOptions, Stage};
