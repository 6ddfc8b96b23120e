//! `@retry`: what the client does after a failure.

use crate::scenario::model::Retry;
use crate::scenario::parser::header::{Header, sqlstate};
use crate::scenario::parser::sections::Section;
use crate::scenario::parser::{Form, Parser};

impl Parser<'_> {
    /// `@retry N [also SQLSTATE, …]`.
    pub(super) fn read_retry(&mut self, form: Form, section: &Section<'_>) {
        self.only_comments(section);
        self.define(form, "retry", "", section.word.span());
        let mut header = Header::new(section.header);
        let Some(attempts) = header.count("the number of attempts", &mut self.diagnostics) else { return };
        let mut also = Vec::new();
        if header.eat_word("also") {
            also.extend(sqlstate(header.word(), &mut self.diagnostics));
            while header.eat(",") {
                also.extend(sqlstate(header.word(), &mut self.diagnostics));
            }
        }
        header.finish("`-- @retry N [also SQLSTATE, …]`", &mut self.diagnostics);
        self.declared(form).retry = Some(Retry { attempts, also });
    }
}
