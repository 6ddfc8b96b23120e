//! The sections about the file as a whole: `@title`, `@param`, `@database`, `@pool`, `@file`.

use std::rc::Rc;

use crate::scenario::model::Param;
use crate::scenario::parser::Parser;
use crate::scenario::parser::body::scope::{Names, check_expression};
use crate::scenario::parser::header::Header;
use crate::scenario::parser::sections::{Section, comment_text};
use crate::scenario::parser::templates;

/// An example of one.
pub const TITLE: &str = "such as `-- @title Two guests book one room`";

impl Parser<'_> {
    /// `@title TEXT`; the comments below it are the story.
    pub(super) fn read_title(&mut self, section: &Section<'_>) {
        self.define(None, "title", "", section.word.span());
        if section.header.is_empty() {
            self.diagnostics.error(section.word.span(), "the title is missing here").help(TITLE);
        }
        self.title.get_or_insert_with(|| section.header.text.to_owned());
        self.story = section.all_comments();
        self.only_comments(section);
    }

    /// `@param NAME = VALUE`.
    pub(super) fn read_param(&mut self, section: &Section<'_>) {
        self.only_comments(section);
        let mut header = Header::new(section.header);
        let Some(name) = header.name("variable", &mut self.diagnostics) else { return };
        self.define(None, "parameter", &name.text, name.span);
        if !header.eat("=") || header.at_end() {
            self.diagnostics
                .error(section.header.end().span(), "the value is missing here")
                .help(format!("write `-- @param {} = VALUE`", name.text));
            return;
        }
        let value = templates::sql(header.rest(), &mut self.diagnostics);
        check_expression(&value, &Names::default(), &mut self.diagnostics);
        Rc::make_mut(&mut self.param_names).insert(name.text.as_str());
        self.params.push(Param { name: name.text, value, span: name.span });
    }

    /// `@database NAME` or `@pool NAME`.
    pub(super) fn read_connection(&mut self, section: &Section<'_>) {
        self.only_comments(section);
        let is_pool = section.word.text == "pool";
        let mut header = Header::new(section.header);
        let kind = if is_pool { "pool" } else { "database" };
        let Some(name) = self.defined_name(&mut header, kind) else { return };
        header.finish("a name is all that belongs here", &mut self.diagnostics);
        self.define(None, "database or pool", &name.text, name.span);
        self.connections.insert(name.text.clone());
        if is_pool { &mut self.pools } else { &mut self.databases }.push(name.text);
    }

    /// `@file NAME`: the comments below it are the content of a file that other sections name.
    pub(super) fn read_file(&mut self, section: &Section<'_>) {
        self.define(None, "file", section.header.text, section.header.span());
        self.only_comments(section);
        let lines = section.body.text.lines().filter(|line| line.starts_with("--")).map(comment_text);
        let text = lines.fold(String::new(), |text, line| text + line + "\n");
        self.inline_files.insert(section.header.text.to_owned(), text);
    }
}
