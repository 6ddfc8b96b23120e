//! What the permutations of a file come to, for people: how many went through, and what stopped the others.

use super::SpecRow;
use crate::report::layout::{printable, wrap};
use crate::report::style::Ink;
use crate::report::{Style, quantity};
use crate::spec::{Ending, Launch};

/// A few lines; with a line for each permutation if `every` is set.
pub fn story(style: Style, row: &SpecRow, every: bool) -> String {
    let summary = &row.permutations;
    let count = summary.permutations.len();
    let time = quantity::milliseconds(row.seconds * 1e3, style.ascii);
    let permutations = if count == 1 { "permutation" } else { "permutations" };
    let headline = format!("{}: {count} {permutations} in {time}", printable(&row.file));
    let mut lines = vec![style.paint(Ink::Heading, &headline)];
    let mut tell = |ink: Ink, text: String| {
        let wrapped = wrap(&format!("  {}", printable(&text)), style.width, 4);
        lines.extend(wrapped.into_iter().map(|line| style.paint(ink, &line)));
    };
    if every {
        for ending in &summary.permutations {
            tell(Ink::Plain, ending_line(ending));
        }
    }
    if count > 0 {
        tell(Ink::Plain, format!("{} without an error", share(summary.clean(), count)));
    }
    for stopped in summary.stopped() {
        tell(
            Ink::Plain,
            format!("{} with {}: {}", share(stopped.permutations, count), stopped.sqlstate, stopped.message),
        );
    }
    if summary.waited() > 0 {
        tell(Ink::Plain, format!("{} with a step that waits", share(summary.waited(), count)));
    }
    if let Some(message) = &row.message {
        tell(Ink::Bad, message.clone());
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn share(part: usize, whole: usize) -> String {
    if part == whole { "all".to_owned() } else { format!("{part} of {whole}") }
}

/// The steps in their order, each with what became of it: `rx1 wx2(waits) c1 c2(40001)`.
fn ending_line(ending: &Ending) -> String {
    let launch = |launch: &Launch| {
        let waits = launch.waited.then(|| "waits".to_owned());
        let error = launch.error.as_ref().map(|(sqlstate, _)| sqlstate.clone());
        let lost = launch.lost.then(|| "disconnected".to_owned());
        let fate: Vec<String> = waits.into_iter().chain(error).chain(lost).collect();
        if fate.is_empty() { launch.step.clone() } else { format!("{}({})", launch.step, fate.join(", ")) }
    };
    ending.launches.iter().map(launch).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Summary;

    fn launch(step: &str, waited: bool, error: Option<&str>) -> Launch {
        let error = error.map(|sqlstate| (sqlstate.to_owned(), "could not serialize access".to_owned()));
        Launch { step: step.to_owned(), waited, error, lost: false }
    }

    fn row() -> SpecRow {
        let skewed = vec![launch("wx1", false, None), launch("wx2", true, Some("40001")), launch("c1", false, None)];
        let serial = vec![launch("wx1", false, None), launch("c1", false, None), launch("wx2", false, None)];
        let permutations = [skewed, serial].map(|launches| Ending { launches }).to_vec();
        SpecRow::played("x.spec", Summary { permutations }, 0.045, None)
    }

    #[test]
    fn permutations_are_counted_by_how_they_end() {
        let expected = "\
x.spec: 2 permutations in 45 ms
  1 of 2 without an error
  1 of 2 with 40001: could not serialize access
  1 of 2 with a step that waits
";
        assert_eq!(story(Style::PLAIN, &row(), false), expected);
    }

    #[test]
    fn every_permutation_has_a_line_on_request() {
        let text = story(Style::PLAIN, &row(), true);
        assert!(text.contains("\n  wx1 wx2(waits, 40001) c1\n  wx1 c1 wx2\n  1 of 2 without"), "{text}");
    }
}
