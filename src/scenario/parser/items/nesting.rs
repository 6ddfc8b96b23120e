//! The brackets and blocks that are open in a statement.

use crate::scenario::parser::lexer::{Lexeme, Token};
use crate::scenario::parser::slice::Slice;

/// The brackets and BEGIN ATOMIC blocks that are open in a statement: a `;` in them does not end it.
#[derive(Debug, Default)]
pub struct Nesting<'a> {
    /// The outermost open bracket, and how many are open.
    bracket: Option<Slice<'a>>,
    brackets: usize,
    /// The outermost BEGIN of a routine's body, and how many BEGIN and CASE are open.
    block: Option<Slice<'a>>,
    blocks: usize,
    /// How far the statement's first words are those of CREATE FUNCTION or CREATE PROCEDURE.
    routine: Routine,
}

#[derive(Debug, Default, PartialEq)]
enum Routine {
    #[default]
    Start,
    Create,
    Or,
    Yes,
    No,
}

impl<'a> Nesting<'a> {
    pub fn is_closed(&self) -> bool {
        self.brackets == 0 && self.blocks == 0
    }

    /// The outermost one that is open.
    pub fn open(&self) -> Option<Slice<'a>> {
        match self.is_closed() {
            true => None,
            false => self.bracket.filter(|_| self.brackets > 0).or(self.block),
        }
    }

    pub fn enter(&mut self, lexeme: Lexeme<'a>) {
        match lexeme.token {
            Token::Open => {
                if self.brackets == 0 {
                    self.bracket = Some(lexeme.slice);
                }
                self.brackets += 1;
            }
            Token::Close => self.brackets = self.brackets.saturating_sub(1),
            Token::Word => self.word(lexeme),
            _ => {}
        }
    }

    /// As in psql: inside a routine's body BEGIN and CASE open what END closes.
    fn word(&mut self, word: Lexeme<'a>) {
        self.routine = match self.routine {
            Routine::Start if word.is_word("CREATE") => Routine::Create,
            Routine::Create if word.is_word("OR") => Routine::Or,
            Routine::Or if word.is_word("REPLACE") => Routine::Create,
            Routine::Create if word.is_word("FUNCTION") || word.is_word("PROCEDURE") => Routine::Yes,
            Routine::Yes => Routine::Yes,
            _ => Routine::No,
        };
        if self.routine != Routine::Yes || self.brackets > 0 {
            return;
        }
        if word.is_word("BEGIN") {
            if self.blocks == 0 {
                self.block = Some(word.slice);
            }
            self.blocks += 1;
        } else if self.blocks > 0 && word.is_word("CASE") {
            self.blocks += 1;
        } else if self.blocks > 0 && word.is_word("END") {
            self.blocks -= 1;
        }
    }
}
