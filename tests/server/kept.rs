//! The server that stays between commands.

use crate::common::{installations, query};
use crate::support::Lab;

#[test]
fn a_kept_server_serves_later_commands_until_it_is_stopped() {
    for bin in installations() {
        let lab = Lab::new();
        let folder = bin.folder.to_str().unwrap();
        assert_eq!(lab.run(&["server", "status"]).code, Some(4));
        let url_of_none = lab.run(&["server", "url"]).failure(3);
        assert!(url_of_none.contains("isolab server start"), "{url_of_none}");

        let started = lab.run(&["server", "start", "--pg-bin", folder]).success();
        assert!(started.starts_with(&format!("started PostgreSQL {} at ", bin.version)), "{started}");
        let again = lab.run(&["server", "start"]).success();
        assert!(again.starts_with("already running"), "{again}");
        let status = lab.run(&["server", "status"]).success();
        assert!(status.contains(bin.version.text.as_str()), "{status}");

        let story = lab.run(&["write-skew"]).success();
        assert!(story.starts_with(&format!("PostgreSQL {} (kept server)\n", bin.version)), "{story}");
        for arguments in [&["server", "url"][..], &["server", "url", "--tcp"]] {
            let url = lab.run(arguments).success();
            let schemas = query(url.trim(), "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'isolab%'");
            assert!(schemas.is_empty(), "{schemas:?}");
        }

        // Other programs than its own were asked for.
        for other in installations().iter().filter(|other| other.version != bin.version) {
            let story = lab.run(&["write-skew", "--pg-bin", other.folder.to_str().unwrap()]).success();
            assert!(story.starts_with(&format!("PostgreSQL {} (throwaway server)\n", other.version)), "{story}");
        }

        assert_eq!(lab.run(&["server", "stop"]).success(), "stopped the kept server\n");
        assert_eq!(lab.run(&["server", "status"]).code, Some(4));
        assert!(!lab.folder.path().join("cache/kept").exists());
    }
}

#[test]
fn two_that_start_it_at_once_get_the_same_one() {
    let lab = Lab::new();
    let bins = installations();
    let arguments = ["server", "start", "--pg-bin", bins[0].folder.to_str().unwrap()];
    let mut starting = Vec::new();
    for _ in 0..2 {
        starting.push(lab.command(&arguments).stdout(std::process::Stdio::piped()).spawn().unwrap());
    }
    let outputs = starting.into_iter().map(|child| child.wait_with_output().unwrap());
    let told: Vec<String> = outputs.map(|output| String::from_utf8(output.stdout).unwrap()).collect();
    let address = |text: &String| text.trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(address(&told[0]), address(&told[1]), "{told:?}");
    assert_eq!(told.iter().filter(|text| text.starts_with("started")).count(), 1, "{told:?}");
}
