//! A schedule as text that a shell leaves alone: `alice.2 bob.2 alice bob` (two statements of alice, two of bob, …). Where
//! that gets long, sessions are named by their number: `1.2 2.2 1 2`.
//! What never moves is written with a 0: `carol.0` is a session, `alice/2.0` a statement, `alice/2-4.0` several.

use super::LeftOut;

/// The sessions, by index, in the order in which their statements start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    pub choices: Vec<usize>,
    pub left_out: LeftOut,
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
        let moves = runs.filter_map(|run| {
            let name = names.get(*run.first()?)?;
            Some(if run.len() == 1 { (*name).to_owned() } else { format!("{name}.{}", run.len()) })
        });
        moves.chain(self.left_out.parts(names)).collect::<Vec<_>>().join(" ")
    }

    pub fn parse(text: &str, names: &[&str]) -> Result<Schedule, ScheduleError> {
        let mut schedule = Schedule::default();
        for part in text.split_whitespace() {
            let malformed = || ScheduleError::Malformed { part: part.to_owned() };
            let known = |name: &str| names.iter().position(|known| *known == name);
            let session = |name: &str| {
                let unknown = || ScheduleError::UnknownSession { name: name.to_owned(), known: names.join(", ") };
                let by_number = || name.parse::<usize>().ok()?.checked_sub(1).filter(|session| *session < names.len());
                known(name).or_else(by_number).ok_or_else(unknown)
            };
            let Some((name, count)) = part.rsplit_once('.').filter(|_| known(part).is_none()) else {
                schedule.choices.push(session(part)?);
                continue;
            };
            match (count.parse::<usize>(), name.rsplit_once('/').filter(|_| known(name).is_none())) {
                (Ok(0), None) => {
                    schedule.left_out.sessions.insert(session(name)?);
                }
                (Ok(0), Some((name, numbers))) => {
                    let session = session(name)?;
                    let numbers = range(numbers).ok_or_else(malformed)?;
                    schedule.left_out.statements.extend(numbers.map(|number| (session, number)));
                }
                (Ok(count @ 1..=MOST_REPEATS), None) => {
                    schedule.choices.extend(std::iter::repeat_n(session(name)?, count));
                }
                _ => return Err(malformed()),
            }
        }
        Ok(schedule)
    }
}

impl LeftOut {
    /// The parts of a schedule's text that say what is left out.
    pub fn parts(&self, names: &[&str]) -> Vec<String> {
        let name = |session: &usize| names.get(*session).copied().unwrap_or_default();
        let mut parts: Vec<String> = self.sessions.iter().map(|session| format!("{}.0", name(session))).collect();
        let statements: Vec<(usize, usize)> = self.statements.iter().copied().collect();
        for run in statements.chunk_by(|left, right| left.0 == right.0 && left.1 + 1 == right.1) {
            let [(session, first), .., (_, last)] = run else {
                parts.extend(run.iter().map(|(session, number)| format!("{}/{number}.0", name(session))));
                continue;
            };
            parts.push(format!("{}/{first}-{last}.0", name(session)));
        }
        parts
    }
}

/// `2` or `2-4`.
fn range(numbers: &str) -> Option<impl Iterator<Item = usize>> {
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
    (1 <= first && first <= last && last <= MOST_REPEATS).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 3] = ["alice", "bob-2", "carol"];

    fn of(choices: &[usize]) -> Schedule {
        Schedule { choices: choices.to_vec(), ..Schedule::default() }
    }

    #[test]
    fn text_and_back() {
        let schedule = of(&[0, 0, 1, 0, 1, 1, 1]);
        assert_eq!(schedule.text(&NAMES), "alice.2 bob-2 alice bob-2.3");
        assert_eq!(Schedule::parse("alice.2 bob-2 alice bob-2.3", &NAMES), Ok(schedule));
        assert_eq!(Schedule::parse("  ", &NAMES), Ok(Schedule::default()));
    }

    #[test]
    fn a_session_may_be_named_by_its_number() {
        assert_eq!(Schedule::parse("1.2 bob-2 2", &NAMES), Ok(of(&[0, 0, 1, 1])));
        assert_eq!(Schedule::parse("2", &["2", "1"]), Ok(of(&[0])), "a name comes first");
        assert!(Schedule::parse("4", &NAMES).is_err() && Schedule::parse("0", &NAMES).is_err());
    }

    proptest! {
        #[test]
        fn forty_steps_take_less_than_two_hundred_characters(
            names in proptest::collection::hash_set("[a-z][a-z0-9_-]{0,20}", 12),
            choices in proptest::collection::vec(0..12usize, 0..=40),
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let schedule = of(&choices);
            let text = schedule.text(&names);
            prop_assert!(text.len() < 200, "{}", text);
            // Between single quotes a shell takes it as it is.
            prop_assert!(text.chars().all(|c| c.is_ascii_alphanumeric() || "-_. ".contains(c)));
            prop_assert_eq!(Schedule::parse(&text, &names), Ok(schedule));
        }
    }

    #[test]
    fn what_is_left_out_is_written_with_a_zero() {
        let statements = [(0, 2), (1, 1), (1, 3), (1, 4), (1, 5)].into();
        let left_out = LeftOut { sessions: [2].into(), statements };
        let schedule = Schedule { left_out, ..of(&[0, 1, 1]) };
        let text = "alice bob-2.2 carol.0 alice/2.0 bob-2/1.0 bob-2/3-5.0";
        assert_eq!(schedule.text(&NAMES), text);
        assert_eq!(Schedule::parse(text, &NAMES), Ok(schedule));
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = Schedule::parse("dave", &NAMES).unwrap_err().to_string();
        assert_eq!(unknown, "the schedule names session `dave`; the sessions are alice, bob-2, carol");
        assert!(matches!(Schedule::parse("dave/1.0", &NAMES), Err(ScheduleError::UnknownSession { .. })));
        for malformed in ["alice.x", "alice.", "alice.-1", "alice/2.1", "alice/0.0", "alice/x.0", "alice/4-2.0"] {
            assert!(matches!(Schedule::parse(malformed, &NAMES), Err(ScheduleError::Malformed { .. })), "{malformed}");
        }
    }
}
