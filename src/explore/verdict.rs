//! The verdict on all schedules of a form at a level.

use serde::{Serialize, Serializer};

/// What the schedules showed, worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Every schedule gives what some serial order gives, and every check holds; retries may have repaired it.
    Safe,
    /// The data are right, and some client is told a no, or an error that no retry repairs, that no serial order gives; or a
    /// check asks for errors, and there are some.
    Errors,
    /// The data are right, and some schedules end in a deadlock that nobody retries.
    Deadlocks,
    /// A limit was reached before a verdict.
    Inconclusive,
    /// A serial order fails a check already.
    NotARace,
    /// Some schedule gives what no serial order gives, or fails a check.
    Broken,
}

impl Verdict {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::Errors => "errors",
            Verdict::Deadlocks => "deadlocks",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotARace => "not a race",
            Verdict::Broken => "broken",
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
