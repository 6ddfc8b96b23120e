use std::path::Path;

use super::*;
use crate::program::request::Answer;
use crate::scenario::template::Variables as _;
use crate::scenario::value::Value;
use crate::scenario::{Disk, parse};

/// The first call of a scenario whose only session has this body.
fn interpreter(body: &str) -> Interpreter {
    let text =
        format!("-- @title T\n-- @schema\nCREATE TABLE t (n int);\n-- @session s\n{body}\n-- @check c\nSELECT true;\n");
    let scenario = parse(&Disk, Path::new("t.sql"), &text).expect("a valid scenario").scenario;
    Interpreter::new(&scenario.as_written.sessions[0].calls[0], Variables::default())
}

/// The next request that is no note.
fn next(interpreter: &mut Interpreter) -> Request {
    loop {
        match interpreter.request() {
            Request::Note(_) => {}
            request => return request,
        }
    }
}

/// The SQL of the next statement.
fn statement(interpreter: &mut Interpreter) -> String {
    match next(interpreter) {
        Request::Run(statement) => statement.text.sql(interpreter.variables()),
        other => panic!("expected a statement, found {other:?}"),
    }
}

fn answer(interpreter: &mut Interpreter, tag: &str, in_transaction: bool) {
    interpreter.answered(&Answer { tag: tag.to_owned(), in_transaction, ..Answer::default() }, 0);
}

fn rows(columns: &[&str], rows: &[&[Option<&str>]]) -> Answer {
    Answer {
        tag: format!("SELECT {}", rows.len()),
        columns: columns.iter().map(|name| ((*name).to_owned(), 23)).collect(),
        rows: rows.iter().map(|row| row.iter().map(|value| value.map(str::to_owned)).collect()).collect(),
        in_transaction: true,
    }
}

fn error(sqlstate: &str) -> StatementError {
    StatementError { sqlstate: sqlstate.to_owned(), ..StatementError::default() }
}

fn variable(interpreter: &Interpreter, name: &str) -> Option<String> {
    interpreter.variables().get(name).and_then(|value| value.text.clone())
}

#[test]
fn a_body_without_begin_is_one_transaction() {
    let mut it = interpreter("SELECT n FROM t \\gset\nUPDATE t SET n = :n + 1;");
    assert_eq!(statement(&mut it), "BEGIN");
    answer(&mut it, "BEGIN", true);
    assert_eq!(statement(&mut it), "SELECT n FROM t");
    it.answered(&rows(&["n"], &[&[Some("4")]]), 0);
    assert_eq!(statement(&mut it), "UPDATE t SET n = 4 + 1");
    answer(&mut it, "UPDATE 1", true);
    assert_eq!((statement(&mut it).as_str(), it.step_name()), ("COMMIT", "commit"));
    answer(&mut it, "COMMIT", false);
    assert_eq!(next(&mut it), Request::Over(End::Completed));
    assert_eq!(it.fate(), Some(Fate::Committed));
}

#[test]
fn no_row_makes_the_variables_null_and_two_are_an_error_that_changes_none() {
    let mut it = interpreter("SELECT n FROM t \\gset\nSELECT n FROM t \\gset\nUPDATE t SET n = :n;");
    answer_begin(&mut it);
    assert_eq!(statement(&mut it), "SELECT n FROM t");
    it.answered(&rows(&["n"], &[]), 0);
    assert_eq!(variable(&it, "n"), None);
    statement(&mut it);
    it.answered(&rows(&["n"], &[&[Some("1")], &[Some("2")]]), 0);
    assert_eq!(variable(&it, "n"), None);
    let on_record = it.request();
    assert!(
        matches!(&on_record, Request::Note(What::Failed { error }) if error.sqlstate == "P0003" && error.span.is_some()),
        "{on_record:?}"
    );
    assert_eq!(next(&mut it), Request::RollBack);
    answer(&mut it, "ROLLBACK", false);
    assert!(matches!(next(&mut it), Request::Over(End::Failed(error)) if error.sqlstate == "P0003"));
}

#[test]
fn a_client_that_dies_in_a_transaction_takes_it_along() {
    let mut it = interpreter("BEGIN;\nDELETE FROM t;\n\\crash");
    answer_begin(&mut it);
    statement(&mut it);
    answer(&mut it, "DELETE 1", true);
    assert_eq!(next(&mut it), Request::Crash);
    assert_eq!(next(&mut it), Request::Over(End::Crashed));
    assert_eq!(it.fate(), Some(Fate::RolledBack));
}

fn answer_begin(it: &mut Interpreter) {
    assert_eq!(statement(it), "BEGIN");
    answer(it, "BEGIN", true);
}

#[test]
fn a_branch_that_is_not_taken_passes_its_steps_by() {
    let mut it = interpreter(
        "\\step look\nSELECT n FROM t \\gset\n\\if :n > 1\n  \\step raise\n  UPDATE t SET n = 2;\n\\endif\n\\step last\nDELETE FROM t;",
    );
    answer_begin(&mut it);
    statement(&mut it);
    it.answered(&rows(&["n"], &[&[Some("1")]]), 0);
    assert!(matches!(next(&mut it), Request::Evaluate(_)));
    it.evaluated(Value { type_oid: 16, text: Some("f".to_owned()) });
    assert_eq!(statement(&mut it), "DELETE FROM t");
    assert_eq!(["look", "raise", "last"].map(|step| it.times_done(step)), [1, 1, 0]);
}

#[test]
fn a_rejection_ends_with_commit_as_its_own_step() {
    let mut it = interpreter("\\step look\nSELECT n FROM t;\n\\reject no :SQLSTATE\n\\step never\nDELETE FROM t;");
    answer_begin(&mut it);
    statement(&mut it);
    answer(&mut it, "SELECT 1", true);
    assert_eq!((statement(&mut it).as_str(), it.step_name()), ("COMMIT", "commit"));
    assert_eq!(it.times_done("never"), 1);
    answer(&mut it, "COMMIT", false);
    assert_eq!(next(&mut it), Request::Over(End::Rejected("no 00000".to_owned())));
}

#[test]
fn an_uncaught_error_is_answered_with_rollback_and_a_retry_begins_at_begin() {
    let mut it = interpreter("BEGIN;\nDELETE FROM t;\nCOMMIT;\nBEGIN;\nUPDATE t SET n = 1;\nCOMMIT;");
    for (sql, tag, in_transaction) in
        [("BEGIN", "BEGIN", true), ("DELETE FROM t", "DELETE 1", true), ("COMMIT", "COMMIT", false)]
    {
        assert_eq!(statement(&mut it), sql);
        answer(&mut it, tag, in_transaction);
    }
    answer_begin(&mut it);
    assert_eq!(statement(&mut it), "UPDATE t SET n = 1");
    it.refused(error("40001"), true);
    assert_eq!(next(&mut it), Request::RollBack);
    answer(&mut it, "ROLLBACK", false);
    assert!(matches!(next(&mut it), Request::Over(End::Failed(_))));
    assert_eq!(it.fate(), Some(Fate::RolledBack));
    it.retry();
    answer_begin(&mut it);
    assert_eq!(statement(&mut it), "UPDATE t SET n = 1", "the transaction that was committed is not run again");
}

#[test]
fn a_caught_error_goes_on_in_its_arm() {
    let mut it =
        interpreter("BEGIN;\n\\try\n  INSERT INTO t VALUES (1);\n\\on 23505\n  ROLLBACK;\n\\endtry\nSELECT 1;");
    answer_begin(&mut it);
    assert_eq!(statement(&mut it), "INSERT INTO t VALUES (1)");
    it.refused(error("23505"), true);
    assert_eq!(variable(&it, "SQLSTATE"), Some("23505".to_owned()));
    assert_eq!(statement(&mut it), "ROLLBACK");
    answer(&mut it, "ROLLBACK", false);
    assert_eq!(statement(&mut it), "SELECT 1");
}

#[test]
fn the_commit_of_a_failed_block_is_a_rollback_that_looks_like_success() {
    let mut it = interpreter("DELETE FROM t;");
    answer_begin(&mut it);
    statement(&mut it);
    answer(&mut it, "DELETE 1", true);
    statement(&mut it);
    answer(&mut it, "ROLLBACK", false);
    assert_eq!(next(&mut it), Request::Over(End::Completed));
    assert_eq!(it.fate(), Some(Fate::RolledBack));
    assert_eq!(variable(&it, "COMMAND_TAG"), Some("ROLLBACK".to_owned()));
}

#[test]
fn a_loop_that_does_not_end_is_an_error() {
    let mut it = interpreter("\\while true\n  SELECT 1;\n\\endwhile");
    answer_begin(&mut it);
    for _ in 0..10_000 {
        match next(&mut it) {
            Request::Evaluate(_) => it.evaluated(Value { type_oid: 16, text: Some("t".to_owned()) }),
            Request::Run(_) => answer(&mut it, "SELECT 1", true),
            Request::RollBack => answer(&mut it, "ROLLBACK", false),
            Request::Over(end) => {
                assert!(matches!(end, End::Failed(error) if error.sqlstate == PROGRAM_LIMIT_EXCEEDED));
                return;
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    panic!("the loop went on");
}

#[test]
fn a_failed_call_rolls_back_wherever_a_transaction_is_open() {
    let text = "-- @title T\n-- @database b\n-- @schema\nCREATE TABLE t (n int);\n-- @session s\nBEGIN;\nDELETE FROM t;\n\\connect b\nBEGIN;\nSELECT 1;\nCOMMIT;\n-- @check c\nSELECT true;\n";
    let scenario = parse(&Disk, Path::new("t.sql"), text).expect("a valid scenario").scenario;
    let mut it = Interpreter::new(&scenario.as_written.sessions[0].calls[0], Variables::default());
    answer_begin(&mut it);
    statement(&mut it);
    answer(&mut it, "DELETE 1", true);
    assert_eq!(next(&mut it), Request::Connect { name: "b".to_owned() });
    it.connected("b", false);
    answer_begin(&mut it);
    statement(&mut it);
    it.refused(error("40001"), true);
    assert_eq!(next(&mut it), Request::RollBack);
    answer(&mut it, "ROLLBACK", false);
    assert_eq!(next(&mut it), Request::Connect { name: MAIN.to_owned() });
    it.connected(MAIN, true);
    assert_eq!(next(&mut it), Request::RollBack);
    answer(&mut it, "ROLLBACK", false);
    assert!(matches!(next(&mut it), Request::Over(End::Failed(_))));
}

/// Walks through the body of a session whose conditions have these values, all statements succeeding: for each
/// statement, how often `step` was done before it.
fn times_done(body: &str, step: &str, mut conditions: impl Iterator<Item = bool>) -> Vec<u32> {
    let text = format!("-- @title t\n-- @session a autocommit\n{body}");
    let scenario = parse(&Disk, Path::new("t.sql"), &text).expect("a scenario").scenario;
    let mut interpreter = Interpreter::new(&scenario.as_written.sessions[0].calls[0], Variables::default());
    let mut done = Vec::new();
    loop {
        match interpreter.request() {
            Request::Run(_) => {
                done.push(interpreter.times_done(step));
                interpreter.answered(&Answer::default(), 0);
            }
            Request::Evaluate(_) => {
                let holds = conditions.next().expect("a condition's value");
                interpreter.evaluated(Value { type_oid: 16, text: Some(if holds { "t" } else { "f" }.to_owned()) });
            }
            Request::Over(_) => {
                done.push(interpreter.times_done(step));
                return done;
            }
            _ => {}
        }
    }
}

#[test]
fn a_loop_inside_a_loop_has_a_thousand_rounds_each_time() {
    let body = "\\while true\n\\while true\nSELECT 1;\n\\endwhile\n\\endwhile\n";
    let inner = |rounds: usize| std::iter::once(true).chain((0..=rounds).map(move |round| round < rounds));
    let conditions = (0..3).flat_map(|_| inner(600)).chain([false]);
    assert_eq!(times_done(body, "1", conditions).len(), 3 * 600 + 1);
    assert_eq!(times_done(body, "1", inner(1001)).len(), 1000 + 1);
}

#[test]
fn every_round_of_a_loop_is_a_new_occurrence_of_its_steps() {
    let two = "\\step before\nSELECT 1;\n\\while true\n\\step one\nSELECT 1;\n\\step two\nSELECT 1;\n\\endwhile\n\\step after\nSELECT 1;\n";
    let rounds = || [true, true, false].into_iter();
    assert_eq!(times_done(two, "before", rounds()), [0, 1, 1, 1, 1, 1, 1]);
    assert_eq!(times_done(two, "one", rounds()), [0, 0, 1, 1, 2, 3, 3]);
    assert_eq!(times_done(two, "two", rounds()), [0, 0, 0, 1, 1, 3, 3]);
    let alone = "\\while true\n\\step one\nSELECT 1;\n\\endwhile\n";
    assert_eq!(times_done(alone, "one", rounds()), [0, 1, 3]);
}

/// What is foreseen while the first statement after BEGIN is on its way.
fn foreseen(body: &str, moves: usize) -> Vec<String> {
    let mut it = interpreter(body);
    answer_begin(&mut it);
    statement(&mut it);
    it.foreseen(moves).into_iter().map(|foreseen| foreseen.sql).collect()
}

#[test]
fn what_follows_whatever_the_answer_is_is_foreseen_to_the_end_of_the_transaction() {
    let body =
        "DELETE FROM t;\nINSERT INTO t VALUES (1);\nSELECT n FROM t \\gset\nUPDATE t SET n = :n;\nCOMMIT;\nSELECT 1;";
    let body = format!("BEGIN;\n{body}");
    assert_eq!(foreseen(&body, 1), ["INSERT INTO t VALUES (1)"]);
    // What is captured decides what comes then.
    assert_eq!(foreseen(&body, usize::MAX), ["INSERT INTO t VALUES (1)", "SELECT n FROM t"]);
    let ends = "BEGIN;\nDELETE FROM t;\nCOMMIT;\nSELECT 1;";
    assert_eq!(foreseen(ends, usize::MAX), ["COMMIT"]);
}

#[test]
fn what_an_answer_or_an_error_could_change_is_not_foreseen() {
    for body in [
        "DELETE FROM t;\nINSERT INTO t VALUES (:ROW_COUNT);",
        "SAVEPOINT a;\nROLLBACK TO a;\nDELETE FROM t;",
        "\\try\n  DELETE FROM t;\n  SELECT 1;\n\\on 23505\n  SELECT 2;\n\\endtry",
        "DELETE FROM t;\n\\if true\nSELECT 1;\n\\endif",
        "DELETE FROM t \\lost",
    ] {
        assert_eq!(foreseen(body, usize::MAX), Vec::<String>::new(), "{body}");
    }
}

#[test]
fn the_statement_after_begin_belongs_to_its_move() {
    let mut it = interpreter("DELETE FROM t;\nSELECT 1;");
    assert_eq!(statement(&mut it), "BEGIN");
    let foreseen = |it: &Interpreter, moves| -> Vec<String> {
        it.foreseen(moves).into_iter().map(|foreseen| foreseen.sql).collect()
    };
    assert_eq!(foreseen(&it, 0), ["DELETE FROM t"]);
    assert_eq!(foreseen(&it, 2), ["DELETE FROM t", "SELECT 1", "COMMIT"]);
}
