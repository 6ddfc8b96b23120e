//! Statements that a connection is sent again and again: prepared with the first time, so that they are planned once.

/// What the connection to the home database has prepared, or is about to.
#[derive(Debug)]
pub(super) struct Planned {
    statements: Vec<Statement>,
    /// No script makes the connection forget them.
    lasts: bool,
}

#[derive(Debug)]
struct Statement {
    sql: String,
    prepare: String,
    is_prepared: bool,
}

impl Planned {
    pub fn new(lasts: bool) -> Planned {
        Planned { statements: Vec::new(), lasts }
    }

    /// What to send for a statement: the last answer is its own.
    pub fn sent_as(&mut self, sql: &str) -> Vec<String> {
        if !self.lasts {
            return vec![sql.to_owned()];
        }
        let number = self.statements.iter().position(|known| known.sql == sql).unwrap_or(self.statements.len());
        if number == self.statements.len() {
            let prepare = format!("PREPARE isolab_{number} AS {sql}");
            self.statements.push(Statement { sql: sql.to_owned(), prepare, is_prepared: false });
        }
        let Statement { prepare, is_prepared, .. } = &self.statements[number];
        let prepare = (!is_prepared).then(|| prepare.clone());
        prepare.into_iter().chain([format!("EXECUTE isolab_{number}")]).collect()
    }

    /// A statement that was sent went through.
    pub fn went_through(&mut self, sent: &str) {
        for statement in self.statements.iter_mut().filter(|statement| statement.prepare == sent) {
            statement.is_prepared = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_prepared_until_that_went_through() {
        let mut planned = Planned::new(true);
        let first = ["PREPARE isolab_0 AS SELECT 1", "EXECUTE isolab_0"];
        assert_eq!(planned.sent_as("SELECT 1"), first);
        assert_eq!(planned.sent_as("SELECT 2").last().map(String::as_str), Some("EXECUTE isolab_1"));
        assert_eq!(planned.sent_as("SELECT 1"), first);
        planned.went_through(first[0]);
        assert_eq!(planned.sent_as("SELECT 1"), first[1..]);
        assert_eq!(Planned::new(false).sent_as("SELECT 1"), ["SELECT 1"]);
    }
}
