//! The pages on which SIREAD locks fall at SERIALIZABLE: who reads a row by an index locks a page of the index too, and
//! who makes a new entry there is in conflict with the reader, whichever row it is for.

use super::catalog::{Snapshot, TableFacts};
use super::design::programs;
use super::words::{first_word, has_word};
use crate::program::Action;
use crate::runner::{RunError, Stage};
use crate::scenario::Plan;

const PAGE: u64 = 8192;
/// A row's line pointer, and what aligns it.
const BESIDE_A_ROW: u64 = 12;

/// What is known of the pages before a program is measured.
#[derive(Debug, Clone, Copy)]
pub struct Pages {
    /// What is read by a key locks the row and pages of the index, in every schedule.
    pub are_known: bool,
    /// So many versions of a row a schedule can make at most; none where nobody knows.
    versions: Option<u64>,
}

/// Rows are locked one by one as usual, statistics that change plans stay as they are, and no function hides what a
/// statement does.
const ARE_KNOWN: &str = "
SELECT ((SELECT bool_and(setting = boot_val) FROM pg_settings WHERE name LIKE 'max_pred_locks%')
        AND EXISTS (SELECT FROM pg_settings WHERE (name = 'autovacuum' AND setting = 'off')
                                               OR (name = 'autovacuum_naptime' AND setting::int8 > 86400))
        AND NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = quote_ident(current_schema())::regnamespace))::text";

impl Pages {
    pub fn find(stage: &mut Stage, plan: &Plan) -> Result<Pages, RunError> {
        let answer = stage.query(ARE_KNOWN)?.rows.into_iter().next().and_then(|row| row.into_iter().next().flatten());
        let actions = || programs(plan).flat_map(|program| &program.ops).map(|op| &op.action);
        let has_loops = actions().any(|action| matches!(action, Action::Round { .. }));
        let statements = actions().filter(|action| matches!(action, Action::Statement(_))).count() as u64;
        Ok(Pages { are_known: answer.as_deref() == Some("true"), versions: (!has_loops).then_some(statements + 1) })
    }

    /// Whether a statement makes no new entry in a table's indexes: it is an UPDATE that gives no new value to a column
    /// in an index, and has room for the row's new version on the same page (a heap-only tuple).
    pub fn keep_entries(&self, table: &str, facts: &TableFacts, rows: &Snapshot, sql: &str) -> bool {
        let Some(indexed) = &facts.indexed else { return false };
        let assigned = assignments(sql, table);
        self.are_known
            && self.have_room(table, rows)
            && assigned.is_some_and(|assigned| !indexed.iter().any(|column| has_word(&assigned, column)))
    }

    fn have_room(&self, table: &str, rows: &Snapshot) -> bool {
        let of_table = rows.rows.iter().filter(|((of, _), _)| of == table);
        let bytes = of_table.fold(0_u64, |sum, (_, row)| sum.saturating_add(row.bytes).saturating_add(BESIDE_A_ROW));
        self.versions.is_some_and(|versions| bytes.saturating_mul(versions) <= PAGE / 2)
    }
}

/// What an UPDATE of a table assigns, without literals and perhaps with more behind it; none where that is hard to tell.
fn assignments(sql: &str, table: &str) -> Option<String> {
    let is_hard = ["\"", "\\", "$", "--", "/*", ";"].iter().any(|mark| sql.contains(mark));
    let plain = sql.split('\'').step_by(2).collect::<Vec<_>>().join("?").to_lowercase();
    let words: Vec<&str> = plain.split_whitespace().collect();
    if is_hard || first_word(sql) != "UPDATE" || words.get(1) != Some(&table) {
        return None;
    }
    let set = words.iter().position(|word| *word == "set")?;
    let mut depth = 0_i64;
    let assigned = words[set + 1..].iter().take_while(|word| {
        depth += word.matches('(').count() as i64 - word.matches(')').count() as i64;
        depth > 0 || **word != "where"
    });
    Some(assigned.copied().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::super::catalog::Version;
    use super::*;

    fn keep(sql: &str, bytes: u64) -> bool {
        let facts = TableFacts { indexed: Some(vec!["id".to_owned()]), ..TableFacts::default() };
        let [ctid, xmin, xmax] = ["(0,1)", "5", "0"].map(str::to_owned);
        let row = Version { ctid, xmin, xmax, unique: Vec::new(), bytes };
        let snapshot = Snapshot { rows: [(("t".to_owned(), "1".to_owned()), row)].into(), ..Snapshot::default() };
        Pages { are_known: true, versions: Some(9) }.keep_entries("t", &facts, &snapshot, sql)
    }

    #[test]
    fn an_update_that_leaves_the_indexed_columns_alone_makes_no_entry() {
        assert!(keep("UPDATE t SET v = v + 1 WHERE id = 1", 32));
        assert!(keep("update t set v = ' id, where', w = (SELECT max(v) FROM t WHERE v > 1) WHERE id = 1", 32));
    }

    #[test]
    fn what_may_give_an_indexed_column_a_value_makes_one() {
        assert!(!keep("UPDATE t SET v = 1, id = 2 WHERE id = 1", 32));
        assert!(!keep("UPDATE t SET v = (SELECT max(v) FROM t WHERE v > 1), id = 2", 32));
        assert!(!keep("UPDATE t SET v = E'it\\'s', id = 2", 32));
        assert!(!keep("INSERT INTO t VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET v = 1", 32));
        assert!(!keep("UPDATE other SET v = 1", 32), "a foreign key or a rule may come to t");
    }

    #[test]
    fn where_a_page_may_get_full_a_new_version_needs_an_entry() {
        assert!(!keep("UPDATE t SET v = v + 1 WHERE id = 1", 2_000));
    }
}
