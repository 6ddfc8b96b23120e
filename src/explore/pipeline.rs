//! Tasks on their way through a team: what came of them is given in the order in which they were sent, whichever worker
//! was done first.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{self, Scope, ScopedJoinHandle};

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::team::Prepare;
use super::worker::{Played, Task, Worker};
use crate::runner::{RunError, Stay, processors};
use crate::wire::AtWork;

/// A further worker takes as long to prepare as some schedules take to play; with fewer under way, one does them all.
const WORTH_ANOTHER: u64 = 8;

/// With its number.
type Numbered<T> = (u64, T);

/// What came of a task; a panic is handed on.
type Done = thread::Result<Result<Played, RunError>>;

pub struct Pipeline<'scope, 'env, 'a> {
    scope: &'scope Scope<'scope, 'env>,
    /// Works in the thread that waits for results.
    first: &'env mut Worker<'a>,
    /// Those that have nothing to do yet.
    resting: Vec<&'env mut Worker<'a>>,
    /// How many more may be prepared.
    further: usize,
    prepare: &'env Prepare<'a>,
    prepared: Vec<ScopedJoinHandle<'scope, Result<Worker<'a>, RunError>>>,
    tasks: (Sender<Numbered<Task>>, Receiver<Numbered<Task>>),
    results: (Sender<Numbered<Done>>, Receiver<Numbered<Done>>),
    /// Results whose turn has not come.
    early: BTreeMap<u64, Done>,
    sent: u64,
    received: u64,
    /// Looked up when another worker is called: alone, the first goes wherever the system likes.
    processors: Vec<usize>,
    stay: Option<Stay>,
    called: usize,
    _at_work: AtWork,
}

impl<'scope, 'env, 'a> Pipeline<'scope, 'env, 'a> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        first: &'env mut Worker<'a>,
        resting: Vec<&'env mut Worker<'a>>,
        further: usize,
        prepare: &'env Prepare<'a>,
    ) -> Self {
        Pipeline {
            processors: Vec::new(),
            stay: None,
            called: 0,
            scope,
            first,
            resting,
            further,
            prepare,
            prepared: Vec::new(),
            tasks: unbounded(),
            results: unbounded(),
            early: BTreeMap::new(),
            sent: 0,
            received: 0,
            _at_work: AtWork::begin(),
        }
    }

    pub fn send(&mut self, task: Task) {
        // The other end is this one's own.
        let _ = self.tasks.0.send((self.sent, task));
        self.sent += 1;
        if self.sent - self.received >= WORTH_ANOTHER {
            self.call_another();
        }
    }

    /// What came of the task that was sent first of those not received yet; one must have been sent.
    pub fn receive(&mut self) -> Result<Played, RunError> {
        let played = loop {
            self.early.extend(self.results.1.try_iter());
            if let Some(played) = self.early.remove(&self.received) {
                break played;
            }
            match self.tasks.1.try_recv() {
                Ok((number, task)) => {
                    self.early.insert(number, Ok(self.first.play(&task)));
                }
                // Somebody is at it.
                Err(_) => self.early.extend(self.results.1.recv()),
            }
        };
        self.received += 1;
        played.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Another worker begins: one that rests, or a new one.
    fn call_another(&mut self) {
        if self.resting.is_empty() && self.further == 0 {
            return;
        }
        if self.called == 0 {
            self.processors = processors_for(1 + self.resting.len() + self.further);
        }
        self.called += 1;
        let processor = self.processors.get(self.called).copied();
        let (tasks, results) = (self.tasks.1.clone(), self.results.0.clone());
        let play = move |worker: &mut Worker| {
            let _stay = processor.and_then(|processor| worker.stay_on(processor));
            play_all(worker, &tasks, &results);
        };
        if let Some(worker) = self.resting.pop() {
            self.scope.spawn(move || play(worker));
        } else {
            self.further -= 1;
            let prepare = self.prepare;
            self.prepared.push(self.scope.spawn(move || {
                let mut worker = prepare()?;
                play(&mut worker);
                Ok(worker)
            }));
        }
        // A thread begins on the processors of the one that makes it.
        if let (1, Some(&first)) = (self.called, self.processors.first()) {
            self.stay = self.first.stay_on(first);
        }
    }

    /// Forgets the tasks that nobody has begun; gives the workers that were prepared.
    pub(super) fn close(self) -> Vec<Result<Worker<'a>, RunError>> {
        let Pipeline { tasks: (sender, receiver), prepared, .. } = self;
        drop(sender);
        receiver.try_iter().for_each(drop);
        prepared.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    }
}

/// A processor for each of so many workers; none where there are not enough.
fn processors_for(workers: usize) -> Vec<usize> {
    let mut processors = processors();
    // Not those that another program of ours has taken.
    let offset = std::process::id() as usize % processors.len().max(1);
    processors.rotate_left(offset);
    if workers <= processors.len() { processors } else { Vec::new() }
}

/// Plays tasks until there will be no more.
fn play_all(worker: &mut Worker, tasks: &Receiver<Numbered<Task>>, results: &Sender<Numbered<Done>>) {
    let _at_work = AtWork::begin();
    for (number, task) in tasks {
        let played = catch_unwind(AssertUnwindSafe(|| worker.play(&task)));
        if results.send((number, played)).is_err() {
            return;
        }
    }
}
