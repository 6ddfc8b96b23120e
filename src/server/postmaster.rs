//! Starting, awaiting and stopping the server process on a data directory of ours.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::account::Account;
use super::program::{self, POLL};
use super::{PgBin, ServerError, process};
use crate::interrupt;

const START_LIMIT: Duration = Duration::from_secs(60);

/// What to send to end a server, and how long to wait for each to work: a fast shutdown, an immediate one, the end.
/// An immediate shutdown itself gives its children five seconds.
const STOP_STEPS: [(Signal, Duration); 3] = [
    (Signal::INT, Duration::from_secs(5)),
    (Signal::QUIT, Duration::from_secs(8)),
    (Signal::KILL, Duration::from_secs(5)),
];

/// The files of one server: `data`, `log` and its socket, all in a folder that only the server's user can enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    pub folder: PathBuf,
}

impl Home {
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn pid_file(&self) -> PathBuf {
        self.data().join("postmaster.pid")
    }

    /// The server's process, if it runs: one of user `uid`, and really on this folder.
    pub fn process(&self, uid: u32) -> Option<Pid> {
        let pid = Pid::from_raw(fs::read_to_string(self.pid_file()).ok()?.lines().next()?.trim().parse().ok()?)?;
        process::runs_on(pid, uid, &self.data()).then_some(pid)
    }

    /// Stops the server, if it runs. For a server that is not our child.
    pub fn stop(&self, uid: u32) -> Result<(), ServerError> {
        let Some(pid) = self.process(uid) else { return Ok(()) };
        // A process that nobody has waited for keeps its number, but not its arguments.
        if stop(pid, || !process::runs_on(pid, uid, &self.data())) {
            return Ok(());
        }
        Err(ServerError::Unstoppable { folder: self.folder.clone(), pid: pid.as_raw_pid() })
    }

    /// The last lines of the server's log.
    fn log_tail(&self) -> String {
        program::tail(&String::from_utf8_lossy(&fs::read(self.log()).unwrap_or_default()))
    }
}

/// Starts `postgres` on the data directory and waits until it takes connections. `spawned` hears of the process before
/// that. Returns the process and its port.
pub fn start(
    bin: &PgBin,
    account: &Account,
    home: &Home,
    mut spawned: impl FnMut(u32),
) -> Result<(Child, u16), ServerError> {
    const ATTEMPTS: usize = 5;
    let mut attempt = 1;
    loop {
        let port = free_port().map_err(ServerError::file("find a free port for", &home.folder))?;
        let mut child = spawn(bin, account, home, port)?;
        spawned(child.id());
        match await_ready(&mut child, home) {
            Ok(()) => return Ok((child, port)),
            Err(error) => {
                stop_child(&mut child);
                // Between our look and the server's start somebody else may have taken the port.
                if attempt == ATTEMPTS || !matches!(&error, ServerError::Start { log, .. } if log.contains("in use")) {
                    return Err(error);
                }
            }
        }
        attempt += 1;
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// In a process group of its own, out of reach of a terminal's Ctrl-C.
fn spawn(bin: &PgBin, account: &Account, home: &Home, port: u16) -> Result<Child, ServerError> {
    let log = File::create(home.log()).map_err(ServerError::file("create", home.log()))?;
    let errors = log.try_clone().map_err(ServerError::file("open", home.log()))?;
    let postgres = bin.program("postgres");
    let mut command = Command::new(&postgres);
    command.arg("-D").arg(home.data()).args(["-p", &port.to_string()]);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"PG") {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(log).stderr(errors).process_group(0);
    account.run(&mut command).spawn().map_err(ServerError::file("run", postgres))
}

/// `postmaster.pid` says "ready" once connections are taken (the last line of it; see miscadmin.h).
fn await_ready(child: &mut Child, home: &Home) -> Result<(), ServerError> {
    let start = Instant::now();
    let failed = |reason: String| ServerError::Start { folder: home.folder.clone(), reason, log: home.log_tail() };
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Err(failed(format!("it ended at once, {status}"))),
            Ok(None) => {}
            Err(error) => return Err(failed(error.to_string())),
        }
        let status = fs::read_to_string(home.pid_file()).unwrap_or_default();
        if status.lines().nth(7).is_some_and(|line| line.trim() == "ready") {
            return Ok(());
        }
        if start.elapsed() > START_LIMIT {
            return Err(failed(format!("no answer within {}", humantime::format_duration(START_LIMIT))));
        }
        interrupt::check()?;
        thread::sleep(POLL);
    }
}

/// Stops a server that is our child. Signals do not cut this short: it is the way out.
pub fn stop_child(child: &mut Child) {
    let pid = Pid::from_child(child);
    stop(pid, || !matches!(child.try_wait(), Ok(None)));
}

/// Sends `pid` one signal after the other until it is `gone`. False when it stays.
fn stop(pid: Pid, mut gone: impl FnMut() -> bool) -> bool {
    STOP_STEPS.into_iter().any(|(signal, patience)| {
        let start = Instant::now();
        if !gone() {
            let _ = kill_process(pid, signal);
        }
        while !gone() {
            if start.elapsed() > patience {
                return false;
            }
            thread::sleep(POLL);
        }
        true
    })
}
