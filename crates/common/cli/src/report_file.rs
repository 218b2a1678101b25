//! The file of `--report`: checked at start and replaced atomically, so a reader sees the old or the new report, whole.

use crate::failure::Failure;
use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A place that a report can be written to.
pub struct ReportFile {
    path: PathBuf,
    /// Opened at the start where it can be replaced in no other way: a device or a pipe, or a file in a folder that is open to root's
    /// privileges alone, which are given up after the start.
    open: Option<File>,
}

impl ReportFile {
    /// Looks whether a report can be written there; nothing of an older one is touched.
    pub fn prepare(path: &Path) -> Result<ReportFile, Failure> {
        let fail = |e: std::io::Error| Failure::Usage(format!("--report {}: {e}", path.display()));
        match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(Failure::Usage(format!("--report {}: it is a folder; expected a file", path.display()))),
            Ok(there) if !there.is_file() => {
                let open = File::options().write(true).open(path).map_err(fail)?;
                Ok(ReportFile { path: path.to_owned(), open: Some(open) })
            }
            // What a link names is replaced, not the link.
            Ok(_) => ReportFile::of_file(path.canonicalize().map_err(fail)?).map_err(fail),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => ReportFile::of_file(path.to_owned()).map_err(fail),
            Err(e) => Err(fail(e)),
        }
    }

    fn of_file(path: PathBuf) -> std::io::Result<ReportFile> {
        let folder = std::fs::metadata(folder(&path))?;
        drop(temporary(&path)?);
        let me = rustix::process::geteuid();
        let by_privilege = me.is_root() && folder.uid() != me.as_raw();
        let open = by_privilege.then(|| File::options().write(true).create(true).truncate(false).open(&path)).transpose()?;
        Ok(ReportFile { path, open })
    }

    /// Writes a report in place of what was there.
    pub fn write(&mut self, report: &impl serde::Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_string_pretty(report).map_err(|e| Failure::Failed(e.to_string()))?;
        text.push('\n');
        self.put(text.as_bytes()).map_err(|e| Failure::Failed(format!("cannot write {}: {e}", self.path.display())))
    }

    fn put(&mut self, text: &[u8]) -> std::io::Result<()> {
        let Some(open) = &mut self.open else {
            let mut file = temporary(&self.path)?;
            file.write_all(text)?;
            file.persist(&self.path).map_err(|e| e.error)?;
            return Ok(());
        };
        if open.metadata()?.is_file() {
            std::io::Seek::rewind(open)?;
            open.set_len(0)?;
        }
        open.write_all(text)
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file beside `path`, removed if it does not take its place. As readable as the umask leaves it.
fn temporary(path: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(".report-").permissions(Permissions::from_mode(0o644)).tempfile_in(folder(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_takes_the_place_of_the_one_before_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let mut file = ReportFile::prepare(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a look leaves nothing");
        file.write(&[1, 2, 3]).unwrap();
        let before = std::fs::metadata(&path).unwrap().ino();
        file.write(&[4]).unwrap();
        assert_eq!(serde_json::from_slice::<Vec<u8>>(&std::fs::read(&path).unwrap()).unwrap(), [4]);
        assert_ne!(std::fs::metadata(&path).unwrap().ino(), before, "who reads the old one reads it to its end");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        ReportFile::prepare(&link).unwrap().write(&[5]).unwrap();
        assert!(link.is_symlink() && std::fs::read_to_string(&path).unwrap().contains('5'));
    }

    #[test]
    fn a_report_that_cannot_be_written_is_refused_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("none/report.json")] {
            let error = ReportFile::prepare(&path).err().unwrap().to_string();
            assert!(error.contains(&path.display().to_string()), "{error}");
        }
        ReportFile::prepare(Path::new("/dev/null")).unwrap().write(&1).unwrap();
        assert!(ReportFile::prepare(Path::new("/dev/full")).unwrap().write(&1).is_err());
    }

    #[test]
    fn a_report_in_a_users_folder_can_be_written_without_roots_privileges() {
        if !rustix::process::geteuid().is_root() {
            testkit::skip("needs root: a folder of another user's");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(folder.path(), Some(12345), None).unwrap();
        let path = folder.path().join("report.json");
        std::fs::write(&path, "a longer text that was there").unwrap();
        let mut file = ReportFile::prepare(&path).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("a longer"), "a look changes nothing");
        assert!(file.open.is_some());
        file.write(&[1]).unwrap();
        file.write(&[2]).unwrap();
        assert_eq!(serde_json::from_slice::<Vec<u8>>(&std::fs::read(&path).unwrap()).unwrap(), [2]);
    }
}
