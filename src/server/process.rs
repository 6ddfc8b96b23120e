//! Looking at processes that are not our children.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Pid;

/// A running process.
struct Process {
    uid: u32,
    arguments: String,
}

/// Whether `pid` is a process of user `uid` that was started on `path`, which nothing else has. A process number alone
/// proves nothing: it may have been given to another process since it was written down.
pub fn runs_on(pid: Pid, uid: u32, path: &Path) -> bool {
    look_up(pid).is_some_and(|process| process.uid == uid && process.arguments.contains(&*path.to_string_lossy()))
}

/// From /proc where there is one, else from `ps`.
fn look_up(pid: Pid) -> Option<Process> {
    let pid = pid.as_raw_pid();
    if Path::new("/proc/self/cmdline").exists() {
        let arguments = String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/cmdline")).ok()?).replace('\0', " ");
        return Some(Process { uid: fs::metadata(format!("/proc/{pid}")).ok()?.uid(), arguments });
    }
    let mut command = Command::new("ps");
    command.args(["-o", "uid=,args=", "-p", &pid.to_string()]).stderr(Stdio::null());
    let line = String::from_utf8_lossy(&command.output().ok()?.stdout).into_owned();
    let (uid, arguments) = line.trim_start().split_once(' ')?;
    Some(Process { uid: uid.parse().ok()?, arguments: arguments.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_process_is_known_by_its_user_and_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo started; sleep 100"]).arg(folder.path()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = [0; 8];
        child.stdout.take().unwrap().read_exact(&mut line).unwrap();
        let (pid, uid) = (Pid::from_child(&child), rustix::process::geteuid().as_raw());
        let seen =
            [runs_on(pid, uid, folder.path()), runs_on(pid, uid + 1, folder.path()), runs_on(pid, uid, "/x".as_ref())];
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(seen, [true, false, false]);
        assert!(!runs_on(pid, uid, folder.path()));
    }
}
