//! A folder for one run of the compiler, that goes with it or, where the process was killed, with the next start.

use std::fs::{File, Permissions, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// What the folders' names begin with.
const PREFIX: &str = "splitplane-cc-";
/// Locked while the folder is in use; the kernel releases the lock with the process.
const LOCK: &str = "lock";
/// A folder that old without a lock was left between two system calls.
const FORGOTTEN: Duration = Duration::from_secs(600);

/// A folder that only we can enter.
pub(crate) struct Folder {
    /// Removed on drop.
    pub folder: TempDir,
    _lock: File,
}

pub(crate) fn make(base: &Path) -> std::io::Result<Folder> {
    // Not what the umask leaves of it: it may be 0.
    let folder = tempfile::Builder::new().prefix(PREFIX).permissions(Permissions::from_mode(0o700)).tempdir_in(base)?;
    let lock = private().open(folder.path().join(LOCK))?;
    lock.lock()?;
    Ok(Folder { folder, _lock: lock })
}

/// A new file that only we can read and write.
pub(crate) fn private() -> std::fs::OpenOptions {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    options
}

/// Removes folders of ours in `base` whose process is gone.
pub fn clear_away(base: &Path) {
    let me = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let path = entry.path();
        // Of the entry itself, not of what a link names.
        let Ok(there) = entry.metadata() else { continue };
        if !there.is_dir() || there.uid() != me || !is_left(&path, &there) {
            continue;
        }
        match std::fs::remove_dir_all(&path) {
            Ok(()) => tracing::info!("removed {}: left over by a killed process", path.display()),
            Err(e) => tracing::debug!("{}: {e}", path.display()),
        }
    }
}

fn is_left(folder: &Path, there: &std::fs::Metadata) -> bool {
    match File::options().read(true).custom_flags(libc::O_NOFOLLOW).open(folder.join(LOCK)) {
        Ok(lock) => !matches!(lock.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_))),
        Err(_) => there.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > FORGOTTEN)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_cleared_away_when_its_process_is_gone_and_not_before() {
        let base = tempfile::tempdir().unwrap();
        let working = make(base.path()).unwrap();
        assert_eq!(std::fs::metadata(working.folder.path()).unwrap().mode() & 0o777, 0o700);
        let left = base.path().join(format!("{PREFIX}left"));
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join(LOCK), "").unwrap();
        std::fs::write(left.join("program.c"), "int x;").unwrap();
        let (young, other) = (base.path().join(format!("{PREFIX}young")), base.path().join("other"));
        std::fs::create_dir(&young).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, base.path().join(format!("{PREFIX}link"))).unwrap();
        clear_away(base.path());
        assert!(!left.exists());
        assert!(working.folder.path().exists() && young.exists() && other.exists());
        let path = working.folder.path().to_owned();
        drop(working);
        assert!(!path.exists());
    }
}
