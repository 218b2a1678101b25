//! The system calls that the loader crate does not offer: running a program on a packet, memory shared with a map, waiting
//! until no core runs on old tables, and which privileges the process has.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::NonNull;

const BPF_MAP_UPDATE_ELEM: libc::c_long = 2;
const BPF_PROG_TEST_RUN: libc::c_long = 10;
const MEMBARRIER_CMD_GLOBAL: libc::c_long = 1;

/// `struct xdp_md` of <linux/bpf.h>.
#[repr(C)]
#[derive(Default)]
struct XdpMd {
    data: u32,
    data_end: u32,
    data_meta: u32,
    ingress_ifindex: u32,
    rx_queue_index: u32,
    egress_ifindex: u32,
}

/// `union bpf_attr`, member `test`.
#[repr(C)]
#[derive(Default)]
struct TestAttr {
    prog_fd: u32,
    retval: u32,
    data_size_in: u32,
    data_size_out: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    ctx_size_in: u32,
    ctx_size_out: u32,
    ctx_in: u64,
    ctx_out: u64,
    flags: u32,
    cpu: u32,
    batch_size: u32,
    /// The kernel refuses what is not zero here.
    padding: u32,
}

/// What a test run gives.
#[derive(Clone, Copy, Debug)]
pub struct TestRun {
    /// What the program returned: an XDP action.
    pub action: u32,
    /// Bytes written to `output`.
    pub len: usize,
    /// Time of one run, in nanoseconds.
    pub duration_ns: u32,
}

/// Runs a program `repeat` times on `input`, of which the first `meta` bytes lie in front of the packet; `output` gets both.
pub fn test_run(program: RawFd, input: &[u8], meta: usize, output: &mut [u8], repeat: u32) -> io::Result<TestRun> {
    let mut ctx = XdpMd { data: meta as u32, data_end: input.len() as u32, ..XdpMd::default() };
    let mut attr = TestAttr {
        prog_fd: program as u32,
        data_size_in: input.len() as u32,
        data_size_out: output.len() as u32,
        data_in: input.as_ptr() as u64,
        data_out: output.as_mut_ptr() as u64,
        repeat,
        ..TestAttr::default()
    };
    if meta > 0 {
        attr.ctx_size_in = size_of::<XdpMd>() as u32;
        attr.ctx_in = &raw mut ctx as u64;
    }
    // SAFETY: the kernel reads `data_size_in` bytes of `input` and `ctx`, writes at most `data_size_out` bytes of `output` and
    // the results into `attr`; all of them outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, BPF_PROG_TEST_RUN, &raw mut attr, size_of::<TestAttr>()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(TestRun { action: attr.retval, len: attr.data_size_out as usize, duration_ns: attr.duration })
}

/// `union bpf_attr`, for changes of a map.
#[repr(C)]
struct UpdateAttr {
    map_fd: u64,
    key: u64,
    value: u64,
    flags: u64,
}

/// Sets a map's entry. Key and value are as long as the map's; a map of programs or interfaces takes descriptors and numbers.
pub(crate) fn map_update(map: RawFd, key: &[u8], value: &[u8]) -> io::Result<()> {
    let mut attr = UpdateAttr { map_fd: map as u64, key: key.as_ptr() as u64, value: value.as_ptr() as u64, flags: 0 };
    // SAFETY: the kernel reads as many bytes of key and value as the map was made with, which the caller of `Object::put` has
    // checked, and writes nothing.
    let result = unsafe { libc::syscall(libc::SYS_bpf, BPF_MAP_UPDATE_ELEM, &raw mut attr, size_of::<UpdateAttr>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Waits until every packet that some core works on now has been finished: XDP programs run in sections that this waits for.
pub fn wait_for_packets() -> io::Result<()> {
    // SAFETY: the call takes no pointers.
    match unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether [`wait_for_packets`] works here: it does not on kernels with `nohz_full` cores.
pub fn can_wait() -> bool {
    // SAFETY: command 0 asks what there is.
    let commands = unsafe { libc::syscall(libc::SYS_membarrier, 0, 0, 0) };
    commands > 0 && commands & MEMBARRIER_CMD_GLOBAL != 0
}

/// Memory of an array map, shared with the programs that use it.
pub struct Shared {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it is memory like any other; who writes where is up to the owner, and reads beside writes are atomic words.
unsafe impl Send for Shared {}
// SAFETY: as above: methods that write take `&mut self` or are atomic.
unsafe impl Sync for Shared {}

impl Shared {
    /// Maps `len` bytes of a map made with BPF_F_MMAPABLE.
    pub fn map(fd: BorrowedFd<'_>, len: usize) -> io::Result<Shared> {
        let flags = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, wherever the kernel likes; the kernel refuses one that is longer than the map.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len.max(1), flags, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("a mapping at address 0"))?;
        Ok(Shared { start, len })
    }

    /// Copies bytes out.
    pub fn read(&self, at: usize, out: &mut [u8]) {
        assert!(at <= self.len && out.len() <= self.len - at);
        // SAFETY: in bounds. Only the owner writes what is read this way.
        unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr().add(at), out.as_mut_ptr(), out.len()) }
    }

    /// Writes bytes that no program looks at yet.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(at <= self.len && bytes.len() <= self.len - at);
        // SAFETY: in bounds. Programs may read a torn value only where stamps tell them not to use it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) }
    }

    /// An atomic word that programs read and write too.
    pub fn word(&self, at: usize) -> &std::sync::atomic::AtomicU32 {
        assert!(at.is_multiple_of(4) && at + 4 <= self.len);
        // SAFETY: in bounds, aligned (a mapping begins at a page), and as long-lived as `self`.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    /// The same of 64 bits.
    pub fn long(&self, at: usize) -> &std::sync::atomic::AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.len);
        // SAFETY: in bounds, aligned, and as long-lived as `self`.
        unsafe { std::sync::atomic::AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrowed from it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len.max(1)) };
    }
}

/// The first privilege that the process lacks, of those that loading and attaching need.
pub fn missing_capability() -> Option<&'static str> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("CapEff:"))?;
    missing_of(u64::from_str_radix(line.trim(), 16).ok()?)
}

/// Numbers of <linux/capability.h>. CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON.
fn missing_of(effective: u64) -> Option<&'static str> {
    let has = |n: u32| effective >> n & 1 == 1;
    let admin = has(21);
    [("CAP_BPF", has(39) || admin), ("CAP_PERFMON", has(38) || admin), ("CAP_NET_ADMIN", has(12))]
        .into_iter()
        .find(|(_, there)| !there)
        .map(|(name, _)| name)
}

/// Cores that may ever run.
pub fn possible_cpus() -> u32 {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit([',', '-']).next().and_then(|n| n.parse::<u32>().ok());
    last.map_or(1, |n| n.saturating_add(1)).clamp(1, 4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(missing_of(u64::MAX), None);
        assert_eq!(missing_of(0), Some("CAP_BPF"));
        assert_eq!(missing_of(1 << 39 | 1 << 38), Some("CAP_NET_ADMIN"));
        assert_eq!(missing_of(1 << 39 | 1 << 12), Some("CAP_PERFMON"));
        assert_eq!(missing_of(1 << 21 | 1 << 12), None);
    }
}
