//! The calls of `@load` against the transactions of each form.

use super::Form;
use super::calls::Transactions;
use crate::scenario::parser::Parser;

impl Parser<'_> {
    pub(super) fn check_load(&mut self, transactions: &Transactions, form: Option<&Form>) {
        let Some(load) = self.load.take() else { return };
        for call in &load.calls {
            let called = self.transaction_named(
                &call.transaction,
                call.span,
                call.arguments.len(),
                call.span,
                transactions,
                form,
            );
            for op in called.iter().flat_map(|transaction| &transaction.program.ops) {
                if let Some(command) = op.action.only_staged() {
                    self.diagnostics
                        .warning(op.span, format!("`{command}` is for staged runs: `isolab load` will refuse it"))
                        .note(call.span, "called here");
                }
            }
        }
        self.load = Some(load);
    }
}
