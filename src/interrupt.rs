//! SIGINT and SIGTERM: every wait of the lab looks here, and everything that was made is undone on the way out.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

static PENDING: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

thread_local! {
    static SHIELDS: Cell<usize> = const { Cell::new(0) };
}

/// The lab was asked to stop by a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped by {}", if self.signal == SIGINT { "Ctrl-C" } else { "SIGTERM" })]
pub struct Interrupted {
    pub signal: i32,
}

impl Interrupted {
    /// 130 or 143, as shells count.
    pub fn exit_code(self) -> u8 {
        (128 + self.signal) as u8
    }
}

/// Installs the handlers; to be called before anything is created. A second signal leaves at once.
pub fn install() -> io::Result<()> {
    let pending = PENDING.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM] {
        let seen = Arc::new(AtomicBool::new(false));
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&seen))?;
        flag::register(signal, seen)?;
        flag::register_usize(signal, Arc::clone(pending), signal as usize)?;
    }
    Ok(())
}

/// Fails once a signal has come, unless the thread is [`shielded`].
pub fn check() -> Result<(), Interrupted> {
    if SHIELDS.get() > 0 {
        return Ok(());
    }
    match PENDING.get().map(|pending| pending.load(Ordering::Relaxed)) {
        None | Some(0) => Ok(()),
        Some(signal) => Err(Interrupted { signal: signal as i32 }),
    }
}

/// Runs what undoes things on the way out: inside, on this thread, waits go on whatever signal has come.
pub fn shielded<T>(undo: impl FnOnce() -> T) -> T {
    struct Shield;
    impl Drop for Shield {
        fn drop(&mut self) {
            SHIELDS.set(SHIELDS.get() - 1);
        }
    }
    SHIELDS.set(SHIELDS.get() + 1);
    let _shield = Shield;
    undo()
}
