//! The extended query protocol, several messages at once.

use crate::servers::{TestServer, answer, soon, value};

#[test]
fn a_transaction_in_one_round_trip() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    connection.buffer_query("BEGIN").unwrap();
    connection.buffer_parse("add", "SELECT $1::int + $2 AS sum, $3::text AS note", &[]).unwrap();
    connection.buffer_describe_statement("add").unwrap();
    connection.buffer_bind("", "add", &[Some("1"), Some("2"), None]).unwrap();
    connection.buffer_describe_portal("").unwrap();
    connection.buffer_execute("", 0).unwrap();
    connection.buffer_sync();
    connection.buffer_query("COMMIT").unwrap();
    assert!(connection.try_message().unwrap().is_none());
    connection.flush();
    assert_eq!(answer(&mut connection), ["BEGIN", "ReadyForQuery(InTransaction)"]);
    assert_eq!(
        answer(&mut connection),
        [
            "ParseComplete",
            "ParameterDescription([23, 23, 25])",
            "columns sum, note",
            "BindComplete",
            "columns sum, note",
            "row 3, NULL",
            "SELECT 1",
            "ReadyForQuery(InTransaction)"
        ]
    );
    assert_eq!(answer(&mut connection), ["COMMIT", "ReadyForQuery(Idle)"]);
}

#[test]
fn after_an_error_the_rest_up_to_sync_is_skipped() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    connection.buffer_parse("divide", "SELECT 6 / $1::int", &[23]).unwrap();
    for divisor in ["0", "2"] {
        connection.buffer_bind("", "divide", &[Some(divisor)]).unwrap();
        connection.buffer_execute("", 0).unwrap();
    }
    connection.buffer_sync();
    connection.buffer_bind("", "divide", &[Some("3")]).unwrap();
    connection.buffer_execute("", 0).unwrap();
    connection.buffer_sync();
    connection.flush();
    assert_eq!(answer(&mut connection), ["ParseComplete", "error 22012", "ReadyForQuery(Idle)"]);
    assert_eq!(answer(&mut connection), ["BindComplete", "row 2", "SELECT 1", "ReadyForQuery(Idle)"]);
}

#[test]
fn a_portal_gives_its_rows_in_parts_until_it_is_closed() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    connection.buffer_parse("", "SELECT generate_series(1, 3)", &[]).unwrap();
    connection.buffer_bind("p", "", &[]).unwrap();
    connection.buffer_execute("p", 2).unwrap();
    connection.buffer_execute("p", 2).unwrap();
    connection.buffer_close_portal("p").unwrap();
    connection.buffer_close_statement("").unwrap();
    connection.buffer_sync();
    connection.flush();
    assert_eq!(
        answer(&mut connection),
        [
            "ParseComplete",
            "BindComplete",
            "row 1",
            "row 2",
            "PortalSuspended",
            "row 3",
            "SELECT 1",
            "CloseComplete",
            "CloseComplete",
            "ReadyForQuery(Idle)"
        ]
    );
    connection.buffer_parse("", "SELECT", &[]).unwrap();
    connection.buffer_sync();
    connection.flush();
    assert_eq!(answer(&mut connection), ["ParseComplete", "ReadyForQuery(Idle)"]);
}

/// Both ends have far more to say than the sockets hold.
#[test]
fn long_statements_with_long_answers() {
    let server = TestServer::plain();
    for options in [server.options().clone(), server.over_tcp("trusted", None)] {
        let mut connection = isolab::wire::Connection::connect(&options).unwrap();
        let sql = format!("SELECT '{}'", "x".repeat(1 << 20));
        for _ in 0..20 {
            connection.buffer_query(&sql).unwrap();
        }
        connection.flush();
        for _ in 0..20 {
            assert_eq!(answer(&mut connection)[1].len(), "row ".len() + (1 << 20));
        }
        assert_eq!(value(&mut connection, "SELECT 1"), "1");
        assert!(connection.query("SELECT 1", soon()).is_ok());
    }
}
