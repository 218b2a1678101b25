//! Objects from one start to the next: a folder of files named by the fingerprint of all that went into them.
//!
//! An object is code that a privileged process runs. It is believed because of who owns folder and file and who may write there, not
//! because of what it says: the digest in each file finds damage, not malice.

use crate::work;
use sha2::{Digest, Sha256};
use std::fs::{DirBuilder, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What each file begins with: format and version.
const MAGIC: &[u8] = b"splitplane object 1\n";
/// Objects that are kept, and their bytes together: some programs in some shapes.
const MOST_FILES: usize = 32;
const MOST_BYTES: u64 = 256 << 20;
/// Longest object.
const LONGEST: u64 = 64 << 20;
/// A temporary file this old was left by a killed process.
const FORGOTTEN: Duration = Duration::from_secs(600);
const UNFINISHED: &str = ".new-";

/// A folder that objects are not kept in.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", folder.display())]
pub struct CacheError {
    /// As it was asked for.
    pub folder: PathBuf,
    /// Why.
    pub fault: CacheFault,
}

/// Why a folder is not safe or cannot be made: the operator's or the system's fault.
#[derive(Debug, thiserror::Error)]
pub enum CacheFault {
    /// It would be another one after a change of the current folder.
    #[error("not an absolute path")]
    Relative,
    /// The system's answer.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Another kind of file, or a link.
    #[error("it is no folder")]
    NoFolder,
    /// Another user's.
    #[error("it is user {owner}'s, and we are user {us}")]
    Foreign {
        /// User ID.
        owner: u32,
        /// Our user ID.
        us: u32,
    },
    /// Open to others.
    #[error("its mode is {0:03o}: others may have written there; expected 700")]
    Mode(u32),
    /// Of objects that come with the program: others may write.
    #[error("its mode is {0:03o}: others may write there; expected 755")]
    Writable(u32),
    /// A folder above it that others may write.
    #[error("others may replace it, as they may write in {}", .0.display())]
    Above(PathBuf),
}

/// A folder of objects.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The folder, made with mode 0700 if it is not there.
    ///
    /// # Errors
    /// If it cannot be made, or another user may have written in it or could put another in its place; the text says which.
    pub fn open(folder: &Path) -> Result<Cache, CacheError> {
        check(folder).map(|folder| Cache { folder }).map_err(|fault| CacheError { folder: folder.to_owned(), fault })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The object of a fingerprint. What is damaged, or not ours alone, is removed.
    pub(crate) fn get(&self, fingerprint: &str) -> Option<Vec<u8>> {
        let path = self.file(fingerprint);
        let file = File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&path).ok()?;
        let us = rustix::process::geteuid().as_raw();
        match read(&file, |there| there.uid() == us && there.mode() & 0o077 == 0) {
            Ok(object) => {
                // The one that was used last is removed last.
                let _ = file.set_modified(SystemTime::now());
                Some(object)
            }
            Err(why) => {
                tracing::warn!("{} is not used: {why}", path.display());
                let _ = std::fs::remove_file(&path);
                None
            }
        }
    }

    /// Of objects whose fingerprints begin with this and a `-`, the one that was used last.
    pub(crate) fn get_latest(&self, beginning: &str) -> Option<Vec<u8>> {
        let mut found: Vec<(SystemTime, String)> = Vec::new();
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let (name, there) = (entry.file_name(), entry.metadata().ok());
            let Some(fingerprint) = name.to_str().and_then(|name| name.strip_suffix(".o")) else { continue };
            if fingerprint.strip_prefix(beginning).is_some_and(|rest| rest.starts_with('-')) {
                let at = there.and_then(|there| there.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH);
                found.push((at, fingerprint.to_owned()));
            }
        }
        found.sort();
        found.iter().rev().find_map(|(_, fingerprint)| self.get(fingerprint))
    }

    /// Whether there is any object.
    pub fn has_objects(&self) -> bool {
        let objects = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        objects.map(|entry| entry.file_name()).any(|name| name.to_str().is_some_and(|name| name.ends_with(".o")))
    }

    /// Stores an object atomically and evicts the oldest. A full disk is logged and otherwise ignored.
    pub(crate) fn put(&self, fingerprint: &str, object: &[u8]) {
        if let Err(e) = self.write(fingerprint, object) {
            tracing::warn!("the object is not cached in {}: {e}", self.folder.display());
        }
        self.prune();
    }

    fn write(&self, fingerprint: &str, object: &[u8]) -> std::io::Result<()> {
        write(&self.folder, &self.file(fingerprint), object, 0o600)
    }

    fn prune(&self) {
        let mut kept = Vec::new();
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let Ok(there) = entry.metadata() else { continue };
            let at = there.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
            if unfinished && at.elapsed().is_ok_and(|age| age > FORGOTTEN) {
                let _ = std::fs::remove_file(entry.path());
            } else if !unfinished && there.is_file() {
                kept.push((at, there.len(), entry.path()));
            }
        }
        kept.sort();
        let (mut files, mut bytes) = (kept.len(), kept.iter().map(|(_, len, _)| len).sum::<u64>());
        for (_, len, path) in kept {
            if files <= MOST_FILES && bytes <= MOST_BYTES {
                return;
            }
            let _ = std::fs::remove_file(path);
            files -= 1;
            bytes -= len;
        }
    }

    fn file(&self, fingerprint: &str) -> PathBuf {
        self.folder.join(format!("{fingerprint}.o"))
    }

    /// Removes what processes left here that were killed.
    pub fn clear_away(&self) {
        work::clear_away(&self.folder);
        self.prune();
    }
}

/// Makes the folder; its real path, if nobody else can have written there.
fn check(folder: &Path) -> Result<PathBuf, CacheFault> {
    if !folder.is_absolute() {
        return Err(CacheFault::Relative);
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let there = std::fs::symlink_metadata(folder)?;
    let us = rustix::process::geteuid().as_raw();
    if !there.is_dir() {
        return Err(CacheFault::NoFolder);
    }
    if there.uid() != us {
        return Err(CacheFault::Foreign { owner: there.uid(), us });
    }
    if there.mode() & 0o077 != 0 {
        return Err(CacheFault::Mode(there.mode() & 0o777));
    }
    let real = folder.canonicalize()?;
    nobody_replaces(&real, &[0, us])?;
    Ok(real)
}

/// Whether nobody but these users can put another folder in this one's place.
pub(crate) fn nobody_replaces(real: &Path, users: &[u32]) -> Result<(), CacheFault> {
    for above in real.ancestors().skip(1) {
        let there = std::fs::metadata(above)?;
        let sticky = there.mode() & 0o1000 != 0;
        if !users.contains(&there.uid()) || (there.mode() & 0o022 != 0 && !sticky) {
            return Err(CacheFault::Above(above.to_owned()));
        }
    }
    Ok(())
}

/// An object to its file in `folder`, at once or not at all.
pub(crate) fn write(folder: &Path, path: &Path, object: &[u8], mode: u32) -> std::io::Result<()> {
    let mode = Permissions::from_mode(mode);
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).permissions(mode).tempfile_in(folder)?;
    file.write_all(MAGIC)?;
    file.write_all(&Sha256::digest(object))?;
    file.write_all(object)?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// An object out of its file, if nobody else can have written it; what speaks against it.
pub(crate) fn read(file: &File, is_trusted: impl Fn(&std::fs::Metadata) -> bool) -> Result<Vec<u8>, String> {
    let there = file.metadata().map_err(|e| e.to_string())?;
    if !there.is_file() || !is_trusted(&there) {
        return Err("others may have written it".into());
    }
    if there.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    let damaged = || "it is damaged".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let (digest, object) = rest.split_at_checked(32).ok_or_else(damaged)?;
    if *Sha256::digest(object) != *digest || object.is_empty() {
        return Err(damaged());
    }
    Ok(object.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("kept")).unwrap();
        (folder, cache)
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_was_kept_comes_back_and_what_was_damaged_does_not() {
        let (_folder, cache) = cache();
        assert_eq!(cache.get("a"), None);
        cache.put("a", b"object");
        assert_eq!(cache.get("a").as_deref(), Some(&b"object"[..]));
        assert_eq!(std::fs::metadata(cache.file("a")).unwrap().mode() & 0o777, 0o600);
        let good = std::fs::read(cache.file("a")).unwrap();
        for damage in 0..good.len() {
            let mut bytes = good.clone();
            bytes[damage] ^= 1;
            std::fs::write(cache.file("a"), &bytes).unwrap();
            set_mode(&cache.file("a"), 0o600);
            assert_eq!(cache.get("a"), None, "byte {damage}");
            assert!(!cache.file("a").exists(), "what is damaged is removed");
        }
        for len in 0..good.len() {
            std::fs::write(cache.file("a"), &good[..len]).unwrap();
            set_mode(&cache.file("a"), 0o600);
            assert_eq!(cache.get("a"), None, "cut to {len}");
        }
    }

    #[test]
    fn without_a_compiler_what_was_used_last_is_taken() {
        let (_folder, cache) = cache();
        assert!(!cache.has_objects());
        assert_eq!(cache.get_latest("a"), None);
        for (name, object) in [("a-1", b"first"), ("a-2", b"other"), ("ab-1", b"stray"), ("b-1", b"wrong")] {
            cache.put(name, object);
        }
        let used = |name: &str, seconds: u64| {
            let file = File::options().write(true).open(cache.file(name)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        };
        [("a-1", 100), ("a-2", 200), ("ab-1", 300), ("b-1", 300)].into_iter().for_each(|(name, at)| used(name, at));
        assert!(cache.has_objects());
        assert_eq!(cache.get_latest("a").as_deref(), Some(&b"other"[..]));
        // One that is damaged gives way to the one before.
        std::fs::write(cache.file("a-2"), "x").unwrap();
        assert_eq!(cache.get_latest("a").as_deref(), Some(&b"first"[..]));
        assert_eq!(cache.get_latest("c"), None);
    }

    #[test]
    fn an_object_that_another_user_could_have_written_is_not_loaded() {
        let (_folder, cache) = cache();
        cache.put("a", b"object");
        set_mode(&cache.file("a"), 0o620);
        assert_eq!(cache.get("a"), None);
        cache.put("b", b"object");
        std::os::unix::fs::symlink(cache.file("b"), cache.file("c")).unwrap();
        assert_eq!(cache.get("c"), None, "a link may lead anywhere");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(cache.file("b"), Some(12345), None).unwrap();
            assert_eq!(cache.get("b"), None);
        } else {
            testkit::skip("needs root: a file of another user's");
        }
    }

    #[test]
    fn a_folder_that_others_may_write_in_or_replace_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        std::fs::create_dir(&kept).unwrap();
        set_mode(&kept, 0o770);
        assert!(Cache::open(&kept).unwrap_err().to_string().contains("its mode is 770"));
        set_mode(&kept, 0o700);
        Cache::open(&kept).unwrap();
        set_mode(folder.path(), 0o777);
        assert!(Cache::open(&kept).unwrap_err().to_string().contains("others may replace it"));
        set_mode(folder.path(), 0o1777);
        Cache::open(&kept).unwrap();
        std::os::unix::fs::symlink(&kept, folder.path().join("link")).unwrap();
        assert!(Cache::open(&folder.path().join("link")).unwrap_err().to_string().contains("it is no folder"));
        assert!(Cache::open(Path::new("kept")).unwrap_err().to_string().contains("not an absolute path"));
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&kept, Some(12345), None).unwrap();
            assert!(Cache::open(&kept).unwrap_err().to_string().contains("it is user 12345's"));
        } else {
            testkit::skip("needs root: a folder of another user's");
        }
    }

    #[test]
    fn the_oldest_objects_make_room() {
        let (_folder, cache) = cache();
        for n in 0..MOST_FILES as u64 {
            cache.put(&n.to_string(), b"object");
            let file = File::open(cache.file(&n.to_string())).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(n)).unwrap();
        }
        // The first was used since.
        assert!(cache.get("0").is_some());
        cache.put("one more", b"object");
        assert!(cache.get("0").is_some() && cache.get("one more").is_some());
        assert_eq!(cache.get("1"), None);
        assert_eq!(std::fs::read_dir(cache.folder()).unwrap().count(), MOST_FILES);
    }
}
