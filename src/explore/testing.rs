//! Explorations for tests.

use super::{Exploration, Failure, Verdict};
use crate::history::testing::history;
use crate::scenario::{self, Level};
use crate::schedule::LeftOut;

/// Of 1,400 schedules, without any failure yet.
pub fn exploration(verdict: Verdict) -> Exploration {
    let any = scenario::load("write-skew").unwrap();
    Exploration {
        scenario: "odd".to_owned(),
        title: "Odd".to_owned(),
        verdict,
        schedules: 1400,
        orders: 1402,
        complete: verdict != Verdict::Inconclusive,
        ..Exploration::unplayed(&any, None, Level::ReadCommitted, None)
    }
}

/// In two schedules.
pub fn failure(kind: &str, checks: &[&str]) -> Failure {
    Failure {
        kind: kind.to_owned(),
        reason: String::new(),
        cycle: Vec::new(),
        schedules: 2,
        checks: checks.iter().map(|check| (*check).to_owned()).collect(),
        left_out: LeftOut::default(),
        differs: None,
        history: history(Vec::new(), false),
    }
}
