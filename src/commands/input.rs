//! Reading what a person types, without missing a signal.

use std::io;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::interrupt;

/// How often a wait for input looks for a signal: every tenth of a second.
const SLICE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The next line of standard input; none at its end or after a signal.
pub fn line() -> Option<String> {
    let stdin = io::stdin();
    while interrupt::check().is_ok() {
        // A read would go on after a signal, so it is begun only when there is something to read.
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&SLICE)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => {
                let mut line = String::new();
                return stdin.read_line(&mut line).ok().filter(|&length| length > 0).map(|_| line);
            }
            Err(_) => return None,
        }
    }
    None
}
