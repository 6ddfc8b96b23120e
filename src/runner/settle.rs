//! Waits for answers, and asks the server who waits for whom.

use std::time::{Duration, Instant};

use super::actor::{Actor, Waiting};
use super::conductor::Conductor;
use super::error::RunError;
use crate::history::What;
use crate::interrupt;
use crate::wire::{Connection, wait_readable};

/// How long an answer may take before the server is asked whether the session waits.
const PATIENCE: Duration = Duration::from_micros(300);
/// The same while the observer is not connected: as long as it takes to connect, which may not be needed at all.
const PATIENCE_AT_FIRST: Duration = Duration::from_micros(2_500);
/// The pause between two questions about one wait grows up to this.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

impl Conductor<'_> {
    /// Takes answers in until each of these sessions has answered or waits, by the server's word. For one session alone
    /// it also ends when that one closes a cycle and is not the victim in time: the server may fail another one.
    pub(super) fn settle(&mut self, sessions: &[usize]) -> Result<(), RunError> {
        let mut pause = self.patience();
        loop {
            let mut progress = false;
            for &session in sessions {
                progress |= self.read(session)?;
            }
            let unsettled: Vec<usize> =
                sessions.iter().copied().filter(|&session| self.actors[session].is_unsettled()).collect();
            if unsettled.is_empty() {
                return Ok(());
            }
            if progress {
                pause = self.patience();
                continue;
            }
            self.check_limits(&unsettled)?;
            let connections: Vec<&Connection> =
                unsettled.iter().filter_map(|&session| self.connection(session)).collect();
            if !wait_readable(&connections, pause)? {
                let at_first = !self.observer.is_connected();
                self.ask_who_waits(&unsettled)?;
                if let [only] = sessions
                    && self.actors[*only].wait.as_ref().is_some_and(|wait| wait.since.elapsed() > self.victim_limit())
                {
                    return Ok(());
                }
                pause = if at_first { PATIENCE } else { (pause * 3 / 2).min(LONGEST_PAUSE) };
            }
        }
    }

    /// How long nobody is asked.
    fn patience(&self) -> Duration {
        if self.observer.is_connected() { PATIENCE } else { PATIENCE_AT_FIRST }
    }

    /// Waits until these sessions have been answered.
    pub(super) fn until_free(&mut self, sessions: &[usize]) -> Result<(), RunError> {
        while sessions.iter().any(|&session| self.actors[session].flight.is_some()) {
            self.until_any_free(sessions)?;
        }
        Ok(())
    }

    /// Waits until one of these sessions has been answered, such as by a timeout that the scenario set.
    pub(super) fn until_any_free(&mut self, sessions: &[usize]) -> Result<(), RunError> {
        let begun = Instant::now();
        loop {
            for &session in sessions {
                if self.read(session)? && self.actors[session].flight.is_none() {
                    return self.settle(&(0..self.actors.len()).collect::<Vec<_>>());
                }
            }
            self.check_limits(sessions)?;
            if begun.elapsed() > self.conduct.stuck_limit {
                return Err(RunError::Stuck { reason: self.who_waits(sessions) });
            }
            let connections: Vec<&Connection> =
                sessions.iter().filter_map(|&session| self.connection(session)).collect();
            wait_readable(&connections, LONGEST_PAUSE)?;
        }
    }

    /// A backend looks for a deadlock once, `deadlock_timeout` after it blocked. When those checks are over, the one
    /// that closes a cycle is the only one that can notice it. On a busy machine a check may come late: where the
    /// backends can be watched, theirs is over when they were seen asleep before and after that time.
    pub(super) fn let_deadlock_checks_pass(&mut self, waiting: &[usize]) -> Result<(), RunError> {
        let Some(check) = self.conduct.deadlock_check else { return Ok(()) };
        for &waiter in waiting {
            let Some(pid) = self.pid(waiter) else { continue };
            let Some(Waiting { since, asleep, checked: false, .. }) = self.actors[waiter].wait else { continue };
            let (mut seen, mut was_asleep) = (since, asleep);
            loop {
                std::thread::sleep((seen + check).saturating_duration_since(Instant::now()));
                let is_asleep = self.is_asleep(pid);
                if was_asleep && is_asleep {
                    break;
                }
                (seen, was_asleep) = (Instant::now(), is_asleep);
                self.check_limits(&[waiter])?;
            }
            if let Some(wait) = &mut self.actors[waiter].wait {
                wait.checked = true;
            }
        }
        Ok(())
    }

    /// How long the session that closes a cycle is given to be its victim.
    fn victim_limit(&self) -> Duration {
        self.conduct.deadlock_check.map_or(Duration::ZERO, |check| check * 40)
    }

    /// Where nobody can tell, a backend that waits is taken to sleep.
    fn is_asleep(&self, pid: i32) -> bool {
        self.wakes.is_asleep(pid) != Some(false)
    }

    fn check_limits(&self, sessions: &[usize]) -> Result<(), RunError> {
        interrupt::check()?;
        if Instant::now() > self.conduct.deadline {
            return Err(RunError::TimeLimit { waited_for: self.who_waits(sessions) });
        }
        Ok(())
    }

    fn connection(&self, session: usize) -> Option<&Connection> {
        self.links.get(self.actors[session].link)
    }

    /// The session that a backend works for.
    fn session_of(&self, pid: i32) -> Option<usize> {
        let is_in = |actor: &Actor| self.links.pid(actor.link) == Some(pid);
        let owns = |actor: &Actor| actor.own_links().iter().any(|&link| self.links.pid(link) == Some(pid));
        self.actors.iter().position(is_in).or_else(|| self.actors.iter().position(owns))
    }

    fn who_waits(&self, sessions: &[usize]) -> String {
        let describe = |&session: &usize| {
            let actor = &self.actors[session];
            let step = format!("{} at {}", actor.name, actor.step_name());
            match &actor.wait {
                None => format!("{step} has not been answered"),
                Some(wait) => format!("{step} waits for {}", self.names_of(&wait.by).join(" and ")),
            }
        };
        let blocked = sessions.iter().filter(|&&session| self.actors[session].flight.is_some());
        blocked.map(describe).collect::<Vec<_>>().join("; ")
    }

    fn names_of(&self, pids: &[i32]) -> Vec<String> {
        let name = |&pid: &i32| match self.session_of(pid).map(|session| &self.actors[session]) {
            Some(actor) if actor.is_idle() || actor.flight.is_some() => actor.name.clone(),
            Some(actor) => format!("{}, who has finished and still holds the lock", actor.name),
            None if pid == 0 => "a prepared transaction".to_owned(),
            None => format!("process {pid}, which is not the lab's"),
        };
        pids.iter().map(name).collect()
    }

    /// Asks the server about sessions that have not answered; those that wait for a lock are settled with that.
    fn ask_who_waits(&mut self, sessions: &[usize]) -> Result<(), RunError> {
        let ours: Vec<i32> = self.links.pids().collect();
        let pids: Vec<i32> = sessions.iter().filter_map(|&session| self.pid(session)).collect();
        let waits = self.observer.waits(&pids)?;
        for &session in sessions {
            let Some(wait) = waits.iter().find(|wait| self.pid(session) == Some(wait.pid)) else { continue };
            // Another program's lock passes by itself, or the limit says so.
            if !wait.by.iter().any(|pid| *pid == 0 || ours.contains(pid)) {
                continue;
            }
            // The answer may have come while the question was asked.
            if self.read(session)? {
                continue;
            }
            self.confirm_wait(session, wait.by.clone())?;
        }
        Ok(())
    }

    /// The server says that the session waits. A wait that closes a cycle is about to be broken by the server, and it is a
    /// matter of luck whether it is noticed at all: it is neither believed nor put on record.
    fn confirm_wait(&mut self, session: usize, mut by: Vec<i32>) -> Result<(), RunError> {
        by.sort_unstable();
        by.dedup();
        let asleep = self.pid(session).is_none_or(|pid| self.is_asleep(pid));
        let earlier = self.actors[session].wait.take();
        let wait = match earlier {
            Some(wait) if wait.by == by => wait,
            Some(wait) => Waiting::new(wait.order, by, asleep),
            None => {
                self.waits_begun += 1;
                Waiting::new(self.waits_begun, by, asleep)
            }
        };
        let told = wait.told;
        self.actors[session].wait = Some(wait);
        if self.waits_for(session, session, &mut vec![]) {
            self.racy |= self.conduct.deadlock_check.is_none();
            return Ok(());
        }
        if !told {
            self.tell_of_wait(session)?;
        }
        if let Some(wait) = &mut self.actors[session].wait {
            (wait.confirmed, wait.told) = (true, true);
        }
        Ok(())
    }

    fn tell_of_wait(&mut self, session: usize) -> Result<(), RunError> {
        let on = match self.pid(session) {
            Some(pid) if self.conduct.name_locks => self.observer.awaited_lock(pid)?,
            _ => None,
        };
        let by = self.actors[session].wait.as_ref().map_or(&[][..], |wait| &wait.by);
        let sessions = by.iter().filter_map(|&pid| self.session_of(pid));
        let by = sessions.map(|position| self.actors[position].index).collect();
        self.record(session, What::Blocked { by, on });
        Ok(())
    }

    /// Whether `from` waits, over any number of others, for `goal`.
    fn waits_for(&self, from: usize, goal: usize, seen: &mut Vec<usize>) -> bool {
        let Some(wait) = &self.actors[from].wait else { return false };
        let blockers = wait.by.iter().filter_map(|&pid| self.session_of(pid));
        for blocker in blockers {
            if blocker == goal {
                return true;
            }
            if !seen.contains(&blocker) {
                seen.push(blocker);
                if self.waits_for(blocker, goal, seen) {
                    return true;
                }
            }
        }
        false
    }
}
