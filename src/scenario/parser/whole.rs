//! A scenario's text with what it refers to put in place, so that a copy of it needs no other file.

use std::collections::HashSet;
use std::path::Path;

use super::sections::{normalised, split, with_headers_joined};
use super::slice::Slice;
use crate::scenario::files::{FileReader, ReadError};
use crate::scenario::model::LoadRows;

/// The text of a scenario that was read without mistakes: `@schema FILE` has the file's statements as its body, and the
/// rows that its `@load` takes from a file stand in a `@file` section behind it.
pub fn whole(files: &dyn FileReader, path: &Path, text: &str, rows: Option<&LoadRows>) -> Result<String, ReadError> {
    let text = normalised(text);
    let joined = with_headers_joined(&text);
    let (preamble, sections) = split(Slice::whole(&joined, 0));
    let inline: HashSet<&str> =
        sections.iter().filter(|section| section.word.text == "file").map(|section| section.header.text).collect();
    let is_elsewhere = |file: &str| !file.is_empty() && !inline.contains(file);
    let mut whole = preamble.text.to_owned();
    for section in &sections {
        let written = &text[section.whole.span().range()];
        match (section.word.text, rows) {
            ("schema", _) if is_elsewhere(section.header.text) => {
                let file = path.parent().unwrap_or(Path::new("")).join(section.header.text);
                let statements = normalised(&files.read(&file)?);
                whole += &format!("-- @schema\n{}\n{}", statements.trim_end(), section.body.text);
            }
            ("load", Some(rows)) if is_elsewhere(&rows.file) => {
                whole += &format!("{}\n\n{}\n", written.trim_end(), file_section(rows)?);
            }
            _ => whole += written,
        }
    }
    Ok(whole)
}

/// `@file` with the rows as comments.
pub fn file_section(rows: &LoadRows) -> Result<String, ReadError> {
    // A comment that begins with `@` would be a section of its own.
    let is_mistakable = rows.columns.iter().chain(rows.rows.iter().flatten()).any(|cell| cell.starts_with('@'));
    let style = if is_mistakable { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
    let mut text = Vec::new();
    let mut writer = csv::WriterBuilder::new().quote_style(style).from_writer(&mut text);
    for row in std::iter::once(&rows.columns).chain(&rows.rows) {
        writer.write_record(row)?;
    }
    drop(writer);
    let text = String::from_utf8_lossy(&text);
    let lines = text.trim_end().split('\n').map(|line| format!("-- {line}\n"));
    Ok(format!("-- @file {}\n{}", rows.file, lines.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::model::Scenario;
    use crate::scenario::{Mistakes, parse};

    /// A folder with a schema and two files of rows.
    struct Folder;

    impl FileReader for Folder {
        fn read(&self, path: &Path) -> Result<String, ReadError> {
            match path.to_str() {
                Some("lab/../schema.sql") => Ok("CREATE TABLE t (a int);\r\n-- the end\r\n".to_owned()),
                Some("lab/rows.csv") => Ok("name,amount\n\"o'hara, ann\",1\nbob,2\n".to_owned()),
                Some("lab/odd.csv") => Ok("name,amount\n\"@check\",1\n".to_owned()),
                _ => Err(ReadError::NotFound),
            }
        }
    }

    /// A folder with nothing in it.
    struct Nowhere;

    impl FileReader for Nowhere {
        fn read(&self, _path: &Path) -> Result<String, ReadError> {
            Err(ReadError::NotFound)
        }
    }

    fn read(files: &dyn FileReader, text: &str) -> Scenario {
        let parsed = parse(files, Path::new("lab/mine.sql"), text);
        parsed.map_err(|Mistakes { diagnostics, .. }| diagnostics).expect("a scenario").scenario
    }

    fn statements(scenario: &Scenario) -> Vec<String> {
        let ops = scenario.as_written.schema.iter().flat_map(|script| &script.program.ops);
        ops.map(|op| format!("{:?}", op.action).replace(char::is_numeric, "")).collect()
    }

    const TEXT: &str = "\u{feff}-- by us\n-- @title Mine\n\n-- @schema ../schema.sql\n-- What stands there.\n\n\
        -- @transaction t(who, n)\nINSERT INTO t VALUES (:n);\n\n\
        -- @load t(:name, :amount);\n--  t('x', 1) by 2 workers, 10 requests, from rows.csv\n-- As often as it takes.\n\n\
        -- @fix f at serializable\n";

    #[test]
    fn a_copy_needs_no_other_file() {
        let scenario = read(&Folder, TEXT);
        let copy =
            whole(&Folder, Path::new("lab/mine.sql"), TEXT, scenario.load.as_ref().unwrap().rows.as_ref()).unwrap();
        assert_eq!(
            copy,
            "-- by us\n-- @title Mine\n\n-- @schema\nCREATE TABLE t (a int);\n-- the end\n-- What stands there.\n\n\
             -- @transaction t(who, n)\nINSERT INTO t VALUES (:n);\n\n\
             -- @load t(:name, :amount);\n--  t('x', 1) by 2 workers, 10 requests, from rows.csv\n-- As often as it takes.\n\n\
             -- @file rows.csv\n-- name,amount\n-- \"o'hara, ann\",1\n-- bob,2\n\n\
             -- @fix f at serializable\n"
        );
        let again = read(&Nowhere, &copy);
        assert_eq!(statements(&again), statements(&scenario));
        assert_eq!(again.load.as_ref().unwrap().rows, scenario.load.as_ref().unwrap().rows);
        let rows = again.load.as_ref().unwrap().rows.as_ref();
        assert_eq!(whole(&Nowhere, Path::new("mine.sql"), &copy, rows).unwrap(), copy);
    }

    #[test]
    fn a_row_that_looks_like_a_section_stays_a_row() {
        let text = TEXT.replace("rows.csv", "odd.csv");
        let scenario = read(&Folder, &text);
        let rows = scenario.load.as_ref().unwrap().rows.as_ref();
        let copy = whole(&Folder, Path::new("lab/mine.sql"), &text, rows).unwrap();
        assert_eq!(read(&Nowhere, &copy).load.unwrap().rows.as_ref(), rows);
    }
}
