//! Who wakes first: where several sessions wait, the lab stops their backends and lets them go one by one.
//!
//! PostgreSQL releases the waiters of a lock together and lets them race. On a server of our own the race is decided
//! by signals: while a backend is stopped it cannot take what it was granted.

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::error::RunError;

/// Stops and continues backends. Whatever is stopped is continued when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    /// The server's processes are local and may be signalled by this user.
    may_signal: bool,
    stopped: Vec<Pid>,
}

impl Wakes {
    /// For backends of a server of our own (`ours`); a user who may not signal them gets the server's own race.
    pub fn new(ours: bool, some_backend: i32) -> Wakes {
        let may_signal = ours && Pid::from_raw(some_backend).is_some_and(|pid| test_kill_process(pid).is_ok());
        Wakes { may_signal, stopped: Vec::new() }
    }

    /// Stops the waiting backends, where there are two or more and that is possible: says whether it did.
    pub fn stop(&mut self, backends: impl Iterator<Item = i32>) -> Result<bool, RunError> {
        let backends: Vec<Pid> = backends.filter_map(Pid::from_raw).collect();
        if !self.may_signal || backends.len() < 2 {
            return Ok(false);
        }
        for pid in backends {
            if kill_process(pid, Signal::STOP).is_ok() {
                self.stopped.push(pid);
            }
        }
        Ok(true)
    }

    /// Lets one backend go on.
    pub fn resume(&mut self, backend: i32) {
        let (resumed, stopped) = self.stopped.iter().partition(|pid| pid.as_raw_nonzero().get() == backend);
        self.stopped = stopped;
        continue_all(&resumed);
    }

    /// Whether a backend of ours sleeps at this moment; none where that cannot be seen.
    pub fn is_asleep(&self, backend: i32) -> Option<bool> {
        if !self.may_signal {
            return None;
        }
        // The state follows the program's name, which is in brackets (proc(5)).
        let stat = std::fs::read_to_string(format!("/proc/{backend}/stat")).ok()?;
        let state = stat.rsplit_once(") ")?.1.chars().next()?;
        Some(state == 'S')
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        continue_all(&self.stopped);
    }
}

fn continue_all(backends: &[Pid]) {
    for pid in backends {
        // A backend that is gone needs no signal.
        let _ = kill_process(*pid, Signal::CONT);
    }
}
