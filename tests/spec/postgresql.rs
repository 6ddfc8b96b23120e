//! PostgreSQL's own files, from the folder that `ISOLAB_SHARED` names.

use std::path::{Path, PathBuf};

use crate::{isolab, run, spec};

pub fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("ISOLAB_SHARED").map(|shared| Path::new(&shared).join("data/pg-isolation"));
    if folder.is_none() {
        eprintln!("skipped: ISOLAB_SHARED names no folder with PostgreSQL's isolation tests");
    }
    folder
}

fn is_18() -> bool {
    let newest = crate::common::installations().pop().expect("a PostgreSQL");
    if newest.version.major < 18 {
        eprintln!("skipped: the expected outputs need PostgreSQL 18, and the newest here is {}", newest.version);
    }
    newest.version.major >= 18
}

#[track_caller]
fn assert_all_same(runners: &str) {
    let Some(folder) = shared().filter(|_| is_18()) else { return };
    let (specs, expected) = (folder.join("specs"), folder.join("expected"));
    let (specs, expected) = (specs.display().to_string(), expected.display().to_string());
    let told = spec(&[&specs, "--expected", &expected, "--format", "text", "--runners", runners]);
    assert!(told.code == 0 && told.out.contains("79 files: 79 same"), "{}{}", told.out, told.err);
}

/// One after the other: two labs on one server would meet in the names of prepared transactions, which a cluster shares.
#[test]
fn all_give_an_expected_output_also_side_by_side() {
    assert_all_same("1");
    assert_all_same("2");
}

/// The probes have both streams in one, and isolationtester's exit code behind.
#[test]
fn the_probes_give_what_isolationtester_printed() {
    let Some(folder) = shared() else { return };
    let folder = tempfile::tempdir().map(|copy| (copy, folder.join("probes"))).expect("a folder");
    let (copy, probes) = &folder;
    let mut count = 0;
    for entry in probes.read_dir().expect("probes") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "out") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("an output");
        let (output, _exit_code) = text.rsplit_once("rc=").expect("an exit code");
        std::fs::write(copy.path().join(path.file_name().expect("a name")), output).expect("written");
        count += 1;
    }
    let (probes, expected) = (probes.display().to_string(), copy.path().display().to_string());
    let mut command = isolab(&[&probes, "--expected", &expected, "--format", "json", "--db", crate::database()]);
    let told = run(command.env("PG_TEST_TIMEOUT_DEFAULT", "1"));
    let document: serde_json::Value = serde_json::from_str(&told.out).expect("one JSON document");
    let rows = document["specs"].as_array().expect("rows");
    let other: Vec<_> = rows.iter().filter(|row| row["matched"].is_null()).collect();
    assert!(other.is_empty() && rows.len() == count, "{other:#?}");
}
