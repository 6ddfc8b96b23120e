//! How a story ends: the end state, the outcome, what retries gave, and whether that was expected.

use super::super::layout::{columns, pad, printable, wrap};
use super::super::style::Ink;
use super::super::{Run, Style, quantity};
use super::Story;
use super::sentence;
use crate::history::{Assessment, Fate, History, Phase, SessionEnd, Told};
use crate::verdict::Expected;

/// What `@finally` did.
const FINALLY: &str = "And finally";

/// The last lines of a story.
pub fn lines(story: &Story, run: &Run) -> Vec<String> {
    let style = story.style;
    let mut lines = Vec::new();
    // Without a retry the questions are asked once, after `@finally`.
    let once = run.history.as_ref().filter(|history| history.after_retry.is_none());
    let finally = once.map(|history| later(story, history, Phase::Finally, FINALLY)).unwrap_or_default();
    if let Some(history) = &run.history {
        let heading = if finally.is_empty() { "At the end of the schedule" } else { "At the end" };
        lines.extend(finally);
        lines.extend(state(style, heading, &history.end, &[]));
    }
    let sentence = sentence::outcome(run);
    lines.push(String::new());
    lines.extend(paragraph(style, sentence.ink, &sentence.head, &sentence.rest));
    if let Some(history) = &run.history {
        lines.extend(later(story, history, Phase::Retry, "Then what was stopped is tried again, whole"));
        if let Some(after) = &history.after_retry {
            lines.extend(later(story, history, Phase::Finally, FINALLY));
            lines.extend(state(style, "After the retries", after, &history.end.sessions));
        }
        if history.racy {
            lines.push(String::new());
            lines.extend(paragraph(
                style,
                Ink::Wait,
                "A race",
                "who woke first could not be ordered; another run may differ.",
            ));
        }
    }
    if let Some(expected) = &run.expected {
        lines.push(String::new());
        lines.extend(expectation(style, expected));
    }
    lines
}

/// Sessions, less those that `known` has just so; measures and checks: one a line.
fn state(style: Style, heading: &str, assessment: &Assessment, known: &[SessionEnd]) -> Vec<String> {
    let sessions = assessment.sessions.iter().enumerate().filter(|(_, end)| !known.contains(end));
    let sessions = sessions.map(|(index, end)| (Ink::Session(index), end.name.as_str(), session_end(end)));
    let measures = assessment.measures.iter();
    let measures = measures.map(|measure| (Ink::Plain, measure.name.as_str(), quantity::measure(measure)));
    let checks = assessment.checks.iter().map(|check| {
        let (ink, word) = if check.holds { (Ink::Good, "holds") } else { (Ink::Bad, "FAILS") };
        (ink, word, printable(&check.name))
    });
    let entries: Vec<(Ink, &str, String)> = sessions.chain(measures).chain(checks).collect();
    let width = entries.iter().map(|(_, name, _)| columns(name)).max().unwrap_or(0);
    if entries.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), style.paint(Ink::Heading, heading)];
    for (ink, name, value) in entries {
        let indent = " ".repeat(width + 4);
        let mut wrapped = wrap(&value, style.width.saturating_sub(width + 4), 0).into_iter();
        let first = wrapped.next().unwrap_or_default();
        lines.push(format!("  {}  {first}", style.paint(ink, &pad(name, width))));
        lines.extend(wrapped.map(|line| format!("{indent}{line}")));
    }
    lines
}

/// `committed, told ok`.
fn session_end(end: &SessionEnd) -> String {
    let Some(fate) = end.fate.map(Fate::name) else { return "began no transaction".to_owned() };
    let attempts = if end.attempts > 1 { format!(", {} attempts", end.attempts) } else { String::new() };
    match end.told {
        Some(Told::Retried) => format!("{fate}, to be tried again{attempts}"),
        told => format!("{fate}, told {}{attempts}", told.map_or("nothing", Told::name)),
    }
}

/// What came after the schedule, told briefly.
fn later(story: &Story, history: &History, phase: Phase, heading: &str) -> Vec<String> {
    let mut page = story.page.compact();
    let mut narrator = story.narrator.compact();
    let events = history.events.iter().filter(|event| event.phase == phase);
    let text: String = events.map(|event| page.write(event, &narrator.lines(event))).collect();
    if text.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), story.style.paint(Ink::Heading, heading)];
    lines.extend(text.lines().map(str::to_owned));
    lines
}

fn expectation(style: Style, expected: &Expected) -> Vec<String> {
    match &expected.difference {
        None => paragraph(style, Ink::Good, "As expected", &expected.text),
        Some(difference) => {
            let mut lines = paragraph(style, Ink::Bad, "NOT as expected", &expected.text);
            lines.extend(paragraph(style, Ink::Bad, "What came instead", difference));
            lines
        }
    }
}

/// `head: rest`, wrapped; the head in its ink.
fn paragraph(style: Style, ink: Ink, head: &str, rest: &str) -> Vec<String> {
    let mut lines = wrap(&printable(&format!("{head}: {rest}")), style.width, 2);
    // The head may itself be wrapped, and then stays plain.
    if let Some(after) = lines[0].strip_prefix(head) {
        lines[0] = format!("{}{after}", style.paint(ink, head));
    }
    lines
}
