//! How to search, as `explore` and `matrix --explore` are told.

use std::thread;
use std::time::Duration;

use clap::Args;
use rand::RngExt;

use super::super::context::deadline;
use super::super::run::server_of;
use crate::explore::{Exploration, Options};
use crate::report::json::Document;
use crate::server::Server;

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Play no more schedules than this at one level. Where half of them do not cover everything, a quarter goes to orders
    /// with at most 0, 1, 2 and 3 preemptions, the rest to orders at random (PCT).
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_schedules: u64,
    /// Draws the random orders; the report says which one it was.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many sandboxes work side by side; the result is the same for every number. [default: the processors, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    runners: Option<u8>,
    /// Play every order, also those that come to the same.
    #[arg(long)]
    no_reduce: bool,
}

impl SearchArgs {
    /// The one of the command line, or any.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(|| rand::rng().random_range(0..1_000_000))
    }

    pub fn options(&self, seed: u64, time_limit: Option<Duration>) -> Options {
        Options {
            deadline: deadline(time_limit),
            max_schedules: self.max_schedules,
            fallback_seed: Some(seed),
            runners: self.runners.map_or_else(runners, usize::from),
            reduces: !self.no_reduce,
            by_step: false,
            details: true,
        }
    }
}

fn runners() -> usize {
    thread::available_parallelism().map_or(1, |number| number.get().min(4))
}

/// The document of what was explored; it has the seed where something was random.
pub fn document(server: &Server, explorations: Vec<Exploration>, seed: u64) -> Document {
    let is_random = explorations.iter().any(|found| found.fallback.is_some_and(|fallback| fallback.random > 0));
    let mut document = Document::new(server_of(server), is_random.then_some(seed));
    document.explore = Some(explorations);
    document
}
