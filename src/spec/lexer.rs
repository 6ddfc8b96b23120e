//! The words of a `.spec` file.

use super::mistake::{Mistake, mistake};
use super::model::Block;
use crate::scenario::source::Span;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Setup,
    Teardown,
    Session,
    Step,
    Permutation,
    Notices,
    /// An identifier, or a quoted one without its quotes.
    Name(String),
    /// `{ … }`.
    Block(Block),
    Integer(u32),
    LeftParenthesis,
    RightParenthesis,
    Comma,
    Star,
    End,
}

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lexeme {
    pub token: Token,
    pub span: Span,
    /// The line that it ends in, counted from 1.
    pub line: usize,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    position: usize,
    line: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, position: 0, line: 1 }
    }

    /// The next token; after the last one [`Token::End`] for ever.
    pub fn next(&mut self) -> Result<Lexeme, Mistake> {
        self.skip_blanks_and_comments();
        let start = self.position;
        let token = self.token()?;
        Ok(Lexeme { token, span: self.span_from(start), line: self.line })
    }

    fn token(&mut self) -> Result<Token, Mistake> {
        let start = self.position;
        let Some(first) = self.peek() else { return Ok(Token::End) };
        match first {
            b'{' => self.block(),
            b'"' => self.quoted_name(),
            b'0'..=b'9' => {
                let digits = self.take_while(|byte| byte.is_ascii_digit());
                Ok(Token::Integer(digits.parse().unwrap_or(u32::MAX)))
            }
            byte if starts_name(byte) => Ok(word(self.take_while(continues_name))),
            byte => {
                self.position += 1;
                match byte {
                    b'(' => Ok(Token::LeftParenthesis),
                    b')' => Ok(Token::RightParenthesis),
                    b',' => Ok(Token::Comma),
                    b'*' => Ok(Token::Star),
                    _ => {
                        let message =
                            format!("syntax error at line {}: unexpected character \"{}\"", self.line, byte as char);
                        Err(mistake(message, self.span_from(start)))
                    }
                }
            }
        }
    }

    /// Ends at the first brace, whatever stands before it; blanks next to the braces go, line breaks stay.
    fn block(&mut self) -> Result<Token, Mistake> {
        let start = self.position;
        self.position += 1;
        self.take_while(is_blank);
        let inner = self.position;
        let Some(length) = self.rest().find('}') else {
            self.line += self.rest().matches('\n').count();
            let message = format!("unterminated sql block at line {}", self.line);
            let mut mistake = mistake(message, Span { end: start as u32 + 1, ..self.span_from(start) });
            mistake.label("this block has no closing brace");
            return Err(mistake);
        };
        let content = &self.text[inner..inner + length];
        let sql = content.trim_end_matches(|c: char| c.is_ascii() && is_blank(c as u8));
        self.line += content.matches('\n').count();
        self.position = inner + length + 1;
        let span = Span { file: 0, start: inner as u32, end: (inner + sql.len()) as u32 };
        Ok(Token::Block(Block { sql: sql.to_owned(), span }))
    }

    fn quoted_name(&mut self) -> Result<Token, Mistake> {
        let start = self.position;
        let mut name = String::new();
        loop {
            self.position += 1;
            name += self.take_while(|byte| byte != b'"' && byte != b'\n');
            match self.peek() {
                Some(b'"') => self.position += 1,
                found => {
                    let what = match found {
                        None => "unterminated quoted identifier",
                        Some(_) => "unexpected newline in quoted identifier",
                    };
                    let mut mistake = mistake(format!("{what} at line {}", self.line), self.span_from(start));
                    mistake.help("close it with `\"`; a quote in a name is written `\"\"`");
                    return Err(mistake);
                }
            }
            if self.peek() != Some(b'"') {
                return Ok(Token::Name(name));
            }
            name.push('"');
        }
    }

    fn skip_blanks_and_comments(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.position += 1;
                }
                b'#' => drop(self.take_while(|byte| byte != b'\n' && byte != b'\r')),
                byte if is_blank(byte) => self.position += 1,
                _ => return,
            }
        }
    }

    /// `of` holds for ASCII bytes only, or for all bytes of a character alike.
    fn take_while(&mut self, of: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| !of(byte)).unwrap_or(rest.len());
        self.position += length;
        &rest[..length]
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn span_from(&self, start: usize) -> Span {
        Span { file: 0, start: start as u32, end: self.position as u32 }
    }
}

fn word(word: &str) -> Token {
    match word {
        "setup" => Token::Setup,
        "teardown" => Token::Teardown,
        "session" => Token::Session,
        "step" => Token::Step,
        "permutation" => Token::Permutation,
        "notices" => Token::Notices,
        name => Token::Name(name.to_owned()),
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0c')
}

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit() || byte == b'$'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<(Token, usize)>, String> {
        let mut lexer = Lexer::new(text);
        let mut tokens = Vec::new();
        loop {
            let lexeme = lexer.next().map_err(|mistake| mistake.message)?;
            if lexeme.token == Token::End {
                return Ok(tokens);
            }
            tokens.push((lexeme.token, lexeme.line));
        }
    }

    fn name(name: &str) -> Token {
        Token::Name(name.to_owned())
    }

    fn sql(text: &str) -> String {
        match tokens(text).unwrap().pop() {
            Some((Token::Block(block), _)) => block.sql,
            other => panic!("no block: {other:?}"),
        }
    }

    #[test]
    fn keywords_are_lower_case_and_whole_words() {
        let text = "setup setup1 STEP step\t_x$1 größe \"step\" \"a\"\"b\" # notices\nnotices 12 (*,)";
        let expected = [
            (Token::Setup, 1),
            (name("setup1"), 1),
            (name("STEP"), 1),
            (Token::Step, 1),
            (name("_x$1"), 1),
            (name("größe"), 1),
            (name("step"), 1),
            (name("a\"b"), 1),
            (Token::Notices, 2),
            (Token::Integer(12), 2),
            (Token::LeftParenthesis, 2),
            (Token::Star, 2),
            (Token::Comma, 2),
            (Token::RightParenthesis, 2),
        ];
        assert_eq!(tokens(text).unwrap(), expected);
    }

    #[test]
    fn blocks_lose_blanks_but_not_line_breaks() {
        assert_eq!(sql("{ \t SELECT 1; \r\x0c}"), "SELECT 1;");
        assert_eq!(sql("{\n  SELECT 1;\n }"), "\n  SELECT 1;\n");
        assert_eq!(sql("{ -- \"x\" # y {\n}"), "-- \"x\" # y {\n");
        assert_eq!(sql("{   }"), "");
        assert_eq!(sql("{é }"), "é");
    }

    #[test]
    fn a_block_ends_at_the_first_brace() {
        let expected = [(Token::Block(Block { sql: "SELECT '{1".to_owned(), span: span(1, 11) }), 1)];
        assert_eq!(tokens("{SELECT '{1}").unwrap(), expected);
        assert_eq!(tokens("{SELECT '{1}'}").unwrap_err(), "syntax error at line 1: unexpected character \"'\"");
    }

    #[test]
    fn lines_are_counted_inside_blocks_too() {
        assert_eq!(tokens("step\n{\n\n}\nstep").unwrap().last(), Some(&(Token::Step, 5)));
    }

    #[test]
    fn what_is_not_closed_is_told_with_isolationtesters_words() {
        assert_eq!(tokens("step a {\nSELECT 1;\n").unwrap_err(), "unterminated sql block at line 3");
        assert_eq!(tokens("\n\"abc").unwrap_err(), "unterminated quoted identifier at line 2");
        assert_eq!(tokens("\"ab\nc\"").unwrap_err(), "unexpected newline in quoted identifier at line 1");
    }

    fn span(start: u32, end: u32) -> Span {
        Span { file: 0, start, end }
    }
}
