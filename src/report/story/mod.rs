//! A run as a story that a person can follow: who did what in order, what they read, who waited for whom, and how it ended.
//!
//! It can be written event by event, while the run goes on, or as a whole; both give the same text.

mod ending;
mod event;
mod page;
mod sentence;

use super::layout::{columns, pad, printable, wrap};
use super::style::Ink;
use super::{Run, Style};
use crate::history::{Event, History, Phase, SessionInfo};
use crate::scenario::Level;
use event::Narrator;
use page::Page;

/// Longer lines are hard to read, however wide the terminal is.
const WIDEST: usize = 100;
/// A narrower terminal wraps by itself.
const NARROWEST: usize = 40;

/// What the first lines say.
#[derive(Debug, Clone, Copy)]
pub struct Heading<'a> {
    pub title: &'a str,
    pub scenario: &'a str,
    /// The name of a fix or variant; none as written.
    pub fix: Option<&'a str>,
    pub isolation: Level,
    pub sessions: &'a [SessionInfo],
}

/// A story on its way.
#[derive(Debug)]
pub struct Story {
    style: Style,
    page: Page,
    narrator: Narrator,
}

impl Story {
    /// A story's first lines, and what writes the rest. `steps` are the names of the steps that may come.
    pub fn begin<'a>(style: Style, heading: &Heading, steps: impl Iterator<Item = &'a str>) -> (Story, String) {
        let style = Style { width: style.width.clamp(NARROWEST, WIDEST), ..style };
        let names: Vec<String> = heading.sessions.iter().map(|session| session.name.clone()).collect();
        let page = Page::new(style, &names, steps);
        let narrator = Narrator::new(style, names, page.content_width());
        (Story { style, page, narrator }, first_lines(style, heading))
    }

    /// What an event adds to the story. Only the schedule is told as it goes; the retries are part of the end.
    pub fn event(&mut self, event: &Event) -> String {
        if event.phase != Phase::Schedule {
            return String::new();
        }
        let lines = self.narrator.lines(event);
        self.page.write(event, &lines)
    }

    /// The end state, the outcome, what retries gave, and whether all that was expected; then an empty line.
    pub fn end(self, run: &Run) -> String {
        ending::lines(&self, run).into_iter().map(|line| line + "\n").collect::<String>() + "\n"
    }

    /// The story of a run that is over.
    pub fn whole(style: Style, run: &Run) -> String {
        let events = run.history.as_ref().map_or(&[][..], |history| &history.events);
        let (mut story, mut text) =
            Story::begin(style, &Heading::of(run), events.iter().map(|event| event.step.as_str()));
        text.extend(events.iter().map(|event| story.event(event)));
        text + &story.end(run)
    }
}

impl<'a> Heading<'a> {
    fn of(run: &'a Run) -> Heading<'a> {
        let sessions = |history: &'a History| history.sessions.as_slice();
        Heading {
            title: &run.title,
            scenario: &run.scenario,
            fix: run.fix.as_deref(),
            isolation: run.isolation,
            sessions: run.history.as_ref().map_or(&[], sessions),
        }
    }
}

fn first_lines(style: Style, heading: &Heading) -> String {
    let mut lines = title(style, heading);
    let name_width = heading.sessions.iter().map(|session| columns(&session.name)).max().unwrap_or(0);
    for (index, session) in heading.sessions.iter().enumerate() {
        // A session with a body of its own has a call of its own name.
        let calls: Vec<&str> = session.calls.iter().map(String::as_str).filter(|call| *call != session.name).collect();
        let pinned = (session.level != heading.isolation).then(|| format!("at {}", session.level.sql()));
        let told = [calls.join("; "), pinned.unwrap_or_default()].join("  ");
        if index == 0 {
            lines.push(String::new());
        }
        let wrapped = wrap(&printable(told.trim()), style.width - name_width.min(style.width / 2) - 4, 0);
        for (row, text) in wrapped.iter().enumerate() {
            let name = if row == 0 { session.name.as_str() } else { "" };
            let name = style.paint(Ink::Session(index), &pad(name, name_width));
            lines.push(format!("  {name}  {text}").trim_end().to_owned());
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// `── write-skew at READ COMMITTED, with for-update ──────`, then the title.
fn title(style: Style, heading: &Heading) -> Vec<String> {
    let dash = style.pick("─", "-");
    let fix = heading.fix.map(|fix| format!(", with {fix}")).unwrap_or_default();
    let run = format!("{} at {}{fix}", heading.scenario, heading.isolation.sql());
    let rule = dash.repeat(style.width.saturating_sub(columns(&run) + 4).max(2));
    let title = wrap(&printable(heading.title), style.width, 0);
    std::iter::once(format!("{dash}{dash} {} {rule}", style.paint(Ink::Heading, &run)))
        .chain(title.iter().map(|line| style.paint(Ink::Heading, line)))
        .collect()
}
