//! The user that PostgreSQL runs as: ourselves, or an unprivileged one when we are root.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::ServerError;

/// Those that a server may run as, the best first.
const CANDIDATES: [&str; 2] = ["postgres", "nobody"];

/// A user that we take on for the server's processes, since PostgreSQL refuses to run as root.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Borrowed {
    uid: u32,
    gid: u32,
}

/// Who runs the server's processes and owns its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account(Option<Borrowed>);

impl Account {
    /// Ourselves; as root `postgres` or `nobody`.
    pub fn for_server() -> Result<Account, ServerError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Account(None));
        }
        let passwd = Path::new("/etc/passwd");
        let users = fs::read_to_string(passwd).map_err(ServerError::file("read", passwd))?;
        let borrowed = CANDIDATES.iter().find_map(|name| find_user(&users, name)).ok_or(ServerError::NoAccount)?;
        Ok(Account(Some(borrowed)))
    }

    /// The user's number.
    pub fn uid(&self) -> u32 {
        self.0.as_ref().map_or_else(|| rustix::process::geteuid().as_raw(), |borrowed| borrowed.uid)
    }

    /// Lets `command` run as this user, without the groups of root.
    pub fn run<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some(Borrowed { uid, gid }) = self.0 {
            // The standard library also drops the supplementary groups when it changes the user.
            command.uid(uid).gid(gid);
        }
        command.current_dir("/")
    }

    /// Gives a file or folder to this user.
    pub fn own(&self, path: &Path) -> io::Result<()> {
        match self.0 {
            Some(Borrowed { uid, gid }) => lchown(path, Some(uid), Some(gid)),
            None => Ok(()),
        }
    }
}

/// Whether the server's user can get to a folder: where that is not us, if everybody may pass on the way.
pub fn can_reach(folder: &Path) -> bool {
    let everybody_passes = |folder: &Path| fs::metadata(folder).is_ok_and(|metadata| metadata.mode() & 0o001 != 0);
    !rustix::process::geteuid().is_root() || folder.ancestors().all(everybody_passes)
}

/// The entry of `name` in the text of a passwd(5) file.
fn find_user(passwd: &str, name: &str) -> Option<Borrowed> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != name {
            return None;
        }
        let (uid, gid) = (fields.nth(1)?, fields.next()?);
        // macOS writes `nobody` as -2.
        let number = |text: &str| text.parse::<i64>().ok().map(|number| number as u32);
        Some(Borrowed { uid: number(uid)?, gid: number(gid)? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_whole_name() {
        let passwd = "root:x:0:0::/root:/bin/sh\nnobody2:x:7:7::/:/bin/sh\nnobody:*:-2:-2::/var/empty:/usr/bin/false\n";
        assert_eq!(find_user(passwd, "nobody"), Some(Borrowed { uid: 4294967294, gid: 4294967294 }));
        assert_eq!(find_user(passwd, "postgres"), None);
        assert_eq!(find_user("postgres:x:broken", "postgres"), None);
    }
}
