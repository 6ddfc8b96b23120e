//! With or without TLS: what `sslmode` asks for and the server offers.

use std::time::Instant;

use socket2::SockAddr;

use super::stream::Stream;
use super::{ConnectOptions, Host, TlsMode, WireError, socket, tls};

/// Opens a byte stream to the first address that answers.
///
/// As with libpq, a Unix socket never has TLS, and TLS that is merely preferred and fails is done without.
pub(super) fn open(
    addresses: &[SockAddr],
    options: &ConnectOptions,
    deadline: Instant,
) -> Result<(Box<dyn Stream>, SockAddr), WireError> {
    let (socket, server) = socket::connect_any(addresses, options, deadline)?;
    let Host::Tcp(host) = &options.host else {
        return Ok((Box::new(socket), server));
    };
    if options.tls == TlsMode::Disable {
        return Ok((Box::new(socket), server));
    }
    match tls::encrypt(socket, host, options, deadline) {
        Ok(stream) => Ok((stream, server)),
        Err(WireError::Tls { .. }) if options.tls == TlsMode::Prefer => {
            let (socket, server) = socket::connect_any(&[server], options, deadline)?;
            Ok((Box::new(socket), server))
        }
        Err(error) => Err(error),
    }
}
