//! Which certificates of a server are believed.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::wire::{ConnectOptions, TlsMode};

/// What rustls needs to know for `sslmode` and `sslrootcert`; the error is the reason in words.
pub(super) fn client_config(options: &ConnectOptions) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match options.tls {
        TlsMode::VerifyFull => builder.with_root_certificates(roots(options)?),
        TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        }
    };
    Ok(Arc::new(builder.with_no_client_auth()))
}

/// The reason that a handshake failed, with what to do about it.
pub(super) fn explain(error: &Error, options: &ConnectOptions) -> String {
    match (error, &options.root_certificate) {
        (Error::InvalidCertificate(CertificateError::UnknownIssuer), None) => {
            format!("{error}; no root certificate of this system vouches for it (sslrootcert names another)")
        }
        (Error::InvalidCertificate(CertificateError::UnknownIssuer), Some(path)) => {
            format!("{error}; no certificate in {} vouches for it", path.display())
        }
        (Error::InvalidCertificate(CertificateError::Other(reason)), _) => {
            format!("invalid peer certificate: {reason}")
        }
        _ => error.to_string(),
    }
}

fn roots(options: &ConnectOptions) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match &options.root_certificate {
        Some(path) => {
            let unreadable = |error: &dyn std::fmt::Display| format!("cannot use {}: {error}", path.display());
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))? {
                let certificate = certificate.map_err(|error| unreadable(&error))?;
                roots.add(certificate).map_err(|error| unreadable(&error))?;
            }
            if roots.is_empty() {
                return Err(unreadable(&"there is no certificate in it"));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err("this system has no root certificates (sslrootcert names a file with some)".to_owned());
            }
        }
    }
    Ok(roots)
}

/// Believes any certificate, but still demands that the server holds its key: channel binding rests on that.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
