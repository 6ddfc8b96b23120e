//! The built-in scenarios, embedded with the paths that they have in the repository.

use std::path::{Component, Path, PathBuf};

use include_dir::{Dir, DirEntry, include_dir};

use super::files::{FileReader, ReadError};
use super::load::LoadError;
use super::model::Scenario;
use super::parser::parse;

static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");
const SCENARIOS_FOLDER: &str = "scenarios";
const SCHEMA: &str = include_str!("../../schema.sql");
const SCHEMA_PATH: &str = "schema.sql";

/// A scenario that comes with the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Builtin {
    /// Its file's name without folder and ending: `write-skew`.
    pub name: &'static str,
    /// Its path in the repository: `scenarios/write-skew/write-skew.sql`.
    pub path: PathBuf,
    pub text: &'static str,
}

/// The family of the scenarios that lie in no folder of their own: what `isolab load` is shown with.
const NO_FOLDER: &str = "load";

impl Builtin {
    /// The folder that it lies in: `write-skew`.
    pub fn family(&self) -> &str {
        let folder = self.path.parent().filter(|folder| *folder != Path::new(SCENARIOS_FOLDER));
        folder.and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or(NO_FOLDER)
    }

    /// What it says.
    pub fn parse(&self) -> Result<Scenario, LoadError> {
        parse(&Embedded, &self.path, self.text).map(|parsed| parsed.scenario).map_err(LoadError::Invalid)
    }
}

/// All built-in scenarios, by their paths.
pub fn builtin() -> impl Iterator<Item = Builtin> {
    let mut found = Vec::new();
    collect(&SCENARIOS, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.into_iter()
}

fn collect(folder: &Dir<'static>, found: &mut Vec<Builtin>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(folder) => collect(folder, found),
            DirEntry::File(file) if file.path().extension().is_some_and(|ending| ending == "sql") => {
                let name = file.path().file_stem().and_then(|stem| stem.to_str());
                if let (Some(name), Some(text)) = (name, file.contents_utf8()) {
                    found.push(Builtin { name, path: Path::new(SCENARIOS_FOLDER).join(file.path()), text });
                }
            }
            DirEntry::File(_) => {}
        }
    }
}

/// The embedded files, by their paths in the repository.
#[derive(Debug, Clone, Copy)]
pub struct Embedded;

impl FileReader for Embedded {
    fn read(&self, path: &Path) -> Result<String, ReadError> {
        let path = without_dots(path);
        if path == Path::new(SCHEMA_PATH) {
            return Ok(SCHEMA.to_owned());
        }
        let inside = path.strip_prefix(SCENARIOS_FOLDER).map_err(|_| ReadError::NotFound)?;
        let file = SCENARIOS.get_file(inside).ok_or(ReadError::NotFound)?;
        file.contents_utf8().map(str::to_owned).ok_or(ReadError::NotUtf8 { line: 1 })
    }
}

/// `scenarios/../schema.sql` is `schema.sql`.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_scenario_is_free_of_mistakes() {
        for builtin in builtin() {
            let parsed = parse(&Embedded, &builtin.path, builtin.text);
            let warnings = parsed.map(|parsed| parsed.warnings).map_err(|mistakes| mistakes.diagnostics);
            assert_eq!(warnings, Ok(Vec::new()), "{}", builtin.name);
        }
    }

    #[test]
    fn the_catalogue_is_what_the_folder_holds() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCENARIOS_FOLDER);
        assert_eq!(builtin().count(), count(&folder), "a new file is embedded when this crate is built again");
    }

    fn count(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .map(|path| match path.is_dir() {
                true => count(&path),
                false => usize::from(path.extension().is_some_and(|ending| ending == "sql")),
            })
            .sum()
    }

    #[test]
    fn every_bug_has_a_family_and_a_formal_name() {
        for builtin in builtin().filter(|builtin| builtin.family() != NO_FOLDER) {
            let scenario = builtin.parse().unwrap();
            let formal_name = scenario.formal_name().unwrap_or_default();
            assert!(!formal_name.is_empty() && !formal_name.ends_with('.'), "{}: {formal_name}", builtin.name);
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = builtin().map(|builtin| builtin.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
