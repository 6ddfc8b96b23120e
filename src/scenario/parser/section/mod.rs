//! Reads the sections, a file for each group of them.

mod expect;
mod file;
mod fix;
mod load;
mod order;
mod query;
mod requires;
mod retry;
mod script;
mod session;
mod transaction;

use super::sections::{Section, WORDS};
use super::{Form, Parser};
pub use file::TITLE;

impl Parser<'_> {
    /// The sections that others refer to from anywhere in the file.
    pub(super) fn read_declaration(&mut self, form: Form, section: &Section<'_>) {
        match section.word.text {
            "title" => self.read_title(section),
            "param" => self.read_param(section),
            "database" | "pool" => self.read_connection(section),
            "file" => self.read_file(section),
            "load" => {}
            _ => return,
        }
        if form.is_some() {
            self.diagnostics
                .error(section.word.span(), format!("`@{}` comes before the first fix", section.word.text))
                .help("it is about the whole file: move it up");
        }
    }

    /// All other sections but `@finally`, which looks at what sessions do.
    pub(super) fn read_section(&mut self, form: Form, section: &Section<'_>) {
        match section.word.text {
            "requires" => self.read_requires(form, section),
            "schema" => self.read_schema(form, section),
            "setup" => self.read_setup(form, section),
            "transaction" => self.read_transaction(form, section),
            "session" => self.read_session(form, section),
            "order" => self.read_order(form, section),
            "retry" => self.read_retry(form, section),
            "check" => self.read_check(form, section),
            "measure" => self.read_measure(form, section),
            "expect" => self.read_expect(form, section),
            "load" => self.read_load(section),
            "title" | "param" | "database" | "pool" | "file" | "fix" | "variant" | "finally" => {}
            unknown => {
                self.diagnostics.unknown("section", section.word.span(), unknown, WORDS);
            }
        }
    }

    /// Below most headers only comments may stand.
    fn only_comments(&mut self, section: &Section<'_>) {
        self.no_body(section.body, &format!("what stands below `@{}`", section.word.text));
    }
}
