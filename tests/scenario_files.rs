//! `isolab lint` and `show`, as a user meets them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use isolab::scenario::Builtin;

fn isolab(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isolab"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("the program runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

#[test]
fn lint_says_nothing_against_the_builtin_scenarios() {
    let output = isolab(&["lint", "write-skew", "scenarios/lost-updates/lost-update.sql"]);
    assert_eq!(stdout(&output), "2 files, no mistakes\n");
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn lint_shows_the_mistakes_of_all_files_and_fails() {
    let output = isolab(&["lint", "tests/lint/unknown-step.sql", "tests/lint/missing.sql", "wrote-skew"]);
    let said = stderr(&output);
    assert!(
        said.contains("error: session `bob` has no step `chekc`\n  --> tests/lint/unknown-step.sql:11:28\n"),
        "{said}"
    );
    assert!(said.contains("error: cannot read `tests/lint/missing.sql`: no such file\n"), "{said}");
    assert!(said.contains("error: no scenario is called `wrote-skew`; did you mean `write-skew`?\n"), "{said}");
    assert_eq!(stdout(&output), "");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn lint_lets_warnings_pass() {
    let output = isolab(&["lint", "tests/lint/reject-after-a-write.sql"]);
    assert!(stderr(&output).starts_with("warning: `\\reject` commits what the transaction has written\n"));
    assert_eq!(stdout(&output), "1 file, no mistakes, 1 warning\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn other_commands_show_the_mistakes_too() {
    for command in ["show", "run"] {
        let output = isolab(&[command, "tests/lint/unknown-step.sql"]);
        assert!(
            stderr(&output)
                .starts_with("error: session `bob` has no step `chekc`\n  --> tests/lint/unknown-step.sql:11:28\n")
        );
        assert_eq!(output.status.code(), Some(2), "{command}");
    }
}

#[test]
fn a_shown_scenario_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    for Builtin { name, .. } in isolab::scenario::builtin() {
        let shown = isolab(&["show", name]);
        assert_eq!(shown.status.code(), Some(0), "{name}");
        let copy = folder.path().join("mine.sql");
        fs::write(&copy, &shown.stdout).expect("a file");
        let linted = isolab(&["lint", path(&copy)]);
        assert_eq!(linted.status.code(), Some(0), "{name}: {}", stderr(&linted));
        assert_eq!(stdout(&isolab(&["show", path(&copy)])), stdout(&shown), "{name}");
    }
}

#[test]
fn a_fix_is_shown_as_what_it_changes() {
    let output = isolab(&["show", "overspend", "--fix", "for-update"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let shown = stdout(&output);
    assert!(shown.starts_with("--- overspend\n+++ overspend --fix for-update\n@@ -1,"), "{shown}");
    assert!(shown.contains("\n+-- @fix for-update\n"), "{shown}");
    assert!(shown.contains("\n+SELECT budget FROM teams WHERE id = 'design' FOR UPDATE \\gset team_\n"), "{shown}");
    assert!(shown.contains("\n -- @session alice: approve('alice', 300)\n"), "{shown}");
}

#[test]
fn two_fixes_are_compared_with_each_other_and_all_with_what_is_written() {
    let two = stdout(&isolab(&["show", "write-skew", "--fix", "serializable", "--fix", "for-update"]));
    assert!(two.starts_with("--- write-skew --fix serializable\n+++ write-skew --fix for-update\n"), "{two}");
    assert!(two.contains("\n--- @fix serializable at serializable\n"), "{two}");
    let all = stdout(&isolab(&["show", "write-skew", "--fix", "all"]));
    let variants = isolab::scenario::load("write-skew").expect("a scenario").variants;
    assert_eq!(all.matches("\n+++ write-skew --fix ").count(), variants.len());
}

#[test]
fn what_cannot_be_compared_says_why() {
    let refused = |fixes: &[&str]| {
        let fixes = fixes.iter().flat_map(|fix| ["--fix", fix]);
        let output = isolab(&["show", "write-skew"].into_iter().chain(fixes).collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    assert!(refused(&["for-updat"]).contains("did you mean `for-update`?"));
    assert!(refused(&["for-update", "conditional", "serializable"]).starts_with("error: only two forms"));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_isolab"))
        .args(["show", "write-skew"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(stderr(&output), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let large = folder.path().join("large.sql");
    let file = fs::File::create(&large).expect("a file");
    file.set_len(50 * 1024 * 1024).expect("a sparse file");
    let output = isolab(&["lint", path(&large)]);
    assert_eq!(stderr(&output), format!("error: cannot read `{}`: it is larger than 4 MiB\n\n", large.display()));
    assert_eq!(output.status.code(), Some(2));
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
