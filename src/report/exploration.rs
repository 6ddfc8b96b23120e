//! What exploring found: for each form and level the verdict and what was covered, and for each failure its simplest
//! schedule, why it is one, and the command that plays it again.

use super::grid::{self, Column};
use super::layout::wrap;
use super::quantity;
use super::style::Ink;
use super::{Style, timeline};
use crate::explore::{Exploration, Failure, Fallback, MutationKind, Verdict};
use crate::scenario::Level;
use crate::verdict::Expected;

/// A set of steps of a `.spec` file at one level, in few lines: what goes wrong is named and not drawn.
pub fn of_step_set(style: Style, exploration: &Exploration, reference: &str, seed: u64) -> String {
    let mut lines = vec![headline(style, exploration)];
    lines.extend(coverage(exploration, seed).iter().flat_map(|text| indented(style, text)));
    for failure in &exploration.failures {
        lines.extend(failure_head(style, failure));
        lines.extend(not_repeatable(style, failure));
        lines.push(replay_line(exploration, failure, reference));
    }
    lines.extend(mutation_lines(style, exploration));
    lines.push(String::new());
    lines.into_iter().map(|line| line + "\n").collect()
}

/// How many sets of steps a `.spec` file is made of.
pub fn step_sets(style: Style, file: &str, sets: usize) -> String {
    let text = format!(
        "{file}: {} in its permutations, each explored in every order",
        count_as(sets as u64, "set of steps", "sets of steps")
    );
    wrap(&text, style.width, 2).into_iter().map(|line| line + "\n").chain(["\n".to_owned()]).collect()
}

/// One form at one level. `reference` is what names the scenario on a command line, `seed` drew what was random.
pub fn render(style: Style, exploration: &Exploration, reference: &str, seed: u64) -> String {
    let mut lines = vec![headline(style, exploration)];
    lines.extend(coverage(exploration, seed).iter().flat_map(|text| indented(style, text)));
    for failure in &exploration.failures {
        lines.push(String::new());
        lines.extend(failure_lines(style, exploration, failure, reference));
    }
    lines.extend(unexpected_lines(style, exploration));
    lines.extend(mutation_lines(style, exploration));
    lines.push(String::new());
    lines.into_iter().map(|line| line + "\n").collect()
}

/// What the scenario foresees, where that is not what was found.
fn unexpected_lines(style: Style, exploration: &Exploration) -> Vec<String> {
    let Some(Expected { text, difference: Some(difference), .. }) = &exploration.expected else { return Vec::new() };
    let texts = [format!("NOT as expected: {text}"), format!("What came instead: {difference}")];
    let lines = texts.iter().flat_map(|text| indented(style, text)).map(|line| style.paint(Ink::Bad, &line));
    std::iter::once(String::new()).chain(lines).collect()
}

/// What became of the form without the parts that hold it together.
fn mutation_lines(style: Style, exploration: &Exploration) -> Vec<String> {
    let Some(mutations) = &exploration.mutations else { return Vec::new() };
    if exploration.verdict != Verdict::Safe {
        return indented(style, "nothing was taken out of it: it does not hold as it is");
    }
    let head = match mutations.len() {
        0 => "there is no lock, guard, retry or level in it to take out",
        _ => "explored again without the parts that hold it together:",
    };
    let mut lines = indented(style, head);
    for mutated in mutations {
        let what = match mutated.kind {
            MutationKind::Level => format!("at {}", mutated.taken_out),
            _ => format!("without {}", mutated.taken_out),
        };
        let (ink, after) = match mutated.after {
            after if mutated.red => (
                Ink::Good,
                format!("{} in {} of {}", after.name(), mutated.failing, count(mutated.schedules, "schedule")),
            ),
            Verdict::Inconclusive => {
                (Ink::Wait, format!("inconclusive after {}", count(mutated.schedules, "schedule")))
            }
            after if mutated.idle => (Ink::Plain, format!("still {}: no schedule has an error to retry", after.name())),
            after => (Ink::Bad, format!("still {}: it proves nothing, or is not needed here", after.name())),
        };
        let text = format!("{what} ({}): {after}", mutated.place);
        lines.extend(indented(style, &text).iter().map(|line| format!("  {}", style.paint(ink, line))));
    }
    lines
}

/// `write-skew at READ COMMITTED, with for-update: safe`.
fn headline(style: Style, exploration: &Exploration) -> String {
    let fix = exploration.fix.as_ref().map(|fix| format!(", with {fix}")).unwrap_or_default();
    let form = format!("{} at {}{fix}:", exploration.scenario, exploration.isolation.sql());
    let verdict = style.paint(ink(exploration.verdict), exploration.verdict.name());
    format!("{} {verdict}{}", style.paint(Ink::Heading, &form), how_often(exploration))
}

fn ink(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::Safe => Ink::Good,
        Verdict::Errors | Verdict::Deadlocks | Verdict::Inconclusive => Ink::Wait,
        Verdict::NotARace | Verdict::Broken => Ink::Bad,
    }
}

fn how_often(exploration: &Exploration) -> String {
    match exploration.verdict {
        Verdict::Broken | Verdict::Errors => {
            format!(" in {} of {}", exploration.failing(), count(exploration.schedules, "schedule"))
        }
        _ => String::new(),
    }
}

fn coverage(exploration: &Exploration, seed: u64) -> Vec<String> {
    if exploration.schedules == 0 {
        return exploration.notes.clone();
    }
    let mut lines = Vec::new();
    let played = count(exploration.schedules, "schedule");
    let orders = count(exploration.orders, "order");
    lines.push(match exploration.complete {
        true => format!("{played} played, for all {orders}"),
        false => format!("{played} played, of {orders}; not all that can happen was covered"),
    });
    if let Some(fallback) = &exploration.fallback {
        lines.extend(fallback_lines(exploration, fallback, seed));
    }
    if !exploration.errors.is_empty() {
        let errors: Vec<String> = exploration
            .errors
            .iter()
            .map(|(sqlstate, schedules)| format!("{sqlstate} in {}", count(*schedules, "schedule")))
            .collect();
        let retries = match exploration.retries {
            0 => String::new(),
            retries => format!("; {}", count_as(retries, "retry", "retries")),
        };
        lines.push(format!("errors: {}{retries}", errors.join(", ")));
    }
    if exploration.repaired > 0 {
        lines.push(format!("a check fails before the retries in {}", count(exploration.repaired, "schedule")));
    }
    if exploration.racy > 0 {
        lines.push(format!("who woke first was a race in {}", count(exploration.racy, "schedule")));
    }
    if exploration.verdict != Verdict::Safe && !exploration.by_design.is_empty() {
        lines.push(format!("outside every isolation level by design: {}", exploration.by_design.join("; ")));
    }
    lines.extend(exploration.notes.iter().cloned());
    lines
}

/// What was covered where not everything could be, and what was not.
fn fallback_lines(exploration: &Exploration, fallback: &Fallback, seed: u64) -> Vec<String> {
    let mut lines = vec![match fallback.preemptions {
        _ if exploration.complete => {
            "covered: every order that can happen, those with few preemptions first".to_owned()
        }
        None => "covered: not even every order without preemption".to_owned(),
        Some(0) => "covered: every order without preemption".to_owned(),
        Some(most) => format!("covered: every order with at most {}", count(most as u64, "preemption")),
    }];
    let mut parts = vec![format!("{} of a search that the limit cut short", quantity::count(fallback.systematic))];
    if fallback.bounded > 0 {
        parts.push(format!("{} with few preemptions", quantity::count(fallback.bounded)));
    }
    if fallback.random > 0 {
        parts.push(format!("{} at random, drawn by --seed {seed}", quantity::count(fallback.random)));
    }
    lines.push(format!("schedules: {}", parts.join(", ")));
    if !exploration.complete {
        let left = count(exploration.orders_left(), "order");
        lines.push(format!("not covered: up to {left}; a higher --max-schedules or --time-limit covers more"));
    }
    lines
}

fn failure_lines(style: Style, exploration: &Exploration, failure: &Failure, reference: &str) -> Vec<String> {
    let mut lines = failure_head(style, failure);
    lines.push(String::new());
    let inner = Style { width: style.width.saturating_sub(4), ..style };
    lines.extend(
        timeline::lines(inner, &failure.history).iter().map(|line| format!("    {line}").trim_end().to_owned()),
    );
    lines.push(String::new());
    lines.extend(left_out(failure).iter().flat_map(|text| indented(style, text)));
    lines.extend(failure.cycle.iter().flat_map(|dependency| indented(style, dependency)));
    lines.extend(indented(style, &failure.reason));
    lines.extend(not_repeatable(style, failure));
    lines.push(replay_line(exploration, failure, reference));
    lines
}

fn failure_head(style: Style, failure: &Failure) -> Vec<String> {
    let checks: Vec<String> = failure.checks.iter().map(|check| format!("check \"{check}\" fails")).collect();
    let checks = if checks.is_empty() { String::new() } else { format!(": {}", checks.join(", ")) };
    let head = format!("{} in {}{checks}", failure.kind, count(failure.schedules, "schedule"));
    indented(style, &head).iter().map(|line| style.paint(Ink::Bad, line)).collect()
}

fn not_repeatable(style: Style, failure: &Failure) -> Vec<String> {
    let Some(differs) = &failure.differs else { return Vec::new() };
    let text = format!("not repeatable, played twice the same schedule differs: {differs}");
    indented(style, &text).iter().map(|line| style.paint(Ink::Wait, line)).collect()
}

/// The command stays on one line, so that it can be copied.
fn replay_line(exploration: &Exploration, failure: &Failure, reference: &str) -> String {
    format!("  replay: {}", replay_command(exploration, failure, reference))
}

/// What the drawing does not show because the failure does not need it.
fn left_out(failure: &Failure) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let name = |session: usize| failure.history.session_name(session);
    parts.extend(failure.left_out.sessions.iter().map(|session| name(*session).to_owned()));
    let statements: Vec<&(usize, usize)> = failure.left_out.statements.iter().collect();
    for of_session in statements.chunk_by(|one, other| one.0 == other.0) {
        let number = count(of_session.len() as u64, "statement");
        parts.extend(of_session.first().map(|(session, _)| format!("{number} of {}", name(*session))));
    }
    (!parts.is_empty()).then(|| format!("left out, since it fails without: {}", parts.join(", ")))
}

/// The whole command line that plays a failing schedule again.
pub fn replay_command(exploration: &Exploration, failure: &Failure, reference: &str) -> String {
    let fix = exploration.fix.as_ref().map(|fix| format!(" --fix {}", quoted(fix))).unwrap_or_default();
    let level = exploration.isolation.name();
    let schedule = &failure.history.schedule;
    format!("isolab run {}{fix} --isolation {level} --replay '{schedule}'", quoted(reference))
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// All explorations at a glance: a row for each form, a column for each level, with the number of schedules.
pub fn summary(style: Style, explorations: &[Exploration]) -> String {
    let mut rows: Vec<Vec<&Exploration>> = Vec::new();
    for exploration in explorations {
        let is_form = |row: &&mut Vec<&Exploration>| {
            let same = |other: &&Exploration| other.scenario == exploration.scenario && other.fix == exploration.fix;
            row.first().is_some_and(same) && row.iter().all(|other| other.isolation != exploration.isolation)
        };
        match rows.iter_mut().find(is_form) {
            Some(row) => row.push(exploration),
            None => rows.push(vec![exploration]),
        }
    }
    let label = |index: usize, row: &Vec<&Exploration>| {
        let scenario = |row: &Vec<&Exploration>| row.first().map(|first| first.scenario.clone()).unwrap_or_default();
        let is_first = index == 0 || scenario(&rows[index - 1]) != scenario(row);
        match row.first().and_then(|first| first.fix.as_ref()) {
            None => scenario(row),
            Some(fix) if is_first => format!("{} with {fix}", scenario(row)),
            Some(fix) => format!("  with {fix}"),
        }
    };
    let cell = |row: &Vec<&Exploration>, level: Level| {
        let found = row.iter().find(|exploration| exploration.isolation == level);
        found.map(|found| format!("{} ({})", found.verdict.name(), found.schedules)).unwrap_or_default()
    };
    let levels = Level::ALL.into_iter().filter(|level| explorations.iter().any(|found| found.isolation == *level));
    let labels = rows.iter().enumerate().map(|(index, row)| label(index, row));
    let mut columns = vec![Column::text("", labels)];
    columns.extend(levels.map(|level| Column::text(level.sql(), rows.iter().map(|row| cell(row, level)))));
    let ink_of = |row: &Vec<&Exploration>| row.iter().map(|found| found.verdict).max().map_or(Ink::Plain, ink);
    let inks: Vec<Ink> = rows.iter().map(ink_of).collect();
    grid::lines(style, &columns, &inks).into_iter().map(|line| line + "\n").collect()
}

fn indented(style: Style, text: &str) -> Vec<String> {
    wrap(text, style.width.saturating_sub(2), 2).into_iter().map(|line| format!("  {line}")).collect()
}

/// `1 schedule`, `1,200 schedules`.
pub(super) fn count(number: u64, what: &str) -> String {
    count_as(number, what, &format!("{what}s"))
}

fn count_as(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", quantity::count(number), if number == 1 { one } else { many })
}
