//! The system calls that the loader crate does not offer, or not so that a failure leaves things as they were: links, running a
//! program on a packet or on a core, memory shared with a map, waiting until no core runs on old tables, a veth's counters, and which privileges
//! the thread has.

use crate::segments::Segments;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

const BPF_MAP_CREATE: libc::c_long = 0;
const BPF_MAP_UPDATE_ELEM: libc::c_long = 2;
const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_OBJ_PIN: libc::c_long = 6;
const BPF_OBJ_GET: libc::c_long = 7;
const BPF_PROG_TEST_RUN: libc::c_long = 10;
const BPF_OBJ_GET_INFO_BY_FD: libc::c_long = 15;
const BPF_LINK_CREATE: libc::c_long = 28;
const BPF_MAP_UPDATE_BATCH: libc::c_long = 26;
const BPF_LINK_UPDATE: libc::c_long = 29;
const BPF_XDP: u32 = 37;
/// `XDP_FLAGS_DRV_MODE` and `XDP_FLAGS_SKB_MODE` of <linux/if_link.h>.
pub(crate) const XDP_IN_DRIVER: u32 = 1 << 2;
pub(crate) const XDP_IN_STACK: u32 = 1 << 1;
const RAW_TRACEPOINT: u32 = 17;
/// `BPF_F_TEST_RUN_ON_CPU` and `BPF_F_TEST_XDP_LIVE_FRAMES` of <linux/bpf.h>.
const ON_CPU: u32 = 1 << 0;
const LIVE_FRAMES: u32 = 1 << 1;
const MEMBARRIER_CMD_GLOBAL: libc::c_long = 1;
const BPF_F_MMAPABLE: u32 = 1 << 10;

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

/// Runs a program on `count` frames, and does with each what the program says: sends it, redirects it, passes it on (Linux 5.18). A
/// frame begins as `frame` when it is new; one that comes back is used again, with the length of `frame` and the bytes that it has.
pub fn send_frames(program: RawFd, frame: &[u8], count: u32) -> io::Result<()> {
    let mut attr = TestAttr {
        prog_fd: program as u32,
        data_size_in: frame.len() as u32,
        data_in: frame.as_ptr() as u64,
        repeat: count,
        flags: LIVE_FRAMES,
        ..TestAttr::default()
    };
    // SAFETY: the kernel reads `data_size_in` bytes of `frame` and writes results into `attr`; both outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, BPF_PROG_TEST_RUN, &raw mut attr, size_of::<TestAttr>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// `union bpf_attr`, for a new map, as far as its name.
#[repr(C)]
struct CreateAttr {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
    inner_map: u32,
    numa_node: u32,
    name: [u8; 16],
}

/// Makes an array map of one value of `len` bytes that [`Shared::map`] takes. The kernel shows the first 15 letters of its name.
pub(crate) fn array_create(name: &str, len: u32) -> io::Result<OwnedFd> {
    const BPF_MAP_TYPE_ARRAY: u32 = 2;
    map_create(name, CreateAttr { map_type: BPF_MAP_TYPE_ARRAY, value_size: len, max_entries: 1, map_flags: BPF_F_MMAPABLE, ..CREATE })
}

/// Makes an array of maps that are as `inner`.
pub(crate) fn array_of_maps_create(name: &str, entries: u32, inner: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    const BPF_MAP_TYPE_ARRAY_OF_MAPS: u32 = 12;
    let inner_map = inner.as_raw_fd() as u32;
    map_create(name, CreateAttr { map_type: BPF_MAP_TYPE_ARRAY_OF_MAPS, value_size: 4, max_entries: entries, inner_map, ..CREATE })
}

const CREATE: CreateAttr =
    CreateAttr { map_type: 0, key_size: 4, value_size: 0, max_entries: 0, map_flags: 0, inner_map: 0, numa_node: 0, name: [0; 16] };

fn map_create(name: &str, mut attr: CreateAttr) -> io::Result<OwnedFd> {
    attr.name.iter_mut().zip(name.bytes().take(15)).for_each(|(to, from)| *to = from);
    // SAFETY: this is what BPF_MAP_CREATE reads; there are no pointers in it.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, BPF_MAP_CREATE, &raw mut attr, size_of::<CreateAttr>()) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made the descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// `struct` `batch` of `union bpf_attr`.
#[repr(C)]
struct BatchAttr {
    in_batch: u64,
    out_batch: u64,
    keys: u64,
    values: u64,
    count: u32,
    map_fd: u32,
    elem_flags: u64,
    flags: u64,
}

/// Puts maps into an array of maps, by index. One call, as the kernel waits for a grace period in each (Linux 5.19; before that, one for each map).
pub(crate) fn maps_put(array: BorrowedFd<'_>, keys: &[u32], maps: &[OwnedFd]) -> io::Result<()> {
    assert_eq!(keys.len(), maps.len());
    let values: Vec<u32> = maps.iter().map(|map| map.as_raw_fd() as u32).collect();
    let mut attr = BatchAttr {
        in_batch: 0,
        out_batch: 0,
        keys: keys.as_ptr() as u64,
        values: values.as_ptr() as u64,
        count: keys.len() as u32,
        map_fd: array.as_raw_fd() as u32,
        elem_flags: 0,
        flags: 0,
    };
    // SAFETY: the kernel reads `count` words of keys and of values, and writes into `attr` how many it has taken; all outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, BPF_MAP_UPDATE_BATCH, &raw mut attr, size_of::<BatchAttr>()) };
    /// The kernel's own number for what a kind of map does not do.
    const ENOTSUPP: i32 = 524;
    match (result, io::Error::last_os_error()) {
        (0, _) => Ok(()),
        (_, e) if matches!(e.raw_os_error(), Some(ENOTSUPP | libc::EOPNOTSUPP | libc::EINVAL)) => {
            keys.iter().zip(&values).try_for_each(|(key, value)| map_update(array.as_raw_fd(), &key.to_ne_bytes(), &value.to_ne_bytes()))
        }
        (_, e) => Err(e),
    }
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

/// `struct` `link_create` of `union bpf_attr`.
#[repr(C)]
struct LinkCreate {
    program: u32,
    ifindex: u32,
    attach_type: u32,
    flags: u32,
}

/// `struct` `link_update` of `union bpf_attr`.
#[repr(C)]
struct LinkUpdate {
    link: u32,
    program: u32,
    flags: u32,
    old_program: u32,
}

/// Attaches an XDP program to an interface of this thread's network namespace until the link is closed.
pub(crate) fn link_create(program: BorrowedFd<'_>, ifindex: u32, flags: u32) -> io::Result<OwnedFd> {
    let mut attr = LinkCreate { program: program.as_raw_fd() as u32, ifindex, attach_type: BPF_XDP, flags };
    // SAFETY: this is what BPF_LINK_CREATE reads; there are no pointers in it.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, BPF_LINK_CREATE, &raw mut attr, size_of::<LinkCreate>()) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made the descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Puts another program in the place of a link's.
pub(crate) fn link_update(link: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    let mut attr = LinkUpdate { link: link.as_raw_fd() as u32, program: program.as_raw_fd() as u32, flags: 0, old_program: 0 };
    // SAFETY: this is what BPF_LINK_UPDATE reads; there are no pointers in it.
    let result = unsafe { libc::syscall(libc::SYS_bpf, BPF_LINK_UPDATE, &raw mut attr, size_of::<LinkUpdate>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// `union bpf_attr`, for pins: its beginning.
#[repr(C)]
struct PinAttr {
    path: u64,
    object: u32,
    flags: u32,
}

/// `struct` `info` of `union bpf_attr`.
#[repr(C)]
struct InfoAttr {
    object: u32,
    len: u32,
    info: u64,
}

/// Gives a map or link a name in a BPF file system: it stays as long as that does.
pub(crate) fn pin(object: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let attr = PinAttr { path: path.as_ptr() as u64, object: object.as_raw_fd() as u32, flags: 0 };
    // SAFETY: the kernel reads a text that ends with zero, and writes nothing.
    let result = unsafe { libc::syscall(libc::SYS_bpf, BPF_OBJ_PIN, &raw const attr, size_of::<PinAttr>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What has a name there.
pub(crate) fn pinned(path: &Path) -> io::Result<OwnedFd> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let attr = PinAttr { path: path.as_ptr() as u64, object: 0, flags: 0 };
    // SAFETY: the kernel reads a text that ends with zero, and writes nothing.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, BPF_OBJ_GET, &raw const attr, size_of::<PinAttr>()) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made the descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// The first words of what the kernel says of a map or link; zeros where it says less.
fn info<const WORDS: usize>(object: BorrowedFd<'_>) -> io::Result<[u32; WORDS]> {
    let mut words = [0u32; WORDS];
    let mut attr = InfoAttr { object: object.as_raw_fd() as u32, len: size_of_val(&words) as u32, info: words.as_mut_ptr() as u64 };
    // SAFETY: the kernel writes at most `len` bytes to `words`, which outlives the call, and their number into `attr`.
    let result = unsafe { libc::syscall(libc::SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &raw mut attr, size_of::<InfoAttr>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(words) }
}

/// The interface that a link holds a program on; `None`: it was deleted, or this is no such link.
pub(crate) fn link_interface(link: BorrowedFd<'_>) -> io::Result<Option<u32>> {
    const BPF_LINK_TYPE_XDP: u32 = 6;
    // `struct bpf_link_info`: type, id, program, padding, and of XDP the interface.
    let [kind, _, _, _, ifindex] = info::<5>(link)?;
    Ok((kind == BPF_LINK_TYPE_XDP && ifindex != 0).then_some(ifindex))
}

/// Bytes of an array map that can be mapped.
pub(crate) fn array_len(map: BorrowedFd<'_>) -> io::Result<usize> {
    const BPF_MAP_TYPE_ARRAY: u32 = 2;
    // `struct bpf_map_info`: type, id, and sizes of keys, values and the map, and its flags.
    let [kind, _, _, value, entries, flags] = info::<6>(map)?;
    match kind == BPF_MAP_TYPE_ARRAY && flags & BPF_F_MMAPABLE != 0 {
        true => Ok(value.next_multiple_of(8) as usize * entries as usize),
        false => Err(io::Error::other("it is no array that can be mapped")),
    }
}

/// `union bpf_attr`, for loading: its beginning.
#[repr(C)]
struct LoadAttr {
    kind: u32,
    instructions: u32,
    text: u64,
    license: u64,
    log: [u64; 2],
}

/// A program that does nothing, for [`run_on`].
pub(crate) fn empty_program() -> io::Result<OwnedFd> {
    // `r0 = 0; exit`: `struct bpf_insn`, twice.
    const TEXT: [u64; 2] = [0xb7, 0x95];
    let license = c"Apache-2.0";
    let attr =
        LoadAttr { kind: RAW_TRACEPOINT, instructions: 2, text: TEXT.as_ptr() as u64, license: license.as_ptr() as u64, log: [0; 2] };
    // SAFETY: the kernel reads two instructions and a text that ends with zero, and writes nothing.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, BPF_PROG_LOAD, &raw const attr, size_of::<LoadAttr>()) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made the descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Runs the program of [`empty_program`] on a core (Linux 5.10), in an interrupt: before it and after it are full barriers there, and when this
/// returns, what that core stored before is seen.
///
/// # Errors
/// ENXIO for a core that is off.
pub(crate) fn run_on(program: BorrowedFd<'_>, cpu: u32) -> io::Result<()> {
    let mut attr = TestAttr { prog_fd: program.as_raw_fd() as u32, flags: ON_CPU, cpu, ..TestAttr::default() };
    // SAFETY: there are no pointers in it; the kernel writes the result into `attr`, which outlives the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, BPF_PROG_TEST_RUN, &raw mut attr, size_of::<TestAttr>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Waits until every packet that some core works on now has been finished, by the program and by the driver, which then sends what was
/// redirected and shows sockets what they got: all that happens in sections that this waits for. It takes milliseconds; for the program alone
/// see [`crate::cores`].
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

/// Memory of an array map, or of several one behind the other, shared with the programs that use it.
pub struct Shared {
    start: NonNull<u8>,
    len: usize,
    /// Of an array whose memory comes as it is used: where there is none yet, pages of zeros that no program sees.
    segments: Option<Segments>,
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
        Ok(Shared { start, len, segments: None })
    }

    /// Memory of so many bytes, all of it to come in segments.
    pub(crate) fn reserve(segments: Segments, len: usize) -> io::Result<Shared> {
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        // SAFETY: a new mapping, wherever the kernel likes.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len.max(1), rights, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("a mapping at address 0"))?;
        Ok(Shared { start, len, segments: Some(segments) })
    }

    /// Maps of equal length, one behind the other.
    pub(crate) fn map_all(maps: &[BorrowedFd<'_>], map_len: usize) -> io::Result<Shared> {
        let shared = Shared::reserve(Segments::none(), maps.len() * map_len)?;
        for (i, map) in maps.iter().enumerate() {
            shared.put(i * map_len, *map, map_len)?;
        }
        Ok(shared)
    }

    /// Sees to it that programs have this part of it, too. Of whole memory they have all.
    ///
    /// # Errors
    /// What the kernel says to it; and, for good, once a part could not be had that others write to.
    pub(crate) fn make_room(&self, range: std::ops::Range<usize>) -> io::Result<()> {
        self.segments.as_ref().map_or(Ok(()), |segments| segments.make_room(self, range))
    }

    /// Makes all of it, and keeps the descriptors; of whole memory nothing happens.
    pub(crate) fn hold_all(&self) -> io::Result<()> {
        self.segments.as_ref().map_or(Ok(()), |segments| {
            raise_descriptor_limit();
            segments.hold();
            segments.make_room(self, 0..self.len)
        })
    }

    /// Those descriptors; `None` of whole memory.
    pub(crate) fn held(&self) -> Option<io::Result<Vec<OwnedFd>>> {
        self.segments.as_ref().map(Segments::held)
    }

    /// That part is of who writes there, for good, unless programs have it.
    pub(crate) fn give_up(&self, range: std::ops::Range<usize>) {
        if let Some(segments) = &self.segments {
            segments.give_up(range);
        }
    }

    /// A map's memory at that place, in the place of what is there. Nobody uses that yet, or only for zeros.
    pub(crate) fn put(&self, at: usize, map: BorrowedFd<'_>, len: usize) -> io::Result<()> {
        assert!(self.segments.is_some() && at <= self.len && at.is_multiple_of(4096));
        // The last one may be longer than what is left of us.
        let len = len.min(self.len - at);
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        // SAFETY: within our own mapping, which stays; the kernel puts the new pages there in one step, so that threads that read meanwhile find either.
        let got = unsafe { libc::mmap(self.start.as_ptr().add(at).cast(), len, rights, flags, map.as_raw_fd(), 0) };
        if got == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
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

    /// Writes zeros everywhere. No program looks at it.
    pub fn zero(&mut self) {
        let zero = |from: usize, len: usize| {
            // SAFETY: in bounds, as those are that call it.
            unsafe { std::ptr::write_bytes(self.start.as_ptr().add(from), 0, len) }
        };
        match &self.segments {
            Some(segments) => segments.made(self.len).into_iter().for_each(|part| zero(part.start, part.len())),
            None => zero(0, self.len),
        }
    }

    /// An atomic word that programs read and write too.
    pub fn word(&self, at: usize) -> &std::sync::atomic::AtomicU32 {
        assert!(at.is_multiple_of(4) && at + 4 <= self.len);
        // SAFETY: in bounds, aligned (a mapping begins at a page), and as long-lived as `self`.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.start.as_ptr().add(at).cast()) }
    }

    /// All of it in words of 64 bits.
    pub fn longs(&self) -> &[std::sync::atomic::AtomicU64] {
        // SAFETY: in bounds, aligned (a mapping begins at a page), as long-lived as `self`, and only used as atomics.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len / 8) }
    }

    /// The same of 64 bits.
    pub fn long(&self, at: usize) -> &std::sync::atomic::AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= self.len);
        // SAFETY: in bounds, aligned, and as long-lived as `self`.
        unsafe { std::sync::atomic::AtomicU64::from_ptr(self.start.as_ptr().add(at).cast()) }
    }
}

/// As many descriptors as this process may have: on many cores a counter has more segments than the soft limit, which is 1,024 for programs that use select(2).
fn raise_descriptor_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes into `limit`, which is ours, or reads it.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            // Without it, what does not fit is an error that says so.
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// A half of a word that is only used by its halves, in memory's order.
pub(crate) fn half(word: &std::sync::atomic::AtomicU64, half: usize) -> &std::sync::atomic::AtomicU32 {
    assert!(half < 2);
    // SAFETY: within the word, aligned, and as long-lived; programs and other targets use it by its halves too.
    unsafe { std::sync::atomic::AtomicU32::from_ptr(word.as_ptr().cast::<u32>().add(half)) }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrowed from it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len.max(1)) };
    }
}

const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_GDRVINFO: u32 = 0x3;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSTATS: u32 = 0x1d;
const ETH_SS_STATS: u32 = 1;
/// Bytes of a counter's name.
const NAME: usize = 32;
/// More counters than a veth has, about a dozen for each of at most 4,096 queues: the kernel writes as many as there are, without
/// asking for room.
const MOST_COUNTERS: usize = 1 << 16;

/// A veth's counters by name, as `ethtool -S` shows them, in the calling thread's network namespace.
///
/// # Errors
/// `Unsupported` for an interface that is no veth.
pub fn veth_counters(interface: &str) -> io::Result<Vec<(String, u64)>> {
    // `struct ethtool_drvinfo`: command, and the driver's name.
    let mut driver = [0u64; 25];
    driver[0] = ETHTOOL_GDRVINFO.into();
    ethtool(interface, &mut driver)?;
    if text(&bytes(&driver)[4..36]) != "veth" {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "it is no veth"));
    }
    // `struct ethtool_gstrings`: command, set, number, names. `struct ethtool_stats`: command, number, values.
    let mut names = vec![0; 2 + MOST_COUNTERS * NAME / 8];
    names[0] = two(ETHTOOL_GSTRINGS, ETH_SS_STATS);
    ethtool(interface, &mut names)?;
    let n = (first(names[1]) as usize).min(MOST_COUNTERS);
    let mut values = vec![0; 1 + MOST_COUNTERS];
    values[0] = two(ETHTOOL_GSTATS, n as u32);
    ethtool(interface, &mut values)?;
    let names = bytes(&names[..2 + n * NAME / 8]);
    Ok(names[12..].chunks_exact(NAME).map(text).zip(values[1..].iter().copied()).collect())
}

/// Two numbers of 32 bits, as they lie in memory.
fn two(a: u32, b: u32) -> u64 {
    let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (a.to_ne_bytes(), b.to_ne_bytes());
    u64::from_ne_bytes([a0, a1, a2, a3, b0, b1, b2, b3])
}

fn first(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_ne_bytes();
    u32::from_ne_bytes([a, b, c, d])
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Up to the first zero.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|b| *b == 0).next().unwrap_or_default()).into_owned()
}

/// A command of ethtool's, which is in `memory`'s first word. `memory` has room for its answer: the private caller sees to it.
fn ethtool(interface: &str, memory: &mut [u64]) -> io::Result<()> {
    if interface.is_empty() || interface.len() >= libc::IFNAMSIZ || interface.contains('\0') {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: ifreq is integers and a union of integers and pointers; zero is a value of all.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = memory.as_mut_ptr().cast();
    // SAFETY: the kernel reads the command from `memory`, and writes its answer there, for which there is room; both are ours for the
    // call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The privileges that loading and attaching need: bits of <linux/capability.h>, names, and what for. CAP_SYS_ADMIN includes the
/// first two. CAP_SYS_RESOURCE is not among them: memory of maps counts towards the process's control group, not its limit of
/// locked memory (Linux 5.11).
const CAPABILITIES: [(u32, &str, &str); 3] = [
    (39, "CAP_BPF", "loads programs"),
    (38, "CAP_PERFMON", "lets them compare and subtract pointers"),
    (12, "CAP_NET_ADMIN", "attaches them to interfaces"),
];

/// Refuses by name what the thread lacks, before the kernel says no more than "not permitted".
pub fn require_capabilities() -> Result<(), crate::LoadError> {
    // The kernel asks the thread, not the process.
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("CapEff:"));
    match line.and_then(|l| u64::from_str_radix(l.trim(), 16).ok()).and_then(missing_of) {
        Some(missing) => Err(crate::LoadError::Capability(missing)),
        None => Ok(()),
    }
}

fn missing_of(effective: u64) -> Option<String> {
    let has = |bit: u32| effective >> bit & 1 == 1 || (bit >= 38 && effective >> 21 & 1 == 1);
    let missing = CAPABILITIES.iter().filter(|(bit, ..)| !has(*bit)).map(|(_, name, why)| format!("{name} ({why})"));
    let missing: Vec<String> = missing.collect();
    (!missing.is_empty()).then(|| missing.join(" and "))
}

/// The kernel's version and what the distribution adds to it: `6.1.0-18-amd64`.
pub fn kernel_release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().chars().filter(|c| !c.is_control()).take(100).collect()
}

/// The clock of `bpf_ktime_get_ns`.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
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
        let named = |effective: u64| missing_of(effective).unwrap_or_default();
        assert_eq!(missing_of(u64::MAX), None);
        assert_eq!(named(1 << 39 | 1 << 38), "CAP_NET_ADMIN (attaches them to interfaces)");
        assert_eq!(named(1 << 39 | 1 << 12), "CAP_PERFMON (lets them compare and subtract pointers)");
        assert_eq!(named(1 << 38 | 1 << 12), "CAP_BPF (loads programs)");
        assert_eq!(missing_of(1 << 21 | 1 << 12), None);
        let all = named(0);
        assert!(CAPABILITIES.iter().all(|(_, name, _)| all.contains(name)) && !all.contains('\n'), "{all}");
    }
}
