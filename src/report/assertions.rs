//! The table of assertions: those that fail first.

use super::grid::{self, Column};
use super::style::Ink;
use super::{Style, quantity};
use crate::load::statistics::AssertionResult;

/// One line where all hold; empty where there is none.
pub fn render(style: Style, assertions: &[AssertionResult]) -> String {
    if assertions.iter().all(|assertion| assertion.holds) {
        return match assertions.len() {
            0 => String::new(),
            1 => style.paint(Ink::Good, "the assertion holds") + "\n",
            count => style.paint(Ink::Good, &format!("all {count} assertions hold")) + "\n",
        };
    }
    let (holding, failing): (Vec<_>, Vec<_>) = assertions.iter().partition(|assertion| assertion.holds);
    let rows = [failing, holding].concat();
    let word = |assertion: &AssertionResult| if assertion.holds { "holds" } else { "FAILS" }.to_owned();
    let actual = |assertion: &AssertionResult| quantity::number(assertion.actual.unwrap_or(f64::NAN));
    let columns = [
        Column::text("assertion", rows.iter().map(|assertion| assertion.text.clone())),
        Column::text("strategy", rows.iter().map(|assertion| assertion.strategy.clone())),
        Column::number("actual", rows.iter().map(|assertion| actual(assertion))),
        Column::number("over by", rows.iter().map(|assertion| over(assertion))),
        Column::text("", rows.iter().map(|assertion| word(assertion))),
    ];
    let inks: Vec<Ink> = rows.iter().map(|assertion| if assertion.holds { Ink::Plain } else { Ink::Bad }).collect();
    grid::lines(style, &columns, &inks).into_iter().map(|line| line + "\n").collect()
}

/// By how much the number is beyond its limit, and which part of the limit that is; empty where it holds.
fn over(assertion: &AssertionResult) -> String {
    let Some(over) = assertion.over() else { return String::new() };
    let part = 100.0 * over / assertion.limit;
    let part = if part.is_finite() { format!(" ({}%)", quantity::number(part.round())) } else { String::new() };
    quantity::number(over) + &part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assertion(strategy: &str, actual: Option<f64>, holds: bool) -> AssertionResult {
        AssertionResult {
            text: "over_budget == 0".to_owned(),
            strategy: strategy.to_owned(),
            actual,
            limit: 0.0,
            holds,
        }
    }

    #[test]
    fn what_fails_comes_first() {
        let rows = [
            assertion("conditional", Some(0.0), true),
            assertion("naive-rc", Some(1899.0), false),
            assertion("unmeasured", None, false),
        ];
        let rest: Vec<String> = render(Style::PLAIN, &rows)
            .lines()
            .skip(3)
            .map(|line| line.split_whitespace().skip(3).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(rest, ["naive-rc 1,899 1,899 FAILS", "unmeasured n/a FAILS", "conditional 0 holds"]);
    }

    #[test]
    fn what_is_over_says_by_how_much() {
        let row = AssertionResult { limit: 1500.0, ..assertion("naive-rc", Some(1899.0), false) };
        assert_eq!(over(&row), "399 (27%)");
        assert_eq!(over(&AssertionResult { actual: Some(1200.0), ..row.clone() }), "-300 (-20%)");
        assert_eq!(over(&AssertionResult { holds: true, ..row }), "");
    }

    #[test]
    fn when_all_hold_one_line_is_enough() {
        let holds = assertion("conditional", Some(0.0), true);
        assert_eq!(render(Style::PLAIN, &[holds.clone(), holds]), "all 2 assertions hold\n");
        assert_eq!(render(Style::PLAIN, &[]), "");
    }
}
