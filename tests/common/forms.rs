//! Every form of the scenarios that are built in or were reported, to explore.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use isolab::explore::{Exploration, Options, explore};
use isolab::history::{Event, History, Phase, What};
use isolab::runner::{RunError, RunOptions, Stage};
use isolab::scenario::{Level, Scenario, builtin, load};
use isolab::schedule::{LeftOut, Replay, Schedule, Staged, Strategy};
use isolab::server::Server;

/// OIDs of the types of times and transaction numbers.
const PASSING_TYPES: [u32; 8] = [28, 1082, 1083, 1114, 1184, 1266, 2970, 5069];

/// The built-in scenarios and those of tests/cases.
pub fn all_scenarios() -> Vec<Scenario> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = cases.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let cases = files.iter().map(|path| load(path.to_str().expect("UTF-8")).expect("valid"));
    builtin().map(|builtin| load(builtin.name).expect(builtin.name)).chain(cases).collect()
}

/// As written and every fix and variant, each with the levels that it runs at.
pub fn forms(scenario: &Scenario) -> Vec<(Option<&str>, Vec<Level>)> {
    let variants = scenario.variants.iter().map(|variant| {
        let levels = if variant.levels.is_empty() { Level::ALL.to_vec() } else { variant.levels.clone() };
        (Some(variant.name.as_str()), levels)
    });
    std::iter::once((None, Level::ALL.to_vec())).chain(variants).collect()
}

pub fn options(reduces: bool, max_schedules: u64, seconds: u64) -> Options {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    Options { deadline, max_schedules, fallback_seed: None, runners: 1, reduces, by_step: false, details: true }
}

/// What exploring gives at each level; nothing where the server lacks what the scenario requires.
pub fn explored(
    server: &Server,
    scenario: &Scenario,
    fix: Option<&str>,
    levels: &[Level],
    options: &Options,
) -> Vec<Exploration> {
    match explore(server, scenario, fix, levels, options, &mut || ()) {
        Ok(explorations) => explorations,
        Err(RunError::Unmet { reason }) => {
            println!("{} {fix:?} is left out: it {reason}", scenario.name);
            Vec::new()
        }
        Err(error) => panic!("{} {fix:?}: {error}", scenario.name),
    }
}

/// The outcomes of all orders that the reduced search did not find, and those that it found alone; empty: there are none.
pub fn losses(all: &Exploration, reduced: &Exploration) -> String {
    let [all, reduced] = [all, reduced].map(|of| of.outcomes.iter().collect::<BTreeSet<_>>());
    let lost = all.difference(&reduced).map(|outcome| format!("lost {outcome:?}\n"));
    let new = reduced.difference(&all).map(|outcome| format!("new {outcome:?}\n"));
    lost.chain(new).collect()
}

/// The author's own order.
pub fn staged(server: &Server, scenario: &Scenario, fix: Option<&str>, level: Level) -> History {
    let plan = scenario.plan(fix).expect("known");
    play(server, scenario, fix, level, &mut Staged::new(&plan.order), LeftOut::default())
}

/// The schedule of a history, as it is printed.
pub fn played_again(server: &Server, scenario: &Scenario, fix: Option<&str>, history: &History) -> History {
    let plan = scenario.plan(fix).expect("known");
    let names: Vec<&str> = plan.sessions.iter().map(|session| session.name.as_str()).collect();
    let schedule = Schedule::parse(&history.schedule, &names).expect("as it was printed");
    let left_out = schedule.left_out.clone();
    play(server, scenario, fix, history.isolation, &mut Replay::new(schedule), left_out)
}

fn play(
    server: &Server,
    scenario: &Scenario,
    fix: Option<&str>,
    level: Level,
    strategy: &mut dyn Strategy,
    left_out: LeftOut,
) -> History {
    let deadline = Instant::now() + Duration::from_secs(60);
    let options = RunOptions {
        deadline,
        name_locks: false,
        explores: false,
        saves_round_trips: true,
        observes_late: false,
        next: None,
    };
    let mut stage = Stage::prepare(server, scenario, fix, options).expect("a stage");
    stage.leave_out(left_out);
    stage.run(level, strategy, &mut |_| {}).expect("a run")
}

/// The events up to `@finally`, without the values that differ from run to run: times and transaction numbers, and what
/// was made of them.
pub fn without_passing_values(history: &History) -> Vec<String> {
    let mut passing: Vec<String> = Vec::new();
    for event in &history.events {
        let What::Done { types, rows, .. } = &event.what else { continue };
        for row in rows {
            let values = row.iter().zip(types).filter(|(_, oid)| PASSING_TYPES.contains(oid));
            passing.extend(values.filter_map(|(value, _)| value.clone()));
        }
    }
    passing.sort_by_key(|value| Reverse(value.len()));
    let shown = |event: &Event| passing.iter().fold(format!("{event:?}"), |text, value| text.replace(value, "…"));
    history.events.iter().filter(|event| event.phase != Phase::Finally).map(shown).collect()
}
