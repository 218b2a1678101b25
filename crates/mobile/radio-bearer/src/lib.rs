//! The receiving sides of RLC and PDCP for a pipeline: which packet is a whole SDU, under which COUNT, and when is its turn?
//!
//! A [`::service::Service`] over the entities of crate `gnb`, one bearer for each index of its settings. The program calls it twice for an uplink
//! packet, and its ciphers in between:
//!
//! | operation | payload | what comes of it |
//! |---|---|---|
//! | [`RECEIVE`] | an RLC PDU | [`PDU`]: what an SDU of RLC holds behind the headers of PDCP and SDAP, with those and with COUNT in the answer; [`CONTROL`]: a control PDU of PDCP; [`ABSORBED`]: its SDU is not whole yet |
//! | [`ORDER`] | an SDU that was deciphered, and whose MAC-I is right | [`PDU`], when all before it have gone on or `t-Reordering` has expired |
//!
//! Only [`ORDER`] changes PDCP's state: a PDU with a wrong MAC-I, which the ciphers drop, leaves nothing behind (TS 38.323 §5.9).
//!
//! RLC AM answers with STATUS PDUs, event [`STATUS`]: a copy of a packet of the bearer with the STATUS as payload. While `t-Reassembly` runs, or a
//! STATUS waits for `t-StatusProhibit`, the bearer therefore keeps one packet, from which a STATUS can be made when the time has come. It comes out as
//! [`ABSORBED`] in the end.
//!
//! | question | file |
//! |---|---|
//! | what is a bearer's setting? | [`config`] |
//! | what becomes of a call? | `bearer.rs` |
//! | which bearers are there, and whose timer is next? | this |
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bearer;
pub mod config;

use ::service::{Access, Call, FIELDS_MAX, Field, Interface, Reason, Service, Setting, SettingError};
use bearer::Bearer;
pub use config::{BearerConfig, RlcConfig, bearer_setting};
use std::collections::BTreeSet;

/// Operation: an RLC PDU came.
pub const RECEIVE: u8 = 0;
/// Operation: an SDU is genuine.
pub const ORDER: u8 = 1;

/// Event: the packet goes on.
pub const PDU: u8 = 0;
/// Event of a copy: a STATUS PDU to be sent.
pub const STATUS: u8 = 1;
/// Event: nothing goes on.
pub const ABSORBED: u8 = 2;
/// Event: a control PDU of PDCP.
pub const CONTROL: u8 = 3;

/// Most bearers of an instance.
pub const MAX_BEARERS: usize = 1 << 20;

/// Fields and reasons.
pub static INTERFACE: Interface = Interface {
    name: "radio_bearer",
    request: &[Field { name: "operation", width: 8 }, Field { name: "bearer", width: 32 }, Field { name: "count", width: 32 }],
    answer: &[
        Field { name: "event", width: 8 },
        Field { name: "count", width: 32 },
        Field { name: "prefix", width: 32 },
        Field { name: "payload_bytes", width: 16 },
    ],
    key: Some(1),
    reasons: REASONS,
    access: |fields| if fields[0] == ORDER { Access::None } else { Access::Write },
    sends_own: false,
    check_setting: |index, value| match value {
        _ if index as usize >= MAX_BEARERS => Err(SettingError::Index { index, limit: MAX_BEARERS as u32 }),
        Some(value) => config::read(index, value).map(drop),
        None => Ok(()),
    },
};

/// The service's own, then those of RLC's PDUs, of AM, of UM and of PDCP: a test holds them to the names of crate `gnb`.
const REASONS: &[&str] = &[
    "no_bearer",
    "removed",
    "rlc_length",
    "rlc_control_type",
    "rlc_offset",
    "am_outside_window",
    "am_limit",
    "am_duplicate",
    "am_beyond_sdu",
    "am_pieces",
    "am_partial_bytes",
    "um_length",
    "um_offset",
    "um_late",
    "um_duplicate",
    "um_beyond_sdu",
    "um_pieces",
    "um_partial_bytes",
    "pdcp_length",
    "pdcp_too_long",
    "pdcp_control_type",
    "pdcp_count",
    "pdcp_late",
    "pdcp_duplicate",
];

/// There is no such bearer.
pub const NO_BEARER: Reason = Reason::own(0);
/// The bearer was removed, or set anew, while a packet waited.
pub const REMOVED: Reason = Reason::own(1);

/// A request, as a program's fields say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// [`RECEIVE`] or [`ORDER`].
    pub operation: u8,
    /// Number of the bearer.
    pub bearer: u32,
    /// Of [`ORDER`]: COUNT, as [`RECEIVE`] gave it.
    pub count: u32,
}

impl Request {
    /// As fields.
    pub fn fields(self) -> [u8; FIELDS_MAX] {
        let mut fields = [0; FIELDS_MAX];
        fields[0] = self.operation;
        fields[1..5].copy_from_slice(&self.bearer.to_be_bytes());
        fields[5..9].copy_from_slice(&self.count.to_be_bytes());
        fields
    }

    /// From fields.
    pub fn read(fields: &[u8; FIELDS_MAX]) -> Request {
        let &[operation, b0, b1, b2, b3, c0, c1, c2, c3, ..] = fields;
        Request { operation, bearer: u32::from_be_bytes([b0, b1, b2, b3]), count: u32::from_be_bytes([c0, c1, c2, c3]) }
    }
}

/// An answer, as a program's fields say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it is about.
    pub event: u8,
    /// COUNT.
    pub count: u32,
    /// Headers of PDCP and SDAP, in the last bytes.
    pub prefix: u32,
    /// Of the payload.
    pub payload_bytes: u16,
}

impl Answer {
    fn bytes(self) -> [u8; 11] {
        let mut bytes = [0; 11];
        bytes[0] = self.event;
        bytes[1..5].copy_from_slice(&self.count.to_be_bytes());
        bytes[5..9].copy_from_slice(&self.prefix.to_be_bytes());
        bytes[9..].copy_from_slice(&self.payload_bytes.to_be_bytes());
        bytes
    }

    /// From fields.
    pub fn read(fields: &[u8; FIELDS_MAX]) -> Answer {
        let &[event, c0, c1, c2, c3, h0, h1, h2, h3, p0, p1, ..] = fields;
        Answer {
            event,
            count: u32::from_be_bytes([c0, c1, c2, c3]),
            prefix: u32::from_be_bytes([h0, h1, h2, h3]),
            payload_bytes: u16::from_be_bytes([p0, p1]),
        }
    }
}

/// One instance: its bearers.
pub struct RadioBearerService {
    /// They take memory when they are set.
    bearers: Vec<Option<Box<Bearer>>>,
    /// When whose timer expires: each bearer's first.
    timers: BTreeSet<(u64, u32)>,
    /// What comes out by the next poll, in order: SDUs whose turn it is, then the rest. Of that some is PDUs, which ask for their turn when they have come
    /// out: what is before them must have gone on by then.
    ordered: Vec<Call>,
    done: Vec<Call>,
}

impl RadioBearerService {
    /// For bearers with numbers below `bearers`.
    ///
    /// # Panics
    /// If they are more than [`MAX_BEARERS`].
    pub fn new(bearers: usize) -> RadioBearerService {
        assert!(bearers <= MAX_BEARERS, "{bearers} bearers, at most {MAX_BEARERS}");
        RadioBearerService { bearers: (0..bearers).map(|_| None).collect(), timers: BTreeSet::new(), ordered: Vec::new(), done: Vec::new() }
    }

    /// Puts a bearer's place among the timers right.
    fn arm(timers: &mut BTreeSet<(u64, u32)>, number: u32, bearer: &mut Bearer) {
        let next = bearer.next_deadline();
        if next == bearer.armed {
            return;
        }
        if let Some(armed) = std::mem::replace(&mut bearer.armed, next) {
            timers.remove(&(armed, number));
        }
        if let Some(next) = next {
            timers.insert((next, number));
        }
    }

    /// Drops what a bearer keeps, and the bearer.
    fn remove(&mut self, number: u32) {
        let Some(mut bearer) = self.bearers[number as usize].take() else { return };
        if let Some(armed) = bearer.armed {
            self.timers.remove(&(armed, number));
        }
        bearer.give_back(&mut self.done);
    }
}

impl Service for RadioBearerService {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        for call in burst {
            let Request { operation, bearer: number, count } = Request::read(&call.fields);
            let Some(bearer) = self.bearers.get_mut(number as usize).and_then(Option::as_mut) else {
                call.drop_for(NO_BEARER);
                continue;
            };
            match operation {
                RECEIVE => bearer.receive(call, now_ns, &mut self.done),
                ORDER => bearer.order(call, count, now_ns, &mut self.ordered),
                _ => {
                    call.drop_for(Reason::MALFORMED);
                    continue;
                }
            }
            RadioBearerService::arm(&mut self.timers, number, bearer);
        }
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        // Each once: a timer of no time at all may be due again.
        let due: Vec<u32> = self.timers.range(..=(now_ns, u32::MAX)).map(|(_, number)| *number).collect();
        for number in due {
            let Some(bearer) = self.bearers[number as usize].as_mut() else { continue };
            bearer.advance(now_ns, &mut self.ordered, &mut self.done);
            RadioBearerService::arm(&mut self.timers, number, bearer);
        }
        out.append(&mut self.ordered);
        out.append(&mut self.done);
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        if !self.ordered.is_empty() || !self.done.is_empty() {
            return Some(0);
        }
        self.timers.first().map(|(due, _)| *due)
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        let index = setting.index;
        if index as usize >= self.bearers.len() {
            return Err(SettingError::Index { index, limit: self.bearers.len() as u32 });
        }
        let Some(value) = &setting.value else {
            self.remove(index);
            return Ok(());
        };
        let config = config::read(index, value)?;
        if self.bearers[index as usize].as_ref().is_some_and(|bearer| bearer.config == config) {
            return Ok(());
        }
        self.remove(index);
        self.bearers[index as usize] = Some(Box::new(Bearer::new(config)));
        Ok(())
    }
}
