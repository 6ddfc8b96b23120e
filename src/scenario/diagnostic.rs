//! What is wrong with a scenario file, or only doubtful: every mistake of a file at once, each with its place.

use std::collections::HashSet;

use super::nearest::nearest;
use super::source::Span;

/// After so many the rest is only counted: a file that is no scenario at all should not fill the screen.
const MOST: usize = 100;
/// So many characters a message has at most.
const LONGEST: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

/// One mistake, where it stands, and what could be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub message: String,
    pub span: Span,
    /// Said at the place itself.
    pub label: Option<String>,
    /// Other places that belong to it, such as an earlier definition.
    pub notes: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    fn new(severity: Severity, span: Span, message: String) -> Diagnostic {
        Diagnostic { severity, message, span, label: None, notes: Vec::new(), help: None }
    }

    pub fn label(&mut self, label: impl Into<String>) -> &mut Diagnostic {
        self.label = Some(label.into());
        self
    }

    pub fn note(&mut self, span: Span, text: impl Into<String>) -> &mut Diagnostic {
        self.notes.push((span, text.into()));
        self
    }

    pub fn help(&mut self, help: impl Into<String>) -> &mut Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Suggests the candidate that is nearest to a name, if any is near; otherwise names a few.
    pub fn suggest<'a>(&mut self, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> &mut Diagnostic {
        let candidates: Vec<&str> = candidates.into_iter().collect();
        if let Some(near) = nearest(name, candidates.iter().copied()) {
            return self.label(format!("did you mean `{near}`?"));
        }
        match candidates.len() {
            0 => self,
            1..=20 => {
                let list: Vec<String> = candidates.iter().map(|candidate| format!("`{candidate}`")).collect();
                self.help(format!("known here: {}", list.join(", ")))
            }
            _ => self,
        }
    }
}

/// A message with a whole line of the file in it would hide what it says.
fn shortened(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(LONGEST) {
        message.truncate(end);
        message.push('…');
    }
    message
}

/// With its article: "an outcome".
pub fn a(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// Collects the mistakes of a file.
#[derive(Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    seen: HashSet<(Span, String)>,
    /// Takes what comes after [`MOST`], and what was said before.
    ignored: Option<Diagnostic>,
    has_errors: bool,
}

impl Diagnostics {
    pub fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.has_errors = true;
        self.add(Severity::Error, span, message.into())
    }

    pub fn warning(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.add(Severity::Warning, span, message.into())
    }

    /// A name that means nothing here: `kind` is what it should have been, as in "unknown level".
    pub fn unknown<'a>(
        &mut self,
        kind: &str,
        span: Span,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> &mut Diagnostic {
        let message = match name {
            "" => format!("{} is missing here", a(kind)),
            _ => format!("unknown {kind} `{name}`"),
        };
        self.error_with_suggestion(span, message, name, || candidates)
    }

    /// An error about a name, with what could be meant; the candidates are asked for only where they will be shown.
    pub fn error_with_suggestion<'a, C: IntoIterator<Item = &'a str>>(
        &mut self,
        span: Span,
        message: String,
        name: &str,
        candidates: impl FnOnce() -> C,
    ) -> &mut Diagnostic {
        let full = self.is_full();
        let diagnostic = self.error(span, message);
        if full { diagnostic } else { diagnostic.suggest(name, candidates()) }
    }

    /// What comes now will not be shown.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    pub fn has_errors(&self) -> bool {
        self.has_errors
    }

    /// All of them in the order of the text, errors and warnings mixed.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|diagnostic| diagnostic.span);
        self.list
    }

    fn add(&mut self, severity: Severity, span: Span, message: String) -> &mut Diagnostic {
        let diagnostic = Diagnostic::new(severity, span, shortened(message));
        if self.is_full() || !self.seen.insert((span, diagnostic.message.clone())) {
            return self.ignored.insert(diagnostic);
        }
        self.list.push(diagnostic);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }
}
