//! What the client's side of a transaction does: statements, conditions, captured values. No database in here.

pub mod interpreter;
pub mod op;

pub use op::{Action, Capture, Control, Op, Program, Statement};
