//! A body cut into statements and backslash commands.

pub mod nesting;
mod open;

use nesting::Nesting;
use open::Open;

use super::lexer::{Lexeme, Lexer, Token};
use super::sections::{MARK, almost_header};
use super::slice::Slice;
use crate::scenario::diagnostic::Diagnostics;

/// A statement or a command, as it stands in a body.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// A statement without what ends it.
    Statement { text: Slice<'a>, end: End<'a> },
    /// A backslash command: its word without the backslash, and the rest of its line, trimmed.
    Command { word: Slice<'a>, text: Slice<'a> },
}

/// What ends a statement.
#[derive(Debug, Clone, Copy)]
pub enum End<'a> {
    Semicolon,
    /// `\gset [PREFIX]`: the prefix, which may be empty.
    Gset(Slice<'a>),
    /// `\lost`.
    Lost,
}

/// The items of a body; mistakes are reported and passed over.
pub fn items<'a>(body: Slice<'a>, diagnostics: &mut Diagnostics) -> Vec<Item<'a>> {
    let mut reader = Reader { rest: body, column: Column::First, diagnostics };
    let mut items = Vec::new();
    while let Some(item) = reader.next() {
        items.push(item);
    }
    items
}

/// Where on its line the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    First,
    /// Behind white space only.
    Indented,
    Further,
}

struct Reader<'a, 'd> {
    rest: Slice<'a>,
    column: Column,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Reader<'a, '_> {
    fn next(&mut self) -> Option<Item<'a>> {
        while let Some(lexeme) = Lexer::new(self.rest).next() {
            match lexeme.token {
                Token::Space | Token::Comment | Token::Semicolon => self.pass(lexeme),
                Token::Backslash if self.column != Column::Further => return Some(self.command()),
                Token::Backslash => self.misplaced_command(),
                _ => return self.statement(),
            }
        }
        None
    }

    /// Moves on behind a token, watching for comments that are almost headers.
    fn pass(&mut self, lexeme: Lexeme<'a>) {
        if lexeme.token == Token::Comment {
            self.watch(lexeme.slice);
        }
        self.column = match lexeme.token {
            Token::Space if lexeme.slice.text.ends_with('\n') => Column::First,
            Token::Space if lexeme.slice.text.contains('\n') || self.column != Column::Further => Column::Indented,
            _ => Column::Further,
        };
        self.rest = self.rest.from(lexeme.slice.text.len());
    }

    fn watch(&mut self, comment: Slice<'a>) {
        let is_header = self.column == Column::First && comment.text.starts_with(MARK);
        if self.column == Column::Further || is_header {
            return;
        }
        if let Some(word) = almost_header(comment.text) {
            self.diagnostics
                .error(comment.span(), format!("a comment that is almost the section `@{word}`"))
                .help(format!("a section begins its line with `-- @{word}`: no indent, one space, small letters"));
        }
    }

    /// The rest of the line, which is left behind.
    fn line(&mut self) -> Slice<'a> {
        let (line, rest) = self.rest.split(self.rest.text.find('\n').unwrap_or(self.rest.text.len()));
        self.rest = rest;
        line
    }

    fn command(&mut self) -> Item<'a> {
        let (word, text) = self.line().from(1).first_word();
        Item::Command { word, text: text.trim() }
    }

    fn misplaced_command(&mut self) {
        let line = self.line();
        self.diagnostics
            .error(line.first_word().0.span(), format!("`{}` must be the first on its line", line.first_word().0.text))
            .help("give it a line of its own");
    }

    fn statement(&mut self) -> Option<Item<'a>> {
        let mut open = Open::new(self.rest);
        while let Some(lexeme) = Lexer::new(self.rest).next() {
            match lexeme.token {
                Token::Semicolon if open.nesting.is_closed() => {
                    self.pass(lexeme);
                    return Some(Item::Statement { text: open.text, end: End::Semicolon });
                }
                Token::Backslash => {
                    let end = self.statement_end(open.text);
                    self.unclosed(&open.nesting);
                    return Some(Item::Statement { text: open.text, end });
                }
                Token::Unterminated(unclosed) => {
                    let diagnostic = lexeme.report_unclosed(unclosed, self.diagnostics);
                    if let Some(quote) = open.long_quote {
                        diagnostic.note(quote, "this one runs over the end of its line");
                    }
                    self.rest = self.rest.end();
                    return Some(Item::Statement { text: open.start, end: End::Semicolon });
                }
                _ => {
                    if self.column == Column::First && open.seems_over(lexeme) {
                        self.diagnostics
                            .warning(lexeme.slice.span(), format!("`{}` inside a statement", lexeme.slice.text))
                            .note(open.text.end().span(), "is a `;` missing here?");
                    }
                    self.pass(lexeme);
                    open.enter(lexeme, self.rest);
                }
            }
        }
        if !self.unclosed(&open.nesting) {
            self.diagnostics.warning(open.text.end().span(), "the last statement has no `;`").label("missing `;`");
        }
        Some(Item::Statement { text: open.text, end: End::Semicolon })
    }

    /// At a backslash behind a statement: `\gset`, `\lost`, or a command before which the `;` is missing.
    fn statement_end(&mut self, statement: Slice<'a>) -> End<'a> {
        let (word, _) = self.rest.from(1).first_word();
        match word.text {
            "gset" => End::Gset(self.argument()),
            "lost" => {
                let argument = self.argument();
                if !argument.is_empty() {
                    self.diagnostics.error(argument.span(), "`\\lost` takes no argument");
                }
                End::Lost
            }
            _ if self.column != Column::Further => {
                self.diagnostics
                    .error(statement.end().span(), format!("the statement before `\\{}` has no `;`", word.text))
                    .label("missing `;`");
                End::Semicolon
            }
            _ => {
                let word = self.line().first_word().0;
                self.diagnostics
                    .error(word.span(), format!("`{}` cannot stand behind a statement", word.text))
                    .help("a statement ends in `;`, `\\gset` or `\\lost`; commands have a line of their own");
                End::Semicolon
            }
        }
    }

    /// What follows the command at hand on its line, without a comment.
    fn argument(&mut self) -> Slice<'a> {
        let text = self.line().first_word().1;
        text.get(0..text.text.find("--").unwrap_or(text.text.len())).trim()
    }

    /// Reports the bracket or block that a statement leaves open, if any.
    fn unclosed(&mut self, nesting: &Nesting<'_>) -> bool {
        let Some(open) = nesting.open() else { return false };
        self.diagnostics.error(open.span(), format!("this `{}` is not closed", open.text));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> (Vec<String>, Vec<String>) {
        let mut diagnostics = Diagnostics::default();
        let items = items(Slice::whole(body, 0), &mut diagnostics);
        let items = items.iter().map(|item| match item {
            Item::Statement { text, end: End::Semicolon } => text.text.to_owned(),
            Item::Statement { text, end: End::Gset(prefix) } => format!("{} => {}", text.text, prefix.text),
            Item::Statement { text, end: End::Lost } => format!("{} => lost", text.text),
            Item::Command { word, text } => format!("\\{}({})", word.text, text.text),
        });
        let messages = diagnostics.into_sorted().into_iter().map(|diagnostic| diagnostic.message);
        (items.collect(), messages.collect())
    }

    #[track_caller]
    fn reads(body: &str, expected: &[&str]) {
        let (items, messages) = read(body);
        assert_eq!(messages, [""; 0]);
        assert_eq!(items, expected);
    }

    #[track_caller]
    fn complains(body: &str, expected: &[&str]) {
        assert_eq!(read(body).1, expected);
    }

    #[test]
    fn statements_end_in_a_semicolon_gset_or_lost() {
        reads("SELECT 1; SELECT 2 ;;\n-- x\nSELECT 3 -- y\n;", &["SELECT 1", "SELECT 2", "SELECT 3"]);
        reads("SELECT 1 AS a\n  \\gset p_ -- x\nCOMMIT \\lost\n", &["SELECT 1 AS a => p_", "COMMIT => lost"]);
    }

    #[test]
    fn commands_have_a_line_of_their_own() {
        reads("  \\set a  1 ; 2 \nSELECT 1;\n\\endif", &["\\set(a  1 ; 2)", "SELECT 1", "\\endif()"]);
        complains("SELECT 1; \\echo x", &["`\\echo` must be the first on its line"]);
        complains("SELECT 1 \\echo x", &["`\\echo` cannot stand behind a statement"]);
    }

    #[test]
    fn a_semicolon_in_quotes_brackets_and_routine_bodies_ends_nothing() {
        reads("CREATE RULE r AS ON INSERT TO t DO (a; b);", &["CREATE RULE r AS ON INSERT TO t DO (a; b)"]);
        reads("SELECT ';', $$;$$, \";\", /*;*/ 1;", &["SELECT ';', $$;$$, \";\", /*;*/ 1"]);
        let function =
            "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN a THEN 1 END; SELECT 2; END";
        reads(&format!("{function};\nBEGIN;"), &[function, "BEGIN"]);
    }

    #[test]
    fn what_is_left_open_is_said_where_it_opens() {
        complains("SELECT (1;\nSELECT 2;", &["this `(` is not closed"]);
        complains("SELECT 'a;\nSELECT 2;", &["this quote is not closed"]);
        complains("CREATE FUNCTION f() BEGIN ATOMIC SELECT 1;", &["this `BEGIN` is not closed"]);
        complains("SELECT 1\n\\if x", &["the statement before `\\if` has no `;`"]);
        complains("SELECT 1", &["the last statement has no `;`"]);
    }

    #[test]
    fn a_comment_that_is_almost_a_header_is_a_mistake_outside_quotes() {
        complains(
            "SELECT 1;\n  -- @check x\n--@setup\n",
            &["a comment that is almost the section `@check`", "a comment that is almost the section `@setup`"],
        );
        reads("SELECT '\n  -- @check x\n'; -- @setup is above", &["SELECT '\n  -- @check x\n'"]);
    }
}
