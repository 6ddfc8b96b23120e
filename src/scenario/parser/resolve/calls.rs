//! Calls bound to the transactions that they name.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Form, inside};
use crate::program::Action;
use crate::scenario::model::{Call, Session, Transaction};
use crate::scenario::parser::Parser;
use crate::scenario::parser::declared::{DeclaredCall, DeclaredSession, Runs};
use crate::scenario::source::Span;

pub type Transactions = HashMap<String, Arc<Transaction>>;

impl Parser<'_> {
    pub(super) fn bind_sessions(
        &mut self,
        sessions: Vec<DeclaredSession>,
        transactions: &Transactions,
        form: Option<&Form>,
    ) -> Vec<Session> {
        let mut bound = Vec::new();
        for DeclaredSession { name, level, runs } in sessions {
            let calls = match runs {
                Runs::Body(transaction) => vec![Call { transaction, arguments: Vec::new(), span: name.span }],
                Runs::Calls(calls) => {
                    calls.into_iter().filter_map(|call| self.bind_call(call, transactions, form)).collect()
                }
            };
            bound.push(Session { name: name.text, level, setup: Vec::new(), calls, span: name.span });
        }
        bound
    }

    fn bind_call(&mut self, call: DeclaredCall, transactions: &Transactions, form: Option<&Form>) -> Option<Call> {
        let DeclaredCall { transaction, arguments, span } = call;
        let transaction =
            self.transaction_named(&transaction.text, transaction.span, arguments.len(), span, transactions, form)?;
        Some(Call { transaction, arguments, span })
    }

    /// The transaction of a name; reports an unknown one, and arguments that do not fit.
    pub(super) fn transaction_named(
        &mut self,
        name: &str,
        name_span: Span,
        arguments: usize,
        call: Span,
        transactions: &Transactions,
        form: Option<&Form>,
    ) -> Option<Arc<Transaction>> {
        let Some(transaction) = transactions.get(name) else {
            let mut known: Vec<&str> = transactions.keys().map(String::as_str).collect();
            known.sort_unstable();
            self.diagnostics.unknown("transaction", name_span, name, known);
            return None;
        };
        let params = transaction.params.len();
        if params != arguments {
            let takes = if params == 1 { "1 argument".to_owned() } else { format!("{params} arguments") };
            self.diagnostics
                .error(call, format!("`{name}`{} takes {takes}, not {arguments}", inside(form)))
                .note(transaction.span, format!("`{name}({})`", transaction.params.join(", ")));
        }
        Some(Arc::clone(transaction))
    }

    /// `\sleep` has no place in a staged session: what it waits for is the schedule.
    pub(super) fn check_sleeps(&mut self, sessions: &[Session]) {
        for op in sessions.iter().flat_map(|session| &session.calls).flat_map(|call| &call.transaction.program.ops) {
            if matches!(op.action, Action::Sleep { .. }) {
                self.diagnostics
                    .error(op.span, "`\\sleep` is for load tests and `@finally`: a staged session waits for its moves")
                    .help("`@order` says when it goes on; `wait SESSION` there waits until one is not blocked");
            }
        }
    }
}
