//! Follows the choices of an attempt, goes on by itself behind them, and notes what every choice brought about.

use std::cell::RefCell;

use super::watch::Watch;
use super::words::begins;
use super::worker::Task;
use crate::history::{Event, What};
use crate::schedule::{Choice, Consequence, Effect, Priorities, SessionView, Step, Strategy};

/// Between which choices another session may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// Between statements.
    Statement,
    /// Between steps: a choice moves its session to the end of a step, or until it waits.
    Step,
    /// Between transactions: the schedules are serial.
    Transaction,
}

pub struct Guided<'a> {
    task: &'a Task,
    /// What still sleeps.
    sleep: Vec<Consequence>,
    /// As far as they have changed.
    priorities: Option<Priorities>,
    /// What happened so far, as the runner tells it.
    events: &'a RefCell<Vec<Event>>,
    watch: Watch,
    seen: usize,
    /// The choice whose consequence is not noted yet, and what could have been chosen.
    open: Option<(usize, Vec<usize>)>,
    followed: usize,
    /// See [`Strategy::stays`].
    stays: usize,
    /// How many steps the session of the last choice had done before it.
    steps_before: u32,
    path: Path,
}

/// The way that a run took.
#[derive(Debug, Clone, Default)]
pub struct Path {
    pub choices: Vec<usize>,
    pub steps: Vec<Step<Consequence>>,
    /// For each choice whether it was none, since its session was within a transaction that nobody was to interrupt.
    within: Vec<bool>,
    /// For each choice the call that it was in and the statement that was sent.
    pub sent: Vec<Option<(usize, String)>>,
    /// From this choice on every session slept: another schedule leads to the same.
    pub asleep_from: Option<usize>,
    /// A choice of the prefix could not be made: the program did not do the same again.
    pub diverged: bool,
}

impl Path {
    /// The steps as a search sees them that changes sessions between transactions only.
    pub fn whole_transactions(&self) -> Vec<Step<Consequence>> {
        let seen = |(step, within): (&Step<Consequence>, &bool)| match within {
            true => Step { enabled: vec![step.effect.session], effect: step.effect.clone() },
            false => step.clone(),
        };
        self.steps.iter().zip(&self.within).map(seen).collect()
    }
}

impl<'a> Guided<'a> {
    pub fn new(task: &'a Task, events: &'a RefCell<Vec<Event>>, watch: Watch) -> Guided<'a> {
        Guided {
            task,
            sleep: task.sleep.clone(),
            priorities: task.priorities.clone(),
            events,
            watch,
            seen: 0,
            open: None,
            followed: 0,
            stays: 0,
            steps_before: 0,
            path: Path::default(),
        }
    }

    /// The way, when the run is over.
    pub fn path(mut self) -> Path {
        self.note();
        self.path
    }

    /// Notes what the last choice brought about.
    fn note(&mut self) {
        let Some((session, enabled)) = self.open.take() else { return };
        let events = self.events.borrow();
        let effect = self.watch.consequence(session, &events[self.seen..]);
        self.path.sent.push(events[self.seen..].iter().find_map(|event| sent_by(session, event)));
        self.seen = events.len();
        if self.path.choices.len() >= self.task.prefix.len() {
            self.sleep.retain(|asleep| asleep.session != session && !asleep.depends_on(&effect));
        }
        self.path.steps.push(Step { enabled, effect });
    }

    /// The sessions that can move.
    fn enabled(&self, sessions: &[&dyn SessionView]) -> Vec<usize> {
        let takes_part = |session: &usize| self.task.only.is_empty() || self.task.only.contains(session);
        (0..sessions.len()).filter(|&session| sessions[session].can_move()).filter(takes_part).collect()
    }

    /// The session that is not to be interrupted.
    fn within_transaction(&self, enabled: &[usize]) -> Option<usize> {
        let last = *self.path.choices.last().filter(|last| enabled.contains(last))?;
        (self.task.grain == Grain::Transaction && self.watch.is_open(last)).then_some(last)
    }

    /// The session in the middle of a step that is one choice.
    fn goes_on(&self, sessions: &[&dyn SessionView]) -> Option<usize> {
        let (session, _) = self.open.as_ref().filter(|_| self.task.grain == Grain::Step)?;
        let view = sessions[*session];
        (view.can_move() && view.steps_done() == self.steps_before).then_some(*session)
    }

    /// How many more moves of the session are certain: an earlier run made them, or nobody else can move.
    fn further_moves(&self, session: usize, is_alone: bool) -> usize {
        let Task { foresees, grain, prefix, .. } = self.task;
        match grain {
            _ if !foresees => 0,
            _ if is_alone => usize::MAX,
            Grain::Transaction => usize::MAX,
            Grain::Statement => prefix.iter().skip(self.followed).take_while(|&&choice| choice == session).count(),
            Grain::Step => 0,
        }
    }

    fn pick(&mut self, enabled: &[usize]) -> Option<usize> {
        while let Some(&choice) = self.task.prefix.get(self.followed) {
            self.followed += 1;
            if enabled.contains(&choice) {
                return Some(choice);
            }
            self.path.diverged = true;
        }
        let is_awake = |session: &usize| self.sleep.iter().all(|asleep| asleep.session != *session);
        let awake: Vec<usize> = enabled.iter().copied().filter(is_awake).collect();
        if awake.is_empty() && !enabled.is_empty() {
            self.path.asleep_from.get_or_insert(self.path.choices.len());
        }
        if let Some(priorities) = &mut self.priorities {
            return priorities.pick(enabled, self.path.choices.len());
        }
        // To go on with the same session makes schedules that are easy to follow.
        let last = self.path.choices.last().filter(|last| awake.contains(last));
        last.or(awake.first()).or(enabled.first()).copied()
    }
}

/// The call and the statement, but for BEGIN, which goes with the next one.
fn sent_by(session: usize, event: &Event) -> Option<(usize, String)> {
    match &event.what {
        What::Sent { sql } if event.session == session && !begins(sql) => Some((event.call, sql.clone())),
        _ => None,
    }
}

impl Strategy for Guided<'_> {
    fn choose(&mut self, sessions: &[&dyn SessionView]) -> Choice {
        if let Some(session) = self.goes_on(sessions) {
            return Choice::Move(session);
        }
        self.note();
        let enabled = self.enabled(sessions);
        let within = self.within_transaction(&enabled);
        let choosable = within.as_ref().map_or(&enabled[..], std::slice::from_ref);
        let Some(session) = self.pick(choosable) else { return Choice::Over };
        self.path.choices.push(session);
        self.path.within.push(within.is_some());
        let is_alone = choosable.len() == 1 && sessions.iter().all(|session| !session.is_blocked());
        self.stays = self.further_moves(session, is_alone);
        self.open = Some((session, enabled));
        self.steps_before = sessions[session].steps_done();
        Choice::Move(session)
    }

    fn stays(&self) -> usize {
        self.stays
    }
}
