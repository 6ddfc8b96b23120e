//! Values in, text out. Pure: no database, no clock, no terminal; where the bytes go is for the commands to say.

pub mod assertions;
pub mod catalogue;
pub mod difference;
pub mod exploration;
mod grid;
pub mod json;
mod layout;
pub mod load_table;
pub mod matrix;
mod quantity;
mod run;
pub mod specs;
mod statement;
pub mod story;
pub mod style;
pub mod summary;
mod timeline;

pub use run::Run;
pub use story::Story;
pub use style::Style;
