//! A named server with TLS, with certificates made here.

use std::fs;

use isolab::server::{Extra, FindOptions, PgBin, Server, Throwaway};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::common::{installations, query, url};

/// A server that takes no TCP connection without TLS, and its root certificate; none where this build of PostgreSQL has
/// no TLS.
fn server_with_tls(bin: &PgBin) -> Option<(Throwaway, String)> {
    let plain = Throwaway::start(bin, &Extra::default()).unwrap();
    if query(&url(&plain), "SHOW ssl_library") == [""] {
        return None;
    }
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let extra = Extra {
        settings: vec![("ssl".to_owned(), "on".to_owned())],
        hba: vec!["hostnossl all all all reject".to_owned()],
        files: vec![
            ("server.crt".to_owned(), certificate.pem().into_bytes()),
            ("server.key".to_owned(), key.serialize_pem().into_bytes()),
        ],
    };
    Some((Throwaway::start(bin, &extra).unwrap(), authority.pem()))
}

#[test]
fn sslmode_is_heeded() {
    for (throwaway, root) in installations().iter().filter_map(server_with_tls) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), root).unwrap();
        let by_name = url(&throwaway).replace("127.0.0.1", "localhost");
        let find = |parameters: &str| {
            Server::find(&FindOptions { db: Some(format!("{by_name}?{parameters}")), ..FindOptions::default() })
        };
        for parameters in ["sslmode=prefer", "sslmode=require", "connect_timeout=20"] {
            assert!(find(parameters).is_ok(), "{parameters}");
        }
        let with_root = format!("sslmode=verify-full&sslrootcert={}", file.path().display());
        assert!(find(&with_root).is_ok());
        for (parameters, reason) in [("sslmode=disable", "no encryption"), ("sslmode=verify-full", "certificate")] {
            let text = find(parameters).unwrap_err().to_string();
            assert!(text.contains(reason), "{parameters}: {text}");
        }
    }
}
