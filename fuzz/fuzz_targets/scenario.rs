//! Any text is a scenario or has mistakes that can be drawn; a scenario that is printed reads as the same again.
#![no_main]

use std::path::Path;

use isolab::scenario::{FileReader, ReadError, parse, print, render};
use libfuzzer_sys::fuzz_target;

/// A folder with one schema and one file of rows.
struct Folder;

impl FileReader for Folder {
    fn read(&self, path: &Path) -> Result<String, ReadError> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("sql") => Ok("CREATE TABLE t (a int);\n".to_owned()),
            Some("csv") => Ok("team,amount\nx,1\n".to_owned()),
            _ => Err(ReadError::NotFound),
        }
    }
}

fuzz_target!(|text: &str| {
    let path = Path::new("fuzz.sql");
    match parse(&Folder, path, text) {
        Ok(parsed) => {
            render(&parsed.warnings, &parsed.scenario.sources, true);
            let printed = print(&parsed.scenario);
            match parse(&Folder, path, &printed) {
                Ok(again) => assert_eq!(print(&again.scenario), printed),
                Err(mistakes) => panic!("{:#?}\nin\n{printed}", mistakes.diagnostics),
            }
        }
        Err(mistakes) => drop(render(&mistakes.diagnostics, &mistakes.sources, true)),
    }
});
