//! One look at a launched step: is it complete, or does it wait?

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::backend::Outcome;
use super::event::Event;
use super::model::Marker;
use super::pace::{Clock, SILENCE};
use super::steps::Progress;
use super::stop::Stop;
use super::tester::Tester;
use super::wait_graph::WaitGraph;
use crate::wire::WireError;

/// Between two looks at the limits, where nothing is to be asked.
const LONG_PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    Completed,
    Waiting,
}

/// How long a look lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    UntilBlocked,
    UntilComplete,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Right after the launch: that the step waits is news.
    First,
    Again,
}

impl Tester<'_> {
    pub(super) fn attempt(
        &mut self,
        progress: &mut Progress,
        entry: usize,
        patience: Patience,
        turn: Turn,
    ) -> Result<Attempt, Stop> {
        let markers = &progress.permutation.entries[entry].markers;
        if turn == Turn::First && markers.contains(&Marker::Once) {
            return Ok(self.still_waiting(progress, entry, turn));
        }
        let session = self.session_of(progress, entry);
        let mut clock = Clock::start(turn == Turn::First);
        let mut canceled = false;
        while self.is_busy(session) {
            let pause = if patience == Patience::UntilBlocked { clock.pause() } else { LONG_PAUSE };
            let heard = self.sessions[session].wait(pause).map_err(self.lost(Some(session)))?;
            if heard {
                clock.hear();
                continue;
            }
            if patience == Patience::UntilBlocked && self.is_blocked(session, clock.silence())? {
                // The answer may have come while the question was asked.
                self.sessions[session].fetch().map_err(self.lost(Some(session)))?;
                if !self.is_busy(session) {
                    break;
                }
                return Ok(self.still_waiting(progress, entry, turn));
            }
            self.limit_step(progress, entry, clock.elapsed(), &mut canceled)?;
            clock.miss();
        }
        if self.is_held_back(progress, entry) {
            return Ok(self.still_waiting(progress, entry, turn));
        }
        self.report(progress, entry, turn)?;
        Ok(Attempt::Completed)
    }

    fn still_waiting(&mut self, progress: &Progress, entry: usize, turn: Turn) -> Attempt {
        if turn == Turn::First {
            self.events.push(Event::Waiting { step: progress.permutation.entries[entry].step });
        }
        Attempt::Waiting
    }

    /// A marker of the entry is not fulfilled.
    fn is_held_back(&self, progress: &Progress, entry: usize) -> bool {
        let is_active = |step: usize| {
            let active = progress.active[self.spec.steps[step].session];
            active.is_some_and(|active| progress.permutation.entries[active].step == step)
        };
        let markers = progress.permutation.entries[entry].markers.iter();
        markers.zip(&progress.notices_due[entry]).any(|(marker, &due)| match *marker {
            Marker::Once => false,
            Marker::Step(step) => is_active(step),
            Marker::Notices { step, .. } => self.sessions[self.spec.steps[step].session].notices() < due,
        })
    }

    /// Whether the server says that a session waits for another one; after less than isolationtester's silence only where
    /// nothing but a step can end that wait.
    fn is_blocked(&mut self, session: usize, silence: Duration) -> Result<bool, Stop> {
        let pid = self.sessions[session].pid();
        if !self.timed && self.is_stuck(pid)? {
            return Ok(true);
        }
        if silence < SILENCE {
            return Ok(false);
        }
        let pids: Vec<i32> = self.sessions.iter().map(|backend| backend.pid()).collect();
        self.observer.is_blocked(pid, &pids).map_err(no_answer)
    }

    /// Whether nothing but the client can end the wait of a backend.
    pub(super) fn is_stuck(&mut self, pid: i32) -> Result<bool, Stop> {
        let mut idle = BTreeSet::new();
        // Before the question: what was idle then still is when the answer comes.
        for session in 0..self.sessions.len() {
            self.sessions[session].fetch().map_err(self.lost(Some(session)))?;
            if self.sessions[session].is_idle() {
                idle.insert(self.sessions[session].pid());
            }
        }
        let backends = self.sessions.iter().chain([&self.control]).map(|backend| backend.pid());
        let at_work: Vec<i32> = backends.filter(|pid| !idle.contains(pid)).collect();
        let Some(graph) = self.wait_graph(&at_work)? else { return Ok(false) };
        self.waits_since.retain(|&pid, _| graph.blockers(pid).eq(self.graph.blockers(pid)));
        for &pid in at_work.iter().filter(|&&pid| graph.blockers(pid).next().is_some()) {
            self.waits_since.entry(pid).or_insert_with(Instant::now);
        }
        self.graph = graph;
        Ok(self.graph.is_stuck(pid, &idle))
    }

    /// Who waits for whom among these backends. Looked at twice, since the server looks at one after the other: none where
    /// the two looks differ.
    fn wait_graph(&mut self, pids: &[i32]) -> Result<Option<WaitGraph>, Stop> {
        let mut look = || {
            let waits = self.observer.waits(pids).map_err(no_answer)?;
            Ok(WaitGraph::new(waits.into_iter().map(|wait| (wait.pid, wait.by.into_iter().collect()))))
        };
        let first = look()?;
        if first.is_empty() { Ok(Some(first)) } else { Ok(Some(look()?).filter(|second| *second == first)) }
    }

    fn limit_step(
        &mut self,
        progress: &Progress,
        entry: usize,
        elapsed: Duration,
        canceled: &mut bool,
    ) -> Result<(), Stop> {
        let limit = self.options.step_limit;
        let step = progress.permutation.entries[entry].step;
        let (session, name) = (self.spec.steps[step].session, &self.spec.steps[step].name);
        self.check_deadline(&format!("step {name}"))?;
        if elapsed > limit && !*canceled {
            *canceled = true;
            self.sessions[session].cancel().map_err(self.lost(Some(session)))?;
            self.events.push(Event::Canceling { step, seconds: elapsed.as_secs() });
        }
        if elapsed > limit.saturating_mul(2) {
            return Err(Stop::TimedOut { step: name.clone(), seconds: elapsed.as_secs() });
        }
        Ok(())
    }

    /// Tells that a step is complete, and what it gave. Its first result is there; the rest is waited for.
    fn report(&mut self, progress: &mut Progress, entry: usize, turn: Turn) -> Result<(), Stop> {
        let step = progress.permutation.entries[entry].step;
        let session = self.spec.steps[step].session;
        self.events.push(Event::Completed { step, waited: turn == Turn::Again });
        let what = format!("step {}", self.spec.steps[step].name);
        while let Some(outcome) = self.next_outcome(Some(session), &what)? {
            match outcome {
                Outcome::Rows(table) => self.events.push(Event::Rows(table)),
                Outcome::Done | Outcome::Empty => {}
                Outcome::Failed(error) => self.events.push(Event::Failed(error)),
                Outcome::Lost => self.events.push(Event::Lost),
                Outcome::Copy(copy) => {
                    self.events.push(Event::Copy(copy));
                    return Err(Stop::Copy { what, copy });
                }
            }
        }
        self.sessions[session].fetch().map_err(self.lost(Some(session)))?;
        self.is_busy(session);
        self.report_notifications(session);
        progress.active[session] = None;
        Ok(())
    }
}

fn no_answer(error: WireError) -> Stop {
    Stop::Wire { connection: "the question who waits for whom".to_owned(), error }
}
