//! What the user wrote: the model, its parser, the built-in catalogue, and what to say about mistakes. Knows no database.

mod diagnostic;
mod files;
mod model;
mod nearest;
mod parser;
pub mod source;
pub mod template;
pub mod value;

pub use diagnostic::{Diagnostic, Severity};
pub use files::{Disk, FileReader, ReadError};
pub use model::*;
pub use nearest::nearest;
pub use parser::{Mistakes, Parsed, parse};
