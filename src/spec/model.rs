//! What a `.spec` file says, with every name resolved.

use super::interleavings::Interleavings;
use crate::scenario::source::{Sources, Span};

/// One `.spec` file.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecFile {
    /// The file's name without folder and ending: `eval-plan-qual`.
    pub name: String,
    pub sources: Sources,
    /// Run before each permutation on the control connection, each block as one query.
    pub setups: Vec<Block>,
    pub teardown: Option<Block>,
    pub sessions: Vec<SpecSession>,
    /// The steps of all sessions, in file order.
    pub steps: Vec<SpecStep>,
    /// As written; empty: every interleaving.
    pub permutations: Vec<Permutation>,
    /// The names of steps that no written permutation uses, sorted by their bytes.
    pub unused_steps: Vec<String>,
}

/// The SQL between two braces, as it stands there but for the blanks next to the braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub sql: String,
    pub span: Span,
}

/// One connection under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecSession {
    /// Need not be unique.
    pub name: String,
    pub setup: Option<Block>,
    /// Indices into [`SpecFile::steps`].
    pub steps: Vec<usize>,
    pub teardown: Option<Block>,
    pub span: Span,
}

/// What one entry of a permutation sends, as one query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecStep {
    pub name: String,
    /// Index into [`SpecFile::sessions`].
    pub session: usize,
    pub block: Block,
    pub span: Span,
}

/// Steps in the order in which they are launched. Steps may be left out, and repeated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permutation {
    pub entries: Vec<Entry>,
}

/// One launch of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Index into [`SpecFile::steps`].
    pub step: usize,
    pub markers: Vec<Marker>,
}

/// What holds back the report that a step is complete. Steps are indices into [`SpecFile::steps`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    /// `*`: reported as waiting right after its launch, whatever it does.
    Once,
    /// `STEP`: not before that step has been reported, if it is on its way.
    Step(usize),
    /// `STEP notices N`: not before so many more notices came in on that step's session.
    Notices { step: usize, count: u32 },
}

impl SpecFile {
    /// The permutations to play: the written ones, otherwise every interleaving that keeps each session's own order.
    pub fn schedules(&self) -> Box<dyn Iterator<Item = Permutation> + '_> {
        if self.permutations.is_empty() {
            return Box::new(Interleavings::new(&self.sessions));
        }
        Box::new(self.permutations.iter().cloned())
    }

    pub fn step(&self, entry: &Entry) -> &SpecStep {
        &self.steps[entry.step]
    }

    /// Every piece of SQL in the file.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let sessions = self.sessions.iter().flat_map(|session| session.setup.iter().chain(&session.teardown));
        let steps = self.steps.iter().map(|step| &step.block);
        self.setups.iter().chain(&self.teardown).chain(sessions).chain(steps)
    }
}
