//! The page that the story stands on: a column that says who is at which step, a line down, and what happened beside it.

use super::super::Style;
use super::super::layout::{columns, pad, shorten};
use super::super::style::Ink;
use crate::history::Event;

/// Longer names of sessions and of steps are shortened to this.
const LONGEST_NAME: usize = 16;

/// A line of what happened, already wrapped to [`Page::content_width`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub ink: Ink,
    pub text: String,
}

#[derive(Debug, Clone)]
pub struct Page {
    style: Style,
    names: Vec<String>,
    name_width: usize,
    step_width: usize,
    /// Without blank lines between blocks.
    compact: bool,
    /// The block that is open.
    block: Option<Block>,
}

/// What one session does in one step.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    session: usize,
    call: usize,
    attempt: u32,
    step: String,
}

impl Block {
    fn of(event: &Event) -> Block {
        Block { session: event.session, call: event.call, attempt: event.attempt, step: event.step.clone() }
    }

    /// The end of a call has no step of its own: it belongs to the last one.
    fn goes_on_in(&self, event: &Event) -> bool {
        let step = if event.step.is_empty() { &self.step } else { &event.step };
        *self == Block { step: step.clone(), ..Block::of(event) }
    }
}

impl Page {
    pub fn new<'a>(style: Style, names: &[String], steps: impl Iterator<Item = &'a str>) -> Page {
        let width = |name: &str| columns(name).min(LONGEST_NAME);
        Page {
            style,
            names: names.to_vec(),
            name_width: names.iter().map(|name| width(name)).max().unwrap_or(0),
            step_width: steps.map(width).max().unwrap_or(0),
            compact: false,
            block: None,
        }
    }

    /// The same columns, without blank lines.
    pub fn compact(&self) -> Page {
        Page { compact: true, block: None, ..self.clone() }
    }

    /// The columns that are left for what happened.
    pub fn content_width(&self) -> usize {
        self.style.width.saturating_sub(self.name_width + self.step_width + 4)
    }

    /// Writes the lines of an event; a new block begins where another session or step comes in.
    pub fn write(&mut self, event: &Event, lines: &[Line]) -> String {
        if lines.is_empty() {
            return String::new();
        }
        let begins = !self.block.as_ref().is_some_and(|block| block.goes_on_in(event));
        let mut text = if begins && !self.compact { "\n".to_owned() } else { String::new() };
        for (row, line) in lines.iter().enumerate() {
            let label = if begins && row == 0 { self.label(event) } else { self.no_label() };
            let bar = self.style.paint(Ink::Session(event.session), self.style.pick("│", "|"));
            let line = format!("{label} {bar} {}", self.style.paint(line.ink, &line.text));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        self.block = Some(Block::of(event));
        text
    }

    fn label(&self, event: &Event) -> String {
        let fitted = |name: &str, width: usize| pad(&shorten(name, width, self.style.pick("…", "..")), width);
        let name = fitted(self.names.get(event.session).map_or("?", String::as_str), self.name_width);
        let step = fitted(&event.step, self.step_width);
        format!("{} {step}", self.style.paint(Ink::Session(event.session), &name))
    }

    fn no_label(&self) -> String {
        " ".repeat(self.name_width + 1 + self.step_width)
    }
}
