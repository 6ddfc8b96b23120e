//! `isolab lint`: every mistake in scenario files, without a server.

use clap::Args;

use super::context::Context;
use super::exit::Exit;
use crate::scenario::{Diagnostic, LoadError, Severity, open, render};

#[derive(Debug, Args)]
pub struct LintArgs {
    /// Scenario files, or names of built-in scenarios.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

/// Draws mistakes and warnings on standard error; a word that all is well is the result.
pub fn run(args: &LintArgs, context: &mut Context) -> anyhow::Result<Exit> {
    let colour = context.error_style.colour;
    let count = |diagnostics: &[Diagnostic]| {
        diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning).count()
    };
    let mut warnings = 0;
    let mut exit = Exit::Held;
    for file in &args.files {
        match open(file).and_then(|opened| opened.parse()) {
            Ok(parsed) => {
                warnings += count(&parsed.warnings);
                if !parsed.warnings.is_empty() {
                    context.note(&render(&parsed.warnings, &parsed.scenario.sources, colour));
                }
            }
            Err(LoadError::Invalid(mistakes)) => {
                exit = Exit::Invalid;
                warnings += count(&mistakes.diagnostics);
                context.note(&render(&mistakes.diagnostics, &mistakes.sources, colour));
            }
            Err(error) => {
                exit = Exit::Invalid;
                context.note(&format!("error: {error}\n"));
            }
        }
    }
    if exit == Exit::Held {
        let files = counted(args.files.len(), "file");
        let warned = if warnings == 0 { String::new() } else { format!(", {}", counted(warnings, "warning")) };
        context.say(&format!("{files}, no mistakes{warned}\n"))?;
    }
    Ok(exit)
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
