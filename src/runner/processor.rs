//! One processor for a runner and the backends that serve it: they take turns, and to wake each other there takes less
//! time than across two. Where that cannot be had, everybody runs wherever the system likes.

use rustix::process::Pid;

use system::Processors;

/// The processors that this thread may use; empty where the system does not say.
pub(crate) fn processors() -> Vec<usize> {
    system::of_this_thread().map_or_else(Vec::new, |processors| system::numbers(&processors))
}

/// Keeps this thread on one processor, until it is dropped.
pub(crate) struct Stay {
    before: Option<Processors>,
}

impl Stay {
    pub(super) fn on(processor: usize) -> Stay {
        let before = system::of_this_thread();
        system::keep(None, &system::only(processor));
        Stay { before }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            system::keep(None, before);
        }
    }
}

/// Keeps a backend on a processor, if that may be; false where not.
pub(super) fn place_backend(pid: i32, processor: usize) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| system::keep(Some(pid), &system::only(processor)))
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::process::Pid;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    pub type Processors = CpuSet;

    pub fn of_this_thread() -> Option<Processors> {
        sched_getaffinity(None).ok()
    }

    pub fn numbers(processors: &Processors) -> Vec<usize> {
        (0..CpuSet::MAX_CPU).filter(|&number| processors.is_set(number)).collect()
    }

    pub fn only(number: usize) -> Processors {
        let mut processors = CpuSet::new();
        processors.set(number);
        processors
    }

    /// Keeps a process, or this thread, there, if that may be.
    pub fn keep(process: Option<Pid>, processors: &Processors) -> bool {
        sched_setaffinity(process, processors).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use rustix::process::Pid;

    pub struct Processors;

    pub fn of_this_thread() -> Option<Processors> {
        None
    }

    pub fn numbers(_: &Processors) -> Vec<usize> {
        Vec::new()
    }

    pub fn only(_: usize) -> Processors {
        Processors
    }

    pub fn keep(_: Option<Pid>, _: &Processors) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_until_it_may_go() {
        let before = processors();
        let last = *before.last().expect("one at least");
        let stay = Stay::on(last);
        assert_eq!(processors(), [last]);
        drop(stay);
        assert_eq!(processors(), before);
    }
}
