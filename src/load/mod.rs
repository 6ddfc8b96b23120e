//! Many workers against one database: what they did and how long it took.
//!
//! [`LoadTest`] runs each strategy of a scenario in a sandbox of its own and gives a [`statistics::LoadRow`] for it.
//! Every worker is a thread with a connection; all take their requests from one queue.

pub mod assertion;
mod attempt;
mod backoff;
mod columns;
mod crew;
mod error;
mod evaluator;
mod load_test;
mod queue;
mod record;
mod round_trip;
mod session;
pub mod statistics;
mod strategy;
mod tally;
mod worker;
mod workload;

pub use error::LoadError;
pub use load_test::{LoadOptions, LoadTest};
pub use strategy::Strategy;
