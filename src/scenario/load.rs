//! Finds a scenario by its name or path.

use std::path::{Path, PathBuf};

use super::builtin::{Embedded, builtin};
use super::files::{Disk, FileReader, ReadError};
use super::model::Scenario;
use super::nearest::nearest;
use super::parser::{Mistakes, Parsed, parse, whole};
use super::render;

/// How the names of PostgreSQL's own isolation tests end.
const SPEC: &str = "spec";

/// Why there is no scenario.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("no scenario is called `{name}`{}", suggestion(.nearest.as_deref()))]
    Unknown { name: String, nearest: Option<String> },
    #[error("cannot read `{}`: {error}", .path.display())]
    Unreadable { path: PathBuf, error: ReadError },
    #[error("`{}` is empty", .path.display())]
    Empty { path: PathBuf },
    #[error("{}", .0.summary())]
    Invalid(Mistakes),
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(|| "; `isolab list` names them all".to_owned(), |name| format!("; did you mean `{name}`?"))
}

impl LoadError {
    /// The mistakes of an invalid file, drawn with their places; none for other errors.
    pub fn drawn(&self, colour: bool) -> Option<String> {
        match self {
            LoadError::Invalid(mistakes) => Some(render(&mistakes.diagnostics, &mistakes.sources, colour)),
            _ => None,
        }
    }
}

/// The text of a scenario, and where the files that it names are read from.
pub struct Opened {
    pub files: Box<dyn FileReader>,
    pub path: PathBuf,
    pub text: String,
}

impl Opened {
    pub fn parse(&self) -> Result<Parsed, LoadError> {
        if self.path.extension().is_some_and(|ending| ending == SPEC) {
            return self.parse_spec();
        }
        parse(self.files.as_ref(), &self.path, &self.text).map_err(LoadError::Invalid)
    }

    fn parse_spec(&self) -> Result<Parsed, LoadError> {
        match crate::spec::parse(&self.path.display().to_string(), self.text.clone()) {
            Ok(file) => Ok(Parsed { scenario: Scenario::from(&file), warnings: Vec::new() }),
            Err(refused) => {
                Err(LoadError::Invalid(Mistakes { sources: refused.sources, diagnostics: refused.mistakes }))
            }
        }
    }

    /// The text with what it refers to put in place, so that a copy of it needs no other file.
    pub fn whole(&self) -> Result<String, LoadError> {
        let rows = self.parse()?.scenario.load.and_then(|load| load.rows);
        whole(self.files.as_ref(), &self.path, &self.text, rows.as_ref())
            .map_err(|error| LoadError::Unreadable { path: self.path.clone(), error })
    }
}

/// The built-in scenario of this name, otherwise the file at this path.
pub fn open(path_or_name: &str) -> Result<Opened, LoadError> {
    if let Some(found) = builtin().find(|builtin| builtin.name == path_or_name) {
        return Ok(Opened { files: Box::new(Embedded), path: found.path, text: found.text.to_owned() });
    }
    let path = Path::new(path_or_name);
    let is_name = !path_or_name.contains(['/', '\\', '.']);
    if is_name && !path.exists() {
        let names: Vec<&str> = builtin().map(|builtin| builtin.name).collect();
        let nearest = nearest(path_or_name, names).map(str::to_owned);
        return Err(LoadError::Unknown { name: path_or_name.to_owned(), nearest });
    }
    let path = path.to_owned();
    match Disk.read(&path) {
        Ok(text) if text.trim().is_empty() => Err(LoadError::Empty { path }),
        Ok(text) => Ok(Opened { files: Box::new(Disk), path, text }),
        Err(error) => Err(LoadError::Unreadable { path, error }),
    }
}

/// A scenario by the name of a built-in one, or by the path of its file.
pub fn load(path_or_name: &str) -> Result<Scenario, LoadError> {
    Ok(open(path_or_name)?.parse()?.scenario)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn said(path_or_name: &str) -> String {
        load(path_or_name).unwrap_err().to_string()
    }

    #[test]
    fn a_builtin_scenario_is_found_by_its_name() {
        let scenario = load("write-skew").unwrap();
        assert_eq!(scenario.name, "write-skew");
        assert_eq!(scenario.sources.files[0].name, "scenarios/write-skew/write-skew.sql");
    }

    #[test]
    fn a_name_that_is_none_is_met_with_the_nearest() {
        assert_eq!(said("wrote-skew"), "no scenario is called `wrote-skew`; did you mean `write-skew`?");
        assert_eq!(said("zzz"), "no scenario is called `zzz`; `isolab list` names them all");
    }

    #[test]
    fn a_file_that_is_no_text_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            path.display().to_string()
        };
        let latin = file("latin.sql", b"-- @title a\n-- caf\xe9\n");
        assert_eq!(said(&latin), format!("cannot read `{latin}`: it is not UTF-8: the first bad byte is in line 2"));
        let empty = file("empty.sql", b" \n");
        assert_eq!(said(&empty), format!("`{empty}` is empty"));
        let large = file("large.sql", &vec![b'-'; 5 * 1024 * 1024]);
        assert_eq!(said(&large), format!("cannot read `{large}`: it is larger than 4 MiB"));
        let missing = folder.path().join("missing.sql").display().to_string();
        assert_eq!(said(&missing), format!("cannot read `{missing}`: no such file"));
        let itself = folder.path().display().to_string();
        assert_eq!(said(&itself), format!("cannot read `{itself}`: it is a folder"));
    }
}
