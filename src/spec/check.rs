//! Looks names up and finds what the grammar cannot: in isolationtester's words, and in its order.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::mistake::{Mistake, mistake};
use super::model::{Entry, Marker, Permutation, SpecFile};
use super::parser::{Draft, DraftEntry, DraftMarker, Named};
use crate::scenario::Diagnostic;
use crate::scenario::source::Sources;

/// A draft whose names mean something.
pub(super) struct Resolved {
    draft: Draft,
    permutations: Vec<Permutation>,
    unused_steps: Vec<String>,
}

impl Resolved {
    pub fn into_file(self, name: String, sources: Sources) -> SpecFile {
        let Draft { setups, teardown, sessions, steps, .. } = self.draft;
        let Resolved { permutations, unused_steps, .. } = self;
        SpecFile { name, sources, setups, teardown, sessions, steps, permutations, unused_steps }
    }
}

/// All mistakes at once; the first is the one that isolationtester tells.
pub(super) fn resolve(draft: Draft) -> Result<Resolved, Vec<Diagnostic>> {
    let mut mistakes = duplicates(&draft);
    let mut names = Names { draft: &draft, steps: HashMap::new() };
    for (index, step) in draft.steps.iter().enumerate() {
        names.steps.entry(&step.name).or_insert(index);
    }
    let permutations: Vec<Permutation> =
        draft.permutations.iter().map(|entries| names.permutation(entries, &mut mistakes)).collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let unused_steps = unused_steps(&draft, &permutations);
    Ok(Resolved { draft, permutations, unused_steps })
}

fn duplicates(draft: &Draft) -> Vec<Diagnostic> {
    let mut by_name: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for step in &draft.steps {
        by_name.entry(&step.name).or_default().push(step.span);
    }
    let duplicate = |(name, spans): (&str, Vec<_>)| {
        let [first, second, ..] = spans[..] else { return None };
        let mut mistake = mistake(format!("duplicate step name: {name}"), second);
        mistake.note(first, "first used here");
        Some(*mistake)
    };
    by_name.into_iter().filter_map(duplicate).collect()
}

fn unused_steps(draft: &Draft, permutations: &[Permutation]) -> Vec<String> {
    if permutations.is_empty() {
        return Vec::new();
    }
    let used: HashSet<usize> =
        permutations.iter().flat_map(|permutation| &permutation.entries).map(|entry| entry.step).collect();
    let unused = draft.steps.iter().enumerate().filter(|(index, _)| !used.contains(index));
    let mut names: Vec<String> = unused.map(|(_, step)| step.name.clone()).collect();
    names.sort_unstable();
    names
}

struct Names<'a> {
    draft: &'a Draft,
    steps: HashMap<&'a str, usize>,
}

impl Names<'_> {
    fn permutation(&self, entries: &[DraftEntry], mistakes: &mut Vec<Diagnostic>) -> Permutation {
        let mut steps = Vec::new();
        for DraftEntry { step, .. } in entries {
            match self.steps.get(step.name.as_str()) {
                Some(&index) => steps.push(index),
                None => {
                    let message = format!("undefined step \"{}\" specified in permutation", step.name);
                    mistakes.push(*self.suggested(mistake(message, step.span), step));
                }
            }
        }
        if steps.len() < entries.len() {
            return Permutation::default();
        }
        let mut permutation = Permutation::default();
        for (&step, entry) in steps.iter().zip(entries) {
            let markers = entry.markers.iter().filter_map(|marker| match self.marker(step, marker, &steps) {
                Ok(marker) => Some(marker),
                Err(mistake) => {
                    mistakes.push(*mistake);
                    None
                }
            });
            permutation.entries.push(Entry { step, markers: markers.collect() });
        }
        permutation
    }

    fn marker(&self, step: usize, marker: &DraftMarker, present: &[usize]) -> Result<Marker, Mistake> {
        match marker {
            DraftMarker::Once => Ok(Marker::Once),
            DraftMarker::Step(blocker) => self.blocker(step, blocker, present).map(Marker::Step),
            DraftMarker::Notices(blocker, count) => {
                self.blocker(step, blocker, present).map(|step| Marker::Notices { step, count: *count })
            }
        }
    }

    /// A step that another one waits for: it is in the same permutation, and of another session.
    fn blocker(&self, step: usize, blocker: &Named, present: &[usize]) -> Result<usize, Mistake> {
        let name = &self.draft.steps[step].name;
        let found = self.steps.get(blocker.name.as_str()).copied();
        let Some(found) = found.filter(|found| present.contains(found)) else {
            let message =
                format!("undefined blocking step \"{}\" referenced in permutation step \"{name}\"", blocker.name);
            let mut mistake = mistake(message, blocker.span);
            if found.is_none() {
                return Err(self.suggested(mistake, blocker));
            }
            mistake.label("this step is not in this permutation");
            return Err(mistake);
        };
        if self.draft.steps[found].session == self.draft.steps[step].session {
            let message = format!("permutation step \"{name}\" cannot block on its own session");
            let mut mistake = mistake(message, blocker.span);
            mistake.label("a step of the same session");
            return Err(mistake);
        }
        Ok(found)
    }

    fn suggested(&self, mut mistake: Mistake, unknown: &Named) -> Mistake {
        mistake.suggest(&unknown.name, self.draft.steps.iter().map(|step| step.name.as_str()));
        mistake
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::parse;
    use crate::spec::testing::spec;

    const SESSIONS: &str = "session a step a1 {} step a2 {} session b step b1 {} step b2 {} ";

    fn mistakes(permutations: &str) -> Vec<String> {
        let text = format!("{SESSIONS}{permutations}");
        parse("x.spec", text).unwrap_err().mistakes.into_iter().map(|mistake| mistake.message).collect()
    }

    #[test]
    fn step_names_are_unique_in_the_file_and_session_names_need_not_be() {
        let text = "session a step z {} step y {} session a step z {} step y {} step y {}".to_owned();
        let mistakes = parse("x.spec", text).unwrap_err().mistakes;
        let messages: Vec<&str> = mistakes.iter().map(|mistake| mistake.message.as_str()).collect();
        assert_eq!(messages, ["duplicate step name: y", "duplicate step name: z"]);
        assert_eq!(spec("session a step x {} session a step y {}").sessions.len(), 2);
    }

    #[test]
    fn undefined_steps_come_before_markers_of_the_same_permutation() {
        let expected = [
            "undefined blocking step \"c\" referenced in permutation step \"a1\"",
            "undefined step \"zz\" specified in permutation",
        ];
        assert_eq!(mistakes("permutation a1(c) permutation a1(c) zz"), expected);
    }

    #[test]
    fn a_blocking_step_is_of_this_permutation_and_another_session() {
        assert_eq!(
            mistakes("permutation a1(b2) b1"),
            ["undefined blocking step \"b2\" referenced in permutation step \"a1\""]
        );
        assert_eq!(mistakes("permutation a1(a2) a2"), ["permutation step \"a1\" cannot block on its own session"]);
    }

    #[test]
    fn steps_that_written_permutations_leave_out_are_named_in_byte_order() {
        let file = spec("session a step x {} step Z {} step \"é\" {} step e {} permutation x");
        assert_eq!(file.unused_steps, ["Z", "e", "é"]);
        assert_eq!(spec(SESSIONS).unused_steps, Vec::<String>::new());
    }
}
