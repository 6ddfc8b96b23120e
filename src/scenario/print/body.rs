//! A compiled body as statements and commands: jumps become blocks again.

use super::steps::{begins_loop, marks};
use crate::program::{Action, Arm, Program, Statement};
use crate::scenario::template::Template;

/// What a body is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Transaction,
    /// Its statements are no steps that a schedule could move.
    Script,
}

const INDENT: &str = "  ";

/// The lines of a body.
pub fn body(program: &Program, kind: Kind) -> String {
    let marks = match kind {
        Kind::Transaction => marks(program),
        Kind::Script => vec![None; program.ops.len()],
    };
    let mut writer = Writer { program, marks, blocks: Vec::new(), text: String::new() };
    for index in 0..program.ops.len() {
        writer.close(index);
        writer.op(index);
    }
    writer.close(program.ops.len());
    writer.text
}

/// A block that is open. Places are indices of operations.
enum Block<'a> {
    /// A branch with a condition; what comes instead begins at `target`.
    If {
        target: usize,
    },
    /// The other branch; its `\else` is still to be said while `is_due`.
    Else {
        end: usize,
        is_due: bool,
    },
    While {
        end: usize,
    },
    /// The arms that have not begun, and the end once it is known.
    Try {
        arms: &'a [Arm],
        end: Option<usize>,
    },
}

struct Writer<'a> {
    program: &'a Program,
    marks: Vec<Option<&'a str>>,
    blocks: Vec<Block<'a>>,
    text: String,
}

impl<'a> Writer<'a> {
    /// Ends the blocks that end before this operation.
    fn close(&mut self, index: usize) {
        while let Some(block) = self.blocks.last() {
            let word = match block {
                Block::If { target: end } | Block::Else { end, .. } if *end == index => "endif",
                Block::While { end } if *end == index => "endwhile",
                Block::Try { arms: [], end: Some(end) } if *end == index => "endtry",
                _ => return,
            };
            self.say_else();
            self.blocks.pop();
            self.command(word, "");
        }
    }

    fn op(&mut self, index: usize) {
        let program = self.program;
        let action = &program.ops[index].action;
        if let Action::Jump { target } = action {
            return self.jump(*target);
        }
        if let Action::JumpUnless { condition, target } = action
            && self.goes_on_with_elif(index, *target)
        {
            self.blocks.pop();
            self.command("elif", &condition.written());
            return self.blocks.push(Block::If { target: *target });
        }
        self.say_else();
        if let Some(name) = self.marks[index] {
            self.command("step", name);
        }
        match action {
            Action::Statement(statement) => self.statement(statement),
            Action::Set { name, value } => self.command("set", &format!("{name} {}", value.written())),
            Action::JumpUnless { condition, target } => self.condition(index, condition, *target),
            Action::Echo(text) => self.command("echo", &text.written()),
            Action::Reject { text, commit: true } => self.command("reject", &text.written()),
            Action::Reject { text, commit: false } => self.command("rollback", &text.written()),
            Action::Try { arms } => {
                self.command("try", "");
                self.blocks.push(Block::Try { arms, end: None });
            }
            Action::Sleep { milliseconds } => self.command("sleep", &format!("{milliseconds} ms")),
            Action::Crash => self.command("crash", ""),
            Action::Effect(sql) => self.command("effect", &sql.written()),
            Action::Connect { name } => self.command("connect", name),
            Action::Jump { .. } | Action::Round { .. } | Action::Leave => {}
        }
    }

    fn condition(&mut self, index: usize, condition: &Template, target: usize) {
        if begins_loop(self.program, index) {
            self.command("while", &condition.written());
            self.blocks.push(Block::While { end: target });
        } else {
            self.command("if", &condition.written());
            self.blocks.push(Block::If { target });
        }
    }

    /// A jump ends a branch, an arm or a round.
    fn jump(&mut self, end: usize) {
        self.say_else();
        match self.blocks.pop() {
            Some(Block::If { .. }) => self.blocks.push(Block::Else { end, is_due: true }),
            Some(Block::Try { arms: [arm, rest @ ..], .. }) => {
                self.command("on", &arm.sqlstates.join(", "));
                self.blocks.push(Block::Try { arms: rest, end: Some(end) });
            }
            other => self.blocks.extend(other),
        }
    }

    /// Whether an `\else` is due in which nothing stands but the condition at hand, with its own branches.
    fn goes_on_with_elif(&self, index: usize, target: usize) -> bool {
        let Some(Block::Else { end, is_due: true }) = self.blocks.last() else { return false };
        let jumps_to_end = |op: usize| match self.program.ops[op].action {
            Action::Jump { target } => target == *end,
            _ => false,
        };
        let is_all = target == *end || jumps_to_end(target - 1);
        is_all && !begins_loop(self.program, index) && self.marks[index].is_none()
    }

    fn say_else(&mut self) {
        if let Some(Block::Else { is_due, .. }) = self.blocks.last_mut()
            && std::mem::take(is_due)
        {
            self.command("else", "");
        }
    }

    fn statement(&mut self, statement: &Statement) {
        if statement.implicit {
            return;
        }
        let end = match &statement.capture {
            _ if statement.lost => " \\lost".to_owned(),
            Some(capture) if capture.prefix.is_empty() => " \\gset".to_owned(),
            Some(capture) => format!(" \\gset {}", capture.prefix),
            None => ";".to_owned(),
        };
        let depth = self.blocks.len();
        self.line(depth, &format!("{}{end}", statement.text.written()));
    }

    fn command(&mut self, word: &str, text: &str) {
        // The block of an `\else` is open when it is said; that of other words is not, or not any more.
        let depth = self.blocks.len() - usize::from(word == "else");
        self.line(depth, format!("\\{word} {text}").trim_end());
    }

    fn line(&mut self, depth: usize, line: &str) {
        self.text += &INDENT.repeat(depth);
        self.text += line;
        self.text.push('\n');
    }
}
