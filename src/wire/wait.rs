//! Waiting for sockets: in slices, with a limit, and with an eye on Ctrl-C.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec, poll};
use rustix::io::Errno;

use super::WireError;
use super::spin::Waiting;
use crate::interrupt;

/// The longest that a signal which another thread received goes unnoticed.
const SLICE: Duration = Duration::from_millis(50);

/// Waits until one of the descriptors is ready, at most `limit`; true if one is.
pub(super) fn until_ready(descriptors: &mut [PollFd<'_>], limit: Duration) -> Result<bool, WireError> {
    let start = Instant::now();
    let waiting = Waiting::begin();
    if waiting.look(limit, || is_ready(descriptors))? {
        return Ok(true);
    }
    loop {
        interrupt::check()?;
        let left = limit.saturating_sub(start.elapsed());
        match poll(descriptors, Some(&timespec(left.min(SLICE)))) {
            Ok(0) if left <= SLICE => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(WireError::Wait(error.into())),
        }
    }
}

fn is_ready(descriptors: &mut [PollFd<'_>]) -> Result<bool, WireError> {
    match poll(descriptors, Some(&timespec(Duration::ZERO))) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(WireError::Wait(error.into())),
    }
}

/// The moment at which `limit` will have passed.
pub(super) fn deadline(limit: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + limit.min(FAR)
}

fn timespec(slice: Duration) -> Timespec {
    Timespec { tv_sec: slice.as_secs() as _, tv_nsec: slice.subsec_nanos() as _ }
}
