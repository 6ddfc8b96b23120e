//! Back to fresh tables between two schedules.

use super::relations::Relation;
use crate::program::{Action, Control, Op, Program};
use crate::scenario::Plan;

/// What brings the sandbox back to its state after `@schema`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reset {
    /// Make it anew: `@schema` itself wrote rows, or a body changes the schema or outlives its session.
    Rebuild,
    /// Empty every table and restart every sequence.
    Empty {
        /// Leaves no dead rows: they change the pages that SIREAD locks fall on.
        truncate: String,
        /// Several times faster, with a DELETE for each table; none where that could do more, or less, than empty them.
        deletes: Vec<String>,
        /// Asks whether all pages are those of fresh tables: one for each, two for each index. None where that says nothing.
        is_compact: Option<String>,
    },
}

/// The statements of one reset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Emptying {
    pub statements: Vec<String>,
    /// They leave dead rows behind.
    pub deletes: bool,
}

/// What resets by DELETE have left behind since the last TRUNCATE.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Debris {
    pub resets: u32,
    pub rows: u64,
}

/// After so many resets by DELETE one by TRUNCATE, so that dead rows do not pile up.
const DELETES_IN_A_ROW: u32 = 200;
/// So many dead rows, and as many that rollbacks and updates leave, fit on the pages on which SIREAD locks fall.
const ROWS_ON_A_PAGE: u64 = 64;

/// How a statement begins that empties a table, and does nothing else.
pub(super) const DELETE: &str = "DELETE FROM ";

/// First words of statements that change what is in the catalogue, or may.
const DDL: [&str; 11] =
    ["ALTER", "CALL", "CLUSTER", "COMMENT", "CREATE", "DO", "DROP", "GRANT", "REFRESH", "REINDEX", "VACUUM"];

impl Reset {
    /// What a sandbox with these relations needs, which no run has filled yet.
    pub fn of(relations: &[Relation], superuser: bool) -> Reset {
        // Rows of a table are in pages; one whose rows are gone again is taken to have some.
        if relations.iter().any(|relation| relation.kind == "m" || relation.has_pages) {
            return Reset::Rebuild;
        }
        let of_kind = |kinds: &[&str]| -> Vec<String> {
            let whole = relations.iter().filter(|relation| !relation.is_partition);
            whole.filter(|one| kinds.contains(&one.kind.as_str())).map(|relation| relation.name.clone()).collect()
        };
        let (tables, sequences) = (of_kind(&["r", "p"]), of_kind(&["S"]));
        let has_rules = relations.iter().any(|relation| relation.has_rules);
        let restart = |name: &String| {
            format!(
                "SELECT setval('{}', seqstart, false) FROM pg_sequence WHERE seqrelid = '{0}'::regclass;",
                name.replace('\'', "''")
            )
        };
        let restart: String = sequences.iter().map(restart).collect();
        let truncate = match tables.is_empty() {
            true => restart.clone(),
            false => format!("TRUNCATE {} CASCADE; {restart}", tables.join(", ")),
        };
        // Without triggers and foreign keys, which only a superuser can switch off, the order of the tables is free.
        let has_triggers = relations.iter().any(|relation| relation.has_triggers);
        let mut deletes = Vec::new();
        if (superuser || !has_triggers) && !has_rules && !tables.is_empty() {
            let around = |sql: &str| has_triggers.then(|| sql.to_owned());
            deletes.extend(around("SET session_replication_role = replica"));
            deletes.extend(tables.iter().map(|table| format!("{DELETE}{table}")));
            deletes.extend(around("RESET session_replication_role"));
            deletes.extend((!restart.is_empty()).then_some(restart));
        }
        let is_compact = match of_kind(&["p"]).is_empty() {
            true => is_compact(relations),
            false => None,
        };
        Reset::Empty { truncate, deletes, is_compact }
    }

    /// The statements of the next reset; none where the sandbox is to be made anew. `exact`: a session under test is
    /// SERIALIZABLE.
    pub fn emptying(&self, exact: bool, debris: Debris) -> Emptying {
        let Reset::Empty { truncate, deletes, is_compact } = self else {
            return Emptying { statements: Vec::new(), deletes: false };
        };
        let is_little = match exact {
            true => is_compact.is_some() && debris.rows < ROWS_ON_A_PAGE,
            false => debris.resets + 1 < DELETES_IN_A_ROW,
        };
        match is_little && !deletes.is_empty() {
            true => Emptying { statements: deletes.clone(), deletes: true },
            false => Emptying { statements: vec![truncate.clone()], deletes: false },
        }
    }

    /// The question whether a reset by DELETE was as good as one by TRUNCATE.
    pub fn is_compact(&self) -> Option<&str> {
        match self {
            Reset::Rebuild => None,
            Reset::Empty { is_compact, .. } => is_compact.as_deref(),
        }
    }

    /// From now on only TRUNCATE will do where pages count.
    pub fn distrust_deletes(&mut self) {
        if let Reset::Empty { is_compact, .. } = self {
            *is_compact = None;
        }
    }
}

/// Bytes.
const PAGE: u32 = 8192;

/// None where there is an index whose smallest size is not known, or nothing to ask.
fn is_compact(relations: &[Relation]) -> Option<String> {
    let of_kind = |kind| relations.iter().filter(move |relation| relation.kind == kind);
    if of_kind("i").any(|index| !index.is_btree) {
        return None;
    }
    let at_most = |pages: u32, name: &str| {
        format!("pg_relation_size('{}'::regclass) <= {}", name.replace('\'', "''"), pages * PAGE)
    };
    let of_tables = of_kind("r").map(|table| at_most(1, &table.name));
    // A B-tree has a page about itself.
    let of_indexes = of_kind("i").map(|index| at_most(2, &index.name));
    let all: Vec<String> = of_tables.chain(of_indexes).collect();
    (!all.is_empty()).then(|| format!("SELECT {}", all.join(" AND ")))
}

/// Whether a run leaves a sandbox that no reset can bring back.
pub(super) fn rebuilds(plan: &Plan) -> bool {
    programs(plan).any(changes_the_schema) || prepares(plan)
}

/// The bodies that run with every schedule.
pub(super) fn programs(plan: &Plan) -> impl Iterator<Item = &Program> {
    let sessions = plan.sessions.iter().chain(&plan.finally);
    let calls = sessions.flat_map(|session| &session.calls).map(|call| &call.transaction.program);
    calls.chain(plan.setup.iter().map(|script| script.program.as_ref()))
}

/// Whether a body prepares transactions for a two-phase commit: those outlive their sessions, so they get a database of
/// their own, and are rolled back with it.
pub(super) fn prepares(plan: &Plan) -> bool {
    let is_prepare =
        |op: &Op| matches!(&op.action, Action::Statement(statement) if statement.control == Control::Prepare);
    programs(plan).any(|program| program.ops.iter().any(is_prepare))
}

/// Whether a script lets go of what its connection holds: settings, prepared statements, advisory locks.
pub(super) fn lets_go(plan: &Plan) -> bool {
    const WORDS: [&str; 4] = ["reset", "discard", "deallocate", "pg_advisory_unlock_all"];
    let scripts = plan.schema.iter().chain(&plan.setup).chain(plan.checks.iter().map(|check| &check.script));
    let mut scripts = scripts.chain(plan.measures.iter().map(|measure| &measure.script));
    let says = |sql: &str| WORDS.iter().any(|word| sql.to_lowercase().contains(word));
    scripts.any(|script| script.program.mentions(&WORDS))
        || plan.teardown.iter().any(|statement| says(&statement.written()))
}

/// Whether a body takes its session's settings back to those of the start-up message.
pub(super) fn resets_settings(plan: &Plan) -> bool {
    programs(plan).any(|program| program.mentions(&["discard", "reset"]))
}

fn changes_the_schema(program: &Program) -> bool {
    let first_word = |sql: String| sql.trim_start().split(|c: char| !c.is_alphabetic()).next().map(str::to_uppercase);
    program.ops.iter().any(|op| match &op.action {
        Action::Statement(statement) => {
            first_word(statement.text.written()).is_some_and(|word| DDL.contains(&word.as_str()))
        }
        Action::Effect(sql) => first_word(sql.written()).is_some_and(|word| DDL.contains(&word.as_str())),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deletes_end_where_their_dead_rows_would_show() {
        let mut reset = Reset::Empty {
            truncate: "TRUNCATE t".to_owned(),
            deletes: vec!["DELETE FROM t".to_owned()],
            is_compact: Some("SELECT true".to_owned()),
        };
        let deletes = |reset: &Reset, exact, resets, rows| reset.emptying(exact, Debris { resets, rows }).deletes;
        assert!(deletes(&reset, true, 5, ROWS_ON_A_PAGE - 1) && !deletes(&reset, true, 5, ROWS_ON_A_PAGE));
        assert!(deletes(&reset, false, 5, 10_000) && !deletes(&reset, false, DELETES_IN_A_ROW, 0));
        reset.distrust_deletes();
        assert!(!deletes(&reset, true, 0, 0) && deletes(&reset, false, 0, 0));
    }
}
