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

/// What a start finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Its stamp, in seconds since 1970: later than all before it.
    Stamp(u64),
    /// There were as many starts within a few seconds as stamps may be ahead of the clock: it has one with the clock's next second.
    Wait,
}

/// The stamp of a node that starts now on `listen`. It is in `folder` when this returns.
///
/// # Errors
/// It could not be written there, or the last stamp is too far ahead of the clock.
pub(crate) fn next(folder: &Path, listen: SocketAddr, now_s: u64) -> std::io::Result<Next> {
    own_folder(folder)?;
    let path = folder.join(format!("started-{}", listen.to_string().replace([':', '[', ']', '%'], "_")));
    let last = read(&path);
    let later = last.map_or(Some(now_s), |last| Some(now_s.max(last.checked_add(1)?)));
    // The last one was at most so far ahead of its own time: by one second more, only if the clock was put back.
    if later == Some(now_s + FARTHEST_AHEAD_S + 1) {
        return Ok(Next::Wait);
    }
    let later = later.filter(|stamp| *stamp <= now_s + FARTHEST_AHEAD_S);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(file, "{}", later.unwrap_or(now_s))?;
    file.persist(&path).map_err(|e| e.error)?;
    later.map(Next::Stamp).ok_or_else(|| Error::other("the last start was later than now: the clock was put back"))
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
        assert_eq!(next(&state, listen, 1000).unwrap(), Next::Stamp(1000));
        assert_eq!(next(&state, listen, 1000).unwrap(), Next::Stamp(1001));
        assert_eq!(next(&state, listen, 1000).unwrap(), Next::Stamp(1002));
        // A clock that is put back a little.
        assert_eq!(next(&state, listen, 995).unwrap(), Next::Stamp(1003));
        assert_eq!(next(&state, "127.0.0.1:8805".parse().unwrap(), 1000).unwrap(), Next::Stamp(1000));
        assert_eq!(next(&state, listen, 2000).unwrap(), Next::Stamp(2000));
    }

    /// Twelve in a second are ahead of the clock by what a clock that was put back would be.
    #[test]
    fn ever_so_many_starts_within_a_second_do_not_put_the_clock_back() {
        let folder = tempfile::tempdir().unwrap();
        let listen: SocketAddr = "127.0.0.1:8805".parse().unwrap();
        let (mut now_s, mut last) = (1000, 0);
        for _ in 0..100 {
            let stamp = loop {
                match next(folder.path(), listen, now_s).unwrap() {
                    Next::Stamp(stamp) => break stamp,
                    Next::Wait => now_s += 1,
                }
            };
            assert!(stamp > last && stamp <= now_s + FARTHEST_AHEAD_S, "{stamp} at {now_s}");
            last = stamp;
        }
        assert_eq!((last, now_s), (1099, 1089));
    }

    #[test]
    fn a_damaged_stamp_is_none_and_one_of_a_wrong_clock_does_not_stay() {
        let folder = tempfile::tempdir().unwrap();
        let listen: SocketAddr = "127.0.0.1:8805".parse().unwrap();
        assert_eq!(next(folder.path(), listen, 1000).unwrap(), Next::Stamp(1000));
        let path = folder.path().join("started-127.0.0.1_8805");
        for bad in ["", "x", "99999999999999999999999999999999999", "-1", "\u{fffd}"] {
            std::fs::write(&path, bad).unwrap();
            assert_eq!(next(folder.path(), listen, 1000).unwrap(), Next::Stamp(1000), "{bad:?}");
        }
        for late in ["2000", "18446744073709551615"] {
            std::fs::write(&path, late).unwrap();
            assert!(next(folder.path(), listen, 1000).unwrap_err().to_string().contains("clock"), "{late}");
            assert_eq!(next(folder.path(), listen, 1000).unwrap(), Next::Stamp(1001), "{late}");
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
