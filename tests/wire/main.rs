//! The wire client against real servers.

mod faults;
mod login;
mod messages;
mod pipeline;
mod servers;
#[cfg(feature = "tls")]
mod tls;
