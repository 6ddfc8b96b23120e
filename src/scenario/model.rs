//! What a scenario file says, resolved: every fix is a whole [`Plan`] of its own.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::source::{Sources, Span};
use super::template::Template;
use crate::program::Program;

/// A transaction isolation level under test. PostgreSQL runs READ UNCOMMITTED as READ COMMITTED.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Level {
    /// The three levels that PostgreSQL tells apart, weakest first.
    pub const ALL: [Level; 3] = [Level::ReadCommitted, Level::RepeatableRead, Level::Serializable];

    pub const EVERY: [Level; 4] =
        [Level::ReadUncommitted, Level::ReadCommitted, Level::RepeatableRead, Level::Serializable];

    /// The level that PostgreSQL makes of it.
    pub fn in_effect(self) -> Level {
        if self == Level::ReadUncommitted { Level::ReadCommitted } else { self }
    }

    /// As in scenario files, on the command line and in JSON: `read-committed`.
    pub fn name(self) -> &'static str {
        match self {
            Level::ReadUncommitted => "read-uncommitted",
            Level::ReadCommitted => "read-committed",
            Level::RepeatableRead => "repeatable-read",
            Level::Serializable => "serializable",
        }
    }

    /// The level that a statement names by ISOLATION LEVEL.
    pub fn named_in(sql: &str) -> Option<Level> {
        let words = sql.to_uppercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, name) = words.split_once("ISOLATION LEVEL ")?;
        Level::EVERY.into_iter().find(|level| name.starts_with(level.sql()))
    }

    /// As in SQL: `READ COMMITTED`.
    pub fn sql(self) -> &'static str {
        match self {
            Level::ReadUncommitted => "READ UNCOMMITTED",
            Level::ReadCommitted => "READ COMMITTED",
            Level::RepeatableRead => "REPEATABLE READ",
            Level::Serializable => "SERIALIZABLE",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = ();

    fn from_str(text: &str) -> Result<Level, ()> {
        Level::EVERY.into_iter().find(|level| level.name() == text).ok_or(())
    }
}

/// One scenario file.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The file's name without folder and ending: `write-skew`.
    pub name: String,
    pub title: String,
    /// The comments below `@title`, one string, lines joined by LF.
    pub story: String,
    pub sources: Sources,
    pub params: Vec<Param>,
    /// Further databases, reached by `\connect`.
    pub databases: Vec<String>,
    /// Server connections that sessions share, reached by `\connect`.
    pub pools: Vec<String>,
    pub load: Option<Load>,
    /// The levels that its transactions name themselves; empty: those that the user asks for.
    pub levels: Vec<Level>,
    /// What the file says outside any fix.
    pub as_written: Plan,
    /// Fixes and variants in file order.
    pub variants: Vec<Variant>,
    /// The variants are sets of the steps of a `.spec` file, and there is no form besides them.
    pub is_menu: bool,
}

/// A named other form of the scenario: `@fix` or `@variant`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    pub name: String,
    /// `@fix`; otherwise `@variant`, which is the same but not called a fix.
    pub is_fix: bool,
    /// The levels of `at`; empty: the levels that the user asks for.
    pub levels: Vec<Level>,
    pub story: String,
    pub span: Span,
    pub plan: Plan,
}

/// Everything that one run needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    pub requires: Vec<Requirement>,
    /// Run once in a fresh sandbox, in order.
    pub schema: Vec<Script>,
    /// Run before every schedule, when all tables were emptied.
    pub setup: Vec<Script>,
    /// Statements that undo both, also what they did outside the sandbox.
    pub teardown: Vec<Template>,
    pub transactions: Vec<Arc<Transaction>>,
    pub sessions: Vec<Session>,
    /// The staged schedule; empty: each session in turn.
    pub order: Vec<Move>,
    pub retry: Option<Retry>,
    /// Run after all sessions and retries, in order.
    pub finally: Vec<Session>,
    pub checks: Vec<Check>,
    pub measures: Vec<Measure>,
    pub expects: Vec<Expect>,
}

/// `@param`: a variable that is set everywhere; `--set` replaces its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    pub name: String,
    /// An SQL expression over nothing.
    pub value: Template,
    pub span: Span,
}

/// Statements without a transaction around them: of `@schema`, `@setup`, `@check` and `@measure`. Each runs by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// Shared by the plans of all fixes.
    pub program: Arc<Program>,
    pub span: Span,
}

/// `@requires`: what a server must have, or the run is skipped with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// `version >= 14`: compared with the major version.
    Version { comparison: Comparison, version: u32 },
    /// `extension NAME`: must be available; it is created in the sandbox's own database.
    Extension(String),
    /// `SETTING > VALUE`.
    Setting { name: String, comparison: Comparison, value: String },
    /// A database of its own.
    Database,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    GreaterOrEqual,
    Greater,
}

impl Comparison {
    pub fn holds<T: PartialOrd>(self, left: &T, right: &T) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Equal => left == right,
            Comparison::GreaterOrEqual => left >= right,
            Comparison::Greater => left > right,
        }
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Equal => "=",
            Comparison::GreaterOrEqual => ">=",
            Comparison::Greater => ">",
        }
    }
}

/// What one request does. A session with a body has a transaction of its own name.
#[derive(Debug, Clone, PartialEq)]
pub struct Transaction {
    pub name: String,
    pub params: Vec<String>,
    pub program: Program,
    pub span: Span,
}

/// One actor with its own connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub name: String,
    /// `at`: pinned; otherwise the level under test.
    pub level: Option<Level>,
    /// Statements that its connection is prepared with before every schedule, outside any transaction.
    pub setup: Vec<Template>,
    pub calls: Vec<Call>,
    pub span: Span,
}

/// A transaction with its arguments: `approve('alice', 3000)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub transaction: Arc<Transaction>,
    /// SQL expressions, one for each parameter.
    pub arguments: Vec<Template>,
    pub span: Span,
}

impl Call {
    /// As written: `approve('alice', 3000)`.
    pub fn written(&self) -> String {
        if self.arguments.is_empty() {
            return self.transaction.name.clone();
        }
        let arguments: Vec<String> = self.arguments.iter().map(Template::written).collect();
        format!("{}({})", self.transaction.name, arguments.join(", "))
    }
}

/// One element of `@order`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// Let the session (an index into [`Plan::sessions`]) run on until its next STEP is done or passed by.
    Step { session: usize, transaction: Option<String>, step: String, span: Span },
    /// `wait SESSION`: until it is not blocked.
    Wait { session: usize, span: Span },
}

/// `@retry`: what the client does after a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Attempts in all, the first included.
    pub attempts: u32,
    /// SQLSTATEs that are retried besides 40001 and 40P01.
    pub also: Vec<String>,
}

/// A query of one row and one column that is true or null when the data are right.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    pub name: String,
    pub script: Script,
    pub span: Span,
}

/// A query of one number to report.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    pub name: String,
    /// `in $`: written before the number when it is a currency sign, behind it otherwise.
    pub unit: Option<String>,
    pub script: Script,
    pub span: Span,
}

/// `@expect`: what the staged order gives at some levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Expect {
    pub levels: Vec<Level>,
    /// `on >= 18`.
    pub version: Option<(Comparison, u32)>,
    pub outcome: ExpectedOutcome,
    /// `then holds` (true) or `then happens` (false), after the retries.
    pub then_holds: Option<bool>,
    /// The outcome as written: `stopped 40001 at bob commit then holds`.
    pub text: String,
    /// `, explored …`.
    pub explored: Option<ExpectedOfAll>,
    pub span: Span,
}

/// What some other schedule shows although nothing happens in the staged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedOfAll {
    /// A check fails.
    Happens,
    /// Every check holds, and yet no serial order gives these answers.
    Anomaly,
}

impl ExpectedOfAll {
    pub const EVERY: [ExpectedOfAll; 2] = [ExpectedOfAll::Happens, ExpectedOfAll::Anomaly];

    /// As in scenario files.
    pub fn name(self) -> &'static str {
        match self {
            ExpectedOfAll::Happens => "happens",
            ExpectedOfAll::Anomaly => "anomaly",
        }
    }
}

impl Expect {
    /// What it says behind its levels: `waits, explored anomaly`.
    pub fn written(&self) -> String {
        match self.explored {
            None => self.text.clone(),
            Some(explored) => format!("{}, explored {}", self.text, explored.name()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedOutcome {
    /// A check fails; with a stop, that error was seen as well.
    Happens(Option<ExpectedStop>),
    Stopped(Vec<ExpectedStop>),
    Waits,
    Prevented,
    /// Anything but happens.
    Holds,
}

/// `40001 at bob commit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedStop {
    pub sqlstate: String,
    /// Session and step.
    pub at: Option<(String, String)>,
}

/// `@load`: what the workers of the load test do.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Taken in turn, a call a request. Arguments may also use `:worker`, `:request`, a column of `from`, `random(LO, HI)`.
    pub calls: Vec<LoadCall>,
    pub workers: u32,
    pub amount: LoadAmount,
    /// `from FILE.csv`: its header and rows.
    pub rows: Option<LoadRows>,
    /// `set PARAM = VALUE`.
    pub set: Vec<(String, Template)>,
    /// `as NAME`: what the as-written row of the table is called.
    pub name: Option<String>,
    pub span: Span,
}

/// A call by name, since every fix may have its own transaction of that name.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCall {
    pub transaction: String,
    pub arguments: Vec<LoadArgument>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LoadArgument {
    /// An SQL expression over parameters, `:worker`, `:request` and the columns of [`LoadRows`].
    Expression(Template),
    /// `random(LO, HI)`: a whole number, both ends included, by the seed.
    Random { low: i64, high: i64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadAmount {
    Requests(u64),
    For(std::time::Duration),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadRows {
    /// The file as written.
    pub file: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Plan {
    /// The names of all steps that its sessions may come to.
    pub fn step_names(&self) -> impl Iterator<Item = &str> {
        let calls = self.sessions.iter().chain(&self.finally).flat_map(|session| &session.calls);
        calls.flat_map(|call| call.transaction.program.steps.iter().map(String::as_str))
    }
}

/// How the paragraph of a story begins that says what the literature calls the bug.
const FORMAL_NAME: &str = "Formal name:";

impl Scenario {
    /// What the literature calls the bug, where the story says it: `A5B write skew, G2`.
    pub fn formal_name(&self) -> Option<String> {
        let mut paragraphs = self.story.split("\n\n");
        let text = paragraphs.find_map(|paragraph| paragraph.strip_prefix(FORMAL_NAME))?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned())
    }

    /// The plan of a fix or variant, or as written for none.
    pub fn plan(&self, fix: Option<&str>) -> Option<&Plan> {
        match fix {
            None => Some(&self.as_written),
            Some(name) => self.variant(name).map(|variant| &variant.plan),
        }
    }

    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }
}
