//! What a scenario uses that is outside every isolation level by design, so that no level can make it serial.

use super::contents::{ColumnKind, Contents};
use crate::program::{Action, Control, Program};
use crate::scenario::template::Template;
use crate::scenario::{Level, Plan, Scenario};

/// Words of statements, and what they stand for; first those that tell what others are doing.
const WORDS: [(&str, &str); 9] = [
    ("pg_current_snapshot", "a snapshot tells who is running"),
    ("skip locked", "SKIP LOCKED passes over rows that others hold"),
    ("nowait", "NOWAIT tells who holds a lock"),
    ("pg_try_advisory", "a try-lock tells who holds a lock"),
    ("lock_timeout", "a lock timeout tells who holds a lock"),
    ("pg_advisory", "advisory locks are not undone with a transaction"),
    ("nextval", "sequences are not undone with a transaction"),
    ("truncate", "TRUNCATE is not MVCC-safe"),
    ("dblink", "another connection is another transaction"),
];

/// What a plan uses, in words; empty: nothing.
pub fn reasons(scenario: &Scenario, plan: &Plan, contents: &Contents) -> Vec<&'static str> {
    let mut reasons: Vec<&'static str> = WORDS
        .iter()
        .filter(|(word, _)| programs(plan).any(|program| sql_has(program, word)))
        .map(|(_, why)| *why)
        .collect();
    let mut columns = contents.tables.iter().flat_map(|table| &table.columns);
    if columns.any(|column| column.kind == ColumnKind::Compared) {
        reasons.push("numbers are generated in another order than transactions commit");
    }
    if programs(plan).any(|program| program.ops.iter().any(|op| matches!(op.action, Action::Effect(_)))) {
        reasons.push("effects outside the database are not undone with a transaction");
    }
    if !scenario.pools.is_empty() || !scenario.databases.is_empty() {
        reasons.push("no transaction spans several connections");
    }
    if plan.sessions.iter().any(|session| session.level.is_some()) {
        reasons.push("a session is pinned to a level of its own");
    }
    reasons
}

/// Whether what others are doing, such as who holds a lock, decides what a session does.
pub fn looks_at_others(plan: &Plan) -> bool {
    WORDS[..5].iter().any(|(word, _)| programs(plan).any(|program| sql_has(program, word)))
}

/// Whether a timeout may end a statement: a matter of time, of which exploring lets none pass.
pub fn has_timeout(plan: &Plan) -> bool {
    let setups = plan.sessions.iter().flat_map(|session| &session.setup);
    let sets_one = |sql: &str| sql.contains("_timeout") && !sql.contains("deadlock_timeout");
    setups.map(Template::written).any(|sql| sets_one(&sql.to_lowercase()))
        || programs(plan).any(|program| sql_has(program, "_timeout") && !sql_has(program, "deadlock_timeout"))
}

/// Whether its reads, writes and locks are all that its sessions have in common.
pub fn is_understood(scenario: &Scenario, plan: &Plan, level: Level) -> bool {
    const NOT_UNDERSTOOD: [&str; 32] = [
        "savepoint",
        "rollback to",
        "listen",
        "notify",
        "cursor",
        "fetch",
        "prepare",
        "deferrable",
        "create ",
        "alter ",
        "drop ",
        "vacuum",
        "analyze",
        "cluster",
        "reindex",
        "grant ",
        "revoke ",
        "copy ",
        "dblink",
        "refresh",
        "lock_timeout",
        "now()",
        "_timestamp",
        "random",
        "localtime",
        "current_setting",
        // What the server says of running transactions: other sessions' statements change it before they commit.
        "pg_current_",
        "pg_snapshot",
        "txid_",
        "pg_stat",
        "pg_locks",
        "pg_prepared",
    ];
    let pinned = plan.sessions.iter().any(|session| session.level.is_some_and(|level| level != Level::ReadUncommitted));
    let plain = |program: &Program| {
        let actions = program.ops.iter().all(|op| match &op.action {
            Action::Effect(_) | Action::Connect { .. } | Action::Crash | Action::Sleep { .. } | Action::Try { .. } => {
                false
            }
            Action::Statement(statement) => {
                let sql = statement.text.written();
                let is_level = statement.is_plain_begin() && Level::named_in(&sql).is_none_or(|named| named == level);
                !statement.lost
                    && statement.control != Control::Prepare
                    && (is_level || !sets_a_level(&sql))
                    // Several statements in one move are not what is measured.
                    && !sql.contains(';')
            }
            _ => true,
        });
        actions && !NOT_UNDERSTOOD.iter().any(|word| sql_has(program, word))
    };
    !pinned && scenario.databases.is_empty() && scenario.pools.is_empty() && programs(plan).all(plain)
}

fn sets_a_level(sql: &str) -> bool {
    let sql = sql.to_lowercase();
    sql.contains("isolation level") || sql.contains("transaction_isolation")
}

pub fn programs(plan: &Plan) -> impl Iterator<Item = &Program> {
    plan.sessions.iter().flat_map(|session| &session.calls).map(|call| &call.transaction.program)
}

fn sql_has(program: &Program, word: &str) -> bool {
    program.ops.iter().any(|op| match &op.action {
        Action::Statement(statement) => statement.text.written().to_lowercase().contains(word),
        _ => false,
    })
}
