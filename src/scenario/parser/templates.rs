//! Finds the variables in SQL and in prose.

use super::lexer::{Lexeme, Lexer, Token, is_name_part, is_name_start};
use super::slice::Slice;
use crate::scenario::diagnostic::Diagnostics;
use crate::scenario::template::{Piece, Template};

/// SQL: no variables inside quotes and comments.
pub fn sql(text: Slice<'_>, diagnostics: &mut Diagnostics) -> Template {
    let mut pieces = Vec::new();
    let mut plain = 0;
    let mut at = 0;
    let mut before = Token::Space;
    for lexeme in Lexer::new(text) {
        let end = at + lexeme.slice.text.len();
        if let Some(variable) = variable(&lexeme) {
            push_text(&mut pieces, text.get(plain..at));
            pieces.push(variable);
            plain = end;
            if matches!(before, Token::Number | Token::Value | Token::Close) {
                diagnostics
                    .error(lexeme.slice.span(), format!("variable `{}` right behind a value", lexeme.variable()))
                    .help("in an array slice write a space behind the colon: `[1: n]`");
            }
        }
        if let Token::Unterminated(unclosed) = lexeme.token {
            lexeme.report_unclosed(unclosed, diagnostics);
        }
        before = lexeme.token;
        at = end;
    }
    push_text(&mut pieces, text.from(plain));
    Template { pieces, span: text.span() }
}

/// Prose: `:name` is a variable inside quotes too.
pub fn prose(text: Slice<'_>) -> Template {
    let mut pieces = Vec::new();
    let mut plain = 0;
    for (colon, _) in text.text.match_indices(':') {
        let name = text.from(colon + 1);
        let is_cast = text.text[..colon].ends_with(':');
        if is_cast || colon < plain || !name.text.starts_with(is_name_start) {
            continue;
        }
        let length = name.text.find(|c| !is_name_part(c)).unwrap_or(name.text.len());
        push_text(&mut pieces, text.get(plain..colon));
        plain = colon + 1 + length;
        let span = text.get(colon..plain).span();
        pieces.push(Piece::Value { name: name.text[..length].to_owned(), span });
    }
    push_text(&mut pieces, text.from(plain));
    Template { pieces, span: text.span() }
}

fn variable(lexeme: &Lexeme<'_>) -> Option<Piece> {
    let (name, span) = (lexeme.variable().to_owned(), lexeme.slice.span());
    match lexeme.token {
        Token::Value => Some(Piece::Value { name, span }),
        Token::Identifier => Some(Piece::Identifier { name, span }),
        _ => None,
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: Slice<'_>) {
    if !text.is_empty() {
        pieces.push(Piece::Text { text: text.text.to_owned(), span: text.span() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(template: &Template) -> Vec<&str> {
        template.variables().map(|(name, _)| name).collect()
    }

    #[test]
    fn a_template_is_written_as_it_was_read() {
        let text = "SELECT ':a', :b::int, :\"c\" FROM t -- :d";
        let template = sql(Slice::whole(text, 0), &mut Diagnostics::default());
        assert_eq!(names(&template), ["b", "c"]);
        assert_eq!(template.written(), text);
        assert_eq!(
            template.pieces[1],
            Piece::Value { name: "b".to_owned(), span: Slice::whole(text, 0).get(13..15).span() }
        );
    }

    #[test]
    fn quotes_mean_nothing_in_prose() {
        let template = prose(Slice::whole("check: it's $:approved + $:amount <= $:budget? 10:30 x::int", 0));
        assert_eq!(names(&template), ["approved", "amount", "budget"]);
    }
}
