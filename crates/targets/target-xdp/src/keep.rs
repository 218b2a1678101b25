//! What stays when the process ends? Links and a counter, pinned in a folder of a BPF file system, if that is asked for ([`Keep`]).
//!
//! A pinned link keeps the program on its interface, with its tables as they are. Packets that it would pass on go up the kernel's stack
//! meanwhile: the sockets ended with the process. The next process loads a program of its own and fills its tables, while the old one goes on.
//! Then it puts the new one in the old one's place, an interface at a time, in one step each ([`crate::Xdp::stay`]): each packet runs in one of the two.
//! When no packet is left in the old one, its counter is final, and is read by the number of the process that it was of ([`crate::Xdp::left_count`]).
//!
//! Files: `link-INDEX-native` or `link-INDEX-generic`, by the interface's number, and `counter-EPOCH-SIZE-PART` (cells of a core's row, and which of
//! its segments), or `counter-EPOCH` of one that is whole. A counter is named before a link is moved to its
//! program, and the one before is forgotten ([`crate::Xdp::forget_left`]) when what was read of it is safe elsewhere: a process may end at any moment.
//! Who deletes the files ends it all.

use crate::LoadError;
use crate::attach::{Attached, Mode};
use crate::cells::CELL;
use crate::sys::{self, Shared};
use program::CounterId;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use target_api::Count;

/// What is to stay.
#[derive(Clone, Debug)]
pub struct Keep {
    /// The folder: in a BPF file system, and of no other process. It is made if there is none.
    pub folder: PathBuf,
    /// The counter that is read again.
    pub counter: CounterId,
    /// By what its cells are known to the next process: a number that none before has had.
    pub epoch: u64,
}

/// `BPF_FS_MAGIC` of <linux/magic.h>.
const BPF_FS_MAGIC: u32 = 0xcafe_4a11;
const LINK: &str = "link-";
const COUNTER: &str = "counter-";

/// The folder, and what was found in it.
pub(crate) struct Folder {
    keep: Keep,
    left: Vec<Left>,
    /// Whether links are pinned as they come.
    stays: bool,
}

/// The counter of a process before.
struct Left {
    epoch: u64,
    cells: Shared,
    /// Of a core's row.
    size: u64,
    cpus: u64,
    paths: Vec<PathBuf>,
}

/// A file's, by its name: the number of the process, cells of a row where it says so, and the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Named {
    epoch: u64,
    size: Option<u64>,
    part: u32,
}

impl Folder {
    pub(crate) fn open(keep: Keep, cpus: u32) -> Result<Folder, LoadError> {
        let fail = |what: String| LoadError::Io(format!("{}: {what}", keep.folder.display()));
        let io = |e: io::Error| fail(e.to_string());
        // Before one is made: where nothing is mounted it could not be, or would be left there.
        let existing = keep.folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
        let kind = rustix::fs::statfs(existing).map_err(|e| io(e.into()))?.f_type;
        if kind as u32 != BPF_FS_MAGIC {
            let mount = "it is in no BPF file system: mount one (`mount -t bpf bpf /sys/fs/bpf`) and name a folder in it";
            return Err(fail(mount.to_owned()));
        }
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&keep.folder).map_err(io)?;
        let mut counters: BTreeMap<u64, BTreeMap<u32, (Named, PathBuf)>> = BTreeMap::new();
        for path in files(&keep.folder).map_err(io)? {
            if let Some(named) = Named::of(name(&path)) {
                counters.entry(named.epoch).or_default().insert(named.part, (named, path));
            }
        }
        let mut left = Vec::new();
        for (epoch, parts) in counters {
            match Left::open(&parts, cpus) {
                Ok(found) => left.push(found),
                Err(e) => {
                    tracing::warn!("{}: counter {epoch:016x} cannot be read: {e}: what it has counted is lost", keep.folder.display())
                }
            }
        }
        Ok(Folder { keep, left, stays: false })
    }

    /// The link that holds a program on the interface since before this process.
    pub(crate) fn link(&self, ifindex: u32) -> Option<(OwnedFd, Mode)> {
        [Mode::Native, Mode::Generic].into_iter().find_map(|mode| {
            let path = self.path_of(ifindex, mode);
            let link = sys::pinned(&path).ok()?;
            match sys::link_interface(link.as_fd()) {
                Ok(Some(of)) if of == ifindex => Some((link, mode)),
                // Of an interface that was deleted, whose number another one has by now.
                _ => {
                    unpin(&path);
                    None
                }
            }
        })
    }

    /// From now on the counter and what is attached stay.
    pub(crate) fn stay(&mut self, counter: &[OwnedFd], size: u64, attached: &[Attached]) -> Result<(), LoadError> {
        for (part, counter) in (0..).zip(counter).filter(|_| !self.stays) {
            let named = Named { epoch: self.keep.epoch, size: Some(size), part };
            pin(counter.as_fd(), &self.keep.folder.join(named.name()))?;
        }
        self.stays = true;
        attached.iter().filter(|attached| !attached.was_left).try_for_each(|attached| self.attached(attached))
    }

    /// An interface is attached; it stays if the others do.
    pub(crate) fn attached(&self, attached: &Attached) -> Result<(), LoadError> {
        if self.stays { pin(attached.link.as_fd(), &self.path_of(attached.ifindex, attached.mode)) } else { Ok(()) }
    }

    /// It is detached.
    pub(crate) fn detached(&self, ifindex: u32) {
        for mode in [Mode::Native, Mode::Generic] {
            unpin(&self.path_of(ifindex, mode));
        }
    }

    /// A cell of the counter of the process with that number, which does not count any more.
    pub(crate) fn left_count(&self, epoch: u64, cell: u64) -> Option<Count> {
        let left = self.left.iter().find(|left| left.epoch == epoch && cell < left.size)?;
        let word = |cpu: u64, at: u64| left.cells.long((CELL as u64 * (cpu * left.size + cell) + at) as usize).load(Ordering::Relaxed);
        let sum = |at: u64| (0..left.cpus).map(|cpu| word(cpu, at)).fold(0, u64::wrapping_add);
        Some(Count { packets: sum(0), bytes: sum(8) })
    }

    /// Forgets the counters of processes before, and takes programs off interfaces that are not attached now.
    pub(crate) fn forget_left(&mut self, attached: &[Attached]) {
        for left in std::mem::take(&mut self.left) {
            left.paths.iter().for_each(|path| unpin(path));
        }
        let ours: Vec<PathBuf> = attached.iter().map(|attached| self.path_of(attached.ifindex, attached.mode)).collect();
        let links = files(&self.keep.folder).unwrap_or_default().into_iter().filter(|path| name(path).starts_with(LINK));
        links.filter(|path| !ours.contains(path)).for_each(|path| unpin(&path));
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.keep.epoch
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.keep.folder
    }

    pub(crate) fn counter(&self) -> CounterId {
        self.keep.counter
    }

    /// `.` is not allowed there.
    fn path_of(&self, ifindex: u32, mode: Mode) -> PathBuf {
        let mode = if mode == Mode::Native { "native" } else { "generic" };
        self.keep.folder.join(format!("{LINK}{ifindex}-{mode}"))
    }
}

impl Left {
    fn open(parts: &BTreeMap<u32, (Named, PathBuf)>, cpus: u32) -> io::Result<Left> {
        let missing = || io::Error::other("a part of it is missing");
        if !parts.keys().copied().eq(0..parts.len() as u32) {
            return Err(missing());
        }
        let (first, _) = parts.get(&0).ok_or_else(missing)?;
        let maps = parts.values().map(|(_, path)| sys::pinned(path)).collect::<io::Result<Vec<_>>>()?;
        let maps: Vec<BorrowedFd<'_>> = maps.iter().map(AsFd::as_fd).collect();
        let lens = maps.iter().map(|map| sys::array_len(*map)).collect::<io::Result<Vec<_>>>()?;
        if lens.iter().any(|len| *len != lens[0]) {
            return Err(io::Error::other("its parts have different lengths"));
        }
        let (cells, all) = (Shared::map_all(&maps, lens[0])?, lens.iter().sum::<usize>() / CELL);
        let size = first.size.unwrap_or(all as u64 / u64::from(cpus));
        if size.checked_mul(cpus.into()).is_none_or(|cells| cells > all as u64) {
            return Err(missing());
        }
        let paths = parts.values().map(|(_, path)| path.clone()).collect();
        Ok(Left { epoch: first.epoch, cells, size, cpus: cpus.into(), paths })
    }
}

impl Named {
    fn of(name: &str) -> Option<Named> {
        let mut words = name.strip_prefix(COUNTER)?.split('-');
        let epoch = u64::from_str_radix(words.next()?, 16).ok()?;
        match (words.next(), words.next(), words.next()) {
            (None, ..) => Some(Named { epoch, size: None, part: 0 }),
            (Some(size), Some(part), None) => Some(Named { epoch, size: Some(size.parse().ok()?), part: part.parse().ok()? }),
            _ => None,
        }
    }

    fn name(self) -> String {
        let Named { epoch, size, part } = self;
        size.map_or_else(|| format!("{COUNTER}{epoch:016x}"), |size| format!("{COUNTER}{epoch:016x}-{size}-{part}"))
    }
}

/// Takes programs off the interfaces where a process left them, and forgets what they have counted. To be called when
/// no process uses the folder.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    for path in files(folder)? {
        let name = name(&path);
        if name.starts_with(LINK) || name.starts_with(COUNTER) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn pin(object: BorrowedFd<'_>, path: &Path) -> Result<(), LoadError> {
    sys::pin(object, path).map_err(|e| LoadError::Io(format!("{}: {e}", path.display())))
}

fn unpin(path: &Path) {
    if let Err(e) = std::fs::remove_file(path)
        && e.kind() != ErrorKind::NotFound
    {
        tracing::warn!("{}: {e}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counters_file_says_what_it_is_of() {
        let named = Named { epoch: 0x12ab, size: Some(20_000), part: 3 };
        assert_eq!(named.name(), "counter-00000000000012ab-20000-3");
        assert_eq!(Named::of(&named.name()), Some(named));
        // As versions had it whose counters were whole.
        assert_eq!(Named::of("counter-00000000000012ab"), Some(Named { size: None, part: 0, ..named }));
        for other in ["", "counter-", "counter-x", "counter-1-2", "counter-1-2-3-4", "counter-1-x-3", "link-3-native"] {
            assert_eq!(Named::of(other), None, "{other}");
        }
    }
}
