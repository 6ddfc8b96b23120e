//! What the client evaluates by itself is what PostgreSQL would have said: value, type and all.

mod common;

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use isolab::program::{Variables, arithmetic};
use isolab::scenario::template::Template;
use isolab::server::{Extra, Throwaway};
use isolab::wire::{Connection, WireError};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

const EXPRESSIONS: u32 = 3000;

fn leaf() -> impl Strategy<Value = String> {
    let number = prop::sample::select(vec![
        "0",
        "1",
        "7",
        "32767",
        "46341",
        "2147483647",
        "2147483648",
        "9223372036854775807",
        "9223372036854775808",
        "1.50",
        "0.05",
        ".5",
        "100.",
        "99999999999999999999.25",
    ]);
    let quoted = prop::sample::select(vec!["'5'", "'-12'", "'1.5'", "'t'", "'false'", "'abc'", "'o''hara'", "''"]);
    let typed = (
        prop::sample::select(vec![
            "'3'",
            "'-32768'",
            "'2147483647'",
            "'-9223372036854775808'",
            "'1.50'",
            "'x'",
            "NULL",
        ]),
        prop::sample::select(vec!["int2", "int4", "int8", "numeric", "text", "bool"]),
    );
    prop_oneof![
        4 => number.prop_map(str::to_owned),
        2 => quoted.prop_map(str::to_owned),
        3 => typed.prop_map(|(value, kind)| format!("{value}::{kind}")),
        1 => prop::sample::select(vec!["NULL", "true", "false"]).prop_map(str::to_owned),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    leaf().prop_recursive(4, 24, 3, |inner| {
        let operators = vec!["+", "-", "*", " - ", "=", "<>", "!=", "<", "<=", ">", ">=", " AND ", " OR "];
        let binary = (inner.clone(), prop::sample::select(operators), inner.clone());
        let kinds = vec!["int4", "bigint", "numeric", "text", "boolean"];
        prop_oneof![
            6 => binary.prop_map(|(left, operator, right)| format!("{left}{operator}{right}")),
            2 => inner.clone().prop_map(|operand| format!("({operand})")),
            1 => inner.clone().prop_map(|operand| format!("-{operand}")),
            1 => inner.clone().prop_map(|operand| format!("- {operand}")),
            1 => inner.clone().prop_map(|operand| format!("NOT {operand}")),
            1 => inner.clone().prop_map(|operand| format!("{operand} IS NULL")),
            1 => inner.clone().prop_map(|operand| format!("{operand} is not null")),
            1 => (inner.clone(), prop::sample::select(kinds)).prop_map(|(operand, kind)| format!("{operand}::{kind}")),
            1 => prop::collection::vec(inner, 1..4).prop_map(|operands| format!("coalesce({})", operands.join(", "))),
        ]
    })
}

/// What the server says: type and text of the value, or its error.
fn asked(connection: &mut Connection, sql: &str) -> Result<(u32, Option<String>), WireError> {
    let limit = Instant::now() + Duration::from_secs(10);
    let results = connection.query(&format!("SELECT ({sql}\n)"), limit)?;
    Ok((results[0].columns[0].type_oid, results[0].rows[0][0].clone()))
}

#[test]
fn the_client_never_differs_from_the_server() {
    for bin in common::installations() {
        let server = Throwaway::start(&bin, &Extra::default()).expect("a throwaway server");
        compare(&mut Connection::connect(server.options()).expect("a connection"));
    }
}

fn compare(connection: &mut Connection) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner =
        TestRunner::new_with_rng(Config { cases: EXPRESSIONS, failure_persistence: None, ..Config::default() }, rng);
    let evaluated = Cell::new(0);
    let connection = RefCell::new(connection);
    let outcome = runner.run(&expression(), |sql| {
        let Some(value) = arithmetic::evaluate(&Template::verbatim(&sql), &Variables::default()) else { return Ok(()) };
        evaluated.set(evaluated.get() + 1);
        let here = (value.type_oid, value.text);
        match asked(&mut connection.borrow_mut(), &sql) {
            Ok(there) if here == there => Ok(()),
            other => Err(TestCaseError::fail(format!("{sql}: client {here:?}, server {other:?}"))),
        }
    });
    outcome.unwrap();
    assert!(evaluated.get() > EXPRESSIONS / 5, "only {} expressions were evaluated in the client", evaluated.get());
}
