//! A scenario that is printed and read again is the same scenario.

mod bodies;
mod mutations;

use std::fs;
use std::path::{Path, PathBuf};

use isolab::scenario::source::Sources;
use isolab::scenario::{Disk, Scenario, builtin, parse, print};

/// Everything that a scenario says but the places in its files.
fn told(scenario: Scenario) -> String {
    const SPAN: &str = "Span {";
    let told = format!("{:#?}", Scenario { sources: Sources::default(), ..scenario });
    let mut rest = told.as_str();
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once(SPAN) {
        plain += before;
        rest = after.split_once('}').map_or("", |(_, behind)| behind);
    }
    plain + rest
}

fn read(path: &Path, text: &str) -> Option<Scenario> {
    parse(&Disk, path, text).ok().map(|parsed| parsed.scenario)
}

/// Fails where a scenario is another one after it was printed and read again. Returns whether the text is a scenario.
#[track_caller]
fn survives(path: &Path, text: &str) -> bool {
    let Some(scenario) = read(path, text) else { return false };
    let printed = print(&scenario);
    let again = parse(&Disk, path, &printed).map(|parsed| parsed.scenario).map_err(|mistakes| mistakes.diagnostics);
    let again = again.unwrap_or_else(|mistakes| panic!("{mistakes:#?}\nof\n{text}\nprinted as\n{printed}"));
    assert_eq!(print(&again), printed, "printed twice, of\n{text}");
    let (before, after) = (told(scenario), told(again));
    if before != after {
        let differs = before.lines().zip(after.lines()).position(|(before, after)| before != after).unwrap_or(0);
        let around = |text: &str| text.lines().skip(differs.saturating_sub(12)).take(24).collect::<Vec<_>>().join("\n");
        panic!("{}\nbecame\n{}\nof\n{text}\nprinted as\n{printed}", around(&before), around(&after));
    }
    true
}

/// The scenario files of this repository, and those of the folder that ISOLAB_SHARED names.
fn files() -> Vec<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = builtin().map(|builtin| repository.join(builtin.path)).collect();
    collect(&repository.join("tests/cases"), &mut files);
    collect(&repository.join("tests/lint"), &mut files);
    if let Some(shared) = std::env::var_os("ISOLAB_SHARED") {
        collect(&Path::new(&shared).join("data/examples"), &mut files);
    }
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "sql") {
            files.push(path);
        }
    }
}

#[test]
fn every_scenario_file_survives() {
    let survived = files().iter().filter(|path| survives(path, &fs::read_to_string(path).expect("a file"))).count();
    assert!(survived >= 105, "{survived} of them are scenarios");
}

#[test]
fn the_readme_and_the_file_to_begin_with_survive() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(repository.join("README.md")).expect("the README");
    let blocks = readme.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    assert_eq!(blocks.filter(|block| survives(Path::new("readme.sql"), block)).count(), 2);
    let begin = fs::read_to_string(repository.join("src/commands/new.sql")).expect("a file");
    assert!(survives(Path::new("new.sql"), &begin));
}

/// What a line-by-line reading could lose.
#[test]
fn odd_places_survive() {
    for text in [
        // A variable right before letters, and one that a `\while` waits for.
        "-- @title a,\n\n-- story, @ and more\n--@here\n--  @there\n-- @param x = 'a;'\n-- @session s\nSELECT :'x'y;\n",
        "-- @title t\n-- @session s autocommit\nSELECT 1 AS a \\gset p_\n\\set b 1; ;\n\\while :b\nSELECT 2;\n\\endwhile\nSELECT 3;\n",
        "-- @title t\n-- @session s autocommit\n\\step x\n\\echo\n\\step y\nBEGIN;\n\\step fin\nCOMMIT;\n\\crash\n",
        "-- @title t\n-- @session s autocommit\n\\if true\n\\else\n\\if false\n\\else\n\\endif\n\\endif\nSELECT 1;\n",
        "-- @title t\n-- @session s\n\\try\nSELECT 1;\n\\on 40001\n\\on 23505, 23514\n\\rollback\n\\endtry\n",
        // Found by fuzzing: CRs that become line ends only when one of them is gone.
        "-- @title t\n-- @setup\nCOPY t FROM 'x'\r\r\r\r\n\nC;\n-- @session a\nSELECT 1;\n",
        // A fix that only repeats, one that drops moves, one with a level alone.
        "-- @title t\n-- @session s\n\\step a\nSELECT 1;\n\\step b\nSELECT 2;\n-- @order s a, s b\n\
         -- @fix same\n-- @retry 2\n-- @fix less\n-- @session s\n\\step b\nSELECT 3;\n-- @fix up at all\n-- @retry 2\n",
        "-- @title t\n-- @retry 2\n-- @session s\nSELECT 1;\n-- @fix same\n-- @retry  2\n-- @expect all: holds\n",
        "-- @title t\n-- @requires search_path = ' a'\n-- @requires version < 19\n-- @transaction t(n)\nSELECT :n;\n\
         -- @load t(random(-1, 3)); t(:worker) by 2 workers, for 1500ms, set x = 1 -- c\n-- @param x = 2\n",
    ] {
        assert!(survives(Path::new("odd.sql"), text), "{text}");
    }
}
