//! Where PostgreSQL comes from: the user's own server, or one that the lab finds or fetches and starts; and the sandbox
//! that the lab works in there.

mod account;
mod address;
mod admin;
mod background;
mod binaries;
mod cache;
mod clean;
mod configuration;
mod connected;
mod conninfo;
mod environment;
mod error;
mod fetch;
mod file_lock;
mod files;
mod find;
mod guardian;
mod kept;
mod machine;
mod mark;
mod memory;
mod pgpass;
mod postmaster;
mod process;
mod program;
mod removal;
mod sandbox;
mod source;
mod template;
mod throwaway;
mod version;

pub use binaries::PgBin;
pub use clean::clean;
pub use configuration::Extra;
pub use connected::{Connections, Server};
pub use error::ServerError;
pub use fetch::fetch;
pub use find::{Fetch, FindOptions, programs};
pub use kept::Kept;
pub use sandbox::{Sandbox, SandboxKind};
pub use source::Source;
pub use throwaway::Throwaway;
pub use version::ServerVersion;
