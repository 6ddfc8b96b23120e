//! What PostgreSQL's expected outputs assume of the sessions' surroundings.

use super::model::SpecFile;
use crate::wire::ConnectOptions;

/// As `pg_isolation_regress` sets them.
const SETTINGS: [(&str, &str); 8] = [
    ("TimeZone", "America/Los_Angeles"),
    ("DateStyle", "Postgres, MDY"),
    ("IntervalStyle", "postgres_verbose"),
    ("bytea_output", "hex"),
    ("timezone_abbreviations", "Default"),
    ("lc_monetary", "C"),
    ("lc_numeric", "C"),
    ("lc_time", "C"),
];

/// The database that `pg_isolation_regress` makes; some files name it.
const DATABASE: &str = "isolation_regression";

/// The way into a database, with these surroundings. Only a superuser may say in which language messages come.
pub(super) fn session_options(database: ConnectOptions, is_superuser: bool) -> ConnectOptions {
    let messages = is_superuser.then_some(("lc_messages", "C"));
    SETTINGS.into_iter().chain(messages).fold(database, |options, (name, value)| options.with_setting(name, value))
}

/// The same file for a database of another name than the one that its SQL may speak of.
pub(super) fn for_database(spec: &SpecFile, database: &str) -> SpecFile {
    let mut spec = spec.clone();
    let sessions = spec.sessions.iter_mut().flat_map(|session| [&mut session.setup, &mut session.teardown]);
    let blocks = spec.setups.iter_mut().chain(&mut spec.teardown).chain(sessions.flatten());
    for block in blocks.chain(spec.steps.iter_mut().map(|step| &mut step.block)) {
        block.sql = block.sql.replace(DATABASE, database);
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::testing::spec;

    #[test]
    fn the_databases_usual_name_stands_for_the_one_at_hand() {
        let file = spec(
            "setup { GRANT TEMP ON DATABASE isolation_regression TO x } teardown { isolation_regression } \
             session a setup { isolation_regression } step b { isolation_regression } teardown { isolation_regression }",
        );
        let here = for_database(&file, "isolab_x");
        assert!(here.blocks().all(|block| block.sql.contains("isolab_x")));
        assert_eq!(here.setups[0].sql, "GRANT TEMP ON DATABASE isolab_x TO x");
    }
}
