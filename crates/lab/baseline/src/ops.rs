//! The functions of `limit.c`, those in this crate and those of the object on `rte_hash`, of `gnb.c` and of `whole.c`.

use crate::LimitError;
use base::Verdict;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

/// A packet's buffer, and its window in it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct View {
    /// The whole buffer.
    pub buffer: *mut u8,
    /// First byte of the packet.
    pub start: u32,
    /// Bytes of the packet.
    pub length: u32,
    /// Port it came in by.
    pub port: u32,
    /// Bytes of the buffer.
    pub capacity: u32,
}

impl View {
    /// To be filled in.
    pub(crate) const EMPTY: View = View { buffer: std::ptr::null_mut(), start: 0, length: 0, port: 0, capacity: 0 };
}

/// `struct pdr`.
#[repr(C)]
#[allow(missing_docs)] // named as in p4/include/session.p4
pub(crate) struct CPdr {
    pub number: u32,
    pub usage: u32,
    pub meter: u32,
    pub profile: u32,
    pub ue_ipv4: u32,
    pub teid: u32,
    pub tunnel_dst: u32,
    pub tunnel_src: u32,
    pub out_vrf: u16,
    pub disposition: u8,
    pub flags: u8,
    pub encapsulation: u8,
    pub qos: u8,
    pub tos: u8,
    pub unused: u8,
}

/// `OPS`, in its order.
#[derive(Clone, Copy)]
#[repr(C)]
#[allow(missing_docs)] // described there
pub(crate) struct Ops {
    pub runs_here: unsafe extern "C" fn() -> c_int,
    pub create: unsafe extern "C" fn(u64, u64, *mut c_char, u32) -> *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub add_station: unsafe extern "C" fn(*mut c_void, u16, u64, u16, u16) -> c_int,
    pub add_local: unsafe extern "C" fn(*mut c_void, u16, u32, u8) -> c_int,
    pub set_nexthop: unsafe extern "C" fn(*mut c_void, u16, u8, u16, u64, u64, u16),
    pub clear_routes: unsafe extern "C" fn(*mut c_void),
    pub add_route: unsafe extern "C" fn(*mut c_void, u16, u32, u32, u16) -> c_int,
    pub set_profile: unsafe extern "C" fn(*mut c_void, u32, u64, u64, u64, u64, u64),
    pub add_pdr: unsafe extern "C" fn(*mut c_void, u8, u32, u32, *const CPdr) -> c_int,
    pub count: unsafe extern "C" fn(*mut c_void, u32, *mut u64),
    pub process: unsafe extern "C" fn(*mut c_void, *mut View, *mut Verdict, u32, u64),
    pub page_bytes: unsafe extern "C" fn(*mut c_void) -> u64,
}

/// `gnb_ops`, in its order.
#[derive(Clone, Copy)]
#[repr(C)]
#[allow(missing_docs)] // described there
pub(crate) struct GnbOps {
    pub runs_here: unsafe extern "C" fn() -> c_int,
    pub create: unsafe extern "C" fn(u64, u64) -> *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub add: unsafe extern "C" fn(*mut c_void, u32, u8, u32, u8, u8, u32) -> c_int,
    pub process: unsafe extern "C" fn(*mut c_void, *mut View, *mut Verdict, u32),
}

/// `struct facts` of `whole.c`.
#[repr(C)]
#[allow(missing_docs)] // named as in p4/gnb/bearer.p4
pub(crate) struct CFacts {
    pub bearer: u32,
    pub count_base: u32,
    pub upf: u32,
    pub ue: u16,
    pub pdu_bytes: u16,
    pub peer: u16,
    pub drb: u8,
    pub formats: u8,
}

/// `whole_ops`, in its order.
#[derive(Clone, Copy)]
#[repr(C)]
#[allow(missing_docs)] // described there
pub(crate) struct WholeOps {
    pub runs_here: unsafe extern "C" fn() -> c_int,
    pub create: unsafe extern "C" fn(u64, u64, u32) -> *mut c_void,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub add_station: unsafe extern "C" fn(*mut c_void, u16, u64, u32) -> c_int,
    pub add_peer: unsafe extern "C" fn(*mut c_void, u16, u16, u64, u64, u32, u32, u16, u16) -> c_int,
    pub add_flow: unsafe extern "C" fn(*mut c_void, u32, u8, *const CFacts) -> c_int,
    pub add_ue: unsafe extern "C" fn(*mut c_void, u16, u8, u32, u8, u32, u16) -> c_int,
    pub count: unsafe extern "C" fn(*mut c_void, u32, *mut u64),
    pub kept: unsafe extern "C" fn(*mut c_void, u32, u32, *mut u8, u32) -> u32,
    pub process: unsafe extern "C" fn(*mut c_void, *mut View, *mut Verdict, u32),
}

/// The functions of that name, which were compiled into this crate.
macro_rules! linked {
    ($name:ident: $ops:ty) => {{
        #[cfg(limit)]
        {
            unsafe extern "C" {
                static $name: $ops;
            }
            // SAFETY: a constant of that type.
            Ok(unsafe { $name })
        }
        #[cfg(not(limit))]
        Err(LimitError::Absent("the hand-written baseline is for x86-64 only".into()))
    }};
}

/// Those of `gnb.c`.
pub(crate) fn gnb() -> Result<GnbOps, LimitError> {
    linked!(gnb_ops: GnbOps)
}

/// Those of `whole.c`.
pub(crate) fn whole() -> Result<WholeOps, LimitError> {
    linked!(whole_ops: WholeOps)
}

/// Those in this crate.
pub(crate) fn built_in() -> Result<Ops, LimitError> {
    linked!(limit_ops: Ops)
}

/// Those of the object that was built where DPDK was installed. It stays loaded: DPDK has threads of its own.
pub(crate) fn on_rte_hash() -> Result<Ops, LimitError> {
    static LOADED: OnceLock<Result<Ops, LimitError>> = OnceLock::new();
    LOADED.get_or_init(load_rte_hash).clone()
}

fn load_rte_hash() -> Result<Ops, LimitError> {
    // Carried along: a path of the machine that built it is none of the one that runs it.
    const OBJECT: &[u8] = include_bytes!(env!("BASELINE_RTE_HASH"));
    if OBJECT.is_empty() {
        return Err(LimitError::Absent("this build has no DPDK: install libdpdk-dev and pkg-config, and build again".into()));
    }
    let absent = |e: libloading::Error| LimitError::Absent(format!("the baseline on rte_hash does not load: {e}"));
    let no_file = |e: std::io::Error| LimitError::Absent(format!("the baseline on rte_hash is not written: {e}"));
    let mut file = tempfile::NamedTempFile::new().map_err(no_file)?;
    std::io::Write::write_all(&mut file, OBJECT).map_err(no_file)?;
    // SAFETY: our own object; it and the libraries of DPDK that it needs may run their initialisers.
    let library = unsafe { libloading::Library::new(file.path()) }.map_err(absent)?;
    // SAFETY: the object has that symbol with that type.
    let ops = unsafe { library.get::<*const Ops>(b"limit_rte_hash_ops\0").map(|symbol| **symbol) };
    std::mem::forget(library);
    ops.map_err(absent)
}
