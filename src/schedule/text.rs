//! A schedule as text that a shell leaves alone: `alice.2 bob.2 alice bob` (two statements of alice, two of bob, …). Where
//! that gets long, sessions are named by their number: `1.2 2.2 1 2`.

use std::fmt;

/// The sessions, by index, in the order in which their statements start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    pub choices: Vec<usize>,
}

/// Why a text is not a schedule of these sessions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    #[error("the schedule names session `{name}`; the sessions are {known}")]
    UnknownSession { name: String, known: String },
    #[error("`{part}` is not a move of a schedule: write a session's name, or name.count as in `alice.2`")]
    Malformed { part: String },
}

/// A longer text names sessions by number.
const LONGEST: usize = 199;
/// More moves of one session in a row than any run has statements.
const MOST_REPEATS: usize = 100_000;

impl Schedule {
    /// The text, with the sessions' names, or with their numbers where it would be longer than [`LONGEST`].
    pub fn text(&self, names: &[&str]) -> String {
        let text = self.written(names);
        if text.len() <= LONGEST || names.iter().any(|name| name.parse::<usize>().is_ok()) {
            return text;
        }
        let numbers: Vec<String> = (1..=names.len()).map(|number| number.to_string()).collect();
        self.written(&numbers.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn written(&self, names: &[&str]) -> String {
        let runs = self.choices.chunk_by(|left, right| left == right);
        let parts: Vec<String> = runs
            .filter_map(|run| {
                let name = names.get(*run.first()?)?;
                Some(if run.len() == 1 { (*name).to_owned() } else { format!("{name}.{}", run.len()) })
            })
            .collect();
        parts.join(" ")
    }

    pub fn parse(text: &str, names: &[&str]) -> Result<Schedule, ScheduleError> {
        let mut choices = Vec::new();
        for part in text.split_whitespace() {
            let (name, count) = match part.rsplit_once('.') {
                None => (part, 1),
                Some((name, count)) => match count.parse() {
                    Ok(count) if (1..=MOST_REPEATS).contains(&count) => (name, count),
                    _ => return Err(ScheduleError::Malformed { part: part.to_owned() }),
                },
            };
            let by_number = || name.parse::<usize>().ok()?.checked_sub(1).filter(|session| *session < names.len());
            let Some(session) = names.iter().position(|known| *known == name).or_else(by_number) else {
                return Err(ScheduleError::UnknownSession { name: name.to_owned(), known: names.join(", ") });
            };
            choices.extend(std::iter::repeat_n(session, count));
        }
        Ok(Schedule { choices })
    }
}

/// Sessions by number; for messages use [`Schedule::text`].
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.choices.iter().map(usize::to_string).collect();
        f.write_str(&numbers.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 2] = ["alice", "bob-2"];

    #[test]
    fn text_and_back() {
        let schedule = Schedule { choices: vec![0, 0, 1, 0, 1, 1, 1] };
        assert_eq!(schedule.text(&NAMES), "alice.2 bob-2 alice bob-2.3");
        assert_eq!(Schedule::parse("alice.2 bob-2 alice bob-2.3", &NAMES), Ok(schedule));
        assert_eq!(Schedule::parse("  ", &NAMES), Ok(Schedule::default()));
    }

    #[test]
    fn a_session_may_be_named_by_its_number() {
        assert_eq!(Schedule::parse("1.2 bob-2 2", &NAMES), Ok(Schedule { choices: vec![0, 0, 1, 1] }));
        assert_eq!(Schedule::parse("2", &["2", "1"]), Ok(Schedule { choices: vec![0] }), "a name comes first");
        assert!(Schedule::parse("3", &NAMES).is_err() && Schedule::parse("0", &NAMES).is_err());
    }

    proptest! {
        #[test]
        fn forty_steps_take_less_than_two_hundred_characters(
            names in proptest::collection::hash_set("[a-z][a-z0-9_-]{0,20}", 12),
            choices in proptest::collection::vec(0..12usize, 0..=40),
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let schedule = Schedule { choices };
            let text = schedule.text(&names);
            prop_assert!(text.len() < 200, "{}", text);
            // Between single quotes a shell takes it as it is.
            prop_assert!(text.chars().all(|c| c.is_ascii_alphanumeric() || "-_. ".contains(c)));
            prop_assert_eq!(Schedule::parse(&text, &names), Ok(schedule));
        }
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = Schedule::parse("carol", &NAMES).unwrap_err().to_string();
        assert_eq!(unknown, "the schedule names session `carol`; the sessions are alice, bob-2");
        assert!(matches!(Schedule::parse("alice.x", &NAMES), Err(ScheduleError::Malformed { .. })));
        assert!(matches!(Schedule::parse("alice.0", &NAMES), Err(ScheduleError::Malformed { .. })));
    }
}
