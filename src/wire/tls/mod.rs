//! TLS by rustls.

mod certificates;
mod stream;

use std::io;
use std::time::Instant;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use rustix::event::{PollFd, PollFlags};
use socket2::Socket;

use self::stream::TlsStream;
use super::stream::Stream;
use super::{ConnectOptions, TlsMode, WireError, wait};

/// Asks the server for TLS. A server without it is good enough where TLS is merely preferred.
pub(super) fn encrypt(
    mut socket: Socket,
    host: &str,
    options: &ConnectOptions,
    deadline: Instant,
) -> Result<Box<dyn Stream>, WireError> {
    match ask(&mut socket, options, deadline)? {
        b'S' => Ok(Box::new(TlsStream::handshake(socket, host, options, deadline)?)),
        b'N' if options.tls == TlsMode::Prefer => Ok(Box::new(socket)),
        b'N' => Err(WireError::Tls { address: options.address(), reason: "the server does not offer it".to_owned() }),
        _ => Err(not_postgresql(options)),
    }
}

/// The one byte with which the server answers an SSLRequest. Nothing beyond it is read, since what comes before the
/// handshake could be anybody's.
fn ask(socket: &mut Socket, options: &ConnectOptions, deadline: Instant) -> Result<u8, WireError> {
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    Stream::write(socket, &mut request).map_err(|error| lost(options, &error))?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if !wait::until_ready(&mut [PollFd::new(socket, PollFlags::IN)], left)? {
            let waited_for = format!("{} to say whether it has TLS", options.address());
            return Err(WireError::TimedOut { waited_for });
        }
        let mut answer = [0];
        match Stream::read(socket, &mut answer) {
            Ok(0) => return Err(not_postgresql(options)),
            Ok(_) => return Ok(answer[0]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(lost(options, &error)),
        }
    }
}

fn lost(options: &ConnectOptions, error: &io::Error) -> WireError {
    WireError::Connect { address: options.address(), reason: error.to_string() }
}

fn not_postgresql(options: &ConnectOptions) -> WireError {
    let reason = "no answer to the question for TLS; is this a PostgreSQL server?".to_owned();
    WireError::Connect { address: options.address(), reason }
}
