//! Compiles a body into operations.

mod blocks;
pub mod scope;
pub mod steps;
#[cfg(test)]
mod tests;
mod writes;

use std::collections::BTreeSet;

use blocks::Block;
use scope::{Names, Scope};
use steps::Steps;
use writes::Writes;

use super::command::{Command, command};
use super::header::name;
use super::items::{End, Item, items};
use super::slice::Slice;
use super::statement::{control, is_copy_from_stdin, table_read};
use super::templates;
use crate::program::{Action, Capture, Control, Op, Program, Statement};
use crate::scenario::diagnostic::Diagnostics;
use crate::scenario::source::Span;
use crate::scenario::template::{Piece, Template};

/// What a body is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A transaction; with `autocommit` no BEGIN and COMMIT are added.
    Transaction { autocommit: bool },
    /// Statements that each run by themselves: `@schema`, `@setup`, `@check`, `@measure`.
    Script,
}

/// What the bodies of a file share.
#[derive(Debug)]
pub struct Context<'c> {
    pub diagnostics: &'c mut Diagnostics,
    /// What `\connect` can reach besides `main`.
    pub connections: &'c BTreeSet<String>,
}

/// A compiled body and the variables that it sets.
#[derive(Debug)]
pub struct Compiled {
    pub program: Program,
    pub names: Names,
}

/// Compiles a body. `owner` is the place of the name that it belongs to: errors of the BEGIN and COMMIT that it does not
/// have itself are shown there.
pub fn compile(body: Slice<'_>, kind: Kind, owner: Span, scope: Scope, context: &mut Context<'_>) -> Compiled {
    let items = items(body, context.diagnostics);
    let has_begin = items.iter().any(|item| is_control(item, Control::Begin));
    let implicit = (kind == Kind::Transaction { autocommit: false } && !has_begin).then_some(owner);
    let mut compiler = Compiler {
        kind,
        context,
        scope,
        ops: Vec::new(),
        steps: Steps::default(),
        blocks: Vec::new(),
        writes: Writes::default(),
        implicit,
        begin_due: implicit.is_some(),
    };
    for item in items {
        compiler.item(item);
    }
    compiler.finish()
}

fn is_control(item: &Item<'_>, wanted: Control) -> bool {
    matches!(item, Item::Statement { text, .. } if control(*text) == wanted)
}

/// A body on its way into operations.
struct Compiler<'c, 'd> {
    kind: Kind,
    context: &'c mut Context<'d>,
    scope: Scope,
    ops: Vec<Op>,
    steps: Steps,
    blocks: Vec<Block>,
    writes: Writes,
    /// BEGIN and COMMIT are added; they belong to the body of this name.
    implicit: Option<Span>,
    /// The BEGIN is still to be added: before the first thing that is no `\set`, `\connect` or `\echo`.
    begin_due: bool,
}

impl Compiler<'_, '_> {
    fn item(&mut self, item: Item<'_>) {
        match item {
            Item::Statement { text, end } => self.statement(text, end),
            Item::Command { word, text } => {
                if let Some(command) = command(word, text, self.context.diagnostics) {
                    self.check_place(&command, word);
                    self.run(command, word);
                }
            }
        }
    }

    fn statement(&mut self, text: Slice<'_>, end: End<'_>) {
        let control = control(text);
        self.check_statement(text, control, end);
        let template = self.expression(text);
        let (mut capture, mut lost) = (None, false);
        match end {
            End::Semicolon => {}
            End::Lost => lost = true,
            End::Gset(prefix) => {
                if !prefix.is_empty() {
                    name(prefix, "variable", self.context.diagnostics);
                }
                self.scope.capture(text, prefix.text);
                capture = Some(Capture { prefix: prefix.text.to_owned() });
            }
        }
        self.begin();
        self.writes.statement(text, control);
        self.push_statement(Statement { text: template, capture, lost, control, implicit: false }, text.span());
    }

    fn check_statement(&mut self, text: Slice<'_>, control: Control, end: End<'_>) {
        let diagnostics = &mut *self.context.diagnostics;
        if is_copy_from_stdin(text) {
            diagnostics.error(text.span(), "COPY FROM STDIN has no client here to send its rows").help("use INSERT");
        }
        if self.kind == Kind::Script && matches!(end, End::Lost) {
            diagnostics
                .error(text.span(), "`\\lost` has its place in a transaction")
                .help("what stands here runs by itself: end it in `;`");
        }
        if self.implicit.is_some() && control != Control::Other {
            diagnostics.error(text.span(), format!("`{}` without a BEGIN before it", text.text)).help(
                "the lab adds BEGIN and COMMIT; write both yourself, or end the call by `\\reject` or `\\rollback`",
            );
        }
    }

    /// Whether a command may stand in this kind of body, and where it stands.
    fn check_place(&mut self, command: &Command<'_>, word: Slice<'_>) {
        let diagnostics = &mut *self.context.diagnostics;
        let needs_transaction = matches!(
            command,
            Command::Step(_) | Command::Reject { .. } | Command::Sleep { .. } | Command::Crash | Command::Effect(_)
        );
        if self.kind == Kind::Script && needs_transaction {
            diagnostics.error(word.span(), format!("`\\{}` has its place in a transaction", word.text)).help(
                "what stands here runs by itself, in no schedule: only statements and `\\set`, `\\if` and the like",
            );
        }
        if let Command::Connect(name) = command {
            if name.text != "main" && !self.context.connections.contains(&name.text) {
                let known = self.context.connections.iter().map(String::as_str).chain(["main"]);
                diagnostics.unknown("database or pool", name.span, &name.text, known);
            }
            if self.implicit.is_some() && !self.begin_due {
                diagnostics
                    .error(word.span(), "`\\connect` inside a transaction whose BEGIN and COMMIT the lab adds")
                    .help("write BEGIN and COMMIT where they belong, or mark the transaction `autocommit`");
            }
        }
    }

    fn run(&mut self, command: Command<'_>, word: Slice<'_>) {
        let span = word.span();
        match command {
            Command::Set { name, value } => {
                let value = self.client_expression(value);
                self.scope.set(&name.text);
                self.command(Action::Set { name: name.text, value }, span);
            }
            Command::If(condition) => self.begin_if(condition, span),
            Command::Elif(condition) => self.next_branch(Some(condition), span),
            Command::Else => self.next_branch(None, span),
            Command::While(condition) => self.begin_while(condition, span),
            Command::Try => self.begin_try(span),
            Command::On(sqlstates) => self.begin_arm(sqlstates, span),
            Command::EndIf | Command::EndWhile | Command::EndTry => self.end_block(word.text, span),
            Command::Step(name) => {
                if let Some(empty) = self.steps.open(&name.text, name.span) {
                    self.empty_step(empty);
                }
            }
            Command::Reject { text, commit } => {
                if commit && self.kind != (Kind::Transaction { autocommit: true }) {
                    self.writes.reject(span, self.context.diagnostics);
                }
                let text = self.prose(text);
                self.command(Action::Reject { text, commit }, span);
            }
            Command::Echo(text) => {
                let text = self.prose(text);
                self.command(Action::Echo(text), span);
            }
            Command::Sleep { milliseconds } => {
                self.command(Action::Sleep { milliseconds }, span);
            }
            Command::Crash => {
                self.command(Action::Crash, span);
            }
            Command::Effect(statement) => {
                let statement = self.expression(statement);
                self.command(Action::Effect(statement), span);
            }
            Command::Connect(name) => {
                self.command(Action::Connect { name: name.text }, span);
            }
        }
    }

    fn expression(&mut self, text: Slice<'_>) -> Template {
        let template = templates::sql(text, self.context.diagnostics);
        self.scope.uses(&template);
        template
    }

    /// An expression that the client evaluates by itself.
    fn client_expression(&mut self, text: Slice<'_>) -> Template {
        if let Some(table) = table_read(text) {
            self.context
                .diagnostics
                .error(table.span(), format!("an expression reads no table, and `{}` looks like one", table.text))
                .help("read it by a statement that ends in `\\gset`: its columns become variables");
        }
        self.expression(text)
    }

    fn prose(&mut self, text: Slice<'_>) -> Template {
        let template = templates::prose(text);
        self.scope.uses(&template);
        template
    }

    /// Adds an operation that does something; its index.
    fn command(&mut self, action: Action, span: Span) -> usize {
        if !matches!(action, Action::Set { .. } | Action::Connect { .. } | Action::Echo(_)) {
            self.begin();
        }
        let step = self.steps.of_command(&mut self.ops);
        self.push(step, action, span)
    }

    /// Adds an operation that only leads from block to block; its index.
    fn jump(&mut self, action: Action, span: Span) -> usize {
        self.begin();
        let step = self.steps.of_jump(&self.ops);
        self.push(step, action, span)
    }

    fn push_statement(&mut self, statement: Statement, span: Span) {
        let step = self.steps.of_statement(statement.control, &mut self.ops);
        self.push(step, Action::Statement(statement), span);
    }

    fn push(&mut self, step: usize, action: Action, span: Span) -> usize {
        self.ops.push(Op { step, action, span });
        self.ops.len() - 1
    }

    /// Adds the BEGIN that the body does not have, once.
    fn begin(&mut self) {
        if let Some(owner) = self.implicit
            && std::mem::take(&mut self.begin_due)
        {
            self.push_statement(implicit(Control::Begin, "BEGIN", owner), owner);
        }
    }

    fn empty_step(&mut self, span: Span) {
        self.context
            .diagnostics
            .error(span, "this step has nothing in it")
            .help("`\\step` names the statements below it, up to the next one");
    }

    fn finish(mut self) -> Compiled {
        self.end_body();
        if let Some(empty) = self.steps.empty() {
            self.empty_step(empty);
        }
        if let Some(owner) = self.implicit
            && !self.begin_due
        {
            self.push_statement(implicit(Control::Commit, "COMMIT", owner), owner);
        }
        self.steps.finish(&mut self.ops);
        // What `\reject` and `\rollback` end a call with is a step, whether the body has one of that name or not.
        let rejects = self.ops.iter().any(|op| matches!(op.action, Action::Reject { .. }));
        if rejects && self.steps.names.last().is_none_or(|last| last != "commit") {
            self.steps.names.push("commit".to_owned());
        }
        let names = self.scope.finish(self.context.diagnostics);
        Compiled { program: Program { ops: self.ops, steps: self.steps.names }, names }
    }
}

fn implicit(control: Control, sql: &str, span: Span) -> Statement {
    let text = Template { pieces: vec![Piece::Text { text: sql.to_owned(), span }], span };
    Statement { text, capture: None, lost: false, control, implicit: true }
}
