//! Calls that can neither be interrupted nor limited, made on a thread that is left behind when they take too long.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::ServerError;
use crate::interrupt;

/// Runs `call` and waits for it, unless a signal comes or `limit` passes. `waited_for` names it in the error.
pub fn run<T: Send + 'static>(
    limit: Duration,
    waited_for: String,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ServerError> {
    let (sender, receiver) = mpsc::channel();
    // Nobody listens any more when it was too late.
    thread::spawn(move || drop(sender.send(call())));
    let start = Instant::now();
    loop {
        match receiver.recv_timeout(Duration::from_millis(20)) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) if start.elapsed() <= limit => interrupt::check()?,
            Err(_) => return Err(ServerError::TooSlow { what: waited_for, limit }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_handed_on_and_a_late_one_is_not_waited_for() {
        let limit = Duration::from_millis(30);
        assert_eq!(run(Duration::from_secs(5), String::new(), || 7).unwrap(), 7);
        let late = run(limit, "the end".to_owned(), || thread::sleep(Duration::from_secs(5)));
        assert_eq!(late.unwrap_err().to_string(), "the end took longer than 30ms");
    }
}
