//! Where the lab works on a server: a schema or databases of its own, gone at the end.

use super::admin::{self, Admin};
use super::mark::Mark;
use super::{Server, ServerError, removal};
use crate::interrupt;
use crate::wire::{Answered, ConnectOptions, Connection};

/// What a scenario needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxKind {
    /// A schema in the server's database: made in a few milliseconds.
    Schema,
    /// A database, and further ones by the names that the scenario has for them.
    Database { extra: Vec<String> },
    /// A database with the C locale, as PostgreSQL's own tests expect it.
    TestDatabase,
}

/// A place that touches nothing else; dropping it removes it, with the sessions that are still there.
#[derive(Debug)]
pub struct Sandbox {
    name: String,
    kind: SandboxKind,
    /// Holds the owner's lock.
    admin: Admin,
    /// How many messages that make the schema are on their way.
    begun: u32,
    closed: bool,
}

impl Sandbox {
    /// Makes a sandbox on `server`.
    pub fn create(server: &Server, kind: &SandboxKind) -> Result<Sandbox, ServerError> {
        let mut sandbox = Sandbox::begin(server, kind)?;
        sandbox.finish()?;
        Ok(sandbox)
    }

    /// Begins to make a sandbox. Sessions may connect at once, and find it whole once [`Sandbox::finish`] has waited for it.
    pub fn begin(server: &Server, kind: &SandboxKind) -> Result<Sandbox, ServerError> {
        let admin = server.take_admin()?;
        let name = admin.options().application_name.clone();
        let mut sandbox = Sandbox { name, kind: kind.clone(), admin, begun: 0, closed: false };
        sandbox.make(Mark::new(), server)?;
        Ok(sandbox)
    }

    fn make(&mut self, mark: Mark, server: &Server) -> Result<(), ServerError> {
        let version = server.version().major;
        let (name, comment) = (&self.name, mark.comment());
        // The lock goes with the session, so the session must outlast the run.
        let outlast = if version >= 14 { "SET idle_session_timeout = 0; " } else { "" };
        let hold = format!("{outlast}{}", mark.hold());
        if self.kind == SandboxKind::Schema {
            // In one message, so in one transaction: there is never a schema without its mark.
            let statements = format!("{hold}; CREATE SCHEMA {name}; COMMENT ON SCHEMA {name} IS '{comment}'");
            self.admin.send(&self.making(), &statements)?;
            self.begun = 1;
            if version >= 14 {
                // With a killed owner its session goes, and with that the lock, also from the middle of a statement.
                self.admin.send(&self.making(), "SET client_connection_check_interval = '1s'")?;
                self.begun = 2;
            }
            return Ok(());
        }
        self.admin.execute("take the owner's lock", &hold)?;
        let locale = match (&self.kind, version) {
            (SandboxKind::TestDatabase, 15..) => "LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C'",
            (SandboxKind::TestDatabase, _) => "LC_COLLATE 'C' LC_CTYPE 'C'",
            _ => "",
        };
        // Half the time, but with checkpoints, which on somebody else's server may have much to write.
        let strategy = if version >= 15 && server.is_ours() { "STRATEGY file_copy" } else { "" };
        for name in self.database_names() {
            let what = format!("create the database {name} to work in");
            // From template0, which nobody has put anything into.
            self.admin.execute(&what, &format!("CREATE DATABASE {name} TEMPLATE template0 {strategy} {locale}"))?;
            self.admin.execute(&what, &format!("COMMENT ON DATABASE {name} IS '{comment}'"))?;
        }
        Ok(())
    }

    /// Waits until a sandbox that was begun is there.
    pub fn finish(&mut self) -> Result<(), ServerError> {
        let begun = std::mem::take(&mut self.begun);
        let answers: Vec<_> = (0..begun).map(|_| self.admin.receive(&self.making())).collect();
        // A server on a system without the means refuses the second.
        answers.into_iter().next().unwrap_or(Ok(Vec::new())).map(|_| ())
    }

    /// What its statements are to do.
    fn making(&self) -> String {
        format!("create the schema {} to work in", self.name)
    }

    /// The sandbox's databases: its own, then the further ones.
    fn database_names(&self) -> Vec<String> {
        match &self.kind {
            SandboxKind::Schema => Vec::new(),
            SandboxKind::TestDatabase => vec![self.name.clone()],
            SandboxKind::Database { extra } => {
                let further = (1..=extra.len()).map(|number| format!("{}_{number}", self.name));
                std::iter::once(self.name.clone()).chain(further).collect()
            }
        }
    }

    /// The name of its schema or database, which its sessions also bear as their application name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How a session gets in.
    pub fn options(&self) -> ConnectOptions {
        let base = self.admin.options().clone();
        match self.kind {
            SandboxKind::Schema => base.with_setting("search_path", &self.name),
            SandboxKind::Database { .. } | SandboxKind::TestDatabase => {
                ConnectOptions { database: self.name.clone(), ..base }
            }
        }
    }

    /// How the lab itself gets in, beside the sessions under test.
    pub fn own(options: ConnectOptions) -> ConnectOptions {
        admin::own(options)
    }

    /// The connection that a schema was made on, as a session of it: one less for the server to start. It holds the owner's
    /// lock, so it is to be given back.
    pub fn lend(&mut self) -> Option<Connection> {
        (self.kind == SandboxKind::Schema).then(|| self.admin.lend()).flatten()
    }

    /// Takes the connection back that was lent: the sandbox is removed on it, since for another one there may be no room.
    pub fn take_back(&mut self, lent: Connection) {
        self.admin.take_back(lent);
    }

    /// How a session gets into a further database, by the name that the scenario has for it.
    pub fn database(&self, name: &str) -> Option<ConnectOptions> {
        let SandboxKind::Database { extra } = &self.kind else { return None };
        let number = extra.iter().position(|extra| extra == name)? + 1;
        Some(ConnectOptions { database: format!("{}_{number}", self.name), ..self.admin.options().clone() })
    }

    /// What removes a sandbox that is a schema, for one of its own sessions: those know already what is in it.
    pub fn removal(&self) -> Option<String> {
        (self.kind == SandboxKind::Schema).then(|| removal::drop_schema_unless_locked(&self.name))
    }

    /// Whether this is the answer to [`Sandbox::removal`], and the schema is gone.
    pub fn is_removal(&self, answer: &Answered) -> bool {
        self.kind == SandboxKind::Schema
            && answer.as_ref().is_ok_and(|results| results.iter().map(|result| &*result.tag).eq(removal::TAGS))
    }

    /// Nothing is left to remove.
    pub fn forget(&mut self) {
        self.closed = true;
    }

    /// Removes the sandbox.
    pub fn close(mut self) -> Result<(), ServerError> {
        self.remove()
    }

    /// Removes it, unless that was done.
    pub fn remove(&mut self) -> Result<(), ServerError> {
        if std::mem::replace(&mut self.closed, true) {
            return Ok(());
        }
        interrupt::shielded(|| {
            // One that could not be made is not there to remove.
            let _ = self.finish();
            self.admin.revive()?;
            match self.drop_all() {
                Err(_) if self.admin.revive()? => self.drop_all(),
                dropped => dropped,
            }
        })
    }

    fn drop_all(&mut self) -> Result<(), ServerError> {
        match self.kind {
            SandboxKind::Schema => removal::drop_schema(&mut self.admin, &self.name),
            SandboxKind::Database { .. } | SandboxKind::TestDatabase => {
                self.database_names().iter().try_for_each(|name| removal::drop_database(&mut self.admin, name))
            }
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // There is nobody to tell; what stays is marked, and `isolab server clean` finds it.
        let _ = self.remove();
    }
}
