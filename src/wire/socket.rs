//! Sockets: resolving a name and connecting, with a limit on both.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use socket2::{Domain, SockAddr, Socket, Type};

use super::{ConnectOptions, Host, WireError, wait};
use crate::interrupt;

/// Pause before the next try where the queue of a listening Unix socket is full.
const BACKLOG_PAUSE: Duration = Duration::from_millis(2);
const RESOLVER_SLICE: Duration = Duration::from_millis(50);

/// The addresses that the host stands for, in the resolver's order.
pub(super) fn addresses(options: &ConnectOptions, deadline: Instant) -> Result<Vec<SockAddr>, WireError> {
    let failed = |reason: String| WireError::Connect { address: options.address(), reason };
    match &options.host {
        Host::Unix(folder) => {
            let path = folder.join(format!(".s.PGSQL.{}", options.port));
            Ok(vec![SockAddr::unix(path).map_err(|error| failed(error.to_string()))?])
        }
        Host::Tcp(name) => match name.parse::<IpAddr>() {
            Ok(address) => Ok(vec![SocketAddr::new(address, options.port).into()]),
            Err(_) => resolve(name, options.port, deadline, failed),
        },
    }
}

/// Resolves on a thread of its own, since the system's resolver knows neither a deadline nor Ctrl-C.
fn resolve(
    name: &str,
    port: u16,
    deadline: Instant,
    failed: impl Fn(String) -> WireError,
) -> Result<Vec<SockAddr>, WireError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let target = (name.to_owned(), port);
    thread::spawn(move || sender.send(target.to_socket_addrs().map(Iterator::collect::<Vec<_>>)));
    loop {
        interrupt::check()?;
        match receiver.recv_timeout(RESOLVER_SLICE) {
            Ok(Ok(found)) if found.is_empty() => return Err(failed("the name has no address".to_owned())),
            Ok(Ok(found)) => return Ok(found.into_iter().map(SockAddr::from).collect()),
            Ok(Err(error)) => return Err(failed(format!("cannot resolve the name: {error}"))),
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(_) => return Err(WireError::TimedOut { waited_for: format!("the address of {name}") }),
        }
    }
}

/// Connects to the first address that answers; each gets an equal share of the time that is left.
pub(super) fn connect_any(
    addresses: &[SockAddr],
    options: &ConnectOptions,
    deadline: Instant,
) -> Result<(Socket, SockAddr), WireError> {
    let mut last = None;
    for (index, address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / (addresses.len() - index) as u32;
        match connect(address, Instant::now() + share) {
            Ok(Ok(socket)) => return Ok((socket, address.clone())),
            Ok(Err(error)) => last = Some(error),
            Err(stopped) => return Err(stopped),
        }
    }
    let reason = last.map_or_else(|| "the name has no address".to_owned(), |error| explain(&error, options));
    Err(WireError::Connect { address: options.address(), reason })
}

/// Connects to one address. The outer error ends the attempt altogether, the inner one says why this address failed.
fn connect(address: &SockAddr, deadline: Instant) -> Result<io::Result<Socket>, WireError> {
    loop {
        let result = fresh(address).and_then(|socket| match socket.connect(address) {
            Ok(()) => Ok(Step::Connected(socket)),
            Err(error) if error.raw_os_error() == Some(Errno::INPROGRESS.raw_os_error()) => {
                Ok(Step::Connecting(socket))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Step::BacklogFull),
            Err(error) => Err(error),
        });
        match result {
            Ok(Step::Connected(socket)) => return Ok(Ok(socket)),
            Ok(Step::Connecting(socket)) => return finish(socket, deadline),
            Ok(Step::BacklogFull) if Instant::now() < deadline => {
                interrupt::check()?;
                thread::sleep(BACKLOG_PAUSE);
            }
            Ok(Step::BacklogFull) => return Ok(Err(io::ErrorKind::TimedOut.into())),
            Err(error) => return Ok(Err(error)),
        }
    }
}

enum Step {
    Connected(Socket),
    Connecting(Socket),
    BacklogFull,
}

fn fresh(address: &SockAddr) -> io::Result<Socket> {
    let socket = Socket::new(address.domain(), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    if address.domain() != Domain::UNIX {
        socket.set_tcp_nodelay(true)?;
    }
    Ok(socket)
}

fn finish(socket: Socket, deadline: Instant) -> Result<io::Result<Socket>, WireError> {
    let limit = deadline.saturating_duration_since(Instant::now());
    if !wait::until_ready(&mut [PollFd::new(&socket, PollFlags::OUT)], limit)? {
        return Ok(Err(io::ErrorKind::TimedOut.into()));
    }
    Ok(match socket.take_error() {
        Ok(None) => Ok(socket),
        Ok(Some(error)) | Err(error) => Err(error),
    })
}

/// The system's message, with what it means for the reader.
fn explain(error: &io::Error, options: &ConnectOptions) -> String {
    match (error.kind(), &options.host) {
        (io::ErrorKind::TimedOut, _) => {
            format!("no answer within {}", humantime::format_duration(options.connect_timeout))
        }
        (io::ErrorKind::ConnectionRefused, Host::Tcp(_)) => {
            "connection refused; is a server running there, and does it listen on TCP?".to_owned()
        }
        (io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound, Host::Unix(_)) => {
            format!("{error}; is a server running with its socket there?")
        }
        _ => error.to_string(),
    }
}
