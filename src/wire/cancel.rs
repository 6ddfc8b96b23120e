//! Stopping a statement from outside its session.

use std::sync::Arc;

use postgres_protocol::message::frontend;
use socket2::SockAddr;

use super::channel::Channel;
use super::{ConnectOptions, WireError, negotiate, wait};
use crate::interrupt;

/// What it takes to ask the server to cancel what one session is running; may be used from any thread.
#[derive(Clone)]
pub struct CancelToken {
    pub(super) options: Arc<ConnectOptions>,
    pub(super) server: SockAddr,
    pub(super) pid: i32,
    pub(super) secret_key: i32,
}

impl CancelToken {
    /// Asks, on a connection of its own, and waits until the server has taken the request, at most `connect_timeout`.
    ///
    /// The statement then ends with SQLSTATE 57014, unless it was done already. The server never says which.
    /// Works after a signal too, since this is how running sessions are brought to their end.
    pub fn cancel(&self) -> Result<(), WireError> {
        interrupt::shielded(|| self.request())
    }

    fn request(&self) -> Result<(), WireError> {
        let deadline = wait::deadline(self.options.connect_timeout);
        let (stream, _) = negotiate::open(std::slice::from_ref(&self.server), &self.options, deadline)?;
        let mut channel = Channel::new(stream);
        frontend::cancel_request(self.pid, self.secret_key, channel.output());
        channel.flush();
        match channel.receive(deadline, "the server to take a cancel request") {
            Err(WireError::Closed { .. }) => Ok(()),
            Ok(_) => Err(WireError::protocol("an answer to a cancel request")),
            Err(error) => Err(error),
        }
    }
}
