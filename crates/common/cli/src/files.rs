//! Files that an operator names, read within a bound: what is no file (a FIFO, a device, a terminal) would be waited for, or never end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file to be read; anything else is refused, and not waited for.
///
/// # Errors
/// If it cannot be opened, or is no regular file.
pub fn open_regular(path: &Path) -> Result<File> {
    // Of a FIFO the opening itself waits, without this.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

/// All of a text.
///
/// # Errors
/// If it is longer than `most` bytes, is no text, or cannot be read.
pub fn read_text(file: File, most: u64) -> Result<String> {
    let mut text = String::new();
    if file.take(most + 1).read_to_string(&mut text)? as u64 > most {
        return Err(Error::new(ErrorKind::FileTooLarge, format!("longer than {} MiB", most >> 20)));
    }
    Ok(text)
}

/// Refuses a folder that has anything but regular files and folders in it, three folders deep: others read and write what is there by name.
///
/// # Errors
/// If there is such a thing, by its name, or the folder cannot be read.
pub fn only_files(folder: &Path) -> Result<()> {
    fn look(folder: &Path, depth: u32) -> Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let found = std::fs::metadata(&path)?;
            if found.is_dir() && depth > 0 {
                look(&path, depth - 1)?;
            } else if !found.is_file() && !found.is_dir() {
                return Err(Error::new(ErrorKind::InvalidInput, format!("{} is not a regular file: move it away", path.display())));
            }
        }
        Ok(())
    }
    look(folder, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fifo(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    }

    #[test]
    fn what_is_no_file_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        fifo(&path);
        for what in [&*path, Path::new("/dev/zero"), folder.path()] {
            assert!(open_regular(what).unwrap_err().to_string().contains("not a regular file"), "{}", what.display());
        }
        let file = folder.path().join("file");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read_text(open_regular(&file).unwrap(), 5).unwrap(), "12345");
        assert!(read_text(open_regular(&file).unwrap(), 4).is_err());
        assert!(read_text(File::open("/dev/zero").unwrap(), 1 << 20).unwrap_err().to_string().contains("longer than 1 MiB"));
    }

    #[test]
    fn a_folder_of_files_has_nothing_else_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("c"), "").unwrap();
        only_files(folder.path()).unwrap();
        fifo(&inner.join("d"));
        let why = only_files(folder.path()).unwrap_err().to_string();
        assert!(why.contains("/a/b/d is not a regular file"), "{why}");
    }
}
