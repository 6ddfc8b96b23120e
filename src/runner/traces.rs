//! What outlasts a session's transactions: settings, prepared statements, temporary tables, advisory locks.

use crate::program::{Action, Program, Statement};
use crate::scenario::Plan;

/// First words of statements that end with their transaction.
const PLAIN: [&str; 17] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "MERGE",
    "WITH",
    "VALUES",
    "TABLE",
    "LOCK",
    "BEGIN",
    "START",
    "COMMIT",
    "END",
    "ROLLBACK",
    "ABORT",
    "SAVEPOINT",
    "RELEASE",
];
/// What such a statement can say all the same: a function may do anything.
const FUNCTIONS: [&str; 8] =
    ["set_config", "advisory", "currval", "lastval", "setseed", "nextval", "dblink", "into temp"];
/// What the schema may define that does things behind a statement.
const DEFINES: [&str; 4] = ["function", "procedure", "trigger", "rule"];

/// Whether anything that a plan's sessions do may be left in their connections. When in doubt it may.
pub(super) fn leaves_traces(plan: &Plan) -> bool {
    let sessions = plan.sessions.iter().chain(&plan.finally);
    let prepares = plan.sessions.iter().any(|session| !session.setup.is_empty());
    let mut programs = sessions.flat_map(|session| &session.calls).map(|call| &call.transaction.program);
    let mut scripts = plan.schema.iter().chain(&plan.setup).map(|script| script.program.as_ref());
    prepares
        || !programs.all(|program| statements(program).all(is_plain))
        || scripts.any(|program| statements(program).any(|statement| mentions(statement, &DEFINES)))
}

fn statements(program: &Program) -> impl Iterator<Item = &Statement> {
    program.ops.iter().filter_map(|op| match &op.action {
        Action::Statement(statement) => Some(statement),
        _ => None,
    })
}

fn is_plain(statement: &Statement) -> bool {
    let sql = statement.text.written();
    let word = sql.trim_start().split(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_uppercase();
    // Several statements in one query begin with one word only.
    PLAIN.contains(&word.as_str()) && !sql.contains(';') && !mentions(statement, &FUNCTIONS)
}

fn mentions(statement: &Statement, words: &[&str]) -> bool {
    let sql = statement.text.written().to_lowercase();
    words.iter().any(|word| sql.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Disk, parse};

    fn leaves(schema: &str, body: &str) -> bool {
        let text = format!("-- @title t\n-- @schema\n{schema}\n-- @session a\n{body}\n");
        let parsed = parse(&Disk, std::path::Path::new("t.sql"), &text).expect("valid");
        leaves_traces(&parsed.scenario.as_written)
    }

    #[test]
    fn transactions_of_plain_statements_leave_nothing() {
        let table = "CREATE TABLE t (x int);";
        assert!(!leaves(table, "SELECT x FROM t FOR UPDATE;\nUPDATE t SET x = 1;"));
        assert!(leaves(table, "SET lock_timeout = 1;"));
        assert!(leaves(table, "SELECT pg_advisory_lock(1);"));
        assert!(leaves(table, "PREPARE p AS SELECT 1;"));
        assert!(leaves("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';", "SELECT f();"));
    }
}
