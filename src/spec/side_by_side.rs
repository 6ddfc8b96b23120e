//! Several files side by side, each in a database of its own.

use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

use super::environment::{for_database, session_options};
use super::event::Playback;
use super::model::SpecFile;
use super::queue::Queue;
use super::tester::{PlayOptions, play};
use crate::interrupt::{self, Interrupted};
use crate::runner::Observer;
use crate::server::{Sandbox, SandboxKind, Server, ServerError};
use crate::wire::WireError;

/// Why files could not be played at all.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error("cannot ask who waits for whom: {0}")]
    Observer(#[from] WireError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// A file that was played.
#[derive(Debug)]
pub struct Played {
    /// Index among the files.
    pub file: usize,
    pub playback: Playback,
    /// Without the time that its database took.
    pub took: Duration,
}

/// Plays files with so many runners, and hands on each as soon as it is over, in whatever order. Databases are made ahead
/// and dropped behind, while files run. A failure to drop one is told when all is done.
pub fn play_all<E: From<PlayError>>(
    files: &[SpecFile],
    server: &Server,
    runners: usize,
    options: PlayOptions,
    mut over: impl FnMut(Played) -> Result<(), E>,
) -> Result<(), E> {
    let queue = Queue::new(files, runners);
    let cluster = RwLock::new(());
    let (made, fresh) = bounded(0);
    let (used, spent) = unbounded();
    let (told, results) = unbounded();
    thread::scope(|scope| {
        scope.spawn(|| make_databases(files.len(), server, &cluster, made));
        let dropping = scope.spawn(|| drop_databases(&cluster, spent));
        for _ in 0..runners {
            let (fresh, used, told) = (fresh.clone(), used.clone(), told.clone());
            let runner = Runner { files, server, queue: &queue, cluster: &cluster, options };
            scope.spawn(move || {
                let outcome = runner.run(&fresh, &used, &told);
                if let Err(error) = outcome {
                    runner.queue.give_up();
                    let _ = told.send(Err(error));
                }
            });
        }
        // Whoever holds the last copy of an end closes its channel.
        drop((fresh, used, told));
        let mut outcome = Ok(());
        for result in results {
            let handed_on = result.map_err(E::from).and_then(&mut over);
            if handed_on.is_err() {
                queue.give_up();
                outcome = outcome.and(handed_on);
            }
        }
        let dropped = dropping.join().unwrap_or(Ok(()));
        outcome.and(dropped.map_err(|error| E::from(error.into())))
    })
}

/// One is made ahead; the next when somebody has taken it.
fn make_databases(count: usize, server: &Server, cluster: &RwLock<()>, made: Sender<Result<Sandbox, ServerError>>) {
    for _ in 0..count {
        let sandbox = {
            let _others_may_run = cluster.read().unwrap_or_else(PoisonError::into_inner);
            Sandbox::create(server, &SandboxKind::TestDatabase)
        };
        if made.send(sandbox).is_err() {
            return;
        }
    }
}

fn drop_databases(cluster: &RwLock<()>, spent: Receiver<Sandbox>) -> Result<(), ServerError> {
    let mut outcome = Ok(());
    for sandbox in spent {
        let _others_may_run = cluster.read().unwrap_or_else(PoisonError::into_inner);
        outcome = outcome.and(sandbox.close());
    }
    outcome
}

struct Runner<'a> {
    files: &'a [SpecFile],
    server: &'a Server,
    queue: &'a Queue,
    /// Held for writing by a file that must be alone on the server.
    cluster: &'a RwLock<()>,
    options: PlayOptions,
}

impl Runner<'_> {
    fn run(
        &self,
        fresh: &Receiver<Result<Sandbox, ServerError>>,
        used: &Sender<Sandbox>,
        told: &Sender<Result<Played, PlayError>>,
    ) -> Result<(), PlayError> {
        let mut observer = Observer::new(self.server.options().clone());
        observer.connect()?;
        while let Some(job) = self.queue.take() {
            interrupt::check()?;
            if Instant::now() >= self.options.deadline {
                self.queue.give_up();
                return Ok(());
            }
            // The maker ends only after as many databases as there are files.
            let Ok(sandbox) = fresh.recv() else { return Ok(()) };
            let sandbox = sandbox?;
            let played = {
                let _alone = job.is_alone().then(|| self.cluster.write().unwrap_or_else(PoisonError::into_inner));
                self.play(job.file, &sandbox, &mut observer)
            };
            self.queue.done(&job);
            let _ = used.send(sandbox);
            interrupt::check()?;
            let _ = told.send(Ok(played));
        }
        Ok(())
    }

    fn play(&self, file: usize, sandbox: &Sandbox, observer: &mut Observer) -> Played {
        let spec = for_database(&self.files[file], sandbox.name());
        let database = session_options(sandbox.options(), self.server.is_superuser());
        let begun = Instant::now();
        let playback = play(&spec, &database, observer, self.options);
        Played { file, playback, took: begun.elapsed() }
    }
}
