//! The few bpf(2) calls that AF_XDP needs: a map of sockets, a table that a program reads and we write, a small program that
//! redirects to the sockets, and a link that holds the program on an interface for as long as the process lives. No compiler, no
//! raised memlock limit (maps are charged to the memory cgroup since Linux 5.11).
//!
//! `target-xdp` loads by the crate aya. It does not serve here: aya takes programs from ELF objects, as a compiler writes them, and has no way to load
//! instructions that were put together at run time ([`crate::code`]).

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{c_int, c_uint};

use super::check;
use super::ring::Mapping;
use crate::code::Instruction;

const BPF_MAP_CREATE: c_int = 0;
const BPF_MAP_UPDATE_ELEM: c_int = 2;
const BPF_PROG_LOAD: c_int = 5;
const BPF_PROG_TEST_RUN: c_int = 10;
const BPF_LINK_CREATE: c_int = 28;

const BPF_MAP_TYPE_ARRAY: u32 = 2;
const BPF_MAP_TYPE_XSKMAP: u32 = 17;
const BPF_F_MMAPABLE: u32 = 1 << 10;
const BPF_PROG_TYPE_XDP: u32 = 6;
const BPF_ATTACH_TYPE_XDP: u32 = 37;

/// Which hook of the interface runs the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hook {
    /// In the driver, before a socket buffer exists.
    Native,
    /// In the stack, for any driver.
    Generic,
}

#[repr(C)]
#[derive(Default)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
}

#[repr(C)]
struct MapUpdate {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct ProgramLoad {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    ifindex: u32,
    attach_type: u32,
}

#[repr(C)]
struct LinkCreate {
    program: u32,
    ifindex: u32,
    attach_type: u32,
    flags: u32,
}

/// `union bpf_attr`, member `test`.
#[repr(C)]
#[derive(Default)]
struct TestRun {
    program: u32,
    result: u32,
    input_size: u32,
    output_size: u32,
    input: u64,
    output: u64,
    repeat: u32,
    duration_ns: u32,
    context_in_size: u32,
    context_out_size: u32,
    context_in: u64,
    context_out: u64,
}

/// A map from a number to an AF_XDP socket.
pub(crate) fn create_socket_map(sockets: u32) -> io::Result<OwnedFd> {
    create_map(MapCreate { map_type: BPF_MAP_TYPE_XSKMAP, key_size: 4, value_size: 4, max_entries: sockets, flags: 0 })
}

/// A table of `bytes` bytes, zero at first, which programs reach at once and we by the mapping.
pub(crate) fn create_table(bytes: u32) -> io::Result<(OwnedFd, Mapping)> {
    let kind = MapCreate { map_type: BPF_MAP_TYPE_ARRAY, key_size: 4, value_size: bytes, max_entries: 1, flags: BPF_F_MMAPABLE };
    let map = create_map(kind)?;
    let mapping = Mapping::map(bytes as usize, libc::MAP_SHARED, map.as_raw_fd(), 0)?;
    Ok((map, mapping))
}

fn create_map(mut attributes: MapCreate) -> io::Result<OwnedFd> {
    // SAFETY: this is the layout that BPF_MAP_CREATE reads; it holds no pointers.
    let fd = unsafe { bpf(BPF_MAP_CREATE, &mut attributes) }?;
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Puts a socket into the map under its number. The kernel takes it out when the socket closes.
pub(crate) fn add_socket(map: BorrowedFd<'_>, number: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
    let (key, value) = (number, socket.as_raw_fd());
    let mut attributes =
        MapUpdate { map: map.as_raw_fd() as u32, padding: 0, key: (&raw const key) as u64, value: (&raw const value) as u64, flags: 0 };
    // SAFETY: key and value point to 4 bytes each, as the map was created with, alive during the call.
    unsafe { bpf(BPF_MAP_UPDATE_ELEM, &mut attributes) }?;
    Ok(())
}

/// Loads an XDP program.
pub(crate) fn load(instructions: &[Instruction]) -> io::Result<OwnedFd> {
    let license = c"Apache-2.0";
    let mut attributes = ProgramLoad {
        kind: BPF_PROG_TYPE_XDP,
        instruction_count: instructions.len() as u32,
        instructions: instructions.as_ptr() as u64,
        license: license.as_ptr() as u64,
        name: *b"splitplane_xsk\0\0",
        attach_type: BPF_ATTACH_TYPE_XDP,
        ..ProgramLoad::default()
    };
    // The verifier gives up with EAGAIN when a signal is pending.
    const TRIES: u32 = 10;
    let mut tries = 0;
    let fd = loop {
        // SAFETY: the pointers are to the instructions, with their count, and to a C string, all alive during the call.
        match unsafe { bpf(BPF_PROG_LOAD, &mut attributes) } {
            Err(e) if e.raw_os_error() == Some(libc::EAGAIN) && tries < TRIES => tries += 1,
            result => break result?,
        }
    };
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Attaches the program to an interface until the returned link is closed, by us or by the end of the process.
pub(crate) fn attach(program: BorrowedFd<'_>, ifindex: u32, hook: Hook) -> io::Result<OwnedFd> {
    let flags = match hook {
        Hook::Generic => 1 << 1,
        Hook::Native => 1 << 2,
    };
    let mut attributes = LinkCreate { program: program.as_raw_fd() as u32, ifindex, attach_type: BPF_ATTACH_TYPE_XDP, flags };
    // SAFETY: this is the layout that BPF_LINK_CREATE reads; it holds no pointers.
    let fd = unsafe { bpf(BPF_LINK_CREATE, &mut attributes) }?;
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// What a program returns for a frame of at least 14 bytes, without any interface.
pub(crate) fn test_run(program: BorrowedFd<'_>, frame: &[u8]) -> io::Result<u32> {
    let mut attributes = TestRun {
        program: program.as_raw_fd() as u32,
        input_size: frame.len() as u32,
        input: frame.as_ptr() as u64,
        repeat: 1,
        ..TestRun::default()
    };
    // SAFETY: the kernel reads `input_size` bytes of `frame`, which outlives the call, and writes results into `attributes`.
    unsafe { bpf(BPF_PROG_TEST_RUN, &mut attributes) }?;
    Ok(attributes.result)
}

/// Waits until all packets that the kernel is passing to programs now are where the programs sent them: a driver's round, from
/// running the program to filling sockets' rings, is one section that this waits for (RCU).
pub(crate) fn wait_for_packets() -> io::Result<()> {
    const MEMBARRIER_CMD_GLOBAL: c_int = 1;
    // SAFETY: the call takes no pointers.
    check(unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) } as c_int)?;
    Ok(())
}

/// # Safety
/// `attributes` has the layout that `command` reads, and its pointers are valid as that command uses them.
unsafe fn bpf<T>(command: c_int, attributes: &mut T) -> io::Result<c_int> {
    // SAFETY: the caller vouches for the contents; address and size are those of a live structure.
    check(unsafe { libc::syscall(libc::SYS_bpf, command, attributes as *mut T, size_of::<T>() as c_uint) } as c_int)
}
