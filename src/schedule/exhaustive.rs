//! Every order that can happen, depth first.

use super::search::{Attempt, Effect, Search, Step};

/// Plays each order once: what can be chosen at a place is known when a schedule through it was played.
#[derive(Debug)]
pub struct Exhaustive {
    pending: Vec<Vec<usize>>,
}

impl Default for Exhaustive {
    fn default() -> Exhaustive {
        Exhaustive { pending: vec![Vec::new()] }
    }
}

impl<E: Effect> Search<E> for Exhaustive {
    fn next(&mut self) -> Option<Attempt<E>> {
        let prefix = self.pending.pop()?;
        Some(Attempt { prefix, sleep: Vec::new(), priorities: None, origin: 0 })
    }

    fn learn(&mut self, attempt: &Attempt<E>, steps: &[Step<E>]) {
        let choices: Vec<usize> = steps.iter().map(|step| step.effect.session()).collect();
        for (depth, step) in steps.iter().enumerate().skip(attempt.prefix.len()) {
            for &other in step.enabled.iter().filter(|other| **other != choices[depth]) {
                self.pending.push([&choices[..depth], &[other]].concat());
            }
        }
    }

    fn pending(&self) -> usize {
        self.pending.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulation::{Program, explore};
    use super::*;

    #[test]
    fn all_orders_are_played_once() {
        let program = Program::independent(&[4, 4]);
        let played = explore(&mut Exhaustive::default(), &program, 1);
        assert_eq!(played.len(), 70);
        let mut distinct: Vec<_> = played.iter().map(|run| run.choices.clone()).collect();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 70);
    }

    #[test]
    fn a_blocked_session_is_not_chosen() {
        // Both want the same lock first: the second waits until the first has ended.
        let program = Program::one_lock(&[3, 3]);
        let played = explore(&mut Exhaustive::default(), &program, 1);
        assert!(played.len() < 20, "{}", played.len());
    }
}
