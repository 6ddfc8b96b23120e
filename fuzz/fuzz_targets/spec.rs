//! Any text is a file of PostgreSQL's isolation tests or is refused with a reason.
#![no_main]

use isolab::scenario::render;
use isolab::spec::parse;
use libfuzzer_sys::fuzz_target;

/// A file without permutations has all of them: far too many to look at.
const SCHEDULES: usize = 20;

fuzz_target!(|text: &str| {
    match parse("fuzz.spec", text.to_owned()) {
        Ok(file) => {
            for permutation in file.schedules().take(SCHEDULES) {
                for entry in &permutation.entries {
                    file.step(entry);
                }
            }
        }
        Err(refused) => drop(render(&refused.mistakes, &refused.sources, true)),
    }
});
