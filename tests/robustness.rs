//! No text makes the reader of scenarios panic, and every place that it names lies in the text.

use std::path::Path;

use isolab::scenario::source::{Sources, Span};
use isolab::scenario::{Diagnostic, Embedded, FileReader, ReadError, builtin, parse, render};
use proptest::prelude::*;

/// What scenario files are made of, and what they should not be made of.
const FRAGMENTS: [&str; 70] = [
    "\n",
    "\n",
    "\n",
    "\r\n",
    " ",
    "\t",
    "-- @",
    "--",
    "\n-- @title ",
    "\n-- @session ",
    "\n-- @transaction ",
    "\n-- @order ",
    "\n-- @expect ",
    "\n-- @load ",
    "\n-- @fix ",
    "\n-- @check ",
    "\n-- @measure ",
    "\n-- @param ",
    "\n-- @retry ",
    "\n-- @finally ",
    "\n-- @schema ",
    "\n-- @schema file.sql\n",
    "\n-- @setup\n",
    "\n-- @file rows.csv\n",
    "\n-- @requires ",
    "\n-- @database ",
    "from rows.csv",
    "a",
    "b",
    "main",
    "wait ",
    "at ",
    "serializable",
    "all",
    ": ",
    ":a",
    ":'a'",
    ":\"a\"",
    "::",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    "'",
    "\"",
    "$$",
    "$x$",
    "/*",
    "*/",
    "E'",
    "\\",
    "\\gset ",
    "\n\\set a ",
    "\n\\if ",
    "\n\\elif ",
    "\n\\else\n",
    "\n\\endif\n",
    "\n\\while ",
    "\n\\endwhile\n",
    "\n\\try\n",
    "\n\\on 40001\n",
    "\n\\endtry\n",
    "\n\\step ",
    "SELECT 1",
    "BEGIN;",
    "COMMIT;",
    "ß🦀",
    "\u{feff}",
];

/// A folder in which every file is broken in the same way.
struct Broken;

impl FileReader for Broken {
    fn read(&self, _path: &Path) -> Result<String, ReadError> {
        Ok("CREATE TABLE t (a int);\n-- @check\nSELECT ':a' || :a || \"ß;".to_owned())
    }
}

fn places_lie_in_the_text(diagnostics: &[Diagnostic], sources: &Sources) {
    let spans = diagnostics
        .iter()
        .flat_map(|diagnostic| diagnostic.notes.iter().map(|(span, _)| *span).chain([diagnostic.span]));
    for Span { file, start, end } in spans {
        let text = &sources.files[file as usize].text;
        assert!(text.get(start as usize..end as usize).is_some(), "{start}..{end} in {text:?}");
    }
    render(diagnostics, sources, true);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_too_odd(fragments in prop::collection::vec(prop::sample::select(&FRAGMENTS[..]), 0..60)) {
        match parse(&Broken, Path::new("odd.sql"), &fragments.concat()) {
            Ok(parsed) => places_lie_in_the_text(&parsed.warnings, &parsed.scenario.sources),
            Err(mistakes) => places_lie_in_the_text(&mistakes.diagnostics, &mistakes.sources),
        }
    }

    #[test]
    fn no_slip_in_a_good_file_is_too_odd(
        scenario in prop::sample::select(builtin().collect::<Vec<_>>()),
        at in any::<prop::sample::Index>(),
        length in 0..40_usize,
        fragment in prop::sample::select(&FRAGMENTS[..]),
    ) {
        let characters: Vec<char> = scenario.text.chars().collect();
        let start = at.index(characters.len());
        let end = (start + length).min(characters.len());
        let text: String = characters[..start].iter().copied().chain(fragment.chars()).chain(characters[end..].iter().copied()).collect();
        match parse(&Embedded, &scenario.path, &text) {
            Ok(parsed) => places_lie_in_the_text(&parsed.warnings, &parsed.scenario.sources),
            Err(mistakes) => places_lie_in_the_text(&mistakes.diagnostics, &mistakes.sources),
        }
    }
}
