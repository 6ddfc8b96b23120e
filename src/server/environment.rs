//! Which server the user names: by `--db`, `DATABASE_URL` or libpq's `PG*` variables, which also fill in what the
//! other two leave out. See <https://www.postgresql.org/docs/current/libpq-envars.html>.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::address::{self, Address};
use super::pgpass::{self, Login};
use super::{ServerError, Source, admin, machine};
use crate::wire::{ConnectOptions, Host};

/// These name a server. The others (`PGUSER`, `PGPASSWORD`, …) only say how to use one.
const NAMING: [&str; 5] = ["PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE"];

const DEFAULT_PORT: u16 = 5432;
const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where packages put the server's socket.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// A server that the user named.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    pub options: ConnectOptions,
    pub source: Source,
}

/// A look at the environment, so that tests can have their own.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The process's own environment; an empty variable is as good as none.
pub fn process(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The server that `--db` or the environment names, if either does.
pub fn named(flag: Option<&str>, variables: Variables) -> Result<Option<Named>, ServerError> {
    let (source, text) = match (flag, variables("DATABASE_URL")) {
        (Some(text), _) => (Source::Flag, text.to_owned()),
        (None, Some(text)) => (Source::DatabaseUrl, text),
        (None, None) if NAMING.iter().any(|name| variables(name).is_some()) => (Source::Environment, String::new()),
        (None, None) => return Ok(None),
    };
    if source == Source::Environment && variables("PGSERVICE").is_some() {
        let reason = "service files are not supported; name the server by --db".to_owned();
        return Err(unreadable("PGSERVICE")(reason));
    }
    let address = Address::parse(&text).map_err(unreadable(source.name()))?;
    let (host, origin) = host(&address, source, variables);
    let options = complete(address, host, variables)?;
    if origin != Source::Flag.name() && !machine::is_here(&options.host)? {
        return Err(ServerError::Remote { address: options.address(), origin: origin.to_owned() });
    }
    Ok(Some(Named { options, source }))
}

/// What names the server, as messages say it: of libpq's variables those that are set.
pub fn origin(source: Source, variables: Variables) -> String {
    let set: Vec<&str> = NAMING.into_iter().filter(|name| variables(name).is_some()).collect();
    match source {
        Source::Environment if !set.is_empty() => set.join(", "),
        other => other.name().to_owned(),
    }
}

/// For `map_err`: what stands in a flag or variable makes no sense.
fn unreadable(origin: &str) -> impl FnOnce(String) -> ServerError {
    let origin = origin.to_owned();
    |reason| ServerError::Address { origin, reason }
}

/// The host, and the flag or the variable that named it.
fn host(address: &Address, source: Source, variables: Variables) -> (Option<Host>, &'static str) {
    if let Some(host) = &address.host {
        return (Some(host.clone()), source.name());
    }
    let found = ["PGHOSTADDR", "PGHOST"].into_iter().find_map(|name| Some((variables(name)?, name)));
    match found {
        Some((host, name)) if host.starts_with('/') => (Some(Host::Unix(host.into())), name),
        Some((host, name)) => (Some(Host::Tcp(host)), name),
        None => (None, source.name()),
    }
}

/// Fills in what the address leaves out.
fn complete(address: Address, host: Option<Host>, variables: Variables) -> Result<ConnectOptions, ServerError> {
    let port = match address.port {
        Some(port) => port,
        None => number("PGPORT", variables)?.unwrap_or(DEFAULT_PORT),
    };
    let user = match address.user.or_else(|| variables("PGUSER")) {
        Some(user) => user,
        None => whoami::username().map_err(|_| ServerError::NoUser)?,
    };
    let host = host.unwrap_or_else(|| default_host(port));
    let database = address.database.or_else(|| variables("PGDATABASE")).unwrap_or_else(|| user.clone());
    let password = address.password.or_else(|| variables("PGPASSWORD")).or_else(|| {
        let login = Login { host: &host, port, database: &database, user: &user };
        pgpass::look_up(&password_file(address.password_file, variables)?, &login)
    });
    let tls = match address.tls {
        Some(mode) => mode,
        None => variable("PGSSLMODE", variables, address::tls_mode)?.unwrap_or_default(),
    };
    let root_certificate = address.root_certificate.or_else(|| address::root_certificate(&variables("PGSSLROOTCERT")?));
    let connect_timeout = match address.connect_timeout {
        Some(limit) => limit,
        None => number("PGCONNECT_TIMEOUT", variables)?
            .filter(|&seconds| seconds > 0)
            .map_or(DEFAULT_CONNECT_TIMEOUT, |seconds| Duration::from_secs(seconds.into())),
    };
    let mut settings = variable("PGOPTIONS", variables, address::settings)?.unwrap_or_default();
    settings.extend(address.settings);
    let application_name = address.application_name.or_else(|| variables("PGAPPNAME"));
    let application_name = application_name.unwrap_or_else(|| admin::APPLICATION_NAME.to_owned());
    Ok(ConnectOptions {
        host,
        port,
        user,
        password,
        database,
        tls,
        root_certificate,
        application_name,
        settings,
        connect_timeout,
    })
}

/// A variable, read by `parse`.
fn variable<T>(
    name: &str,
    variables: Variables,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, ServerError> {
    variables(name).map(|value| parse(&value).map_err(unreadable(name))).transpose()
}

fn number(name: &str, variables: Variables) -> Result<Option<u16>, ServerError> {
    variable(name, variables, |value| value.parse().map_err(|_| "it is not a number in range".to_owned()))
}

/// As libpq: the socket in the usual folder, but only where there is one.
fn default_host(port: u16) -> Host {
    let mut folders = SOCKET_FOLDERS.iter().map(Path::new);
    let with_socket = folders.find(|folder| folder.join(format!(".s.PGSQL.{port}")).exists());
    with_socket.map_or_else(|| Host::Tcp("localhost".to_owned()), |folder| Host::Unix(folder.to_owned()))
}

fn password_file(given: Option<PathBuf>, variables: Variables) -> Option<PathBuf> {
    let by_variable = || variables("PGPASSFILE").map(PathBuf::from);
    given.or_else(by_variable).or_else(|| Some(Path::new(&variables("HOME")?).join(".pgpass")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::TlsMode;

    fn named_with(flag: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<Named>, ServerError> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        named(flag, &find)
    }

    fn options(flag: Option<&str>, variables: &[(&str, &str)]) -> ConnectOptions {
        named_with(flag, variables).unwrap().unwrap().options
    }

    #[test]
    fn the_flag_comes_before_the_url_and_the_url_before_the_variables() {
        let all = [("DATABASE_URL", "postgres://u@localhost/b"), ("PGHOST", "127.0.0.1"), ("PGDATABASE", "c")];
        let source = |flag, variables| named_with(flag, variables).unwrap().map(|named| named.source);
        assert_eq!(source(Some("dbname=a"), &all), Some(Source::Flag));
        assert_eq!(source(None, &all), Some(Source::DatabaseUrl));
        assert_eq!(source(None, &all[1..]), Some(Source::Environment));
        assert_eq!(source(None, &[("PGUSER", "u"), ("PGPASSWORD", "p")]), None);
    }

    #[test]
    fn variables_fill_in_what_an_address_leaves_out() {
        let variables = [
            ("PGHOST", "/sockets"),
            ("PGPORT", "5433"),
            ("PGUSER", "alice"),
            ("PGPASSWORD", "secret"),
            ("PGSSLMODE", "require"),
            ("PGSSLROOTCERT", "/ca.pem"),
            ("PGAPPNAME", "app"),
            ("PGOPTIONS", "-c a.b=1"),
            ("PGCONNECT_TIMEOUT", "3"),
        ];
        let full = options(Some("dbname=shop"), &variables);
        assert_eq!(full.address(), "/sockets/.s.PGSQL.5433");
        assert_eq!(
            (full.user.as_str(), full.password.as_deref(), full.database.as_str()),
            ("alice", Some("secret"), "shop")
        );
        assert_eq!((full.tls, full.root_certificate.as_deref()), (TlsMode::Require, Some(Path::new("/ca.pem"))));
        assert_eq!((full.application_name.as_str(), full.settings.len()), ("app", 1));
        assert_eq!(full.connect_timeout, Duration::from_secs(3));
        let own = options(Some("postgres://bob:pw@localhost/x?sslmode=disable"), &variables);
        assert_eq!((own.user.as_str(), own.password.as_deref(), own.tls), ("bob", Some("pw"), TlsMode::Disable));
        assert_eq!(options(Some("user=carol host=localhost"), &[]).database, "carol");
    }

    #[test]
    fn a_remote_server_is_used_only_when_the_flag_names_it() {
        let remote = "postgres://u:S3cret@192.0.2.1/x";
        assert_eq!(options(Some(remote), &[]).address(), "192.0.2.1:5432");
        for variables in [&[("DATABASE_URL", remote)][..], &[("PGHOST", "192.0.2.1")], &[("PGHOSTADDR", "192.0.2.1")]] {
            let error = named_with(None, variables).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("192.0.2.1:5432") && text.contains("--db"), "{text}");
            assert!(!text.contains("S3cret") && !format!("{error:?}").contains("S3cret"), "{error:?}");
        }
        let error = named_with(Some("dbname=x"), &[("PGHOST", "192.0.2.1")]).unwrap_err();
        assert!(matches!(error, ServerError::Remote { .. }), "{error}");
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let error = |variables| named_with(None, variables).unwrap_err().to_string();
        assert!(error(&[("PGPORT", "many")]).starts_with("cannot read PGPORT"));
        assert!(
            error(&[("PGPORT", "1"), ("PGSSLMODE", "verify-ca")])
                .starts_with("cannot read PGSSLMODE: sslmode=verify-ca")
        );
        assert!(error(&[("PGSERVICE", "shop")]).starts_with("cannot read PGSERVICE: service files"));
        assert!(error(&[("DATABASE_URL", "mysql://h/x")]).starts_with("cannot read DATABASE_URL: it is neither"));
    }
}
