//! `isolab show`: a scenario's file, ready to copy and change, or what a fix changes in it.

use clap::Args;

use super::context::Context;
use super::exit::{Exit, UsageError};
use super::selection::forms;
use crate::report::difference::{Side, unified};
use crate::scenario::{Scenario, load, open, print_form};

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The name of a built-in scenario, or a file.
    #[arg(value_name = "NAME")]
    name: String,
    /// What this fix or variant changes, as a diff; given twice, what the second changes in the first; all: each of them.
    #[arg(long, value_name = "FIX")]
    fix: Vec<String>,
}

/// Prints the file whole, with what it refers to put in place: `isolab show NAME > mine.sql` gives a file that runs.
pub fn run(args: &ShowArgs, context: &mut Context) -> anyhow::Result<Exit> {
    if args.fix.is_empty() {
        context.say(&open(&args.name)?.whole()?)?;
        return Ok(Exit::Held);
    }
    let scenario = load(&args.name)?;
    for (old, new) in pairs(&scenario, &args.fix)? {
        let [(old_name, old_text), (new_name, new_text)] = [old, new].map(|form| written(&scenario, form));
        let [old, new] = [Side { name: &old_name, text: &old_text }, Side { name: &new_name, text: &new_text }];
        context.say(&unified(context.style, old, new))?;
    }
    Ok(Exit::Held)
}

/// What is compared with what: a form is a fix or variant, or as written for none.
type Pair<'a> = (Option<&'a str>, Option<&'a str>);

fn pairs<'a>(scenario: &'a Scenario, fixes: &[String]) -> Result<Vec<Pair<'a>>, UsageError> {
    match forms(scenario, fixes)?.as_slice() {
        [None, others @ ..] if !others.is_empty() => Ok(others.iter().map(|form| (None, *form)).collect()),
        [None] => Err(UsageError::new(format!("scenario {} has no fix or variant", scenario.name))),
        [one] => Ok(vec![(None, *one)]),
        [one, other] => Ok(vec![(*one, *other)]),
        _ => Err(UsageError {
            message: "only two forms can be compared".to_owned(),
            help: Some("give --fix once, twice, or as --fix all".to_owned()),
        }),
    }
}

/// A form's name as on the command line, and its text.
fn written(scenario: &Scenario, form: Option<&str>) -> (String, String) {
    let variant = form.and_then(|name| scenario.variant(name));
    let name = form.map_or_else(|| scenario.name.clone(), |name| format!("{} --fix {name}", scenario.name));
    (name, print_form(scenario, variant))
}
