//! What tests on real PostgreSQL share.
// Every test program uses its own part of it.
#![allow(dead_code)]

pub mod forms;
pub mod random_program;
pub mod shapes;

use isolab::server::{Extra, Fetch, FindOptions, PgBin, Server, Throwaway};

/// One installation of every major version on this machine; one that is fetched where there is none.
pub fn installations() -> Vec<PgBin> {
    let mut found = PgBin::installed().expect("the search for PostgreSQL");
    if found.is_empty() {
        found.push(isolab::server::programs(&find_options()).expect("a PostgreSQL that is fetched"));
    }
    found.sort_by_key(|bin| bin.version.major);
    found.dedup_by_key(|bin| bin.version.major);
    found
}

pub fn find_options() -> FindOptions {
    FindOptions { fetch: Fetch::Always, ..FindOptions::default() }
}

/// A throwaway server, and the same as a user would name it by `--db`.
pub fn server_by_flag(bin: &PgBin) -> (Throwaway, Server) {
    let throwaway = Throwaway::start(bin, &Extra::default()).expect("a throwaway server");
    let server =
        Server::find(&FindOptions { db: Some(url(&throwaway)), ..find_options() }).expect("a server by its URL");
    (throwaway, server)
}

/// Over the loopback port.
pub fn url(throwaway: &Throwaway) -> String {
    let options = throwaway.tcp_options();
    let password = options.password.as_deref().unwrap_or_default();
    format!("postgres://{}:{password}@{}/{}", options.user, options.address(), options.database)
}

/// The same server as the role `guest`, which is made with these options.
pub fn as_guest(url: &str, options: &str) -> String {
    query(url, &format!("CREATE ROLE guest LOGIN PASSWORD 'S3cret' {options}"));
    format!("postgres://guest:S3cret@{}", url.split_once('@').expect("a user").1)
}

/// The rows of a query, on a connection of its own.
pub fn query(url: &str, sql: &str) -> Vec<String> {
    let mut client = postgres::Client::connect(url, postgres::NoTls).expect("a connection");
    let messages = client.simple_query(sql).expect(sql);
    let rows = messages.iter().filter_map(|message| match message {
        postgres::SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or("null").to_owned()),
        _ => None,
    });
    rows.collect()
}
