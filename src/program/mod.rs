//! What the client's side of a transaction does: statements, conditions, captured values. No database in here.

pub mod arithmetic;
mod interpreter;
mod mention;
mod op;
mod request;
mod variables;

pub use interpreter::{Foreseen, Interpreter};
pub use op::{Action, Arm, Capture, Control, Op, Program, Statement};
pub use request::{Answer, End, Request};
pub use variables::Variables;
