//! One file for each subcommand: arguments, engine, report. Only in here both sides are known.

pub mod lint;
pub mod list;
pub mod show;
