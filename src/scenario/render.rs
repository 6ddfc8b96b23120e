//! Mistakes as text, with an excerpt of the file and a caret under each.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::diagnostic::{Diagnostic, Severity};
use super::source::{Sources, Span};

/// All of them in their order, an empty line between two; with escape codes for colour or plain.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let rendered: Vec<String> =
        diagnostics.iter().map(|diagnostic| renderer.render(&[group(diagnostic, sources)]) + "\n").collect();
    rendered.join("\n")
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let here = || diagnostic.notes.iter().filter(|(span, _)| span.file == diagnostic.span.file);
    let excerpt = Excerpt::new(sources, here().map(|(span, _)| *span).chain([diagnostic.span]));
    let primary = AnnotationKind::Primary.span(excerpt.range(diagnostic.span)).label(diagnostic.label.as_deref());
    let notes = here().map(|(span, text)| AnnotationKind::Context.span(excerpt.range(*span)).label(text));
    let mut group = level
        .primary_title(diagnostic.message.as_str())
        .element(excerpt.snippet().annotation(primary).annotations(notes));
    for (span, text) in diagnostic.notes.iter().filter(|(span, _)| span.file != diagnostic.span.file) {
        let excerpt = Excerpt::new(sources, [*span]);
        let annotation = AnnotationKind::Context.span(excerpt.range(*span)).label(text);
        group = group.element(excerpt.snippet().annotation(annotation));
    }
    match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(help)),
        None => group,
    }
}

/// The whole lines of a file that some places lie in: a drawing of one line should not cost a walk through the file.
struct Excerpt<'a> {
    name: &'a str,
    text: &'a str,
    /// Where it begins in the file.
    start: usize,
    /// The number of its first line.
    line: usize,
}

impl<'a> Excerpt<'a> {
    /// `spans` lie in one file.
    fn new(sources: &'a Sources, spans: impl IntoIterator<Item = Span>) -> Excerpt<'a> {
        let spans: Vec<Span> = spans.into_iter().collect();
        let first = spans.iter().min().copied().unwrap_or_default();
        let last = spans.iter().map(|span| span.end as usize).max().unwrap_or_default();
        let text = &sources.file(first).text;
        let start = text[..first.start as usize].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[last..].find('\n').map_or(text.len(), |newline| last + newline);
        Excerpt {
            name: &sources.file(first).name,
            text: &text[start..end],
            start,
            line: sources.place(Span { start: start as u32, ..first }).line,
        }
    }

    fn range(&self, span: Span) -> std::ops::Range<usize> {
        let range = span.range();
        range.start - self.start..range.end - self.start
    }

    fn snippet<T: Clone>(&self) -> Snippet<'a, T> {
        Snippet::source(self.text).line_start(self.line).path(self.name)
    }
}
