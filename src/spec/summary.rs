//! What a playback comes to: how its permutations ended.

use std::collections::BTreeMap;

use super::event::{Event, Playback};
use super::model::SpecFile;

/// How the permutations of a file ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    pub permutations: Vec<Ending>,
}

/// How one permutation ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    pub launches: Vec<Launch>,
}

/// A step and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    pub step: String,
    pub waited: bool,
    /// SQLSTATE and text of its last error.
    pub error: Option<(String, String)>,
    /// The server closed its connection.
    pub lost: bool,
}

/// An error that ended some of the permutations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    pub sqlstate: String,
    /// The text that came first.
    pub message: String,
    pub permutations: usize,
}

impl Summary {
    pub fn of(spec: &SpecFile, playback: &Playback) -> Summary {
        let mut summary = Summary::default();
        let mut steps: Vec<usize> = Vec::new();
        let mut current = None;
        for event in &playback.events {
            if let Event::Permutation { steps: launched } = event {
                let name = |&step: &usize| Launch { step: spec.steps[step].name.clone(), ..Launch::default() };
                summary.permutations.push(Ending { launches: launched.iter().map(name).collect() });
                steps.clone_from(launched);
                current = None;
                continue;
            }
            let Some(ending) = summary.permutations.last_mut() else { continue };
            if let Event::Waiting { step } | Event::Completed { step, .. } = event {
                // Of a step that is launched twice the later launch tells.
                current = steps.iter().rposition(|launched| launched == step);
            }
            let Some(launch) = current.and_then(|index: usize| ending.launches.get_mut(index)) else { continue };
            match event {
                Event::Waiting { .. } => launch.waited = true,
                Event::Failed(error) => launch.error = Some((error.sqlstate.clone(), error.message.clone())),
                Event::Lost => launch.lost = true,
                _ => {}
            }
        }
        summary
    }

    /// How many permutations had no error.
    pub fn clean(&self) -> usize {
        self.permutations.iter().filter(|ending| ending.launches.iter().all(Launch::is_clean)).count()
    }

    /// In how many permutations a step waited.
    pub fn waited(&self) -> usize {
        self.permutations.iter().filter(|ending| ending.launches.iter().any(|launch| launch.waited)).count()
    }

    /// The errors by SQLSTATE, each counted once for a permutation.
    pub fn stopped(&self) -> Vec<Stopped> {
        let mut by_state: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
        for ending in &self.permutations {
            let errors = ending.launches.iter().filter_map(|launch| launch.error.as_ref());
            let states: BTreeMap<&str, &str> =
                errors.map(|(state, message)| (state.as_str(), message.as_str())).collect();
            for (state, message) in states {
                by_state.entry(state).or_insert((message, 0)).1 += 1;
            }
        }
        let stopped = by_state.into_iter().map(|(sqlstate, (message, permutations))| Stopped {
            sqlstate: sqlstate.to_owned(),
            message: message.to_owned(),
            permutations,
        });
        stopped.collect()
    }
}

impl Launch {
    fn is_clean(&self) -> bool {
        self.error.is_none() && !self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::testing::spec;
    use crate::wire::ServerError;

    fn error(sqlstate: &str, message: &str) -> Event {
        let (sqlstate, message) = (sqlstate.to_owned(), message.to_owned());
        Event::Failed(Box::new(ServerError { sqlstate, message, ..ServerError::default() }))
    }

    #[test]
    fn waits_and_errors_are_counted_by_permutation() {
        let file = spec("session a step x {} session b step y {}");
        let events = vec![
            Event::Permutation { steps: vec![0, 1] },
            Event::Completed { step: 0, waited: false },
            Event::Waiting { step: 1 },
            Event::Completed { step: 1, waited: true },
            error("40001", "first"),
            Event::Permutation { steps: vec![1, 0] },
            Event::Completed { step: 1, waited: false },
            error("40001", "second"),
            Event::Completed { step: 0, waited: false },
            error("25P02", "aborted"),
            Event::Permutation { steps: vec![1, 0] },
            Event::Completed { step: 1, waited: false },
        ];
        let summary = Summary::of(&file, &Playback { events, stop: None });
        assert_eq!((summary.permutations.len(), summary.clean(), summary.waited()), (3, 1, 1));
        let stopped: Vec<_> = summary.stopped().into_iter().map(|s| (s.sqlstate, s.message, s.permutations)).collect();
        let expected = [("25P02", "aborted", 1), ("40001", "first", 2)];
        assert_eq!(stopped, expected.map(|(state, message, count)| (state.to_owned(), message.to_owned(), count)));
        let last = &summary.permutations[0].launches[1];
        assert!(last.waited && last.error.is_some());
    }
}
