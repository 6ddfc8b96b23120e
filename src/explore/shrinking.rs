//! Makes a failure smaller: leaves out sessions, transactions and statements as long as the same failure stays.
//!
//! What is left must still be a race: with its parts left out the program may fail no check when its transactions run one
//! after the other. Delta debugging as of Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE
//! 2002, with single parts, since programs are short.

use std::time::Instant;

use super::findings::Seen;
use super::ground::Ground;
use super::judging::{Found, deadlock, judge};
use super::oracle::{Oracle, failing};
use super::orders::merges;
use super::simplifying::simplify;
use super::worker::Played;
use super::{DEADLOCKED, Failure};
use crate::runner::RunError;
use crate::scenario::template::{Piece, Template};
use crate::scenario::{Plan, Session};
use crate::schedule::{LeftOut, statements};

/// No more schedules than this are played for one failure, the serial orders included.
const MOST_PLAYS: u64 = 300;

pub fn shrink(ground: &mut Ground, found: &mut Found) -> Result<(), RunError> {
    if found.played.history.unfinished.is_some() {
        return Ok(());
    }
    let program = Counted::all(ground.plan);
    let mut left = MOST_PLAYS;
    loop {
        let before = found.failure.left_out.clone();
        for part in parts(&program, found) {
            if let Some(smaller) = without(ground, found, &program, &part, &mut left)? {
                *found = smaller;
            }
        }
        if found.failure.left_out == before {
            break;
        }
    }
    match found.failure.left_out.is_empty() {
        true => Ok(()),
        false => simplify(ground, found),
    }
}

/// A statement that can be left out.
struct Counted<'p> {
    session: usize,
    call: usize,
    number: usize,
    text: &'p Template,
}

impl<'p> Counted<'p> {
    fn all(plan: &'p Plan) -> Vec<Counted<'p>> {
        plan.sessions.iter().enumerate().flat_map(|(index, session)| Counted::of(index, session)).collect()
    }

    fn of(index: usize, session: &'p Session) -> impl Iterator<Item = Counted<'p>> {
        let calls = session.calls.iter().enumerate();
        let texts = calls.flat_map(|(call, of)| statements(of).map(move |statement| (call, &statement.text)));
        texts.enumerate().map(move |(place, (call, text))| Counted { session: index, call, number: place + 1, text })
    }
}

/// What may be left out of a failing run, large parts first: sessions, calls, then statements, the last ones first.
fn parts(program: &[Counted], found: &Found) -> Vec<LeftOut> {
    let moves = |session: usize| found.played.path.choices.contains(&session);
    let was_sent = |counted: &&Counted| sends(&found.played, counted).next().is_some();
    let sent: Vec<&Counted> = program.iter().filter(was_sent).collect();
    let mut sessions: Vec<usize> =
        program.iter().map(|counted| counted.session).filter(|session| moves(*session)).collect();
    sessions.dedup();
    let session = |session: &usize| LeftOut { sessions: [*session].into(), ..LeftOut::default() };
    let some = |statements: &[&Counted]| LeftOut {
        statements: statements.iter().map(|counted| (counted.session, counted.number)).collect(),
        ..LeftOut::default()
    };
    let calls = sent.chunk_by(|one, other| (one.session, one.call) == (other.session, other.call));
    let calls = calls.filter(|call| call.len() > 1).map(some);
    let single = sent.iter().rev().map(|counted| some(&[counted]));
    sessions.iter().rev().map(session).chain(calls).chain(single).collect()
}

/// The choices of a run that sent a statement.
fn sends<'p>(played: &'p Played, counted: &'p Counted) -> impl Iterator<Item = usize> + 'p {
    let path = &played.path;
    let is_sent = move |place: &usize| {
        path.choices[*place] == counted.session
            && path.sent[*place].as_ref().is_some_and(|(call, sql)| *call == counted.call && fits(counted.text, sql))
    };
    (0..path.sent.len()).filter(is_sent)
}

/// Whether a statement can have been made from a template.
fn fits(template: &Template, sql: &str) -> bool {
    let mut rest = sql;
    let mut after_value = false;
    for piece in &template.pieces {
        let Piece::Text { text, .. } = piece else {
            after_value = true;
            continue;
        };
        let Some(place) = rest.find(text.as_str()).filter(|place| after_value || *place == 0) else { return false };
        rest = &rest[place + text.len()..];
        after_value = false;
    }
    after_value || rest.is_empty()
}

/// The same failure in what is left without a part; none where it is another one, or none.
fn without(
    ground: &mut Ground,
    found: &Found,
    program: &[Counted],
    part: &LeftOut,
    left: &mut u64,
) -> Result<Option<Found>, RunError> {
    let left_out = found.failure.left_out.and(part);
    let calls: Vec<u64> =
        (0..ground.plan.sessions.len()).map(|session| calls_left(program, session, &left_out)).collect();
    // A deadlock is one whatever the serial orders give.
    let is_deadlock = found.failure.kind == DEADLOCKED;
    let serial = if is_deadlock { 0 } else { merges(&calls) };
    let Some(rest) = left.checked_sub(1 + serial) else { return Ok(None) };
    if left_out == found.failure.left_out || calls.iter().all(|calls| *calls == 0) || Instant::now() > ground.deadline {
        return Ok(None);
    }
    *left -= 1;
    let fails_alike = |played: &Played| {
        let fails = is_deadlock || played.outcome.failing == found.failure.checks;
        played.history.unfinished.is_none() && fails
    };
    let choices = choices_left(program, found, &left_out);
    let Some(played) = ground.play_again(choices, &left_out)?.filter(fails_alike) else { return Ok(None) };
    *left = rest;
    let seen = Seen { schedules: found.failure.schedules, simplest: played };
    let failure = match is_deadlock {
        true => deadlock(&seen),
        false => judge_what_is_left(ground, &left_out, &seen)?,
    };
    let same = failure.filter(|failure| failure.kind == found.failure.kind && failure.reason == found.failure.reason);
    Ok(same.map(|failure| Found { failure: Failure { left_out, ..failure }, played: seen.simplest }))
}

/// The failure that is left; none where it is not a race any more.
fn judge_what_is_left(ground: &mut Ground, left_out: &LeftOut, seen: &Seen) -> Result<Option<Failure>, RunError> {
    let sessions = ground.plan.sessions.len();
    let (mut oracle, serial) = Oracle::ask(ground.team, ground.level, sessions, left_out.clone(), u64::MAX)?;
    match failing(&serial) {
        Some(_) => Ok(None),
        None => judge(ground, &mut oracle, &seen.simplest.outcome.clone(), seen).map(|(_, failure)| failure),
    }
}

/// How many calls of a session have a statement left.
fn calls_left(program: &[Counted], session: usize, left_out: &LeftOut) -> u64 {
    let mut calls: Vec<usize> = program
        .iter()
        .filter(|counted| counted.session == session && !left_out.has(session, counted.number))
        .map(|counted| counted.call)
        .collect();
    calls.dedup();
    calls.len() as u64
}

/// The choices of a run but those that what is left out would have made.
fn choices_left(program: &[Counted], found: &Found, left_out: &LeftOut) -> Vec<usize> {
    let path = &found.played.path;
    let gone = |counted: &&Counted| left_out.has(counted.session, counted.number);
    let sent: Vec<usize> = program.iter().filter(gone).flat_map(|counted| sends(&found.played, counted)).collect();
    let has_call = |session: usize, call: usize| {
        let of_call = |counted: &&Counted| (counted.session, counted.call) == (session, call);
        program.iter().filter(of_call).any(|counted| !left_out.has(session, counted.number))
    };
    let stays = |place: &usize| {
        let session = path.choices[*place];
        let call = path.sent.get(*place).and_then(Option::as_ref).map(|(call, _)| *call);
        !sent.contains(place) && call.is_none_or(|call| has_call(session, call))
    };
    (0..path.choices.len()).filter(stays).map(|place| path.choices[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    #[test]
    fn a_statement_is_known_by_its_template() {
        let scenario = load("write-skew").expect("built in");
        let program = Counted::all(&scenario.as_written);
        let numbers: Vec<(usize, usize)> = program.iter().map(|counted| (counted.session, counted.number)).collect();
        assert_eq!(numbers, [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]);
        let insert = "INSERT INTO expenses (team_id, amount, approved_by) VALUES ('design', 3000, 'alice')";
        let fitting: Vec<usize> =
            program[..3].iter().filter(|counted| fits(counted.text, insert)).map(|counted| counted.number).collect();
        assert_eq!(fitting, [3]);
    }
}
