//! Reads what stands behind a section's word: names, key words, numbers, arguments.

use super::lexer::{Lexer, Token};
use super::slice::Slice;
use crate::scenario::diagnostic::{Diagnostics, a};
use crate::scenario::model::{Comparison, Level};
use crate::scenario::source::Span;

/// PostgreSQL's own limit for a name, in bytes.
const LONGEST_NAME: usize = 63;

/// A name and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// What is left to read of a header.
#[derive(Debug)]
pub struct Header<'a> {
    rest: Slice<'a>,
}

impl<'a> Header<'a> {
    pub fn new(text: Slice<'a>) -> Header<'a> {
        Header { rest: text.trim() }
    }

    pub fn rest(&self) -> Slice<'a> {
        self.rest
    }

    pub fn at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Up to white space or a sign; empty at one.
    pub fn word(&mut self) -> Slice<'a> {
        let end = |c: char| c.is_whitespace() || ",;:()=<>.".contains(c);
        self.take(self.rest.text.find(end).unwrap_or(self.rest.text.len()))
    }

    /// Takes a key word if it comes next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let mut ahead = Header { rest: self.rest };
        let found = ahead.word().text == word;
        if found {
            self.rest = ahead.rest;
        }
        found
    }

    /// Takes a sign if it comes next.
    pub fn eat(&mut self, sign: &str) -> bool {
        let found = self.rest.text.starts_with(sign);
        if found {
            self.take(sign.len());
        }
        found
    }

    /// A name of a `kind` such as "session".
    pub fn name(&mut self, kind: &str, diagnostics: &mut Diagnostics) -> Option<Name> {
        let before = self.rest;
        let word = self.word();
        if word.is_empty() {
            let found = before.get(0..before.text.chars().next().map_or(0, char::len_utf8));
            diagnostics.error(found.span(), format!("the name of {} is missing here", a(kind)));
            return None;
        }
        name(word, kind, diagnostics)
    }

    /// A whole number from 1.
    pub fn count<N: std::str::FromStr + PartialOrd + From<u8>>(
        &mut self,
        what: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<N> {
        let word = self.word();
        let number = word.text.parse().ok().filter(|number| *number >= N::from(1));
        if number.is_none() {
            let not = if word.is_empty() { String::new() } else { format!(", not `{}`", word.text) };
            diagnostics.error(word.span(), format!("{what} is a whole number from 1{not}"));
        }
        number
    }

    pub fn comparison(&mut self) -> Option<Comparison> {
        [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
            ("=", Comparison::Equal),
        ]
        .into_iter()
        .find_map(|(sign, comparison)| self.eat(sign).then_some(comparison))
    }

    /// One level.
    pub fn level(&mut self, diagnostics: &mut Diagnostics) -> Option<Level> {
        let word = self.word();
        let level = word.text.parse().ok();
        if level.is_none() {
            unknown_level(word, false, diagnostics);
        }
        level
    }

    /// `LEVEL, …`; `all` is the three levels.
    pub fn levels(&mut self, diagnostics: &mut Diagnostics) -> Vec<Level> {
        let mut levels = Vec::new();
        loop {
            let word = self.word();
            match word.text.parse() {
                Ok(level) => levels.push(level),
                Err(()) if word.text == "all" => levels.extend(Level::ALL),
                Err(()) => unknown_level(word, true, diagnostics),
            }
            if !self.eat(",") {
                return levels;
            }
        }
    }

    /// `( … )`: what stands between the brackets, split at its commas.
    pub fn arguments(&mut self, diagnostics: &mut Diagnostics) -> Vec<Slice<'a>> {
        let open = self.rest;
        if !self.eat("(") {
            return Vec::new();
        }
        let text = self.rest;
        let (mut depth, mut at, mut start) = (1, 0, 0);
        let mut arguments = Vec::new();
        for lexeme in Lexer::new(text) {
            let end = at + lexeme.slice.text.len();
            match lexeme.token {
                Token::Open => depth += 1,
                Token::Close => depth -= 1,
                _ => {}
            }
            if depth == 0 || (depth == 1 && lexeme.token == Token::Comma) {
                arguments.push(text.get(start..at).trim());
                start = end;
            }
            if depth == 0 {
                self.rest = text.from(end).trim_start();
                if arguments.len() == 1 && arguments[0].is_empty() {
                    arguments.clear();
                }
                return arguments;
            }
            at = end;
        }
        diagnostics.error(open.get(0..1).span(), "this `(` is not closed");
        self.rest = text.end();
        arguments
    }

    /// SQL up to a comma outside brackets and quotes.
    pub fn until_comma(&mut self) -> Slice<'a> {
        let text = self.rest;
        let (mut depth, mut at) = (0_usize, 0);
        for lexeme in Lexer::new(text) {
            match lexeme.token {
                Token::Open => depth += 1,
                Token::Close => depth = depth.saturating_sub(1),
                Token::Comma if depth == 0 => break,
                _ => {}
            }
            at += lexeme.slice.text.len();
        }
        self.take(at).trim()
    }

    /// Complains about what is left over, with what could stand there.
    pub fn finish(&mut self, expected: &str, diagnostics: &mut Diagnostics) {
        if !self.at_end() {
            diagnostics.error(self.rest.span(), format!("unexpected `{}`", self.rest.text)).help(expected);
            self.rest = self.rest.end();
        }
    }

    fn take(&mut self, length: usize) -> Slice<'a> {
        let (taken, rest) = self.rest.split(length);
        self.rest = rest.trim_start();
        taken
    }
}

fn unknown_level(word: Slice<'_>, allow_all: bool, diagnostics: &mut Diagnostics) {
    let mut known: Vec<&str> = Level::ALL.iter().map(|level| level.name()).collect();
    known.push(Level::ReadUncommitted.name());
    if allow_all {
        known.push("all");
    }
    diagnostics.unknown("level", word.span(), word.text, known);
}

/// A word as a name: letters, digits, `_`, `-`.
pub fn name(word: Slice<'_>, kind: &str, diagnostics: &mut Diagnostics) -> Option<Name> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || (c == '-' && kind != "variable");
    let of = format!("the name of {}", a(kind));
    let bad = match word.text.chars().find(|c| !is_part(*c)) {
        Some(bad) => format!("{of} has no `{bad}` in it: `{}`", word.text),
        None if word.text.len() > LONGEST_NAME => format!("{of} has at most {LONGEST_NAME} bytes"),
        None => return Some(Name { text: word.text.to_owned(), span: word.span() }),
    };
    let letters = if kind == "variable" { "letters, digits and `_`" } else { "letters, digits, `_` and `-`" };
    diagnostics.error(word.span(), bad).help(format!("it is made of {letters}"));
    None
}

/// Five digits or capital letters.
pub fn sqlstate(word: Slice<'_>, diagnostics: &mut Diagnostics) -> Option<String> {
    let is_state = word.text.len() == 5 && word.text.chars().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
    if is_state {
        return Some(word.text.to_owned());
    }
    let message = match word.text {
        "" => "an SQLSTATE is missing here".to_owned(),
        text => format!("`{text}` is no SQLSTATE"),
    };
    diagnostics.error(word.span(), message).help("it has five digits or capital letters, such as 40001");
    None
}
