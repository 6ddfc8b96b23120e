//! Which variables a body may use: those that a parameter, a `\set` or an earlier `\gset` gives a value.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::scenario::diagnostic::Diagnostics;
use crate::scenario::parser::slice::Slice;
use crate::scenario::parser::statement::{has_unnamed_columns, lexemes};
use crate::scenario::source::Span;
use crate::scenario::template::Template;

/// Set after each statement.
const SPECIAL: [&str; 4] = ["ROW_COUNT", "SQLSTATE", "COMMAND_TAG", "NOTIFIED"];

/// Words of nearly every query.
const KEY_WORDS: [&str; 22] = [
    "all", "and", "as", "by", "case", "distinct", "end", "exists", "for", "from", "group", "having", "in", "is",
    "limit", "not", "null", "on", "or", "order", "select", "where",
];

/// The names that have a value.
#[derive(Debug, Clone, Default)]
pub struct Names {
    names: BTreeSet<String>,
    /// Prefixes of `\gset` statements whose columns nobody can know before they run.
    open: BTreeSet<String>,
}

impl Names {
    pub fn insert(&mut self, name: impl Into<String>) {
        self.names.insert(name.into());
    }

    /// From now on every name with this prefix may have a value.
    pub fn open(&mut self, prefix: impl Into<String>) {
        self.open.insert(prefix.into());
    }

    /// The names that one may have meant: the words of a `\gset` statement but those that hardly name a column.
    fn suggestions(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str).filter(|name| !KEY_WORDS.contains(name))
    }

    pub fn contains(&self, name: &str) -> bool {
        let mut prefixes = name.char_indices().map(|(end, _)| &name[..end]);
        self.names.contains(name) || (!self.open.is_empty() && prefixes.any(|prefix| self.open.contains(prefix)))
    }
}

impl<'a> FromIterator<&'a str> for Names {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Names {
        Names { names: names.into_iter().map(str::to_owned).collect(), open: BTreeSet::new() }
    }
}

/// The variables of one body, as it is read from top to bottom.
#[derive(Debug)]
pub struct Scope {
    /// What is known from outside: parameters of the file, or what an earlier body of the session left.
    outer: Vec<Rc<Names>>,
    inner: Names,
    /// The names of `\set` commands, wherever they stand: in a loop what stands below may come before.
    assigned: BTreeSet<String>,
    /// Used before anything gave it a value.
    doubtful: Vec<(String, Span)>,
}

impl Scope {
    pub fn new(outer: Vec<Rc<Names>>) -> Scope {
        Scope { outer, inner: Names::default(), assigned: BTreeSet::new(), doubtful: Vec::new() }
    }

    /// A parameter, or the name of a `\set`.
    pub fn set(&mut self, name: &str) {
        self.inner.insert(name);
        self.assigned.insert(name.to_owned());
    }

    /// `\gset`: every word of the statement may be the name of a column.
    pub fn capture(&mut self, statement: Slice<'_>, prefix: &str) {
        let words = lexemes(statement).filter_map(|lexeme| lexeme.folded());
        self.inner.names.extend(words.map(|word| format!("{prefix}{word}")));
        if has_unnamed_columns(statement) {
            self.inner.open(prefix);
        }
    }

    pub fn uses(&mut self, template: &Template) {
        for (name, span) in template.variables() {
            if !self.knows(name) {
                self.doubtful.push((name.to_owned(), span));
            }
        }
    }

    /// Reports the names that nothing gives a value; the others.
    pub fn finish(self, diagnostics: &mut Diagnostics) -> Names {
        for (name, span) in self.doubtful {
            if self.assigned.contains(&name) {
                continue;
            }
            if self.inner.names.contains(&name) {
                diagnostics
                    .error(span, format!("variable `{name}` is used before anything sets it"))
                    .help(format!("move it below what sets it, or give it a first value: `\\set {name} 0`"));
                continue;
            }
            let names = self.outer.iter().map(Rc::as_ref).chain([&self.inner]);
            let known = names.flat_map(Names::suggestions).chain(SPECIAL);
            diagnostics.unknown("variable", span, &name, known);
        }
        self.inner
    }

    fn knows(&self, name: &str) -> bool {
        SPECIAL.contains(&name) || self.inner.contains(name) || self.outer.iter().any(|names| names.contains(name))
    }
}

/// `:name` of an argument or another expression outside a body.
pub fn check_expression(template: &Template, known: &Names, diagnostics: &mut Diagnostics) {
    for (name, span) in template.variables() {
        if !known.contains(name) {
            let unknown = diagnostics.unknown("variable", span, name, known.suggestions());
            if known.suggestions().next().is_none() {
                unknown.help(format!("`-- @param {name} = VALUE` sets it"));
            }
        }
    }
}
