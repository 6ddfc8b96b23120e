//! The loop: what the search asks for is played, judged and kept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::design;
use super::guided::Grain;
use super::naming::name;
use super::oracle::{Judgement, Oracle};
use super::orders::{merges, switches};
use super::outcome::Outcome;
use super::team::Team;
use super::verdict::Verdict;
use super::watch::Knowledge;
use super::worker::{Played, Task};
use super::{Exploration, Failure, Options};
use crate::history::SessionInfo;
use crate::runner::RunError;
use crate::scenario::{Level, Plan, Scenario};
use crate::schedule::{Attempt, Consequence, Exhaustive, Reduced, Rules, Search, together};

/// How many attempts are under way at a time, whatever the number of runners: what is played must not depend on it.
const AT_A_TIME: usize = 16;
/// A reduced search that learns late plays more: with two at a time 1,253 schedules in place of less than 1,000.
const AT_A_TIME_REDUCED: usize = 1;
/// Each schedule in which somebody waits for ever takes a second; after so many it is known.
const MOST_HANGS: usize = 10;
/// SQLSTATE deadlock_detected.
const DEADLOCK: &str = "40P01";

/// All schedules that came to the same.
struct Seen {
    schedules: u64,
    simplest: Played,
}

/// What was played so far.
#[derive(Default)]
struct Findings {
    schedules: u64,
    retries: u64,
    repaired: u64,
    racy: u64,
    errors: BTreeMap<String, u64>,
    outcomes: BTreeMap<Outcome, Seen>,
    /// Schedules in which somebody waits for ever, or that the time limit cut.
    unfinished: Vec<Played>,
    /// Nothing is left to play.
    complete: bool,
}

pub(super) fn explore_level(
    team: &mut Team,
    scenario: &Scenario,
    fix: Option<&str>,
    level: Level,
    options: &Options,
    done: &mut dyn FnMut(),
) -> Result<Exploration, RunError> {
    let plan = scenario.plan(fix).unwrap_or(&scenario.as_written);
    let sessions = team.first().stage().sessions(level);
    let (mut oracle, failing) = Oracle::ask(team, level, plan.sessions.len())?;
    let mut exploration = begun(team, scenario, fix, level, sessions);
    let known = match options.reduces {
        true => team.first().study(scenario, plan, level, options.deadline)?,
        false => None,
    };
    let mut search: Box<dyn Search<Consequence>> = match &known {
        Some(_) => Box::new(Reduced::default()),
        None => Box::new(Exhaustive::default()),
    };
    let knowledge = Arc::new(known.unwrap_or_else(Knowledge::none));
    let findings = play_all(team, search.as_mut(), &knowledge, level, options, done)?;
    sum_up(&mut exploration, &findings, plan);
    judge_all(&mut exploration, findings, &mut oracle, team, plan, &knowledge)?;
    if let Some(failing) = failing {
        exploration.verdict = exploration.verdict.max(Verdict::NotARace);
        exploration.failures.push(not_a_race(failing));
    }
    Ok(exploration)
}

fn begun(
    team: &mut Team,
    scenario: &Scenario,
    fix: Option<&str>,
    level: Level,
    sessions: Vec<SessionInfo>,
) -> Exploration {
    let plan = scenario.plan(fix).unwrap_or(&scenario.as_written);
    Exploration {
        scenario: scenario.name.clone(),
        title: scenario.title.clone(),
        fix: fix.map(str::to_owned),
        isolation: level,
        sessions,
        verdict: Verdict::Safe,
        schedules: 0,
        orders: 0,
        complete: false,
        retries: 0,
        repaired: 0,
        errors: Vec::new(),
        racy: 0,
        by_design: design::reasons(scenario, plan, team.first().contents()),
        outcomes: Vec::new(),
        failures: Vec::new(),
        notes: Vec::new(),
    }
}

fn not_a_race(failing: Played) -> Failure {
    Failure {
        kind: "not a race".to_owned(),
        cycle: Vec::new(),
        reason: "the transactions run one after the other, and the check fails all the same".to_owned(),
        schedules: 1,
        checks: failing.outcome.failing.clone(),
        history: failing.history,
    }
}

/// Plays what the search asks for, until it is over or a limit is reached.
fn play_all(
    team: &mut Team,
    search: &mut dyn Search<Consequence>,
    knowledge: &Arc<Knowledge>,
    level: Level,
    options: &Options,
    done: &mut dyn FnMut(),
) -> Result<Findings, RunError> {
    let mut findings = Findings::default();
    let at_a_time = if knowledge.rules == Rules::Everything { AT_A_TIME } else { AT_A_TIME_REDUCED };
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
        let task = |attempt: &Attempt<Consequence>| Task {
            level,
            prefix: attempt.prefix.clone(),
            sleep: attempt.sleep.clone(),
            grain: Grain::Statement,
            only: Vec::new(),
            knowledge: Arc::clone(knowledge),
        };
        let tasks: Vec<Task> = attempts.iter().map(task).collect();
        let all_played = match team.play(&tasks) {
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

impl Findings {
    fn take_in(&mut self, played: Played) {
        self.schedules += 1;
        self.retries += played.retries();
        self.repaired += u64::from(played.is_repaired());
        self.racy += u64::from(played.history.racy);
        if played.history.unfinished.is_some() {
            self.unfinished.push(played);
            return;
        }
        let mut errors: Vec<&String> = played.outcome.errors.iter().flatten().collect();
        errors.sort();
        errors.dedup();
        for error in errors {
            *self.errors.entry(error.clone()).or_default() += 1;
        }
        match self.outcomes.get_mut(&played.outcome) {
            None => {
                self.outcomes.insert(played.outcome.clone(), Seen { schedules: 1, simplest: played });
            }
            Some(seen) => {
                seen.schedules += 1;
                if cost(&played) < cost(&seen.simplest) {
                    seen.simplest = played;
                }
            }
        }
    }
}

/// What makes a schedule hard to follow: switches first, and of those with as many the first in order.
fn cost(played: &Played) -> (usize, &[usize]) {
    (switches(&played.path.choices), &played.path.choices)
}

fn sum_up(exploration: &mut Exploration, findings: &Findings, plan: &Plan) {
    exploration.schedules = findings.schedules;
    exploration.retries = findings.retries;
    exploration.repaired = findings.repaired;
    exploration.racy = findings.racy;
    exploration.complete = findings.complete;
    exploration.errors = findings.errors.iter().map(|(sqlstate, count)| (sqlstate.clone(), *count)).collect();
    let lengths = |seen: &Seen| -> Vec<u64> {
        let of_session =
            |session| seen.simplest.path.choices.iter().filter(|choice| **choice == session).count() as u64;
        (0..plan.sessions.len()).map(of_session).collect()
    };
    exploration.orders = findings.outcomes.values().map(|seen| merges(&lengths(seen))).max().unwrap_or(0);
    if !findings.complete {
        exploration.notes.push(format!("a limit was reached after {} schedules", findings.schedules));
    }
}

/// Judges every outcome; the verdict is the worst of them.
fn judge_all(
    exploration: &mut Exploration,
    findings: Findings,
    oracle: &mut Oracle,
    team: &mut Team,
    plan: &Plan,
    knowledge: &Arc<Knowledge>,
) -> Result<(), RunError> {
    let mut verdict = if exploration.complete { Verdict::Safe } else { Verdict::Inconclusive };
    if findings.errors.contains_key(DEADLOCK) && plan.retry.is_none() {
        verdict = verdict.max(Verdict::Deadlocks);
    }
    exploration.outcomes = findings.outcomes.keys().cloned().collect();
    let hangs = hangs(&findings.unfinished);
    verdict = verdict.max(if hangs.is_some() { Verdict::Broken } else { verdict });
    let mut failures: BTreeMap<(String, Vec<String>), (Failure, Played)> = BTreeMap::new();
    for (outcome, seen) in findings.outcomes {
        let mut cycle = Vec::new();
        let (found, kind, reason) = match oracle.judge(team, &outcome)? {
            Judgement::Serial => continue,
            Judgement::Unknown => {
                verdict = verdict.max(Verdict::Inconclusive);
                continue;
            }
            Judgement::Refused { told } => {
                let reason = "no one-after-the-other order tells a client so; the data are right".to_owned();
                (Verdict::Errors, told.join(", "), reason)
            }
            Judgement::Anomaly { contents, answers } => {
                if outcome.failing.is_empty() && design::looks_at_locks(plan) {
                    continue;
                }
                let each_statement = knowledge.rules == Rules::ReadCommitted;
                let named = name(&seen.simplest.history, &knowledge.footprints, each_statement);
                let kind = match named {
                    Some(named) => {
                        cycle = named.cycle;
                        named.name
                    }
                    None => "anomaly".to_owned(),
                };
                (Verdict::Broken, kind, reason(contents, answers).to_owned())
            }
        };
        verdict = verdict.max(found);
        let failure = Failure {
            kind,
            reason,
            cycle,
            schedules: seen.schedules,
            checks: outcome.failing.clone(),
            history: seen.simplest.history.clone(),
        };
        let key = (failure.kind.clone(), failure.checks.clone());
        match failures.get_mut(&key) {
            None => {
                failures.insert(key, (failure, seen.simplest));
            }
            Some((known, simplest)) => {
                let schedules = known.schedules + seen.schedules;
                if cost(&seen.simplest) < cost(simplest) {
                    (*known, *simplest) = (failure, seen.simplest);
                }
                known.schedules = schedules;
            }
        }
    }
    exploration.verdict = verdict;
    for (mut failure, played) in failures.into_values() {
        simplify(team, knowledge, &mut failure, &played)?;
        exploration.failures.push(failure);
    }
    exploration.failures.extend(hangs);
    Ok(())
}

/// Plays an equivalent schedule with fewer switches, and keeps it if it comes to the same.
fn simplify(
    team: &mut Team,
    knowledge: &Arc<Knowledge>,
    failure: &mut Failure,
    played: &Played,
) -> Result<(), RunError> {
    let prefix = together(&played.path.steps);
    if switches(&prefix) >= switches(&played.path.choices) || played.path.steps.len() != played.path.choices.len() {
        return Ok(());
    }
    let task = Task {
        level: failure.history.isolation,
        prefix,
        sleep: Vec::new(),
        grain: Grain::Statement,
        only: Vec::new(),
        knowledge: Arc::clone(knowledge),
    };
    if let Some(simpler) = team.play(&[task])?.pop().filter(|simpler| simpler.outcome == played.outcome) {
        failure.history = simpler.history;
    }
    Ok(())
}

/// The simplest of the schedules in which somebody waits for ever.
fn hangs(unfinished: &[Played]) -> Option<Failure> {
    let simplest = unfinished.iter().min_by_key(|played| cost(played))?;
    Some(Failure {
        kind: "hang".to_owned(),
        cycle: Vec::new(),
        reason: simplest.history.unfinished.clone().unwrap_or_default(),
        schedules: unfinished.len() as u64,
        checks: Vec::new(),
        history: simplest.history.clone(),
    })
}

fn reason(contents: bool, answers: bool) -> &'static str {
    match (contents, answers) {
        (true, _) => "no one-after-the-other order leaves these data behind",
        (false, true) => "no one-after-the-other order gives these answers, though the data could be",
        (false, false) => "the answers and the data belong to different orders",
    }
}
