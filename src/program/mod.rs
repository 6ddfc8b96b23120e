//! What the client's side of a transaction does: statements, conditions, captured values. No database in here.

pub mod arithmetic;
mod interpreter;
mod mention;
mod op;
mod variables;

pub use interpreter::{Answer, End, Interpreter, Request};
pub use op::{Action, Arm, Capture, Control, Op, Program, Statement};
pub use variables::Variables;
