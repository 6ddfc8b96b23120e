//! The lab as a program, for tests of what a user sees.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Waits until something is so. The limit is for a test that fails, not for one that is slow.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The lab as a program with a cache and a temporary folder of its own, which every user can reach, and without a server
/// in the environment.
pub struct Lab {
    program: PathBuf,
    pub folder: TempDir,
    uid: Option<u32>,
}

impl Lab {
    pub fn new() -> Lab {
        // Short, because a kept server has its socket in there.
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        Lab { program: PathBuf::from(env!("CARGO_BIN_EXE_isolab")), folder, uid: None }
    }

    /// The same run by `nobody`, where we are root; else by ourselves.
    pub fn of_an_ordinary_user() -> Lab {
        let mut lab = Lab::new();
        if rustix::process::geteuid().is_root() {
            // The user may not be able to reach the folder that the program was built in.
            let copy = lab.folder.path().join("isolab");
            fs::copy(&lab.program, &copy).unwrap();
            (lab.program, lab.uid) = (copy, Some(65534));
        }
        lab
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars() {
            if name.starts_with("PG") || name.starts_with("ISOLAB_") || name == "DATABASE_URL" {
                command.env_remove(name);
            }
        }
        command.args(arguments).env("TMPDIR", self.folder.path()).current_dir("/");
        command.env("ISOLAB_CACHE", self.folder.path().join("cache"));
        if let Some(uid) = self.uid {
            command.uid(uid).gid(uid);
        }
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        Ended::from(self.command(arguments).output().expect("the lab runs"))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // A test that failed may have left a server there.
        let _ = self.command(&["server", "stop"]).output();
    }
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ended {
    /// What it printed, if all went well.
    pub fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// What it said, if it failed with this code.
    pub fn failure(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        self.err
    }
}
