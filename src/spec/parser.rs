//! Reads a `.spec` file. The parts come in a fixed order:
//!
//! ```text
//! spec        := setup* teardown? session+ permutation*
//! setup       := "setup" BLOCK                teardown := "teardown" BLOCK
//! session     := "session" NAME setup? step+ teardown?
//! step        := "step" NAME BLOCK
//! permutation := "permutation" entry+
//! entry       := NAME | NAME "(" marker ("," marker)* ")"
//! marker      := "*" | NAME | NAME "notices" INTEGER
//! ```

use std::sync::Arc;

use super::check::resolve;
use super::lexer::{Lexeme, Lexer, Token};
use super::mistake::{Mistake, Refused, mistake};
use super::model::{Block, SpecFile, SpecSession, SpecStep};
use crate::scenario::source::{SourceFile, Sources, Span};

/// What is written, before names are looked up.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub setups: Vec<Block>,
    pub teardown: Option<Block>,
    pub sessions: Vec<SpecSession>,
    pub steps: Vec<SpecStep>,
    pub permutations: Vec<Vec<DraftEntry>>,
}

#[derive(Debug)]
pub(super) struct DraftEntry {
    pub step: Named,
    pub markers: Vec<DraftMarker>,
}

#[derive(Debug)]
pub(super) enum DraftMarker {
    Once,
    Step(Named),
    Notices(Named, u32),
}

#[derive(Debug)]
pub(super) struct Named {
    pub name: String,
    pub span: Span,
}

/// Reads the text of a file. `path` is how mistakes call it; the name of the file is the path's last part without its
/// ending. A syntax error comes alone; of other mistakes isolationtester would tell the first.
pub fn parse(path: &str, text: String) -> Result<SpecFile, Refused> {
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = file.strip_suffix(".spec").unwrap_or(file).to_owned();
    let draft = Parser::new(&text).and_then(Parser::draft).map_err(|mistake| vec![*mistake]);
    let sources = Sources { files: vec![Arc::new(SourceFile { name: path.to_owned(), text })] };
    match draft.and_then(resolve) {
        Ok(resolved) => Ok(resolved.into_file(name, sources)),
        Err(mistakes) => Err(Refused { mistakes, sources }),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// Not yet taken.
    ahead: Lexeme,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Parser<'a>, Mistake> {
        let mut lexer = Lexer::new(text);
        let ahead = lexer.next()?;
        Ok(Parser { lexer, ahead })
    }

    fn draft(mut self) -> Result<Draft, Mistake> {
        let mut draft = Draft::default();
        while self.accept(&Token::Setup)? {
            draft.setups.push(self.block()?);
        }
        draft.teardown = self.optional_block(&Token::Teardown)?;
        while self.ahead.token == Token::Session || draft.sessions.is_empty() {
            self.session(&mut draft)?;
        }
        while self.ahead.token == Token::Permutation {
            draft.permutations.push(self.permutation()?);
        }
        match self.ahead.token {
            Token::End => Ok(draft),
            _ if draft.permutations.is_empty() => Err(self.unexpected("a session, a step or a permutation")),
            _ => Err(self.unexpected("a step's name or `permutation`")),
        }
    }

    fn session(&mut self, draft: &mut Draft) -> Result<(), Mistake> {
        self.expect(&Token::Session, "`session`")?;
        let Named { name, span } = self.name("the session's name")?;
        let setup = self.optional_block(&Token::Setup)?;
        let first = draft.steps.len();
        while self.ahead.token == Token::Step || draft.steps.len() == first {
            self.expect(&Token::Step, "`step`")?;
            let Named { name, span } = self.name("the step's name")?;
            draft.steps.push(SpecStep { name, session: draft.sessions.len(), block: self.block()?, span });
        }
        let teardown = self.optional_block(&Token::Teardown)?;
        let steps = (first..draft.steps.len()).collect();
        draft.sessions.push(SpecSession { name, setup, steps, teardown, span });
        Ok(())
    }

    fn permutation(&mut self) -> Result<Vec<DraftEntry>, Mistake> {
        self.expect(&Token::Permutation, "`permutation`")?;
        let mut entries = vec![self.entry()?];
        while matches!(self.ahead.token, Token::Name(_)) {
            entries.push(self.entry()?);
        }
        Ok(entries)
    }

    fn entry(&mut self) -> Result<DraftEntry, Mistake> {
        let step = self.name("a step's name")?;
        let mut markers = Vec::new();
        if self.accept(&Token::LeftParenthesis)? {
            markers.push(self.marker()?);
            while self.accept(&Token::Comma)? {
                markers.push(self.marker()?);
            }
            self.expect(&Token::RightParenthesis, "`,` or `)`")?;
        }
        Ok(DraftEntry { step, markers })
    }

    fn marker(&mut self) -> Result<DraftMarker, Mistake> {
        if self.accept(&Token::Star)? {
            return Ok(DraftMarker::Once);
        }
        let step = self.name("`*` or a step's name")?;
        if !self.accept(&Token::Notices)? {
            return Ok(DraftMarker::Step(step));
        }
        let Token::Integer(count) = self.ahead.token else { return Err(self.unexpected("a number of notices")) };
        self.advance()?;
        Ok(DraftMarker::Notices(step, count))
    }

    fn optional_block(&mut self, keyword: &Token) -> Result<Option<Block>, Mistake> {
        if self.accept(keyword)? { self.block().map(Some) } else { Ok(None) }
    }

    fn block(&mut self) -> Result<Block, Mistake> {
        match self.ahead.token.clone() {
            Token::Block(block) => self.advance().map(|_| block),
            _ => Err(self.unexpected("SQL in braces")),
        }
    }

    fn name(&mut self, expected: &str) -> Result<Named, Mistake> {
        match self.ahead.token.clone() {
            Token::Name(name) => self.advance().map(|lexeme| Named { name, span: lexeme.span }),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn accept(&mut self, token: &Token) -> Result<bool, Mistake> {
        let found = self.ahead.token == *token;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, token: &Token, expected: &str) -> Result<(), Mistake> {
        if self.accept(token)? { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn advance(&mut self) -> Result<Lexeme, Mistake> {
        let ahead = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.ahead, ahead))
    }

    fn unexpected(&self, expected: &str) -> Mistake {
        let mut mistake = mistake(format!("syntax error at line {}", self.ahead.line), self.ahead.span);
        mistake.label(format!("expected {expected}"));
        if matches!(self.ahead.token, Token::Setup | Token::Teardown | Token::Session) {
            mistake.help("the order is: setups, teardown, sessions (setup, steps, teardown), permutations");
        }
        mistake
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::testing::spec;
    use crate::spec::{Entry, Marker};

    fn mistake(text: &str) -> String {
        parse("folder/x.spec", text.to_owned()).unwrap_err().mistakes[0].message.clone()
    }

    #[test]
    fn every_part_is_read() {
        let file = spec(
            "setup { A } setup { B } teardown { C }\n\
             session \"s 1\" setup { D } step s1 { E } step s2 { F } teardown { G }\n\
             session t step t1 { H }\n\
             permutation s1 (*, t1) t1(s2\n notices 2) s2 permutation s1",
        );
        let sqls: Vec<&str> = file.blocks().map(|block| block.sql.as_str()).collect();
        assert_eq!(sqls, ["A", "B", "C", "D", "G", "E", "F", "H"]);
        assert_eq!(file.name, "test");
        assert_eq!(file.sessions[0].name, "s 1");
        assert_eq!(file.sessions[0].steps, [0, 1]);
        assert_eq!(file.steps[2].session, 1);
        let entries = [
            Entry { step: 0, markers: vec![Marker::Once, Marker::Step(2)] },
            Entry { step: 2, markers: vec![Marker::Notices { step: 1, count: 2 }] },
            Entry { step: 1, markers: vec![] },
        ];
        assert_eq!(file.permutations[0].entries, entries);
        assert_eq!(file.permutations.len(), 2);
    }

    #[test]
    fn the_order_of_the_parts_is_fixed() {
        assert_eq!(mistake("teardown {}\nsetup {}"), "syntax error at line 2");
        assert_eq!(mistake("session a step x {}\npermutation x\nsession b step y {}"), "syntax error at line 3");
        assert_eq!(mistake("session a\nsetup {}\nsetup {} step x {}"), "syntax error at line 3");
    }

    #[test]
    fn what_must_be_there_is_missed() {
        assert_eq!(mistake(""), "syntax error at line 1");
        assert_eq!(mistake("session a\n\n"), "syntax error at line 3");
        assert_eq!(mistake("session a step x {}\npermutation\n"), "syntax error at line 3");
        assert_eq!(mistake("session a step x {} permutation x()"), "syntax error at line 1");
        assert_eq!(mistake("session a step x {} permutation x(x notices)"), "syntax error at line 1");
        assert_eq!(mistake("session a step x {\n}\n{\n}"), "syntax error at line 4");
    }

    #[test]
    fn numbers_stand_behind_notices_only() {
        assert_eq!(mistake("session 1 step x {}"), "syntax error at line 1");
    }
}
