//! Servers that are started for one run.

use crate::common::{find_options, installations, query, server_by_flag, url};
use isolab::server::{Extra, FindOptions, Server, Source, Throwaway};

#[test]
fn a_throwaway_server_is_ours_and_gone_at_the_end() {
    for bin in installations() {
        let throwaway = Throwaway::start(&bin, &Extra::default()).unwrap();
        let socket = throwaway.options().address();
        assert!(std::path::Path::new(&socket).exists());
        assert_eq!(query(&url(&throwaway), "SHOW autovacuum_naptime"), ["2147483s"]);
        let folder = std::path::Path::new(&socket).parent().unwrap().to_owned();
        drop(throwaway);
        assert!(!folder.exists());
    }
}

#[test]
fn the_loopback_port_asks_for_the_password() {
    for bin in installations() {
        let throwaway = Throwaway::start(&bin, &Extra::default()).unwrap();
        let wrong = format!("postgres://postgres:S3cret@{}/postgres", throwaway.tcp_options().address());
        let error = Server::find(&FindOptions { db: Some(wrong), ..find_options() }).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("127.0.0.1") && text.contains("--db") && text.contains("password authentication"),
            "{text}"
        );
        assert!(!format!("{text} {error:?}").contains("S3cret"));
    }
}

#[test]
fn a_server_says_what_it_is() {
    for bin in installations() {
        let (_throwaway, server) = server_by_flag(&bin);
        assert_eq!(server.version(), &bin.version);
        assert_eq!((server.source(), server.is_superuser(), server.is_ours()), (Source::Flag, true, false));
        assert_eq!(server.setting("max_connections").unwrap(), "200");
        let connections = server.connections().unwrap();
        assert_eq!((connections.max, connections.reserved), (200, 0));
        assert!((1..20).contains(&connections.in_use), "{connections:?}");
        assert_eq!(connections.free(), 200 - connections.in_use);
    }
}

#[test]
fn a_server_that_cannot_start_shows_its_log() {
    for bin in installations() {
        let extra = Extra { settings: vec![("no_such_setting".to_owned(), "1".to_owned())], ..Extra::default() };
        let text = Throwaway::start(&bin, &extra).unwrap_err().to_string();
        assert!(text.contains("did not start") && text.contains("no_such_setting"), "{text}");
    }
}

#[test]
fn nobody_listens() {
    let refused = FindOptions { db: Some("postgres://u:S3cret@127.0.0.1:1/x".to_owned()), ..find_options() };
    let text = Server::find(&refused).unwrap_err().to_string();
    assert!(text.contains("127.0.0.1:1") && text.contains("refused") && !text.contains("S3cret"), "{text}");
}
