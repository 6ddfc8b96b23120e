//! What is wrong with a `.spec` file.

use crate::scenario::source::Span;
use crate::scenario::{Diagnostic, Severity};

/// A mistake, in isolationtester's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The line that isolationtester prints.
    pub message: String,
    pub span: Span,
    /// What was expected, or meant.
    pub label: Option<String>,
    pub help: Option<String>,
    /// Another place that belongs to it.
    pub note: Option<(Span, String)>,
}

impl Mistake {
    pub(super) fn new(message: impl Into<String>, span: Span) -> Mistake {
        Mistake { message: message.into(), span, label: None, help: None, note: None }
    }

    pub(super) fn label(self, label: impl Into<String>) -> Mistake {
        Mistake { label: Some(label.into()), ..self }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Mistake {
        Mistake { help: Some(help.into()), ..self }
    }

    pub(super) fn note(self, span: Span, note: impl Into<String>) -> Mistake {
        Mistake { note: Some((span, note.into())), ..self }
    }

    /// For drawing it in the file.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: self.message.clone(),
            span: self.span,
            label: self.label.clone(),
            notes: self.note.iter().cloned().collect(),
            help: self.help.clone(),
        }
    }
}
