//! Plays a file: its connections, and one permutation after the other on them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::backend::{Backend, sender};
use super::event::{Event, Playback};
use super::model::{Permutation, SpecFile};
use super::pace;
use super::stop::Stop;
use super::wait_graph::WaitGraph;
use crate::runner::Observer;
use crate::wire::{ConnectOptions, Connecting, Connection, WireError};

/// The connection that `setup` and `teardown` run on, in words.
const CONTROL: &str = "control connection";

/// How to play.
#[derive(Debug, Clone, Copy)]
pub struct PlayOptions {
    /// A step that takes longer is cancelled; one that takes twice as long ends the file.
    pub step_limit: Duration,
    /// No wait goes on after this.
    pub deadline: Instant,
}

/// Plays every permutation of a file in a database that is the file's own. The connections are kept for all of them, and
/// with them what their sessions have set, prepared and begun. The observer may be in any database of the server.
pub(super) fn play(
    spec: &SpecFile,
    database: &ConnectOptions,
    observer: &mut Observer,
    options: PlayOptions,
) -> Playback {
    let mut tester = match Tester::connect(spec, database, observer, options) {
        Ok(tester) => tester,
        Err(stop) => return Playback { events: Vec::new(), stop: Some(stop) },
    };
    let played = spec.schedules().try_for_each(|permutation| tester.permutation(&permutation));
    Playback { events: tester.events, stop: played.err() }
}

pub(super) struct Tester<'a> {
    pub spec: &'a SpecFile,
    pub options: PlayOptions,
    /// Waits may end by themselves.
    pub timed: bool,
    pub control: Backend,
    pub sessions: Vec<Backend>,
    pub observer: &'a mut Observer,
    pub events: Vec<Event>,
    /// Who waits for whom, when the server was last asked.
    pub graph: WaitGraph,
    /// Since when a backend has been seen to wait for the same others.
    pub waits_since: HashMap<i32, Instant>,
}

impl<'a> Tester<'a> {
    fn connect(
        spec: &'a SpecFile,
        database: &ConnectOptions,
        observer: &'a mut Observer,
        options: PlayOptions,
    ) -> Result<Tester<'a>, Stop> {
        let refused = |name: &str| {
            let connection = name.to_owned();
            move |error| Stop::Wire { connection, error }
        };
        let begin = |name: &str| {
            let application_name = format!("isolation/{}/{name}", spec.name);
            let options = ConnectOptions { application_name, ..database.clone() };
            Connection::begin(&options).map_err(refused(name))
        };
        let names = || spec.sessions.iter().map(|session| session.name.as_str());
        // Side by side, but for the first: it makes what new connections to a fresh database need.
        let control = Backend::connect(begin(CONTROL)?, None).map_err(refused(CONTROL))?;
        let begun: Vec<Connecting> = names().map(begin).collect::<Result<_, _>>()?;
        let sessions = begun.into_iter().zip(names()).enumerate();
        let sessions = sessions
            .map(|(index, (connecting, name))| Backend::connect(connecting, Some(index)).map_err(refused(name)));
        let sessions = sessions.collect::<Result<_, _>>()?;
        Ok(Tester {
            spec,
            options,
            timed: pace::has_timed_waits(spec),
            control,
            sessions,
            observer,
            events: Vec::new(),
            graph: WaitGraph::default(),
            waits_since: HashMap::new(),
        })
    }

    fn permutation(&mut self, permutation: &Permutation) -> Result<(), Stop> {
        let steps = permutation.entries.iter().map(|entry| entry.step).collect();
        self.check_deadline("a permutation")?;
        self.events.push(Event::Permutation { steps });
        self.set_up()?;
        self.run_steps(permutation)?;
        self.tear_down()
    }

    pub fn check_deadline(&self, what: &str) -> Result<(), Stop> {
        if Instant::now() < self.options.deadline { Ok(()) } else { Err(Stop::Deadline { what: what.to_owned() }) }
    }

    /// For `map_err` on what was asked of a session's connection.
    pub fn lost(&self, session: Option<usize>) -> impl FnOnce(WireError) -> Stop + use<> {
        let name = session.map_or(CONTROL, |session| self.spec.sessions[session].name.as_str());
        let connection = format!("session {name}");
        move |error| Stop::Wire { connection, error }
    }

    pub fn backend(&mut self, session: Option<usize>) -> &mut Backend {
        match session {
            None => &mut self.control,
            Some(session) => &mut self.sessions[session],
        }
    }

    /// Takes in what has arrived on a session's connection; true while no result is complete.
    pub fn is_busy(&mut self, session: usize) -> bool {
        self.sessions[session].is_busy(&mut self.events)
    }

    /// Tells the notifications that a session has received.
    pub fn report_notifications(&mut self, session: usize) {
        while let Some((pid, channel, payload)) = self.sessions[session].take_notification() {
            let sender = sender(pid, &self.sessions);
            self.events.push(Event::Notified { session, sender, channel, payload });
        }
    }
}
