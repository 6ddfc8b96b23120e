//! `@check` and `@measure`: what is asked when a schedule has ended.

use crate::program::Action;
use crate::scenario::diagnostic::Diagnostics;
use crate::scenario::model::{Check, Measure, Script};
use crate::scenario::parser::header::Header;
use crate::scenario::parser::items::{Item, items};
use crate::scenario::parser::sections::Section;
use crate::scenario::parser::statement::is_query;
use crate::scenario::parser::{Form, Parser};

impl Parser<'_> {
    /// `@check TEXT`.
    pub(super) fn read_check(&mut self, form: Form, section: &Section<'_>) {
        if section.header.is_empty() {
            self.diagnostics
                .error(section.word.span(), "a check needs a name: what should hold, in words")
                .help("such as `-- @check no seat is sold twice`");
        }
        let name = section.header.text.to_owned();
        let span = if name.is_empty() { section.word.span() } else { section.header.span() };
        self.define(form, "check", &name, span);
        if let Some(script) = self.query(section) {
            self.declared(form).checks.push(Check { name, script, span });
        }
    }

    /// `@measure NAME [in UNIT]`.
    pub(super) fn read_measure(&mut self, form: Form, section: &Section<'_>) {
        let mut header = Header::new(section.header);
        let Some(name) = header.name("measure", &mut self.diagnostics) else { return };
        self.define(form, "measure", &name.text, name.span);
        let unit = header.eat_word("in").then(|| header.rest().text.to_owned());
        if unit.is_none() {
            header.finish("`-- @measure NAME [in UNIT]`", &mut self.diagnostics);
        } else if header.at_end() {
            self.diagnostics
                .error(section.header.end().span(), "the unit is missing here")
                .help("such as `in $` or `in seats`");
        }
        if let Some(script) = self.query(section) {
            self.declared(form).measures.push(Measure { name: name.text, unit, script, span: name.span });
        }
    }

    /// A body whose last statement is a query.
    fn query(&mut self, section: &Section<'_>) -> Option<Script> {
        let script = self.script(section.body, section.word.span())?;
        let last = items(section.body, &mut Diagnostics::default()).into_iter().rev().find_map(|item| match item {
            Item::Statement { text, .. } => Some(text),
            Item::Command { .. } => None,
        });
        let captured = script.program.ops.iter().rev().find_map(|op| match &op.action {
            Action::Statement(statement) => Some(statement.capture.is_some()),
            _ => None,
        });
        match (last, captured) {
            (Some(last), Some(false)) if is_query(last) => {}
            (Some(last), Some(true)) => {
                self.diagnostics
                    .error(last.span(), "the answer of the last query goes into variables")
                    .help(format!("end it in `;`: its row is the answer of the {}", section.word.text));
            }
            (last, _) => {
                let span = last.map_or(section.word.span(), |last| last.span());
                self.diagnostics
                    .error(span, format!("the last statement of a {} must be a query of one row", section.word.text))
                    .help(match section.word.text {
                        "check" => "such as `SELECT count(*) = 0 FROM seats WHERE sold > 1;`: true is right",
                        _ => "such as `SELECT count(*) FROM seats;`",
                    });
            }
        }
        Some(script)
    }
}
