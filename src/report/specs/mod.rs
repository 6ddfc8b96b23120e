//! What came of `.spec` files: one row for each.

pub mod junit;
mod list;
mod story;

use serde::{Serialize, Serializer};

use crate::spec::{Comparison, Summary};

pub use list::{list, totals};
pub use story::story;

/// A file and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpecRow {
    /// Without its folder: `eval-plan-qual.spec`.
    pub file: String,
    pub result: SpecResult,
    /// The expected output that it gave.
    pub matched: Option<String>,
    pub seconds: f64,
    #[serde(serialize_with = "count")]
    pub permutations: Summary,
    /// Why it could not be played to its end, or what it differs from.
    pub message: Option<String>,
    /// Unified, from the nearest expected output.
    #[serde(skip)]
    pub diff: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpecResult {
    /// It gave one of the expected outputs.
    Same,
    Differs,
    /// It has a mistake, or could not be played to its end.
    Error,
    /// There was nothing to compare with.
    Played,
}

impl SpecResult {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            SpecResult::Same => "same",
            SpecResult::Differs => "differs",
            SpecResult::Error => "error",
            SpecResult::Played => "played",
        }
    }
}

impl SpecRow {
    /// A row without a comparison. An error is the reason why the file could not be played to its end.
    pub fn played(file: &str, permutations: Summary, seconds: f64, error: Option<String>) -> SpecRow {
        let result = if error.is_some() { SpecResult::Error } else { SpecResult::Played };
        SpecRow {
            file: file.to_owned(),
            result,
            matched: None,
            seconds,
            permutations,
            message: error,
            diff: Vec::new(),
        }
    }

    /// With what the comparison says. An error stays one, whatever was expected.
    pub fn compared(self, comparison: Comparison) -> SpecRow {
        let result = |result| if self.result == SpecResult::Error { SpecResult::Error } else { result };
        match comparison {
            Comparison::Same { matched } => {
                SpecRow { result: result(SpecResult::Same), matched: Some(matched), ..self }
            }
            Comparison::Differs { nearest, diff } => {
                let message = self.message.or(Some(format!("differs from {nearest}")));
                SpecRow { result: result(SpecResult::Differs), message, diff, ..self }
            }
            Comparison::Missing => {
                let message = self.message.or(Some("there is no expected output".to_owned()));
                SpecRow { result: result(SpecResult::Differs), message, ..self }
            }
        }
    }
}

fn count<S: Serializer>(summary: &Summary, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(summary.permutations.len() as u64)
}
