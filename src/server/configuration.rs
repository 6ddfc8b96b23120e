//! The settings of the servers that we make.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::ServerError;
use super::account::Account;
use super::postmaster::Home;

/// Fast and forgetful, since the data are not worth keeping; and quiet behind the lab's back: no JIT, and an autovacuum
/// that never comes, since both would make one run differ from the next. Switched off altogether, autovacuum would make
/// CREATE INDEX forget how many rows it has seen, and so change plans. Dropping a table looks at all buffers, so there are
/// few.
const SETTINGS: [(&str, &str); 16] = [
    ("listen_addresses", "127.0.0.1"),
    ("unix_socket_permissions", "0700"),
    ("max_connections", "200"),
    ("shared_buffers", "32MB"),
    ("max_prepared_transactions", "64"),
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("wal_level", "minimal"),
    ("max_wal_senders", "0"),
    ("max_wal_size", "256MB"),
    ("autovacuum", "on"),
    ("autovacuum_naptime", "2147483"),
    ("jit", "off"),
    ("log_checkpoints", "off"),
    ("log_min_messages", "fatal"),
    ("timezone", "UTC"),
];

/// The socket lies in a folder that only the server's user can enter; the loopback port is open to every user of the
/// machine, so it asks for the password, which is drawn anew for each server.
const HBA: &str = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";

/// What a server is to have beside the lab's own settings, and stronger than them.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    /// Lines of `postgresql.conf`, such as `("ssl", "on")`.
    pub settings: Vec<(String, String)>,
    /// Lines of `pg_hba.conf`, put before the lab's.
    pub hba: Vec<String>,
    /// Files in the data directory that only the server can read, such as `server.key`.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Writes the configuration into a data directory.
pub fn write(home: &Home, account: &Account, extra: &Extra) -> Result<(), ServerError> {
    let folder = home.folder.to_string_lossy();
    let own = SETTINGS.into_iter().chain([("unix_socket_directories", &*folder)]);
    let extras = extra.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    // Of two lines for one setting PostgreSQL takes the last.
    let settings: String = own.chain(extras).map(|(name, value)| format!("{name} = {}\n", quote(value))).collect();
    let hba: String = extra.hba.iter().map(|line| format!("{line}\n")).chain([HBA.to_owned()]).collect();
    let data = home.data();
    write_file(&data.join("postgresql.conf"), settings.as_bytes(), account)?;
    write_file(&data.join("pg_hba.conf"), hba.as_bytes(), account)?;
    extra.files.iter().try_for_each(|(name, content)| write_file(&data.join(name), content, account))
}

fn write_file(path: &Path, content: &[u8], account: &Account) -> Result<(), ServerError> {
    fs::write(path, content).map_err(ServerError::file("write", path))?;
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(path, private).map_err(ServerError::file("change the mode of", path))?;
    account.own(path).map_err(ServerError::file("change the owner of", path))
}

/// A value as `postgresql.conf` takes it.
fn quote(value: &str) -> String {
    format!("'{}'", value.replace('\\', r"\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted() {
        assert_eq!(quote(r"it's a \ folder"), r"'it''s a \\ folder'");
    }
}
