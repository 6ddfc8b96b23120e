//! What is left after the lab was killed, and what is not.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use isolab::server::{Extra, Throwaway};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{installations, query, url};
use crate::support::{Lab, eventually};

const SANDBOXES: &str = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'isolab%'
    UNION ALL SELECT datname FROM pg_database WHERE datname LIKE 'isolab%'";

/// A run that waits for Enter in the middle of its first schedule.
fn paused(lab: &Lab, more: &[&str]) -> Child {
    let arguments = [&["write-skew", "--step"], more].concat();
    let mut command = lab.command(&arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("PostgreSQL"), "{line}");
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The guardian of a paused run: its process, and the folder that it guards.
fn guardian(of: &Child) -> (Pid, PathBuf) {
    let output = Command::new("ps").args(["-A", "-o", "pid=,ppid=,args="]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut lines = text.lines().map(words);
    let parent = of.id().to_string();
    let line = lines.find(|line| line[1] == parent && line.iter().any(|word| word == "isolab-guardian")).unwrap();
    (Pid::from_raw(line[0].parse().unwrap()).unwrap(), PathBuf::from(line.last().unwrap()))
}

#[test]
fn a_sandbox_whose_owner_was_killed_is_removed_and_nothing_else() {
    for bin in installations() {
        let throwaway = Throwaway::start(&bin, &Extra::default()).unwrap();
        let url = url(&throwaway);
        // What only looks like the lab's.
        let own = "CREATE SCHEMA isolab_mine; COMMENT ON SCHEMA isolab_mine IS 'temporary, made by isolab'; \
                   CREATE SCHEMA isolab_other; CREATE TABLE isolab_other.t ()";
        query(&url, own);
        query(&url, "CREATE DATABASE isolab_shop");
        let lab = Lab::new();
        let child = paused(&lab, &["--db", &url]);
        eventually("the sandbox is there", || query(&url, SANDBOXES).len() == 4);
        assert_eq!(lab.run(&["server", "clean", "--db", &url]).success(), "nothing was left behind\n");
        kill(child);

        eventually("the sandbox's owner is gone", || {
            let locks = "SELECT pid FROM pg_locks WHERE locktype = 'advisory'";
            query(&url, locks).is_empty()
        });
        let cleaned = lab.run(&["server", "clean", "--db", &url]).success();
        assert!(cleaned.starts_with("removed the schema isolab_") && cleaned.lines().count() == 1, "{cleaned}");
        assert_eq!(query(&url, SANDBOXES), ["isolab_mine", "isolab_other", "isolab_shop"]);
    }
}

#[test]
fn the_server_of_a_killed_run_goes_by_its_guardian_or_else_by_clean() {
    for bin in installations() {
        for lab in [Lab::new(), Lab::of_an_ordinary_user()] {
            let arguments = ["--pg-bin", bin.folder.to_str().unwrap()];
            let child = paused(&lab, &arguments);
            let (_, folder) = guardian(&child);
            let server = server_in(&folder);
            kill(child);
            eventually("the folder is gone", || !folder.exists());
            eventually("the server is gone", || !runs(server));

            let child = paused(&lab, &arguments);
            let (guardian, folder) = guardian(&child);
            let server = server_in(&folder);
            kill_process(guardian, Signal::KILL).unwrap();
            kill(child);
            assert!(runs(server));
            let cleaned = lab.run(&["server", "clean"]).success();
            assert!(cleaned.contains(&format!("removed the throwaway server in {}\n", folder.display())), "{cleaned}");
            assert!(!folder.exists());
            eventually("the server is gone", || !runs(server));
        }
    }
}

fn server_in(folder: &Path) -> Pid {
    let text = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap();
    Pid::from_raw(text.lines().next().unwrap().parse().unwrap()).unwrap()
}

/// Whether the process is there and more than an entry that nobody has waited for.
fn runs(pid: Pid) -> bool {
    let pid = pid.as_raw_pid().to_string();
    let output = Command::new("ps").args(["-o", "args=", "-p", &pid]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().contains("postgres -D")
}
