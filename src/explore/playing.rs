//! Plays what a search asks for, until it is over or a limit is reached; then what promises the most of the rest.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::findings::Findings;
use super::ground::{Ground, take_played};
use super::worker::Played;
use super::{Fallback, Options};
use crate::runner::RunError;
use crate::schedule::{Attempt, Bounded, Consequence, Random, Rules, Search};

/// How many attempts are under way at a time, whatever the number of runners: what is played must not depend on it.
const AT_A_TIME: usize = 16;
/// A reduced search that learns late plays more: with two at a time 1,253 schedules in place of less than 1,000.
const AT_A_TIME_REDUCED: usize = 1;
/// Each schedule in which somebody waits for ever takes a second; after so many it is known.
const MOST_HANGS: usize = 10;

/// How far a search may go.
#[derive(Debug, Clone, Copy)]
struct Limit {
    /// Schedules played in all, known ones included.
    plays: u64,
    deadline: Instant,
    /// No further than to a schedule that shows that the search relies on something wrong.
    while_right: bool,
}

struct Playing<'p> {
    findings: Findings,
    plays: u64,
    done: &'p mut dyn FnMut(),
}

/// Half of what the limits allow is for the search that would be complete. Where that is not enough, the next quarter is
/// for orders with few preemptions, and what is left then for orders at random.
pub fn play_all(
    ground: &mut Ground,
    search: &mut dyn Search<Consequence>,
    options: &Options,
    done: &mut dyn FnMut(),
) -> Result<Findings, RunError> {
    let (begin, quarter) = (Instant::now(), options.deadline.saturating_duration_since(Instant::now()) / 4);
    let part = |quarters: u32| Limit {
        plays: (options.max_schedules.saturating_mul(u64::from(quarters))).div_ceil(4),
        deadline: begin + quarter * quarters,
        while_right: false,
    };
    let at_a_time = if ground.knowledge.rules == Rules::Everything { AT_A_TIME } else { AT_A_TIME_REDUCED };
    let mut playing = Playing { findings: Findings::default(), plays: 0, done };
    let whole = part(if options.fallback_seed.is_some() { 2 } else { 4 });
    if playing.play(ground, search, at_a_time, Limit { while_right: true, ..whole })? {
        playing.findings.complete = true;
        return Ok(playing.findings);
    }
    if playing.findings.correction.is_some() {
        return Ok(playing.findings);
    }
    let Some(seed) = options.fallback_seed else { return Ok(playing.findings) };
    let mut fallback = Fallback { systematic: playing.findings.schedules, ..Fallback::default() };
    let mut bounded = Bounded::default();
    playing.play(ground, &mut bounded, AT_A_TIME, part(3))?;
    fallback.bounded = playing.findings.schedules - fallback.systematic;
    fallback.preemptions = bounded.covered();
    playing.findings.complete = bounded.is_complete();
    if !playing.findings.complete {
        let mut random = Random::new(seed, ground.plan.sessions.len(), playing.findings.longest());
        playing.play(ground, &mut random, AT_A_TIME, part(4))?;
        fallback.random = playing.findings.schedules - fallback.systematic - fallback.bounded;
    }
    playing.findings.fallback = Some(fallback);
    Ok(playing.findings)
}

impl Playing<'_> {
    /// Whether the search came to its end before the limit.
    fn play(
        &mut self,
        ground: &mut Ground,
        search: &mut dyn Search<Consequence>,
        at_a_time: usize,
        limit: Limit,
    ) -> Result<bool, RunError> {
        let (any, knowledge) = (ground.task(Vec::new()), Arc::clone(&ground.knowledge));
        let sessions = ground.plan.sessions.len();
        ground.team.side_by_side(|pipeline| {
            let mut under_way: VecDeque<(Attempt<Consequence>, Option<Played>)> = VecDeque::new();
            loop {
                let hangs = self.findings.unfinished.len() >= MOST_HANGS;
                let is_cut = hangs || Instant::now() > limit.deadline;
                while !is_cut && under_way.len() < at_a_time && self.plays + (under_way.len() as u64) < limit.plays {
                    let Some(attempt) = search.next() else { break };
                    let known = take_played(&mut ground.played, &attempt);
                    if known.is_none() {
                        pipeline.send(any.of_attempt(&attempt));
                    }
                    under_way.push_back((attempt, known));
                }
                let Some((attempt, known)) = under_way.pop_front() else {
                    let has_ended = self.plays < limit.plays && !is_cut;
                    return Ok(has_ended || (self.plays > 0 && search.pending() == 0));
                };
                if is_cut {
                    return Ok(false);
                }
                let played = match known.map_or_else(|| pipeline.receive(), Ok) {
                    Err(_) if Instant::now() > limit.deadline => return Ok(false),
                    other => other?,
                };
                let awake = played.path.asleep_from.unwrap_or(played.path.steps.len());
                search.learn(&attempt, &played.path.steps[..awake]);
                self.plays += 1;
                if limit.while_right {
                    self.findings.correction = knowledge.corrected_by(&played.history, sessions);
                }
                self.findings.take_in(played);
                (self.done)();
                if self.findings.correction.is_some() {
                    return Ok(false);
                }
            }
        })
    }
}
