//! What the catalogue says of the sandbox's tables, and their rows with the marks that writers and lockers leave on them.

use std::collections::{BTreeMap, BTreeSet};

use super::contents::{ColumnKind, Contents};
use crate::runner::{RunError, Stage};
use crate::scenario::value::quoted_identifier;

/// What measuring has to know about a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableFacts {
    /// The expression for a row's key; none where it has no primary key.
    pub key: Option<String>,
    /// An expression for each unique index: the values that it looks at, behind its name.
    pub unique: Vec<String>,
    /// Its keys are drawn by the server, and nobody looks at them.
    pub is_generated: bool,
    /// Tables with a foreign key to it.
    pub referenced_by: BTreeSet<String>,
    /// Something of it happens at COMMIT.
    pub is_deferred: bool,
    /// It has an exclusion constraint, or a key over periods.
    pub excludes: bool,
    /// The columns in its indexes; none where something else than a new value for one of them may make a new entry.
    pub indexed: Option<Vec<String>>,
}

#[derive(Debug, Clone, Default)]
pub struct Catalog {
    pub tables: BTreeMap<String, TableFacts>,
    /// Sequences whose numbers somebody looks at.
    sequences: BTreeSet<String>,
    /// Tables are parts of others: what locks one is not named like what reads the other.
    pub has_inheritance: bool,
}

/// A row's marks: where its newest version is, who wrote it, who locked it, and its values in unique indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub ctid: String,
    pub xmin: String,
    pub xmax: String,
    pub unique: Vec<String>,
    pub bytes: u64,
}

/// All rows by table and key, and what the sequences have come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub rows: BTreeMap<(String, String), Version>,
    pub sequences: BTreeMap<String, String>,
}

/// Between the values of one row that come in one text.
const UNIT_SEPARATOR: u8 = 31;

const TABLES: &str = "
SELECT c.oid::regclass::text,
       (SELECT string_agg(a.attname, chr(31) ORDER BY a.attnum) FROM pg_index i
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
         WHERE i.indrelid = c.oid AND i.indisprimary),
       (SELECT string_agg(f.conrelid::regclass::text, ' ') FROM pg_constraint f
         WHERE f.contype = 'f' AND f.confrelid = c.oid),
       EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgdeferrable)::text,
       EXISTS (SELECT FROM pg_index x WHERE x.indisexclusion AND x.indrelid = c.oid)::text,
       (c.relkind = 'p' OR EXISTS (SELECT FROM pg_inherits h WHERE c.oid IN (h.inhrelid, h.inhparent)))::text,
       CASE WHEN NOT c.relhasrules
             AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
             AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated <> '')
             AND NOT EXISTS (SELECT FROM pg_index i
                              WHERE i.indrelid = c.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL))
            THEN (SELECT coalesce(string_agg(a.attname, ' '), '') FROM pg_attribute a
                   WHERE a.attrelid = c.oid
                     AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND a.attnum = ANY (i.indkey)))
       END
  FROM pg_class c
 WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p')
   AND c.relname NOT IN ('isolab_told', 'isolab_read')";

/// Unique indexes column by column, without those that hold a number or text that the server draws: those never clash.
const UNIQUE: &str = "
SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid, k, false)
  FROM pg_index i
  JOIN pg_class c ON c.oid = i.indrelid
 CROSS JOIN generate_series(1, i.indnkeyatts) k
 WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND i.indisunique
   AND NOT EXISTS (SELECT FROM pg_attribute a
                     LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                    WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
                      AND (a.attidentity <> '' OR pg_get_expr(d.adbin, d.adrelid) ~* 'nextval|random'))
 ORDER BY i.indexrelid, k";

/// Sequences, and the column that each belongs to.
const SEQUENCES: &str = "
SELECT c.oid::regclass::text, a.attrelid::regclass::text, a.attname
  FROM pg_class c
  LEFT JOIN pg_depend d ON d.objid = c.oid AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0
  LEFT JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
 WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind = 'S'";

impl Catalog {
    pub fn find(stage: &mut Stage, contents: &Contents) -> Result<Catalog, RunError> {
        let mut catalog = Catalog::default();
        for row in stage.query(TABLES)?.rows {
            let [Some(table), key, referenced_by, Some(deferred), Some(excludes), Some(inherits), indexed] =
                row.as_slice()
            else {
                continue;
            };
            catalog.has_inheritance |= inherits == "true";
            let kinds = contents.tables.iter().filter(|known| known.name == *table).flat_map(|known| &known.columns);
            let generated: Vec<&str> = kinds
                .filter(|column| column.kind == ColumnKind::Generated)
                .map(|column| column.name.as_str())
                .collect();
            let key: Vec<&str> = key.iter().flat_map(|names| names.split(char::from(UNIT_SEPARATOR))).collect();
            let columns: Vec<String> = key.iter().copied().map(quoted_identifier).collect();
            let facts = TableFacts {
                key: (!key.is_empty()).then(|| format!("ROW({})::text", columns.join(", "))),
                unique: Vec::new(),
                is_generated: key.iter().any(|column| generated.contains(column)),
                referenced_by: referenced_by.iter().flat_map(|names| names.split(' ')).map(str::to_owned).collect(),
                is_deferred: deferred == "true",
                excludes: excludes == "true",
                indexed: indexed.as_ref().map(|names| names.split_whitespace().map(str::to_owned).collect()),
            };
            catalog.tables.insert(table.clone(), facts);
        }
        let mut indexes: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for row in stage.query(UNIQUE)?.rows {
            let [Some(table), Some(index), Some(column)] = row.as_slice() else { continue };
            indexes.entry((table.clone(), index.clone())).or_default().push(column.clone());
        }
        for ((table, index), columns) in indexes {
            let values = format!("{} || ROW({})::text", text(&index), columns.join(", "));
            catalog.tables.entry(table).and_modify(|facts| facts.unique.push(values));
        }
        for row in stage.query(SEQUENCES)?.rows {
            let [Some(sequence), table, column] = row.as_slice() else { continue };
            let kind = |table: &String, column: &String| {
                let of_table = contents.tables.iter().filter(|known| known.name == *table);
                let mut columns = of_table.flat_map(|known| &known.columns).filter(|known| known.name == *column);
                columns.next().map(|column| column.kind)
            };
            let owner = table.as_ref().zip(column.as_ref()).and_then(|(table, column)| kind(table, column));
            if owner != Some(ColumnKind::Generated) {
                catalog.sequences.insert(sequence.clone());
            }
        }
        Ok(catalog)
    }

    /// The rows as they stand now.
    pub fn snapshot(&self, stage: &mut Stage) -> Result<Snapshot, RunError> {
        let rows = self.tables.iter().map(|(table, facts)| {
            let key = facts.key.as_deref().unwrap_or("ctid::text");
            let unique = facts.unique.iter().map(|values| format!(", {values}")).collect::<String>();
            format!(
                "SELECT {}, {key}, ctid::text, xmin::text, xmax::text, concat_ws(chr({UNIT_SEPARATOR}), NULL{unique}), \
                 pg_column_size({table}.*)::text FROM {table}",
                text(table)
            )
        });
        let sequences = self.sequences.iter().map(|sequence| {
            let name = text(sequence);
            format!(
                "SELECT NULL, {name}, coalesce(pg_sequence_last_value({name}::regclass), 0)::text, NULL, NULL, NULL, NULL"
            )
        });
        let question = rows.chain(sequences).collect::<Vec<_>>().join(" UNION ALL ");
        let mut snapshot = Snapshot::default();
        if question.is_empty() {
            return Ok(snapshot);
        }
        for row in stage.query(&question)?.rows {
            match row.as_slice() {
                [Some(table), Some(key), Some(ctid), Some(xmin), Some(xmax), unique, Some(bytes)] => {
                    let [ctid, xmin, xmax] = [ctid, xmin, xmax].map(String::clone);
                    let values = unique.iter().flat_map(|values| values.split(char::from(UNIT_SEPARATOR)));
                    let unique = values.filter(|value| !value.is_empty()).map(str::to_owned).collect();
                    let version = Version { ctid, xmin, xmax, unique, bytes: bytes.parse().unwrap_or(u64::MAX) };
                    snapshot.rows.insert((table.clone(), key.clone()), version);
                }
                [None, Some(sequence), Some(value), ..] => {
                    snapshot.sequences.insert(sequence.clone(), value.clone());
                }
                _ => {}
            }
        }
        Ok(snapshot)
    }

    /// Whether rows of a table can be told apart.
    pub fn has_key(&self, table: &str) -> bool {
        self.tables.get(table).is_some_and(|facts| facts.key.is_some())
    }
}

fn text(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}
