//! A body, compiled to a flat list of operations with jumps, so that a position is one number and a retry can go back to it.

use crate::scenario::Level;
use crate::scenario::source::Span;
use crate::scenario::template::Template;

/// A compiled body.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    pub ops: Vec<Op>,
    /// The names of the steps that [`Op::step`] points into, in the order in which they start. Two steps may share a name.
    pub steps: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    /// Index into [`Program::steps`]. A command belongs to the step of the statement before it.
    pub step: usize,
    pub action: Action,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Statement(Statement),
    /// `\set NAME EXPR`.
    Set {
        name: String,
        value: Template,
    },
    /// `\if`, `\elif`, `\while`: goes to `target` unless the condition is true.
    JumpUnless {
        condition: Template,
        target: usize,
    },
    Jump {
        target: usize,
    },
    /// `\echo TEXT`.
    Echo(Template),
    /// `\reject TEXT` ends the call with COMMIT, `\rollback TEXT` with ROLLBACK; both tell the client "rejected: TEXT".
    Reject {
        text: Template,
        commit: bool,
    },
    /// `\while`'s guard: an error after a thousand rounds of the loop that starts here.
    Round {
        limit: u32,
    },
    /// `\try`: until the matching [`Action::Leave`] an error that an arm names goes to the arm's target.
    Try {
        arms: Vec<Arm>,
    },
    /// The end of a `\try` block, reached without an error.
    Leave,
    /// `\sleep N ms`.
    Sleep {
        milliseconds: u64,
    },
    /// `\crash`.
    Crash,
    /// `\effect SQL`.
    Effect(Template),
    /// `\connect NAME`; `main` is home.
    Connect {
        name: String,
    },
}

impl Action {
    /// The command, where only a staged run can carry it out and no load test.
    pub fn only_staged(&self) -> Option<&'static str> {
        match self {
            Action::Statement(Statement { lost: true, .. }) => Some("\\lost"),
            Action::Crash => Some("\\crash"),
            Action::Effect(_) => Some("\\effect"),
            Action::Connect { .. } => Some("\\connect"),
            _ => None,
        }
    }
}

/// `\on SQLSTATE, …` of a `\try` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arm {
    pub sqlstates: Vec<String>,
    pub target: usize,
}

/// One SQL statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Without the closing semicolon.
    pub text: Template,
    pub capture: Option<Capture>,
    /// `\lost`: the answer is lost with the connection, on the first attempt only.
    pub lost: bool,
    pub control: Control,
    /// The lab added it: the BEGIN or COMMIT of a body that has none.
    pub implicit: bool,
}

impl Statement {
    /// Whether it is a BEGIN with a level at most.
    pub fn is_plain_begin(&self) -> bool {
        if self.control != Control::Begin {
            return false;
        }
        let words = self.text.written().to_uppercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let level = match words.as_slice() {
            ["BEGIN", "TRANSACTION", rest @ ..] | ["START", "TRANSACTION", rest @ ..] | ["BEGIN", rest @ ..] => rest,
            _ => return false,
        };
        match level {
            ["ISOLATION", "LEVEL", name @ ..] => Level::EVERY.iter().any(|level| level.sql() == name.join(" ")),
            rest => rest.is_empty(),
        }
    }
}

/// `\gset [PREFIX]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capture {
    pub prefix: String,
}

/// What a statement does to the transaction around it, by its first words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT, END.
    Commit,
    /// ROLLBACK, ABORT; not ROLLBACK TO.
    Rollback,
    /// PREPARE TRANSACTION.
    Prepare,
    /// Anything else.
    Other,
}

impl Control {
    /// The step that such a statement is by itself.
    pub fn step_name(self) -> Option<&'static str> {
        match self {
            Control::Commit => Some("commit"),
            Control::Rollback => Some("rollback"),
            Control::Prepare => Some("prepare"),
            Control::Begin | Control::Other => None,
        }
    }
}
