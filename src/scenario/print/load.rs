//! `@load` and the rows that it takes from a file.

use super::sections::{Printed, duration};
use crate::scenario::model::{Load, LoadAmount, LoadArgument, LoadCall};
use crate::scenario::parser::file_section;

/// `@load`, and a `@file` where it takes rows from one.
pub fn load(load: &Load) -> Vec<Printed> {
    let calls: Vec<String> = load.calls.iter().map(call).collect();
    let amount = match load.amount {
        LoadAmount::Requests(requests) => format!("{requests} requests"),
        LoadAmount::For(time) => format!("for {}", duration(time)),
    };
    let mut clauses = vec![format!("{} by {} workers", calls.join("; "), load.workers), amount];
    clauses.extend(load.name.iter().map(|name| format!("as {name}")));
    clauses.extend(load.rows.iter().map(|rows| format!("from {}", rows.file)));
    // An expression may end in a comment.
    clauses.extend(load.set.iter().map(|(name, value)| format!("set {name} = {}", value.written())));
    let rows = load.rows.iter().filter_map(|rows| file_section(rows).ok().map(|text| (rows, text)));
    let file = rows.map(|(rows, text)| Printed { kind: "file", name: rows.file.clone(), text });
    std::iter::once(Printed::new("load", "", &clauses.join(", "))).chain(file).collect()
}

fn call(call: &LoadCall) -> String {
    if call.arguments.is_empty() {
        return call.transaction.clone();
    }
    let arguments = call.arguments.iter().map(|argument| match argument {
        LoadArgument::Expression(template) => template.written(),
        LoadArgument::Random { low, high } => format!("random({low}, {high})"),
    });
    format!("{}({})", call.transaction, arguments.collect::<Vec<_>>().join(", "))
}
