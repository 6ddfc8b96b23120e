//! What stands in for TLS in a build without it.

use std::time::Instant;

use socket2::Socket;

use super::stream::Stream;
use super::{ConnectOptions, TlsMode, WireError};

/// Leaves the socket as it is, where that is good enough.
pub(super) fn encrypt(
    socket: Socket,
    _host: &str,
    options: &ConnectOptions,
    _deadline: Instant,
) -> Result<Box<dyn Stream>, WireError> {
    match options.tls {
        TlsMode::Disable | TlsMode::Prefer => Ok(Box::new(socket)),
        TlsMode::Require | TlsMode::VerifyFull => {
            let reason = "this isolab was built without the cargo feature tls".to_owned();
            Err(WireError::Tls { address: options.address(), reason })
        }
    }
}
