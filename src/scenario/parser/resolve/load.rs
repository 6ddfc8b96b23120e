//! The calls of `@load` against the transactions of each form.

use super::Form;
use super::calls::Transactions;
use crate::scenario::parser::Parser;

impl Parser<'_> {
    pub(super) fn check_load(&mut self, transactions: &Transactions, form: Option<&Form>) {
        let Some(load) = self.load.take() else { return };
        for call in &load.calls {
            self.transaction_named(&call.transaction, call.span, call.arguments.len(), call.span, transactions, form);
        }
        self.load = Some(load);
    }
}
