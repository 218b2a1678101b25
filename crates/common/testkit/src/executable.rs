//! Programs that a test writes and runs.

use std::path::Path;
use std::process::Command;

/// Puts a copy of `from` at `to`, as a program that everybody may run.
///
/// Another process writes it. Were it this one, a child that another thread forks at that moment would hold the file open for writing until its own
/// `exec`, and running the file would fail with `ETXTBSY` (execve(2)).
///
/// # Panics
///
/// Where `install` (coreutils) cannot be run or fails.
pub fn install(from: &Path, to: &Path) {
    let status = Command::new("install").args(["-m", "755"]).arg(from).arg(to).status().expect("install runs");
    assert!(status.success(), "install {} {}: {status}", from.display(), to.display());
}

/// Writes `text` to `to`, as a script that everybody may run; as [`install`].
///
/// # Panics
///
/// Where it cannot be written.
pub fn script(to: &Path, text: &str) {
    let mut name = to.file_name().expect("a file").to_owned();
    name.push(".text");
    let from = to.with_file_name(name);
    std::fs::write(&from, text).expect("the script's text can be written");
    install(&from, to);
    std::fs::remove_file(&from).expect("the script's text can be removed");
}
