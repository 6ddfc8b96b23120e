//! A scenario as text that reads as the same scenario again.
//!
//! What the model does not hold is lost: comments but those of titles and fixes, and the author's layout. What it holds
//! comes out in one way only, so that two forms of a scenario can be compared line by line.

mod body;
mod load;
mod sections;
mod steps;

use sections::{Printed, of_file, of_plan, of_variant, own};

use super::model::{Plan, Scenario, Variant};

/// The whole file: as written, then every fix and variant with what it changes.
pub fn print(scenario: &Scenario) -> String {
    let as_written = of_plan(&scenario.as_written);
    let mut sections = of_file(scenario);
    sections.extend(as_written.iter().cloned());
    for variant in &scenario.variants {
        sections.push(of_variant(variant));
        sections.extend(changes(&as_written, variant));
    }
    joined(&sections)
}

/// One form as a scenario of its own: as written, or what a fix or variant makes of it, with its name and comments above.
pub fn print_form(scenario: &Scenario, variant: Option<&Variant>) -> String {
    let plan: &Plan = variant.map_or(&scenario.as_written, |variant| &variant.plan);
    let mut sections: Vec<Printed> = variant.map(of_variant).into_iter().collect();
    sections.extend(of_plan(plan));
    joined(&sections)
}

/// The sections that make a variant of what is written; at least one where it has no level of its own, since a fix that
/// says nothing, or nothing but the same words, is a mistake.
fn changes(as_written: &[Printed], variant: &Variant) -> Vec<Printed> {
    let sections = of_plan(&variant.plan);
    let changes = own(as_written, &sections);
    if changes.iter().any(Printed::changes_something) || !variant.levels.is_empty() {
        return changes;
    }
    let repeated = sections.into_iter().find(Printed::replaces).map(Printed::repeated);
    repeated.into_iter().chain(changes).collect()
}

/// Header lines stand together; a section with a body has an empty line on either side.
fn joined(sections: &[Printed]) -> String {
    let mut text = String::new();
    let mut before: Option<&Printed> = None;
    for section in sections {
        if before.is_some_and(|before| before.is_set_apart_from(section)) {
            text.push('\n');
        }
        text += &section.text;
        before = Some(section);
    }
    text
}
