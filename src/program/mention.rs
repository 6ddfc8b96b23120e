//! Which names a body's SQL uses.

use super::{Action, Program};

impl Program {
    /// Whether its SQL uses one of these names; a bracket behind a name makes it a function's.
    pub fn mentions(&self, names: &[&str]) -> bool {
        self.ops.iter().any(|op| match &op.action {
            Action::Statement(statement) => {
                let sql = statement.text.written().to_ascii_lowercase();
                names.iter().any(|name| uses(&sql, name))
            }
            _ => false,
        })
    }
}

fn uses(sql: &str, name: &str) -> bool {
    let is_part_of_a_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = name.trim_end_matches('(');
    sql.match_indices(word).any(|(start, _)| {
        let rest = &sql[start + word.len()..];
        let is_word = !sql[..start].ends_with(is_part_of_a_word) && !rest.starts_with(is_part_of_a_word);
        is_word && (word.len() == name.len() || rest.trim_start().starts_with('('))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_other_words() {
        assert!(uses("select count(*) from isolab_told", "isolab_told"));
        assert!(uses("select not raised ('40001')", "raised("));
        assert!(!uses("select raised from flags", "raised("));
        assert!(!uses("select count(*) filter (where fate = 'committed')", "committed("));
        assert!(!uses("select not unseen('x')", "seen("));
    }
}
