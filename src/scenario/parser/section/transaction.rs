//! `@transaction`: what one request does.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::scenario::model::Transaction;
use crate::scenario::parser::body::scope::{Names, Scope};
use crate::scenario::parser::body::{Kind, compile};
use crate::scenario::parser::header::{Header, Name, name};
use crate::scenario::parser::sections::Section;
use crate::scenario::parser::slice::Slice;
use crate::scenario::parser::{Form, Parser};

impl Parser<'_> {
    /// `@transaction NAME[(PARAM, …)] [autocommit]`.
    pub(super) fn read_transaction(&mut self, form: Form, section: &Section<'_>) {
        let mut header = Header::new(section.header);
        let Some(name) = self.defined_name(&mut header, "transaction") else { return };
        self.define(form, "transaction", &name.text, name.span);
        let params = self.params(&mut header);
        let autocommit = header.eat_word("autocommit");
        header.finish("`-- @transaction NAME[(PARAM, …)] [autocommit]`", &mut self.diagnostics);
        let scope = self.scope();
        let text = name.text.clone();
        let (transaction, names) = self.transaction(name, params, autocommit, section.body, scope);
        self.transaction_names.entry(text).or_default().push(names);
        self.declared(form).transactions.push(transaction);
    }

    /// A transaction and the variables that it sets.
    pub(super) fn transaction(
        &mut self,
        name: Name,
        params: Vec<String>,
        autocommit: bool,
        body: Slice<'_>,
        mut scope: Scope,
    ) -> (Arc<Transaction>, Rc<Names>) {
        for param in &params {
            scope.set(param);
        }
        let kind = Kind::Transaction { autocommit };
        let compiled = compile(body, kind, name.span, scope, &mut self.context());
        if compiled.program.ops.is_empty() {
            self.diagnostics
                .error(name.span, format!("`{}` has no statement", name.text))
                .help("write them below its line, each ended by `;`");
        }
        let transaction = Transaction { name: name.text, params, program: compiled.program, span: name.span };
        (Arc::new(transaction), Rc::new(compiled.names))
    }

    fn params(&mut self, header: &mut Header<'_>) -> Vec<String> {
        let mut params: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for param in header.arguments(&mut self.diagnostics) {
            let Some(param) = name(param, "variable", &mut self.diagnostics) else { continue };
            if !seen.insert(param.text.clone()) {
                self.diagnostics.error(param.span, format!("parameter `{}` is there twice", param.text));
            }
            params.push(param.text);
        }
        params
    }
}
