//! A statement while it is read.

use super::nesting::Nesting;
use crate::scenario::parser::lexer::{Lexeme, Token};
use crate::scenario::parser::slice::Slice;
use crate::scenario::parser::statement::begins_with;
use crate::scenario::source::Span;

pub struct Open<'a> {
    /// From its first token to the end of the body.
    pub start: Slice<'a>,
    /// Up to its latest token that is no white space or comment.
    pub text: Slice<'a>,
    pub nesting: Nesting<'a>,
    /// Where a quote opens that goes on in the next line: likely the one to blame where another is not closed.
    pub long_quote: Option<Span>,
    latest: Option<Lexeme<'a>>,
}

impl<'a> Open<'a> {
    pub fn new(start: Slice<'a>) -> Open<'a> {
        Open { start, text: start.get(0..0), nesting: Nesting::default(), long_quote: None, latest: None }
    }

    /// Takes its next token, after which `rest` of the body is left.
    pub fn enter(&mut self, lexeme: Lexeme<'a>, rest: Slice<'a>) {
        self.nesting.enter(lexeme);
        if lexeme.token == Token::Text && lexeme.slice.text.contains('\n') {
            self.long_quote = Some(lexeme.slice.get(0..1).span());
        }
        if !lexeme.is_blank() {
            self.text = self.start.get(0..self.start.text.len() - rest.text.len());
            self.latest = Some(lexeme);
        }
    }

    /// Whether the first word of a line begins what only a statement of its own does.
    pub fn seems_over(&self, lexeme: Lexeme<'_>) -> bool {
        let is_one_of = |lexeme: Lexeme<'_>, words: &[&str]| words.iter().any(|word| lexeme.is_word(word));
        let begins = |words: &[&str]| words.iter().any(|word| begins_with(self.start, &[word]));
        let goes_on = self.latest.is_none_or(|latest| is_one_of(latest, &["FOR", "KEY", "DO", "ON"]));
        lexeme.token == Token::Word
            && self.nesting.is_closed()
            && !goes_on
            && (begins(&["INSERT", "UPDATE", "DELETE", "SELECT"])
                && is_one_of(lexeme, &["INSERT", "UPDATE", "DELETE", "COMMIT", "ROLLBACK"])
                || begins(&["UPDATE", "DELETE"]) && lexeme.is_word("SELECT"))
    }
}
