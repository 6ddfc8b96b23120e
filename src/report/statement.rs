//! SQL as a person reads it: as sent, less what only the server needs.

use super::layout::{columns, printable, shorten, wrap};

/// A longer statement loses its middle.
const MOST_LINES: usize = 6;

/// Casts whose literals read the same without them.
const NUMBER_TYPES: [&str; 7] = ["int2", "int4", "int8", "numeric", "float4", "float8", "oid"];

/// Where a line that is too long is broken first.
const CLAUSES: [&str; 13] =
    ["FROM", "WHERE", "VALUES", "SET", "AND", "OR", "ON", "JOIN", "GROUP", "ORDER", "FOR", "RETURNING", "UNION"];
/// Of a broken line, the rest is indented by this.
const CONTINUATION: usize = 4;

/// The statement in the lines in which it was written, each wrapped to the width.
pub fn lines(sql: &str, width: usize, gap: &str) -> Vec<String> {
    let readable = readable(sql);
    let (first, rest) = readable.split_once('\n').unwrap_or((&readable, ""));
    let rest = textwrap::dedent(rest);
    let written = std::iter::once(first.to_owned()).chain(rest.lines().map(|line| format!("  {line}")));
    let most = width * MOST_LINES;
    let mut lines: Vec<String> = written.flat_map(|line| fold(&shorten(&printable(&line), most, gap), width)).collect();
    if lines.len() > MOST_LINES {
        let tail = lines.split_off(lines.len() - 2);
        lines.truncate(MOST_LINES - 3);
        lines.push(format!("  {}", gap.trim()));
        lines.extend(tail);
    }
    lines
}

/// Breaks a line before the last clause that fits into its second half, or else at any space.
fn fold(line: &str, width: usize) -> Vec<String> {
    if columns(line) <= width {
        return vec![line.to_owned()];
    }
    let is_clause = |word: &str| CLAUSES.iter().any(|clause| word.eq_ignore_ascii_case(clause));
    let begins_clause = |at: usize| line[at..].split_whitespace().next().is_some_and(is_clause);
    let fits = |at: usize| (width / 2..=width).contains(&columns(&line[..at]));
    let clause = line.rmatch_indices(' ').find(|(at, _)| fits(*at) && begins_clause(*at));
    let Some((at, _)) = clause else { return wrap(line, width, CONTINUATION) };
    let rest = format!("{}{}", " ".repeat(CONTINUATION), line[at..].trim_start());
    std::iter::once(line[..at].trim_end().to_owned()).chain(fold(&rest, width)).collect()
}

/// The statement on one line.
pub fn line(sql: &str, width: usize, gap: &str) -> String {
    let words: Vec<String> = readable(sql).split_whitespace().map(printable).collect();
    shorten(&words.join(" "), width, gap)
}

/// Leaves out comments and blank lines, and the casts of numbers: `'3000'::int8` is 3000.
fn readable(sql: &str) -> String {
    let mut out = String::new();
    let mut rest = sql.trim();
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\'' => {
                let literal = &rest[..quoted_length(rest)];
                let (shown, length) = number(rest, literal).unwrap_or((literal, literal.len()));
                out.push_str(shown);
                length
            }
            '"' => {
                let length = quoted_length(rest);
                out.push_str(&rest[..length]);
                length
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            other => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    let lines: Vec<&str> = out.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// The length of the quoted text at the start, quotes included; a doubled quote stays inside.
fn quoted_length(text: &str) -> usize {
    let mut characters = text.char_indices();
    let Some((_, quote)) = characters.next() else { return 0 };
    let mut characters = characters.peekable();
    while let Some((index, c)) = characters.next() {
        if c == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return index + c.len_utf8();
        }
    }
    text.len()
}

/// The digits of a number's literal, and the length of literal and cast.
fn number<'a>(rest: &str, literal: &'a str) -> Option<(&'a str, usize)> {
    let digits = literal.strip_prefix('\'')?.strip_suffix('\'')?;
    let cast = rest[literal.len()..].strip_prefix("::")?;
    let type_length = cast.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(cast.len());
    let is_number = digits.parse::<f64>().is_ok_and(f64::is_finite) && NUMBER_TYPES.contains(&&cast[..type_length]);
    // An array of numbers has brackets behind its type.
    let is_array = cast[type_length..].starts_with('[');
    (is_number && !is_array).then_some((digits, literal.len() + 2 + type_length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lose_their_casts() {
        assert_eq!(readable("SELECT '3000'::int8 + '-5'::numeric, '1'::text, '{1}'::int4[]"), {
            "SELECT 3000 + -5, '1'::text, '{1}'::int4[]"
        });
        assert_eq!(readable("SELECT 'it''s 5'::int8 || \"o'dd\""), "SELECT 'it''s 5'::int8 || \"o'dd\"");
        assert_eq!(readable("SELECT 'open"), "SELECT 'open");
    }

    #[test]
    fn comments_and_blank_lines_go() {
        assert_eq!(readable("SELECT 1 -- one\n\n  -- two\n  , '-- three'"), "SELECT 1\n  , '-- three'");
    }

    #[test]
    fn the_lines_of_the_author_stay() {
        let sql = "UPDATE teams SET spent = 1200\n     WHERE id = 'design'\n       AND version = 3";
        assert_eq!(
            lines(sql, 60, "…"),
            ["UPDATE teams SET spent = 1200", "  WHERE id = 'design'", "    AND version = 3"]
        );
    }

    #[test]
    fn a_long_line_is_broken_before_a_clause() {
        let sql = "INSERT INTO expenses (team_id, amount) VALUES ('design', 3000)";
        assert_eq!(lines(sql, 45, "…"), ["INSERT INTO expenses (team_id, amount)", "    VALUES ('design', 3000)"]);
        assert_eq!(
            lines(sql, 30, "…"),
            ["INSERT INTO expenses (team_id,", "    amount) VALUES ('design',", "    3000)"]
        );
    }

    #[test]
    fn a_very_long_statement_keeps_its_ends() {
        let sql: Vec<String> = (1..=20).map(|number| format!("line {number}")).collect();
        let shown = lines(&sql.join("\n"), 60, "…");
        assert_eq!(shown, ["line 1", "  line 2", "  line 3", "  …", "  line 19", "  line 20"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_fits(sql in "[a-z0-9 '\"\\-:$預\n\t\u{1b}]{0,400}", width in 20usize..100) {
            for line in lines(&sql, width, "…").into_iter().chain([line(&sql, width, "…")]) {
                proptest::prop_assert!(columns(&line) <= width, "{line:?} is wider than {width}");
                proptest::prop_assert!(!line.contains(char::is_control), "{line:?}");
            }
        }
    }

    #[test]
    fn one_line_is_enough_for_a_retry() {
        assert_eq!(line("SELECT budget\n  FROM teams", 60, " … "), "SELECT budget FROM teams");
    }
}
