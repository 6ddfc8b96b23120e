//! A server that answers: what it is, and what may be asked of it.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::admin::Admin;
use super::{ServerError, ServerVersion, Source, Throwaway, environment};
use crate::wire::ConnectOptions;

/// The oldest major version that has all that the lab needs (`DROP DATABASE … WITH (FORCE)`, `pg_xact_status`).
const OLDEST: u32 = 13;

/// A server to work on. Dropping it stops a throwaway server and removes its folder.
#[derive(Debug)]
pub struct Server {
    /// The lab's own connection, while no sandbox has it.
    admin: Mutex<Option<Admin>>,
    source: Source,
    version: ServerVersion,
    superuser: bool,
    options: ConnectOptions,
    _throwaway: Option<Throwaway>,
}

/// How many connections there may be, and are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// `max_connections`.
    pub max: u32,
    /// Those that only other roles than ours may use.
    pub reserved: u32,
    pub in_use: u32,
    /// What the CONNECTION LIMIT of the role or the database leaves; none where neither has one.
    pub left_by_limit: Option<u32>,
}

impl Connections {
    /// How many more we may open.
    pub fn free(&self) -> u32 {
        let free = self.max.saturating_sub(self.reserved).saturating_sub(self.in_use);
        self.left_by_limit.map_or(free, |left| left.min(free))
    }
}

impl fmt::Display for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Connections { max, reserved, in_use, left_by_limit } = self;
        write!(f, "{} are free (max_connections = {max}, {in_use} in use, {reserved} reserved", self.free())?;
        match left_by_limit {
            Some(left) => write!(f, "; a CONNECTION LIMIT leaves {left})"),
            None => f.write_str(")"),
        }
    }
}

impl Server {
    pub(super) fn connect(
        options: ConnectOptions,
        source: Source,
        throwaway: Option<Throwaway>,
    ) -> Result<Server, ServerError> {
        let admin = Admin::connect(&options, &environment::origin(source, &environment::process))?;
        let version = admin.parameter("server_version").to_owned();
        let version = ServerVersion::parse(&version).unwrap_or(ServerVersion { major: 0, text: version });
        if version.major < OLDEST {
            return Err(ServerError::TooOld { found: version.text, needed: OLDEST });
        }
        let superuser = admin.parameter("is_superuser") == "on";
        Ok(Server { admin: Mutex::new(Some(admin)), source, version, superuser, options, _throwaway: throwaway })
    }

    /// What named the server.
    pub fn source(&self) -> Source {
        self.source
    }

    pub fn version(&self) -> &ServerVersion {
        &self.version
    }

    /// How to reach it.
    pub fn options(&self) -> &ConnectOptions {
        &self.options
    }

    pub fn is_superuser(&self) -> bool {
        self.superuser
    }

    /// Whether we started it: its backends are processes of this machine that we may stop and continue by signal.
    pub fn is_ours(&self) -> bool {
        matches!(self.source, Source::Throwaway | Source::Kept)
    }

    /// Which server this is, in words and without a secret: `PostgreSQL 18.6 (throwaway server)`.
    pub fn describe(&self) -> String {
        let address = self.options.address();
        match self.source {
            Source::Throwaway | Source::Kept => format!("PostgreSQL {} ({} server)", self.version, self.source.name()),
            source => format!("PostgreSQL {} at {address} (from {})", self.version, source.name()),
        }
    }

    /// The value of a setting, as `SHOW` gives it.
    pub fn setting(&self, name: &str) -> Result<String, ServerError> {
        let name = name.replace('\'', "''");
        let query = format!("SELECT current_setting('{name}')");
        let [value] = row(self.ask(&format!("ask for the setting {name}"), &query)?);
        Ok(value)
    }

    /// How many connections are left for us.
    pub fn connections(&self) -> Result<Connections, ServerError> {
        // Neither limit is for superusers, and less than nothing stands for none.
        let query = "SELECT current_setting('max_connections'), current_setting('superuser_reserved_connections'), \
                     coalesce(current_setting('reserved_connections', true), '0'), \
                     (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), \
                     least((SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = session_user) \
                             - (SELECT count(*) FROM pg_stat_activity WHERE usename = session_user), \
                           (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()) \
                             - (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()))";
        let [max, for_superusers, for_role, in_use, left] = row(self.ask("count the connections", query)?);
        let number = |text: String| text.parse().unwrap_or(0);
        let reserved = if self.superuser { 0 } else { number(for_superusers) + number(for_role) };
        let left_by_limit = (!self.superuser && !left.is_empty()).then(|| number(left));
        Ok(Connections { max: number(max), reserved, in_use: number(in_use), left_by_limit })
    }

    /// A connection to keep: the one that is there, which spares the server a new one.
    pub(super) fn take_admin(&self) -> Result<Admin, ServerError> {
        match self.idle_admin().take() {
            Some(mut admin) => admin.revive().map(|_| admin),
            None => Admin::connect(&self.options, self.source.name()),
        }
    }

    fn ask(&self, what: &str, query: &str) -> Result<Vec<Vec<Option<String>>>, ServerError> {
        let mut admin = self.take_admin()?;
        let answer = admin.query(what, query);
        *self.idle_admin() = Some(admin);
        answer
    }

    fn idle_admin(&self) -> MutexGuard<'_, Option<Admin>> {
        // A panic elsewhere leaves a connection that can still be asked.
        self.admin.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first row, an empty text for each null.
fn row<const COLUMNS: usize>(rows: Vec<Vec<Option<String>>>) -> [String; COLUMNS] {
    let mut values = rows.into_iter().next().unwrap_or_default().into_iter();
    std::array::from_fn(|_| values.next().flatten().unwrap_or_default())
}
