//! `--step`: a teacher decides when the next statement goes out.

use std::io::{self, IsTerminal, Write};

use crate::commands::input;

/// Waits for Enter. At the end of the input, or after a signal, it waits no more.
pub fn until_enter(prompt: &str) {
    let _ = write!(io::stderr(), "{prompt}");
    input::line();
    if !io::stdin().is_terminal() {
        // Nobody typed a line break that a reader could see.
        let _ = writeln!(io::stderr());
    }
}
