//! Step 3 of the gNodeB's downlink (`p4/gnb.p4` with `STEP=3`) by hand: `gnb.c`, whose head says what it does and what it leaves out.
//!
//! Its test, `tests/gnb.rs`, compares it with the interpreter.

use crate::{LimitError, lock, ops, with_views};
use base::{Packet, Verdict};
use ops::{GnbOps, gnb};
use program::{Batch, Entry, KeyMatch, Op, Program};
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use target_api::Lane;

/// Parameters of the downlink's `set_bearer`, of which step 3 has no use for some.
pub(crate) const SET_BEARER: [&str; 14] = [
    "bearer",
    "rlc_mode",
    "rlc_long",
    "pdcp_long",
    "sdap_header",
    "reflective",
    "is_protected",
    "key_index",
    "ue",
    "drb",
    "count_base",
    "pdu_bytes",
    "peer",
    "upf",
];
/// In the place of a QFI: the bearer of flows that no rule maps.
const DEFAULT_FLOW: u8 = 0x40;

/// A flow's bearer, as an entry says it.
pub(crate) struct Flow<'a> {
    pub(crate) teid: u32,
    /// QFI, or [`DEFAULT_FLOW`].
    pub(crate) flow: u8,
    args: &'a [u128],
}

impl<'a> Flow<'a> {
    /// `None` if the entry is of another table, or of another action.
    pub(crate) fn of(program: &Program, entry: &'a Entry) -> Option<Flow<'a>> {
        let flow = match names(program, entry) {
            ("bearer_by_flow", "set_bearer") => key(entry, 1) as u8,
            ("default_bearer", "set_bearer") => DEFAULT_FLOW,
            _ => return None,
        };
        Some(Flow { teid: key(entry, 0) as u32, flow, args: &entry.args })
    }

    /// A parameter of `set_bearer`.
    pub(crate) fn arg(&self, name: &str) -> u128 {
        SET_BEARER.iter().position(|n| *n == name).and_then(|i| self.args.get(i)).copied().unwrap_or_default()
    }

    /// Flags by bits, as the C programs have them.
    pub(crate) fn formats(&self) -> u8 {
        let flags = ["rlc_long", "pdcp_long", "sdap_header", "reflective"];
        flags.iter().enumerate().fold(0u8, |all, (bit, name)| all | u8::from(self.arg(name) != 0) << bit)
    }
}

/// Names of an entry's table and action.
pub(crate) fn names<'p>(program: &'p Program, entry: &Entry) -> (&'p str, &'p str) {
    let action = program.actions[entry.action].name.rsplit('.').next().unwrap_or_default();
    (program.tables[entry.table].name.as_str(), action)
}

/// A key of an entry, which the program has checked.
pub(crate) fn key(entry: &Entry, at: usize) -> u128 {
    match entry.keys.get(at) {
        Some(KeyMatch::Exact(value)) => *value,
        _ => 0,
    }
}

/// Whether the processor has what a C program was compiled for, and the program an action `set_bearer` with these parameters.
pub(crate) fn check(runs_here: bool, program: &Program, set_bearer: &[&str]) -> Result<(), LimitError> {
    if !runs_here {
        return Err(LimitError::Absent("the hand-written baseline was built for another processor: build again here".into()));
    }
    let has_them = |a: &program::ActionInfo| a.params.iter().map(|p| p.name.as_str()).eq(set_bearer.iter().copied());
    match program.actions.values().any(has_them) {
        true => Ok(()),
        false => Err(LimitError::Scope("a program whose action set_bearer has other parameters".into())),
    }
}

/// The inserts of a batch that is sound, each to `insert`.
pub(crate) fn inserts(
    program: &Program,
    batch: &Batch,
    mut insert: impl FnMut(&Entry) -> Result<(), LimitError>,
) -> Result<(), LimitError> {
    for (i, op) in batch.ops.iter().enumerate() {
        program.check_op(i, op).map_err(|e| LimitError::Scope(e.to_string()))?;
        match op {
            Op::Insert(entry) => insert(entry)?,
            other => return Err(LimitError::Scope(format!("{other:?}"))),
        }
    }
    Ok(())
}

/// The hand-written downlink of a gNodeB.
pub struct Gnb {
    program: Arc<Program>,
    shared: Arc<Mutex<Raw>>,
}

/// What `gnb.c` has made, and its functions.
struct Raw {
    ops: GnbOps,
    gnb: *mut c_void,
}

// SAFETY: what `gnb` points to has no ties to a thread, and is used under a lock.
unsafe impl Send for Raw {}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: made by `create`, and not used after.
        unsafe { (self.ops.destroy)(self.gnb) }
    }
}

impl Gnb {
    /// For that many flows, of bearers with numbers below `bearers`.
    ///
    /// # Errors
    /// [`LimitError`].
    pub fn new(program: Arc<Program>, flows: u64, bearers: u64) -> Result<Gnb, LimitError> {
        let ops = gnb()?;
        // SAFETY: takes nothing.
        check(unsafe { (ops.runs_here)() } != 0, &program, &SET_BEARER)?;
        // SAFETY: takes any numbers.
        let gnb = unsafe { (ops.create)(flows, bearers) };
        if gnb.is_null() {
            return Err(LimitError::Full(format!("no memory for {flows} flows")));
        }
        Ok(Gnb { program, shared: Arc::new(Mutex::new(Raw { ops, gnb })) })
    }

    /// Takes the inserts of a batch.
    ///
    /// # Errors
    /// What is out of scope or does not fit; part of the batch may have been taken: throw the baseline away.
    pub fn install(&mut self, batch: &Batch) -> Result<(), LimitError> {
        inserts(&self.program, batch, |entry| self.insert(entry))
    }

    /// The one lane. A second one would share its state, burst by burst.
    pub fn lane(&self) -> Box<dyn Lane> {
        Box::new(GnbLane { shared: self.shared.clone() })
    }

    fn insert(&self, entry: &Entry) -> Result<(), LimitError> {
        let (table, action) = names(&self.program, entry);
        let Some(flow) = Flow::of(&self.program, entry) else {
            return Err(LimitError::Scope(format!("action {action} in table {table}")));
        };
        let (bearer, mode, count_base) = (flow.arg("bearer") as u32, flow.arg("rlc_mode") as u8, flow.arg("count_base") as u32);
        let raw = lock(&self.shared);
        // SAFETY: `gnb` is of these functions, which check their arguments.
        let done = unsafe { (raw.ops.add)(raw.gnb, flow.teid, flow.flow, bearer, mode, flow.formats(), count_base) };
        match done {
            0 => Ok(()),
            1 => Err(LimitError::Full(format!("table {table} has that entry or no room"))),
            _ => Err(LimitError::Scope("a bearer's number out of range".into())),
        }
    }
}

struct GnbLane {
    shared: Arc<Mutex<Raw>>,
}

impl Lane for GnbLane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], _: u64) {
        let raw = lock(&self.shared);
        with_views(packets, verdicts, |views, verdicts, n| {
            // SAFETY: as `with_views` says; kinds 0 to 3 are written only.
            unsafe { (raw.ops.process)(raw.gnb, views, verdicts, n) }
        });
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, count, with_rates);
}
