//! Where PostgreSQL comes from: the user's own server, or one that the lab finds or fetches and starts.

mod account;
mod admin;
mod binaries;
mod cache;
mod configuration;
mod error;
mod guardian;
mod postmaster;
mod program;
mod template;
mod throwaway;
mod version;

pub use binaries::PgBin;
pub use configuration::Extra;
pub use error::ServerError;
pub use throwaway::Throwaway;
pub use version::ServerVersion;
