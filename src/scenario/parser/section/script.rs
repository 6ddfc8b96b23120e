//! `@schema` and `@setup`: statements outside any transaction.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::scenario::files::ReadError;
use crate::scenario::model::Script;
use crate::scenario::parser::body::{Kind, compile};
use crate::scenario::parser::sections::{Section, normalised};
use crate::scenario::parser::slice::Slice;
use crate::scenario::parser::{Form, Parser};
use crate::scenario::source::{SourceFile, Span};

impl Parser<'_> {
    /// `@schema [FILE]`.
    pub(super) fn read_schema(&mut self, form: Form, section: &Section<'_>) {
        let script = if section.header.is_empty() {
            self.script(section.body, section.word.span())
        } else {
            self.only_comments(section);
            self.schema_file(section.header)
        };
        self.declared(form).schema.extend(script);
    }

    /// `@setup`.
    pub(super) fn read_setup(&mut self, form: Form, section: &Section<'_>) {
        self.no_header(section);
        let script = self.script(section.body, section.word.span());
        self.declared(form).setup.extend(script);
    }

    pub(super) fn script(&mut self, body: Slice<'_>, span: Span) -> Option<Script> {
        let scope = self.scope();
        let program = compile(body, Kind::Script, span, scope, &mut self.context()).program;
        if program.ops.is_empty() {
            self.diagnostics
                .error(span, "there is no statement in this section")
                .help("write them below its line, each ended by `;`");
            return None;
        }
        Some(Script { program: Arc::new(program), span })
    }

    fn no_header(&mut self, section: &Section<'_>) {
        if !section.header.is_empty() {
            self.diagnostics
                .error(section.header.span(), format!("`@{}` takes nothing on its line", section.word.text))
                .help("its statements stand below");
        }
    }

    /// Each file is read once, however many fixes name it.
    fn schema_file(&mut self, name: Slice<'_>) -> Option<Script> {
        if let Some(known) = self.schema_files.get(name.text) {
            return known.clone();
        }
        let script = self.read_beside(name).and_then(|text| {
            let text = normalised(&text);
            let path = self.beside(name.text).display().to_string();
            let source = Arc::new(SourceFile { name: path, text });
            let file = self.sources.files.len() as u16;
            self.sources.files.push(Arc::clone(&source));
            let whole = Slice::whole(&source.text, file);
            self.no_sections(whole);
            self.script(whole, whole.get(0..0).span())
        });
        self.schema_files.insert(name.text.to_owned(), script.clone());
        script
    }

    fn no_sections(&mut self, text: Slice<'_>) {
        let (_, sections) = crate::scenario::parser::sections::split(text);
        if let Some(section) = sections.first() {
            self.diagnostics
                .error(section.word.span(), "a file of `@schema` has statements only, no sections")
                .help("put the section into the scenario itself");
        }
    }

    /// The text of a file that the scenario names: of its own `@file` section, or beside it.
    pub(super) fn read_beside(&mut self, name: Slice<'_>) -> Option<String> {
        if let Some(text) = self.inline_files.get(name.text) {
            return Some(text.clone());
        }
        let path = self.beside(name.text);
        match self.files.read(&path) {
            Ok(text) => Some(text),
            Err(error) => {
                let diagnostic =
                    self.diagnostics.error(name.span(), format!("cannot read `{}`: {error}", path.display()));
                if matches!(error, ReadError::NotFound) {
                    diagnostic.help("the path is relative to the scenario's folder");
                }
                None
            }
        }
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(name)
    }
}
