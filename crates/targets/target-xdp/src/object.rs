//! A compiled program in the kernel: its maps at the sizes that the target needs, and the entry points.

use crate::LoadError;
use crate::memory::Memories;
use crate::sys::Shared;
use aya::maps::Map;
use aya::programs::{ProgramError, ProgramFd, Xdp};
use aya::{Ebpf, EbpfLoader, VerifierLogLevel};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

/// Loaded maps and programs.
pub struct Object {
    maps: BTreeMap<String, Map>,
    memory: Memories,
    programs: Programs,
    /// Descriptors of those that the kernel has.
    loaded: BTreeMap<String, ProgramFd>,
}

/// The programs of an object, until they are not needed any more: the parsed object takes some ten times its file. Their instructions have its maps,
/// which must be there when they are loaded.
#[derive(Clone)]
pub(crate) struct Programs(Arc<Mutex<Option<Ebpf>>>);

impl Programs {
    /// Loads one, which the kernel verifies: that may take a second.
    pub(crate) fn load(&self, name: &str) -> Result<ProgramFd, LoadError> {
        let mut ebpf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let program = ebpf.as_mut().and_then(|ebpf| ebpf.program_mut(name));
        let program = program.ok_or_else(|| LoadError::Layout(format!("no program {name}")))?;
        let program: &mut Xdp = program.try_into().map_err(|e: ProgramError| LoadError::Kernel(chain(&e)))?;
        program.load().map_err(|e| refusal(&e))?;
        let fd = program.fd().and_then(|fd| fd.try_clone().map_err(Into::into));
        fd.map_err(|e| LoadError::Kernel(chain(&e)))
    }

    /// No more are loaded. Those that are stay: who loaded them has their descriptors.
    pub(crate) fn forget(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Sizes and constants to load with.
pub struct Sizes {
    /// Entries of maps, and of arrays whose address is in the text.
    pub entries: Vec<(String, u32)>,
    /// Of each table, where the text leaves it open: home cells less one.
    pub homes: Vec<u32>,
    /// Of each counter, where the text leaves it open: cells of a core's row.
    pub cells: Vec<u32>,
    /// Constants of 32 bits.
    pub constants: Vec<(String, u32)>,
    /// `sp_seed`.
    pub seed: u64,
    /// For tests: how many segments of arrays that grow there may be.
    #[doc(hidden)]
    pub most_segments: u32,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { entries: Vec::new(), homes: Vec::new(), cells: Vec::new(), constants: Vec::new(), seed: 0, most_segments: u32::MAX }
    }
}

impl Object {
    /// Compiles C text and loads it: for programs that no P4 program was.
    pub fn compile(text: &str, sizes: &Sizes, programs: &[&str]) -> Result<Object, LoadError> {
        crate::sys::require_capabilities()?;
        Object::load(&crate::compile::compile(text, &[], &Default::default())?, sizes, programs)
    }

    /// Creates the maps and loads the programs of those names, which the kernel verifies.
    pub fn load(bytes: &[u8], sizes: &Sizes, programs: &[&str]) -> Result<Object, LoadError> {
        let mut loader = EbpfLoader::new();
        // Without types: the object has none, and the kernel's need not be read.
        loader.btf(None).verifier_log_level(VerifierLogLevel::STATS);
        for (name, n) in &sizes.entries {
            loader.set_max_entries(name, *n);
        }
        for (name, value) in &sizes.constants {
            loader.set_global(name, value, false);
        }
        loader.set_global("sp_seed", &sizes.seed, false);
        let mut bytes = bytes.to_vec();
        let memory = Memories::place(&mut bytes, sizes)?;
        let mut ebpf = loader.load(&bytes).map_err(|e| LoadError::Kernel(blame_age(chain(&e), &crate::sys::kernel_release())))?;
        let names: Vec<String> = ebpf.maps().map(|(name, _)| name.to_owned()).collect();
        let maps = names.into_iter().filter_map(|name| Some((name.clone(), ebpf.take_map(&name)?))).collect();
        let mut object = Object { maps, memory, programs: Programs(Arc::new(Mutex::new(Some(ebpf)))), loaded: BTreeMap::new() };
        for name in programs {
            object.load_also(name)?;
        }
        Ok(object)
    }

    /// One more program of the object.
    pub fn load_also(&mut self, name: &str) -> Result<ProgramFd, LoadError> {
        let program = self.programs.load(name)?;
        self.add(name, program);
        self.program_fd(name)
    }

    /// All of them, to load some without this object at hand.
    pub(crate) fn programs(&self) -> Programs {
        self.programs.clone()
    }

    /// A program that was loaded so.
    pub(crate) fn add(&mut self, name: &str, program: ProgramFd) {
        self.loaded.insert(name.to_owned(), program);
    }

    /// The descriptor of a program that is loaded.
    pub fn program_fd(&self, name: &str) -> Result<ProgramFd, LoadError> {
        let program = self.loaded.get(name).ok_or_else(|| LoadError::Layout(format!("no program {name}")))?;
        program.try_clone().map_err(|e| LoadError::Kernel(e.to_string()))
    }

    /// The first of these that is loaded.
    pub(crate) fn first_of(&self, names: &[&str]) -> Result<ProgramFd, LoadError> {
        self.program_fd(names.iter().find(|name| self.loaded.contains_key(**name)).unwrap_or(&names[0]))
    }

    /// Hangs a program into an interface's driver; it leaves when what this gives is closed.
    pub fn attach(&self, name: &str, ifindex: u32) -> Result<OwnedFd, LoadError> {
        let program = self.program_fd(name)?;
        let fail = |e: std::io::Error| LoadError::Attach { interface: ifindex.to_string(), error: e.to_string() };
        crate::sys::link_create(program.as_fd(), ifindex, crate::sys::XDP_IN_DRIVER).map_err(fail)
    }

    /// Sets an entry of a map, by a system call.
    pub fn put(&self, name: &str, key: &[u8], value: &[u8]) -> Result<(), LoadError> {
        let map = self.map(name)?;
        let info = map.info().map_err(|e| LoadError::Kernel(chain(&e)))?;
        if (info.key_size() as usize, info.value_size() as usize) != (key.len(), value.len()) {
            return Err(LoadError::Layout(format!("map {name} has {} and {} bytes", info.key_size(), info.value_size())));
        }
        crate::sys::map_update(map.fd().as_fd().as_raw_fd(), key, value).map_err(|e| LoadError::Kernel(format!("map {name}: {e}")))
    }

    /// As [`Object::put`], many of equal lengths, and the sizes looked at once.
    pub fn put_all<'k>(&self, name: &str, entries: impl Iterator<Item = (&'k [u8], &'k [u8])>) -> Result<(), LoadError> {
        let map = self.map(name)?;
        let info = map.info().map_err(|e| LoadError::Kernel(chain(&e)))?;
        for (key, value) in entries {
            if (info.key_size() as usize, info.value_size() as usize) != (key.len(), value.len()) {
                return Err(LoadError::Layout(format!("map {name} has {} and {} bytes", info.key_size(), info.value_size())));
            }
            let fd = map.fd().as_fd().as_raw_fd();
            crate::sys::map_update(fd, key, value).map_err(|e| LoadError::Kernel(format!("map {name}: {e}")))?;
        }
        Ok(())
    }

    /// A descriptor of a map, or of an array whose address is in the text.
    pub fn map_fd(&self, name: &str) -> Result<OwnedFd, LoadError> {
        if let Some(memory) = self.memory.find(name) {
            let several = || LoadError::Layout(format!("{name} is several maps"));
            return memory.descriptor().ok_or_else(several)?.map_err(|e| LoadError::Io(format!("map {name}: {e}")));
        }
        let fd = self.map(name)?.fd().as_fd().try_clone_to_owned();
        fd.map_err(|e| LoadError::Io(format!("map {name}: {e}")))
    }

    fn map(&self, name: &str) -> Result<&aya::maps::MapData, LoadError> {
        match self.maps.get(name) {
            Some(
                Map::Array(map) | Map::DevMap(map) | Map::XskMap(map) | Map::ProgramArray(map) | Map::HashMap(map) | Map::LpmTrie(map),
            ) => Ok(map),
            _ => Err(LoadError::Layout(format!("no map {name}"))),
        }
    }

    /// The memory of an array of `entries` values of `value_len` bytes.
    pub fn shared(&self, name: &str, entries: u64, value_len: usize) -> Result<Shared, LoadError> {
        let unmapped = |len: usize, e: std::io::Error| LoadError::Io(format!("cannot map {len} bytes of {name}: {e}"));
        if let Some(memory) = self.memory.find(name) {
            if memory.len as u64 != entries * value_len as u64 {
                let (has, wanted) = (memory.len, entries * value_len as u64);
                return Err(LoadError::Layout(format!("{name} has {has} bytes instead of {wanted}")));
            }
            return self.memory.shared(memory).map_err(|e| unmapped(memory.len, e));
        }
        let Some(Map::Array(map)) = self.maps.get(name) else { return Err(LoadError::Layout(format!("no array map {name}"))) };
        let info = map.info().map_err(|e| LoadError::Kernel(chain(&e)))?;
        if info.value_size() as usize != value_len || u64::from(info.max_entries()) < entries {
            return Err(LoadError::Layout(format!(
                "map {name} has {} values of {} bytes instead of {entries} of {value_len}",
                info.max_entries(),
                info.value_size()
            )));
        }
        let len = entries as usize * value_len;
        Shared::map(map.fd().as_fd(), len).map_err(|e| unmapped(len, e))
    }

    /// Programs see the segments of arrays that have been made.
    pub(crate) fn open_segments(&self) -> Result<(), LoadError> {
        self.memory.open().map_err(|e| LoadError::Kernel(format!("cannot make room in arrays: {e}")))
    }

    /// Bytes of an array whose address is in the text.
    pub fn memory_len(&self, name: &str) -> Result<usize, LoadError> {
        let memory = self.memory.find(name);
        memory.map(|m| m.len).ok_or_else(|| LoadError::Layout(format!("no memory {name}")))
    }

    /// A map that is no array.
    pub(crate) fn map_mut(&mut self, name: &str) -> Option<&mut Map> {
        self.maps.get_mut(name)
    }

    /// A map, for good.
    pub(crate) fn take_map(&mut self, name: &str) -> Option<Map> {
        self.maps.remove(name)
    }
}

/// Why the kernel refuses a program, on one line: of the verifier's log only the end, which has the reason.
fn refusal(error: &ProgramError) -> LoadError {
    let ProgramError::LoadError { io_error, verifier_log } = error else { return LoadError::Kernel(chain(error)) };
    let log = last_lines(&verifier_log.to_string());
    // What it says when it has walked as many instructions or branches as it will, and when stacks of functions do not fit.
    let limits = ["program is too large", "is too complex", "Too large"];
    if limits.iter().any(|words| log.contains(words)) || io_error.raw_os_error() == Some(libc::E2BIG) {
        let said = if log.is_empty() { io_error.to_string() } else { log };
        return LoadError::Limit(format!("the verifier says: {said}"));
    }
    let why = if log.is_empty() { io_error.to_string() } else { format!("{io_error}; the verifier says: {log}") };
    LoadError::Kernel(blame_age(why, &crate::sys::kernel_release()))
}

/// Kernels from here on have all that emitted programs use: the latest are arrays with values of more than 4 MiB (6.0), `bpf_xdp_load_bytes`
/// (5.18), of programs with headers of varying length, and `bpf_loop` (5.17). Distributions bring such things to older kernels, so it is tried
/// there, too.
pub const LEAST_KERNEL: (u32, u32) = (6, 0);

/// The kernel's refusal, and whether its age may be the reason.
pub fn blame_age(why: String, release: &str) -> String {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse::<u32>().ok());
    let (Some(Some(major)), Some(Some(minor))) = (numbers.next(), numbers.next()) else { return why };
    if (major, minor) >= LEAST_KERNEL {
        return why;
    }
    format!("this is Linux {release}, and {}.{} is needed: {why}", LEAST_KERNEL.0, LEAST_KERNEL.1)
}

/// The last lines of the verifier's log that are not its statistics, joined and cut.
fn last_lines(log: &str) -> String {
    const LINES: usize = 3;
    const MOST: usize = 400;
    let statistics = ["processed ", "verification time ", "stack depth ", "max_states"];
    let mut lines: Vec<&str> = log.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    lines.retain(|l| !statistics.iter().any(|s| l.starts_with(s)));
    let text = lines[lines.len().saturating_sub(LINES)..].join("; ");
    text.chars().filter(|c| !c.is_control()).take(MOST).collect()
}

/// An error and what caused it, in one text.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_log_the_end_is_kept_on_one_line() {
        let log = "0: R1=ctx()\n1: (79) r0 = *(u64 *)(r1 +200)\n\ninvalid bpf_context access off=200 size=8\nverification time 9 usec\nprocessed 2 insns\n";
        assert_eq!(last_lines(log), "0: R1=ctx(); 1: (79) r0 = *(u64 *)(r1 +200); invalid bpf_context access off=200 size=8");
        assert_eq!(last_lines("processed 2 insns"), "");
        assert_eq!(last_lines(&"x".repeat(5000)).len(), 400);
    }

    #[test]
    fn an_old_kernel_is_named_with_what_it_refuses() {
        let why = || "invalid func unknown#189".to_owned();
        let blamed = "this is Linux 5.15.0-91-generic, and 6.0 is needed: invalid func unknown#189";
        assert_eq!(blame_age(why(), "5.15.0-91-generic"), blamed);
        assert!(blame_age(why(), "4.19").starts_with("this is Linux 4.19, and"));
        for as_good in ["6.0.0", "6.1.0-18-amd64", "10.0", "", "5", "unknown", "99999999999.1"] {
            assert_eq!(blame_age(why(), as_good), why());
        }
    }
}
