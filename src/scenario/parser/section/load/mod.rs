//! `@load`: what the workers of the load test do.

mod arguments;
mod clauses;

use clauses::Clauses;

use super::session::RawCall;
use crate::scenario::model::Load;
use crate::scenario::parser::Parser;
use crate::scenario::parser::header::Header;
use crate::scenario::parser::sections::Section;

const FORM: &str = "`-- @load CALL; … by N workers, N requests`, or `for 30s` in place of the requests; then `from FILE.csv`, \
                    `set PARAM = VALUE`, `as NAME`";

impl Parser<'_> {
    /// `@load CALL; … by N workers, N requests`, then further clauses in any order.
    pub(super) fn read_load(&mut self, section: &Section<'_>) {
        self.only_comments(section);
        self.define(None, "load", "", section.word.span());
        let mut header = Header::new(section.header);
        let Some(raw_calls) = self.raw_calls(&mut header) else { return };
        let Some(clauses) = self.clauses(&mut header) else { return };
        let calls = self.load_calls(raw_calls, &clauses);
        let Clauses { workers: Some(workers), amount: Some(amount), rows, set, name, .. } = clauses else {
            self.diagnostics
                .error(section.word.span(), "a load needs its workers and a number of requests or a time")
                .help(FORM);
            return;
        };
        self.load = Some(Load { calls, workers, amount, rows, set, name, span: section.word.span() });
    }

    fn raw_calls<'a>(&mut self, header: &mut Header<'a>) -> Option<Vec<RawCall<'a>>> {
        let mut calls = Vec::new();
        loop {
            calls.push(self.call(header)?);
            if header.eat_word("by") {
                return Some(calls);
            }
            if !header.eat(";") {
                self.diagnostics.error(header.rest().span(), "`by N workers` is missing here").help(FORM);
                return None;
            }
        }
    }
}
