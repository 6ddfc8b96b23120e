//! A server's address as users write it: a `postgres://` URL or libpq's `keyword=value` pairs.
//!
//! The `postgres` crate parses both. What it does not know, the full list of `sslmode` words above all, is taken out of
//! the text before: see <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>.

use std::path::PathBuf;
use std::time::Duration;

use postgres::Config;
use postgres::config::Host as ConfigHost;

use super::conninfo;
use crate::wire::{Host, TlsMode};

/// What an address says; all that it leaves out comes from elsewhere.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Address {
    pub host: Option<Host>,
    pub port: Option<u16>,
    pub user: Option<String>,
    pub password: Option<String>,
    pub database: Option<String>,
    pub tls: Option<TlsMode>,
    pub root_certificate: Option<PathBuf>,
    pub password_file: Option<PathBuf>,
    pub application_name: Option<String>,
    pub settings: Vec<(String, String)>,
    pub connect_timeout: Option<Duration>,
}

impl Address {
    /// Reads an address. The error is the reason, and repeats nothing that could be part of a password.
    pub fn parse(text: &str) -> Result<Address, String> {
        let (rest, ours) = conninfo::take(text, &["sslmode", "sslrootcert", "passfile"])?;
        let config: Config = rest.parse().map_err(|error| reason(&error))?;
        let mut address = Address::of(&config)?;
        for (keyword, value) in ours {
            match keyword.as_str() {
                "sslmode" => address.tls = Some(tls_mode(&value)?),
                "sslrootcert" => address.root_certificate = root_certificate(&value),
                _ => address.password_file = Some(value.into()),
            }
        }
        Ok(address)
    }

    fn of(config: &Config) -> Result<Address, String> {
        let password = config.get_password().map(|bytes| String::from_utf8(bytes.to_owned()));
        let owned = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(Address {
            host: host(config)?,
            port: config.get_ports().first().copied(),
            user: owned(config.get_user()),
            password: password.transpose().map_err(|_| "the password is not UTF-8".to_owned())?,
            database: owned(config.get_dbname()),
            application_name: owned(config.get_application_name()),
            settings: settings(config.get_options().unwrap_or_default())?,
            connect_timeout: config.get_connect_timeout().copied(),
            ..Address::default()
        })
    }
}

/// The one host. An address given by number saves the look-up of the name.
fn host(config: &Config) -> Result<Option<Host>, String> {
    let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
    if hosts.len() > 1 || addresses.len() > 1 {
        return Err("it names several hosts; isolab works on one".to_owned());
    }
    if let Some(address) = addresses.first() {
        return Ok(Some(Host::Tcp(address.to_string())));
    }
    Ok(hosts.first().map(|host| match host {
        ConfigHost::Tcp(name) => Host::Tcp(name.clone()),
        ConfigHost::Unix(folder) => Host::Unix(folder.clone()),
    }))
}

/// A word of `sslmode`.
pub fn tls_mode(word: &str) -> Result<TlsMode, String> {
    match word {
        "disable" => Ok(TlsMode::Disable),
        "allow" | "prefer" => Ok(TlsMode::Prefer),
        "require" => Ok(TlsMode::Require),
        "verify-full" => Ok(TlsMode::VerifyFull),
        "verify-ca" => Err("sslmode=verify-ca is not supported; verify-full also checks the host's name".to_owned()),
        _ => Err("sslmode is one of disable, prefer, require, verify-full".to_owned()),
    }
}

/// `system` means the system's own roots, which are ours anyway.
pub fn root_certificate(value: &str) -> Option<PathBuf> {
    (value != "system").then(|| value.into())
}

/// Settings in `options`, written as `-c name=value` or `--name=value`; a backslash takes the next letter as it is.
pub fn settings(options: &str) -> Result<Vec<(String, String)>, String> {
    let mut words = vec![String::new()];
    let mut letters = options.chars();
    while let Some(letter) = letters.next() {
        match (letter, words.last_mut()) {
            ('\\', Some(word)) => word.extend(letters.next()),
            (blank, _) if blank.is_whitespace() => words.push(String::new()),
            (letter, Some(word)) => word.push(letter),
            (_, None) => {}
        }
    }
    let mut words = words.into_iter().filter(|word| !word.is_empty());
    let mut settings = Vec::new();
    while let Some(word) = words.next() {
        let assignment = match word.strip_prefix("--").or_else(|| word.strip_prefix("-c")) {
            Some("") => words.next().unwrap_or_default(),
            Some(assignment) => assignment.to_owned(),
            None => String::new(),
        };
        let (name, value) = assignment.split_once('=').ok_or("options may only hold -c name=value")?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

/// The crate's reason, but for the name of an option that it does not know: in a URL with an unescaped password that
/// could be a part of it.
fn reason(error: &postgres::Error) -> String {
    let text = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    match text.strip_prefix("unknown option `").and_then(|rest| rest.strip_suffix('`')) {
        Some(name) if name.chars().all(|c| c.is_ascii_lowercase() || c == '_') => format!("unknown option {name}"),
        Some(_) => "it has an option that cannot be read; letters such as @ / ? in a password are written %40 %2F %3F"
            .to_owned(),
        None => text.replace('`', ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    #[test]
    fn a_url_and_pairs_say_the_same() {
        let url = parse(
            "postgres://al%40ice:s%2Fecret@[::1]:5433/shop?sslmode=verify-full&application_name=x&connect_timeout=3",
        );
        let pairs = parse(
            r"host=::1 port=5433 user=al@ice password='s/ecret' dbname=shop sslmode = 'verify-full' application_name=x connect_timeout=3",
        );
        assert!(url == pairs);
        assert_eq!(url.host, Some(Host::Tcp("::1".to_owned())));
        assert_eq!(url.tls, Some(TlsMode::VerifyFull));
        assert_eq!(url.password.as_deref(), Some("s/ecret"));
        assert_eq!(url.connect_timeout, Some(Duration::from_secs(3)));
    }

    #[test]
    fn sockets_and_defaults() {
        assert_eq!(parse("postgresql://%2Ftmp%2Fx/db").host, Some(Host::Unix("/tmp/x".into())));
        assert_eq!(parse("host=/tmp/x").host, Some(Host::Unix("/tmp/x".into())));
        assert!(parse("postgres://") == Address::default());
        assert!(parse("") == Address::default());
        assert_eq!(parse("host=db hostaddr=10.0.0.1").host, Some(Host::Tcp("10.0.0.1".to_owned())));
    }

    #[test]
    fn options_are_settings() {
        let expected = [("lock_timeout".to_owned(), "5s".to_owned()), ("search_path".to_owned(), "a, b".to_owned())];
        assert_eq!(settings(r"-c lock_timeout=5s  --search-path=a,\ b").unwrap(), expected);
        assert_eq!(parse("postgres://h/db?options=-clock_timeout%3D5s").settings, expected[..1]);
        assert!(settings("-d 5").is_err());
    }

    #[test]
    fn mistakes_are_named_without_the_password() {
        let error = |text: &str| Address::parse(text).err().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(error("postgres://a,b/x"), "it names several hosts; isolab works on one");
        assert_eq!(error("postgres://h/x?sslcert=y"), "unknown option sslcert");
        assert!(error("postgres://h/x?sslmode=yes").starts_with("sslmode is one of"));
        for leak in ["postgres://h/x?S3cret=1", "host=h password='S3cret", "u:S3cret@h"] {
            assert!(!error(leak).contains("S3cret"), "{}", error(leak));
        }
    }
}
