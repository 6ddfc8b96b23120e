//! How to reach a server and as whom.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name or an address.
    Tcp(String),
    /// The folder of a Unix socket.
    Unix(PathBuf),
}

/// `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TlsMode {
    Disable,
    /// TLS where the server offers it, without looking at its certificate.
    #[default]
    Prefer,
    /// TLS or nothing, without looking at the certificate.
    Require,
    /// TLS with a certificate that the system's roots vouch for, made out to the host's name.
    VerifyFull,
}

/// Everything that a connection needs.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectOptions {
    pub host: Host,
    pub port: u16,
    pub user: String,
    pub password: Option<String>,
    pub database: String,
    pub tls: TlsMode,
    /// A file with root certificates (PEM) to use in place of the system's (`sslrootcert`).
    pub root_certificate: Option<PathBuf>,
    pub application_name: String,
    /// Settings given with the start-up message, so that `DISCARD ALL` comes back to them.
    pub settings: Vec<(String, String)>,
    pub connect_timeout: Duration,
}

impl ConnectOptions {
    /// The same with one more start-up setting.
    pub fn with_setting(mut self, name: &str, value: &str) -> ConnectOptions {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The address in words, without any secret: `localhost:5432` or `/tmp/x/.s.PGSQL.5432`.
    pub fn address(&self) -> String {
        match &self.host {
            Host::Tcp(name) if name.contains(':') => format!("[{name}]:{}", self.port),
            Host::Tcp(name) => format!("{name}:{}", self.port),
            Host::Unix(folder) => format!("{}/.s.PGSQL.{}", folder.display(), self.port),
        }
    }
}

impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as {} in {}", self.address(), self.user, self.database)
    }
}
