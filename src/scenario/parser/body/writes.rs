//! Watches for a `\reject` after a write: its COMMIT makes the write last although the client is told no.

use crate::program::Control;
use crate::scenario::diagnostic::Diagnostics;
use crate::scenario::parser::lexer::{Lexer, Token};
use crate::scenario::parser::slice::Slice;
use crate::scenario::parser::statement::{is_write, lexemes};
use crate::scenario::source::Span;

/// The writes of the open transaction, as the body is read from top to bottom.
#[derive(Debug, Default)]
pub struct Writes {
    /// Where they stand.
    open: Vec<Span>,
    /// The latest statement, where it is a write: the words that a condition on its outcome would mention.
    latest: Option<Vec<String>>,
    /// For each open block: how many writes were open before it, and whether it looks at the outcome of the latest write,
    /// which then may well have matched no row.
    blocks: Vec<(usize, bool)>,
}

impl Writes {
    pub fn statement(&mut self, text: Slice<'_>, control: Control) {
        self.latest = None;
        if control != Control::Other {
            self.open.clear();
        } else if is_write(text) {
            self.open.push(text.span());
            self.latest = Some(lexemes(text).filter_map(|lexeme| lexeme.folded()).collect());
        }
    }

    /// `\if` or `\elif` with its condition, or any other block without one.
    pub fn enter(&mut self, condition: Option<Slice<'_>>) {
        let looks = condition.is_some_and(|condition| self.looks_at_the_latest(condition));
        self.blocks.push((self.open.len(), looks));
    }

    pub fn leave(&mut self) {
        self.blocks.pop();
    }

    pub fn reject(&self, span: Span, diagnostics: &mut Diagnostics) {
        let excused = self.blocks.iter().filter(|(_, looks)| *looks).map(|(writes, _)| writes - 1);
        let excused: Vec<usize> = excused.collect();
        let write = self.open.iter().enumerate().find(|(index, _)| !excused.contains(index));
        if let Some((_, write)) = write {
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
            .any(|lexeme| lexeme.variable() == "ROW_COUNT" || words.iter().any(|word| word == lexeme.variable()))
    }
}
