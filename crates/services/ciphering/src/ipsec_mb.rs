//! How is it done fast, with libipsec-mb? Many packets at a time in the lanes of the processor's vectors.
//!
//! A burst goes through in up to three passes: MAC-Is that are sent, ciphers, MAC-Is that are received. In each, packets of one algorithm
//! are handed over together, whatever their keys. What has no MAC-I becomes an operation of the library when it is added to the burst. A short message of NEA2 is
//! ciphered there and then, by the shim: the library's job for one takes longer than its AES. The library is called by a shim in C that is compiled with this crate, carried in it,
//! and loaded when it is first needed: a build without the library, or a machine without it, has the portable implementation.
//! Which of the library's calls is taken when, the shim says: `shim/ipsec_mb.c`.

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;
use std::marker::PhantomData;
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::iv::Inputs;
use crate::job::{Error, Fault, Job, MAC_LEN, Outcome, Step, split, verdict};
use crate::key::{Form, KEY_LEN, Key, Nea, Nia};
use crate::portable;

/// Of these declarations; the shim's must be the same.
const VERSION: u32 = 2;
/// Longest message of ZUC's lanes: 65,504 bits. A longer one is done by the portable implementation.
const ZUC_LONGEST: usize = 8188;

#[cfg(ipsec_mb)]
static OBJECT: Option<&[u8]> = Some(include_bytes!(env!("IPSEC_MB_SHIM")));
#[cfg(not(ipsec_mb))]
static OBJECT: Option<&[u8]> = None;

/// Why there is no shim in this build.
const ABSENT: &str = match option_env!("IPSEC_MB_ABSENT") {
    Some(why) => why,
    None => "",
};

/// The library's manager, made and freed by the shim.
#[repr(C)]
struct Manager {
    _opaque: [u8; 0],
}

/// `struct sp_key`: a key as the library takes it, wiped on drop.
#[repr(C, align(64))]
pub(crate) struct Expanded([u8; 256]);

impl Drop for Expanded {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Expanded {}

/// `struct sp_op`: one packet's part in one algorithm.
#[repr(C, align(16))]
struct Op {
    data: *mut u8,
    key: *const Expanded,
    /// 16 bytes as they lie in memory. As words, since bytes that are put together and then moved have to be waited for: 4 ns of each packet.
    iv: [u64; 2],
    len: u32,
    mac: [u8; MAC_LEN],
    done: u32,
    job: u32,
}

/// `struct sp_api`.
#[repr(C)]
struct Api {
    version: u32,
    nea2_short_len: u32,
    library: unsafe extern "C" fn() -> *const c_char,
    open: unsafe extern "C" fn(*mut u32) -> *mut Manager,
    close: unsafe extern "C" fn(*mut Manager),
    prepare: unsafe extern "C" fn(*mut Manager, u32, *const u8, *mut Expanded) -> c_int,
    run: unsafe extern "C" fn(*mut Manager, u32, *mut Op, u32) -> u32,
    nea2_short: Option<unsafe extern "C" fn(*const Expanded, u64, *mut u8, u32)>,
    forget: Option<unsafe extern "C" fn()>,
}

/// `enum sp_algorithm`; `None` for the null algorithms.
fn cipher_number(algorithm: Nea) -> Option<usize> {
    match algorithm {
        Nea::Nea0 => None,
        Nea::Nea1 => Some(1),
        Nea::Nea2 => Some(2),
        Nea::Nea3 => Some(3),
    }
}

fn integrity_number(algorithm: Nia) -> Option<usize> {
    match algorithm {
        Nia::Nia0 => None,
        Nia::Nia1 => Some(4),
        Nia::Nia2 => Some(5),
        Nia::Nia3 => Some(6),
    }
}

/// A manager of the library, and room for what it is handed.
pub(crate) struct IpsecMb {
    api: &'static Api,
    manager: *mut Manager,
    name: String,
    /// Operations of a pass by algorithm.
    groups: [Group; 7],
}

/// Operations of one algorithm.
#[derive(Default)]
struct Group {
    ops: Vec<Op>,
    /// Some operation is shorter than one before it.
    unsorted: bool,
}

impl Group {
    #[inline]
    fn push(&mut self, op: Op) {
        self.unsorted |= self.ops.last().is_some_and(|last| last.len > op.len);
        self.ops.push(op);
    }
}

// SAFETY: the manager has no ties to a thread; pointers in `groups` are used only by `run` of the burst that borrows what they lead to: `begin` forgets all
// others.
unsafe impl Send for IpsecMb {}

impl IpsecMb {
    pub(crate) fn open() -> Result<IpsecMb, Error> {
        let api = api()?;
        let mut arch = 0;
        // SAFETY: `arch` is written once.
        let manager = unsafe { (api.open)(&mut arch) };
        if manager.is_null() {
            return Err(Error::Absent("libipsec-mb does not support this processor".to_owned()));
        }
        // SAFETY: a static string of the library.
        let version = unsafe { CStr::from_ptr((api.library)()) }.to_string_lossy();
        let version = version.trim_start_matches('v');
        // IMB_ARCH, in its order.
        let arch = ["none", "no AES-NI", "SSE", "AVX", "AVX2", "AVX-512"].get(arch as usize).unwrap_or(&"newer than known");
        Ok(IpsecMb { api, manager, name: format!("ipsec-mb {version} ({arch})"), groups: Default::default() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn cipher_key(&self, algorithm: Nea, bytes: &[u8; KEY_LEN]) -> Form {
        self.prepare(cipher_number(algorithm), bytes)
    }

    pub(crate) fn integrity_key(&self, algorithm: Nia, bytes: &[u8; KEY_LEN]) -> Form {
        self.prepare(integrity_number(algorithm), bytes)
    }

    /// A null algorithm's key stays zeros.
    fn prepare(&self, algorithm: Option<usize>, bytes: &[u8; KEY_LEN]) -> Form {
        let mut expanded = Box::new(Expanded([0; 256]));
        if let Some(algorithm) = algorithm {
            // SAFETY: 16 bytes are read, `struct sp_key` is written, whose size and alignment `Expanded` has. The manager is not changed,
            // and only its owner calls.
            let failed = unsafe { (self.api.prepare)(self.manager, algorithm as u32, bytes.as_ptr(), &mut *expanded) };
            assert_eq!(failed, 0, "the library refused a key of 16 bytes");
        }
        Form::IpsecMb(expanded)
    }

    /// Forgets what a burst before has left: it was not run.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.groups.iter_mut().for_each(|group| group.ops.clear());
    }

    /// Whether the job's keys are in the library's form.
    #[inline]
    pub(crate) fn has_keys_of(job: &Job<'_>) -> bool {
        let ours = |form: Option<&Form>| form.is_none_or(|form| matches!(form, Form::IpsecMb(_)));
        ours(job.cipher.map(|key| &key.form)) && ours(job.integrity.map(|key| &key.form))
    }

    /// Ciphers bytes whose length was checked, or notes it for [`IpsecMb::run`], which names it by `at` if the library fails. The caller sees to it that data and
    /// key stay borrowed until then.
    #[inline(always)]
    pub(crate) fn cipher(&mut self, at: u32, key: &Key<Nea>, inputs: Inputs, data: &mut [u8]) -> Result<(), Fault> {
        let Key { algorithm, form } = key;
        let Form::IpsecMb(key) = form else { return Err(Fault::Key) };
        match self.api.nea2_short {
            Some(nea2) if *algorithm == Nea::Nea2 && data.len() <= self.api.nea2_short_len as usize => {
                // SAFETY: `data` is so long, and the key was prepared for AES.
                unsafe { nea2(&**key, inputs.half_word().to_be(), data.as_mut_ptr(), data.len() as u32) }
            }
            _ => self.note(at, *algorithm, key, inputs, data),
        }
        Ok(())
    }

    /// Not inlined, as the caller has little else to do.
    #[inline(never)]
    fn note(&mut self, at: u32, algorithm: Nea, key: &Expanded, inputs: Inputs, data: &mut [u8]) {
        let Some(number) = cipher_number(algorithm).filter(|_| !data.is_empty()) else { return };
        if algorithm == Nea::Nea3 && data.len() > ZUC_LONGEST {
            return zuc(key).apply(inputs, data);
        }
        let iv = words(if algorithm == Nea::Nea2 { inputs.ctr() } else { inputs.f8() });
        self.groups[number].push(op(data, key, iv, at));
    }

    /// Runs the ciphers that were noted, and jobs that have MAC-Is with theirs. What is not done is added to `failed`, by its number, perhaps twice.
    pub(crate) fn run(&mut self, protected: &mut [(u32, Job<'_>)], failed: &mut Vec<(u32, Outcome)>) {
        if !protected.is_empty() {
            self.macs(protected, Step::Protect);
            for (at, job) in &mut *protected {
                if let (Outcome::Pending, Some(key)) = (job.outcome, job.cipher) {
                    // The key is of this implementation: that was looked at.
                    let _ = self.cipher(*at, key, Inputs::of(job), &mut job.data[job.clear..]);
                }
            }
        }
        for number in 1..=3 {
            let all = self.run_group(number);
            let ops = &mut self.groups[number].ops;
            if !all {
                failed.extend(ops.iter().filter(|op| op.done != 1).map(|op| (op.job, Outcome::Refused(Fault::Library))));
            }
            ops.clear();
        }
        if let Some(forget) = self.api.forget {
            // SAFETY: it is there where the processor has what it needs; it changes registers that no caller relies on.
            unsafe { forget() }
        }
        if protected.is_empty() {
            return;
        }
        for (at, job) in &mut *protected {
            if let Some((_, outcome)) = failed.iter().find(|(failed, _)| failed == at) {
                job.outcome = *outcome;
            }
        }
        self.macs(protected, Step::Recover);
        let outcomes = protected.iter().map(|(at, job)| (*at, job.outcome));
        failed.extend(outcomes.filter(|(_, outcome)| !matches!(outcome, Outcome::Pending | Outcome::Done)));
    }

    fn macs(&mut self, jobs: &mut [(u32, Job<'_>)], step: Step) {
        for (i, (_, job)) in jobs.iter_mut().enumerate() {
            let Some(Key { algorithm, form: Form::IpsecMb(key) }) = job.integrity else { continue };
            if job.outcome != Outcome::Pending || job.step != step {
                continue;
            }
            let inputs = Inputs::of(job);
            let len = job.data.len() - MAC_LEN;
            match integrity_number(*algorithm) {
                None => settle(job, [0; MAC_LEN]),
                Some(_) if *algorithm == Nia::Nia3 && len > ZUC_LONGEST => {
                    let mac = zuc(key).mac(inputs, &job.data[..len]);
                    settle(job, mac);
                }
                Some(number) => {
                    let iv = words(if *algorithm == Nia::Nia2 { inputs.ctr() } else { inputs.f9() });
                    self.groups[number].push(op(&mut job.data[..len], key, iv, i as u32));
                }
            }
        }
        for number in 4..=6 {
            self.run_group(number);
            for op in self.groups[number].ops.drain(..) {
                let job = &mut jobs[op.job as usize].1;
                if op.done == 1 { settle(job, op.mac) } else { job.outcome = Outcome::Refused(Fault::Library) }
            }
        }
    }

    /// Hands one algorithm's operations over; whether each was done.
    #[inline]
    fn run_group(&mut self, number: usize) -> bool {
        let Group { ops, unsorted } = &mut self.groups[number];
        if ops.is_empty() {
            return true;
        }
        // Lanes are left together by packets of one length.
        if std::mem::take(unsorted) {
            ops.sort_unstable_by_key(|op| op.len);
        }
        // SAFETY: each operation's `data` is `len` bytes of its job, which nothing else uses meanwhile; its key is borrowed by the job, as long as the burst is. No
        // length is 0, ZUC's are within its bound, and none is above `LONGEST`, for which the shim has room. The call returns when
        // nothing is in flight.
        let done = unsafe { (self.api.run)(self.manager, number as u32, ops.as_mut_ptr(), ops.len() as u32) };
        done as usize == ops.len()
    }
}

impl Drop for IpsecMb {
    fn drop(&mut self) {
        // SAFETY: it was opened, and is not used again.
        unsafe { (self.api.close)(self.manager) }
    }
}

/// Bytes as they lie in memory.
#[inline]
fn words(iv: [u8; 16]) -> [u64; 2] {
    let [first, second] = [0, 64].map(|shift| (u128::from_le_bytes(iv) >> shift) as u64);
    [first.to_le(), second.to_le()]
}

#[inline]
fn op(data: &mut [u8], key: &Expanded, iv: [u64; 2], job: u32) -> Op {
    Op { data: data.as_mut_ptr(), key, iv, len: data.len() as u32, mac: [0; MAC_LEN], done: 0, job }
}

/// Writes the MAC-I, or checks it.
fn settle(job: &mut Job<'_>, mut mac: [u8; MAC_LEN]) {
    let Some(key) = job.integrity else { return };
    let (_, place) = split(job.data);
    match job.step {
        Step::Protect => place.copy_from_slice(&mac),
        Step::Recover => job.outcome = verdict(key.algorithm, place, &mac),
    }
    mac.zeroize();
}

/// ZUC's key is kept as it is.
fn zuc(key: &Expanded) -> portable::Prepared {
    let bytes = key.0.first_chunk().expect("256 bytes have 16");
    portable::Prepared::Zuc(Box::new(Zeroizing::new(*bytes)))
}

/// The library's own calls on operations that were made beforehand, for benchmarks: the rest of an engine's time is the seam's.
pub struct Alone<'a> {
    library: IpsecMb,
    bursts: Vec<Burst>,
    /// What NIA2 works on: COUNT, BEARER and DIRECTION with the message behind them.
    _whole: Vec<Vec<u8>>,
    _jobs: PhantomData<Job<'a>>,
}

/// A burst's operations: of all MACs, then of all ciphers.
#[derive(Default)]
struct Burst {
    macs: Vec<Op>,
    /// Where each MAC goes.
    places: Vec<*mut [u8; MAC_LEN]>,
    ciphers: Vec<Op>,
    mac_number: usize,
    cipher_number: usize,
}

/// NIA2 of messages that need no copy.
const NIA2_WHOLE: usize = 7;

impl<'a> Alone<'a> {
    /// Of jobs that protect, all by the same algorithms.
    ///
    /// # Errors
    /// The library is absent, or it could not take a job without the engine's help.
    pub fn new(jobs: Vec<Job<'a>>, burst: usize) -> Result<Alone<'a>, Error> {
        let library = IpsecMb::open()?;
        let algorithms = |job: &Job<'_>| (job.cipher.map(|key| key.algorithm), job.integrity.map(|key| key.algorithm));
        let first = jobs.first().map(algorithms);
        let mut bursts: Vec<Burst> = Vec::new();
        let mut whole = Vec::new();
        for (i, job) in jobs.into_iter().enumerate() {
            job.check().map_err(Error::Jobs)?;
            if Some(algorithms(&job)) != first || job.step != Step::Protect || job.data.len() == job.clear {
                return Err(Error::Jobs(Fault::Key));
            }
            if job.data.len() > ZUC_LONGEST {
                return Err(Error::Jobs(Fault::TooLong));
            }
            if i % burst.max(1) == 0 {
                bursts.push(Burst::default());
            }
            let Some(burst) = bursts.last_mut() else { continue };
            let inputs = Inputs::of(&job);
            let Job { cipher, integrity, data, clear, .. } = job;
            let (base, len) = (data.as_mut_ptr(), data.len());
            if let Some(key) = integrity {
                let (Form::IpsecMb(expanded), Some(number)) = (&key.form, integrity_number(key.algorithm)) else {
                    return Err(Error::Jobs(Fault::Key));
                };
                let mut op =
                    Op { data: base, key: &**expanded, iv: words(inputs.f9()), len: (len - MAC_LEN) as u32, mac: [0; 4], done: 0, job: 0 };
                burst.mac_number = number;
                if key.algorithm == Nia::Nia2 {
                    let mut message = [&inputs.half(), &data[..len - MAC_LEN]].concat();
                    (op.data, op.len, burst.mac_number) = (message.as_mut_ptr(), message.len() as u32, NIA2_WHOLE);
                    whole.push(message);
                }
                burst.macs.push(op);
                // SAFETY: `check` found the MAC-I's place at the end of `data`.
                burst.places.push(unsafe { base.add(len - MAC_LEN) }.cast());
            }
            if let Some(key) = cipher {
                let (Form::IpsecMb(expanded), Some(number)) = (&key.form, cipher_number(key.algorithm)) else {
                    return Err(Error::Jobs(Fault::Key));
                };
                let iv = words(if key.algorithm == Nea::Nea2 { inputs.ctr() } else { inputs.f8() });
                burst.cipher_number = number;
                // SAFETY: `check` found `clear` within `data`.
                let data = unsafe { base.add(clear) };
                burst.ciphers.push(Op { data, key: &**expanded, iv, len: (len - clear) as u32, mac: [0; 4], done: 0, job: 0 });
            }
        }
        Ok(Alone { library, bursts, _whole: whole, _jobs: PhantomData })
    }

    /// All bursts once; whether the library completed every operation.
    pub fn run(&mut self) -> bool {
        let IpsecMb { api, manager, .. } = self.library;
        let mut done = true;
        for burst in &mut self.bursts {
            for (number, ops) in [(burst.mac_number, &mut burst.macs), (burst.cipher_number, &mut burst.ciphers)] {
                if ops.is_empty() {
                    continue;
                }
                // SAFETY: data and keys live as long as `self`, which has the only use of the data; lengths are as `run_group` has them.
                let n = unsafe { (api.run)(manager, number as u32, ops.as_mut_ptr(), ops.len() as u32) };
                done &= n as usize == ops.len();
                if !burst.places.is_empty() && number == burst.mac_number {
                    for (op, place) in ops.iter().zip(&burst.places) {
                        // SAFETY: a MAC-I's place within the job's data.
                        unsafe { place.write_unaligned(op.mac) };
                    }
                }
            }
        }
        done
    }
}

/// The functions, loaded if they were not.
fn api() -> Result<&'static Api, Error> {
    static LOADED: OnceLock<Result<&'static Api, String>> = OnceLock::new();
    LOADED.get_or_init(load).as_ref().copied().map_err(|why| Error::Absent(why.clone()))
}

fn load() -> Result<&'static Api, String> {
    let bytes = OBJECT.ok_or_else(|| format!("this build has no libipsec-mb: {ABSENT}"))?;
    let failed = |what: &str, e: &dyn std::fmt::Display| format!("cannot load libipsec-mb: {what}: {e}");
    let mut file =
        tempfile::Builder::new().prefix("splitplane-ipsec-mb-").suffix(".so").tempfile().map_err(|e| failed("temporary file", &e))?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(|e| failed("temporary file", &e))?;
    // SAFETY: the object is the one that build.rs made of the source in shim/; the library that comes with it has no constructors that
    // touch ours.
    let library = unsafe { Library::open(Some(file.path()), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|e| format!("this machine has no libipsec-mb as this build needs it: install libipsec-mb1: {e}"))?;
    // SAFETY: the shim declares the symbol with this type.
    let functions =
        unsafe { library.get::<unsafe extern "C" fn() -> *const Api>(b"sp_ipsec_mb\0") }.map_err(|e| failed("sp_ipsec_mb", &e))?;
    // SAFETY: returns a pointer to a static structure of the object, which is never unloaded.
    let api = unsafe { &*functions() };
    assert_eq!(api.version, VERSION, "ipsec_mb.c and ipsec_mb.rs differ");
    std::mem::forget(library);
    Ok(api)
}
