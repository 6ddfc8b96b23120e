//! `--step`: a teacher decides when the next statement goes out.

use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::interrupt;

/// How often a waiting pause looks for a signal.
const SLICE: Duration = Duration::from_millis(100);

/// Waits for Enter. At the end of the input, or after a signal, it waits no more.
pub fn until_enter(prompt: &str) {
    let _ = write!(io::stderr(), "{prompt}");
    let stdin = io::stdin();
    while interrupt::check().is_ok() {
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        let slice = Timespec::try_from(SLICE).ok();
        match poll(&mut fds, slice.as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {
                let mut line = String::new();
                let _ = stdin.lock().read_line(&mut line);
                break;
            }
            Err(_) => break,
        }
    }
    if !stdin.is_terminal() {
        // Nobody typed a line break that a reader could see.
        let _ = writeln!(io::stderr());
    }
}
