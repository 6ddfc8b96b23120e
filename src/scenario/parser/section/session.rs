//! `@session` and `@finally`: who runs what.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::scenario::model::Level;
use crate::scenario::parser::body::scope::{Names, Scope, check_expression};
use crate::scenario::parser::declared::{DeclaredCall, DeclaredSession, Runs};
use crate::scenario::parser::header::{Header, Name};
use crate::scenario::parser::sections::Section;
use crate::scenario::parser::slice::Slice;
use crate::scenario::parser::{Form, Parser, templates};
use crate::scenario::source::Span;

/// A call whose arguments are still text.
pub(super) struct RawCall<'a> {
    pub transaction: Name,
    pub arguments: Vec<Slice<'a>>,
    pub span: Span,
}

/// The header of a session up to its colon.
struct Head<'a> {
    name: Name,
    level: Option<Level>,
    autocommit: bool,
    /// What stands behind the colon.
    calls: Option<Slice<'a>>,
}

impl Parser<'_> {
    /// `@session NAME [at LEVEL] [autocommit]`, `: CALL; CALL` or a body.
    pub(super) fn read_session(&mut self, form: Form, section: &Section<'_>) {
        let Some(head) = self.session_head(form, "session", section) else { return };
        let scope = self.scope();
        let session_name = head.name.text.clone();
        let (session, names) = self.session(head, section, scope);
        self.session_names.entry(session_name).or_default().extend(names);
        self.declared(form).sessions.push(session);
    }

    /// `@finally NAME …`: with a session's name it goes on with that session's variables.
    pub(in crate::scenario::parser) fn read_finally(&mut self, form: Form, section: &Section<'_>) {
        let Some(head) = self.session_head(form, "finally", section) else { return };
        let mut outer = vec![Rc::clone(&self.param_names)];
        outer.extend(self.left_by_session(&head.name.text));
        let (session, _) = self.session(head, section, Scope::new(outer));
        self.declared(form).finally.push(session);
    }

    fn session_head<'a>(&mut self, form: Form, kind: &'static str, section: &Section<'a>) -> Option<Head<'a>> {
        let mut header = Header::new(section.header);
        let name = self.defined_name(&mut header, "session")?;
        self.define(form, kind, &name.text, name.span);
        let level = if header.eat_word("at") { header.level(&mut self.diagnostics) } else { None };
        let autocommit = header.eat_word("autocommit");
        let calls = header.eat(":").then(|| header.rest());
        if calls.is_none() {
            let expected = format!("`-- @{kind} NAME [at LEVEL] [autocommit]`, then `: CALL; CALL` or a body below");
            header.finish(&expected, &mut self.diagnostics);
        } else if autocommit {
            self.diagnostics
                .error(name.span, format!("`autocommit` here says nothing: the transactions of `{}` do", name.text))
                .help("write it behind the name of the transaction");
        }
        Some(Head { name, level, autocommit, calls })
    }

    fn session(&mut self, head: Head<'_>, section: &Section<'_>, scope: Scope) -> (DeclaredSession, Option<Rc<Names>>) {
        let Head { name, level, autocommit, calls } = head;
        if let Some(calls) = calls {
            self.only_comments(section);
            let runs = Runs::Calls(self.session_calls(calls, &name));
            return (DeclaredSession { name, level, runs }, None);
        }
        let (transaction, names) = self.transaction(name.clone(), Vec::new(), autocommit, section.body, scope);
        (DeclaredSession { name, level, runs: Runs::Body(transaction) }, Some(names))
    }

    fn session_calls(&mut self, text: Slice<'_>, session: &Name) -> Vec<DeclaredCall> {
        let mut header = Header::new(text);
        let mut calls = Vec::new();
        if header.at_end() {
            self.diagnostics.error(session.span, format!("session `{}` calls nothing", session.text)).help(
                "behind the `:` stand calls, as in `alice: approve('alice', 3000)`; without it a body stands below",
            );
        }
        while !header.at_end() {
            let Some(RawCall { transaction, arguments, span }) = self.call(&mut header) else { break };
            let arguments = arguments.into_iter().map(|argument| {
                let argument = templates::sql(argument, &mut self.diagnostics);
                check_expression(&argument, &self.param_names, &mut self.diagnostics);
                argument
            });
            calls.push(DeclaredCall { transaction, arguments: arguments.collect(), span });
            if !header.eat(";") {
                header.finish("calls are separated by `;`", &mut self.diagnostics);
            }
        }
        calls
    }

    /// `NAME[(ARGUMENT, …)]`.
    pub(super) fn call<'a>(&mut self, header: &mut Header<'a>) -> Option<RawCall<'a>> {
        let before = header.rest();
        let name = header.name("transaction", &mut self.diagnostics)?;
        let arguments = header.arguments(&mut self.diagnostics);
        for argument in arguments.iter().filter(|argument| argument.is_empty()) {
            self.diagnostics.error(argument.span(), "an argument is missing here");
        }
        let span = before.get(0..before.text.len() - header.rest().text.len()).trim().span();
        Some(RawCall { transaction: name, arguments, span })
    }

    /// The variables that any form of the session may have set.
    fn left_by_session(&self, session: &str) -> Vec<Rc<Names>> {
        let forms = self.variants.iter().map(|variant| &variant.declared).chain([&self.as_written]);
        let called: BTreeSet<&str> = forms
            .flat_map(|declared| &declared.sessions)
            .filter(|declared| declared.name.text == session)
            .flat_map(|declared| declared.runs.calls())
            .map(|call| call.transaction.text.as_str())
            .collect();
        let bodies = self.session_names.get(session).into_iter().flatten();
        let calls = called.into_iter().filter_map(|name| self.transaction_names.get(name)).flatten();
        bodies.chain(calls).cloned().collect()
    }
}
