//! `isolab new` as a user meets it: the file that it writes is one that runs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn isolab(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isolab"));
    command.args(arguments).current_dir(folder).env("ISOLAB_FETCH", "1").output().expect("the program runs")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn the_file_to_begin_with_runs_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let written = isolab(folder.path(), &["new", "mine.sql"]);
    assert_eq!(
        told(&written),
        "wrote mine.sql, which runs as it is:\n\n  isolab run mine.sql\n  isolab matrix mine.sql\n"
    );
    assert_eq!(written.status.code(), Some(0));
    assert_eq!(told(&isolab(folder.path(), &["lint", "mine.sql"])), "1 file, no mistakes\n");
    let ran = isolab(folder.path(), &["run", "mine.sql", "--isolation", "all", "--fix", "all", "-q"]);
    assert!(told(&ran).contains("7 runs: 7 as expected\n"), "{}", told(&ran));
    assert_eq!(ran.status.code(), Some(0));
}

#[test]
fn a_file_that_is_there_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.sql");
    fs::write(&file, "-- mine\n").expect("written");
    let output = isolab(folder.path(), &["new", "mine.sql"]);
    assert!(told(&output).starts_with("error: mine.sql is there already\nhelp: "), "{}", told(&output));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&file).expect("the file"), "-- mine\n");
}

#[test]
fn a_name_or_folder_that_would_not_do_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let builtin = isolab(folder.path(), &["new", "write-skew"]);
    assert_eq!(told(&builtin), "error: `write-skew` is a built-in scenario\nhelp: write write-skew.sql\n");
    assert_eq!(builtin.status.code(), Some(2));
    let nowhere = isolab(folder.path(), &["new", "no/mine.sql"]);
    assert!(told(&nowhere).starts_with("error: cannot write no/mine.sql: No such file"), "{}", told(&nowhere));
    assert_eq!(nowhere.status.code(), Some(3));
}
