//! Objects that come with the program: compiled ahead, for machines without a compiler.
//!
//! They are found by text and arguments. Unlike in [`Cache`](crate::Cache) compiler and processor are no part of that: arguments say which
//! processors an object is for, and who loads one has looked. Who may have written them is the same question as there.

use crate::cache::{self, CacheError, CacheFault};
use crate::run::{Error, Job, fingerprint_of, run};
use std::collections::BTreeSet;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A folder that the program's installer filled. It is only read from when the program runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shipped {
    folder: PathBuf,
}

/// From the folder of the binary: as in `/usr/bin` and `/usr/lib/splitplane/objects`, and in the folder of a build.
const BESIDE: [&str; 2] = ["../lib/splitplane/objects", "splitplane-objects"];

impl Shipped {
    /// The folder beside the binary that runs; `None` if there is none.
    ///
    /// # Errors
    /// As [`Shipped::open`].
    pub fn beside_the_binary() -> Result<Option<Shipped>, CacheError> {
        let Ok(exe) = std::env::current_exe() else { return Ok(None) };
        let Some(bin) = exe.parent() else { return Ok(None) };
        let folder = BESIDE.iter().find_map(|beside| bin.join(beside).canonicalize().ok());
        folder.map(|folder| Shipped::open(&folder)).transpose()
    }

    /// A folder that is there.
    ///
    /// # Errors
    /// If another user than root or ours may have written in it or could put another in its place; the text says which.
    pub fn open(folder: &Path) -> Result<Shipped, CacheError> {
        check(folder).map(|folder| Shipped { folder }).map_err(|fault| CacheError { folder: folder.to_owned(), fault })
    }

    /// A folder to be filled, made with mode 0755 if it is not there.
    ///
    /// # Errors
    /// As [`Shipped::open`], or if it cannot be made.
    pub fn create(folder: &Path) -> Result<Shipped, CacheError> {
        let made = std::path::absolute(folder).and_then(|folder| {
            DirBuilder::new().recursive(true).mode(0o755).create(&folder)?;
            Ok(folder)
        });
        let folder = made.map_err(|e| CacheError { folder: folder.to_owned(), fault: e.into() })?;
        Shipped::open(&folder)
    }

    /// The object of that text with those arguments, for the log's `what`. One that is damaged is not used, and the log says so.
    pub fn get(&self, what: &str, text: &str, arguments: &[String]) -> Option<Vec<u8>> {
        let path = self.file(&fingerprint_of(text, arguments));
        let file = File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&path).ok()?;
        match cache::read(&file, |there| trusted().contains(&there.uid()) && there.mode() & 0o022 == 0) {
            Ok(object) => {
                tracing::info!("using the shipped object of the {what} program, in {}", self.folder.display());
                Some(object)
            }
            Err(why) => {
                tracing::warn!("{} is not used: {why}; install the package again", path.display());
                None
            }
        }
    }

    /// Compiles an object, unless it is there; its file's name.
    ///
    /// # Errors
    /// The compiler's, or the file's.
    pub fn add(&self, job: &Job) -> Result<String, Error> {
        let fingerprint = fingerprint_of(job.text, job.arguments);
        let path = self.file(&fingerprint);
        let is_there = File::open(&path).is_ok_and(|file| cache::read(&file, |there| there.mode() & 0o022 == 0).is_ok());
        if !is_there {
            let object = run(job, None)?;
            cache::write(&self.folder, &path, &object, 0o644).map_err(|e| Error::Io(format!("{}: {e}", path.display())))?;
        }
        Ok(name(&fingerprint))
    }

    /// Removes objects of other names.
    ///
    /// # Errors
    /// The folder cannot be read, or a file not removed.
    pub fn keep_only(&self, names: &BTreeSet<String>) -> std::io::Result<()> {
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let object = name.to_str().filter(|name| is_object(name));
            if object.is_some_and(|name| !names.contains(name)) {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn file(&self, fingerprint: &str) -> PathBuf {
        self.folder.join(name(fingerprint))
    }
}

fn name(fingerprint: &str) -> String {
    format!("{fingerprint}.o")
}

/// Whether it is one of [`name`]: the folder may be anybody's, with other files.
fn is_object(name: &str) -> bool {
    name.strip_suffix(".o").is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Who may have written objects: root, and we, unless we have privileges that our caller lacks.
fn trusted() -> Vec<u32> {
    let us = rustix::process::geteuid().as_raw();
    if crate::environment::more_than_the_caller() { vec![0] } else { vec![0, us] }
}

fn check(folder: &Path) -> Result<PathBuf, CacheFault> {
    let real = folder.canonicalize()?;
    let (there, users) = (std::fs::metadata(&real)?, trusted());
    if !there.is_dir() {
        return Err(CacheFault::NoFolder);
    }
    if !users.contains(&there.uid()) {
        return Err(CacheFault::Foreign { owner: there.uid(), us: rustix::process::geteuid().as_raw() });
    }
    if there.mode() & 0o022 != 0 {
        return Err(CacheFault::Writable(there.mode() & 0o777));
    }
    cache::nobody_replaces(&real, &users)?;
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const TEXT: &str = "int answer(void) { return 42; }";

    /// A folder with an object in it, its file, and the compiler's arguments.
    fn filled() -> (tempfile::TempDir, Shipped, PathBuf, Vec<String>) {
        let base = tempfile::tempdir().unwrap();
        let shipped = Shipped::create(&base.path().join("lib/objects")).unwrap();
        let compiler = crate::find(None, &["clang", "gcc", "cc"]).unwrap();
        let arguments = vec!["-c".to_owned()];
        let name = shipped.add(&Job { what: "test", text: TEXT, compiler: &compiler, arguments: &arguments }).unwrap();
        let path = shipped.folder().join(name);
        (base, shipped, path, arguments)
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn an_object_is_found_by_text_and_arguments_whatever_compiler_there_is() {
        let (_base, shipped, path, arguments) = filled();
        let object = shipped.get("test", TEXT, &arguments).unwrap();
        assert!(object.starts_with(b"\x7fELF"));
        assert_eq!(shipped.get("test", TEXT, &[]), None);
        assert_eq!(shipped.get("test", "int answer;", &arguments), None);
        // What is there is not compiled again.
        let missing = Path::new("/there/is/no/compiler");
        shipped.add(&Job { what: "test", text: TEXT, compiler: missing, arguments: &arguments }).unwrap();
        assert!(shipped.add(&Job { what: "test", text: "int x;", compiler: missing, arguments: &arguments }).is_err());
        let other = shipped.folder().join("other.o");
        std::fs::write(&other, "").unwrap();
        shipped.keep_only(&BTreeSet::new()).unwrap();
        assert!(!path.exists() && other.exists());
    }

    #[test]
    fn a_shipped_object_that_is_damaged_or_open_to_others_is_not_loaded() {
        let (_base, shipped, path, arguments) = filled();
        set_mode(&path, 0o664);
        assert_eq!(shipped.get("test", TEXT, &arguments), None);
        set_mode(&path, 0o644);
        assert!(shipped.get("test", TEXT, &arguments).is_some());
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(shipped.get("test", TEXT, &arguments), None);
        assert!(path.exists(), "it is the installer's to remove");
    }

    #[test]
    fn a_folder_of_shipped_objects_that_others_may_write_in_or_replace_is_not_used() {
        let (base, shipped, path, arguments) = filled();
        let folder = shipped.folder();
        set_mode(folder, 0o775);
        assert!(Shipped::open(folder).unwrap_err().to_string().contains("its mode is 775"));
        set_mode(folder, 0o755);
        set_mode(&base.path().join("lib"), 0o777);
        assert!(Shipped::open(folder).unwrap_err().to_string().contains("others may replace it"));
        set_mode(&base.path().join("lib"), 0o755);
        Shipped::open(folder).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
            assert_eq!(shipped.get("test", TEXT, &arguments), None);
            std::os::unix::fs::chown(folder, Some(12345), None).unwrap();
            assert!(Shipped::open(folder).unwrap_err().to_string().contains("it is user 12345's"));
        } else {
            testkit::skip("needs root: a folder of another user's");
        }
    }
}
