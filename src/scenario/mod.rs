//! What the user wrote: the model, its parser, the built-in catalogue, and what to say about mistakes. Knows no database.

mod builtin;
mod cut;
mod diagnostic;
mod files;
mod load;
mod model;
mod nearest;
mod param;
mod parser;
mod print;
mod render;
pub mod source;
pub mod template;
pub mod value;

pub use builtin::{Builtin, Embedded, builtin};
pub use cut::{Cut, CutKind, Keys, cuts, without};
pub use diagnostic::{Diagnostic, Severity};
pub use files::{Disk, FileReader, ReadError};
pub use load::{LoadError, Opened, load, open};
pub use model::*;
pub use nearest::nearest;
pub use param::SetError;
pub use parser::{Mistakes, Parsed, parse};
pub(crate) use parser::{Piece, split};
pub use print::{print, print_form};
pub use render::render;
