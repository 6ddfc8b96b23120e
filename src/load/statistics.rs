//! What a load test measured: plain values that the engine fills and the reports render.

use serde::{Serialize, Serializer};

use crate::history::{CheckResult, MeasureResult, StatementError};
use crate::scenario::Level;

/// One strategy under load. `ok + rejected + gave_up + failed + unknown = requests`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadRow {
    pub scenario: String,
    /// The name of the fix or variant, or of the as-written row.
    pub strategy: String,
    /// The name of the fix or variant; none as written.
    pub fix: Option<String>,
    pub isolation: Level,
    pub workers: u32,
    pub requests: u64,
    pub ok: u64,
    /// A business no.
    pub rejected: u64,
    /// Reached the cap of attempts.
    pub gave_up: u64,
    pub failed: u64,
    /// The answer to COMMIT was lost.
    pub unknown: u64,
    /// Attempts beyond each request's first.
    pub retries: u64,
    /// The most attempts that one request took.
    pub most_attempts: u32,
    /// What ended the requests that gave up, failed or are unknown, by SQLSTATE.
    pub errors: Vec<ErrorCount>,
    pub checks: Vec<CheckResult>,
    /// The names of checks that cannot be asked about a load test, because they need `isolab_read`.
    pub left_out: Vec<String>,
    #[serde(serialize_with = "MeasureResult::by_name")]
    pub measures: Vec<MeasureResult>,
    /// From the common start to the last answer.
    pub seconds: f64,
    /// Requests answered, whatever the answer, per second.
    pub tps: f64,
    /// None where no request was answered.
    pub latency_ms: Option<Latency>,
    /// The time limit came before all requests were made.
    pub cut_short: bool,
}

/// Requests that one error ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorCount {
    /// The first of them.
    #[serde(flatten)]
    pub error: StatementError,
    pub requests: u64,
}

/// How long requests took, retries included, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

/// One assertion, judged on one row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AssertionResult {
    /// As written: `over_budget == 0`.
    pub text: String,
    pub strategy: String,
    /// The value on the left; none where the row has none, and then the assertion does not hold.
    #[serde(serialize_with = "whole_where_whole")]
    pub actual: Option<f64>,
    /// The number that it is compared with.
    #[serde(serialize_with = "whole_where_whole_number")]
    pub limit: f64,
    pub holds: bool,
}

impl AssertionResult {
    /// How far beyond its limit an actual number is that does not hold: below zero where it falls short.
    pub fn over(&self) -> Option<f64> {
        self.actual.filter(|_| !self.holds).map(|actual| actual - self.limit)
    }
}

fn whole_where_whole_number<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    whole_where_whole(&Some(*number), serializer)
}

/// 1899 and not 1899.0, as measures are written too.
fn whole_where_whole<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    /// Beyond this a double no longer tells whole numbers apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number {
        Some(whole) if whole.fract() == 0.0 && whole.abs() < EXACT => serializer.serialize_i64(*whole as i64),
        other => other.serialize(serializer),
    }
}
