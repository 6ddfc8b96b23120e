//! `isolab lint`: every mistake in scenario files, without a server.

use std::io::Write;

use clap::Args;

use crate::scenario::{LoadError, Severity, open, render};

#[derive(Debug, Args)]
pub struct LintArgs {
    /// Scenario files, or names of built-in scenarios.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

/// Draws mistakes and warnings on `problems`; a word that all is well goes to `out`. The exit code is 2 where a file is
/// invalid.
pub fn run(args: &LintArgs, out: &mut dyn Write, problems: &mut dyn Write, colour: bool) -> anyhow::Result<u8> {
    let mut warnings = 0;
    let mut invalid = false;
    for file in &args.files {
        match open(file).and_then(|opened| opened.parse()) {
            Ok(parsed) => {
                warnings += parsed.warnings.len();
                if !parsed.warnings.is_empty() {
                    writeln!(problems, "{}", render(&parsed.warnings, &parsed.scenario.sources, colour))?;
                }
            }
            Err(LoadError::Invalid(mistakes)) => {
                invalid = true;
                warnings += mistakes.diagnostics.iter().filter(|mistake| mistake.severity == Severity::Warning).count();
                writeln!(problems, "{}", render(&mistakes.diagnostics, &mistakes.sources, colour))?;
            }
            Err(error) => {
                invalid = true;
                writeln!(problems, "error: {error}\n")?;
            }
        }
    }
    if invalid {
        return Ok(2);
    }
    let files = counted(args.files.len(), "file");
    match warnings {
        0 => writeln!(out, "{files}, no mistakes")?,
        _ => writeln!(out, "{files}, no mistakes, {}", counted(warnings, "warning"))?,
    }
    Ok(0)
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
