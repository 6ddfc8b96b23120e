//! A toy database for the tests of the searches: programs of reads, writes, locks and commits on a few rows, with the
//! dependences of READ COMMITTED, played in memory.

use std::collections::BTreeMap;

use super::search::{Effect, Search, Step};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Adds the committed value to what the session knows.
    Read(usize),
    /// Locks the row until the end, then writes what the session knows.
    Write(usize),
    /// Locks the row until the end.
    Lock(usize),
    Nothing,
    Commit,
}

#[derive(Debug, Clone)]
pub struct Program(pub Vec<Vec<Op>>);

/// One choice: what the session did, and whom it woke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    session: usize,
    /// Its operation; none: it blocked.
    parts: Vec<(usize, Op, bool)>,
    /// The rows that a commit makes visible and lets go of.
    written: Vec<usize>,
    held: Vec<usize>,
}

/// A schedule that was played to its end.
#[derive(Debug, Clone)]
pub struct Run {
    pub choices: Vec<usize>,
    /// The rows and what each session knew at the end; a deadlock ends the run.
    pub outcome: String,
    /// It was played although every session slept.
    pub redundant: bool,
}

impl Effect for Done {
    fn session(&self) -> usize {
        self.session
    }

    fn depends_on(&self, other: &Done) -> bool {
        let waits = |done: &Done| done.parts.iter().any(|(_, _, waits)| *waits);
        let any_pair = self.parts.iter().any(|left| other.parts.iter().any(|right| conflict(self, left, other, right)));
        any_pair || (waits(self) && waits(other))
    }
}

fn conflict(of: &Done, left: &(usize, Op, bool), with: &Done, right: &(usize, Op, bool)) -> bool {
    if left.0 == right.0 {
        return true;
    }
    match (left.1, right.1) {
        (Op::Write(a) | Op::Lock(a), Op::Write(b) | Op::Lock(b)) => a == b,
        (Op::Read(row), Op::Commit) => with.written.contains(&row),
        (Op::Commit, Op::Read(row)) => of.written.contains(&row),
        (Op::Write(row) | Op::Lock(row), Op::Commit) => with.held.contains(&row),
        (Op::Commit, Op::Write(row) | Op::Lock(row)) => of.held.contains(&row),
        _ => false,
    }
}

#[derive(Debug, Clone)]
struct State {
    position: Vec<usize>,
    known: Vec<i64>,
    rows: BTreeMap<usize, i64>,
    uncommitted: Vec<BTreeMap<usize, i64>>,
    holder: BTreeMap<usize, usize>,
    /// Sessions that wait for a row, oldest first.
    queue: Vec<(usize, usize)>,
}

impl Program {
    /// Sessions that have nothing to do with each other.
    pub fn independent(lengths: &[usize]) -> Program {
        Program(lengths.iter().map(|&length| vec![Op::Nothing; length]).collect())
    }

    /// Sessions that take the same lock first and commit last.
    pub fn one_lock(lengths: &[usize]) -> Program {
        let session = |&length: &usize| {
            let mut ops = vec![Op::Nothing; length];
            ops[0] = Op::Lock(0);
            ops[length - 1] = Op::Commit;
            ops
        };
        Program(lengths.iter().map(session).collect())
    }

    /// Plays these choices, as far as they can be made, then whichever session is not blocked.
    pub fn run(&self, choices: &[usize]) -> (Run, Vec<Step<Done>>) {
        let mut possible: Vec<usize> = Vec::new();
        for &choice in choices {
            let (_, steps) = self.play(&possible, Vec::new());
            if steps.get(possible.len()).is_some_and(|step| step.enabled.contains(&choice)) {
                possible.push(choice);
            }
        }
        self.play(&possible, Vec::new())
    }

    /// Plays the prefix, then the same session as long as it is neither blocked nor asleep, then the first that is not.
    fn play(&self, prefix: &[usize], mut sleep: Vec<Done>) -> (Run, Vec<Step<Done>>) {
        let mut state = State {
            position: vec![0; self.0.len()],
            known: (1..=self.0.len() as i64).collect(),
            rows: BTreeMap::new(),
            uncommitted: vec![BTreeMap::new(); self.0.len()],
            holder: BTreeMap::new(),
            queue: Vec::new(),
        };
        let mut steps: Vec<Step<Done>> = Vec::new();
        let mut asleep_from = None;
        loop {
            let waits = |session: usize| state.queue.iter().any(|(waiting, _)| *waiting == session);
            let enabled: Vec<usize> = (0..self.0.len())
                .filter(|&session| state.position[session] < self.0[session].len() && !waits(session))
                .collect();
            let last = steps.last().map(|step: &Step<Done>| step.effect.session);
            let mut awake = enabled.iter().filter(|session| sleep.iter().all(|done| done.session != **session));
            let awake = awake.clone().find(|session| Some(**session) == last).or(awake.next());
            let Some(&chosen) = prefix.get(steps.len()).or(awake).or(enabled.first()) else { break };
            if steps.len() >= prefix.len() && awake.is_none() {
                asleep_from.get_or_insert(steps.len());
            }
            let effect = state.advance(self, chosen);
            if steps.len() + 1 >= prefix.len() {
                sleep.retain(|asleep| asleep.session != chosen && !asleep.depends_on(&effect));
            }
            steps.push(Step { enabled, effect });
        }
        let choices = steps.iter().map(|step| step.effect.session).collect();
        let outcome = format!("{:?} {:?} {:?}", state.rows, state.known, state.position);
        steps.truncate(asleep_from.unwrap_or(steps.len()));
        (Run { choices, outcome, redundant: asleep_from.is_some() }, steps)
    }
}

impl State {
    fn advance(&mut self, program: &Program, session: usize) -> Done {
        let op = program.0[session][self.position[session]];
        let mut done = Done { session, parts: Vec::new(), written: Vec::new(), held: Vec::new() };
        let waits = match op {
            Op::Write(row) | Op::Lock(row) => self.holder.get(&row).is_some_and(|holder| *holder != session),
            _ => false,
        };
        done.parts.push((session, op, waits));
        if waits {
            let (Op::Write(row) | Op::Lock(row)) = op else { return done };
            self.queue.push((session, row));
            return done;
        }
        self.perform(session, op);
        if op == Op::Commit {
            let written = std::mem::take(&mut self.uncommitted[session]);
            done.written = written.keys().copied().collect();
            self.rows.extend(written);
            done.held = self.holder.iter().filter(|(_, holder)| **holder == session).map(|(row, _)| *row).collect();
            self.holder.retain(|_, holder| *holder != session);
            let queue = std::mem::take(&mut self.queue);
            for (waiting, row) in queue {
                if self.holder.contains_key(&row) {
                    self.queue.push((waiting, row));
                } else {
                    let op = program.0[waiting][self.position[waiting]];
                    self.perform(waiting, op);
                    done.parts.push((waiting, op, false));
                }
            }
        }
        done
    }

    fn perform(&mut self, session: usize, op: Op) {
        match op {
            Op::Read(row) => {
                let value = self.uncommitted[session].get(&row).or(self.rows.get(&row)).copied().unwrap_or(0);
                self.known[session] = self.known[session] * 10 + value;
            }
            Op::Write(row) => {
                self.holder.insert(row, session);
                self.uncommitted[session].insert(row, self.known[session]);
            }
            Op::Lock(row) => {
                self.holder.insert(row, session);
            }
            Op::Nothing | Op::Commit => {}
        }
        self.position[session] += 1;
    }
}

/// Plays what a search asks for, so many attempts at a time, until it is over.
pub fn explore(search: &mut impl Search<Done>, program: &Program, at_a_time: usize) -> Vec<Run> {
    let mut runs = Vec::new();
    loop {
        let attempts: Vec<_> = std::iter::from_fn(|| search.next()).take(at_a_time).collect();
        if attempts.is_empty() {
            return runs;
        }
        let played: Vec<_> =
            attempts.iter().map(|attempt| program.play(&attempt.prefix, attempt.sleep.clone())).collect();
        for (attempt, (run, steps)) in attempts.iter().zip(played) {
            search.learn(attempt, &steps);
            runs.push(run);
        }
    }
}
