//! The examples of the scenario language, in the folder that ISOLAB_SHARED names.

use std::fs;
use std::path::PathBuf;

use isolab::scenario::{Disk, parse};

#[test]
fn all_examples_are_read_without_an_error() {
    let Some(shared) = std::env::var_os("ISOLAB_SHARED") else {
        eprintln!("skipped: ISOLAB_SHARED does not name the folder of the examples");
        return;
    };
    let examples = PathBuf::from(shared).join("data/examples");
    let mut read = 0;
    for folder in fs::read_dir(&examples).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            match parse(&Disk, &path, &text) {
                Ok(parsed) => {
                    for warning in parsed.warnings {
                        eprintln!("{}: {}", parsed.scenario.sources.place(warning.span), warning.message);
                    }
                }
                Err(mistakes) => {
                    for mistake in &mistakes.diagnostics {
                        eprintln!("{}: {} {:?}", mistakes.sources.place(mistake.span), mistake.message, mistake.label);
                    }
                    panic!("{} has mistakes", path.display());
                }
            }
            read += 1;
        }
    }
    assert_eq!(read, 56);
}
