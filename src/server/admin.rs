//! The lab's own connections, through the `postgres` crate: making and dropping what the lab needs, asking settings.

use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

use postgres::config::SslMode;
use postgres::{Client, Config, SimpleQueryMessage};

use super::{ServerError, background};
use crate::wire::{ConnectOptions, Host, TlsMode};

/// What the server sees as the name of the lab's own connections.
pub const APPLICATION_NAME: &str = "isolab";

/// For a statement of ours. Making a database is the slowest.
const STATEMENT_LIMIT: Duration = Duration::from_secs(60);

/// What the handshake may take once the connection stands.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(20);

/// A connection that has answered so recently is taken to live.
const RECENT: Duration = Duration::from_secs(1);

/// A connection for administration.
pub struct Admin {
    client: Client,
    options: ConnectOptions,
    origin: String,
    /// None after an error.
    last_answer: Option<Instant>,
}

impl fmt::Debug for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Admin").field(&self.options).finish()
    }
}

impl Admin {
    /// Connects. `origin` says where the address came from, for the error.
    pub fn connect(options: &ConnectOptions, origin: &str) -> Result<Admin, ServerError> {
        let client = connect(options, origin)?;
        Ok(Admin { client, options: options.clone(), origin: origin.to_owned(), last_answer: Some(Instant::now()) })
    }

    /// The same server and user in another database.
    pub fn connect_to(&self, database: &str) -> Result<Admin, ServerError> {
        let options = ConnectOptions { database: database.to_owned(), ..self.options.clone() };
        Admin::connect(&options, &self.origin)
    }

    /// Connects anew if the connection was lost. True if it was, and with it what the session held.
    pub fn revive(&mut self) -> Result<bool, ServerError> {
        if self.last_answer.is_some_and(|answer| answer.elapsed() < RECENT) {
            return Ok(false);
        }
        let lost = self.client.is_valid(HANDSHAKE_LIMIT).is_err();
        if lost {
            self.client = connect(&self.options, &self.origin)?;
        }
        Ok(lost)
    }

    /// Runs statements; `what` is what they are to do.
    pub fn execute(&mut self, what: &str, statements: &str) -> Result<(), ServerError> {
        let answer = self.client.batch_execute(statements);
        self.answered(what, answer)
    }

    /// The rows of a query, all values as text.
    pub fn query(&mut self, what: &str, query: &str) -> Result<Vec<Vec<Option<String>>>, ServerError> {
        let answer = self.client.simple_query(query);
        let messages = self.answered(what, answer)?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
            }
            _ => None,
        });
        Ok(rows.collect())
    }

    fn answered<T>(&mut self, what: &str, answer: Result<T, postgres::Error>) -> Result<T, ServerError> {
        self.last_answer = answer.is_ok().then(Instant::now);
        answer.map_err(failed(what))
    }
}

fn connect(options: &ConnectOptions, origin: &str) -> Result<Client, ServerError> {
    let refused = |reason: String| ServerError::Connect {
        address: options.address(),
        user: options.user.clone(),
        database: options.database.clone(),
        origin: origin.to_owned(),
        reason,
    };
    let config = config(options);
    let limit = options.connect_timeout + HANDSHAKE_LIMIT;
    let waited_for = format!("connecting to {} (the address is from {origin})", options.address());
    // The crate cannot be interrupted and has no limit on the handshake.
    let connected = match tls(options).map_err(&refused)? {
        Some(tls) => background::run(limit, waited_for, move || config.connect(tls))?,
        None => background::run(limit, waited_for, move || config.connect(postgres::NoTls))?,
    };
    connected.map_err(|error| refused(reason(&error)))
}

fn config(options: &ConnectOptions) -> Config {
    let mut config = Config::new();
    match &options.host {
        Host::Tcp(name) => config.host(name),
        Host::Unix(folder) => config.host_path(folder),
    };
    config.port(options.port).user(&options.user).dbname(&options.database);
    config.application_name(&options.application_name).connect_timeout(options.connect_timeout);
    config.ssl_mode(match (&options.host, options.tls) {
        (Host::Unix(_), _) | (_, TlsMode::Disable) => SslMode::Disable,
        (_, TlsMode::Prefer) => SslMode::Prefer,
        (_, TlsMode::Require | TlsMode::VerifyFull) => SslMode::Require,
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
fn failed(what: &str) -> impl FnOnce(postgres::Error) -> ServerError {
    move |error| ServerError::Statement {
        what: what.to_owned(),
        reason: reason(&error),
        sqlstate: error.code().map(|state| state.code().to_owned()),
    }
}

/// What the server said, or what came in between, from the whole chain of causes.
fn reason(error: &postgres::Error) -> String {
    if let Some(db) = error.as_db_error() {
        let detail = db.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
        return format!("{}{detail}", db.message());
    }
    // The outermost only says that there was an error.
    let causes = std::iter::successors(error.source(), |&error| error.source()).map(ToString::to_string);
    let causes: Vec<String> = causes.collect();
    if causes.is_empty() { error.to_string() } else { causes.join(": ") }
}

#[cfg(feature = "tls")]
fn tls(options: &ConnectOptions) -> Result<Option<tokio_postgres_rustls::MakeRustlsConnect>, String> {
    if options.tls == TlsMode::Disable || matches!(options.host, Host::Unix(_)) {
        return Ok(None);
    }
    let config = crate::wire::tls_client_config(options)?;
    Ok(Some(tokio_postgres_rustls::MakeRustlsConnect::new((*config).clone())))
}

#[cfg(not(feature = "tls"))]
fn tls(_options: &ConnectOptions) -> Result<Option<postgres::NoTls>, String> {
    Ok(None)
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
