//! What each statement of a program touches, as it was measured.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::schedule::{Footprint, Object, groups};

/// Rows of one page that a transaction reads before the server locks the page: `max_pred_locks_per_page`, unless set.
const MOST_ROWS: usize = 2;

/// A session's index and the number of its call.
type CallOf = (usize, usize);

/// Footprints by the statement's text. A text that was not met, because it has another value in it, takes what its like
/// have, for any row, since the value may choose it; one that has no like touches everything.
#[derive(Debug, Clone, Default)]
pub struct Footprints {
    statements: HashMap<CallOf, HashMap<String, Arc<Footprint>>>,
    /// The same by the text without its values.
    alike: HashMap<CallOf, HashMap<String, Arc<Footprint>>>,
    calls: HashMap<CallOf, Arc<Footprint>>,
    commits: HashMap<CallOf, Arc<Footprint>>,
    /// Statements without their values that were met when schedules were played, with values that were not measured.
    met: HashSet<(CallOf, String)>,
}

impl Footprints {
    /// Adds what a statement was seen to touch.
    pub fn add(&mut self, of: CallOf, sql: &str, footprint: &Footprint) {
        absorb(self.statements.entry(of).or_default().entry(sql.to_owned()).or_default(), footprint);
        absorb(self.calls.entry(of).or_default(), footprint);
        let alike = self.alike.entry(of).or_default();
        absorb(alike.entry(without_values(sql)).or_default(), &footprint.widened());
    }

    /// Adds what the COMMIT of a call does beside making visible what was done.
    pub fn add_commit(&mut self, of: CallOf, footprint: &Footprint) {
        absorb(self.commits.entry(of).or_default(), footprint);
        absorb(self.calls.entry(of).or_default(), footprint);
    }

    /// Takes note of a statement that a schedule came to. Whether its call touches more than was known: what was played
    /// without that knowledge may have left out orders that count.
    pub fn meet(&mut self, of: CallOf, sql: &str) -> bool {
        let is_measured = self.statements.get(&of).is_some_and(|statements| statements.contains_key(sql));
        if is_measured || !self.met.insert((of, without_values(sql))) {
            return false;
        }
        let footprint = self.of_statement(of.0, of.1, sql);
        let call = self.calls.entry(of).or_default();
        let known = Arc::clone(call);
        absorb(call, &footprint);
        *call != known
    }

    /// Widens what is read row by row where a transaction may read more rows than the server locks one by one at
    /// SERIALIZABLE: at the next it locks the page in their stead.
    pub fn lock_pages(&mut self) {
        for (of, call) in &mut self.calls {
            let spaces: HashSet<String> = call.reads.iter().map(|object| object.space.clone()).collect();
            let is_many = |space: &String| {
                let mut rows = call.reads.iter().filter(|object| object.space == *space);
                rows.clone().count() > MOST_ROWS || rows.any(|object| object.key.is_none())
            };
            let wide: Vec<String> = spaces.into_iter().filter(is_many).collect();
            let statements = self.statements.get_mut(of).into_iter().flat_map(HashMap::values_mut);
            for footprint in statements.chain([call]) {
                let read = |space: &&String| footprint.reads.iter().any(|object| object.space == **space);
                let pages: Vec<Object> = wide.iter().filter(read).map(Object::all).collect();
                if !pages.iter().all(|page| footprint.reads.contains(page)) {
                    Arc::make_mut(footprint).reads.extend(pages);
                }
            }
        }
    }

    pub fn of_statement(&self, session: usize, call: usize, sql: &str) -> Arc<Footprint> {
        let of = (session, call);
        let exact = self.statements.get(&of).and_then(|statements| statements.get(sql));
        let alike = || self.alike.get(&of).and_then(|statements| statements.get(&without_values(sql)));
        exact.or_else(alike).map_or_else(|| Arc::new(Footprint::of_everything()), Arc::clone)
    }

    pub fn at_commit(&self, session: usize, call: usize) -> Arc<Footprint> {
        self.commits.get(&(session, call)).map(Arc::clone).unwrap_or_default()
    }

    /// The whole call's.
    pub fn of_call(&self, session: usize, call: usize) -> Arc<Footprint> {
        self.calls.get(&(session, call)).map(Arc::clone).unwrap_or_default()
    }

    /// The groups of connected sessions.
    pub fn groups(&self, sessions: usize) -> Vec<usize> {
        let mut whole = vec![Footprint::default(); sessions];
        for ((session, _), footprint) in &self.calls {
            if let Some(whole) = whole.get_mut(*session) {
                whole.absorb(footprint);
            }
        }
        groups(&whole)
    }
}

fn absorb(known: &mut Arc<Footprint>, footprint: &Footprint) {
    Arc::make_mut(known).absorb(footprint);
}

/// The statement with `?` in place of its quoted literals and numbers.
fn without_values(sql: &str) -> String {
    let mut text = String::new();
    let mut rest = sql.chars().peekable();
    let mut in_word = false;
    while let Some(c) = rest.next() {
        if c == '\'' {
            while let Some(inside) = rest.next() {
                if inside == '\'' && rest.next_if_eq(&'\'').is_none() {
                    break;
                }
            }
            text.push('?');
        } else if c.is_ascii_digit() && !in_word {
            while rest.next_if(|next| next.is_ascii_digit() || *next == '.').is_some() {}
            text.push('?');
        } else {
            in_word = c.is_alphanumeric() || c == '_';
            text.push(c);
        }
    }
    // A negative number is a quoted one with its type.
    text.replace("?::int4", "?").replace("-?", "?")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(key: &str) -> Footprint {
        Footprint { writes: [Object::one("teams", key)].into(), ..Footprint::default() }
    }

    #[test]
    fn values_do_not_make_another_statement() {
        let text = without_values("UPDATE t1 SET a = -5, b = 'it''s' WHERE id = 12.5");
        assert_eq!(text, "UPDATE t1 SET a = ?, b = ? WHERE id = ?");
        assert_eq!(without_values("SET a = '-5'::int4"), without_values("SET a = 7"));
    }

    #[test]
    fn a_value_that_was_not_met_may_choose_any_row() {
        let mut footprints = Footprints::default();
        footprints.add((0, 0), "UPDATE teams SET spent = 1 WHERE id = 'a'", &writes("a"));
        footprints.add((0, 0), "UPDATE teams SET spent = 2 WHERE id = 'a'", &writes("a"));
        assert_eq!(*footprints.of_statement(0, 0, "UPDATE teams SET spent = 2 WHERE id = 'a'"), writes("a"));
        let other = footprints.of_statement(0, 0, "UPDATE teams SET spent = 3 WHERE id = 'c'");
        assert!(other.writes.contains(&Object::all("teams")));
    }

    #[test]
    fn a_call_touches_what_its_statements_are_seen_to_touch() {
        let mut footprints = Footprints::default();
        footprints.add((0, 0), "UPDATE teams SET spent = 1 WHERE id = 'a'", &writes("a"));
        assert!(!footprints.meet((0, 0), "UPDATE teams SET spent = 1 WHERE id = 'a'"));
        assert!(footprints.meet((0, 0), "UPDATE teams SET spent = 1 WHERE id = 'b'"));
        assert!(!footprints.meet((0, 0), "UPDATE teams SET spent = 1 WHERE id = 'c'"), "any row is known by now");
        assert!(footprints.of_call(0, 0).writes.contains(&Object::all("teams")));
        assert!(footprints.meet((0, 0), "DELETE FROM teams") && footprints.of_call(0, 0).everything);
    }

    #[test]
    fn who_reads_a_third_row_locks_the_page() {
        let read = |key| Footprint { reads: [Object::one("teams", key)].into(), ..Footprint::default() };
        let select = |key: &str| format!("SELECT FROM teams WHERE id = '{key}'");
        let whole = Object::all("teams");
        let mut footprints = Footprints::default();
        for key in ["a", "b"] {
            footprints.add((0, 0), &select(key), &read(key));
        }
        footprints.lock_pages();
        assert!(!footprints.of_statement(0, 0, &select("a")).reads.contains(&whole));
        footprints.add((0, 0), &select("c"), &read("c"));
        footprints.add((0, 0), "SELECT 1", &Footprint::default());
        footprints.lock_pages();
        assert!(footprints.of_statement(0, 0, &select("a")).reads.contains(&whole));
        assert!(footprints.of_call(0, 0).reads.contains(&whole));
        assert!(footprints.of_statement(0, 0, "SELECT 1").reads.is_empty());
    }

    #[test]
    fn a_statement_that_nobody_met_touches_everything() {
        assert!(Footprints::default().of_statement(0, 0, "SELECT 1").everything);
    }
}
