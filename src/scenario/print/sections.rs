//! Sections as text.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::body::{Kind, body};
use super::load::load;
use crate::program::{Action, Control, Program};
use crate::scenario::model::{
    Call, Comparison, Expect, Level, Move, Plan, Requirement, Retry, Scenario, Script, Session, Transaction, Variant,
};

/// A section of a certain kind and name: what a fix can replace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Printed {
    pub kind: &'static str,
    pub name: String,
    /// Header and body, with a line break at the end.
    pub text: String,
}

impl Printed {
    pub fn new(kind: &'static str, name: &str, header: &str) -> Printed {
        let space = if header.is_empty() { "" } else { " " };
        Printed { kind, name: name.to_owned(), text: format!("-- @{kind}{space}{header}\n") }
    }

    fn with(mut self, below: &str) -> Printed {
        self.text += below;
        self
    }

    /// Sections of these kinds add to those of the scenario as written.
    fn is_added(&self) -> bool {
        matches!(self.kind, "requires" | "schema" | "setup")
    }

    /// Sections of these kinds take the place of those as written.
    pub fn replaces(&self) -> bool {
        !self.is_added() && self.changes_something()
    }

    /// The same in other words, by a comment below its header.
    pub fn repeated(self) -> Printed {
        Printed { text: self.text.replacen('\n', "\n-- As above.\n", 1), ..self }
    }

    /// Whether a fix is more than a foresight with it.
    pub fn changes_something(&self) -> bool {
        self.kind != "expect"
    }

    /// Whether an empty line belongs between it and the next one.
    pub fn is_set_apart_from(&self, next: &Printed) -> bool {
        let is_line = |section: &Printed| section.text.matches('\n').count() == 1;
        match (self.kind, next.kind) {
            (_, "fix" | "variant") => true,
            ("fix" | "variant", _) => false,
            ("title", _) => true,
            (before, "expect") if before != "expect" => true,
            _ => !is_line(self) || !is_line(next),
        }
    }
}

/// What belongs to the file as a whole.
pub fn of_file(scenario: &Scenario) -> Vec<Printed> {
    // A header goes on in the comment below it where it ends in one of these.
    let apart = if scenario.title.ends_with([',', ';']) { "\n" } else { "" };
    let story = comments(&scenario.story);
    let mut sections = vec![Printed::new("title", "", &scenario.title).with(&format!("{apart}{story}"))];
    sections.extend(scenario.databases.iter().map(|name| Printed::new("database", name, name)));
    sections.extend(scenario.pools.iter().map(|name| Printed::new("pool", name, name)));
    let params = scenario.params.iter();
    sections.extend(
        params.map(|param| Printed::new("param", &param.name, &format!("{} = {}", param.name, param.value.written()))),
    );
    sections.extend(scenario.load.iter().flat_map(load));
    sections
}

/// The line that begins a fix or variant, and its comments.
pub fn of_variant(variant: &Variant) -> Printed {
    let kind = if variant.is_fix { "fix" } else { "variant" };
    let at = if variant.levels.is_empty() { String::new() } else { format!(" at {}", levels(&variant.levels)) };
    Printed::new(kind, &variant.name, &format!("{}{at}", variant.name)).with(&comments(&variant.story))
}

/// All sections of one form.
pub fn of_plan(plan: &Plan) -> Vec<Printed> {
    let mut sections: Vec<Printed> =
        plan.requires.iter().map(|it| Printed::new("requires", "", &required(it))).collect();
    sections.extend(plan.schema.iter().map(|it| Printed::new("schema", "", "").with(&script(it))));
    sections.extend(plan.setup.iter().map(|it| Printed::new("setup", "", "").with(&script(it))));
    sections.extend(plan.transactions.iter().map(|it| transaction(it)));
    sections.extend(plan.sessions.iter().map(|it| session("session", it, plan)));
    if !plan.order.is_empty() {
        let moves: Vec<String> = plan.order.iter().map(|it| moved(it, plan)).collect();
        sections.push(Printed::new("order", "", &moves.join(", ")));
    }
    sections.extend(plan.retry.iter().map(|it| Printed::new("retry", "", &retried(it))));
    sections.extend(plan.finally.iter().map(|it| session("finally", it, plan)));
    sections.extend(plan.checks.iter().map(|it| Printed::new("check", &it.name, &it.name).with(&script(&it.script))));
    sections.extend(plan.measures.iter().map(|it| {
        let unit = it.unit.as_ref().map(|unit| format!(" in {unit}")).unwrap_or_default();
        Printed::new("measure", &it.name, &format!("{}{unit}", it.name)).with(&script(&it.script))
    }));
    sections.extend(plan.expects.iter().map(|it| Printed::new("expect", "", &expected(it))));
    sections
}

/// The sections that a fix has to say itself, to become a form with all of `sections`.
pub fn own(as_written: &[Printed], sections: &[Printed]) -> Vec<Printed> {
    let mut inherited: HashMap<&Printed, usize> = HashMap::new();
    for section in as_written.iter().filter(|section| section.changes_something()) {
        *inherited.entry(section).or_default() += 1;
    }
    let mut own = Vec::new();
    for section in sections {
        match inherited.get_mut(section) {
            Some(count) if *count > 0 => *count -= 1,
            _ => own.push(section.clone()),
        }
    }
    own
}

fn transaction(transaction: &Transaction) -> Printed {
    let Transaction { name, params, program, .. } = transaction;
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    let header = format!("{name}{params}{}", autocommit(program));
    Printed::new("transaction", name, &header).with(&body(program, Kind::Transaction))
}

fn session(kind: &'static str, session: &Session, plan: &Plan) -> Printed {
    let at = session.level.map(|level| format!(" at {level}")).unwrap_or_default();
    let name = &session.name;
    match session.calls.as_slice() {
        [Call { transaction, .. }] if !plan.transactions.iter().any(|known| Arc::ptr_eq(known, transaction)) => {
            let header = format!("{name}{at}{}", autocommit(&transaction.program));
            Printed::new(kind, name, &header).with(&body(&transaction.program, Kind::Transaction))
        }
        calls => {
            let calls: Vec<String> = calls.iter().map(Call::written).collect();
            Printed::new(kind, name, &format!("{name}{at}: {}", calls.join("; ")))
        }
    }
}

/// A body without a BEGIN, to which none was added, says so in its header.
fn autocommit(program: &Program) -> &'static str {
    let begins = program.ops.iter().any(|op| match &op.action {
        Action::Statement(statement) => statement.implicit || statement.control == Control::Begin,
        _ => false,
    });
    if begins { "" } else { " autocommit" }
}

fn script(script: &Script) -> String {
    body(&script.program, Kind::Script)
}

fn required(requirement: &Requirement) -> String {
    match requirement {
        Requirement::Version { comparison, version } => format!("version {}", compared(*comparison, *version)),
        Requirement::Extension(name) => format!("extension {name}"),
        Requirement::Database => "database".to_owned(),
        Requirement::Setting { name, comparison, value } => {
            let is_plain = !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
            let quote = if is_plain { "" } else { "'" };
            format!("{name} {} {quote}{value}{quote}", comparison.symbol())
        }
    }
}

fn compared(comparison: Comparison, version: u32) -> String {
    format!("{} {version}", comparison.symbol())
}

fn moved(next: &Move, plan: &Plan) -> String {
    let named = |session: usize| plan.sessions.get(session).map_or("", |session| session.name.as_str());
    match next {
        Move::Wait { session, .. } => format!("wait {}", named(*session)),
        Move::Step { session, transaction: None, step, .. } => format!("{} {step}", named(*session)),
        Move::Step { session, transaction: Some(transaction), step, .. } => {
            format!("{} {transaction}.{step}", named(*session))
        }
    }
}

fn retried(retry: &Retry) -> String {
    let also = if retry.also.is_empty() { String::new() } else { format!(" also {}", retry.also.join(", ")) };
    format!("{}{also}", retry.attempts)
}

fn expected(expect: &Expect) -> String {
    let on = expect.version.map(|(comparison, version)| format!(" on {}", compared(comparison, version)));
    format!("{}{}: {}", levels(&expect.levels), on.unwrap_or_default(), expect.written())
}

fn levels(levels: &[Level]) -> String {
    if levels == Level::ALL {
        return "all".to_owned();
    }
    levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ")
}

/// As comment lines; one that begins with `@` must not become a section.
fn comments(text: &str) -> String {
    let line = |line: &str| match line.chars().next() {
        None => "--\n".to_owned(),
        Some('@') => format!("--{line}\n"),
        Some(_) => format!("-- {line}\n"),
    };
    if text.is_empty() { String::new() } else { text.split('\n').map(line).collect() }
}

/// As one word: `90s`.
pub fn duration(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    match units.into_iter().find(|(unit, _)| nanoseconds.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", nanoseconds / unit),
        None => format!("{nanoseconds}ns"),
    }
}
