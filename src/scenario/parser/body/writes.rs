//! Watches for a `\reject` after a write: its COMMIT makes the write last although the client is told no.

use std::collections::HashSet;

use crate::program::Control;
use crate::scenario::diagnostic::Diagnostics;
use crate::scenario::parser::lexer::{Lexer, Token};
use crate::scenario::parser::slice::Slice;
use crate::scenario::parser::statement::{is_write, lexemes};
use crate::scenario::source::Span;

/// The writes of the open transaction, as the body is read from top to bottom.
#[derive(Debug, Default)]
pub struct Writes {
    /// Where those stand that may have changed something.
    doubtful: Vec<Span>,
    /// The words of the latest statement, where it is a write: a condition on its outcome mentions one of them.
    latest: Option<HashSet<String>>,
    /// For each open block: the write whose outcome it looks at, which then may well have matched no row.
    blocks: Vec<Option<Excused>>,
}

#[derive(Debug)]
struct Excused {
    write: Span,
    words: HashSet<String>,
}

impl Writes {
    pub fn statement(&mut self, text: Slice<'_>, control: Control) {
        self.latest = None;
        if control != Control::Other {
            self.doubtful.clear();
        } else if is_write(text) {
            self.doubtful.push(text.span());
            self.latest = Some(lexemes(text).filter_map(|lexeme| lexeme.folded()).collect());
        }
    }

    /// `\if` or `\elif` with its condition, or any other block without one.
    pub fn enter(&mut self, condition: Option<Slice<'_>>) {
        let looks = condition.is_some_and(|condition| self.looks_at_the_latest(condition));
        let excused = match self.latest.take_if(|_| looks) {
            Some(words) => self.doubtful.pop().map(|write| Excused { write, words }),
            None => None,
        };
        self.blocks.push(excused);
    }

    pub fn leave(&mut self) {
        if let Some(Excused { write, words }) = self.blocks.pop().flatten() {
            self.doubtful.push(write);
            self.latest = Some(words);
        }
    }

    pub fn reject(&self, span: Span, diagnostics: &mut Diagnostics) {
        if let Some(write) = self.doubtful.first() {
            diagnostics
                .warning(span, "`\\reject` commits what the transaction has written")
                .note(*write, "written here")
                .help("`\\rollback` undoes it");
        }
    }

    fn looks_at_the_latest(&self, condition: Slice<'_>) -> bool {
        let Some(words) = &self.latest else { return false };
        Lexer::new(condition)
            .filter(|lexeme| lexeme.token == Token::Value)
            .any(|lexeme| lexeme.variable() == "ROW_COUNT" || words.contains(lexeme.variable()))
    }
}
