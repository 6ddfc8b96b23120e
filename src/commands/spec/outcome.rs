//! What came of one file: its output, its row in reports, and what that means for the exit code.

use std::path::Path;

use anyhow::Context as _;

use super::inputs::Input;
use crate::commands::exit::Exit;
use crate::report::specs::{SpecResult, SpecRow};
use crate::scenario::Diagnostic;
use crate::spec::{Played, Refused, SpecFile, Stop, Summary, Transcript, compare, isolationtester};

pub struct Outcome {
    pub row: SpecRow,
    pub transcript: Transcript,
    /// Mistakes in the file, with their places.
    pub diagnostics: Vec<Diagnostic>,
    pub exit: Exit,
}

impl Outcome {
    /// Of a file with mistakes.
    pub fn refused(input: &Input, refused: &Refused, expected: Option<&Path>) -> anyhow::Result<Outcome> {
        let message = refused.mistakes.first().map(|mistake| mistake.message.clone());
        let row = SpecRow::played(&input.file, Summary::default(), 0.0, message);
        let (transcript, diagnostics) = (isolationtester::refusal(refused), refused.mistakes.clone());
        Outcome { row, transcript, diagnostics, exit: Exit::Invalid }.compared(expected)
    }

    /// Of a file that was played.
    pub fn played(input: &Input, spec: &SpecFile, played: &Played, expected: Option<&Path>) -> anyhow::Result<Outcome> {
        let stop = played.playback.stop.as_ref();
        let (summary, seconds) = (Summary::of(spec, &played.playback), played.took.as_secs_f64());
        let row = SpecRow::played(&input.file, summary, seconds, stop.map(Stop::to_string));
        let transcript = isolationtester::transcript(spec, &played.playback);
        let diagnostics = stop.and_then(Stop::diagnostic).into_iter().collect();
        Outcome { row, transcript, diagnostics, exit: stop.map_or(Exit::Held, exit_of) }.compared(expected)
    }

    /// Of a file that was not begun.
    pub fn left_out(input: &Input) -> Outcome {
        let message = "not played: the time limit was reached".to_owned();
        let row = SpecRow::played(&input.file, Summary::default(), 0.0, Some(message));
        let (transcript, diagnostics) = (Transcript::default(), Vec::new());
        Outcome { row, transcript, diagnostics, exit: Exit::Inconclusive }
    }

    fn compared(self, expected: Option<&Path>) -> anyhow::Result<Outcome> {
        let Some(folder) = expected else { return Ok(self) };
        let Outcome { row, transcript, diagnostics, exit } = self;
        let name = row.file.strip_suffix(".spec").unwrap_or(&row.file);
        let comparison = compare(name, folder, transcript.bytes())
            .with_context(|| format!("cannot read the expected output of {}", row.file))?;
        let row = row.compared(comparison);
        let exit = if row.result == SpecResult::Differs { Exit::DidNotHold } else { exit };
        Ok(Outcome { row, transcript, diagnostics, exit })
    }
}

fn exit_of(stop: &Stop) -> Exit {
    match stop {
        Stop::Setup { .. } | Stop::Mutual | Stop::Copy { .. } => Exit::Invalid,
        Stop::TimedOut { .. }
        | Stop::Busy { .. }
        | Stop::Stuck { .. }
        | Stop::TooLong { .. }
        | Stop::Deadline { .. } => Exit::Inconclusive,
        Stop::NotConnected { .. } | Stop::Wire { .. } => Exit::CouldNotRun,
    }
}
