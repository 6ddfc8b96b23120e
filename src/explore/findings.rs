//! What the schedules came to so far, and of those that came to the same the one that is simplest to follow.

use std::collections::{BTreeMap, BTreeSet};

use super::Fallback;
use super::orders::{merges, switches};
use super::outcome::Outcome;
use super::watch::Knowledge;
use super::worker::Played;

/// All schedules that came to the same.
pub struct Seen {
    pub schedules: u64,
    pub simplest: Played,
}

/// What was played so far.
#[derive(Default)]
pub struct Findings {
    /// Different ones.
    pub schedules: u64,
    known: BTreeSet<Vec<usize>>,
    pub fallback: Option<Fallback>,
    pub retries: u64,
    pub repaired: u64,
    pub racy: u64,
    pub errors: BTreeMap<String, u64>,
    pub outcomes: BTreeMap<Outcome, Seen>,
    /// Schedules in which somebody waits for ever.
    pub unfinished: Vec<Played>,
    /// Nothing is left to play.
    pub complete: bool,
    /// What the search would have had to know: it is to begin again.
    pub correction: Option<Knowledge>,
}

impl Findings {
    /// A schedule that is known already counts no more.
    pub fn take_in(&mut self, played: Played) {
        if !self.known.insert(played.path.choices.clone()) {
            return;
        }
        self.schedules += 1;
        self.retries += played.retries();
        self.repaired += u64::from(played.is_repaired());
        self.racy += u64::from(played.history.racy);
        if played.history.unfinished.is_some() {
            self.unfinished.push(played);
            return;
        }
        for error in played.outcome.distinct_errors() {
            *self.errors.entry(error.to_owned()).or_default() += 1;
        }
        match self.outcomes.get_mut(&played.outcome) {
            None => {
                self.outcomes.insert(played.outcome.clone(), Seen { schedules: 1, simplest: played });
            }
            Some(seen) => {
                seen.schedules += 1;
                if played.cost() < seen.simplest.cost() {
                    seen.simplest = played;
                }
            }
        }
    }

    /// How many choices the longest schedule has.
    pub fn longest(&self) -> usize {
        self.known.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// In how many orders the choices of so many sessions could be made if nobody ever had to wait.
    pub fn orders(&self, sessions: usize) -> u64 {
        let lengths = |seen: &Seen| -> Vec<u64> {
            let choices = &seen.simplest.path.choices;
            let of_session = |session| choices.iter().filter(|choice| **choice == session).count() as u64;
            (0..sessions).map(of_session).collect()
        };
        self.outcomes.values().map(|seen| merges(&lengths(seen))).max().unwrap_or(0)
    }
}

impl Played {
    /// What makes a schedule hard to follow: switches first, and of those with as many the first in order.
    pub fn cost(&self) -> (usize, &[usize]) {
        (switches(&self.path.choices), &self.path.choices)
    }
}
