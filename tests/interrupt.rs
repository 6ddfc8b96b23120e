//! Waits end at Ctrl-C, and those of the clean-up do not. One test, since a signal comes to the whole process.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use isolab::interrupt;
use isolab::wire::{ConnectOptions, Connection, Host, TlsMode, WireError};
use rustix::process::{Signal, getpid, kill_process};

#[test]
fn a_signal_ends_a_wait_but_not_one_of_the_clean_up() {
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let options = |connect_timeout| ConnectOptions {
        host: Host::Tcp("127.0.0.1".to_owned()),
        port: silent.local_addr().unwrap().port(),
        user: "nobody".to_owned(),
        password: None,
        database: "nothing".to_owned(),
        tls: TlsMode::Disable,
        root_certificate: None,
        application_name: "isolab".to_owned(),
        settings: Vec::new(),
        connect_timeout,
    };
    interrupt::install().unwrap();

    let long = options(Duration::from_secs(60));
    let waiting = thread::spawn(move || Connection::connect(&long).err().unwrap());
    // A connection has come in, so the wait for an answer to it is on, or about to begin.
    let _accepted = silent.accept().unwrap();
    kill_process(getpid(), Signal::INT).unwrap();
    let error = waiting.join().unwrap();
    assert!(matches!(&error, WireError::Interrupted(interrupted) if interrupted.exit_code() == 130), "{error}");
    assert_eq!(error.to_string(), "stopped by Ctrl-C");

    let short = options(Duration::from_millis(20));
    let error = interrupt::shielded(|| Connection::connect(&short).err().unwrap());
    assert!(matches!(error, WireError::TimedOut { .. }), "{error}");
    assert!(interrupt::check().is_err());
}
