//! DPDK's functions are called through a shim in C that is compiled with this crate, embedded in it, and loaded on first use.
//!
//! So the binary starts without libdpdk, and reports what is missing only when a DPDK port is configured. DPDK's own
//! libraries are found by the system's loader as the shim's dependencies. `shim/shim.h` has the same declarations in C.

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::Error;

/// Most packets in one call.
pub(crate) const BURST: usize = 64;
/// Of these declarations; the shim's must be the same.
const VERSION: u32 = 1;

#[cfg(libdpdk)]
static OBJECT: Option<&[u8]> = Some(include_bytes!(env!("DPDK_SHIM")));
#[cfg(not(libdpdk))]
static OBJECT: Option<&[u8]> = None;

/// Why there is no shim in this build.
const ABSENT: &str = match option_env!("DPDK_ABSENT") {
    Some(why) => why,
    None => "",
};

/// Release of DPDK that this was built with.
pub const BUILT_WITH: Option<&str> = option_env!("DPDK_VERSION");
/// Folders of its headers, with colons between.
pub(crate) const HEADERS: Option<&str> = option_env!("DPDK_INCLUDE");

/// Queue pair of a device, made and freed by the shim.
#[repr(C)]
pub(crate) struct Queue {
    _opaque: [u8; 0],
}

/// SWX pipeline with its ports, made and freed by the shim.
#[repr(C)]
pub(crate) struct Pipeline {
    _opaque: [u8; 0],
}

/// What a device says of itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Info {
    pub driver: [u8; 32],
    pub mac: [u8; 6],
    pub mtu: u16,
    pub max_rx_queues: u16,
    pub max_tx_queues: u16,
    pub min_mtu: u16,
    pub max_mtu: u16,
}

/// What a device counted, in packets.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stats {
    pub rx_missed: u64,
    pub rx_no_mbuf: u64,
    pub rx_errors: u64,
    pub tx_errors: u64,
}

/// Bytes of a frame; a null pointer if they are in several pieces.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub data: *const u8,
    pub len: u32,
    pub reserved: u32,
}

impl Frame {
    pub(crate) const NONE: Frame = Frame { data: std::ptr::null(), len: 0, reserved: 0 };
}

/// Frames that an SWX pipeline receives in turn: all bytes in a row, and where each begins.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SwxFrames {
    pub bytes: *const u8,
    pub offsets: *const u32,
    pub count: u32,
}

/// Takes a line of DPDK's log: level, text, length.
pub(crate) type LogFn = extern "C" fn(c_int, *const c_char, usize);

/// The functions, in the order of `struct sp_api`.
#[repr(C)]
pub(crate) struct Api {
    pub version: u32,
    pub eal_init: unsafe extern "C" fn(c_int, *mut *mut c_char, LogFn) -> c_int,
    pub thread_register: unsafe extern "C" fn() -> c_int,
    pub thread_unregister: unsafe extern "C" fn(),
    pub error_text: unsafe extern "C" fn(c_int) -> *const c_char,
    pub probe: unsafe extern "C" fn(*const c_char, *const c_char, *mut u16) -> c_int,
    pub describe: unsafe extern "C" fn(u16, *mut Info) -> c_int,
    pub start: unsafe extern "C" fn(u16, u16, u16, u32, *const u8, c_int, *mut *mut Queue) -> c_int,
    pub stop: unsafe extern "C" fn(u16, *mut *mut Queue, u16) -> c_int,
    pub receive: unsafe extern "C" fn(*mut Queue, *mut Frame, u32) -> u32,
    pub copy: unsafe extern "C" fn(*mut Queue, u32, *mut u8, u32) -> u32,
    pub release: unsafe extern "C" fn(*mut Queue),
    pub transmit: unsafe extern "C" fn(*mut Queue, *const Frame, u32) -> u32,
    pub link_is_up: unsafe extern "C" fn(u16) -> c_int,
    pub stats: unsafe extern "C" fn(u16, *mut Stats) -> c_int,
    pub swx_create: unsafe extern "C" fn(*const c_char, *mut *mut Pipeline) -> c_int,
    pub swx_struct: unsafe extern "C" fn(*mut Pipeline, *const c_char, *const *const c_char, *const u32, u32) -> c_int,
    pub swx_header: unsafe extern "C" fn(*mut Pipeline, *const c_char, *const c_char) -> c_int,
    pub swx_metadata: unsafe extern "C" fn(*mut Pipeline, *const c_char) -> c_int,
    pub swx_regarray: unsafe extern "C" fn(*mut Pipeline, *const c_char, u32) -> c_int,
    pub swx_metarray: unsafe extern "C" fn(*mut Pipeline, *const c_char, u32) -> c_int,
    pub swx_action: unsafe extern "C" fn(*mut Pipeline, *const c_char, *const c_char, *const *const c_char, u32) -> c_int,
    pub swx_table: unsafe extern "C" fn(
        *mut Pipeline,
        *const c_char,
        *const *const c_char,
        u32,
        *const *const c_char,
        u32,
        *const c_char,
        u32,
    ) -> c_int,
    pub swx_apply: unsafe extern "C" fn(*mut Pipeline, *const *const c_char, u32) -> c_int,
    pub swx_build: unsafe extern "C" fn(*mut Pipeline) -> c_int,
    pub swx_generate: unsafe extern "C" fn(*const c_char, *const c_char, *mut c_char, u32) -> c_int,
    pub swx_load: unsafe extern "C" fn(*const c_char, *const c_char, *mut *mut Pipeline) -> c_int,
    pub swx_entry: unsafe extern "C" fn(*mut Pipeline, *const c_char, *const c_char) -> c_int,
    pub swx_commit: unsafe extern "C" fn(*mut Pipeline) -> c_int,
    pub swx_meters: unsafe extern "C" fn(*mut Pipeline, *const c_char, u32, u64, u64) -> c_int,
    pub swx_register: unsafe extern "C" fn(*mut Pipeline, *const c_char, u32, *mut u64) -> c_int,
    pub swx_input: unsafe extern "C" fn(*mut Pipeline, SwxFrames),
    pub swx_run: unsafe extern "C" fn(*mut Pipeline, u64, *mut u8, u32, *mut u32, u32) -> u64,
    pub swx_dropped: unsafe extern "C" fn(*mut Pipeline) -> u64,
    pub swx_free: unsafe extern "C" fn(*mut Pipeline),
}

/// The functions, loaded if they were not.
///
/// # Errors
/// [`Error::Absent`] if this was built without libdpdk, or the machine has none.
pub(crate) fn api() -> Result<&'static Api, Error> {
    static LOADED: OnceLock<Result<&'static Api, String>> = OnceLock::new();
    LOADED.get_or_init(load).as_ref().copied().map_err(|why| Error::Absent(why.clone()))
}

fn load() -> Result<&'static Api, String> {
    let bytes = OBJECT.ok_or_else(|| format!("this build has no DPDK: {ABSENT}"))?;
    let failed = |what: &str, e: &dyn std::fmt::Display| format!("cannot load DPDK: {what}: {e}");
    let mut file =
        tempfile::Builder::new().prefix("splitplane-dpdk-").suffix(".so").tempfile().map_err(|e| failed("temporary file", &e))?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(|e| failed("temporary file", &e))?;
    // SAFETY: the object is the one that build.rs made of the sources in shim/; DPDK's libraries, which come with it, run constructors
    // that only register drivers.
    let library = unsafe { Library::open(Some(file.path()), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| explain(&e.to_string()))?;
    // SAFETY: shim.h declares the symbol with this type.
    let functions = unsafe { library.get::<unsafe extern "C" fn() -> *const Api>(b"sp_api\0") }.map_err(|e| failed("sp_api", &e))?;
    // SAFETY: returns a pointer to a static structure of the library, which is never unloaded: see `forget`.
    let api = unsafe { &*functions() };
    assert_eq!(api.version, VERSION, "shim.h and shim.rs differ");
    // DPDK cannot be unloaded: it has threads.
    std::mem::forget(library);
    Ok(api)
}

/// The loader's text names the library that it did not find.
fn explain(text: &str) -> String {
    let built = BUILT_WITH.unwrap_or("unknown");
    match text.split(": ").find(|part| part.starts_with("librte_")) {
        Some(library) => format!(
            "this machine has no DPDK as this build needs it ({library}, release {built}): install libdpdk-dev, or build on this machine"
        ),
        None => format!("cannot load DPDK {built}: {text}"),
    }
}

/// What an error number of DPDK means.
pub(crate) fn error_text(api: &Api, error: c_int) -> String {
    // SAFETY: any number will do; the text is a static or thread-local string, which is copied at once.
    unsafe { CStr::from_ptr((api.error_text)(error)) }.to_string_lossy().into_owned()
}
