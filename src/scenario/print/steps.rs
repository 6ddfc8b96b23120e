//! Where `\step` has to stand, so that every operation comes into the step that it is in.

use crate::program::{Action, Op, Program, Statement};
use crate::scenario::parser::Steps;

/// For each operation the name of the `\step` before it.
type Marks<'a> = Vec<Option<&'a str>>;

/// The marks that a body needs. Statements that are numbered by themselves need none.
pub fn marks(program: &Program) -> Marks<'_> {
    let mut marks = at_first_operations(program);
    let numbered: Vec<usize> = (0..marks.len()).filter(|&op| is_number(marks[op])).collect();
    let fewest = without(&marks, &numbered);
    if fits(program, &fewest) {
        return fewest;
    }
    if !fits(program, &marks) {
        move_to_fit(program, &mut marks);
    }
    for op in 0..marks.len() {
        let fewer = without(&marks, &[op]);
        if is_number(marks[op]) && fits(program, &fewer) {
            marks = fewer;
        }
    }
    marks
}

/// A mark for every step: at its first operation, or at the COMMIT or the like that it is, where that is not its name.
fn at_first_operations(program: &Program) -> Marks<'_> {
    let mut marks = vec![None; program.ops.len()];
    let mut is_marked = vec![false; program.steps.len()];
    for (index, op) in program.ops.iter().enumerate() {
        if let Action::Statement(statement) = &op.action
            && let Some(by_itself) = statement.control.step_name()
        {
            let name = program.steps[op.step].as_str();
            marks[index] = (name != by_itself).then_some(name);
            is_marked[op.step] = true;
        }
    }
    for (index, op) in program.ops.iter().enumerate() {
        if !std::mem::replace(&mut is_marked[op.step], true) {
            marks[index] = Some(&program.steps[op.step]);
        }
    }
    marks
}

/// What waits for the next statement, such as a loop, may come before the mark: moves marks on until they fit.
fn move_to_fit<'a>(program: &'a Program, marks: &mut Marks<'a>) {
    for step in 0..program.steps.len() {
        let places: Vec<usize> =
            (0..program.ops.len()).filter(|&op| program.ops[op].step == step && may_be_marked(program, op)).collect();
        let Some(from) = places.iter().copied().find(|&op| marks[op].is_some()) else { continue };
        let name = marks[from].take();
        let fitting = places.iter().copied().find(|&op| {
            marks[op] = name;
            let found = fits_up_to(program, marks, step);
            marks[op] = None;
            found
        });
        marks[fitting.unwrap_or(from)] = name;
    }
}

/// Whether a line begins with this operation, so that a `\step` could stand before it.
fn may_be_marked(program: &Program, op: usize) -> bool {
    let added = |op: &Op| matches!(&op.action, Action::Statement(Statement { implicit: true, .. }));
    let is_silent = matches!(program.ops[op].action, Action::Jump { .. } | Action::Round { .. } | Action::Leave);
    // The BEGIN that the lab adds comes with the line that makes it necessary.
    !is_silent && !op.checked_sub(1).is_some_and(|before| added(&program.ops[before]))
}

fn is_number(mark: Option<&str>) -> bool {
    mark.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
}

fn without<'a>(marks: &Marks<'a>, dropped: &[usize]) -> Marks<'a> {
    let mut fewer = marks.clone();
    for &op in dropped {
        fewer[op] = None;
    }
    fewer
}

/// Whether a body with these marks is read as this program.
fn fits(program: &Program, marks: &Marks<'_>) -> bool {
    let Some((mut steps, mut read)) = read(program, marks, program.ops.len()) else { return false };
    steps.finish(&mut read);
    steps.empty().is_none() && program.steps.starts_with(&steps.names) && same_steps(&read, program, usize::MAX)
}

/// The same, as far as the last operation of a step.
fn fits_up_to(program: &Program, marks: &Marks<'_>, step: usize) -> bool {
    let end = program.ops.iter().rposition(|op| op.step == step).map_or(0, |last| last + 1);
    let Some((steps, read)) = read(program, marks, end) else { return false };
    steps.waiting().iter().all(|&op| program.ops[op].step > step) && same_steps(&read, program, step)
}

/// The steps of the first operations as the parser would see them; none where a step would be empty.
fn read(program: &Program, marks: &Marks<'_>, end: usize) -> Option<(Steps, Vec<Op>)> {
    let mut steps = Steps::default();
    let mut read: Vec<Op> = Vec::with_capacity(end);
    for (index, op) in program.ops[..end].iter().enumerate() {
        if marks[index].is_some_and(|name| steps.open(name, op.span).is_some()) {
            return None;
        }
        let step = match &op.action {
            Action::Statement(statement) => steps.of_statement(statement.control, &mut read),
            Action::JumpUnless { .. } if begins_loop(program, index) => steps.of_loop(&mut read),
            Action::Jump { .. } | Action::Round { .. } | Action::Try { .. } | Action::Leave => steps.of_jump(&read),
            _ => steps.of_command(&mut read),
        };
        // Only the steps are compared.
        read.push(Op { step, action: Action::Leave, span: op.span });
    }
    Some((steps, read))
}

fn same_steps(read: &[Op], program: &Program, last: usize) -> bool {
    read.iter().zip(&program.ops).all(|(read, op)| op.step > last || read.step == op.step)
}

/// Whether this condition is that of a `\while`.
pub fn begins_loop(program: &Program, index: usize) -> bool {
    matches!(program.ops.get(index + 1), Some(Op { action: Action::Round { .. }, .. }))
}
