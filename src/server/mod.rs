//! Where PostgreSQL comes from: the user's own server, or one that the lab finds or fetches and starts; and the sandbox
//! that the lab works in there.

mod account;
mod address;
mod admin;
mod background;
mod binaries;
mod cache;
mod configuration;
mod connected;
mod conninfo;
mod environment;
mod error;
mod fetch;
mod find;
mod guardian;
mod machine;
mod mark;
mod pgpass;
mod postmaster;
mod program;
mod removal;
mod sandbox;
mod source;
mod template;
mod throwaway;
mod version;

pub use binaries::PgBin;
pub use configuration::Extra;
pub use connected::{Connections, Server};
pub use error::ServerError;
pub use find::{Fetch, FindOptions, programs};
pub use sandbox::{Sandbox, SandboxKind};
pub use source::Source;
pub use throwaway::Throwaway;
pub use version::ServerVersion;
