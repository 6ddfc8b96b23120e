//! A small process that outlives us by a moment: when the lab is killed, it stops the server and removes its folder.
//!
//! It reads a pipe whose other end we hold. The kernel closes our end however we end, so nothing has to be handled for
//! the guardian to notice; and unlike a parent-death signal it does not depend on the thread that started the server.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::ServerError;

/// The first line tells the server's process, the second that all was cleaned up in the ordinary way.
const SCRIPT: &str = r#"
read -r pid && read -r _ && exit
if [ -n "$pid" ]; then
    kill -QUIT "$pid"
    tries=0
    while [ -e "$1/data/postmaster.pid" ] && kill -0 "$pid" && [ "$tries" -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
fi
rm -rf -- "$1"
"#;

/// Watches over a folder and the server in it.
#[derive(Debug)]
pub struct Guardian {
    shell: Child,
}

impl Guardian {
    /// To be called as soon as the folder is there.
    pub fn watch(folder: &Path) -> Result<Guardian, ServerError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "isolab-guardian"]).arg(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).current_dir("/");
        Ok(Guardian { shell: command.spawn().map_err(ServerError::file("run", "/bin/sh"))? })
    }

    /// Tells which process to stop.
    pub fn server(&mut self, pid: u32) {
        self.tell(&pid.to_string());
    }

    fn tell(&mut self, line: &str) {
        // A guardian that is gone cannot help any more, and that is no reason to stop the lab.
        let _ = self.shell.stdin.as_mut().map(|pipe| writeln!(pipe, "{line}"));
    }

    /// Sends the guardian home: the folder is cleared by us.
    pub fn dismiss(mut self) {
        self.tell("");
        self.tell("");
        let _ = self.shell.wait();
    }
}
