//! The steps of one permutation, scheduled as isolationtester does.

use std::thread;
use std::time::{Duration, Instant};

use super::attempt::{Attempt, Patience, Turn};
use super::model::{Marker, Permutation};
use super::pace::{self, SILENCE};
use super::stop::Stop;
use super::tester::Tester;

/// The pause between two looks at steps that hold each other back.
const PAUSE: Duration = Duration::from_millis(1);

/// Where a permutation stands. Entries are indices into its list.
pub(super) struct Progress<'p> {
    pub permutation: &'p Permutation,
    /// For each session the entry that was launched and not yet reported complete.
    pub active: Vec<Option<usize>>,
    /// Entries that were launched and not yet reported complete, in the order of their launches.
    pub waiting: Vec<usize>,
    /// For each entry and marker how many notices its step's session must have had.
    pub notices_due: Vec<Vec<u32>>,
}

impl Tester<'_> {
    pub(super) fn run_steps(&mut self, permutation: &Permutation) -> Result<(), Stop> {
        let mut progress = Progress {
            permutation,
            active: vec![None; self.sessions.len()],
            waiting: Vec::new(),
            notices_due: vec![Vec::new(); permutation.entries.len()],
        };
        for entry in 0..permutation.entries.len() {
            self.free_session(&mut progress, entry)?;
            self.launch(&mut progress, entry)?;
            let attempt = self.attempt(&mut progress, entry, Patience::UntilBlocked, Turn::First)?;
            self.sweep(&mut progress, Patience::UntilBlocked)?;
            if attempt == Attempt::Waiting {
                progress.waiting.push(entry);
            }
        }
        self.sweep(&mut progress, Patience::UntilComplete)?;
        if progress.waiting.is_empty() { Ok(()) } else { Err(Stop::Mutual) }
    }

    /// Waits until the session of an entry has no active step.
    fn free_session(&mut self, progress: &mut Progress, entry: usize) -> Result<(), Stop> {
        let session = self.session_of(progress, entry);
        let begun = Instant::now();
        while let Some(earlier) = progress.active[session] {
            if self.attempt(progress, earlier, Patience::UntilComplete, Turn::Again)? == Attempt::Completed {
                progress.waiting.retain(|&waiting| waiting != earlier);
            }
            self.sweep(progress, Patience::UntilBlocked)?;
            if progress.active[session].is_some() {
                self.limit_busy_session(progress, earlier, begun)?;
                thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    fn limit_busy_session(&self, progress: &Progress, earlier: usize, begun: Instant) -> Result<(), Stop> {
        let step = &self.spec.step(&progress.permutation.entries[earlier]).name;
        self.check_deadline(&format!("step {step}"))?;
        if begun.elapsed() <= self.options.step_limit.saturating_mul(2) {
            return Ok(());
        }
        let name = |entry: usize| self.spec.step(&progress.permutation.entries[entry]).name.clone();
        Err(Stop::Busy {
            step: name(earlier),
            seconds: begun.elapsed().as_secs(),
            active: progress.active.iter().flatten().map(|&entry| name(entry)).collect(),
        })
    }

    fn launch(&mut self, progress: &mut Progress, entry: usize) -> Result<(), Stop> {
        let spec = self.spec;
        let step = spec.step(&progress.permutation.entries[entry]);
        self.keep_deadlock_checks_apart(progress, step.session, &step.block.sql);
        let sent = self.sessions[step.session].send(&step.block.sql).map_err(self.lost(Some(step.session)))?;
        if !sent {
            return Err(Stop::NotConnected { step: step.name.clone() });
        }
        progress.active[step.session] = Some(entry);
        let due = |marker: &Marker| match *marker {
            Marker::Notices { step, count } => self.sessions[spec.steps[step].session].notices().saturating_add(count),
            Marker::Once | Marker::Step(_) => 0,
        };
        progress.notices_due[entry] = progress.permutation.entries[entry].markers.iter().map(due).collect();
        Ok(())
    }

    /// A backend looks for a deadlock once, `deadlock_timeout` after it began to wait; the first that looks after the
    /// cycle has closed is its victim. So a step that may close one keeps isolationtester's distance from earlier waits.
    fn keep_deadlock_checks_apart(&self, progress: &Progress, session: usize, sql: &str) {
        if progress.waiting.is_empty() || pace::ends_transaction(sql) {
            return;
        }
        let pid = self.sessions[session].pid();
        let waiters = progress.waiting.iter().map(|&entry| self.sessions[self.session_of(progress, entry)].pid());
        let since = waiters
            .filter(|&waiter| self.graph.leads_to(waiter, pid))
            .filter_map(|waiter| self.waits_since.get(&waiter));
        if let Some(&latest) = since.max() {
            thread::sleep((latest + SILENCE).saturating_duration_since(Instant::now()));
        }
    }

    /// Looks at the waiting steps in the order of their launches and reports those that are complete; again while that,
    /// or a notice, may have fulfilled another one's marker.
    fn sweep(&mut self, progress: &mut Progress, patience: Patience) -> Result<(), Stop> {
        loop {
            let notices = self.notices();
            let before = progress.waiting.len();
            let mut index = 0;
            while let Some(&entry) = progress.waiting.get(index) {
                match self.attempt(progress, entry, patience, Turn::Again)? {
                    Attempt::Completed => drop(progress.waiting.remove(index)),
                    Attempt::Waiting => index += 1,
                }
            }
            let is_marked = |&entry: &usize| !progress.permutation.entries[entry].markers.is_empty();
            let news = progress.waiting.len() < before || self.notices() > notices;
            if !(news && progress.waiting.iter().any(is_marked)) {
                return Ok(());
            }
        }
    }

    fn notices(&self) -> u32 {
        self.sessions.iter().map(|session| session.notices()).sum()
    }

    pub(super) fn session_of(&self, progress: &Progress, entry: usize) -> usize {
        self.spec.step(&progress.permutation.entries[entry]).session
    }
}
