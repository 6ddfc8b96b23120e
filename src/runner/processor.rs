//! One processor for a runner and the backends that serve it: they take turns, and to wake each other there takes less
//! time than across two.

use rustix::process::Pid;
#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors that this thread may use; none where the system does not say.
#[cfg(target_os = "linux")]
pub(crate) fn processors() -> Vec<usize> {
    let allowed = sched_getaffinity(None);
    allowed.map_or_else(|_| Vec::new(), |set| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn processors() -> Vec<usize> {
    Vec::new()
}

/// Keeps this thread on one processor, until it is dropped.
#[cfg(target_os = "linux")]
pub(crate) struct Stay {
    before: Option<CpuSet>,
}

#[cfg(target_os = "linux")]
impl Stay {
    pub fn on(processor: usize) -> Stay {
        let before = sched_getaffinity(None).ok();
        place(None, processor);
        Stay { before }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Stay {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = sched_setaffinity(None, before);
        }
    }
}

/// Keeps a backend there too. Where that is not allowed it goes on as before.
pub(super) fn place_backend(pid: i32, processor: usize) {
    if let Some(pid) = Pid::from_raw(pid) {
        place(Some(pid), processor);
    }
}

#[cfg(target_os = "linux")]
fn place(pid: Option<Pid>, processor: usize) {
    let mut set = CpuSet::new();
    set.set(processor);
    let _ = sched_setaffinity(pid, &set);
}
