//! A file system in memory for the servers of our own: their data are not worth a disk, and a database is hundreds of
//! files, which a disk's file system takes several times longer to make and to remove.

use std::fs;
use std::path::{Path, PathBuf};

/// Where Linux has one.
const FOLDER: &str = "/dev/shm";
/// tmpfs, by statfs(2).
const TMPFS: i128 = 0x0102_1994;
/// Bytes for a server: its databases, and WAL up to the `max_wal_size` of our configuration.
const ROOM: u64 = 1 << 30;

/// There where the system was started by systemd (sd_booted(3)).
const SYSTEMD: &str = "/run/systemd/system";

/// The folder. With systemd for root alone: what an ordinary user has in it is removed when that user logs out, running
/// or not (`RemoveIPC` in logind.conf(5)).
pub fn folder() -> Option<PathBuf> {
    let folder = Path::new(FOLDER);
    let is_safe = rustix::process::geteuid().is_root() || !Path::new(SYSTEMD).exists();
    (is_safe && is_in_memory(folder)).then(|| folder.to_owned())
}

/// The same where there is room for one more server.
pub fn folder_with_room() -> Option<PathBuf> {
    let folder = folder()?;
    let system = rustix::fs::statvfs(&folder).ok()?;
    let memory = available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    (system.f_bavail * system.f_frsize >= ROOM && memory / 2 >= ROOM).then_some(folder)
}

fn is_in_memory(folder: &Path) -> bool {
    cfg!(target_os = "linux") && rustix::fs::statfs(folder).is_ok_and(|system| i128::from(system.f_type) == TMPFS)
}

/// Bytes that programs can still get without swapping, from the text of `/proc/meminfo` (proc_meminfo(5)).
fn available(meminfo: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(value.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_bytes() {
        assert_eq!(available("MemTotal:  8 kB\nMemFree:  1 kB\nMemAvailable:       3 kB\n"), Some(3072));
        assert_eq!(available("MemTotal: 8 kB\n"), None);
    }

    #[test]
    fn a_folder_on_a_disk_is_not_in_memory() {
        assert!(!is_in_memory(Path::new("/nowhere")));
        assert!(!is_in_memory(Path::new("/proc")));
    }
}
