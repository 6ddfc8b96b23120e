//! Stages whole folders of scenarios at every level and in every form, and compares with what they expect.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use isolab::report::Run;
use isolab::runner::{RunError, RunOptions, Stage, room, runs_alone, side_by_side};
use isolab::scenario::{Disk, FileReader, Level, Scenario, parse};
use isolab::schedule::Staged;
use isolab::server::{Fetch, FindOptions, Server};

fn main_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn scenario(path: &Path) -> Scenario {
    let text = Disk.read(path).expect("readable");
    parse(&Disk, path, &text).expect("valid").scenario
}

/// Every form of a file at its levels: what differs from what it expects, and how many runs there were.
fn differences(server: &Server, path: &Path) -> (Vec<String>, usize) {
    let scenario = scenario(path);
    let forms = std::iter::once(None).chain(scenario.variants.iter().map(Some));
    let mut differing = Vec::new();
    let mut count = 0;
    for form in forms {
        let fix = form.map(|variant| variant.name.as_str());
        let plan = scenario.plan(fix).expect("known");
        let own = form.map(|variant| variant.levels.clone()).filter(|levels| !levels.is_empty());
        let options = RunOptions {
            deadline: Instant::now() + Duration::from_secs(60),
            name_locks: false,
            explores: false,
            saves_round_trips: true,
            observes_late: false,
            next: None,
        };
        let mut stage = match Stage::prepare(server, &scenario, fix, options) {
            Ok(stage) => stage,
            Err(RunError::Unmet { reason }) => {
                eprintln!("{}: skipped: {reason}", path.display());
                continue;
            }
            Err(error) => {
                differing.push(format!("{} {fix:?}: {error}", path.display()));
                continue;
            }
        };
        for level in own.unwrap_or(Level::ALL.to_vec()) {
            count += 1;
            let played = stage.run(level, &mut Staged::new(&plan.order), &mut |_| {});
            let name = format!("{} {} {level}", path.display(), fix.unwrap_or("as written"));
            match played {
                Err(error) => differing.push(format!("{name}: {error}")),
                Ok(history) => {
                    let run = Run::judged(&scenario.title, history, &plan.expects, server.version().major);
                    if run.is_unexpected() {
                        differing.push(format!("{name}: expected {:?}, was {:?}", run.expected, run.verdict));
                    }
                }
            }
        }
        stage.close().expect("leaves nothing behind");
    }
    (differing, count)
}

/// The scenario files in a folder and in the folders inside it.
fn scenario_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in folder.read_dir().expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(scenario_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "sql") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn stage_all(folders: &[PathBuf]) {
    let server = Server::find(&FindOptions { fetch: Fetch::Always, ..FindOptions::default() }).expect("a server");
    let files: Vec<PathBuf> = folders.iter().flat_map(|folder| scenario_files(folder)).collect();
    let threads = room(&server).expect("an answer");
    let mut differing = Vec::new();
    let mut count = 0;
    let work = |path: &PathBuf| differences(&server, path);
    let take = |(found, runs): (Vec<String>, usize)| {
        differing.extend(found);
        count += runs;
        Ok::<(), Infallible>(())
    };
    side_by_side(&files, threads, |path| any_form_runs_alone(path), work, take).expect("no error stops it");
    assert!(count > 0, "nothing was staged");
    assert!(
        differing.is_empty(),
        "{} of {count} runs on {} differ:\n{}",
        differing.len(),
        server.describe(),
        differing.join("\n")
    );
}

fn any_form_runs_alone(path: &Path) -> bool {
    let scenario = scenario(path);
    let plans = scenario.variants.iter().map(|variant| &variant.plan);
    plans.chain([&scenario.as_written]).any(runs_alone)
}

#[test]
fn the_built_in_scenarios_give_what_they_expect() {
    stage_all(&[main_folder().join("scenarios")]);
}

#[test]
fn the_reported_cases_give_what_they_expect() {
    stage_all(&[main_folder().join("tests/cases")]);
}

#[test]
fn the_shared_examples_give_what_they_expect() {
    let Some(shared) = std::env::var_os("ISOLAB_SHARED").map(PathBuf::from) else {
        eprintln!("skipped: ISOLAB_SHARED does not name the folder with the examples");
        return;
    };
    let examples = shared.join("data/examples");
    stage_all(&[examples.join("cases"), examples.join("catalogue")]);
}
