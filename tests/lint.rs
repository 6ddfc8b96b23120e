//! Broken scenario files, and what is said about them.
//!
//! `tests/lint/NAME.sql` is the file, `tests/lint/NAME.snap` the text. After a wanted change, `INSTA_UPDATE=always cargo
//! test --test lint` writes the new text; read the difference before you commit it.

use std::fs;
use std::path::{Path, PathBuf};

use insta::{Settings, assert_snapshot};
use isolab::scenario::{Disk, parse, render};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint")
}

/// What is said about a file, its path as seen from the repository.
fn said(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a readable file");
    let shown = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("a path in the repository");
    match parse(&Disk, shown, &text) {
        Ok(parsed) => render(&parsed.warnings, &parsed.scenario.sources, false),
        Err(mistakes) => render(&mistakes.diagnostics, &mistakes.sources, false),
    }
}

#[test]
fn every_broken_file_is_met_with_its_mistakes() {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path(folder());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let entries = fs::read_dir(folder()).expect("the folder").map(|entry| entry.expect("an entry").path());
    let files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|ending| ending == "sql")).collect();
    assert!(files.len() >= 60);
    for path in files {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = said(&path);
        assert!(!text.is_empty(), "nothing was said about {name}");
        settings.bind(|| assert_snapshot!(name, text));
    }
}
