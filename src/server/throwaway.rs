//! A server for this run alone: a fresh data directory in a temporary folder, gone at the end.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use rand::distr::{Alphanumeric, SampleString};

use super::account::{self, Account};
use super::admin::{APPLICATION_NAME, Admin};
use super::configuration::{self, Extra};
use super::guardian::GuardedFolder;
use super::postmaster::{self, Home};
use super::{PgBin, ServerError, memory, template};
use crate::wire::{ConnectOptions, Host, TlsMode};

/// A running throwaway server; dropping it stops the server and removes its folder.
#[derive(Debug)]
pub struct Throwaway {
    server: Child,
    options: ConnectOptions,
    _folder: GuardedFolder,
}

impl Throwaway {
    /// Starts a server. `extra` serves tests that need TLS or passwords.
    pub fn start(bin: &PgBin, extra: &Extra) -> Result<Throwaway, ServerError> {
        let account = Account::for_server()?;
        let template = template::ready(bin, &account)?;
        let mut folder = GuardedFolder::create(&place())?;
        let home = Home { folder: folder.path().to_owned() };
        prepare(&home, &template, &account, extra)?;
        let (server, port) = postmaster::start(bin, &account, &home, |pid| folder.holds_server(pid))?;
        let mut throwaway = Throwaway { server, options: superuser(&home.folder, port), _folder: folder };
        throwaway.options.password = Some(set_random_password(&throwaway.options)?);
        Ok(throwaway)
    }

    /// The superuser over the Unix socket.
    pub fn options(&self) -> &ConnectOptions {
        &self.options
    }

    /// The superuser over the loopback port, which asks for the password.
    pub fn tcp_options(&self) -> ConnectOptions {
        ConnectOptions { host: Host::Tcp("127.0.0.1".to_owned()), ..self.options.clone() }
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        postmaster::stop_child(&mut self.server);
    }
}

/// Fills the folder of a server. Its user can enter only when all is in place: until then a folder that root writes to
/// belongs to root.
pub fn prepare(home: &Home, template: &Path, account: &Account, extra: &Extra) -> Result<(), ServerError> {
    template::copy(template, &home.data(), account)?;
    configuration::write(home, account, extra)?;
    account.own(&home.folder).map_err(ServerError::file("change the owner of", &home.folder))
}

/// How the superuser reaches a server that we made, before it has a password.
pub fn superuser(folder: &Path, port: u16) -> ConnectOptions {
    ConnectOptions {
        host: Host::Unix(folder.to_owned()),
        port,
        user: template::SUPERUSER.to_owned(),
        password: None,
        database: "postgres".to_owned(),
        tls: TlsMode::Disable,
        root_certificate: None,
        application_name: APPLICATION_NAME.to_owned(),
        settings: Vec::new(),
        connect_timeout: Duration::from_secs(10),
    }
}

/// Draws the password that the loopback port asks for.
pub fn set_random_password(options: &ConnectOptions) -> Result<String, ServerError> {
    // Letters and digits alone: it needs quoting neither in SQL nor in a URL.
    let password = Alphanumeric.sample_string(&mut rand::rng(), 32);
    let statement = format!("ALTER ROLE {} PASSWORD '{password}'", options.user);
    Admin::connect(options, "a server that isolab started")?.execute("set the server's password", &statement)?;
    Ok(password)
}

/// Where the folder of a new server is made: where `TMPDIR` says; without it in memory, where that can be.
fn place() -> PathBuf {
    let in_memory = || env::var_os("TMPDIR").is_none().then(memory::folder_with_room).flatten();
    in_memory().unwrap_or_else(temporary_folder)
}

/// Where there may be folders of servers.
pub fn places() -> impl Iterator<Item = PathBuf> {
    memory::folder().into_iter().chain([temporary_folder()])
}

/// The usual temporary folder; or /tmp where a socket's path would become longer than the system allows (104 bytes on
/// macOS, 108 on Linux) or, as root, the server's user could not get there.
fn temporary_folder() -> PathBuf {
    const LONGEST: usize = 70;
    let usual = env::temp_dir();
    let fits = usual.is_absolute() && usual.as_os_str().len() <= LONGEST;
    if fits && account::can_reach(&usual) { usual } else { PathBuf::from("/tmp") }
}
