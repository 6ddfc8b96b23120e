//! A body cut into statements and backslash commands.

use super::lexer::{Lexeme, Lexer, Token};
use super::sections::{MARK, almost_header};
use super::slice::Slice;
use super::statement::begins_with;
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
            .error(line.first_word().0.span(), format!("`{}` must be the first on its line", line.first_word().0.text));
    }

    fn statement(&mut self) -> Option<Item<'a>> {
        let start = self.rest;
        let mut nesting = Nesting::default();
        // Up to its last token that is no white space or comment.
        let mut text = start.get(0..0);
        let mut long_quote = None;
        let mut before: Option<Lexeme<'a>> = None;
        while let Some(lexeme) = Lexer::new(self.rest).next() {
            match lexeme.token {
                Token::Semicolon if nesting.is_closed() => {
                    self.pass(lexeme);
                    return Some(Item::Statement { text, end: End::Semicolon });
                }
                Token::Backslash => {
                    let end = self.statement_end(text);
                    self.unclosed(&nesting);
                    return Some(Item::Statement { text, end });
                }
                Token::Unterminated(unclosed) => {
                    let diagnostic = lexeme.report_unclosed(unclosed, self.diagnostics);
                    if let Some(quote) = long_quote {
                        diagnostic.note(quote, "this one runs over the end of its line");
                    }
                    self.rest = self.rest.end();
                    return Some(Item::Statement { text: start, end: End::Semicolon });
                }
                _ => {
                    if self.column == Column::First && nesting.is_closed() {
                        self.watch_for_new_statement(start, before, lexeme);
                    }
                    if lexeme.token == Token::Text && lexeme.slice.text.contains('\n') {
                        long_quote = Some(lexeme.slice.get(0..1).span());
                    }
                    nesting.enter(lexeme);
                    self.pass(lexeme);
                    if !lexeme.is_blank() {
                        text = start.get(0..start.text.len() - self.rest.text.len());
                        before = Some(lexeme);
                    }
                }
            }
        }
        if !self.unclosed(&nesting) {
            self.diagnostics.warning(text.end().span(), "the last statement has no `;`").label("missing `;`");
        }
        Some(Item::Statement { text, end: End::Semicolon })
    }

    /// A line inside a statement that begins as only a statement of its own does.
    fn watch_for_new_statement(&mut self, start: Slice<'a>, before: Option<Lexeme<'a>>, lexeme: Lexeme<'a>) {
        let goes_on = |before: Lexeme<'_>| ["FOR", "KEY", "DO", "ON"].iter().any(|word| before.is_word(word));
        let is_new = |words: &[&str]| words.iter().any(|word| lexeme.is_word(word));
        let is_doubtful = match lexeme.token {
            Token::Word if begins_with(start, &["UPDATE"]) || begins_with(start, &["DELETE"]) => {
                is_new(&["INSERT", "UPDATE", "DELETE", "SELECT", "COMMIT", "ROLLBACK"])
            }
            Token::Word if begins_with(start, &["INSERT"]) || begins_with(start, &["SELECT"]) => {
                is_new(&["INSERT", "UPDATE", "DELETE", "COMMIT", "ROLLBACK"])
            }
            _ => false,
        };
        if let Some(before) = before
            && is_doubtful
            && !goes_on(before)
        {
            self.diagnostics
                .warning(lexeme.slice.span(), format!("`{}` in the middle of a statement", lexeme.slice.text))
                .note(before.slice.end().span(), "is a `;` missing here?");
        }
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
    fn unclosed(&mut self, nesting: &Nesting<'a>) -> bool {
        let Some(open) = nesting.open() else { return false };
        self.diagnostics.error(open.span(), format!("this `{}` is not closed", open.text));
        true
    }
}

/// The brackets and BEGIN ATOMIC blocks that are open in a statement: a `;` in them does not end it.
#[derive(Debug, Default)]
struct Nesting<'a> {
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
    fn is_closed(&self) -> bool {
        self.brackets == 0 && self.blocks == 0
    }

    fn open(&self) -> Option<Slice<'a>> {
        match self.is_closed() {
            true => None,
            false => self.bracket.filter(|_| self.brackets > 0).or(self.block),
        }
    }

    fn enter(&mut self, lexeme: Lexeme<'a>) {
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
