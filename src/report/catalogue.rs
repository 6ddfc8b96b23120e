//! `isolab list`: scenarios in their families, with what the literature calls the bug and what each level lets happen.

use serde::{Serialize, Serializer};

use super::Style;
use super::layout::{columns, pad, wrap};
use super::style::Ink;
use crate::scenario::{Comparison, ExpectedOutcome, Level, Scenario};

/// Before a scenario's name.
const INDENT: &str = "  ";

/// What a list says of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    pub name: String,
    pub family: String,
    pub title: String,
    pub formal_name: Option<String>,
    /// The comments below the title.
    pub story: String,
    /// Of fixes and variants.
    pub fixes: Vec<String>,
    /// What its `@expect`s foresee as written.
    pub expected: Vec<Foreseen>,
}

/// What an `@expect` foresees at one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Foreseen {
    pub isolation: Level,
    /// The major versions that it speaks of.
    #[serde(serialize_with = "version_text")]
    pub on: Option<(Comparison, u32)>,
    /// In the words of `@expect`.
    pub outcome: String,
    #[serde(skip)]
    pub happens: bool,
}

fn version_text<S: Serializer>(on: &Option<(Comparison, u32)>, serializer: S) -> Result<S::Ok, S::Error> {
    on.map(|(comparison, version)| format!("{} {version}", comparison.symbol())).serialize(serializer)
}

impl Entry {
    pub fn new(family: &str, scenario: &Scenario) -> Entry {
        let foreseen = scenario.as_written.expects.iter().flat_map(|expect| {
            expect.levels.iter().map(|level| Foreseen {
                isolation: *level,
                on: expect.version,
                outcome: expect.text.clone(),
                happens: matches!(expect.outcome, ExpectedOutcome::Happens(_)),
            })
        });
        Entry {
            name: scenario.name.clone(),
            family: family.to_owned(),
            title: scenario.title.clone(),
            formal_name: scenario.formal_name(),
            story: scenario.story.clone(),
            fixes: scenario.variants.iter().map(|variant| variant.name.clone()).collect(),
            expected: foreseen.collect(),
        }
    }

    /// Whether the bug is foreseen to happen at this level, on any version.
    pub fn happens_at(&self, level: Level) -> bool {
        self.happening(level).is_some()
    }

    /// Whether a word stands in its name, its texts or the names of its fixes, in any case of letters.
    pub fn mentions(&self, word: &str) -> bool {
        let texts = [&self.name, &self.family, &self.title, &self.story];
        let word = word.to_lowercase();
        texts.into_iter().chain(&self.fixes).any(|text| text.to_lowercase().contains(&word))
    }

    /// The versions on which alone it happens at this level: ` (on < 18)`.
    fn only_on(&self, level: Level) -> String {
        match self.happening(level).and_then(|foreseen| foreseen.on) {
            Some((comparison, version)) => format!(" (on {} {version})", comparison.symbol()),
            None => String::new(),
        }
    }

    fn happening(&self, level: Level) -> Option<&Foreseen> {
        self.expected.iter().find(|foreseen| foreseen.isolation == level.in_effect() && foreseen.happens)
    }
}

/// A heading for each family and below it a line for each scenario; `titles` adds each one's title, `level` the versions
/// on which it happens there.
pub fn render(style: Style, entries: &[Entry], level: Option<Level>, titles: bool) -> String {
    let mut lines = Vec::new();
    for family in entries.chunk_by(|a, b| a.family == b.family) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(style.paint(Ink::Heading, &family[0].family));
        let width = family.iter().map(|entry| columns(&entry.name)).max().unwrap_or_default();
        for entry in family {
            let told = entry.formal_name.as_ref().unwrap_or(&entry.title);
            let only_on = level.map(|level| entry.only_on(level)).unwrap_or_default();
            let margin = INDENT.len() + width + 2;
            let line = format!("{INDENT}{}  {told}{only_on}", pad(&entry.name, width));
            lines.extend(wrap(&line, style.width, margin));
            if titles && entry.formal_name.is_some() {
                let title = wrap(&format!("{}{}", " ".repeat(margin), entry.title), style.width, margin);
                lines.extend(title.iter().map(|line| style.paint(Ink::Aside, line)));
            }
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(family: &str, name: &str, formal_name: Option<&str>) -> Entry {
        let at = |isolation, on, happens| Foreseen { isolation, on, outcome: String::new(), happens };
        Entry {
            name: name.to_owned(),
            family: family.to_owned(),
            title: format!("What {name} does"),
            formal_name: formal_name.map(str::to_owned),
            story: "Two jobs meet.".to_owned(),
            fixes: vec!["for-update".to_owned()],
            expected: vec![
                at(Level::ReadCommitted, None, true),
                at(Level::Serializable, Some((Comparison::Less, 18)), true),
                at(Level::Serializable, Some((Comparison::GreaterOrEqual, 18)), false),
            ],
        }
    }

    #[test]
    fn families_have_a_heading_and_names_a_line() {
        let entries =
            [entry("queues", "a", Some("G2")), entry("queues", "a-long-one", Some("P4")), entry("load", "x", None)];
        let text = render(Style::PLAIN, &entries, None, false);
        assert_eq!(text, "queues\n  a           G2\n  a-long-one  P4\n\nload\n  x  What x does\n");
    }

    #[test]
    fn titles_stand_below_and_versions_behind() {
        let text = render(Style::PLAIN, &[entry("queues", "a", Some("G2"))], Some(Level::Serializable), true);
        assert_eq!(text, "queues\n  a  G2 (on < 18)\n     What a does\n");
    }

    #[test]
    fn entries_are_found_by_level_and_word() {
        let entry = entry("queues", "a", Some("G2"));
        assert!(entry.happens_at(Level::ReadCommitted) && entry.happens_at(Level::Serializable));
        assert!(!entry.happens_at(Level::RepeatableRead));
        assert!(entry.mentions("TWO jobs") && entry.mentions("for-up") && !entry.mentions("g2 "));
    }
}
