//! `@order`: the staged schedule.

use crate::scenario::parser::declared::{DeclaredMove, DeclaredOrder};
use crate::scenario::parser::header::Header;
use crate::scenario::parser::sections::Section;
use crate::scenario::parser::{Form, Parser};

impl Parser<'_> {
    /// `@order MOVE, …`.
    pub(super) fn read_order(&mut self, form: Form, section: &Section<'_>) {
        self.only_comments(section);
        self.define(form, "order", "", section.word.span());
        let mut header = Header::new(section.header);
        let mut moves = Vec::new();
        loop {
            let Some(next) = self.read_move(&mut header) else { return };
            moves.push(next);
            if !header.eat(",") {
                break;
            }
        }
        header.finish("moves are separated by commas: `alice check, bob check, wait bob`", &mut self.diagnostics);
        self.declared(form).order = Some(DeclaredOrder { moves });
    }

    /// `SESSION STEP`, `SESSION TRANSACTION.STEP` or `wait SESSION`.
    fn read_move(&mut self, header: &mut Header<'_>) -> Option<DeclaredMove> {
        let before = header.rest();
        let covered = |header: &Header<'_>| before.get(0..before.text.len() - header.rest().text.len()).trim().span();
        if header.eat_word("wait") {
            let session = header.name("session", &mut self.diagnostics)?;
            return Some(DeclaredMove::Wait { session, span: covered(header) });
        }
        let session = header.name("session", &mut self.diagnostics)?;
        let mut step = header.name("step", &mut self.diagnostics)?;
        let mut transaction = None;
        if header.eat(".") {
            transaction = Some(std::mem::replace(&mut step, header.name("step", &mut self.diagnostics)?));
        }
        Some(DeclaredMove::Step { session, transaction, step, span: covered(header) })
    }
}
