//! The servers that the tests connect to, each shared by the tests that run at the same time.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use isolab::server::{Extra, Fetch, FindOptions, PgBin, Throwaway};
use isolab::wire::{ConnectOptions, Connection, Message};

pub const PASSWORD: &str = "correct horse";

/// One role for each way to log in over TCP.
const HBA: [&str; 5] = [
    "host all trusted 127.0.0.1/32 trust",
    "host all cleartext 127.0.0.1/32 password",
    "host all digest 127.0.0.1/32 md5",
    "hostnossl all scram 127.0.0.1/32 scram-sha-256",
    "hostssl all scram 127.0.0.1/32 scram-sha-256",
];

const ROLES: &str = "
    SET password_encryption = 'md5';
    CREATE ROLE digest LOGIN PASSWORD 'correct horse';
    SET password_encryption = 'scram-sha-256';
    CREATE ROLE trusted LOGIN;
    CREATE ROLE cleartext LOGIN PASSWORD 'correct horse';
    CREATE ROLE scram LOGIN PASSWORD 'correct horse'";

/// A server with the roles of this file; it stops with the last test that uses it.
#[derive(Clone)]
pub struct TestServer(Arc<Throwaway>);

impl TestServer {
    /// The server without TLS.
    pub fn plain() -> TestServer {
        static RUNNING: Mutex<Weak<Throwaway>> = Mutex::new(Weak::new());
        TestServer::shared(&RUNNING, Extra::default)
    }

    /// The server that `running` refers to, or a new one.
    pub fn shared(running: &Mutex<Weak<Throwaway>>, extra: impl FnOnce() -> Extra) -> TestServer {
        let mut running: MutexGuard<'_, Weak<Throwaway>> = running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = running.upgrade() {
            return TestServer(server);
        }
        let mut extra = extra();
        extra.hba.extend(HBA.map(str::to_owned));
        let server = Arc::new(Throwaway::start(&programs(), &extra).unwrap());
        *running = Arc::downgrade(&server);
        let server = TestServer(server);
        server.connect().query(ROLES, soon()).unwrap();
        server
    }

    /// A session of the superuser over the Unix socket.
    pub fn connect(&self) -> Connection {
        Connection::connect(self.options()).unwrap()
    }

    /// How `user` reaches the server over TCP.
    pub fn over_tcp(&self, user: &str, password: Option<&str>) -> ConnectOptions {
        ConnectOptions { user: user.to_owned(), password: password.map(str::to_owned), ..self.tcp_options() }
    }
}

impl Deref for TestServer {
    type Target = Throwaway;

    fn deref(&self) -> &Throwaway {
        &self.0
    }
}

fn programs() -> PgBin {
    isolab::server::programs(&FindOptions { fetch: Fetch::Always, ..FindOptions::default() }).unwrap()
}

/// A limit that no test reaches.
pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// The only value of the only row of a query.
pub fn value(connection: &mut Connection, sql: &str) -> String {
    let results = connection.query(sql, soon()).unwrap();
    results[0].rows[0][0].clone().unwrap()
}

/// All messages up to and with the next ReadyForQuery, in short.
pub fn answer(connection: &mut Connection) -> Vec<String> {
    let mut messages = Vec::new();
    loop {
        let message = connection.message(soon()).unwrap();
        messages.push(brief(&message));
        if matches!(message, Message::ReadyForQuery(_)) {
            return messages;
        }
    }
}

fn brief(message: &Message) -> String {
    match message {
        Message::RowDescription(columns) => {
            let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            format!("columns {}", names.join(", "))
        }
        Message::DataRow(row) => {
            let values = row.texts().into_iter().map(|value| value.unwrap_or_else(|| "NULL".to_owned()));
            format!("row {}", values.collect::<Vec<_>>().join(", "))
        }
        Message::CommandComplete(tag) => tag.clone(),
        Message::Error(error) => format!("error {}", error.sqlstate),
        Message::Notice(notice) => format!("{} {}", notice.severity, notice.message),
        other => format!("{other:?}"),
    }
}

/// Waits until the session is in `pg_sleep`.
pub fn await_sleep(observer: &mut Connection, session: &Connection) {
    let pid = session.backend_pid();
    let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {pid} AND wait_event = 'PgSleep'");
    let limit = soon();
    while value(observer, &sql) != "1" {
        assert!(Instant::now() < limit, "the statement never began");
        thread::sleep(Duration::from_millis(2));
    }
}
