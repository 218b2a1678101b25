//! Whose environment is this? `CC`, `PATH`, `TMPDIR` and the like name programs and folders: they are the caller's to choose only where the
//! caller has all the privileges that we have.

use std::ffi::OsString;
use std::path::PathBuf;

/// Search path for programs if the environment is not trusted.
const PLAIN_PATH: &str = "/usr/bin:/bin";

/// Whether the kernel gave this process privileges that its caller need not have: a program with file capabilities or a set-user-ID
/// bit (`AT_SECURE`, getauxval(3)).
pub fn more_than_the_caller() -> bool {
    // SAFETY: it reads a word that the kernel left for every process, and takes no pointer.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Whether the environment may choose programs and folders. Not for a non-root user with capabilities, however granted: a
/// service's settings are in its configuration.
pub fn is_trusted() -> bool {
    !more_than_the_caller() && (rustix::process::geteuid().is_root() || permitted() == 0)
}

/// A variable, if the environment is to be trusted and it is not empty.
pub fn trusted(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| is_trusted() && !value.is_empty())
}

/// `PATH`, or the system's own folders.
pub fn path() -> OsString {
    trusted("PATH").unwrap_or_else(|| PLAIN_PATH.into())
}

/// Where temporary files go.
pub fn temporary() -> PathBuf {
    trusted("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
}

/// Where objects are kept: root and services in /var/cache, users in their own folder.
pub fn cache() -> Option<PathBuf> {
    ours("/var/cache/splitplane", "XDG_CACHE_HOME", ".cache")
}

/// Where is kept what a daemon must know of the one before: root and services in /var/lib, users in their own folder.
pub fn state() -> Option<PathBuf> {
    ours("/var/lib/splitplane", "XDG_STATE_HOME", ".local/state")
}

fn ours(of_services: &str, variable: &str, of_users: &str) -> Option<PathBuf> {
    if rustix::process::geteuid().is_root() && trusted(variable).is_none() || !is_trusted() {
        return Some(of_services.into());
    }
    let base = trusted(variable).map(PathBuf::from);
    let base = base.or_else(|| trusted("HOME").map(|home| PathBuf::from(home).join(of_users)))?;
    // A relative one is to be ignored (XDG Base Directory Specification).
    base.is_absolute().then(|| base.join("splitplane"))
}

/// Permitted capabilities as bits; all of them if the kernel does not say.
fn permitted() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapPrm:"));
    line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(u64::MAX)
}
