//! Transactions that nobody calls, in no form of the scenario: a fix with a mistyped name would change nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::scenario::diagnostic::Diagnostics;
use crate::scenario::model::{Load, Transaction};
use crate::scenario::nearest;
use crate::scenario::parser::declared::Declared;

pub struct Unused {
    transactions: Vec<Arc<Transaction>>,
    called: BTreeSet<String>,
}

/// A call of it, its parameters in place of arguments.
fn call(transaction: &Transaction) -> String {
    let Transaction { name, params, .. } = transaction;
    if params.is_empty() { name.clone() } else { format!("{name}({})", params.join(", ")) }
}

impl Unused {
    pub fn find<'a>(forms: impl Iterator<Item = &'a Declared> + Clone, load: Option<&Load>) -> Unused {
        let sessions = forms.clone().flat_map(|form| form.sessions.iter().chain(&form.finally));
        let calls = sessions.flat_map(|session| session.runs.calls()).map(|call| call.transaction.text.clone());
        let loaded = load.iter().flat_map(|load| &load.calls).map(|call| call.transaction.clone());
        let called: BTreeSet<String> = calls.chain(loaded).collect();
        let transactions = forms.flat_map(|form| &form.transactions);
        let unused = transactions.filter(|transaction| !called.contains(&transaction.name));
        Unused { transactions: unused.cloned().collect(), called }
    }

    pub fn warn(&self, diagnostics: &mut Diagnostics) {
        for transaction in &self.transactions {
            if diagnostics.is_full() {
                return;
            }
            let name = transaction.name.as_str();
            let warning = diagnostics.warning(transaction.span, format!("nobody calls transaction `{name}`"));
            if let Some(near) = nearest(name, self.called.iter().map(String::as_str)) {
                warning.label(format!("did you mean `{near}`?"));
            } else {
                warning.help(format!("`-- @session NAME: {}` calls it", call(transaction)));
            }
        }
    }
}
