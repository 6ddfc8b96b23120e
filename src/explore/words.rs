//! Looking for words in SQL text, where a parser would know no more.

/// Whether a text has a word, whatever its case; letters, digits and `_` make words.
pub fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    !word.is_empty()
        && text
            .match_indices(&word)
            .any(|(start, _)| !text[..start].ends_with(is_part) && !text[start + word.len()..].starts_with(is_part))
}

/// The first word, in capitals.
pub fn first_word(sql: &str) -> String {
    let word = sql.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    word.to_uppercase()
}

/// Whether a statement begins a transaction.
pub fn begins(sql: &str) -> bool {
    matches!(first_word(sql).as_str(), "BEGIN" | "START")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert!(has_word("SELECT id FROM Expenses", "expenses"));
        assert!(!has_word("SELECT team_id FROM teams", "id"));
        assert!(!has_word("SELECT 1", ""));
        assert_eq!(first_word("  select 1"), "SELECT");
        assert_eq!(first_word("COMMIT"), "COMMIT");
    }
}
