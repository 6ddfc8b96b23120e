//! `--assert`: a number of the table against a limit, as in `over_budget == 0` or `serializable: p95 < 20ms`.

use super::statistics::{AssertionResult, LoadRow};
use crate::scenario::nearest;

/// The numbers of every row, beside the scenario's measures.
const COUNTS: [&str; 8] = ["ok", "rejected", "gave_up", "failed", "unknown", "retries", "most_attempts", "tps"];
/// In milliseconds.
const LATENCIES: [&str; 4] = ["p50", "p95", "p99", "max"];

#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    /// As written.
    text: String,
    /// The one row that it is about; otherwise it is about every row.
    strategy: Option<String>,
    name: String,
    operator: Operator,
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssertionError {
    #[error(
        "`{text}` is no assertion\nhelp: write NAME OP NUMBER with one of == != < <= > >=, such as 'over_budget == 0', 'p95 < 20ms' or 'serializable: gave_up == 0'"
    )]
    Form { text: String },
    #[error("`{text}` asserts something about `{name}`, which is no number of the table{}\nhelp: there are {}", did_you_mean(.nearest), .known.join(", "))]
    UnknownName { text: String, name: String, nearest: Option<String>, known: Vec<String> },
    #[error("`{text}` is about strategy `{name}`, which is not among those that run{}", did_you_mean(.nearest))]
    UnknownStrategy { text: String, name: String, nearest: Option<String> },
    #[error("`{text}` gives a time, and `{name}` is none")]
    NotATime { text: String, name: String },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}

impl Assertion {
    /// Reads one; `measures` are the scenario's, `strategies` the names of the rows that will be there.
    pub fn parse(text: &str, measures: &[&str], strategies: &[&str]) -> Result<Assertion, AssertionError> {
        let form = || AssertionError::Form { text: text.to_owned() };
        let (strategy, condition) = match text.split_once(':') {
            Some((strategy, condition)) => (Some(strategy.trim()), condition),
            None => (None, text),
        };
        let start = condition.find(['=', '!', '<', '>']).ok_or_else(form)?;
        let (name, rest) = (condition[..start].trim(), &condition[start..]);
        let (operator, limit) = operator(rest).ok_or_else(form)?;
        let (limit, is_time) = number(limit.trim()).ok_or_else(form)?;
        let known = || measures.iter().copied().chain(COUNTS).chain(LATENCIES);
        if name.is_empty() || !known().any(|known| known == name) {
            return Err(AssertionError::UnknownName {
                text: text.to_owned(),
                name: name.to_owned(),
                nearest: nearest(name, known()).map(str::to_owned),
                known: known().map(str::to_owned).collect(),
            });
        }
        if is_time && (measures.contains(&name) || !LATENCIES.contains(&name)) {
            return Err(AssertionError::NotATime { text: text.to_owned(), name: name.to_owned() });
        }
        if let Some(unknown) = strategy.filter(|strategy| !strategies.contains(strategy)) {
            return Err(AssertionError::UnknownStrategy {
                text: text.to_owned(),
                name: unknown.to_owned(),
                nearest: nearest(unknown, strategies.iter().copied()).map(str::to_owned),
            });
        }
        let strategy = strategy.map(str::to_owned);
        Ok(Assertion { text: text.trim().to_owned(), strategy, name: name.to_owned(), operator, limit })
    }

    /// What it says of each row that it is about. It does not hold of a row that it names and that is not there.
    pub fn judge(&self, rows: &[LoadRow]) -> Vec<AssertionResult> {
        let is_meant = |row: &&LoadRow| self.strategy.as_ref().is_none_or(|strategy| *strategy == row.strategy);
        if let Some(strategy) = &self.strategy
            && !rows.iter().any(|row| is_meant(&row))
        {
            let (text, strategy) = (self.text.clone(), strategy.clone());
            return vec![AssertionResult { text, strategy, actual: None, limit: self.limit, holds: false }];
        }
        rows.iter()
            .filter(is_meant)
            .map(|row| {
                let actual = value(row, &self.name);
                AssertionResult {
                    text: self.text.clone(),
                    strategy: row.strategy.clone(),
                    actual,
                    limit: self.limit,
                    holds: actual.is_some_and(|actual| self.operator.holds(actual, self.limit)),
                }
            })
            .collect()
    }
}

impl Operator {
    fn holds(self, actual: f64, limit: f64) -> bool {
        match self {
            Operator::Equal => actual == limit,
            Operator::NotEqual => actual != limit,
            Operator::Less => actual < limit,
            Operator::LessOrEqual => actual <= limit,
            Operator::Greater => actual > limit,
            Operator::GreaterOrEqual => actual >= limit,
        }
    }
}

/// The operator at the start of a text, and what follows.
fn operator(text: &str) -> Option<(Operator, &str)> {
    let operators = [
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];
    operators.into_iter().find_map(|(symbol, operator)| Some((operator, text.strip_prefix(symbol)?)))
}

/// A number, and whether it is a time, which is then in milliseconds.
fn number(text: &str) -> Option<(f64, bool)> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" => None,
        "us" => Some(0.001),
        "ms" => Some(1.0),
        "s" => Some(1_000.0),
        _ => return None,
    };
    let number: f64 = digits.trim().parse().ok().filter(|number: &f64| number.is_finite())?;
    Some((number * factor.unwrap_or(1.0), factor.is_some()))
}

/// A number of a row; a measure comes before a count of the same name.
fn value(row: &LoadRow, name: &str) -> Option<f64> {
    if let Some(measure) = row.measures.iter().find(|measure| measure.name == name) {
        return measure.value.as_ref()?.parse().ok();
    }
    let latency = || row.latency_ms.as_ref();
    match name {
        "ok" => Some(row.ok as f64),
        "rejected" => Some(row.rejected as f64),
        "gave_up" => Some(row.gave_up as f64),
        "failed" => Some(row.failed as f64),
        "unknown" => Some(row.unknown as f64),
        "retries" => Some(row.retries as f64),
        "most_attempts" => Some(row.most_attempts.into()),
        "tps" => Some(row.tps),
        "p50" => latency().map(|latency| latency.p50),
        "p95" => latency().map(|latency| latency.p95),
        "p99" => latency().map(|latency| latency.p99),
        "max" => latency().map(|latency| latency.max),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MeasureResult;
    use crate::load::statistics::Latency;
    use crate::scenario::Level;

    fn row(strategy: &str, over_budget: &str) -> LoadRow {
        let value = Some(over_budget.to_owned());
        LoadRow {
            scenario: "overspend".to_owned(),
            strategy: strategy.to_owned(),
            fix: None,
            isolation: Level::ReadCommitted,
            workers: 16,
            requests: 400,
            ok: 191,
            rejected: 209,
            gave_up: 0,
            failed: 0,
            unknown: 0,
            retries: 0,
            most_attempts: 1,
            errors: Vec::new(),
            checks: Vec::new(),
            left_out: Vec::new(),
            measures: vec![MeasureResult { name: "over_budget".to_owned(), unit: None, value }],
            seconds: 0.08,
            tps: 5000.0,
            latency_ms: Some(Latency { p50: 1.0, p95: 3.0, p99: 5.0, max: 9.0 }),
            cut_short: false,
        }
    }

    fn judged(text: &str) -> Vec<(String, Option<f64>, bool)> {
        let rows = [row("naive-rc", "1899"), row("conditional", "0")];
        let assertion = Assertion::parse(text, &["over_budget"], &["naive-rc", "conditional"]).unwrap();
        assertion.judge(&rows).into_iter().map(|result| (result.strategy, result.actual, result.holds)).collect()
    }

    #[test]
    fn an_assertion_is_about_every_row() {
        let expected = [("naive-rc".to_owned(), Some(1899.0), false), ("conditional".to_owned(), Some(0.0), true)];
        assert_eq!(judged("over_budget == 0"), expected);
        assert_eq!(judged("over_budget==0"), expected);
    }

    #[test]
    fn or_about_the_one_that_it_names() {
        assert_eq!(judged("naive-rc: over_budget > 0"), [("naive-rc".to_owned(), Some(1899.0), true)]);
    }

    #[test]
    fn times_have_units() {
        let holds = |text| judged(text).iter().all(|(_, _, holds)| *holds);
        assert!(holds("p95 < 3.5ms") && holds("p95 <= 3") && holds("max < 0.01s") && holds("p50 >= 1000us"));
        assert!(!holds("p99 < 5ms"));
    }

    #[test]
    fn every_operator_means_what_it_says() {
        let holds = |operator: &str| {
            let holds = |limit| judged(&format!("conditional: ok {operator} {limit}"))[0].2;
            (holds(190), holds(191), holds(192))
        };
        assert_eq!(holds("=="), (false, true, false));
        assert_eq!(holds("!="), (true, false, true));
        assert_eq!(holds("<"), (false, false, true));
        assert_eq!(holds("<="), (false, true, true));
        assert_eq!(holds(">"), (true, false, false));
        assert_eq!(holds(">="), (true, true, false));
    }

    #[test]
    fn what_cannot_be_asserted_is_an_error() {
        let error = |text| Assertion::parse(text, &["over_budget"], &["naive-rc"]).unwrap_err().to_string();
        for text in
            ["", "over_budget", "over_budget = 0", "over_budget == ", "over_budget == many", "ok == inf", "ok < 1h"]
        {
            assert!(error(text).contains("is no assertion"), "{text}");
        }
        assert!(error("overbudget == 0").contains("did you mean `over_budget`?"));
        assert!(error("naive-rr: ok > 0").contains("did you mean `naive-rc`?"));
        assert!(error("ok < 5ms").contains("`ok` is none"));
    }

    #[test]
    fn a_row_that_is_not_there_fails_the_assertion() {
        let assertion = Assertion::parse("conditional: ok > 0", &[], &["conditional"]).unwrap();
        let results = assertion.judge(&[row("naive-rc", "0")]);
        assert_eq!((results.len(), results[0].actual, results[0].holds), (1, None, false));
    }

    #[test]
    fn a_row_without_the_number_fails_the_assertion() {
        let assertion = Assertion::parse("p95 < 20ms", &[], &[]).unwrap();
        let results = assertion.judge(&[LoadRow { latency_ms: None, ..row("naive-rc", "0") }]);
        assert_eq!((results[0].actual, results[0].holds), (None, false));
    }
}
