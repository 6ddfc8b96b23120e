//! Plays a failing schedule a second time: what does not come out the same depends on more than the order.

use super::DEADLOCKED;
use super::ground::Ground;
use super::judging::Found;
use super::worker::Played;
use crate::history::{Event, Fate, History, Phase, Told, What};
use crate::runner::RunError;

/// Notes what the second time was different.
pub fn repeat(ground: &mut Ground, found: &mut Found) -> Result<(), RunError> {
    let is_drawn = found.failure.kind == DEADLOCKED && found.played.history.racy;
    if found.played.history.unfinished.is_some() || is_drawn {
        return Ok(());
    }
    let choices = found.played.path.choices.clone();
    let again = ground.play_again(choices, &found.failure.left_out)?;
    found.failure.differs = again.and_then(|again| difference(&found.played, &again));
    Ok(())
}

fn difference(first: &Played, second: &Played) -> Option<String> {
    let [one, other] = [first, second].map(|played| shapes(&played.history));
    let place = one.iter().zip(&other).position(|(one, other)| one != other);
    let place = place.or((one.len() != other.len()).then_some(one.len().min(other.len())));
    let shown =
        |shapes: &[String], place: usize| shapes.get(place).cloned().unwrap_or_else(|| "nothing more".to_owned());
    if let Some(place) = place {
        return Some(format!("first {}, then {}", shown(&one, place), shown(&other, place)));
    }
    let answers = |played: &Played| played.outcome.answers.iter().flatten().cloned().collect::<Vec<String>>();
    let [one, other] = [first, second].map(answers);
    if let Some((one, other)) = one.iter().zip(&other).find(|(one, other)| one != other) {
        return Some(format!("first the answer at {one}, then at {other}"));
    }
    (first.outcome != second.outcome).then(|| "the tables hold other values the second time".to_owned())
}

/// What happened, without values.
fn shapes(history: &History) -> Vec<String> {
    let scheduled = history.events.iter().filter(|event| event.phase == Phase::Schedule);
    scheduled
        .filter_map(|event| {
            Some(format!("{} {} {}", history.session_name(event.session), event.step, shape(history, event)?))
        })
        .collect()
}

fn shape(history: &History, event: &Event) -> Option<String> {
    Some(match &event.what {
        What::Sent { .. } => "was sent".to_owned(),
        What::Blocked { by, .. } => {
            let names: Vec<&str> = by.iter().map(|&session| history.session_name(session)).collect();
            format!("waits for {}", names.join(" and "))
        }
        What::Woke => "goes on".to_owned(),
        What::Done { tag, .. } => format!("gives {tag}"),
        What::Failed { error } => format!("fails with {}", error.sqlstate),
        What::Disconnected { .. } => "loses its connection".to_owned(),
        What::Ended { fate, told, .. } => {
            format!(
                "ends {}, told {}",
                fate.map_or("without a transaction", Fate::name),
                told.map_or("nothing", Told::name)
            )
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::outcome::Outcome;
    use crate::history::testing::{event, history};

    fn played(what: Vec<What>, answers: &[&str]) -> Played {
        let events = what.into_iter().map(|what| event(1, "lock", what)).collect();
        let answers = vec![answers.iter().map(|answer| (*answer).to_owned()).collect()];
        let outcome = Outcome { answers, ..Outcome::default() };
        Played { path: Default::default(), outcome, history: history(events, false) }
    }

    #[test]
    fn what_differs_is_said() {
        let waits = || What::Blocked { by: vec![0], on: None };
        let difference = |one: Vec<What>, other: Vec<What>| difference(&played(one, &["1"]), &played(other, &["1"]));
        assert_eq!(difference(vec![waits(), What::Woke], vec![waits(), What::Woke]), None);
        let other = difference(vec![waits()], vec![What::Woke]);
        assert_eq!(other.as_deref(), Some("first bob lock waits for alice, then bob lock goes on"));
        let shorter = difference(vec![waits(), What::Woke], vec![waits()]);
        assert_eq!(shorter.as_deref(), Some("first bob lock goes on, then nothing more"));
    }

    #[test]
    fn values_count_as_far_as_they_are_compared() {
        let [one, other] = [["1: SELECT 1 (5)"], ["1: SELECT 1 (6)"]].map(|answers| played(Vec::new(), &answers));
        let text = difference(&one, &other);
        assert_eq!(text.as_deref(), Some("first the answer at 1: SELECT 1 (5), then at 1: SELECT 1 (6)"));
        assert_eq!(difference(&one, &one), None);
    }
}
