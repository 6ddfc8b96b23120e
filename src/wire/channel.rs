//! Messages on a byte stream: what is to be sent and what has been read, both buffered.

use std::io;
use std::mem;
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
    /// What the next flush is to send.
    output: BytesMut,
    /// What has been flushed and not yet written.
    sending: BytesMut,
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
            sending: BytesMut::new(),
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

    /// Sends the output, as far as the socket takes it now; the rest goes out while the caller receives.
    pub(super) fn flush(&mut self) {
        if self.sending.is_empty() {
            mem::swap(&mut self.sending, &mut self.output);
        } else {
            self.sending.extend_from_slice(&self.output);
            self.output.clear();
        }
        self.write();
    }

    /// A failure shows when the caller receives, after what the server had sent before.
    fn write(&mut self) {
        if self.stream.write(&mut self.sending).is_err() {
            self.broken = true;
            self.sending.clear();
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

    /// What to wait for: something to read, and room to write while something is left to send.
    pub(super) fn interest(&self) -> PollFd<'_> {
        let events = if self.is_sending() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        PollFd::from_borrowed_fd(self.stream.socket(), events)
    }

    /// See [`Stream::channel_binding`].
    pub(super) fn channel_binding(&self) -> Option<Vec<u8>> {
        self.stream.channel_binding()
    }

    fn is_sending(&self) -> bool {
        !self.sending.is_empty() || self.stream.wants_write()
    }

    fn parse(&mut self) -> Result<Option<Message>, WireError> {
        Message::parse(&mut self.input).map_err(WireError::protocol)
    }

    /// Moves bytes both ways once; false if there was nothing to read.
    fn fill(&mut self) -> Result<bool, WireError> {
        if self.is_sending() {
            self.write();
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::thread;

    use postgres_protocol::message::frontend;
    use socket2::Socket;

    use super::*;

    const PARSE_COMPLETE: [u8; 5] = [b'1', 0, 0, 0, 4];

    fn pair() -> (Channel, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        (Channel::new(Box::new(Socket::from(ours))), theirs)
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[test]
    fn a_message_in_pieces_is_one_message() {
        let (mut channel, mut server) = pair();
        server.write_all(&PARSE_COMPLETE[..3]).unwrap();
        assert!(channel.try_receive().unwrap().is_none());
        assert!(!channel.has_input());
        server.write_all(&PARSE_COMPLETE[3..]).unwrap();
        assert!(matches!(channel.try_receive(), Ok(Some(Message::ParseComplete))));
    }

    #[test]
    fn what_was_read_along_counts_as_input() {
        let (mut channel, mut server) = pair();
        server.write_all(&[PARSE_COMPLETE, PARSE_COMPLETE].concat()).unwrap();
        assert!(channel.try_receive().unwrap().is_some());
        assert!(channel.has_input());
        assert!(channel.try_receive().unwrap().is_some());
        assert!(!channel.has_input());
    }

    #[test]
    fn the_last_words_come_before_the_end() {
        let (mut channel, mut server) = pair();
        server.write_all(&PARSE_COMPLETE).unwrap();
        drop(server);
        frontend::sync(channel.output());
        channel.flush();
        assert!(matches!(channel.receive(soon(), "words"), Ok(Message::ParseComplete)));
        assert!(matches!(channel.receive(soon(), "words"), Err(WireError::Closed { .. })));
        assert!(matches!(channel.try_receive(), Err(WireError::Closed { .. })));
        assert!(channel.has_input());
    }

    #[test]
    fn nothing_goes_out_before_it_is_flushed() {
        let (mut channel, mut server) = pair();
        server.set_nonblocking(true).unwrap();
        frontend::sync(channel.output());
        assert!(channel.try_receive().unwrap().is_none());
        assert!(server.read(&mut [0; 5]).is_err());
        channel.flush();
        assert_eq!(server.read(&mut [0; 5]).unwrap(), 5);
    }

    #[test]
    fn a_limit_says_what_was_waited_for() {
        let (mut channel, _server) = pair();
        let error = channel.receive(Instant::now(), "the moon").err().unwrap();
        assert_eq!(error.to_string(), "timed out waiting for the moon");
    }

    #[test]
    fn what_cannot_be_sent_leaves_nothing_behind() {
        let (mut channel, _server) = pair();
        let error = channel.put(|buffer| frontend::query("SELECT '\0'", buffer)).unwrap_err();
        assert!(matches!(error, WireError::Unsendable { .. }));
        assert!(channel.output().is_empty());
    }

    /// A server that writes all it has before it reads, as PostgreSQL does, and far more than any socket buffers.
    #[test]
    fn two_full_sockets_do_not_wait_for_each_other() {
        const MESSAGES: usize = 2_000_000;
        let (mut channel, mut server) = pair();
        let (mut reader, query) = (server.try_clone().unwrap(), "x".repeat(8 << 20));
        let busy = thread::spawn(move || {
            server.write_all(&PARSE_COMPLETE.repeat(MESSAGES)).unwrap();
            let mut request = vec![0; 1 + 4 + (8 << 20) + 1];
            reader.read_exact(&mut request).unwrap();
            server
        });
        channel.put(|buffer| frontend::query(&query, buffer)).unwrap();
        channel.flush();
        assert!(channel.is_sending());
        for _ in 0..MESSAGES {
            channel.receive(soon(), "a message").unwrap();
        }
        while channel.is_sending() {
            assert!(wait::until_ready(&mut [channel.interest()], Duration::from_secs(10)).unwrap());
            assert!(channel.try_receive().is_ok_and(|message| message.is_none()));
        }
        busy.join().unwrap();
    }
}
