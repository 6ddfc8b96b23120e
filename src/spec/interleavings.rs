//! Every interleaving of the sessions' steps, as a file without permutations asks for.

use super::model::{Entry, Permutation, SpecSession};

/// In the order of a depth-first search that tries the sessions in file order: the first plays all of the first session,
/// then all of the second. There are (Σ n)! / Π n! of them.
pub(super) struct Interleavings<'a> {
    sessions: &'a [SpecSession],
    /// The sessions' indices, one for each step; none after the last interleaving.
    turns: Option<Vec<usize>>,
}

impl<'a> Interleavings<'a> {
    pub fn new(sessions: &'a [SpecSession]) -> Interleavings<'a> {
        let turns = sessions.iter().enumerate().flat_map(|(index, session)| session.steps.iter().map(move |_| index));
        Interleavings { sessions, turns: Some(turns.collect()) }
    }

    fn permutation(&self, turns: &[usize]) -> Permutation {
        let mut steps: Vec<_> = self.sessions.iter().map(|session| session.steps.iter().copied()).collect();
        let entry = |&session: &usize| Some(Entry { step: steps[session].next()?, markers: Vec::new() });
        Permutation { entries: turns.iter().filter_map(entry).collect() }
    }
}

impl Iterator for Interleavings<'_> {
    type Item = Permutation;

    fn next(&mut self) -> Option<Permutation> {
        let turns = self.turns.take()?;
        let permutation = self.permutation(&turns);
        self.turns = following(turns);
        Some(permutation)
    }
}

/// The next arrangement in lexicographic order.
fn following(mut turns: Vec<usize>) -> Option<Vec<usize>> {
    let falling = turns.windows(2).rposition(|pair| pair[0] < pair[1])?;
    let larger = turns.iter().rposition(|&turn| turn > turns[falling])?;
    turns.swap(falling, larger);
    turns[falling + 1..].reverse();
    Some(turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::SpecFile;
    use crate::spec::testing::spec;

    fn orders(spec: &SpecFile) -> Vec<String> {
        let names = |order: Permutation| order.entries.iter().map(|entry| spec.step(entry).name.clone()).collect();
        spec.schedules().map(names).map(|names: Vec<String>| names.join(" ")).collect()
    }

    #[test]
    fn sessions_keep_their_own_order_and_come_in_file_order() {
        let two = spec("session a step a1 {} step a2 {} session b step b1 {} step b2 {}");
        let expected = ["a1 a2 b1 b2", "a1 b1 a2 b2", "a1 b1 b2 a2", "b1 a1 a2 b2", "b1 a1 b2 a2", "b1 b2 a1 a2"];
        assert_eq!(orders(&two), expected);
    }

    #[test]
    fn there_are_as_many_as_the_multinomial_says() {
        let three =
            spec("session a step a1 {} step a2 {} session b step b1 {} step b2 {} session c step c1 {} step c2 {}");
        assert_eq!(orders(&three).len(), 90);
        assert_eq!(orders(&spec("session a step a1 {}")), ["a1"]);
    }

    #[test]
    fn written_permutations_replace_them() {
        assert_eq!(orders(&spec("session a step a1 {} session b step b1 {} permutation b1 a1 b1")), ["b1 a1 b1"]);
    }
}
