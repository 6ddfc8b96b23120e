//! A playback as isolationtester prints it, byte for byte.

mod message;
mod table;

use super::event::{Event, Failure, Playback, Sender};
use super::mistake::Refused;
use super::model::SpecFile;
use super::stop::{Stop, part_name};
use super::transcript::Transcript;
use message::{error_message, notice_message};

/// What libpq says when the server has gone away.
const CLOSED: &str = "server closed the connection unexpectedly\n\
                      \tThis probably means the server terminated abnormally\n\
                      \tbefore or while processing the request.\n";
const NOT_CONNECTED: &str = "no connection to the server\n";

/// The output for a file that was played.
pub fn transcript(spec: &SpecFile, playback: &Playback) -> Transcript {
    let mut transcript = Transcript::default();
    for step in &spec.unused_steps {
        transcript.complain(format!("unused step name: {step}\n"));
    }
    transcript.say(format!("Parsed test spec with {} sessions\n", spec.sessions.len()));
    for event in &playback.events {
        tell(event, spec, &mut transcript);
    }
    if let Some(stop) = &playback.stop {
        tell_stop(stop, &mut transcript);
    }
    transcript
}

/// The output for a file with a mistake: the first one.
pub fn refusal(refused: &Refused) -> Transcript {
    let mut transcript = Transcript::default();
    if let Some(mistake) = refused.mistakes.first() {
        transcript.complain(format!("{}\n", mistake.message));
    }
    transcript
}

fn tell(event: &Event, spec: &SpecFile, transcript: &mut Transcript) {
    let session_name = |session: usize| spec.sessions[session].name.as_str();
    match event {
        Event::Permutation { steps } => {
            let names: String = steps.iter().map(|&step| format!(" {}", spec.steps[step].name)).collect();
            transcript.say(format!("\nstarting permutation:{names}\n"));
        }
        Event::Notice { session, notice } => {
            transcript.say(format!("{}: {}", session_name(*session), notice_message(notice)));
        }
        Event::Waiting { step } => {
            let step = &spec.steps[*step];
            transcript.say(format!("step {}: {} <waiting ...>\n", step.name, step.block.sql));
        }
        Event::Completed { step, waited: false } => {
            let step = &spec.steps[*step];
            transcript.say(format!("step {}: {}\n", step.name, step.block.sql));
        }
        Event::Completed { step, waited: true } => {
            transcript.say(format!("step {}: <... completed>\n", spec.steps[*step].name));
        }
        Event::Rows(rows) => transcript.say(table::table(rows)),
        Event::Failed(error) => transcript.say(format!("{}:  {}\n", error.severity, error.message)),
        Event::Lost => transcript.say(format!("{CLOSED}\n")),
        Event::Copy(copy) => transcript.say(format!("unexpected result status: {}\n", copy.libpq_name())),
        Event::Notified { session, sender, channel, payload } => {
            let sender = match sender {
                Sender::Session(session) => session_name(*session).to_owned(),
                Sender::Pid(pid) => format!("PID {pid}"),
            };
            let receiver = session_name(*session);
            transcript.say(format!("{receiver}: NOTIFY \"{channel}\" with payload \"{payload}\" from {sender}\n"));
        }
        Event::Canceling { step, seconds } => {
            let step = &spec.steps[*step].name;
            transcript.say(format!("isolationtester: canceling step {step} after {seconds} seconds\n"));
        }
        Event::TeardownFailed { session, failure } => {
            let part = part_name("teardown", session.map(session_name));
            transcript.complain(format!("{part} failed: {}", failure_message(failure)));
        }
    }
}

fn tell_stop(stop: &Stop, transcript: &mut Transcript) {
    match stop {
        Stop::Setup { session, failure, .. } => {
            let part = part_name("setup", session.as_deref());
            transcript.complain(format!("{part} failed: {}", failure_message(failure)));
        }
        Stop::Busy { step, seconds, active } => {
            transcript.complain(format!("step {step} timed out after {seconds} seconds\n"));
            let names: String = active.iter().map(|name| format!(" {name}")).collect();
            transcript.complain(format!("active steps are:{names}\n"));
        }
        Stop::NotConnected { step } => {
            transcript.say(format!("failed to send query for step {step}: {NOT_CONNECTED}\n"));
        }
        Stop::Mutual | Stop::TimedOut { .. } => transcript.complain(format!("{stop}\n")),
        Stop::Copy { .. } | Stop::Stuck { .. } | Stop::TooLong { .. } | Stop::Deadline { .. } | Stop::Wire { .. } => {
            transcript.complain(format!("isolab: {stop}\n"));
        }
    }
}

/// As libpq words it; nothing where libpq has no error to tell of.
fn failure_message(failure: &Failure) -> String {
    match failure {
        Failure::Refused { error, sql } => error_message(error, sql),
        Failure::Lost { reason: Some(reason) } => format!("{}{CLOSED}", error_message(reason, "")),
        Failure::Lost { reason: None } => CLOSED.to_owned(),
        Failure::NotConnected => NOT_CONNECTED.to_owned(),
        Failure::Copy(_) | Failure::Empty => String::new(),
    }
}

#[cfg(test)]
mod tests;
