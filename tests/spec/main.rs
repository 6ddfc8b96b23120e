//! `isolab spec` through the binary, on files of our own and, where there are some, on PostgreSQL's.
//!
//! The outputs in `files/` are what isolationtester 18.6 printed for the files beside them.

#[path = "../common/mod.rs"]
mod common;

mod comparing;
mod exploring;
mod hanging;
mod mistakes;
mod playing;
mod postgresql;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use common::{installations, url};
use isolab::server::{Extra, Throwaway};

/// The exit code and both streams.
struct Run {
    code: i32,
    out: String,
    err: String,
}

fn isolab(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isolab"));
    command.args(["spec", "--no-progress", "--color", "never"]).args(args).env("LANG", "C.UTF-8").env_remove("LC_ALL");
    command
}

fn run(command: &mut Command) -> Run {
    let Output { status, stdout, stderr } = command.output().expect("isolab runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Run { code: status.code().expect("an exit code"), out: text(stdout), err: text(stderr) }
}

/// On a throwaway server of the newest version here, which all tests share.
fn spec(args: &[&str]) -> Run {
    run(isolab(args).args(["--db", database()]))
}

fn database() -> &'static str {
    static SERVER: OnceLock<(Throwaway, String)> = OnceLock::new();
    let start = || {
        let bin = installations().pop().expect("a PostgreSQL");
        let throwaway = Throwaway::start(&bin, &Extra::default()).expect("a throwaway server");
        let url = url(&throwaway);
        (throwaway, url)
    };
    &SERVER.get_or_init(start).1
}

fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spec/files")
}

/// A file of this folder, as an argument.
fn file(name: &str) -> String {
    files().join(name).display().to_string()
}

/// A folder with one file.
fn written(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");
    let path = path.display().to_string();
    (folder, path)
}
