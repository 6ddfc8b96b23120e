//! Finding a server, logging in, and starting a session.

use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use isolab::wire::{ConnectOptions, Connection, Host, TransactionStatus, WireError};

use crate::servers::{PASSWORD, TestServer, soon, value};

fn refusal(options: &ConnectOptions) -> WireError {
    Connection::connect(options).err().unwrap()
}

#[test]
fn a_session_over_a_unix_socket() {
    let server = TestServer::plain();
    let mut connection = server.connect();
    assert_eq!(connection.status(), TransactionStatus::Idle);
    assert_eq!(value(&mut connection, "SELECT pg_backend_pid()"), connection.backend_pid().to_string());
    assert_eq!(
        value(&mut connection, "SELECT client_addr IS NULL FROM pg_stat_activity WHERE pid = pg_backend_pid()"),
        "t"
    );
    assert_eq!(value(&mut connection, "SHOW server_version"), connection.parameter("server_version").unwrap());
    assert_eq!(connection.parameter("client_encoding"), Some("UTF8"));
}

#[test]
fn a_name_is_resolved_and_every_address_tried() {
    let server = TestServer::plain();
    let options = ConnectOptions { host: Host::Tcp("localhost".to_owned()), ..server.over_tcp("trusted", None) };
    let mut connection = Connection::connect(&options).unwrap();
    assert_eq!(value(&mut connection, "SELECT inet_client_addr()"), "127.0.0.1");
}

#[test]
fn every_kind_of_password() {
    let server = TestServer::plain();
    for user in ["cleartext", "digest", "scram"] {
        let mut connection = Connection::connect(&server.over_tcp(user, Some(PASSWORD))).unwrap();
        assert_eq!(value(&mut connection, "SELECT current_user"), user);

        let wrong = refusal(&server.over_tcp(user, Some("wrong")));
        assert!(matches!(&wrong, WireError::Refused { error, .. } if error.sqlstate == "28P01"), "{user}: {wrong}");

        let missing = refusal(&server.over_tcp(user, None));
        assert!(matches!(&missing, WireError::Authentication { .. }), "{user}: {missing}");
        assert!(missing.to_string().contains("password"), "{user}: {missing}");
    }
}

#[test]
fn a_refusal_says_why_and_where() {
    let server = TestServer::plain();
    let options = ConnectOptions { database: "nowhere".to_owned(), ..server.over_tcp("trusted", None) };
    let error = refusal(&options);
    assert_eq!(
        error.to_string(),
        format!("127.0.0.1:{} refused the connection: FATAL 3D000: database \"nowhere\" does not exist", options.port)
    );
    assert_eq!(error.server_error().unwrap().sqlstate, "3D000");
}

#[test]
fn start_up_settings_are_what_discard_all_comes_back_to() {
    let server = TestServer::plain();
    let options = server.options().clone().with_setting("lock_timeout", "7s");
    let mut connection = Connection::connect(&options).unwrap();
    connection.query("SET lock_timeout = '1s'", soon()).unwrap();
    connection.query("DISCARD ALL", soon()).unwrap();
    assert_eq!(value(&mut connection, "SHOW lock_timeout"), "7s");
}

#[test]
fn nobody_at_the_address() {
    let server = TestServer::plain();
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let tcp = refusal(&ConnectOptions { port: free, ..server.over_tcp("trusted", None) });
    assert!(matches!(tcp, WireError::Connect { .. }), "{tcp}");
    assert!(tcp.to_string().starts_with(&format!("cannot connect to 127.0.0.1:{free}: ")), "{tcp}");

    let host = Host::Unix(PathBuf::from("/nonexistent"));
    let unix = refusal(&ConnectOptions { host, ..server.options().clone() });
    assert!(unix.to_string().contains("/nonexistent/.s.PGSQL."), "{unix}");

    let host = Host::Tcp("host.invalid".to_owned());
    let name = refusal(&ConnectOptions { host, ..server.options().clone() });
    assert!(name.to_string().contains("cannot resolve"), "{name}");
}

#[test]
fn a_server_that_never_answers() {
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let server = TestServer::plain();
    let options = ConnectOptions {
        port: silent.local_addr().unwrap().port(),
        connect_timeout: Duration::from_millis(100),
        ..server.over_tcp("trusted", None)
    };
    let error = refusal(&options);
    assert!(matches!(error, WireError::TimedOut { .. }), "{error}");
    assert!(error.to_string().contains(&options.address()), "{error}");
}
