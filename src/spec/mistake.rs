//! What is wrong with a `.spec` file.

use crate::scenario::source::{Sources, Span};
use crate::scenario::{Diagnostic, Severity};

/// A file that cannot be played, with the text that the places point into.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// Their messages are isolationtester's; it would tell the first alone.
    pub mistakes: Vec<Diagnostic>,
    pub sources: Sources,
}

/// A mistake in isolationtester's words.
pub(super) type Mistake = Box<Diagnostic>;

pub(super) fn mistake(message: impl Into<String>, span: Span) -> Mistake {
    let (severity, message) = (Severity::Error, message.into());
    Box::new(Diagnostic { severity, message, span, label: None, notes: Vec::new(), help: None })
}
