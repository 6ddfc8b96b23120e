//! Reads the scenario language into the model: a file into sections, their bodies into operations, all bound together.

mod body;
mod command;
mod declared;
mod header;
mod items;
pub(super) mod lexer;
mod resolve;
mod section;
mod sections;
pub(super) mod slice;
mod split;
mod statement;
mod templates;
mod whole;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use body::Context;
use body::scope::{Names, Scope, check_expression};
use declared::{Declared, DeclaredVariant};
use header::{Header, Name};
use sections::Section;
use slice::Slice;

use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::files::FileReader;
use super::model::{Load, Param, Scenario, Script};
use super::source::{SourceFile, Sources, Span};
use super::template::Template;

pub(super) use body::steps::Steps;
pub use split::{Piece, split};
pub use whole::{file_section, whole};

/// More sections are no scenario.
const MOST_SECTIONS: usize = 10_000;

/// A scenario, and what is doubtful about it.
#[derive(Debug)]
pub struct Parsed {
    pub scenario: Scenario,
    pub warnings: Vec<Diagnostic>,
}

/// Everything that is wrong with a scenario file, with the text that the places point into.
#[derive(Debug)]
pub struct Mistakes {
    pub sources: Sources,
    /// Errors and warnings in the order of the text; at least one error.
    pub diagnostics: Vec<Diagnostic>,
}

impl Mistakes {
    /// How many there are, in words.
    pub fn summary(&self) -> String {
        let file = self.sources.files.first().map_or("", |file| &file.name);
        let errors = self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
        match errors {
            1 => format!("there is a mistake in `{file}`"),
            _ => format!("there are {errors} mistakes in `{file}`"),
        }
    }
}

/// Reads a scenario from its text; the files that it names are read from `files`, beside `path`.
pub fn parse(files: &dyn FileReader, path: &Path, text: &str) -> Result<Parsed, Mistakes> {
    let file = Arc::new(SourceFile { name: path.display().to_string(), text: sections::normalised(text) });
    let joined = sections::with_headers_joined(&file.text);
    let mut parser = Parser::new(files, path, file);
    parser.file(Slice::whole(&joined, 0));
    parser.finish()
}

/// An SQL expression over nothing, as text of its own file, or what is wrong with it.
pub fn expression(text: &str, file: u16) -> Result<Template, String> {
    let mut diagnostics = Diagnostics::default();
    let expression = templates::sql(Slice::whole(text, file), &mut diagnostics);
    check_expression(&expression, &Names::default(), &mut diagnostics);
    match diagnostics.into_sorted().into_iter().next() {
        Some(mistake) => Err(mistake.message),
        None if text.trim().is_empty() => Err("it is empty".to_owned()),
        None => Ok(expression),
    }
}

/// Which form of the scenario a section belongs to: none as written, or an index into [`Parser::variants`].
type Form = Option<usize>;

/// What has been read of a file so far.
struct Parser<'f> {
    files: &'f dyn FileReader,
    path: &'f Path,
    sources: Sources,
    diagnostics: Diagnostics,
    title: Option<String>,
    story: String,
    params: Vec<Param>,
    /// The names of [`Parser::params`].
    param_names: Rc<Names>,
    databases: Vec<String>,
    pools: Vec<String>,
    /// Both of them.
    connections: BTreeSet<String>,
    /// The texts of `@file` sections.
    inline_files: HashMap<String, String>,
    /// Scripts of `@schema FILE` by the file as written; none where it has mistakes of its own.
    schema_files: HashMap<String, Option<Script>>,
    load: Option<Load>,
    as_written: Declared,
    variants: Vec<DeclaredVariant>,
    /// Where each thing was first defined.
    defined: HashMap<(Form, &'static str, String), Span>,
    /// The variables that the transactions of a name set.
    transaction_names: HashMap<String, Vec<Rc<Names>>>,
    /// The variables that the bodies of sessions of a name set.
    session_names: HashMap<String, Vec<Rc<Names>>>,
}

impl<'f> Parser<'f> {
    fn new(files: &'f dyn FileReader, path: &'f Path, file: Arc<SourceFile>) -> Parser<'f> {
        Parser {
            files,
            path,
            sources: Sources { files: vec![file] },
            diagnostics: Diagnostics::default(),
            title: None,
            story: String::new(),
            params: Vec::new(),
            param_names: Rc::default(),
            databases: Vec::new(),
            pools: Vec::new(),
            connections: BTreeSet::new(),
            inline_files: HashMap::new(),
            schema_files: HashMap::new(),
            load: None,
            as_written: Declared::default(),
            variants: Vec::new(),
            defined: HashMap::new(),
            transaction_names: HashMap::new(),
            session_names: HashMap::new(),
        }
    }

    fn file(&mut self, text: Slice<'_>) {
        let (preamble, sections) = sections::split(text);
        self.no_body(preamble, "what stands before the first section");
        if sections.len() > MOST_SECTIONS {
            self.diagnostics
                .error(sections[MOST_SECTIONS].word.span(), format!("more than {MOST_SECTIONS} sections in one file"));
            return;
        }
        if sections.is_empty() {
            self.diagnostics
                .error(text.get(0..0).span(), "no section in this file")
                .help("a scenario begins with `-- @title`; `isolab show write-skew` prints one");
            return;
        }
        let placed = self.place(&sections);
        for (form, section) in &placed {
            self.read_declaration(*form, section);
        }
        for (form, section) in placed.iter().filter(|(_, section)| section.word.text != "finally") {
            self.read_section(*form, section);
        }
        for (form, section) in placed.iter().filter(|(_, section)| section.word.text == "finally") {
            self.read_finally(*form, section);
        }
    }

    /// Gives every section its form of the scenario: a fix or variant lasts until the next one.
    fn place<'s, 'a>(&mut self, sections: &'s [Section<'a>]) -> Vec<(Form, &'s Section<'a>)> {
        let mut form = None;
        let mut as_written = HashSet::new();
        let mut placed = Vec::new();
        for section in sections {
            if matches!(section.word.text, "fix" | "variant") {
                form = self.read_variant(section);
            } else if let Some(variant) = form {
                let adds = matches!(section.word.text, "schema" | "setup" | "requires");
                let repeats = section.word.text == "expect" || as_written.contains(section.whole.text.trim());
                self.variants[variant].changes |= adds || !repeats;
            } else {
                as_written.insert(section.whole.text.trim());
            }
            placed.push((form, section));
        }
        placed
    }

    fn declared(&mut self, form: Form) -> &mut Declared {
        match form {
            Some(variant) => &mut self.variants[variant].declared,
            None => &mut self.as_written,
        }
    }

    /// Notes a definition; reports it if there was one of this kind and name before in the same form.
    fn define(&mut self, form: Form, kind: &'static str, name: &str, span: Span) {
        let first = *self.defined.entry((form, kind, name.to_owned())).or_insert(span);
        if first != span {
            let what = if name.is_empty() { format!("`@{kind}`") } else { format!("{kind} `{name}`") };
            self.diagnostics
                .error(span, format!("{what} is there twice"))
                .note(first, "first here")
                .help(if name.is_empty() { "leave out one of them" } else { "leave out one, or give it another name" });
        }
    }

    /// A name that is not one of the reserved words.
    fn defined_name(&mut self, header: &mut Header<'_>, kind: &'static str) -> Option<Name> {
        let name = header.name(kind, &mut self.diagnostics)?;
        if matches!(name.text.as_str(), "main" | "wait") {
            self.diagnostics.error(name.span, format!("`{}` is reserved and cannot name a {kind}", name.text)).help(
                "`main` is where every session begins, and `wait SESSION` is a move of `@order`: take another name",
            );
        }
        Some(name)
    }

    /// A place where only comments may stand.
    fn no_body(&mut self, body: Slice<'_>, what: &str) {
        if let Some(item) = items::items(body, &mut Diagnostics::default()).first() {
            let text = match item {
                items::Item::Statement { text, .. } => *text,
                items::Item::Command { word, .. } => *word,
            };
            let line = text.get(0..text.text.find('\n').unwrap_or(text.text.len()));
            self.diagnostics
                .error(line.span(), format!("{what} can only be a comment"))
                .help("statements stand below `@schema`, `@setup`, `@transaction`, `@session`, `@check` and the like");
        } else {
            items::items(body, &mut self.diagnostics);
        }
    }

    fn context(&mut self) -> Context<'_> {
        Context { diagnostics: &mut self.diagnostics, connections: &self.connections }
    }

    fn scope(&self) -> Scope {
        Scope::new(vec![Rc::clone(&self.param_names)])
    }
}
