//! The files that the command line names, read.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::commands::exit::UsageError;
use crate::scenario::source::Sources;
use crate::spec::{Refused, SpecFile, parse};

/// A `.spec` file that was read.
pub struct Input {
    /// Without its folder: `eval-plan-qual.spec`.
    pub file: String,
    pub parsed: Result<SpecFile, Refused>,
}

impl Input {
    pub fn sources(&self) -> &Sources {
        match &self.parsed {
            Ok(spec) => &spec.sources,
            Err(refused) => &refused.sources,
        }
    }
}

/// Files as they are named, and of a folder all that end in `.spec`, by name.
pub fn read_all(paths: &[PathBuf]) -> anyhow::Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for path in paths {
        if path.is_dir() {
            for file in specs_in(path)? {
                inputs.push(read(&file)?);
            }
        } else {
            inputs.push(read(path)?);
        }
    }
    Ok(inputs)
}

fn specs_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let unreadable = || format!("cannot read the folder {}", folder.display());
    let mut specs = Vec::new();
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "spec") && !path.is_dir() {
            specs.push(path);
        }
    }
    specs.sort();
    Ok(specs)
}

fn read(path: &Path) -> anyhow::Result<Input> {
    let unreadable = |reason: String| UsageError::new(format!("cannot read {}: {reason}", path.display()));
    let bytes = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Input { file, parsed: parse(&path.display().to_string(), text) })
}
