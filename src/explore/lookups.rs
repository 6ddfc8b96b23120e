//! Which index scans of a plan look up a single key, so that what they lock stands for that row alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What a plan says about the indexes that it scans.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lookups {
    /// Scanned by equality alone, with the number of columns compared; the least where it is scanned twice.
    equalities: BTreeMap<String, usize>,
    /// Scanned in another way.
    ranges: BTreeSet<String>,
    /// Scanned for a key that depends on other rows, or without going to the table.
    varying: BTreeSet<String>,
}

impl Lookups {
    /// Reads the answer of `EXPLAIN (FORMAT JSON)`.
    pub fn parse(explained: &str) -> Lookups {
        let mut lookups = Lookups::default();
        if let Ok(plan) = serde_json::from_str(explained) {
            lookups.visit(&plan);
        }
        lookups
    }

    /// Whether an index of so many columns is scanned, and for a single key only.
    pub fn is_single(&self, index: &str, columns: usize) -> bool {
        !self.ranges.contains(index) && self.equalities.get(index).is_some_and(|compared| *compared == columns)
    }

    /// Whether an index is scanned for keys that the statement's text names, and the rows are looked at in the table.
    pub fn is_fixed(&self, index: &str) -> bool {
        !self.varying.contains(index)
    }

    /// Whether the plan scans an index at all.
    pub fn has(&self, index: &str) -> bool {
        self.ranges.contains(index) || self.equalities.contains_key(index)
    }

    fn visit(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.visit(item)),
            Value::Object(node) => {
                if let Some(index) = node.get("Index Name").and_then(Value::as_str) {
                    self.note(index, node.get("Index Cond").and_then(Value::as_str).unwrap_or_default());
                    if node.get("Node Type").and_then(Value::as_str) == Some("Index Only Scan") {
                        self.varying.insert(index.to_owned());
                    }
                }
                node.values().for_each(|item| self.visit(item));
            }
            _ => {}
        }
    }

    fn note(&mut self, index: &str, condition: &str) {
        let condition = without_literals(condition);
        let compared = condition.matches(" = ").count();
        let is_equality =
            compared > 0 && !["<", ">", "ANY", " OR ", "~", "@", "&&"].iter().any(|other| condition.contains(other));
        let is_literal = |value: &str| value.starts_with(|c: char| c == '?' || c.is_ascii_digit());
        if !condition.split(" = ").skip(1).all(is_literal) {
            self.varying.insert(index.to_owned());
        }
        if is_equality {
            let known = self.equalities.entry(index.to_owned()).or_insert(compared);
            *known = compared.min(*known);
        } else {
            self.ranges.insert(index.to_owned());
        }
    }
}

fn without_literals(condition: &str) -> String {
    condition.split('\'').step_by(2).collect::<Vec<_>>().join("?")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookups(condition: &str) -> Lookups {
        let scan = format!(r#"{{"Node Type": "Index Scan", "Index Name": "teams_pkey", "Index Cond": "{condition}"}}"#);
        Lookups::parse(&format!(r#"[{{"Plan": {{"Node Type": "LockRows", "Plans": [{scan}]}}}}]"#))
    }

    #[test]
    fn an_equality_on_every_column_is_a_single_key() {
        assert!(lookups("(id = 'a = b'::text)").is_single("teams_pkey", 1));
        assert!(lookups("((a = 1) AND (b = 2))").is_single("teams_pkey", 2));
        assert!(!lookups("(a = 1)").is_single("teams_pkey", 2));
    }

    #[test]
    fn a_key_from_another_row_varies() {
        assert!(lookups("((a = 1) AND (b = '-2'::integer))").is_fixed("teams_pkey"));
        assert!(!lookups("(id = o.team)").is_fixed("teams_pkey"));
        assert!(!lookups("(id = (InitPlan 1).col1)").is_fixed("teams_pkey"));
        let plan = r#"{"Node Type": "Index Only Scan", "Index Name": "teams_pkey", "Index Cond": "(id = 1)"}"#;
        assert!(!Lookups::parse(plan).is_fixed("teams_pkey"));
    }

    #[test]
    fn a_range_or_a_list_is_not() {
        assert!(!lookups("(id > 5)").is_single("teams_pkey", 1));
        assert!(!lookups("(id = ANY ('{1,2}'::integer[]))").is_single("teams_pkey", 1));
        assert!(lookups("(id > 5)").has("teams_pkey"));
        assert_eq!(Lookups::parse("no JSON"), Lookups::default());
    }
}
