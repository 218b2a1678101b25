//! How fast is the other P4 on x86? DPDK's SWX pipeline with the core of a UPF, as a contestant in benchmarks.
//!
//! The programs, [`DOWNLINK`] and [`UPLINK`], look the session up exactly, count packets and bytes for each session, and put the tunnel on or take it
//! off; with a two-rate meter for each session if requested. They do less than `p4/upf.p4`: no routes, TTL, checksum verification, fragments
//! or filters. Frames come from memory and go to memory, a copy in on both sides, as with the memory ports of `pktio`.
//!
//! SWX interprets the program, or runs code that it generates; the latter needs a header that Debian does not package: see [`generate`].
//! Sessions are added one by one, and DPDK looks through all before: 64,000 take half a minute.
#![allow(unsafe_code)]

pub mod generate;
pub mod load;
pub mod spec;

use std::ffi::{CString, c_char, c_int};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use load::{Expectation, Session, frames, sessions};

use crate::Error;
use crate::shim::{Api, Pipeline, SwxFrames, api, error_text};
use crate::{eal, log};

/// Program of the downlink, with places to fill in.
pub const DOWNLINK: &str = include_str!("downlink.spec");
/// Program of the uplink.
pub const UPLINK: &str = include_str!("uplink.spec");

/// Direction of user packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the UE: the tunnel is put on.
    Downlink,
    /// Towards the network: the tunnel is taken off.
    Uplink,
}

/// What runs the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// DPDK's interpreter.
    Interpreted,
    /// Code that DPDK generated for it, compiled for this machine.
    Generated,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(if *self == Mode::Interpreted { "interpreted" } else { "generated code" })
    }
}

/// Most sessions: adding them takes time with the square of their number.
pub const MOST_SESSIONS: usize = 1 << 17;
/// Longest frame that goes in.
const LONGEST: usize = 2048;
/// Bytes kept for a frame that comes out.
const KEPT: usize = 2304;
/// Packets between two looks at the clock.
const ROUND: u64 = 8192;
/// Rate of a session's meter: none is ever exceeded.
const RATE_BYTES_PER_S: u64 = 1 << 40;
const BURST_BYTES: u64 = 1 << 40;

/// A pipeline with its sessions and its frames.
pub struct Swx {
    api: &'static Api,
    pipeline: NonNull<Pipeline>,
    mode: Mode,
    expectation: Expectation,
    sessions: Vec<Session>,
    /// All in a row, and where each begins.
    bytes: Vec<u8>,
    offsets: Vec<u32>,
}

// SAFETY: the pipeline is used through `&mut self` only, and DPDK binds it to no thread.
unsafe impl Send for Swx {}

impl Swx {
    /// A pipeline for `direction` with these sessions, interpreted, or generated if the environment names the header
    /// ([`generate::HEADERS`]). DPDK must be [started](eal::start), with about 1 KiB of memory for a session.
    ///
    /// # Errors
    /// [`Error::Config`] for too many or equal sessions; [`Error::Device`] if DPDK refuses something.
    pub fn new(direction: Direction, sessions: &[Session], meter: bool) -> Result<Swx, Error> {
        let headers = generate::headers()?;
        Swx::with_headers(direction, sessions, meter, headers.as_deref())
    }

    /// The same, generated if `headers` is the folder with the header.
    ///
    /// # Errors
    /// As [`Swx::new`].
    pub fn with_headers(direction: Direction, sessions: &[Session], meter: bool, headers: Option<&std::path::Path>) -> Result<Swx, Error> {
        // Names are for the whole process.
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        if sessions.is_empty() || sessions.len() > MOST_SESSIONS {
            return Err(Error::Config(format!("SWX takes 1 to {MOST_SESSIONS} sessions, not {}", sessions.len())));
        }
        let api = api()?;
        eal::require_started()?;
        eal::register_thread();
        let _building = eal::open_devices();
        log::forget();
        let name = text(&format!("splitplane{}", SERIAL.fetch_add(1, Ordering::Relaxed)))?;
        let size = (sessions.len() as u32).next_power_of_two().max(2);
        let spec = spec::fill(if direction == Direction::Downlink { DOWNLINK } else { UPLINK }, size, meter);
        let mut pipeline = std::ptr::null_mut();
        let (mode, error) = match headers {
            None => (Mode::Interpreted, configure(api, &name, &spec, &mut pipeline)?),
            Some(headers) => {
                let work = tempfile::tempdir().map_err(|e| Error::Device(format!("temporary folder: {e}")))?;
                let library = generate::library(api, &spec, headers, work.path())?;
                let library = text(&library.display().to_string())?;
                // SAFETY: strings of C and a place for the answer, which outlive the call.
                (Mode::Generated, unsafe { (api.swx_load)(name.as_ptr(), library.as_ptr(), &mut pipeline) })
            }
        };
        let Some(pipeline) = NonNull::new(pipeline).filter(|_| error == 0) else {
            return Err(refused(api, &format!("the {mode} pipeline"), error));
        };
        let expectation = Expectation::new(direction, sessions);
        let swx = Swx { api, pipeline, mode, expectation, sessions: sessions.to_vec(), bytes: Vec::new(), offsets: vec![0] };
        swx.install(direction, meter.then_some(size))?;
        Ok(swx)
    }

    fn install(&self, direction: Direction, meters: Option<u32>) -> Result<(), Error> {
        let (api, pipeline) = (self.api, self.pipeline.as_ptr());
        let table = text("sessions")?;
        for (number, session) in self.sessions.iter().enumerate() {
            let mac = |mac: [u8; 6]| mac.iter().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
            let macs = format!("mac_destination {:#x} mac_source {:#x}", mac(session.macs.0), mac(session.macs.1));
            let entry = match direction {
                Direction::Downlink => format!(
                    "match {:#x} action encapsulate session {number} {macs} outer_source {:#x} outer_destination {:#x} base_checksum {:#x} teid {:#x} qfi {}",
                    u32::from(session.ue),
                    u32::from(session.upf),
                    u32::from(session.gnb),
                    load::base_checksum(session),
                    session.downlink_teid,
                    session.qfi
                ),
                Direction::Uplink => format!(
                    "match {:#x} action decapsulate session {number} {macs} ue {:#x} qfi {}",
                    session.uplink_teid,
                    u32::from(session.ue),
                    session.qfi
                ),
            };
            let entry = text(&entry)?;
            // SAFETY: strings of C that outlive the call; the pipeline is ours.
            let error = unsafe { (api.swx_entry)(pipeline, table.as_ptr(), entry.as_ptr()) };
            if error != 0 {
                return Err(refused(api, &format!("session {number}"), error));
            }
        }
        // SAFETY: the pipeline is ours.
        let error = unsafe { (api.swx_commit)(pipeline) };
        if error != 0 {
            return Err(refused(api, "the sessions together", error));
        }
        if let Some(count) = meters {
            let array = text("rate")?;
            // SAFETY: a string of C that outlives the call.
            let error = unsafe { (api.swx_meters)(pipeline, array.as_ptr(), count, RATE_BYTES_PER_S, BURST_BYTES) };
            if error != 0 {
                return Err(refused(api, "the meters", error));
            }
        }
        Ok(())
    }

    /// What runs it.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Frames that it receives in turn from now on.
    ///
    /// # Errors
    /// [`Error::Config`] if there is none, or one is longer than 2048 bytes.
    pub fn set_frames(&mut self, frames: &[Vec<u8>]) -> Result<(), Error> {
        let all: usize = frames.iter().map(Vec::len).sum();
        if frames.is_empty() || frames.iter().any(|f| f.is_empty() || f.len() > LONGEST) || u32::try_from(all).is_err() {
            return Err(Error::Config(format!("SWX takes frames of 1 to {LONGEST} bytes, at least one")));
        }
        self.bytes = frames.concat();
        self.offsets = vec![0];
        let mut end = 0;
        self.offsets.extend(frames.iter().map(|frame| {
            end += frame.len() as u32;
            end
        }));
        self.rewind();
        Ok(())
    }

    fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    fn frame(&self, i: usize) -> &[u8] {
        &self.bytes[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    fn rewind(&mut self) {
        let frames = SwxFrames { bytes: self.bytes.as_ptr(), offsets: self.offsets.as_ptr(), count: self.count() as u32 };
        // SAFETY: the vectors live as long as the pipeline, and are exchanged only together with this call.
        unsafe { (self.api.swx_input)(self.pipeline.as_ptr(), frames) }
    }

    /// Runs every frame once, and compares what comes out, byte by byte and in order, with what must; and the sessions' counters with what went
    /// through. How many frames came out.
    ///
    /// # Errors
    /// [`Error::Device`] with the first difference.
    pub fn verify(&mut self) -> Result<usize, Error> {
        const AT_ONCE: usize = 1024;
        let mode = self.mode;
        let differs = |what: String| Err(Error::Device(format!("SWX, {mode}: {what}")));
        let before = self.counters()?;
        let (mut kept, mut lengths) = (vec![0u8; AT_ONCE * KEPT], vec![0u32; AT_ONCE]);
        let mut expected = vec![(0u64, 0u64); self.sessions.len()];
        let number: std::collections::HashMap<u32, usize> =
            self.sessions.iter().enumerate().map(|(number, session)| (session.uplink_teid, number)).collect();
        self.rewind();
        let mut total = 0;
        for first in (0..self.count()).step_by(AT_ONCE) {
            let inputs = first..self.count().min(first + AT_ONCE);
            // SAFETY: room for as many frames and lengths as packets go in; the frames are as `rewind` said.
            let out = unsafe {
                let (room, most) = (KEPT as u32, AT_ONCE as u32);
                (self.api.swx_run)(self.pipeline.as_ptr(), inputs.len() as u64, kept.as_mut_ptr(), room, lengths.as_mut_ptr(), most)
            } as usize;
            let mut outputs = (0..out).map(|i| &kept[i * KEPT..][..(lengths[i] as usize).min(KEPT)]);
            for i in inputs {
                let Some(right) = self.expectation.output(self.frame(i)) else { continue };
                let Some(output) = outputs.next() else { return differs(format!("frame {i} did not come out")) };
                if output != right {
                    return differs(format!("frame {i} came out as {output:02x?}, not {right:02x?}"));
                }
                let session = self.expectation.session(self.frame(i)).and_then(|session| number.get(&session.uplink_teid));
                if let Some(&session) = session {
                    // The user's IP packet is counted.
                    let user = if self.expectation.is_downlink() { self.frame(i).len() } else { right.len() } - 14;
                    expected[session].0 += 1;
                    expected[session].1 += user as u64;
                }
                total += 1;
            }
            if outputs.next().is_some() {
                return differs(format!("more than {total} frames came out"));
            }
        }
        let after = self.counters()?;
        for (session, ((before, after), expected)) in before.iter().zip(&after).zip(&expected).enumerate() {
            if (after.0 - before.0, after.1 - before.1) != *expected {
                return differs(format!("session {session} counted {before:?} to {after:?}, not {expected:?} more"));
            }
        }
        Ok(total)
    }

    /// Packets and bytes of each session.
    ///
    /// # Errors
    /// [`Error::Device`] if DPDK does not tell.
    pub fn counters(&self) -> Result<Vec<(u64, u64)>, Error> {
        let (packets, bytes) = (text("packets")?, text("bytes")?);
        let read = |array: &CString, index: usize| {
            let mut value = 0;
            // SAFETY: a string of C and a place for the answer, which outlive the call.
            match unsafe { (self.api.swx_register)(self.pipeline.as_ptr(), array.as_ptr(), index as u32, &mut value) } {
                0 => Ok(value),
                error => Err(refused(self.api, "a counter", error)),
            }
        };
        (0..self.sessions.len()).map(|i| Ok((read(&packets, i)?, read(&bytes, i)?))).collect()
    }

    /// Runs the frames in turn for `length` of this thread's time on a processor: packets that came out, and the time that they took.
    ///
    /// # Errors
    /// [`Error::Config`] without frames; [`Error::Device`] if a packet was dropped: the figure would be of drops.
    pub fn round(&mut self, length: Duration) -> Result<(u64, Duration), Error> {
        if self.count() == 0 {
            return Err(Error::Config("SWX has no frames".into()));
        }
        eal::register_thread();
        let begin = thread_time();
        let mut done = 0;
        while thread_time() - begin < length {
            // SAFETY: nothing is kept; the frames are as `rewind` said.
            let out = unsafe { (self.api.swx_run)(self.pipeline.as_ptr(), ROUND, std::ptr::null_mut(), 0, std::ptr::null_mut(), 0) };
            if out != ROUND {
                return Err(Error::Device(format!("SWX, {}: {} of {ROUND} packets did not come out", self.mode, ROUND - out)));
            }
            done += out;
        }
        Ok((done, thread_time() - begin))
    }
}

/// Time that this thread has had on a processor.
pub fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place for the answer that outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

impl Drop for Swx {
    fn drop(&mut self) {
        let _building = eal::open_devices();
        // SAFETY: the shim's own pointer, freed once.
        unsafe { (self.api.swx_free)(self.pipeline.as_ptr()) }
    }
}

/// Tells DPDK of a specification, call by call; 0, or what it refused with.
fn configure(api: &Api, name: &CString, filled: &str, out: &mut *mut Pipeline) -> Result<c_int, Error> {
    let parts = spec::parse(filled).map_err(|e| Error::Device(format!("SWX's specification: {e}")))?;
    let mut pipeline = std::ptr::null_mut();
    // SAFETY: a string of C and a place for the answer, which outlive the call.
    let error = unsafe { (api.swx_create)(name.as_ptr(), &mut pipeline) };
    if error != 0 {
        return Ok(error);
    }
    let result = tell(api, pipeline, &parts);
    match result {
        Ok(()) => *out = pipeline,
        // SAFETY: the shim's own pointer, freed once.
        Err(_) => unsafe { (api.swx_free)(pipeline) },
    }
    result.map(|()| 0)
}

fn tell(api: &Api, pipeline: *mut Pipeline, parts: &spec::Spec) -> Result<(), Error> {
    let done = |what: &str, error: c_int| if error == 0 { Ok(()) } else { Err(refused(api, what, error)) };
    // DPDK copies what it keeps.
    let call = |what: &str, f: &dyn Fn() -> c_int| done(what, f());
    for (name, fields) in &parts.structs {
        let (c_name, names) = (text(name)?, Texts::new(fields.iter().map(|(name, _)| name.as_str()))?);
        let bits: Vec<u32> = fields.iter().map(|(_, bits)| *bits).collect();
        // SAFETY: a live pipeline; the name and the lists, of one length, outlive the call.
        call(name, &|| unsafe { (api.swx_struct)(pipeline, c_name.as_ptr(), names.as_ptr(), bits.as_ptr(), names.len()) })?;
    }
    for (name, of) in &parts.headers {
        let (c_name, of) = (text(name)?, text(of)?);
        // SAFETY: a live pipeline; both names outlive the call.
        call(name, &|| unsafe { (api.swx_header)(pipeline, c_name.as_ptr(), of.as_ptr()) })?;
    }
    let metadata = text(&parts.metadata)?;
    // SAFETY: a live pipeline; the name outlives the call.
    call("metadata", &|| unsafe { (api.swx_metadata)(pipeline, metadata.as_ptr()) })?;
    for (name, size) in &parts.regarrays {
        let c_name = text(name)?;
        // SAFETY: a live pipeline; the name outlives the call.
        call(name, &|| unsafe { (api.swx_regarray)(pipeline, c_name.as_ptr(), *size) })?;
    }
    for (name, size) in &parts.metarrays {
        let c_name = text(name)?;
        // SAFETY: a live pipeline; the name outlives the call.
        call(name, &|| unsafe { (api.swx_metarray)(pipeline, c_name.as_ptr(), *size) })?;
    }
    for (name, args, lines) in &parts.actions {
        let (c_name, lines) = (text(name)?, Texts::new(lines.iter().map(String::as_str))?);
        let args = args.as_deref().map(text).transpose()?;
        let args = args.as_ref().map_or(std::ptr::null(), |args| args.as_ptr());
        // SAFETY: a live pipeline; the names, of which the arguments' may be null, and the list with its length outlive the call.
        call(name, &|| unsafe { (api.swx_action)(pipeline, c_name.as_ptr(), args, lines.as_ptr(), lines.len()) })?;
    }
    for table in &parts.tables {
        let (name, default_action) = (text(&table.name)?, text(&table.default_action)?);
        let (keys, actions) = (Texts::new(table.keys.iter().map(String::as_str))?, Texts::new(table.actions.iter().map(String::as_str))?);
        // SAFETY: a live pipeline; the names and both lists outlive the call, and each list comes with its length.
        call(&table.name, &|| unsafe {
            let (k, n_k, a, n_a) = (keys.as_ptr(), keys.len(), actions.as_ptr(), actions.len());
            (api.swx_table)(pipeline, name.as_ptr(), k, n_k, a, n_a, default_action.as_ptr(), table.size)
        })?;
    }
    let lines = Texts::new(parts.apply.iter().map(String::as_str))?;
    // SAFETY: a live pipeline; the list outlives the call, and comes with its length.
    call("apply", &|| unsafe { (api.swx_apply)(pipeline, lines.as_ptr(), lines.len()) })?;
    // SAFETY: a live pipeline.
    call("the whole", &|| unsafe { (api.swx_build)(pipeline) })
}

/// A list of strings of C.
struct Texts {
    _owned: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Texts {
    fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Texts, Error> {
        let owned: Vec<CString> = texts.map(text).collect::<Result<_, _>>()?;
        let pointers = owned.iter().map(|text| text.as_ptr()).collect();
        Ok(Texts { _owned: owned, pointers })
    }

    fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }

    fn len(&self) -> u32 {
        self.pointers.len() as u32
    }
}

fn text(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::Config("a name has a zero byte".into()))
}

fn refused(api: &Api, what: &str, error: c_int) -> Error {
    Error::Device(format!("SWX refuses {what}: {}{}", error_text(api, error), log::complaints()))
}
