//! `--format` and `--report FORMAT=PATH`: which form the results take, and where each goes.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::context::Context;
use super::exit::UsageError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    /// For a pull request; of `matrix`.
    Markdown,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// What standard output gets.
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Write a report to a file as well; `-` is standard output. Repeatable.
    #[arg(long = "report", value_name = "FORMAT=PATH")]
    pub reports: Vec<Target>,
}

/// `json=results.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    format: Format,
    path: PathBuf,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let (format, path) = text.split_once('=').ok_or("write FORMAT=PATH, as in json=results.json")?;
        let format = Format::from_str(format, false)
            .map_err(|_| format!("unknown format `{format}`; the formats are text, json and markdown"))?;
        match path {
            "" => Err("the path is missing".to_owned()),
            path => Ok(Target { format, path: path.into() }),
        }
    }
}

/// The open targets of one command. Files are opened before the run, so that a bad path fails early.
pub struct Reports {
    pub format: Format,
    targets: Vec<(Format, PathBuf, File)>,
    /// The format of a report that was sent to standard output by `-`.
    redirected: Option<Format>,
}

impl Reports {
    /// `supported`: the formats that the command has.
    pub fn open(args: &ReportArgs, supported: &[Format]) -> anyhow::Result<Reports> {
        let mut formats = args.reports.iter().map(|target| target.format).chain([args.format]);
        if let Some(format) = formats.find(|format| !supported.contains(format)) {
            let name = format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            return Err(UsageError::new(format!("this command writes no {name}")).into());
        }
        let mut reports = Reports { format: args.format, targets: Vec::new(), redirected: None };
        for target in &args.reports {
            if target.path.as_os_str() == "-" {
                if reports.redirected.is_some() || args.format != Format::Text {
                    return Err(UsageError::new("two reports cannot both go to standard output").into());
                }
                reports.redirected = Some(target.format);
            } else {
                let file = File::create(&target.path)
                    .with_context(|| format!("cannot write the report {}", target.path.display()))?;
                reports.targets.push((target.format, target.path.clone(), file));
            }
        }
        Ok(reports)
    }

    /// What standard output gets.
    pub fn stdout(&self) -> Format {
        self.redirected.unwrap_or(self.format)
    }

    /// Whether anybody wants this format.
    pub fn wants(&self, format: Format) -> bool {
        self.stdout() == format || self.targets.iter().any(|(wanted, _, _)| *wanted == format)
    }

    /// Writes a finished report to every file that wants it, and to standard output where that is still to be done:
    /// text goes there while the run goes on.
    pub fn write(&mut self, format: Format, text: &str, context: &mut Context) -> anyhow::Result<()> {
        if self.stdout() == format && format != Format::Text {
            context.say(text)?;
        }
        for (_, path, file) in self.targets.iter_mut().filter(|(wanted, _, _)| *wanted == format) {
            file.write_all(text.as_bytes()).with_context(|| format!("cannot write the report {}", path.display()))?;
        }
        Ok(())
    }
}
