//! What named the server.

/// Where a server comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Started for this run alone.
    Throwaway,
    /// Started by `isolab server start`.
    Kept,
    /// Named by `--db`.
    Flag,
    DatabaseUrl,
    /// Named by libpq's `PG*` variables.
    Environment,
}

impl Source {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Source::Throwaway => "throwaway",
            Source::Kept => "kept",
            Source::Flag => "--db",
            Source::DatabaseUrl => "DATABASE_URL",
            Source::Environment => "PG*",
        }
    }
}
