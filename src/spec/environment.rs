//! What PostgreSQL's expected outputs assume of the sessions' surroundings.

use super::model::SpecFile;
use crate::wire::ConnectOptions;

/// As `pg_isolation_regress` sets them.
const SETTINGS: [(&str, &str); 5] = [
    ("TimeZone", "America/Los_Angeles"),
    ("DateStyle", "Postgres, MDY"),
    ("IntervalStyle", "postgres_verbose"),
    ("bytea_output", "hex"),
    ("timezone_abbreviations", "Default"),
];

/// The database that `pg_isolation_regress` makes; some files name it.
const DATABASE: &str = "isolation_regression";

/// How a connection of a file gets in.
pub(super) fn connect_options(spec: &SpecFile, database: &ConnectOptions, connection: &str) -> ConnectOptions {
    let mut options = database.clone();
    options.application_name = format!("isolation/{}/{connection}", spec.name);
    let settings = SETTINGS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    options.settings.extend(settings);
    options
}

/// The same file for a database of another name than the one that its SQL may speak of.
pub fn for_database(spec: &SpecFile, database: &str) -> SpecFile {
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
