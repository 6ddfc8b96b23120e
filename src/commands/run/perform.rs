//! Plays selections on a server: one while its story is told, or many at once.

use std::time::Instant;

use super::super::context::Context;
use super::super::diagnose;
use super::super::exit::UsageError;
use super::super::selection::Selection;
use super::pause;
use crate::history::{Event, Phase, What};
use crate::report::story::{Heading, Story};
use crate::report::style::Ink;
use crate::report::{Run, Style};
use crate::runner::{RunError, RunOptions, Stage, room, runs_alone, side_by_side};
use crate::scenario::{Level, Plan};
use crate::schedule::{Replay, Schedule, Staged, Strategy};
use crate::server::Server;
use crate::verdict::Outcome;

/// Said where `--step` waits.
const PROMPT: &str = "[Enter]";

/// How selections are performed.
pub struct Performance<'a> {
    pub server: &'a Server,
    pub deadline: Instant,
    /// Wait for Enter before each statement.
    pub step: bool,
    pub replay: Option<&'a str>,
    /// How mistakes are drawn that only the server could find.
    pub error_style: Style,
}

/// Plays all selections, several at once. `take` gets the runs of each, in order.
pub fn perform_all(
    selections: &[Selection],
    performance: &Performance,
    mut take: impl FnMut(Vec<Run>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let alone = |selection: &Selection| runs_alone(selection.plan());
    let work = |selection: &Selection| perform(selection, performance, None);
    side_by_side(selections, room(performance.server)?, alone, work, |runs| take(runs?))
}

/// Plays the selection at each of its levels, and tells the stories as they go if there is a context to tell them in.
pub fn perform(
    selection: &Selection,
    performance: &Performance,
    mut context: Option<&mut Context>,
) -> anyhow::Result<Vec<Run>> {
    let Selection { scenario, fix, levels } = selection;
    let options = RunOptions {
        deadline: performance.deadline,
        name_locks: true,
        explores: false,
        saves_round_trips: !performance.step,
        observes_late: false,
        next: levels.first().copied(),
    };
    let mut stage = match Stage::prepare(performance.server, scenario, *fix, options) {
        Ok(stage) => stage,
        Err(RunError::Unmet { reason }) => {
            let runs = skipped(selection, &reason);
            if let Some(context) = context {
                context.say(&stories(context.style, &runs))?;
            }
            return Ok(runs);
        }
        Err(error) => return Err(diagnose::run_error(error, &scenario.sources, performance.error_style)),
    };
    let mut runs = Vec::new();
    for &level in levels {
        let run = play(&mut stage, selection, level, performance, context.as_deref_mut())?;
        // In another order than the staged one an object may be missing without a mistake in the file.
        if performance.replay.is_none() {
            diagnose::unforeseen_errors(&run, &scenario.sources, performance.error_style)?;
        }
        runs.push(run);
    }
    stage.close()?;
    Ok(runs)
}

fn play(
    stage: &mut Stage,
    selection: &Selection,
    level: Level,
    performance: &Performance,
    context: Option<&mut Context>,
) -> anyhow::Result<Run> {
    let Selection { scenario, fix, .. } = selection;
    let plan = selection.plan();
    let mut strategy = strategy(stage, plan, performance.replay)?;
    let sessions = stage.sessions(level);
    let mut play = |listener: &mut dyn FnMut(&Event)| {
        let history = stage
            .run(level, strategy.as_mut(), listener)
            .map_err(|error| diagnose::run_error(error, &scenario.sources, performance.error_style))?;
        // An `@expect` speaks of the staged order, not of another one.
        let expects = if performance.replay.is_some() { &[][..] } else { &plan.expects };
        anyhow::Ok(Run::judged(&scenario.title, history, expects, performance.server.version().major))
    };
    let Some(context) = context else { return play(&mut |_| {}) };
    let heading =
        Heading { title: &scenario.title, scenario: &scenario.name, fix: *fix, isolation: level, sessions: &sessions };
    let (mut story, first) = Story::begin(context.style, &heading, step_names(plan));
    context.say(&first)?;
    let mut unsaid = Ok(());
    let prompt = performance.error_style.paint(Ink::Aside, PROMPT);
    let run = play(&mut |event| {
        let text = story.event(event);
        if unsaid.is_ok() && !text.is_empty() {
            unsaid = context.say(&text);
        }
        if performance.step && waits_for_the_teacher(event) {
            pause::until_enter(&prompt);
        }
    })?;
    unsaid?;
    context.say(&story.end(&run))?;
    Ok(run)
}

/// The author's order, or the one that `--replay` names.
fn strategy(stage: &mut Stage, plan: &Plan, replay: Option<&str>) -> Result<Box<dyn Strategy>, UsageError> {
    let Some(text) = replay else { return Ok(Box::new(Staged::new(&plan.order))) };
    let names: Vec<&str> = plan.sessions.iter().map(|session| session.name.as_str()).collect();
    let schedule = Schedule::parse(text, &names).map_err(|error| UsageError::new(format!("--replay: {error}")))?;
    stage.leave_out(schedule.left_out.clone());
    Ok(Box::new(Replay::new(schedule)))
}

/// BEGIN goes out with the statement after it.
fn waits_for_the_teacher(event: &Event) -> bool {
    event.phase == Phase::Schedule && matches!(&event.what, What::Sent { sql } if !sql.eq_ignore_ascii_case("begin"))
}

fn step_names(plan: &Plan) -> impl Iterator<Item = &str> {
    let calls = plan.sessions.iter().flat_map(|session| &session.calls);
    calls.flat_map(|call| &call.transaction.program.steps).map(String::as_str)
}

fn skipped(selection: &Selection, reason: &str) -> Vec<Run> {
    let Selection { scenario, fix, levels } = selection;
    let run = |level: &Level| {
        let outcome = Outcome::Skipped { reason: reason.to_owned() };
        Run::without_verdict(&scenario.name, &scenario.title, *fix, *level, outcome)
    };
    levels.iter().map(run).collect()
}

/// The stories of runs that are over; what was skipped at several levels is told once.
pub fn stories(style: Style, runs: &[Run]) -> String {
    let told = runs
        .iter()
        .enumerate()
        .filter(|(index, run)| !index.checked_sub(1).is_some_and(|before| run.is_skipped_as(&runs[before])));
    told.map(|(_, run)| Story::whole(style, run)).collect()
}
