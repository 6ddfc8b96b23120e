//! PostgreSQL's own isolation tests: reads a `.spec` file, plays its permutations as isolationtester does, and tells
//! what happened in the very same bytes.
//!
//! The way of the data: [`parse`] gives a [`SpecFile`]; [`play`] runs it on a server and gives a [`Playback`], the
//! events in their order; [`isolationtester::transcript`] and [`summary`] turn those into text, [`compare`] holds the
//! text against expected outputs. [`scenario::scenario`] makes a scenario of a file, for exploring.
//!
//! The format: <https://github.com/postgres/postgres/blob/master/src/test/isolation/README>.

mod attempt;
mod backend;
mod blocks;
mod check;
mod environment;
mod event;
mod interleavings;
pub mod isolationtester;
mod lexer;
mod mistake;
mod model;
mod pace;
mod parser;
mod steps;
mod stop;
mod tester;
#[cfg(test)]
mod testing;
mod transcript;
mod wait_graph;
mod witness;

pub use environment::for_database;
pub use event::{Copy, Event, Failure, Playback, Sender, Table};
pub use mistake::Mistake;
pub use model::{Block, Entry, Marker, Permutation, SpecFile, SpecSession, SpecStep};
pub use parser::parse;
pub use stop::Stop;
pub use tester::{PlayOptions, play};
pub use transcript::{Stream, Transcript};
