//! When did this node start, as its peers are told (Recovery Time Stamp, TS 29.244 §8.2.65)? They know a restart by a later stamp, and a stamp has
//! whole seconds. So the last one is kept in a file: of two starts in one second the second has a stamp that is one more. Without the file the
//! node must not answer in the second of its stamp ([`crate::run`]).

use std::io::{Error, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A stamp that is farther ahead of the clock is not exceeded: the clock was wrong, and times of day in usage reports follow from the stamp.
const FARTHEST_AHEAD_S: u64 = 10;
/// Longest file: a number.
const LONGEST: u64 = 32;

/// The stamp of a node that starts now on `listen`, in seconds since 1970: later than all before it. It is in `folder` when this returns.
///
/// # Errors
/// It could not be written there, or the last stamp is too far ahead of the clock.
pub fn next(folder: &Path, listen: SocketAddr, now_s: u64) -> std::io::Result<u64> {
    own_folder(folder)?;
    let path = folder.join(format!("started-{}", listen.to_string().replace([':', '[', ']', '%'], "_")));
    let last = read(&path);
    let later = last.map_or(Some(now_s), |last| Some(now_s.max(last.checked_add(1)?)));
    let later = later.filter(|stamp| *stamp <= now_s + FARTHEST_AHEAD_S);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(file, "{}", later.unwrap_or(now_s))?;
    file.persist(&path).map_err(|e| e.error)?;
    later.ok_or_else(|| Error::other("the last start was later than now: the clock was put back"))
}

/// Makes the folder of what a daemon must know of the one before.
///
/// # Errors
/// It cannot be made, or others may write there.
pub(crate) fn own_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    let us = rustix::process::geteuid().as_raw();
    let there = std::fs::symlink_metadata(folder)?;
    if !there.is_dir() || there.uid() != us || there.mode() & 0o022 != 0 {
        return Err(Error::new(ErrorKind::PermissionDenied, "others may write there"));
    }
    Ok(())
}

/// The last stamp. A damaged file is none.
fn read(path: &Path) -> Option<u64> {
    let file = std::fs::File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).ok()?;
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_starts_in_one_second_the_second_has_a_later_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let listen: SocketAddr = "[::1]:8805".parse().unwrap();
        assert_eq!(next(&state, listen, 1000).unwrap(), 1000);
        assert_eq!(next(&state, listen, 1000).unwrap(), 1001);
        assert_eq!(next(&state, listen, 1000).unwrap(), 1002);
        // A clock that is put back a little.
        assert_eq!(next(&state, listen, 995).unwrap(), 1003);
        assert_eq!(next(&state, "127.0.0.1:8805".parse().unwrap(), 1000).unwrap(), 1000);
        assert_eq!(next(&state, listen, 2000).unwrap(), 2000);
    }

    #[test]
    fn a_damaged_stamp_is_none_and_one_of_a_wrong_clock_does_not_stay() {
        let folder = tempfile::tempdir().unwrap();
        let listen: SocketAddr = "127.0.0.1:8805".parse().unwrap();
        assert_eq!(next(folder.path(), listen, 1000).unwrap(), 1000);
        let path = folder.path().join("started-127.0.0.1_8805");
        for bad in ["", "x", "99999999999999999999999999999999999", "-1", "\u{fffd}"] {
            std::fs::write(&path, bad).unwrap();
            assert_eq!(next(folder.path(), listen, 1000).unwrap(), 1000, "{bad:?}");
        }
        for late in ["2000", "18446744073709551615"] {
            std::fs::write(&path, late).unwrap();
            assert!(next(folder.path(), listen, 1000).unwrap_err().to_string().contains("clock"), "{late}");
            assert_eq!(next(folder.path(), listen, 1000).unwrap(), 1001, "{late}");
        }
    }

    #[test]
    fn a_folder_that_others_may_write_in_holds_no_stamp() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(next(folder.path(), "127.0.0.1:8805".parse().unwrap(), 1000).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
