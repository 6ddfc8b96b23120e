//! The byte stream under a connection; it never blocks.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::{Buf, BytesMut};
use socket2::Socket;

/// A byte stream on a non-blocking socket.
pub(super) trait Stream: Send {
    fn socket(&self) -> BorrowedFd<'_>;

    /// Reads what is there; `WouldBlock` if nothing is, 0 at the end.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Takes as much from the front of `output` as the socket has room for.
    fn write(&mut self, output: &mut BytesMut) -> io::Result<()>;

    /// True while bytes that were taken from the output have not reached the socket.
    fn wants_write(&self) -> bool;

    /// The `tls-server-end-point` of RFC 5929, if there is TLS and the certificate has one.
    fn channel_binding(&self) -> Option<Vec<u8>>;
}

impl Stream for Socket {
    fn socket(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| Read::read(self, buffer))
    }

    fn write(&mut self, output: &mut BytesMut) -> io::Result<()> {
        while !output.is_empty() {
            match uninterrupted(|| Write::write(self, output)) {
                Ok(written) => output.advance(written),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn wants_write(&self) -> bool {
        false
    }

    fn channel_binding(&self) -> Option<Vec<u8>> {
        None
    }
}

/// Repeats a system call that a signal has cut short.
pub(super) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
