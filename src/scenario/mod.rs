//! What the user wrote: the model, its parser, the built-in catalogue, and what to say about mistakes. Knows no database.

mod model;
pub mod source;
pub mod template;
pub mod value;

pub use model::*;
