//! The engine of isolab, a lab for concurrency bugs in PostgreSQL.
//!
//! A scenario is parsed into a [`scenario::Scenario`], a strategy of [`schedule`] picks the order of its steps, a
//! runner plays it on a real server and records a [`history::History`]; verdicts and reports are made from that alone.

pub mod cli;
pub mod commands;
pub mod explore;
pub mod history;
pub mod interrupt;
pub mod load;
pub mod program;
pub mod progress;
pub mod report;
pub mod runner;
pub mod scenario;
pub mod schedule;
pub mod server;
pub mod spec;
pub mod verdict;
pub mod wire;
