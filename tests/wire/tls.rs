//! TLS, with certificates made here.

use std::io::Write;
use std::sync::{LazyLock, Mutex, Weak};

use isolab::server::Extra;
use isolab::wire::{ConnectOptions, Connection, Host, TlsMode, WireError};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::NamedTempFile;

use crate::servers::{PASSWORD, TestServer, answer, await_sleep, value};

type Authority = CertifiedIssuer<'static, KeyPair>;

static AUTHORITY: LazyLock<Authority> = LazyLock::new(|| authority("ours"));

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::new([]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A server whose certificate is made out to `localhost`; none where this build of PostgreSQL has no TLS.
fn server_with_tls() -> Option<TestServer> {
    static RUNNING: Mutex<Weak<isolab::server::Throwaway>> = Mutex::new(Weak::new());
    if value(&mut TestServer::plain().connect(), "SHOW ssl_library").is_empty() {
        return None;
    }
    Some(TestServer::shared(&RUNNING, || {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &AUTHORITY).unwrap();
        let file = |name: &str, content: String| (name.to_owned(), content.into_bytes());
        Extra {
            settings: vec![("ssl".to_owned(), "on".to_owned())],
            files: vec![file("server.crt", certificate.pem()), file("server.key", key.serialize_pem())],
            ..Extra::default()
        }
    }))
}

fn options(server: &TestServer, host: &str, tls: TlsMode) -> ConnectOptions {
    ConnectOptions { host: Host::Tcp(host.to_owned()), tls, ..server.over_tcp("scram", Some(PASSWORD)) }
}

fn root_file(authority: &Authority) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(authority.pem().as_bytes()).unwrap();
    file
}

fn is_encrypted(options: &ConnectOptions) -> bool {
    let mut connection = Connection::connect(options).unwrap();
    value(&mut connection, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == "t"
}

fn failure(options: &ConnectOptions) -> String {
    let error = Connection::connect(options).err().unwrap();
    assert!(matches!(error, WireError::Tls { .. }), "{error}");
    error.to_string()
}

#[test]
fn tls_where_it_is_asked_for_and_offered() {
    let Some(server) = server_with_tls() else { return };
    assert!(!is_encrypted(&options(&server, "127.0.0.1", TlsMode::Disable)));
    assert!(is_encrypted(&options(&server, "127.0.0.1", TlsMode::Prefer)));
    assert!(is_encrypted(&options(&server, "127.0.0.1", TlsMode::Require)));
    // A Unix socket has no TLS, and needs none.
    assert!(!is_encrypted(&ConnectOptions { tls: TlsMode::Require, ..server.options().clone() }));
}

#[test]
fn a_server_without_tls() {
    let server = TestServer::plain();
    assert!(!is_encrypted(&options(&server, "127.0.0.1", TlsMode::Prefer)));
    assert!(failure(&options(&server, "127.0.0.1", TlsMode::Require)).contains("does not offer"));
}

#[test]
fn verify_full_believes_the_right_name_by_the_right_authority() {
    let Some(server) = server_with_tls() else { return };
    let (ours, theirs) = (root_file(&AUTHORITY), root_file(&authority("theirs")));
    let verified = |host: &str, root: &NamedTempFile| ConnectOptions {
        root_certificate: Some(root.path().to_owned()),
        ..options(&server, host, TlsMode::VerifyFull)
    };
    assert!(is_encrypted(&verified("localhost", &ours)));

    let wrong_host = failure(&verified("127.0.0.1", &ours));
    assert!(wrong_host.contains("not valid for name"), "{wrong_host}");

    let unknown = failure(&verified("localhost", &theirs));
    assert!(unknown.contains("UnknownIssuer"), "{unknown}");
    assert!(unknown.contains(&*theirs.path().to_string_lossy()), "{unknown}");

    let system = failure(&options(&server, "localhost", TlsMode::VerifyFull));
    assert!(system.contains("sslrootcert"), "{system}");
}

#[test]
fn a_root_file_that_has_no_certificate() {
    let Some(server) = server_with_tls() else { return };
    let empty = NamedTempFile::new().unwrap();
    let verified = options(&server, "localhost", TlsMode::VerifyFull);
    let error = failure(&ConnectOptions { root_certificate: Some(empty.path().to_owned()), ..verified.clone() });
    assert!(error.contains("no certificate"), "{error}");
    let error = failure(&ConnectOptions { root_certificate: Some("/nonexistent.pem".into()), ..verified });
    assert!(error.contains("/nonexistent.pem"), "{error}");
}

#[test]
fn long_statements_with_long_answers_and_a_cancel() {
    let Some(server) = server_with_tls() else { return };
    let mut connection = Connection::connect(&options(&server, "127.0.0.1", TlsMode::Require)).unwrap();
    let sql = format!("SELECT '{}'", "x".repeat(1 << 20));
    for _ in 0..20 {
        connection.buffer_query(&sql).unwrap();
    }
    connection.flush();
    for _ in 0..20 {
        assert_eq!(answer(&mut connection)[1].len(), "row ".len() + (1 << 20));
    }

    connection.send_query("SELECT pg_sleep(600)").unwrap();
    await_sleep(&mut server.connect(), &connection);
    connection.cancel_token().cancel().unwrap();
    assert_eq!(answer(&mut connection), ["columns pg_sleep", "error 57014", "ReadyForQuery(Idle)"]);
}
