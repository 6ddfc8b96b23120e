//! How the search for PostgreSQL goes by what the user said, and what it says and asks on standard error.

use std::io::{self, Write};

use super::input;
use crate::cli::Global;
use crate::server::{Fetch, FindOptions};

/// What the command line says about the server.
pub fn options(global: &Global) -> FindOptions {
    FindOptions { db: global.db.clone(), pg_bin: global.pg_bin.clone(), fetch: Fetch::decide(global.fetch, ask), tell }
}

/// Tells what takes a while. Nobody can be told that standard error is closed.
fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Asks a question that Enter answers with yes; the end of the input and a signal mean no.
fn ask(question: &str) -> bool {
    let _ = write!(io::stderr(), "{question} [Y/n] ");
    let answer = input::line();
    if answer.is_none() {
        let _ = writeln!(io::stderr());
    }
    answer.is_some_and(|answer| matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}
