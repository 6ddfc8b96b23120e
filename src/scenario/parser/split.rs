//! SQL text cut into statements, where nothing else stands between them.

use super::items::nesting::Nesting;
use super::lexer::{Lexer, Token};
use super::slice::Slice;
use super::statement::{begins_with, control};
use crate::program::Control;
use crate::scenario::source::Span;

/// One statement of a text.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a>(Slice<'a>);

impl<'a> Piece<'a> {
    /// Without its semicolon.
    pub fn text(self) -> &'a str {
        self.0.text
    }

    pub fn span(self) -> Span {
        self.0.span()
    }

    /// What it does to the transaction around it.
    pub fn control(self) -> Control {
        control(self.0)
    }

    /// Whether it begins with these key words, given in capitals.
    pub fn begins_with(self, words: &[&str]) -> bool {
        begins_with(self.0, words)
    }
}

/// The statements of a text that stands at `span`. Comments and blanks between them are left out; what nothing closes runs
/// to the end.
pub fn split(text: &str, span: Span) -> Vec<Piece<'_>> {
    let whole = Slice::at(text, span);
    let mut pieces = Vec::new();
    let mut nesting = Nesting::default();
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    for lexeme in Lexer::new(whole) {
        let end = at + lexeme.slice.text.len();
        if lexeme.token == Token::Semicolon && nesting.is_closed() {
            pieces.extend(open.take().map(|(start, end)| Piece(whole.get(start..end))));
            nesting = Nesting::default();
        } else if !lexeme.is_blank() {
            nesting.enter(lexeme);
            open = Some((open.map_or(at, |(start, _)| start), end));
        }
        at = end;
    }
    pieces.extend(open.map(|(start, end)| Piece(whole.get(start..end))));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_cut_at_their_semicolons() {
        let text = "-- x\nBEGIN; SELECT ';' \\ 'a';;\n CREATE RULE r AS ON INSERT TO t DO (a; b) ; COMMIT -- y";
        let pieces = split(text, Span { file: 0, start: 100, end: 100 + text.len() as u32 });
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.text()).collect();
        assert_eq!(texts, ["BEGIN", "SELECT ';' \\ 'a'", "CREATE RULE r AS ON INSERT TO t DO (a; b)", "COMMIT"]);
        assert_eq!((pieces[0].span().start, pieces[0].span().end), (105, 110));
        assert_eq!((pieces[0].control(), pieces[3].control()), (Control::Begin, Control::Commit));
        assert!(pieces[2].begins_with(&["CREATE", "RULE"]));
    }

    #[test]
    fn what_nothing_closes_runs_to_the_end() {
        let texts = |text| split(text, Span::default()).into_iter().map(Piece::text).collect::<Vec<_>>();
        assert_eq!(texts("SELECT 'a; SELECT 2"), ["SELECT 'a; SELECT 2"]);
        assert_eq!(texts("SELECT (1; SELECT 2"), ["SELECT (1; SELECT 2"]);
        assert!(texts(" -- nothing").is_empty());
    }
}
