//! A scenario's text with what it refers to put in place, so that a copy of it needs no other file.

use std::collections::HashSet;
use std::path::Path;

use super::sections::{Section, normalised, split, with_headers_joined};
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

/// The title of a scenario's text.
pub fn title(text: &str) -> Option<&str> {
    let (_, sections) = split(Slice::whole(text, 0));
    sections.iter().find(|section| section.word.text == "title").map(|section: &Section<'_>| section.header.text)
}

/// `@file` with the rows as comments.
fn file_section(rows: &LoadRows) -> Result<String, ReadError> {
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
