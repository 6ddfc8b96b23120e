//! One form at one level, from what is known of it before to its verdict.

use std::sync::Arc;

use super::design;
use super::findings::Findings;
use super::ground::Ground;
use super::guided::Grain;
use super::judging::judge_all;
use super::oracle::{Oracle, failing};
use super::playing::play_all;
use super::repeating::repeat;
use super::shrinking::shrink;
use super::simplifying::simplify;
use super::team::Team;
use super::verdict::Verdict;
use super::watch::Knowledge;
use super::worker::Played;
use super::{Exploration, Failure, Options};
use crate::runner::RunError;
use crate::scenario::{Level, Scenario};
use crate::schedule::{Consequence, Exhaustive, LeftOut, Reduced, Rules, Search};

pub(super) fn explore_level(
    team: &mut Team,
    scenario: &Scenario,
    fix: Option<&str>,
    level: Level,
    options: &Options,
    done: &mut dyn FnMut(),
) -> Result<Exploration, RunError> {
    let plan = scenario.plan(fix).unwrap_or(&scenario.as_written);
    let (mut oracle, serial) =
        Oracle::ask(team, level, plan.sessions.len(), LeftOut::default(), options.max_schedules)?;
    let failing = failing(&serial).cloned();
    let mut exploration = begun(team, scenario, fix, level);
    let known = match options.reduces {
        true => team.first().study(scenario, plan, level, options.deadline)?,
        false => None,
    };
    let understood = known.is_some();
    let knowledge = Arc::new(known.unwrap_or_else(Knowledge::none));
    let grain = if options.by_step { Grain::Step } else { Grain::Statement };
    let played = Vec::new();
    let mut ground = Ground { team, plan, level, grain, knowledge, deadline: options.deadline, played };
    ground.reuse(serial);
    let findings = loop {
        let mut search: Box<dyn Search<Consequence>> = match options.reduces && understood {
            true => Box::new(Reduced::default()),
            false => Box::new(Exhaustive::default()),
        };
        let mut findings = play_all(&mut ground, search.as_mut(), options, done)?;
        match findings.correction.take() {
            Some(correction) => ground.knowledge = Arc::new(correction),
            None => break findings,
        }
    };
    sum_up(&mut exploration, &findings, plan.sessions.len());
    if !options.reduces && oracle.finds_anomalies(ground.team, findings.outcomes.keys())? {
        // What the statements touch names what goes wrong.
        if let Some(known) = ground.team.first().study(scenario, plan, level, options.deadline)? {
            ground.knowledge = Arc::new(Knowledge { rules: Rules::Everything, ..known });
        }
    }
    let (verdict, found) = judge_all(&mut ground, &mut oracle, findings)?;
    exploration.verdict = verdict;
    if verdict == Verdict::Safe && design::has_timeout(plan) {
        exploration.verdict = Verdict::Inconclusive;
        exploration
            .notes
            .push("whether a timeout ends a statement is a matter of time, which was not explored".to_owned());
    }
    for mut found in found {
        if options.details {
            simplify(&mut ground, &mut found)?;
            shrink(&mut ground, &mut found)?;
            repeat(&mut ground, &mut found)?;
        }
        exploration.failures.push(found.failure);
    }
    if let Some(failing) = failing {
        exploration.verdict = exploration.verdict.max(Verdict::NotARace);
        exploration.failures.push(not_a_race(failing));
    }
    Ok(exploration)
}

fn begun(team: &mut Team, scenario: &Scenario, fix: Option<&str>, level: Level) -> Exploration {
    let plan = scenario.plan(fix).unwrap_or(&scenario.as_written);
    Exploration {
        sessions: team.first().stage().sessions(level),
        by_design: design::reasons(scenario, plan, team.first().contents()),
        ..Exploration::unplayed(scenario, fix, level, None)
    }
}

fn sum_up(exploration: &mut Exploration, findings: &Findings, sessions: usize) {
    exploration.schedules = findings.schedules;
    exploration.retries = findings.retries;
    exploration.repaired = findings.repaired;
    exploration.racy = findings.racy;
    exploration.complete = findings.complete;
    exploration.fallback = findings.fallback;
    exploration.errors = findings.errors.iter().map(|(sqlstate, count)| (sqlstate.clone(), *count)).collect();
    exploration.outcomes = findings.outcomes.keys().cloned().collect();
    exploration.orders = findings.orders(sessions);
}

fn not_a_race(failing: Played) -> Failure {
    const REASON: &str = "the transactions run one after the other, and the check fails all the same";
    Failure {
        checks: failing.outcome.failing,
        ..Failure::new(Verdict::NotARace.name(), REASON.to_owned(), 1, &failing.history)
    }
}
