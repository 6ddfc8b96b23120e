//! The lab's own connections, through the `postgres` crate: making and dropping what the lab needs, asking settings.

use std::error::Error;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use postgres::config::SslMode;
use postgres::{Client, Config, NoTls};

use super::ServerError;
use crate::interrupt;
use crate::wire::{ConnectOptions, Host, TlsMode};

/// What the server sees as the name of the lab's own connections.
pub const APPLICATION_NAME: &str = "isolab";

/// For a statement of ours. Making a database is the slowest.
const STATEMENT_LIMIT: Duration = Duration::from_secs(60);

/// What the handshake may take once the connection stands.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(20);

/// Connects for administration. `origin` says where the address came from, for the error.
pub fn connect(options: &ConnectOptions, origin: &str) -> Result<Client, ServerError> {
    let refused = |reason: String| ServerError::Connect {
        address: options.address(),
        user: options.user.clone(),
        database: options.database.clone(),
        origin: origin.to_owned(),
        reason,
    };
    let config = config(options);
    let (sender, receiver) = mpsc::channel();
    // On a thread of its own, because the crate cannot be interrupted and has no limit on the handshake.
    thread::spawn(move || drop(sender.send(config.connect(NoTls))));
    let limit = options.connect_timeout + HANDSHAKE_LIMIT;
    let start = Instant::now();
    loop {
        match receiver.recv_timeout(Duration::from_millis(20)) {
            Ok(Ok(client)) => return Ok(client),
            Ok(Err(error)) => return Err(refused(reason(&error))),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(refused("the attempt broke off".to_owned())),
            Err(mpsc::RecvTimeoutError::Timeout) if start.elapsed() > limit => {
                return Err(refused(format!("no answer within {}", humantime::format_duration(limit))));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => interrupt::check()?,
        }
    }
}

fn config(options: &ConnectOptions) -> Config {
    let mut config = Config::new();
    match &options.host {
        Host::Tcp(name) => config.host(name),
        Host::Unix(folder) => config.host_path(folder),
    };
    config.port(options.port).user(&options.user).dbname(&options.database);
    config.application_name(&options.application_name).connect_timeout(options.connect_timeout);
    config.ssl_mode(match options.tls {
        TlsMode::Disable => SslMode::Disable,
        TlsMode::Prefer => SslMode::Prefer,
        TlsMode::Require | TlsMode::VerifyFull => SslMode::Require,
    });
    if let Some(password) = &options.password {
        config.password(password);
    }
    let limit = ("statement_timeout".to_owned(), STATEMENT_LIMIT.as_millis().to_string());
    config.options(&start_up_options(options.settings.iter().chain([&limit])));
    config
}

/// Settings as the `options` of the start-up message take them.
fn start_up_options<'a>(settings: impl Iterator<Item = &'a (String, String)>) -> String {
    let escape = |value: &str| value.replace('\\', r"\\").replace(' ', r"\ ");
    settings.map(|(name, value)| format!("-c {name}={}", escape(value))).collect::<Vec<_>>().join(" ")
}

/// For `map_err` on a statement of ours: what was to be done.
pub fn failed(what: impl Into<String>) -> impl FnOnce(postgres::Error) -> ServerError {
    move |error| ServerError::Statement { what: what.into(), reason: reason(&error) }
}

/// What the server said, or what came in between, from the whole chain of causes.
fn reason(error: &postgres::Error) -> String {
    if let Some(db) = error.as_db_error() {
        let detail = db.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
        return format!("{}{detail} (SQLSTATE {})", db.message(), db.code().code());
    }
    let mut causes = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    causes.dedup();
    causes.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_up_options_escape_blanks() {
        let settings = [("search_path".to_owned(), r#""a b", c\d"#.to_owned()), ("jit".to_owned(), "off".to_owned())];
        assert_eq!(start_up_options(settings.iter()), r#"-c search_path="a\ b",\ c\\d -c jit=off"#);
    }
}
