//! `@requires`: what a server must have.

use crate::scenario::model::Requirement;
use crate::scenario::parser::header::Header;
use crate::scenario::parser::sections::Section;
use crate::scenario::parser::{Form, Parser};

const FORMS: &str = "`version >= 14`, `extension NAME`, `SETTING > VALUE` or `database`";

impl Parser<'_> {
    pub(super) fn read_requires(&mut self, form: Form, section: &Section<'_>) {
        self.only_comments(section);
        if let Some(requirement) = self.requirement(section) {
            self.declared(form).requires.push(requirement);
        }
    }

    fn requirement(&mut self, section: &Section<'_>) -> Option<Requirement> {
        let mut header = Header::new(section.header);
        if header.eat_word("database") {
            header.finish(FORMS, &mut self.diagnostics);
            return Some(Requirement::Database);
        }
        if header.eat_word("extension") {
            let name = header.name("extension", &mut self.diagnostics)?;
            header.finish(FORMS, &mut self.diagnostics);
            return Some(Requirement::Extension(name.text));
        }
        let name = setting(&mut header);
        let comparison = header.comparison();
        let value = header.rest();
        let (Some(comparison), false, false) = (comparison, name.is_empty(), value.is_empty()) else {
            self.diagnostics
                .error(section.header.span(), format!("unknown requirement `{}`", section.header.text))
                .help(format!("a requirement is {FORMS}"));
            return None;
        };
        if name == "version" {
            let version = header.count("a version", &mut self.diagnostics)?;
            header.finish(FORMS, &mut self.diagnostics);
            return Some(Requirement::Version { comparison, version });
        }
        Some(Requirement::Setting { name, comparison, value: value.text.trim_matches('\'').to_owned() })
    }
}

/// The name of a setting, which may have a prefix: `plpgsql.extra_errors`.
fn setting(header: &mut Header<'_>) -> String {
    let mut name = header.word().text.to_owned();
    while header.eat(".") {
        name = format!("{name}.{}", header.word().text);
    }
    name
}
