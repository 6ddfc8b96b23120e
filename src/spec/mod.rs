//! PostgreSQL's own isolation tests: reads a `.spec` file, plays its permutations as isolationtester does, and tells
//! what happened in the very same bytes.
//!
//! The way of the data: [`parse`] gives a [`SpecFile`]; [`play_all`] plays files on a server and gives for each a
//! [`Playback`], the events in their order; [`isolationtester::transcript`] and [`Summary::of`] turn those into text, and
//! [`compare`] holds the text against expected outputs.
//!
//! The format: <https://github.com/postgres/postgres/blob/master/src/test/isolation/README>.

mod attempt;
mod backend;
mod blocks;
mod check;
mod compare;
mod environment;
mod event;
mod interleavings;
pub mod isolationtester;
mod lexer;
mod mistake;
mod model;
mod pace;
mod parser;
mod program;
mod queue;
mod scenario;
mod shared;
mod side_by_side;
mod step_sets;
mod steps;
mod stop;
mod summary;
mod tester;
#[cfg(test)]
mod testing;
mod transcript;
mod wait_graph;

pub use compare::{Comparison, compare};
pub use event::{Copy, Event, Failure, Playback, Sender, Table};
pub use mistake::Refused;
pub use model::{Block, Entry, Marker, Permutation, SpecFile, SpecSession, SpecStep};
pub use parser::parse;
pub use side_by_side::{PlayError, Played, play_all};
pub use stop::Stop;
pub use summary::{Ending, Launch, Stopped, Summary};
pub use tester::PlayOptions;
pub use transcript::{Stream, Transcript};
