//! What can be taken out of a statement without breaking it: its lock clauses, and the conditions that guard a write.

use std::collections::BTreeSet;
use std::ops::Range;

use super::parser::lexer::{Lexeme, Lexer, Token};
use super::parser::slice::Slice;
use super::source::Span;
use super::template::{Piece, Template};

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    pub kind: CutKind,
    /// As written.
    pub text: String,
    /// In [`Template::written`].
    range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutKind {
    /// `FOR UPDATE` and its like.
    Lock,
    /// A condition beside others in the WHERE of an UPDATE or DELETE.
    Guard,
}

/// A column that tells rows apart, alone or with others: table and column.
pub type Keys = BTreeSet<(String, String)>;

/// The locks and guards of a statement. What looks a row up by its key is no guard.
pub fn cuts(template: &Template, keys: &Keys) -> Vec<Cut> {
    let written = template.written();
    let lexemes: Vec<Lexeme> = Lexer::new(Slice::whole(&written, 0)).filter(|lexeme| !lexeme.is_blank()).collect();
    let locks = (0..lexemes.len()).filter_map(|at| lock_clause(&lexemes, at)).map(|range| (CutKind::Lock, range));
    let guards = guards(&lexemes, keys).into_iter().map(|range| (CutKind::Guard, range));
    let cut = |(kind, range): (CutKind, Range<usize>)| {
        let text = written[range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        Cut { kind, text, range }
    };
    locks.chain(guards).map(cut).collect()
}

/// The statement without the part.
pub fn without(template: &Template, cut: &Cut) -> Template {
    let mut pieces = Vec::new();
    let mut at = 0;
    for piece in &template.pieces {
        let single = Template { pieces: vec![piece.clone()], span: template.span };
        let length = single.written().len();
        let (start, end) = (cut.range.start.clamp(at, at + length) - at, cut.range.end.clamp(at, at + length) - at);
        at += length;
        match piece {
            _ if start == end => pieces.push(piece.clone()),
            Piece::Text { text, span } => {
                let part = |range: Range<usize>| Piece::Text {
                    text: text[range.clone()].to_owned(),
                    span: Span { start: span.start + range.start as u32, ..*span },
                };
                pieces.extend([part(0..start), part(end..length)]);
            }
            Piece::Value { .. } | Piece::Identifier { .. } => {}
        }
    }
    Template { pieces, span: template.span }
}

impl Cut {
    /// Where it stands in the file.
    pub fn span(&self, template: &Template) -> Span {
        let mut at = 0;
        for piece in &template.pieces {
            let length = Template { pieces: vec![piece.clone()], span: template.span }.written().len();
            if let (true, Piece::Text { span, .. }) = (self.range.start < at + length, piece) {
                let start = span.start + (self.range.start - at) as u32;
                return Span { file: span.file, start, end: start + self.range.len() as u32 };
            }
            at += length;
        }
        template.span
    }
}

fn range(first: &Lexeme, last: &Lexeme) -> Range<usize> {
    first.slice.span().range().start..last.slice.span().range().end
}

/// `FOR [NO KEY] UPDATE | FOR [KEY] SHARE`, `OF …`, `NOWAIT` or `SKIP LOCKED`.
fn lock_clause(lexemes: &[Lexeme], at: usize) -> Option<Range<usize>> {
    const STRENGTHS: [&[&str]; 4] = [&["UPDATE"], &["NO", "KEY", "UPDATE"], &["SHARE"], &["KEY", "SHARE"]];
    let has = |from: usize, words: &[&str]| {
        words
            .iter()
            .enumerate()
            .all(|(index, word)| lexemes.get(from + index).is_some_and(|lexeme| lexeme.is_word(word)))
    };
    let strength = STRENGTHS.iter().find(|words| has(at, &["FOR"]) && has(at + 1, words))?;
    let mut end = at + 1 + strength.len();
    if has(end, &["OF"]) {
        end += 2;
        while lexemes.get(end).is_some_and(|lexeme| lexeme.token == Token::Comma || lexeme.slice.text == ".") {
            end += 2;
        }
    }
    let waits: &[&[&str]] = &[&["NOWAIT"], &["SKIP", "LOCKED"]];
    end += waits.iter().find(|words| has(end, words)).map_or(0, |words| words.len());
    Some(range(&lexemes[at], lexemes.get(end - 1)?))
}

/// The conditions of an UPDATE's or DELETE's WHERE that stand beside others, each with its AND.
fn guards(lexemes: &[Lexeme], keys: &Keys) -> Vec<Range<usize>> {
    let Some(table) = written_table(lexemes) else { return Vec::new() };
    let Some(conditions) = conditions(lexemes) else { return Vec::new() };
    let is_guard = |place: &usize| !is_lookup(&lexemes[conditions[*place].clone()], &table, keys);
    let cut = |place: usize| {
        let condition = &conditions[place];
        match place {
            0 => {
                lexemes[condition.start].slice.span().range().start
                    ..lexemes[conditions[1].start].slice.span().range().start
            }
            _ => range(&lexemes[condition.start - 1], &lexemes[condition.end - 1]),
        }
    };
    match conditions.len() {
        0 | 1 => Vec::new(),
        all => (0..all).filter(is_guard).map(cut).collect(),
    }
}

/// The table that an UPDATE or DELETE writes.
fn written_table(lexemes: &[Lexeme]) -> Option<String> {
    let after = match lexemes {
        [update, rest @ ..] if update.is_word("UPDATE") => rest,
        [delete, from, rest @ ..] if delete.is_word("DELETE") && from.is_word("FROM") => rest,
        _ => return None,
    };
    let after = if after.first()?.is_word("ONLY") { &after[1..] } else { after };
    match after {
        [_, dot, name, ..] if dot.slice.text == "." => name.folded(),
        [name, ..] => name.folded(),
        [] => None,
    }
}

/// The conditions that ANDs join, as ranges of lexemes; none where an OR stands beside them.
fn conditions(lexemes: &[Lexeme]) -> Option<Vec<Range<usize>>> {
    let (mut depth, mut cases, mut between) = (0usize, 0usize, false);
    let mut start = None;
    let mut found = Vec::new();
    for (place, lexeme) in lexemes.iter().enumerate() {
        match lexeme.token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 0 || lexeme.token != Token::Word {
            continue;
        }
        match (lexeme.slice.text.to_ascii_uppercase().as_str(), start) {
            ("CASE", _) => cases += 1,
            ("END", _) => cases = cases.saturating_sub(1),
            _ if cases > 0 => {}
            ("WHERE", _) => start = Some(place + 1),
            ("OR", Some(_)) => return None,
            ("BETWEEN", Some(_)) => between = true,
            ("AND", Some(_)) if between => between = false,
            ("AND", Some(begin)) => {
                found.push(begin..place);
                start = Some(place + 1);
            }
            ("RETURNING", Some(begin)) => {
                found.push(begin..place);
                start = None;
            }
            _ => {}
        }
    }
    found.extend(start.map(|begin| begin..lexemes.len()));
    Some(found.into_iter().filter(|condition| !condition.is_empty()).collect())
}

/// `id = …` or `… = t.id` for a column that tells rows apart.
fn is_lookup(condition: &[Lexeme], table: &str, keys: &Keys) -> bool {
    let Some(sign) = condition.iter().position(|lexeme| lexeme.slice.text == "=") else { return false };
    let column = |side: &[Lexeme]| match side {
        [name] => name.folded(),
        [_, dot, name] if dot.slice.text == "." => name.folded(),
        _ => None,
    };
    let is_key = |side: &[Lexeme]| column(side).is_some_and(|column| keys.contains(&(table.to_owned(), column)));
    is_key(&condition[..sign]) || is_key(&condition[sign + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        [("teams".to_owned(), "id".to_owned())].into()
    }

    fn texts(sql: &str) -> Vec<String> {
        cuts(&Template::verbatim(sql), &keys()).into_iter().map(|cut| cut.text).collect()
    }

    fn left(sql: &str) -> Vec<String> {
        let template = Template::verbatim(sql);
        cuts(&template, &keys()).iter().map(|cut| without(&template, cut).written()).collect()
    }

    #[test]
    fn lock_clauses_are_found_wherever_they_stand() {
        assert_eq!(texts("SELECT 1 FROM t FOR  UPDATE"), ["FOR UPDATE"]);
        assert_eq!(
            texts("SELECT * FROM (SELECT 1 FROM t FOR NO KEY UPDATE OF t, s.u SKIP LOCKED) x"),
            ["FOR NO KEY UPDATE OF t, s.u SKIP LOCKED"]
        );
        assert_eq!(texts("SELECT 1 FROM t FOR KEY SHARE NOWAIT"), ["FOR KEY SHARE NOWAIT"]);
        assert_eq!(texts("SELECT substring(a FOR 3), 'FOR UPDATE' FROM t -- FOR SHARE"), [""; 0]);
        assert_eq!(left("SELECT 1 FROM t FOR SHARE"), ["SELECT 1 FROM t "]);
    }

    #[test]
    fn guards_are_the_conditions_beside_the_key() {
        assert_eq!(
            texts("UPDATE teams SET a = 1 WHERE id = 'x' AND spent + 1 <= budget RETURNING a"),
            ["AND spent + 1 <= budget"]
        );
        assert_eq!(
            texts("DELETE FROM teams t WHERE NOT used AND t.id = 2 AND a BETWEEN 1 AND 2"),
            ["NOT used AND", "AND a BETWEEN 1 AND 2"]
        );
        assert_eq!(left("DELETE FROM teams t WHERE NOT used AND t.id = 2"), ["DELETE FROM teams t WHERE t.id = 2"]);
        assert_eq!(texts("UPDATE teams SET a = (SELECT 1 WHERE b AND c) WHERE id = 1"), [""; 0]);
        assert_eq!(texts("UPDATE teams SET a = 1 WHERE id = 1 OR (b AND c)"), [""; 0]);
        assert_eq!(texts("SELECT 1 FROM teams WHERE id = 1 AND b"), [""; 0]);
    }
}
