//! Where PostgreSQL comes from, and the sandbox in it, on every PostgreSQL of this machine.

mod clean;
#[path = "../common/mod.rs"]
mod common;
mod kept;
mod named;
mod sandbox;
mod support;
mod throwaway;
mod tls;
