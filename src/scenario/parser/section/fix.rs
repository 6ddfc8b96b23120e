//! `@fix` and `@variant`: other forms of the scenario.

use crate::scenario::parser::declared::{Declared, DeclaredVariant};
use crate::scenario::parser::header::{Header, Name};
use crate::scenario::parser::sections::Section;
use crate::scenario::parser::{Form, Parser};

impl Parser<'_> {
    /// `@fix NAME [at LEVEL, …]`, or `@variant`. A nameless one is still a form of its own, so that what stands below
    /// it is not taken for a part of the form above.
    pub(in crate::scenario::parser) fn read_variant(&mut self, section: &Section<'_>) -> Form {
        let kind = if section.word.text == "fix" { "fix" } else { "variant" };
        self.only_comments(section);
        let mut header = Header::new(section.header);
        let mut levels = Vec::new();
        let name = header.name(kind, &mut self.diagnostics);
        if let Some(name) = &name {
            self.define(None, "fix or variant", &name.text, name.span);
            if header.eat_word("at") {
                levels = header.levels(&mut self.diagnostics);
            }
            header.finish(&format!("`-- @{kind} NAME [at LEVEL, …]`"), &mut self.diagnostics);
        }
        let name = name.unwrap_or(Name { text: String::new(), span: section.word.span() });
        self.variants.push(DeclaredVariant {
            name,
            is_fix: kind == "fix",
            levels,
            story: section.description(),
            changes: false,
            declared: Declared::default(),
        });
        Some(self.variants.len() - 1)
    }
}
