//! The sets of steps that a file's permutations are made of: each is a program of its own, of which the permutations list
//! some orders.

use std::collections::BTreeSet;

use super::model::{Permutation, SpecFile};

/// What each session does in some permutations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepSet {
    /// For each of [`SpecFile::sessions`] its steps, in the order in which it takes them.
    pub of_sessions: Vec<Vec<usize>>,
    /// The steps in the order of the first permutation that has them.
    pub order: Vec<usize>,
}

impl StepSet {
    /// Each set once, in the order in which the permutations come to them.
    pub fn all(file: &SpecFile) -> Vec<StepSet> {
        if file.permutations.is_empty() {
            return file.schedules().next().iter().map(|permutation| StepSet::of(permutation, file)).collect();
        }
        let mut seen = BTreeSet::new();
        let sets = file.permutations.iter().map(|permutation| StepSet::of(permutation, file));
        sets.filter(|set| seen.insert(set.of_sessions.clone())).collect()
    }

    fn of(permutation: &Permutation, file: &SpecFile) -> StepSet {
        let order: Vec<usize> = permutation.entries.iter().map(|entry| entry.step).collect();
        let of_session =
            |session: usize| order.iter().copied().filter(|&step| file.steps[step].session == session).collect();
        StepSet { of_sessions: (0..file.sessions.len()).map(of_session).collect(), order }
    }

    /// Every step of the file once, as its sessions have them.
    pub fn is_whole(&self, file: &SpecFile) -> bool {
        self.of_sessions.iter().zip(&file.sessions).all(|(steps, session)| *steps == session.steps)
    }

    /// As the file's first permutation of them: `wx1 wx2 c1 c2 read`.
    pub fn name(&self, file: &SpecFile) -> String {
        self.order.iter().map(|&step| file.steps[step].name.as_str()).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::testing::spec;

    fn names(permutations: &str) -> Vec<(String, bool)> {
        let file = spec(&format!("session a step a1 {{}} step a2 {{}} session b step b1 {{}} {permutations}"));
        StepSet::all(&file).iter().map(|set| (set.name(&file), set.is_whole(&file))).collect()
    }

    #[test]
    fn permutations_of_the_same_steps_are_one_set() {
        let set = |name: &str, is_whole| (name.to_owned(), is_whole);
        assert_eq!(names(""), [set("a1 a2 b1", true)]);
        assert_eq!(names("permutation b1 a1 a2 permutation a1 b1 a2"), [set("b1 a1 a2", true)]);
        assert_eq!(
            names("permutation a1 b1 permutation b1 a1 permutation a1"),
            [set("a1 b1", false), set("a1", false)]
        );
    }

    #[test]
    fn a_session_that_repeats_or_turns_its_steps_does_something_else() {
        let found = names("permutation a2 a1 b1 permutation a1 a1 b1 permutation a1 a2 b1");
        assert_eq!(found.iter().map(|(_, is_whole)| *is_whole).collect::<Vec<_>>(), [false, false, true]);
    }
}
