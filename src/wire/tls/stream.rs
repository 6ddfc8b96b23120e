//! TLS by rustls on a non-blocking socket.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use bytes::{Buf, BytesMut};
use rustix::event::{PollFd, PollFlags};
use rustls::ClientConnection;
use rustls::pki_types::{CertificateDer, ServerName};
use sha2::{Digest, Sha256, Sha384, Sha512};
use socket2::Socket;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::oid::db::rfc5912;

use super::certificates;
use crate::wire::stream::{Stream, uninterrupted};
use crate::wire::{ConnectOptions, WireError, wait};

/// An encrypted byte stream.
pub(super) struct TlsStream {
    session: ClientConnection,
    socket: Socket,
}

impl TlsStream {
    /// Makes TLS of a socket on which the server has just agreed to it.
    pub(super) fn handshake(
        socket: Socket,
        host: &str,
        options: &ConnectOptions,
        deadline: Instant,
    ) -> Result<TlsStream, WireError> {
        let failed = |reason: String| WireError::Tls { address: options.address(), reason };
        let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(error.to_string()))?;
        let config = certificates::client_config(options).map_err(failed)?;
        let session = ClientConnection::new(config, name).map_err(|error| failed(error.to_string()))?;
        let mut stream = TlsStream { session, socket };
        while stream.step(deadline, options)? {}
        Ok(stream)
    }

    /// One round of the handshake; false once it is done.
    fn step(&mut self, deadline: Instant, options: &ConnectOptions) -> Result<bool, WireError> {
        let failed = |error: io::Error| {
            let by_rustls = error.get_ref().and_then(|inner| inner.downcast_ref());
            let reason = by_rustls.map_or_else(|| error.to_string(), |error| certificates::explain(error, options));
            WireError::Tls { address: options.address(), reason }
        };
        self.push().map_err(failed)?;
        if !self.session.is_handshaking() {
            return Ok(false);
        }
        let events = if self.wants_write() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let left = deadline.saturating_duration_since(Instant::now());
        if !wait::until_ready(&mut [PollFd::new(&self.socket, events)], left)? {
            return Err(WireError::TimedOut { waited_for: format!("{} to agree on TLS", options.address()) });
        }
        match self.pull() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(failed(error)),
            _ => Ok(true),
        }
    }

    /// Writes encrypted bytes as far as the socket takes them.
    fn push(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            match uninterrupted(|| self.session.write_tls(&mut self.socket)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                result => result?,
            };
        }
        Ok(())
    }

    /// Reads encrypted bytes once and decrypts them.
    fn pull(&mut self) -> io::Result<()> {
        if uninterrupted(|| self.session.read_tls(&mut self.socket))? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Err(error) = self.session.process_new_packets() {
            // The alert that tells the server why; it is gone anyway if this fails.
            let _ = self.push();
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        Ok(())
    }
}

impl Stream for TlsStream {
    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.pull()?,
                result => return result,
            }
        }
    }

    fn write(&mut self, output: &mut BytesMut) -> io::Result<()> {
        loop {
            let taken = self.session.writer().write(output)?;
            output.advance(taken);
            self.push()?;
            if output.is_empty() || self.session.wants_write() {
                return Ok(());
            }
        }
    }

    fn wants_write(&self) -> bool {
        self.session.wants_write()
    }

    fn channel_binding(&self) -> Option<Vec<u8>> {
        end_point(self.session.peer_certificates()?.first()?)
    }
}

/// The hash of the server's certificate, by the hash function of its signature but never less than SHA-256.
///
/// RFC 5929, section 4.1. A signature without a hash function of its own, such as Ed25519, has no end point.
fn end_point(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    match Certificate::from_der(certificate).ok()?.signature_algorithm.oid {
        rfc5912::SHA_1_WITH_RSA_ENCRYPTION | rfc5912::SHA_256_WITH_RSA_ENCRYPTION | rfc5912::ECDSA_WITH_SHA_256 => {
            Some(Sha256::digest(certificate).to_vec())
        }
        rfc5912::SHA_384_WITH_RSA_ENCRYPTION | rfc5912::ECDSA_WITH_SHA_384 => {
            Some(Sha384::digest(certificate).to_vec())
        }
        rfc5912::SHA_512_WITH_RSA_ENCRYPTION | rfc5912::ECDSA_WITH_SHA_512 => {
            Some(Sha512::digest(certificate).to_vec())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    fn self_signed(algorithm: &'static rcgen::SignatureAlgorithm) -> CertificateDer<'static> {
        let key = KeyPair::generate_for(algorithm).unwrap();
        CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap().der().clone()
    }

    #[test]
    fn the_end_point_is_hashed_as_the_certificate_is_signed() {
        let certificate = self_signed(&rcgen::PKCS_ECDSA_P256_SHA256);
        assert_eq!(end_point(&certificate), Some(Sha256::digest(&certificate).to_vec()));
        let certificate = self_signed(&rcgen::PKCS_ECDSA_P384_SHA384);
        assert_eq!(end_point(&certificate), Some(Sha384::digest(&certificate).to_vec()));
    }

    #[test]
    fn a_signature_without_a_hash_function_has_no_end_point() {
        assert_eq!(end_point(&self_signed(&rcgen::PKCS_ED25519)), None);
    }
}
