//! Files and folders of our own.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::ServerError;

/// A new folder that only its owner can enter.
pub fn create_private(path: &Path) -> Result<(), ServerError> {
    DirBuilder::new().mode(0o700).create(path).map_err(ServerError::file("create", path))
}

/// Writes a file that only its owner can read, whole or not at all.
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), ServerError> {
    let parent = path.parent().unwrap_or(path);
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(parent)?;
        file.write_all(content)?;
        file.persist(path).map_err(|error| error.error)
    };
    write().map(drop).map_err(ServerError::file("write", path))
}

/// Removes a file or a folder, if it is there.
pub fn remove(path: &Path) -> Result<(), ServerError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ServerError::file("remove", path)(error)),
        _ => Ok(()),
    }
}

/// A new folder in `parent` that only its owner can enter, removed when dropped.
pub fn private_folder(parent: &Path, prefix: &str) -> Result<TempDir, ServerError> {
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(ServerError::file("create a folder in", parent))
}

/// What is in `folder` under a name that begins with `prefix`.
pub fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.path()).collect()
}

/// Stands for `path` in the name of what belongs to it. The same in every build of isolab: one finds what another made.
pub fn fingerprint(path: &Path) -> String {
    let hash = Sha256::digest(path.as_os_str().as_bytes());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_what_other_builds_have_for_the_same_path() {
        // printf %s /var/cache/isolab | sha256sum
        assert_eq!(fingerprint(Path::new("/var/cache/isolab")), "7ae8db5533eb9e3d");
    }

    #[test]
    fn what_is_removed_is_gone_and_what_is_not_there_is_no_error() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, file) = (parent.path().join("folder"), parent.path().join("file"));
        create_private(&folder).unwrap();
        write_private(&folder.join("inside"), b"x").unwrap();
        write_private(&file, b"x").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        for _ in 0..2 {
            remove(&folder).unwrap();
            remove(&file).unwrap();
        }
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
