//! What a file touches beyond its own database: such files do not run side by side with others that do the same.

use super::model::SpecFile;

/// What the databases of a server have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shared {
    /// Their names are the server's.
    PreparedTransactions,
    /// Names of roles are the server's.
    Roles,
    /// Databases, settings, signals, catalogues and views of everything that goes on: nothing else may go on.
    Everything,
}

const OF_PREPARED_TRANSACTIONS: [&str; 4] =
    ["prepare transaction", "commit prepared", "rollback prepared", "pg_prepared_xacts"];

const OF_ROLES: [&str; 8] =
    ["create role", "alter role", "drop role", "create user", "alter user", "drop user", "create group", "drop owned"];

const OF_EVERYTHING: [&str; 27] = [
    "create database",
    "alter database",
    "drop database",
    "on database",
    "alter system",
    "pg_reload_conf",
    "tablespace",
    "subscription",
    "replication_slot",
    "replication_origin",
    "injection_points",
    "checkpoint",
    "notification_queue",
    "pg_stat_reset_shared",
    "pg_stat_activity",
    "pg_stat_get_activity",
    "pg_stat_get_backend",
    "pg_stat_io",
    "pg_stat_wal",
    "pg_locks",
    "pg_lock_status",
    "pg_database",
    "pg_authid",
    "pg_auth_members",
    "pg_shdepend",
    "pg_db_role_setting",
    "pg_parameter_acl",
];

/// What the SQL of a file says of it. What it says in a comment counts too: then the file is only slower to come by.
pub(super) fn shared(spec: &SpecFile) -> Vec<Shared> {
    let sql: Vec<String> = spec.blocks().map(|block| normalised(&block.sql)).collect();
    let mentions = |words: &[&str]| sql.iter().any(|sql| words.iter().any(|word| sql.contains(word)));
    let kinds = [
        (Shared::PreparedTransactions, OF_PREPARED_TRANSACTIONS.as_slice()),
        (Shared::Roles, &OF_ROLES),
        (Shared::Everything, &OF_EVERYTHING),
    ];
    kinds.into_iter().filter(|(_, words)| mentions(words)).map(|(kind, _)| kind).collect()
}

/// In lower case, with one blank between words.
fn normalised(sql: &str) -> String {
    sql.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::testing::spec;

    #[test]
    fn what_the_server_has_only_once_is_recognised() {
        let of = |sql: &str| shared(&spec(&format!("session a step x {{ {sql} }}")));
        assert_eq!(of("PREPARE\n  TRANSACTION 'x'"), [Shared::PreparedTransactions]);
        assert_eq!(of("CREATE ROLE r; COMMIT PREPARED 'x'"), [Shared::PreparedTransactions, Shared::Roles]);
        assert_eq!(of("GRANT TEMP ON DATABASE d TO r"), [Shared::Everything]);
        assert_eq!(of("SELECT * FROM pg_locks"), [Shared::Everything]);
        assert_eq!(of("PREPARE p AS SELECT 1; CREATE TABLE t ()"), []);
    }
}
