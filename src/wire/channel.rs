//! Messages on a byte stream: what is to be sent and what has been read, both buffered.

use std::io;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres_protocol::message::backend::{Header, Message};
use rustix::event::{PollFd, PollFlags};

use super::WireError;
use super::stream::Stream;
use super::wait;

const READ_SIZE: usize = 16 * 1024;

pub(super) struct Channel {
    stream: Box<dyn Stream>,
    input: BytesMut,
    output: BytesMut,
    read_buffer: Box<[u8]>,
    /// Writing has failed; the server's last words may still be there to read.
    broken: bool,
    closed: bool,
}

impl Channel {
    pub(super) fn new(stream: Box<dyn Stream>) -> Channel {
        Channel {
            stream,
            input: BytesMut::new(),
            output: BytesMut::new(),
            read_buffer: vec![0; READ_SIZE].into_boxed_slice(),
            broken: false,
            closed: false,
        }
    }

    /// Adds one message to the output, or nothing if it cannot be encoded.
    pub(super) fn put(&mut self, encode: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> Result<(), WireError> {
        let before = self.output.len();
        encode(&mut self.output).map_err(|error| {
            self.output.truncate(before);
            WireError::Unsendable { reason: error.to_string() }
        })
    }

    /// Where messages that cannot fail to encode are added.
    pub(super) fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    /// Writes what the socket takes. A failure shows when the caller receives, after what the server had sent before.
    pub(super) fn flush(&mut self) {
        if self.stream.write(&mut self.output).is_err() {
            self.broken = true;
            self.output.clear();
        }
    }

    /// The next message, if a whole one has arrived.
    pub(super) fn try_receive(&mut self) -> Result<Option<Message>, WireError> {
        loop {
            if let Some(message) = self.parse()? {
                return Ok(Some(message));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// The next message, waited for until `deadline`.
    pub(super) fn receive(&mut self, deadline: Instant, waited_for: &str) -> Result<Message, WireError> {
        loop {
            if let Some(message) = self.parse()? {
                return Ok(message);
            }
            if !self.closed && !wait::until_ready(&mut [self.interest()], left_until(deadline))? {
                return Err(WireError::TimedOut { waited_for: waited_for.to_owned() });
            }
            self.fill()?;
        }
    }

    /// True if [`Channel::try_receive`] has something to say without reading from the socket.
    pub(super) fn has_input(&self) -> bool {
        let whole = |header: Header| self.input.len() > header.len() as usize;
        self.closed || Header::parse(&self.input).map_or(true, |header| header.is_some_and(whole))
    }

    /// What to wait for: something to read, and room to write while output is left.
    pub(super) fn interest(&self) -> PollFd<'_> {
        let events = if self.has_output() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        PollFd::from_borrowed_fd(self.stream.socket(), events)
    }

    /// See [`Stream::channel_binding`].
    pub(super) fn channel_binding(&self) -> Option<Vec<u8>> {
        self.stream.channel_binding()
    }

    fn has_output(&self) -> bool {
        !self.output.is_empty() || self.stream.wants_write()
    }

    fn parse(&mut self) -> Result<Option<Message>, WireError> {
        Message::parse(&mut self.input).map_err(WireError::protocol)
    }

    /// Moves bytes both ways once; false if there was nothing to read.
    fn fill(&mut self) -> Result<bool, WireError> {
        if self.has_output() {
            self.flush();
        }
        match self.stream.read(&mut self.read_buffer) {
            Ok(read) if read > 0 => {
                self.input.extend_from_slice(&self.read_buffer[..read]);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && !self.broken => Ok(false),
            Ok(_) | Err(_) => {
                self.closed = true;
                Err(WireError::Closed { reason: None })
            }
        }
    }
}

fn left_until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}
