//! What a fix takes over from the scenario as written.

use crate::scenario::parser::declared::Declared;

/// Sections of a fix replace those of the same kind and name; `@schema`, `@setup` and `@requires` are added; `@expect`
/// is not inherited.
pub fn merged(base: &Declared, own: Declared) -> Declared {
    Declared {
        requires: [base.requires.as_slice(), &own.requires].concat(),
        schema: [base.schema.as_slice(), &own.schema].concat(),
        setup: [base.setup.as_slice(), &own.setup].concat(),
        transactions: replaced(&base.transactions, own.transactions, |transaction| &transaction.name),
        sessions: replaced(&base.sessions, own.sessions, |session| &session.name.text),
        order: own.order.or_else(|| base.order.clone()),
        retry: own.retry.or_else(|| base.retry.clone()),
        finally: replaced(&base.finally, own.finally, |session| &session.name.text),
        checks: replaced(&base.checks, own.checks, |check| &check.name),
        measures: replaced(&base.measures, own.measures, |measure| &measure.name),
        expects: own.expects,
    }
}

/// The base with those of the same name replaced in their places, and the new ones behind it.
fn replaced<T: Clone>(base: &[T], own: Vec<T>, name: impl Fn(&T) -> &str) -> Vec<T> {
    let mut all = base.to_vec();
    let places: std::collections::HashMap<String, usize> =
        base.iter().enumerate().map(|(place, item)| (name(item).to_owned(), place)).collect();
    for item in own {
        match places.get(name(&item)) {
            Some(place) => all[*place] = item,
            None => all.push(item),
        }
    }
    all
}
