//! A hand-written data plane: the most that a 64-bit PC can do with the UPF's function, as a yardstick for generated ones.
//!
//! `limit.c` is the function of `p4/upf.p4` as far as the benchmarks configure it, written by hand: its head says what it has and
//! what it leaves out. It is filled by the same batches as any target ([`Limit::install`]) and gives the same packets, verdicts and
//! usage (`tests/differential.rs`). It is a baseline, not a target: no change or removal of entries, one lane, IPv4 only.
//!
//! The same text on DPDK's `rte_hash` ([`Limit::on_rte_hash`]) is the second baseline, where DPDK was there when this was built.
//!
//! The gNodeB's downlink has twins by hand too: [`gnb`] is its step 3, [`whole`] all of it for RLC AM.
#![warn(missing_docs)]

pub mod gnb;
pub mod lookups;
mod ops;
pub mod whole;

use base::{Packet, Verdict, VerdictKind};
use ops::{CPdr, Ops, View};
use program::{Batch, Entry, KeyMatch, MeterConfig, Op, Program};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use target_api::{BURST, Count, Lane};

/// Reason of packets that need what is left out: `base::DropReason::TARGET_FAILED`.
pub const OUT_OF_SCOPE: u8 = 135;

/// Parameters of `set_pdr`, in the order in which they are read here.
const SET_PDR: [&str; 16] = [
    "pdr",
    "disposition",
    "flags",
    "usage",
    "meter_1",
    "meter_2",
    "meter_3",
    "ue_ipv4",
    "ue_prefix",
    "encapsulation",
    "tunnel_teid",
    "tunnel_dst",
    "tunnel_src",
    "psc_qos",
    "tunnel_tos",
    "out_vrf",
];

/// Memory in normal pages for DPDK, in MiB: two hashes of 15 million sessions. The kernel gives what is touched of it.
const DPDK_MIB: u32 = 6144;

/// Why the baseline is not available, or cannot do what is requested.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LimitError {
    /// Nothing is wrong: this build or machine lacks something.
    #[error("{0}")]
    Absent(String),
    /// Outside of what the baseline does.
    #[error("the hand-written baseline does not do this: {0}")]
    Scope(String),
    /// No memory, or no room.
    #[error("{0}")]
    Full(String),
}

/// The hand-written data plane.
pub struct Limit {
    program: Arc<Program>,
    shared: Arc<Mutex<Raw>>,
    /// By network instance, length and prefix.
    routes: BTreeMap<(u32, u16, u32), u16>,
    /// Number is position + 1.
    profiles: Vec<MeterConfig>,
}

/// What `limit.c` has made, and its functions.
struct Raw {
    ops: Ops,
    limit: *mut c_void,
}

// SAFETY: what `limit` points to has no ties to a thread, and is used under a lock.
unsafe impl Send for Raw {}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: made by `create`, and not used after.
        unsafe { (self.ops.destroy)(self.limit) }
    }
}

impl Limit {
    /// With its own cuckoo hash. `sessions` is the most rules that each of its two tables takes.
    pub fn new(program: Arc<Program>, sessions: u64) -> Result<Limit, LimitError> {
        Limit::of(program, sessions, ops::built_in()?)
    }

    /// The same on DPDK's `rte_hash`. Starts DPDK if it does not run: in huge pages if a GiB is free in them.
    pub fn on_rte_hash(program: Arc<Program>, sessions: u64) -> Result<Limit, LimitError> {
        let ops = ops::on_rte_hash()?;
        dpdk::start_shared(1024, DPDK_MIB).map_err(|e| LimitError::Absent(e.to_string()))?;
        Limit::of(program, sessions, ops)
    }

    fn of(program: Arc<Program>, sessions: u64, ops: Ops) -> Result<Limit, LimitError> {
        // SAFETY: takes nothing.
        if unsafe { (ops.runs_here)() } == 0 {
            return Err(LimitError::Absent("the hand-written baseline was built for another processor: build again here".into()));
        }
        check_shape(&program)?;
        let mut error = [0u8; 256];
        // One cell each way, and cell 0.
        let states = sessions.saturating_mul(2).saturating_add(2);
        // `create` notes in static variables what is done once a process.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let one_at_a_time = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `error` takes that many bytes, the last of which is written as 0.
        let limit = unsafe { (ops.create)(sessions, states, error.as_mut_ptr().cast(), error.len() as u32) };
        drop(one_at_a_time);
        if limit.is_null() {
            let text: Vec<u8> = error.iter().copied().take_while(|b| *b != 0).collect();
            return Err(LimitError::Absent(String::from_utf8_lossy(&text).into_owned()));
        }
        let shared = Arc::new(Mutex::new(Raw { ops, limit }));
        Ok(Limit { program, shared, routes: BTreeMap::new(), profiles: Vec::new() })
    }

    /// Takes the inserts of a batch. Meters must come in the batch of the PDR that they are for.
    ///
    /// # Errors
    /// What is out of scope or does not fit; part of the batch may have been taken: throw the baseline away.
    pub fn install(&mut self, batch: &Batch) -> Result<(), LimitError> {
        let mut rates: BTreeMap<u64, MeterConfig> = BTreeMap::new();
        let mut new_routes = false;
        for (i, op) in batch.ops.iter().enumerate() {
            self.program.check_op(i, op).map_err(|e| LimitError::Scope(e.to_string()))?;
            match op {
                Op::Meter { meter, index, config: Some(config) } if self.program.meters[*meter].name == "mbr" => {
                    rates.insert(*index, *config);
                }
                Op::Insert(entry) => new_routes |= self.insert(entry, &rates)?,
                Op::ClearCounter { .. } | Op::Meter { config: None, .. } => {}
                other => return Err(LimitError::Scope(format!("{other:?}"))),
            }
        }
        if new_routes { self.renew_routes() } else { Ok(()) }
    }

    /// The one lane. A second one would share its state, burst by burst.
    pub fn lane(&self) -> Box<dyn Lane> {
        Box::new(LimitLane { shared: self.shared.clone() })
    }

    /// A cell of counter `usage`.
    pub fn usage(&self, cell: u32) -> Count {
        let raw = lock(&self.shared);
        let mut count = [0u64; 2];
        // SAFETY: `limit` is of these functions; the array takes the two numbers.
        unsafe { (raw.ops.count)(raw.limit, cell, count.as_mut_ptr()) };
        Count { packets: count[0], bytes: count[1] }
    }

    /// Bytes of the pages that DPDK keeps the hashes in; `None` for its own tables, whose pages are as the kernel likes.
    pub fn page_bytes(&self) -> Option<u64> {
        let raw = lock(&self.shared);
        // SAFETY: `limit` is of these functions.
        Some(unsafe { (raw.ops.page_bytes)(raw.limit) }).filter(|bytes| *bytes > 0)
    }

    /// Takes one entry; whether it is a route.
    fn insert(&mut self, entry: &Entry, rates: &BTreeMap<u64, MeterConfig>) -> Result<bool, LimitError> {
        let program = self.program.clone();
        let table = program.tables[entry.table].name.as_str();
        let action = program.actions[entry.action].name.rsplit('.').next().unwrap_or_default();
        let arg = |i: usize| entry.args.get(i).copied().unwrap_or_default();
        let scope = || LimitError::Scope(format!("action {action} in table {table}"));
        let key = |i: usize| match entry.keys.get(i) {
            Some(KeyMatch::Exact(value)) => *value as u64,
            _ => 0,
        };
        match (table, action) {
            ("station", "route" | "group") => {
                let raw = lock(&self.shared);
                let group = u16::from(action == "group");
                // SAFETY: `limit` is of these functions.
                let done = unsafe { (raw.ops.add_station)(raw.limit, key(0) as u16, key(1), arg(0) as u16, group) };
                if done == 0 { Err(LimitError::Full("more than 8 MAC addresses on a port, or 16 networks".into())) } else { Ok(false) }
            }
            ("local_ipv4", "gtpu_endpoint" | "host") => {
                let raw = lock(&self.shared);
                let endpoint = u8::from(action == "gtpu_endpoint");
                // SAFETY: `limit` is of these functions.
                let done = unsafe { (raw.ops.add_local)(raw.limit, key(0) as u16, key(1) as u32, endpoint) };
                if done == 0 { Err(LimitError::Full("more than 256 addresses of our own".into())) } else { Ok(false) }
            }
            ("nexthop", "send") => {
                let raw = lock(&self.shared);
                // SAFETY: `limit` is of these functions, which take any number.
                unsafe {
                    (raw.ops.set_nexthop)(raw.limit, key(0) as u16, 1, arg(0) as u16, arg(1) as u64, arg(2) as u64, arg(3) as u16);
                }
                Ok(false)
            }
            // The program's `unresolved` marks the packet with its argument, which is the hop's number.
            ("nexthop", "unresolved") if arg(0) == u128::from(key(0)) => {
                let raw = lock(&self.shared);
                // SAFETY: as above.
                unsafe { (raw.ops.set_nexthop)(raw.limit, key(0) as u16, 2, 0, 0, 0, 0) };
                Ok(false)
            }
            ("route_ipv4", "set_nexthop") => {
                let Some(KeyMatch::Lpm { value, prefix_len }) = entry.keys.get(1) else { return Err(scope()) };
                self.routes.insert((*prefix_len, key(0) as u16, *value as u32), arg(0) as u16);
                Ok(true)
            }
            ("pdr_by_ue_ipv4" | "pdr_by_teid", "set_pdr") => {
                let pdr = self.pdr(entry, rates)?;
                let raw = lock(&self.shared);
                let tunnel = u8::from(table == "pdr_by_teid");
                // SAFETY: `limit` is of these functions; `pdr` is read only.
                match unsafe { (raw.ops.add_pdr)(raw.limit, tunnel, key(0) as u32, key(1) as u32, &pdr) } {
                    0 => Ok(false),
                    1 => Err(LimitError::Full(format!("table {table} has that entry or no room"))),
                    2 => Err(LimitError::Scope("PDRs that share a usage cell and not a meter".into())),
                    _ => Err(LimitError::Scope("a usage cell or network out of range, or a meter without a usage cell".into())),
                }
            }
            // IPv6 of the configuration is not used by IPv4 packets.
            ("local_ipv6" | "route_ipv6", _) => Ok(false),
            _ => Err(scope()),
        }
    }

    fn pdr(&mut self, entry: &Entry, rates: &BTreeMap<u64, MeterConfig>) -> Result<CPdr, LimitError> {
        // The program's widths have been checked, and SET_PDR's order against the program.
        let arg = |name: &str| SET_PDR.iter().position(|n| *n == name).and_then(|i| entry.args.get(i)).copied().unwrap_or_default();
        if arg("meter_2") != 0 || arg("meter_3") != 0 {
            return Err(LimitError::Scope("more than one meter a PDR".into()));
        }
        let meter = arg("meter_1") as u32;
        let profile = if meter == 0 { 0 } else { self.profile(rates.get(&u64::from(meter)))? };
        Ok(CPdr {
            number: arg("pdr") as u32,
            usage: arg("usage") as u32,
            meter,
            profile,
            ue_ipv4: arg("ue_ipv4") as u32,
            teid: arg("tunnel_teid") as u32,
            tunnel_dst: arg("tunnel_dst") as u32,
            tunnel_src: arg("tunnel_src") as u32,
            out_vrf: arg("out_vrf") as u16,
            disposition: arg("disposition") as u8,
            flags: arg("flags") as u8,
            encapsulation: arg("encapsulation") as u8,
            qos: arg("psc_qos") as u8,
            tos: arg("tunnel_tos") as u8,
            unused: 0,
        })
    }

    /// Number of a rate, which sessions share.
    fn profile(&mut self, config: Option<&MeterConfig>) -> Result<u32, LimitError> {
        let config = config.ok_or_else(|| LimitError::Scope("a meter that its PDR's batch does not set".into()))?;
        if let Some(at) = self.profiles.iter().position(|known| known == config) {
            return Ok(at as u32 + 1);
        }
        if self.profiles.len() == 65_534 {
            return Err(LimitError::Full("more than 65534 different rates".into()));
        }
        let MeterConfig { cir, cbs, pir, pbs } = *config;
        let wide = || LimitError::Scope(format!("rates that do not fit 64 bits: {config:?}"));
        let nano = |units: u64| units.checked_mul(1_000_000_000).ok_or_else(wide);
        let (cbs, pbs) = (nano(cbs)?, nano(pbs)?);
        let full_ns = match (cir, pir) {
            (0, 0) => u64::MAX,
            (0, _) | (_, 0) => return Err(wide()),
            _ => cbs.div_ceil(cir).max(pbs.div_ceil(pir)),
        };
        // Nothing overflows before both buckets are full.
        if pir != 0 && pir.checked_mul(full_ns).and_then(|gain| gain.checked_add(pbs.max(cbs))).is_none() {
            return Err(wide());
        }
        self.profiles.push(*config);
        let number = self.profiles.len() as u32;
        let raw = lock(&self.shared);
        // SAFETY: `limit` is of these functions; the number is below their limit.
        unsafe { (raw.ops.set_profile)(raw.limit, number, cir, cbs, pir, pbs, full_ns) };
        Ok(number)
    }

    /// Rewrites all routes, shorter prefixes first, as longer ones overwrite them.
    fn renew_routes(&self) -> Result<(), LimitError> {
        let raw = lock(&self.shared);
        // SAFETY: `limit` is of these functions; lengths are at most 32, as the program's widths say.
        unsafe { (raw.ops.clear_routes)(raw.limit) };
        for ((prefix_len, vrf, prefix), hop) in &self.routes {
            // SAFETY: as above.
            if unsafe { (raw.ops.add_route)(raw.limit, *vrf, *prefix, *prefix_len, *hop) } == 0 {
                return Err(LimitError::Full(format!("no room for the route to {prefix:#x}/{prefix_len} in network {vrf}")));
            }
        }
        Ok(())
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether `set_pdr` is as [`SET_PDR`] says.
fn check_shape(program: &Program) -> Result<(), LimitError> {
    let set_pdr = program.actions.values().find(|a| a.name.rsplit('.').next() == Some("set_pdr"));
    let names: Vec<&str> = set_pdr.iter().flat_map(|a| a.params.iter().map(|p| p.name.as_str())).collect();
    if names != SET_PDR {
        return Err(LimitError::Scope(format!("a program whose action set_pdr has the parameters {names:?}")));
    }
    Ok(())
}

struct LimitLane {
    shared: Arc<Mutex<Raw>>,
}

impl Lane for LimitLane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        let raw = lock(&self.shared);
        with_views(packets, verdicts, |views, verdicts, n| {
            // SAFETY: as `with_views` says; kinds 0 to 3 are written only.
            unsafe { (raw.ops.process)(raw.limit, views, verdicts, n, now_ns) }
        });
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, count, with_rates);
}

/// Lends a burst to a function of C: views of its buffers, windows within, and room for as many verdicts. Packets that are forwarded get the
/// windows that the function leaves.
fn with_views(packets: &mut [Packet], verdicts: &mut [Verdict], process: impl FnOnce(*mut View, *mut Verdict, u32)) {
    let n = packets.len();
    assert!(n == verdicts.len() && n <= BURST, "{n} packets and {} verdicts in a burst of at most {BURST}", verdicts.len());
    let mut views = [View::EMPTY; BURST];
    for (packet, view) in packets.iter_mut().zip(&mut views) {
        let port = packet.port.0.into();
        let (buffer, start, length) = packet.buffer_mut();
        *view = View { buffer: buffer.as_mut_ptr(), start: start as u32, length: length as u32, port, capacity: buffer.len() as u32 };
    }
    process(views.as_mut_ptr(), verdicts.as_mut_ptr(), n as u32);
    for ((packet, view), verdict) in packets.iter_mut().zip(&views).zip(verdicts) {
        if verdict.kind == VerdictKind::Forward {
            packet.set_window(view.start as usize, view.length as usize);
        }
    }
}
