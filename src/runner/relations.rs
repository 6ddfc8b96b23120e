//! What `@schema` made: the relations in the schema at the head of the search path, as the catalogue has them.

use super::record;

/// Asks for a row for each column, and for an index for each that it has. One question: the server takes its time for the
/// first look at each part of its catalogue.
pub(super) const RELATIONS: &str = "
SELECT c.oid::regclass::text, c.relkind, c.relispartition, c.relhasrules OR c.relrowsecurity, c.relhastriggers,
       c.relkind = 'r' AND pg_relation_size(c.oid) > 0,
       c.relam = (SELECT oid FROM pg_am WHERE amname = 'btree'),
       a.attname, a.atttypid, a.attidentity <> '', a.atthasdef
  FROM pg_class c
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p', 'S', 'm', 'i')
 ORDER BY c.oid, a.attnum";

/// A table, sequence, materialized view or index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relation {
    /// As SQL names it.
    pub name: String,
    /// `pg_class.relkind`.
    pub kind: String,
    pub is_partition: bool,
    /// Or policies.
    pub has_rules: bool,
    pub has_triggers: bool,
    pub has_pages: bool,
    pub is_btree: bool,
    pub columns: Vec<Attribute>,
}

/// A column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub name: String,
    pub type_oid: u32,
    pub is_identity: bool,
    pub has_default: bool,
}

impl Relation {
    /// Those that the rows of [`RELATIONS`] tell of, but for the lab's own.
    pub(super) fn read_all(rows: Vec<Vec<Option<String>>>) -> Vec<Relation> {
        let mut relations: Vec<Relation> = Vec::new();
        for (mut relation, column) in rows.into_iter().filter_map(read) {
            match relations.last_mut().filter(|last| last.name == relation.name) {
                Some(last) => last.columns.extend(column),
                None => {
                    relation.columns.extend(column);
                    relations.push(relation);
                }
            }
        }
        relations.retain(|relation| !record::TABLES.iter().any(|table| relation.name.ends_with(table)));
        relations
    }

    pub fn is_table(&self) -> bool {
        matches!(self.kind.as_str(), "r" | "p")
    }
}

/// A row of [`RELATIONS`].
fn read(row: Vec<Option<String>>) -> Option<(Relation, Option<Attribute>)> {
    let [
        name,
        kind,
        is_partition,
        has_rules,
        has_triggers,
        has_pages,
        is_btree,
        column,
        type_oid,
        is_identity,
        has_default,
    ] = <[_; 11]>::try_from(row).ok()?;
    let is = |flag: Option<String>| flag.as_deref() == Some("t");
    let column = column.and_then(|name| {
        let type_oid = type_oid?.parse().ok()?;
        Some(Attribute { name, type_oid, is_identity: is(is_identity), has_default: is(has_default) })
    });
    let relation = Relation {
        name: name?,
        kind: kind?,
        is_partition: is(is_partition),
        has_rules: is(has_rules),
        has_triggers: is(has_triggers),
        has_pages: is(has_pages),
        is_btree: is(is_btree),
        columns: Vec::new(),
    };
    Some((relation, column))
}
