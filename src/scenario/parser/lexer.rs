//! SQL cut into tokens, as far as a client has to: quotes, comments, brackets, words, variables.
//!
//! The rules are those of psql: <https://www.postgresql.org/docs/current/sql-syntax-lexical.html>.

use super::slice::Slice;
use crate::scenario::diagnostic::{Diagnostic, Diagnostics};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    Space,
    Comment,
    /// A key word or a bare name.
    Word,
    /// `"Name"`.
    QuotedName,
    /// `'text'`, `E'text'`, `$$text$$`.
    Text,
    Number,
    /// `:name` or `:'name'`.
    Value,
    /// `:"name"`.
    Identifier,
    Semicolon,
    Comma,
    Open,
    Close,
    Backslash,
    /// An operator or other sign.
    Sign,
    /// Runs to the end of the text since nothing closes it.
    Unterminated(Unclosed),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unclosed {
    Quote,
    QuotedName,
    DollarQuote,
    Comment,
}

impl Unclosed {
    fn name(self) -> &'static str {
        match self {
            Unclosed::Quote => "quote",
            Unclosed::QuotedName => "quoted name",
            Unclosed::DollarQuote => "dollar quote",
            Unclosed::Comment => "comment",
        }
    }
}

/// A token and its text.
#[derive(Debug, Clone, Copy)]
pub struct Lexeme<'a> {
    pub token: Token,
    pub slice: Slice<'a>,
}

impl<'a> Lexeme<'a> {
    /// Whether it is this key word, given in capitals.
    pub fn is_word(&self, word: &str) -> bool {
        self.token == Token::Word && self.slice.text.eq_ignore_ascii_case(word)
    }

    /// White space and comments.
    pub fn is_blank(&self) -> bool {
        matches!(self.token, Token::Space | Token::Comment)
    }

    /// The name of a variable, without its colon and quotes.
    pub fn variable(&self) -> &'a str {
        self.slice.text.trim_matches([':', '\'', '"'])
    }

    /// Reports what nothing closes, at the sign that opens it.
    pub fn report_unclosed<'d>(&self, unclosed: Unclosed, diagnostics: &'d mut Diagnostics) -> &'d mut Diagnostic {
        let opening = self.slice.text.chars().next().map_or(0, char::len_utf8);
        diagnostics.error(self.slice.get(0..opening).span(), format!("this {} is not closed", unclosed.name()))
    }

    /// The name that a word or quoted name stands for, as the server folds it.
    pub fn folded(&self) -> Option<String> {
        match self.token {
            Token::Word => Some(self.slice.text.to_lowercase()),
            Token::QuotedName => {
                let name = self.slice.text.split_once('"').map_or("", |(_, rest)| rest);
                Some(name.strip_suffix('"').unwrap_or(name).replace("\"\"", "\""))
            }
            _ => None,
        }
    }
}

/// Cuts a slice into tokens, all of it.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    slice: Slice<'a>,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(slice: Slice<'a>) -> Lexer<'a> {
        Lexer { slice, at: 0 }
    }

    /// The token at the start of a text that is not empty, and its length in bytes.
    fn token(rest: &str) -> (Token, usize) {
        let mut chars = rest.chars();
        let first = chars.next().unwrap_or(' ');
        let second = chars.next().unwrap_or(' ');
        match first {
            c if c.is_whitespace() => (Token::Space, length_while(rest, char::is_whitespace)),
            '-' if second == '-' => (Token::Comment, rest.find('\n').unwrap_or(rest.len())),
            '/' if second == '*' => block_comment(rest),
            '\'' => quoted(rest, 1, Token::Text),
            '"' => quoted(rest, 1, Token::QuotedName),
            'e' | 'E' if second == '\'' => escape_string(rest),
            'b' | 'B' | 'n' | 'N' | 'x' | 'X' if second == '\'' => quoted(rest, 2, Token::Text),
            'u' | 'U' if rest[1..].starts_with("&'") => quoted(rest, 3, Token::Text),
            'u' | 'U' if rest[1..].starts_with("&\"") => quoted(rest, 3, Token::QuotedName),
            '$' => dollar_quoted(rest).unwrap_or((Token::Sign, 1)),
            ':' => colon(rest),
            c if is_name_start(c) => (Token::Word, length_while(rest, |c| is_name_part(c) || c == '$')),
            c if c.is_ascii_digit() => (Token::Number, length_while(rest, |c| is_name_part(c) || c == '.')),
            ';' => (Token::Semicolon, 1),
            ',' => (Token::Comma, 1),
            '(' | '[' => (Token::Open, 1),
            ')' | ']' => (Token::Close, 1),
            '\\' => (Token::Backslash, 1),
            c => (Token::Sign, c.len_utf8()),
        }
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Lexeme<'a>;

    fn next(&mut self) -> Option<Lexeme<'a>> {
        let rest = &self.slice.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let (token, length) = Lexer::token(rest);
        let slice = self.slice.get(self.at..self.at + length);
        self.at += length;
        Some(Lexeme { token, slice })
    }
}

/// Whether a bare name may begin with it.
pub fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

pub fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn length_while(text: &str, accepts: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accepts(c)).unwrap_or(text.len())
}

/// A text in which the quote is written twice; `start` is the length of what opens it, the quote its last byte.
fn quoted(rest: &str, start: usize, token: Token) -> (Token, usize) {
    let quote = rest.as_bytes()[start - 1];
    let bytes = rest.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        if bytes[at] != quote {
            at += 1;
        } else if bytes.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return (token, at + 1);
        }
    }
    let unclosed = if token == Token::QuotedName { Unclosed::QuotedName } else { Unclosed::Quote };
    (Token::Unterminated(unclosed), rest.len())
}

/// `E'…'`, in which a backslash hides the quote after it.
fn escape_string(rest: &str) -> (Token, usize) {
    let bytes = rest.as_bytes();
    let mut at = 2;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return (Token::Text, at + 1),
            _ => at += 1,
        }
    }
    (Token::Unterminated(Unclosed::Quote), rest.len())
}

/// `$tag$ … $tag$`; none where the dollar opens no quote.
fn dollar_quoted(rest: &str) -> Option<(Token, usize)> {
    let tag = length_while(&rest[1..], is_name_part);
    let opens = rest[1 + tag..].starts_with('$') && !rest[1..].starts_with(|c: char| c.is_ascii_digit());
    if !opens {
        return None;
    }
    let (open, body) = rest.split_at(tag + 2);
    match body.find(open) {
        Some(end) => Some((Token::Text, open.len() + end + open.len())),
        None => Some((Token::Unterminated(Unclosed::DollarQuote), rest.len())),
    }
}

/// `/* … */`, which may hold others.
fn block_comment(rest: &str) -> (Token, usize) {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return (Token::Comment, at);
                }
            }
            _ => at += 1,
        }
    }
    (Token::Unterminated(Unclosed::Comment), rest.len())
}

/// A cast, a variable, or just a colon.
fn colon(rest: &str) -> (Token, usize) {
    let after = &rest[1..];
    if after.starts_with(':') {
        return (Token::Sign, 2);
    }
    let quote = after.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let name = &after[quote.map_or(0, char::len_utf8)..];
    let length = if name.starts_with(is_name_start) { length_while(name, is_name_part) } else { 0 };
    match quote {
        _ if length == 0 => (Token::Sign, 1),
        None => (Token::Value, 1 + length),
        Some(quote) if !name[length..].starts_with(quote) => (Token::Sign, 1),
        Some('"') => (Token::Identifier, length + 3),
        Some(_) => (Token::Value, length + 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(sql: &str) -> Vec<(Token, &str)> {
        let lexer = Lexer::new(Slice::whole(sql, 0));
        lexer.filter(|lexeme| lexeme.token != Token::Space).map(|lexeme| (lexeme.token, lexeme.slice.text)).collect()
    }

    fn only(sql: &str, token: Token) -> Vec<&str> {
        tokens(sql).into_iter().filter(|(found, _)| *found == token).map(|(_, text)| text).collect()
    }

    #[test]
    fn a_variable_is_no_cast_and_no_slice() {
        assert_eq!(only("x::int + :a||:'b' = :\"c\"", Token::Value), [":a", ":'b'"]);
        assert_eq!(only("x::int + :\"c\"", Token::Identifier), [":\"c\""]);
        assert_eq!(only("a[1:2], b[1: n], f(x := 1)", Token::Value), [""; 0]);
        assert_eq!(only("(:keys)[:i]::text", Token::Value), [":keys", ":i"]);
    }

    #[test]
    fn nothing_is_a_variable_inside_quotes_and_comments() {
        let sql = "':a' \":b\" E'\\':c' $$:d$$ $q$ $$ :e $q$ -- :f\n/* :g /* :h */ :i */ U&':j'";
        assert_eq!(only(sql, Token::Value), [""; 0]);
        assert_eq!(only(sql, Token::Text), ["':a'", "E'\\':c'", "$$:d$$", "$q$ $$ :e $q$", "U&':j'"]);
    }

    #[test]
    fn a_dollar_in_a_name_opens_no_quote() {
        assert_eq!(tokens("a$b$c"), [(Token::Word, "a$b$c")]);
        assert_eq!(only("$1 + $2", Token::Number), ["1", "2"]);
    }

    #[test]
    fn what_is_not_closed_runs_to_the_end() {
        for (sql, unclosed) in [
            ("'it''s", Unclosed::Quote),
            ("E'\\'", Unclosed::Quote),
            ("E'\\", Unclosed::Quote),
            ("\"a", Unclosed::QuotedName),
            ("$a$ $b$", Unclosed::DollarQuote),
            ("/* /* */", Unclosed::Comment),
        ] {
            assert_eq!(tokens(sql), [(Token::Unterminated(unclosed), sql)]);
        }
    }

    #[test]
    fn names_fold_as_the_server_folds_them() {
        let folded: Vec<_> = Lexer::new(Slice::whole("Total \"Total\"\"s\"", 0)).filter_map(|l| l.folded()).collect();
        assert_eq!(folded, ["total", "Total\"s"]);
    }
}
