//! Plays what a search asks for, until it is over or a limit is reached.

use std::time::Instant;

use super::Options;
use super::findings::Findings;
use super::ground::Ground;
use crate::runner::RunError;
use crate::schedule::{Attempt, Consequence, Rules, Search};

/// How many attempts are under way at a time, whatever the number of runners: what is played must not depend on it.
const AT_A_TIME: usize = 16;
/// A reduced search that learns late plays more: with two at a time 1,253 schedules in place of less than 1,000.
const AT_A_TIME_REDUCED: usize = 1;
/// Each schedule in which somebody waits for ever takes a second; after so many it is known.
const MOST_HANGS: usize = 10;

pub fn play_all(
    ground: &mut Ground,
    search: &mut dyn Search<Consequence>,
    options: &Options,
    done: &mut dyn FnMut(),
) -> Result<Findings, RunError> {
    let mut findings = Findings::default();
    let at_a_time = if ground.knowledge.rules == Rules::Everything { AT_A_TIME } else { AT_A_TIME_REDUCED };
    loop {
        let left = options.max_schedules.saturating_sub(findings.schedules).min(at_a_time as u64);
        let hangs = findings.unfinished.len() >= MOST_HANGS;
        if (left == 0 && search.pending() > 0) || hangs || Instant::now() > options.deadline {
            return Ok(findings);
        }
        let attempts: Vec<Attempt<Consequence>> = std::iter::from_fn(|| search.next()).take(left as usize).collect();
        if attempts.is_empty() {
            findings.complete = true;
            return Ok(findings);
        }
        let all_played = match ground.play(&attempts) {
            Err(_) if Instant::now() > options.deadline => return Ok(findings),
            other => other?,
        };
        for (attempt, played) in attempts.iter().zip(all_played) {
            let awake = played.path.asleep_from.unwrap_or(played.path.steps.len());
            search.learn(attempt, &played.path.steps[..awake]);
            findings.take_in(played);
            done();
        }
    }
}
