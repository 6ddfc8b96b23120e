//! A temporary folder that is gone at the end, however the end comes.
//!
//! A small process outlives us by a moment: when the lab is killed, it stops the server in the folder and removes it.
//! It reads a pipe whose other end we hold. The kernel closes our end however we end, so nothing has to be handled for
//! the guardian to notice; and unlike a parent-death signal it does not depend on the thread that started the server.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::file_lock::FileLock;
use super::{ServerError, files};

/// How the names of such folders begin.
pub const PREFIX: &str = "isolab-";

/// The file in such a folder that is locked for as long as its isolab lives.
pub const OWNER_LOCK: &str = "owner.lock";

/// Each line is the server's process, the last one counts; or `done` when all was cleaned up in the ordinary way.
const SCRIPT: &str = r#"
while read -r line; do
    [ "$line" = done ] && exit
    pid=$line
done
tries=100
again() { sleep 0.1; tries=$((tries - 1)); [ "$tries" -gt 0 ]; }
if [ -n "$pid" ]; then
    kill -QUIT "$pid"
    while [ -e "$1/data/postmaster.pid" ] && kill -0 "$pid" && again; do :; done
fi
until rm -rf -- "$1" || ! again; do :; done
"#;

/// A folder under guard; dropping it removes it.
#[derive(Debug)]
pub struct GuardedFolder {
    folder: Option<TempDir>,
    guardian: Child,
    _lock: FileLock,
}

impl GuardedFolder {
    /// A new folder that only its owner can enter.
    pub fn create(parent: &Path) -> Result<GuardedFolder, ServerError> {
        let folder = files::private_folder(parent, PREFIX)?;
        let lock = FileLock::take(&folder.path().join(OWNER_LOCK), "cleans up", Duration::from_secs(5))?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "isolab-guardian"]).arg(folder.path()).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let guardian = command.spawn().map_err(ServerError::file("run", "/bin/sh"))?;
        Ok(GuardedFolder { folder: Some(folder), guardian, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// Tells which process to stop first, as soon as it is there.
    pub fn holds_server(&mut self, pid: u32) {
        self.tell(&pid.to_string());
    }

    fn tell(&mut self, line: &str) {
        // A guardian that is gone cannot help any more, and that is no reason to stop the lab.
        let _ = self.guardian.stdin.as_mut().map(|pipe| writeln!(pipe, "{line}"));
    }
}

impl Drop for GuardedFolder {
    fn drop(&mut self) {
        drop(self.folder.take());
        self.tell("done");
        let _ = self.guardian.wait();
    }
}
