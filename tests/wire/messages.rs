//! Simple queries: what comes back, and in which order.

use std::time::Duration;

use isolab::wire::{Message, TransactionStatus, WireError, wait_readable};

use crate::servers::{TestServer, answer, soon, value};

#[test]
fn rows_notices_and_tags_come_in_the_order_of_the_statements() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    connection
        .send_query(
            "SELECT 1 AS a, NULL AS b; DO $$ BEGIN RAISE NOTICE 'one'; RAISE WARNING 'two'; END $$; \
             CREATE TEMP TABLE t (n int); INSERT INTO t VALUES (1), (2); ; SELECT n FROM t",
        )
        .unwrap();
    assert_eq!(
        answer(&mut connection),
        [
            "columns a, b",
            "row 1, NULL",
            "SELECT 1",
            "NOTICE one",
            "WARNING two",
            "DO",
            "CREATE TABLE",
            "INSERT 0 2",
            "columns n",
            "row 1",
            "row 2",
            "SELECT 2",
            "ReadyForQuery(Idle)"
        ]
    );
    connection.send_query("").unwrap();
    assert_eq!(answer(&mut connection), ["EmptyQuery", "ReadyForQuery(Idle)"]);
}

#[test]
fn commit_of_a_failed_block_is_a_rollback() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    connection.send_query("BEGIN").unwrap();
    assert_eq!(answer(&mut connection), ["BEGIN", "ReadyForQuery(InTransaction)"]);
    connection.send_query("SELECT 1 / 0").unwrap();
    assert_eq!(answer(&mut connection), ["error 22012", "ReadyForQuery(Failed)"]);
    assert_eq!(connection.status(), TransactionStatus::Failed);
    connection.send_query("COMMIT").unwrap();
    assert_eq!(answer(&mut connection), ["ROLLBACK", "ReadyForQuery(Idle)"]);
    assert_eq!(connection.status(), TransactionStatus::Idle);
}

#[test]
fn a_query_returns_every_result() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    let results = connection.query("SELECT 1 AS a, NULL::text AS b; SET lock_timeout = 0", soon()).unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0].rows, [[Some("1".to_owned()), None]]);
    assert_eq!(
        results[0].columns.iter().map(|c| (c.name.as_str(), c.type_oid)).collect::<Vec<_>>(),
        [("a", 23), ("b", 25)]
    );
    assert_eq!((results[0].tag.as_str(), results[1].tag.as_str()), ("SELECT 1", "SET"));
    assert!(results[1].columns.is_empty());
}

#[test]
fn a_failed_query_tells_all_and_leaves_the_connection_usable() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    let sql = "CREATE TEMP TABLE t (n int CONSTRAINT positive CHECK (n > 0)); INSERT INTO t VALUES (-1)";
    let WireError::Server(error) = connection.query(sql, soon()).unwrap_err() else { panic!("not the server's") };
    assert_eq!((error.sqlstate.as_str(), error.severity.as_str()), ("23514", "ERROR"));
    assert_eq!((error.table.as_deref(), error.constraint.as_deref()), (Some("t"), Some("positive")));
    assert!(error.detail.unwrap().contains("(-1)"));

    let WireError::Server(error) = connection.query("SELECT 'é', nothing", soon()).unwrap_err() else { panic!() };
    assert_eq!(error.position, Some(13));
    assert_eq!(value(&mut connection, "SELECT 'still here'"), "still here");
}

#[test]
fn a_statement_that_cannot_be_sent_changes_nothing() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    let error = connection.query("SELECT '\0'", soon()).unwrap_err();
    assert!(matches!(error, WireError::Unsendable { .. }), "{error}");
    assert_eq!(value(&mut connection, "SELECT 1"), "1");
}

#[test]
fn bytes_in_another_encoding_are_kept() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    connection.send_query("SET client_encoding = latin1; SELECT chr(233)").unwrap();
    let row = loop {
        if let Message::DataRow(row) = connection.message(soon()).unwrap() {
            break row;
        }
    };
    assert_eq!(row.values().next(), Some(Some(&b"\xe9"[..])));
    answer(&mut connection);
    assert_eq!(connection.parameter("client_encoding"), Some("LATIN1"));
}

#[test]
fn copy_out_and_in() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    connection.query("CREATE TEMP TABLE t (n int)", soon()).unwrap();
    connection.send_query("COPY t FROM STDIN").unwrap();
    assert!(matches!(connection.message(soon()), Ok(Message::CopyIn)));
    connection.buffer_copy_data(b"1\n2\n").unwrap();
    connection.buffer_copy_done();
    connection.flush();
    assert_eq!(answer(&mut connection), ["COPY 2", "ReadyForQuery(Idle)"]);

    connection.send_query("COPY t TO STDOUT").unwrap();
    assert_eq!(
        answer(&mut connection),
        ["CopyOut", "CopyData(b\"1\\n\")", "CopyData(b\"2\\n\")", "CopyDone", "COPY 2", "ReadyForQuery(Idle)"]
    );

    let error = connection.query("COPY t FROM STDIN", soon()).unwrap_err();
    assert_eq!(error.server_error().unwrap().sqlstate, "57014");
    assert_eq!(value(&mut connection, "SELECT count(*) FROM t"), "2");
}

#[test]
fn a_notification_arrives_while_nothing_runs() {
    let server = TestServer::plain();
    let (mut listener, mut speaker) = (server.connect(), server.connect());
    listener.query("LISTEN news", soon()).unwrap();
    assert!(listener.try_message().unwrap().is_none());
    speaker.query("NOTIFY news, 'hello'", soon()).unwrap();
    assert!(wait_readable(&[&listener], Duration::from_secs(60)).unwrap());
    let Some(Message::Notification { pid, channel, payload }) = listener.try_message().unwrap() else { panic!() };
    assert_eq!((pid, channel.as_str(), payload.as_str()), (speaker.backend_pid(), "news", "hello"));
}

#[test]
fn waiting_for_several_connections_sees_the_one_that_answers() {
    let server = TestServer::plain();
    let (idle, mut busy) = (server.connect(), server.connect());
    assert!(!wait_readable(&[&idle, &busy], Duration::ZERO).unwrap());
    busy.send_query("SELECT 1").unwrap();
    assert!(wait_readable(&[&idle, &busy], Duration::from_secs(60)).unwrap());
    assert!(matches!(busy.message(soon()), Ok(Message::RowDescription(_))));
    // The rest of the answer came along: the socket is empty, and still there is something to read.
    assert!(wait_readable(&[&idle, &busy], Duration::ZERO).unwrap());
    answer(&mut busy);
    assert!(!wait_readable(&[&idle, &busy], Duration::ZERO).unwrap());
}
