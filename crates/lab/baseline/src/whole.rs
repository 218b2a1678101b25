//! The whole downlink of the gNodeB (`p4/gnb.p4`) by hand, for RLC AM without ciphering: `whole.c`, whose head says what it does and what it leaves out.
//!
//! Its test, `tests/whole.rs`, compares it with the interpreter.

use crate::gnb::{Flow, SET_BEARER, check, inserts, key, names};
use crate::ops::{CFacts, WholeOps, whole};
use crate::{LimitError, lock, with_views};
use base::{Packet, Verdict};
use program::{Batch, Entry, Program};
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use target_api::{Count, Lane};

/// Parameters of the uplink's `set_bearer`, of which a STATUS needs some.
const SET_BEARER_UP: [&str; 13] = [
    "bearer",
    "rlc_mode",
    "rlc_long",
    "pdcp_long",
    "sdap_header",
    "is_protected",
    "key_index",
    "qfi",
    "teid",
    "radio",
    "peer",
    "unit",
    "unit_port",
];
/// `RlcMode.am`.
const AM: u128 = 2;

/// The hand-written downlink of a gNodeB, all of it.
pub struct Whole {
    program: Arc<Program>,
    shared: Arc<Mutex<Raw>>,
}

/// What the program's counters say of a bearer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Users' packets.
    pub downlink_packets: Count,
    /// RLC PDUs, down.
    pub radio_sent: Count,
    /// RLC PDUs, up.
    pub radio_received: Count,
    /// Packets with a COUNT near its end.
    pub downlink_count_high: u64,
}

/// What `whole.c` has made, and its functions.
struct Raw {
    ops: WholeOps,
    whole: *mut c_void,
}

// SAFETY: what `whole` points to has no ties to a thread, and is used under a lock.
unsafe impl Send for Raw {}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: made by `create`, and not used after.
        unsafe { (self.ops.destroy)(self.whole) }
    }
}

impl Whole {
    /// For that many flows, of bearers with numbers below `bearers`. Of each bearer at most `window` packets wait for their acknowledgement: it stands for the
    /// setting that the program's buffer has of the bearer.
    ///
    /// # Errors
    /// [`LimitError`].
    pub fn new(program: Arc<Program>, flows: u64, bearers: u64, window: u32) -> Result<Whole, LimitError> {
        let ops = whole()?;
        // SAFETY: takes nothing.
        let runs_here = unsafe { (ops.runs_here)() } != 0;
        check(runs_here, &program, &SET_BEARER)?;
        check(runs_here, &program, &SET_BEARER_UP)?;
        // SAFETY: takes any numbers.
        let whole = unsafe { (ops.create)(flows, bearers, window) };
        if whole.is_null() {
            return Err(LimitError::Full(format!("no memory for {flows} flows of {bearers} bearers, with a window of {window}")));
        }
        Ok(Whole { program, shared: Arc::new(Mutex::new(Raw { ops, whole })) })
    }

    /// Takes the inserts of a batch. A bearer's peer comes before it, its flows before its entry by UE.
    ///
    /// # Errors
    /// What is out of scope or does not fit; part of the batch may have been taken: throw the baseline away.
    pub fn install(&mut self, batch: &Batch) -> Result<(), LimitError> {
        inserts(&self.program, batch, |entry| self.insert(entry))
    }

    /// The one lane. A second one would share its state, burst by burst.
    pub fn lane(&self) -> Box<dyn Lane> {
        Box::new(WholeLane { shared: self.shared.clone() })
    }

    /// Cells of the program's counters.
    pub fn counts(&self, bearer: u32) -> Counts {
        let raw = lock(&self.shared);
        let mut out = [0u64; 7];
        // SAFETY: `whole` is of these functions; the array takes the seven numbers.
        unsafe { (raw.ops.count)(raw.whole, bearer, out.as_mut_ptr()) };
        let count = |at: usize| Count { packets: out[at], bytes: out[at + 1] };
        Counts { downlink_packets: count(0), radio_sent: count(2), radio_received: count(4), downlink_count_high: out[6] }
    }

    /// The copy of a bearer's packet number `number`, from 0: its PDCP PDU, while it is kept.
    pub fn kept(&self, bearer: u32, number: u32) -> Option<Vec<u8>> {
        let raw = lock(&self.shared);
        let mut out = vec![0; base::MAX_PACKET];
        // SAFETY: `whole` is of these functions; `out` takes the bytes that it has room for.
        let bytes = unsafe { (raw.ops.kept)(raw.whole, bearer, number, out.as_mut_ptr(), out.len() as u32) };
        out.truncate(bytes as usize);
        (bytes > 0).then_some(out)
    }

    fn insert(&self, entry: &Entry) -> Result<(), LimitError> {
        let (table, action) = names(&self.program, entry);
        let arg = |at: usize| entry.args.get(at).copied().unwrap_or_default();
        let number = key(entry, 0);
        let raw = lock(&self.shared);
        let (ops, whole) = (&raw.ops, raw.whole);
        let done = match (table, action) {
            // SAFETY: `whole` is of these functions, which check their arguments.
            ("station", "ours") => unsafe { (ops.add_station)(whole, number as u16, arg(0) as u64, arg(1) as u32) },
            ("peer", "send") => {
                let (port, macs, addresses, ports) = (arg(0) as u16, [arg(1) as u64, arg(2) as u64], [arg(3), arg(4)], [arg(5), arg(6)]);
                let ([src, dst], [src_port, dst_port]) = (addresses.map(|a| a as u32), ports.map(|p| p as u16));
                // SAFETY: as above.
                unsafe { (ops.add_peer)(whole, number as u16, port, macs[0], macs[1], src, dst, src_port, dst_port) }
            }
            ("bearer_by_flow" | "default_bearer", "set_bearer") => {
                let flow = Flow::of(&self.program, entry).ok_or_else(|| LimitError::Scope(format!("action {action} in table {table}")))?;
                in_scope(flow.arg("rlc_mode"), flow.arg("is_protected"))?;
                let facts = CFacts {
                    bearer: flow.arg("bearer") as u32,
                    count_base: flow.arg("count_base") as u32,
                    upf: flow.arg("upf") as u32,
                    ue: flow.arg("ue") as u16,
                    pdu_bytes: flow.arg("pdu_bytes") as u16,
                    peer: flow.arg("peer") as u16,
                    drb: flow.arg("drb") as u8,
                    formats: flow.formats(),
                };
                // SAFETY: as above; `facts` are read only.
                unsafe { (ops.add_flow)(whole, flow.teid, flow.flow, &facts) }
            }
            ("bearer_by_ue", "set_bearer") => {
                let up = |name: &str| SET_BEARER_UP.iter().position(|n| *n == name).map(&arg).unwrap_or_default();
                in_scope(up("rlc_mode"), up("is_protected"))?;
                let (ue, drb, bearer) = (number as u16, key(entry, 1) as u8, up("bearer") as u32);
                // SAFETY: as above.
                unsafe { (ops.add_ue)(whole, ue, drb, bearer, up("rlc_long") as u8, up("unit") as u32, up("unit_port") as u16) }
            }
            // What it says is in the bearer's other entries.
            ("bearer_by_number", "set_bearer") => 0,
            _ => return Err(LimitError::Scope(format!("action {action} in table {table}"))),
        };
        match done {
            0 => Ok(()),
            1 => Err(LimitError::Full(format!("table {table} has that entry or no room"))),
            2 => Err(LimitError::Scope("a number of a port or bearer out of range".into())),
            3 => Err(LimitError::Scope(format!("an entry of table {table} before what it refers to"))),
            _ => Err(LimitError::Scope(format!("an entry of table {table} that says of a bearer what another one does not"))),
        }
    }
}

fn in_scope(rlc_mode: u128, is_protected: u128) -> Result<(), LimitError> {
    if rlc_mode == AM && is_protected == 0 { Ok(()) } else { Err(LimitError::Scope("ciphers, or another mode of RLC than AM".into())) }
}

struct WholeLane {
    shared: Arc<Mutex<Raw>>,
}

impl Lane for WholeLane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], _: u64) {
        let raw = lock(&self.shared);
        with_views(packets, verdicts, |views, verdicts, n| {
            // SAFETY: as `with_views` says; kinds 0 to 3 are written only.
            unsafe { (raw.ops.process)(raw.whole, views, verdicts, n) }
        });
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, count, with_rates);
}
