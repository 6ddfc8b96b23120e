//! Values in, text out. Pure: no database, no clock, no terminal; where the bytes go is for the commands to say.

pub mod json;
pub mod run;

pub use run::Run;
