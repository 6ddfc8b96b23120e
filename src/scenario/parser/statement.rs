//! What a statement is, as far as a client can tell from its words.

use super::lexer::{Lexeme, Lexer, Token};
use super::slice::Slice;
use crate::program::Control;

/// The tokens of a statement but white space and comments.
pub fn lexemes(text: Slice<'_>) -> impl Iterator<Item = Lexeme<'_>> {
    Lexer::new(text).filter(|lexeme| !lexeme.is_blank())
}

/// Whether a statement begins with these key words.
pub fn begins_with(text: Slice<'_>, words: &[&str]) -> bool {
    let mut lexemes = lexemes(text);
    words.iter().all(|word| lexemes.next().is_some_and(|lexeme| lexeme.is_word(word)))
}

fn begins_with_any(text: Slice<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| begins_with(text, &[word]))
}

pub fn control(text: Slice<'_>) -> Control {
    let first: Vec<String> = lexemes(text)
        .filter(|lexeme| !lexeme.is_word("WORK") && !lexeme.is_word("TRANSACTION"))
        .take(2)
        .map(|lexeme| lexeme.slice.text.to_ascii_uppercase())
        .collect();
    let second = first.get(1).map_or("", String::as_str);
    match first.first().map_or("", String::as_str) {
        "BEGIN" => Control::Begin,
        "START" if begins_with(text, &["START", "TRANSACTION"]) => Control::Begin,
        "COMMIT" | "END" if second != "PREPARED" => Control::Commit,
        "ROLLBACK" | "ABORT" if second != "PREPARED" && second != "TO" => Control::Rollback,
        "PREPARE" if begins_with(text, &["PREPARE", "TRANSACTION"]) => Control::Prepare,
        _ => Control::Other,
    }
}

/// The table that an expression reads, though it should read none: the name behind `SELECT … FROM`.
pub fn table_read(expression: Slice<'_>) -> Option<Slice<'_>> {
    let lexemes: Vec<Lexeme<'_>> = lexemes(expression).collect();
    // What WITH names is no table, and the lists of the server itself can be read.
    let is_name = |index: usize| {
        let is_no_call = lexemes.get(index + 1).is_none_or(|next| !matches!(next.slice.text, "(" | "."));
        let name = lexemes.get(index).filter(|name| matches!(name.token, Token::Word | Token::QuotedName))?;
        (is_no_call && !name.is_word("LATERAL") && !name.slice.text.starts_with("pg_")).then_some(name.slice)
    };
    // Of each open bracket whether a SELECT has begun in it: other FROMs belong to functions.
    let mut selects = vec![false];
    for (index, lexeme) in lexemes.iter().enumerate() {
        match (lexeme.token, selects.last_mut()) {
            (Token::Open, _) => selects.push(false),
            (Token::Close, _) => drop(selects.pop()),
            (_, Some(_)) if lexeme.is_word("WITH") => return None,
            (_, Some(select)) if lexeme.is_word("SELECT") => *select = true,
            (_, Some(true)) if lexeme.is_word("FROM") && is_name(index + 1).is_some() => return is_name(index + 1),
            _ => {}
        }
    }
    None
}

/// Whether its answer is rows, whatever they are.
pub fn is_query(text: Slice<'_>) -> bool {
    begins_with_any(text, &["SELECT", "WITH", "VALUES", "TABLE", "SHOW", "FETCH", "EXECUTE"])
        || text.text.starts_with('(')
}

/// Whether it changes rows: INSERT and the like, at its start or inside WITH.
pub fn is_write(text: Slice<'_>) -> bool {
    const WRITES: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "MERGE"];
    if begins_with_any(text, &WRITES) || begins_with(text, &["TRUNCATE"]) {
        return true;
    }
    let mut opened = false;
    begins_with(text, &["WITH"])
        && lexemes(text).any(|lexeme| {
            let starts = opened;
            opened = matches!(lexeme.token, Token::Open | Token::Close);
            starts && WRITES.iter().any(|word| lexeme.is_word(word))
        })
}

/// COPY … FROM STDIN, whose rows would have to come from the client.
pub fn is_copy_from_stdin(text: Slice<'_>) -> bool {
    let mut from = false;
    begins_with(text, &["COPY"])
        && lexemes(text).any(|lexeme| {
            let found = from && lexeme.is_word("STDIN");
            from = lexeme.is_word("FROM");
            found
        })
}

/// Whether the columns of its answer cannot be told from its words: `SELECT *`, FETCH, EXECUTE and the like.
pub fn has_unnamed_columns(text: Slice<'_>) -> bool {
    if begins_with_any(text, &["FETCH", "EXECUTE", "TABLE", "VALUES", "CALL", "EXPLAIN", "SHOW"]) {
        return true;
    }
    let mut before_star = false;
    lexemes(text).any(|lexeme| {
        let found = before_star && lexeme.slice.text == "*";
        before_star = lexeme.token == Token::Comma
            || lexeme.slice.text == "."
            || ["SELECT", "DISTINCT", "ALL", "RETURNING"].iter().any(|word| lexeme.is_word(word));
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Slice<'_> {
        Slice::whole(text, 0)
    }

    #[test]
    fn control_is_told_by_the_first_words() {
        for (text, expected) in [
            ("BEGIN ISOLATION LEVEL SERIALIZABLE", Control::Begin),
            ("start /* x */ transaction read only", Control::Begin),
            ("COMMIT", Control::Commit),
            ("commit work and chain", Control::Commit),
            ("END", Control::Commit),
            ("COMMIT PREPARED 'x'", Control::Other),
            ("ROLLBACK", Control::Rollback),
            ("ABORT", Control::Rollback),
            ("ROLLBACK TO SAVEPOINT sp", Control::Other),
            ("ROLLBACK TRANSACTION TO sp", Control::Other),
            ("ROLLBACK PREPARED 'x'", Control::Other),
            ("PREPARE TRANSACTION 'x'", Control::Prepare),
            ("PREPARE p AS SELECT 1", Control::Other),
            ("SELECT 1", Control::Other),
        ] {
            assert_eq!(control(whole(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_locking_query_is_no_write() {
        assert!(!is_write(whole("SELECT 1 FROM t FOR UPDATE")));
        assert!(!is_write(whole("WITH a AS (SELECT 1 FROM t FOR UPDATE) SELECT 1")));
        assert!(is_write(whole("WITH a AS (UPDATE t SET x = 1 RETURNING x) SELECT x FROM a")));
        assert!(is_write(whole("WITH a AS (SELECT 1) INSERT INTO t SELECT 1")));
        assert!(is_write(whole("delete from t")));
    }

    #[test]
    fn an_expression_that_reads_a_table_is_told_from_others() {
        let table = |text| table_read(whole(text)).map(|name| name.text);
        assert_eq!(table("(SELECT stock FROM items WHERE id = 1)"), Some("items"));
        assert_eq!(table("1 + (select max(x) from \"Items\") > 2"), Some("\"Items\""));
        assert_eq!(table("extract(epoch FROM moment)"), None);
        assert_eq!(table("(SELECT extract(epoch FROM moment) FROM now() AS moment)"), None);
        assert_eq!(table("(SELECT max(x) FROM (VALUES (1)) v (x))"), None);
        assert_eq!(table("(SELECT setting FROM pg_settings LIMIT 1)"), None);
        assert_eq!(table("(WITH v AS (SELECT 1 AS x) SELECT x FROM v)"), None);
        assert_eq!(table("a IS DISTINCT FROM b"), None);
    }

    #[test]
    fn columns_behind_a_star_are_unknown() {
        assert!(has_unnamed_columns(whole("SELECT * FROM t")));
        assert!(has_unnamed_columns(whole("SELECT a, t.* FROM t")));
        assert!(has_unnamed_columns(whole("FETCH NEXT FROM c")));
        assert!(!has_unnamed_columns(whole("SELECT count(*) AS n, 2 * 3 AS m FROM t")));
    }

    #[test]
    fn copy_from_stdin_is_seen() {
        assert!(is_copy_from_stdin(whole("COPY t (a, b) FROM stdin")));
        assert!(!is_copy_from_stdin(whole("COPY t FROM 'file'")));
        assert!(!is_copy_from_stdin(whole("COPY t TO STDOUT")));
    }
}
