//! What goes wrong in the middle: cancelled statements, lost connections, limits.

use std::thread;
use std::time::{Duration, Instant};

use isolab::wire::{Connection, Message, WireError};

use crate::servers::{TestServer, answer, await_sleep, soon, value};

#[test]
fn a_cancelled_statement_ends_and_its_session_goes_on() {
    let server = TestServer::plain();
    let mut observer = server.connect();
    for options in [server.options().clone(), server.over_tcp("trusted", None)] {
        let mut connection = Connection::connect(&options).unwrap();
        connection.send_query("SELECT pg_sleep(600)").unwrap();
        await_sleep(&mut observer, &connection);
        let token = connection.cancel_token();
        thread::spawn(move || token.cancel()).join().unwrap().unwrap();
        assert_eq!(answer(&mut connection), ["columns pg_sleep", "error 57014", "ReadyForQuery(Idle)"]);
        assert_eq!(value(&mut connection, "SELECT 1"), "1");
    }
}

#[test]
fn a_terminated_session_says_why_it_was_closed() {
    let server = TestServer::plain();
    let mut observer = server.connect();
    for options in [server.options().clone(), server.over_tcp("trusted", None)] {
        let mut connection = Connection::connect(&options).unwrap();
        value(&mut observer, &format!("SELECT pg_terminate_backend({}, 60000)", connection.backend_pid()));
        // The server is gone before this is written, and its last words are still read.
        connection.send_query("SELECT 1").unwrap();
        let Ok(Message::Error(error)) = connection.message(soon()) else { panic!("no last words") };
        assert_eq!((error.severity.as_str(), error.sqlstate.as_str()), ("FATAL", "57P01"));
        for _ in 0..2 {
            let Err(WireError::Closed { reason: Some(reason) }) = connection.message(soon()) else {
                panic!("not closed")
            };
            assert_eq!(reason.sqlstate, "57P01");
        }
    }
}

#[test]
fn a_query_on_a_terminated_session_fails_with_the_reason() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    let error = connection.query("SELECT pg_terminate_backend(pg_backend_pid())", soon()).unwrap_err();
    assert!(matches!(&error, WireError::Closed { reason: Some(reason) } if reason.sqlstate == "57P01"), "{error}");
}

#[test]
fn a_limit_ends_the_wait_and_not_the_session() {
    let server = TestServer::plain();
    let (mut connection, mut observer) = (server.connect(), server.connect());
    connection.send_query("SELECT pg_sleep(600)").unwrap();
    await_sleep(&mut observer, &connection);
    let error = connection.message(Instant::now() + Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, WireError::TimedOut { .. }), "{error}");
    connection.cancel_token().cancel().unwrap();
    assert_eq!(answer(&mut connection).last().unwrap(), "ReadyForQuery(Idle)");
}

#[test]
fn a_closed_connection_leaves_no_session() {
    let server = TestServer::plain();
    let (connection, mut observer) = (server.connect(), server.connect());
    let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {}", connection.backend_pid());
    assert_eq!(value(&mut observer, &sql), "1");
    connection.close();
    let limit = soon();
    while value(&mut observer, &sql) != "0" {
        assert!(Instant::now() < limit, "the session is still there");
        thread::sleep(Duration::from_millis(2));
    }
}
