//! The byte stream under a connection; it never blocks.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::{Buf, BytesMut};
use socket2::Socket;

/// A socket in non-blocking mode.
pub(super) enum Stream {
    Plain(Socket),
}

impl Stream {
    /// Reads what is there; `WouldBlock` if nothing is, 0 at the end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => uninterrupted(|| socket.read(buffer)),
        }
    }

    /// Writes from the front of `output` as much as the socket takes.
    pub(super) fn write(&mut self, output: &mut BytesMut) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => write_plain(socket, output),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Plain(socket) => socket.as_fd(),
        }
    }
}

fn write_plain(socket: &mut Socket, output: &mut BytesMut) -> io::Result<()> {
    while !output.is_empty() {
        match uninterrupted(|| socket.write(output)) {
            Ok(written) => output.advance(written),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
