//! Plays one selection on a server, telling its story as it goes.

use std::time::Instant;

use super::super::context::Context;
use super::super::diagnose;
use super::super::exit::UsageError;
use super::pause;
use super::selection::Selection;
use crate::history::{Event, Phase, What};
use crate::report::story::{Heading, Story};
use crate::report::style::Ink;
use crate::report::{Run, Style};
use crate::runner::{RunError, RunOptions, Stage};
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
    /// Tell the stories on standard output.
    pub tells: bool,
    /// Wait for Enter before each statement.
    pub step: bool,
    pub replay: Option<&'a str>,
}

/// Plays the selection at each of its levels.
pub fn perform(
    selection: &Selection,
    performance: &mut Performance,
    context: &mut Context,
) -> anyhow::Result<Vec<Run>> {
    let Selection { scenario, fix, levels } = selection;
    let plan = scenario.plan(*fix).unwrap_or(&scenario.as_written);
    let options = RunOptions { deadline: performance.deadline, name_locks: true, explores: false };
    let mut stage = match Stage::prepare(performance.server, scenario, *fix, options) {
        Ok(stage) => stage,
        Err(RunError::Unmet { reason }) => return skipped(selection, &reason, performance, context),
        Err(error) => return Err(diagnose::run_error(error, &scenario.sources, context.error_style)),
    };
    let mut runs = Vec::new();
    for &level in levels {
        let mut strategy = strategy(plan, performance.replay)?;
        let run = play(&mut stage, selection, level, strategy.as_mut(), performance, context)?;
        diagnose::unforeseen_errors(&run, &scenario.sources, context.error_style)?;
        runs.push(run);
    }
    stage.close()?;
    Ok(runs)
}

fn play(
    stage: &mut Stage,
    selection: &Selection,
    level: Level,
    strategy: &mut dyn Strategy,
    performance: &Performance,
    context: &mut Context,
) -> anyhow::Result<Run> {
    let Selection { scenario, fix, .. } = selection;
    let plan = scenario.plan(*fix).unwrap_or(&scenario.as_written);
    let sessions = stage.sessions(level);
    let heading =
        Heading { title: &scenario.title, scenario: &scenario.name, fix: *fix, isolation: level, sessions: &sessions };
    let mut story = None;
    if performance.tells {
        let (begun, first) = Story::begin(context.style, &heading, step_names(plan));
        context.say(&first)?;
        story = Some(begun);
    }
    let mut unsaid = Ok(());
    let prompt = context.error_style.paint(Ink::Aside, PROMPT);
    let mut listener = |event: &Event| {
        if let Some(story) = &mut story {
            let text = story.event(event);
            if unsaid.is_ok() && !text.is_empty() {
                unsaid = context.say(&text);
            }
        }
        if performance.step && waits_for_the_teacher(event) {
            pause::until_enter(&prompt);
        }
    };
    let history = stage
        .run(level, strategy, &mut listener)
        .map_err(|error| diagnose::run_error(error, &scenario.sources, context.error_style))?;
    unsaid?;
    let run = Run::judged(&scenario.title, history, &plan.expects, performance.server.version().major);
    if let Some(story) = story {
        context.say(&story.end(&run))?;
    }
    Ok(run)
}

fn strategy(plan: &Plan, replay: Option<&str>) -> Result<Box<dyn Strategy>, UsageError> {
    let Some(text) = replay else { return Ok(Box::new(Staged::new(&plan.order))) };
    let names: Vec<&str> = plan.sessions.iter().map(|session| session.name.as_str()).collect();
    let schedule = Schedule::parse(text, &names).map_err(|error| UsageError::new(format!("--replay: {error}")))?;
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

fn skipped(
    selection: &Selection,
    reason: &str,
    performance: &Performance,
    context: &mut Context,
) -> anyhow::Result<Vec<Run>> {
    let Selection { scenario, fix, levels } = selection;
    if performance.tells {
        let form = fix.map(|fix| format!(", {fix}")).unwrap_or_default();
        context.say(&format!("{}{form}: skipped, it {reason}\n\n", scenario.name))?;
    }
    let run = |level: &Level| {
        let outcome = Outcome::Skipped { reason: reason.to_owned() };
        Run::without_verdict(&scenario.name, &scenario.title, *fix, *level, outcome)
    };
    Ok(levels.iter().map(run).collect())
}

/// The stories for a file.
pub fn plain_text(runs: &[Run]) -> String {
    runs.iter().map(|run| Story::whole(Style::PLAIN, run)).collect()
}
