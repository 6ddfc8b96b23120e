//! `\if`, `\while` and `\try` as jumps.

use super::Compiler;
use crate::program::{Action, Arm};
use crate::scenario::parser::slice::Slice;
use crate::scenario::source::Span;

/// A loop that does not end within so many rounds is an error.
const ROUNDS: u32 = 1000;

/// A block that is open while the body is read.
#[derive(Debug)]
pub struct Block {
    form: Form,
    /// Where it was opened.
    span: Span,
    /// Jumps to its end.
    ends: Vec<usize>,
}

#[derive(Debug)]
enum Form {
    /// The condition's jump, until the next branch says where it goes; none in the `\else` branch.
    If {
        skip: Option<usize>,
    },
    While {
        start: usize,
    },
    /// The `Try` operation, and whether an arm has begun.
    Try {
        start: usize,
        in_arm: bool,
    },
}

impl Form {
    fn words(&self) -> (&'static str, &'static str) {
        match self {
            Form::If { .. } => ("if", "endif"),
            Form::While { .. } => ("while", "endwhile"),
            Form::Try { .. } => ("try", "endtry"),
        }
    }
}

impl Compiler<'_, '_> {
    pub fn begin_if(&mut self, condition: Slice<'_>, span: Span) {
        self.writes.enter(Some(condition));
        let skip = Some(self.condition(condition, span));
        self.blocks.push(Block { form: Form::If { skip }, span, ends: Vec::new() });
    }

    /// `\elif` with its condition, or `\else`.
    pub fn next_branch(&mut self, condition: Option<Slice<'_>>, span: Span) {
        let word = if condition.is_some() { "elif" } else { "else" };
        let Some(Block { form: Form::If { skip: Some(skip) }, .. }) = self.blocks.last() else {
            return self.stray(word, "if", span);
        };
        let skip = *skip;
        let end = self.jump(Action::Jump { target: 0 }, span);
        self.set_target(skip, self.ops.len());
        self.writes.leave();
        self.writes.enter(condition);
        let next = condition.map(|condition| self.condition(condition, span));
        if let Some(block) = self.blocks.last_mut() {
            block.ends.push(end);
            block.form = Form::If { skip: next };
        }
    }

    pub fn begin_while(&mut self, condition: Slice<'_>, span: Span) {
        self.writes.enter(None);
        let condition = self.client_expression(condition);
        self.begin();
        let step = self.steps.of_loop(&mut self.ops);
        let start = self.push(step, Action::JumpUnless { condition, target: 0 }, span);
        self.jump(Action::Round { limit: ROUNDS }, span);
        self.blocks.push(Block { form: Form::While { start }, span, ends: vec![start] });
    }

    pub fn begin_try(&mut self, span: Span) {
        self.writes.enter(None);
        let start = self.jump(Action::Try { arms: Vec::new() }, span);
        self.blocks.push(Block { form: Form::Try { start, in_arm: false }, span, ends: Vec::new() });
    }

    /// `\on SQLSTATE, …`.
    pub fn begin_arm(&mut self, sqlstates: Vec<String>, span: Span) {
        let Some(Block { form: Form::Try { start, in_arm }, .. }) = self.blocks.last() else {
            return self.stray("on", "try", span);
        };
        let (start, in_arm) = (*start, *in_arm);
        if !in_arm {
            self.jump(Action::Leave, span);
        }
        let end = self.jump(Action::Jump { target: 0 }, span);
        let target = self.ops.len();
        if let Action::Try { arms } = &mut self.ops[start].action {
            arms.push(Arm { sqlstates, target });
        }
        if let Some(block) = self.blocks.last_mut() {
            block.ends.push(end);
            block.form = Form::Try { start, in_arm: true };
        }
    }

    /// `\endif`, `\endwhile` or `\endtry`.
    pub fn end_block(&mut self, word: &str, span: Span) {
        let opener = word.trim_start_matches("end");
        let Some(block) = self.blocks.pop_if(|block| block.form.words().1 == word) else {
            return self.stray(word, opener, span);
        };
        self.writes.leave();
        match block.form {
            Form::If { skip: Some(skip) } => self.set_target(skip, self.ops.len()),
            Form::If { skip: None } => {}
            Form::While { start } => {
                self.jump(Action::Jump { target: start }, span);
            }
            Form::Try { in_arm: true, .. } => {}
            Form::Try { in_arm: false, .. } => {
                self.context
                    .diagnostics
                    .error(block.span, "this `\\try` has no `\\on` that says which errors it catches");
            }
        }
        for jump in block.ends {
            self.set_target(jump, self.ops.len());
        }
    }

    /// At the end of the body every block is closed.
    pub fn end_body(&mut self) {
        for block in std::mem::take(&mut self.blocks) {
            let (word, end) = block.form.words();
            self.context.diagnostics.error(block.span, format!("this `\\{word}` has no `\\{end}`"));
        }
    }

    /// A condition that jumps unless it is true; where to is said later.
    fn condition(&mut self, condition: Slice<'_>, span: Span) -> usize {
        let condition = self.client_expression(condition);
        self.command(Action::JumpUnless { condition, target: 0 }, span)
    }

    fn set_target(&mut self, jump: usize, to: usize) {
        if let Action::Jump { target } | Action::JumpUnless { target, .. } = &mut self.ops[jump].action {
            *target = to;
        }
    }

    fn stray(&mut self, word: &str, opener: &str, span: Span) {
        let diagnostic =
            self.context.diagnostics.error(span, format!("this `\\{word}` belongs to no open `\\{opener}`"));
        if let Some(block) = self.blocks.last() {
            let (open, end) = block.form.words();
            diagnostic.note(block.span, format!("this `\\{open}` is still without its `\\{end}`"));
        }
    }
}
