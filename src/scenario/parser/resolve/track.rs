//! The steps that lie ahead of a session while an order moves it on.

use std::collections::HashMap;

use crate::program::{Action, Program};
use crate::scenario::model::Session;

/// The steps of a session's calls, one after the other, and how far it has been moved.
pub struct Track<'a> {
    /// The places of each step, in order: by its name alone, and by its transaction's name as well.
    places: HashMap<(Option<&'a str>, &'a str), Vec<usize>>,
    /// How many places there are.
    length: usize,
    /// First and last place of each loop, whose steps may come again; in order, outermost loops only.
    loops: Vec<(usize, usize)>,
    /// The place to which it has been moved; none at the start.
    at: Option<usize>,
}

impl<'a> Track<'a> {
    pub fn new(session: &'a Session) -> Track<'a> {
        let mut track = Track { places: HashMap::new(), length: 0, loops: Vec::new(), at: None };
        for call in &session.calls {
            let program = &call.transaction.program;
            track.loops.extend(loops(program).map(|(from, to)| (track.length + from, track.length + to)));
            for step in &program.steps {
                for transaction in [None, Some(call.transaction.name.as_str())] {
                    track.places.entry((transaction, step)).or_default().push(track.length);
                }
                track.length += 1;
            }
        }
        track
    }

    pub fn has(&self, transaction: Option<&str>, step: &str) -> bool {
        self.places.contains_key(&(transaction, step))
    }

    /// The names of its steps, each once, in the order in which they first come.
    pub fn steps(&self) -> Vec<&'a str> {
        let mut steps: Vec<(usize, &str)> = self
            .places
            .iter()
            .filter(|((transaction, _), _)| transaction.is_none())
            .map(|((_, step), places)| (places[0], *step))
            .collect();
        steps.sort_unstable();
        steps.into_iter().map(|(_, step)| step).collect()
    }

    /// Goes on to the next such step; false where none is ahead.
    pub fn go(&mut self, transaction: Option<&str>, step: &str) -> bool {
        let Some(places) = self.places.get(&(transaction, step)) else { return false };
        let ahead = places.partition_point(|place| self.at.is_some_and(|at| *place <= at));
        let next = places.get(ahead).or_else(|| {
            let (from, to) = self.loop_around(self.at?)?;
            let again = places.partition_point(|place| *place < from);
            places.get(again).filter(|place| **place <= to)
        });
        self.at = next.copied().or(self.at);
        next.is_some()
    }

    fn loop_around(&self, place: usize) -> Option<(usize, usize)> {
        let candidate = self.loops.partition_point(|(from, _)| *from <= place).checked_sub(1)?;
        Some(self.loops[candidate]).filter(|(_, to)| place <= *to)
    }
}

/// First and last step of each outermost loop.
fn loops(program: &Program) -> impl Iterator<Item = (usize, usize)> {
    let mut end_of_outer = None;
    let ends = program.ops.iter().enumerate().rev().filter_map(move |(end, op)| match op.action {
        Action::Jump { target } if target < end && end_of_outer.is_none_or(|start| end < start) => {
            end_of_outer = Some(target);
            Some((target, end))
        }
        _ => None,
    });
    let mut loops: Vec<(usize, usize)> = ends
        .filter_map(|(start, end)| {
            let statements = program.ops[start..end].iter().filter(|op| matches!(op.action, Action::Statement(_)));
            Some((statements.map(|op| op.step).min()?, program.ops[end].step))
        })
        .collect();
    loops.reverse();
    loops.into_iter()
}
