//! How does a P4 program keep packets? As a [`::service::Service`] over [`RlcBuffer`]: bearer and sequence number as fields.
//!
//! Two manners of keeping:
//! - [`KEEP`] and [`SEND`] keep the packet itself: it comes out when it is acknowledged or discarded, and until then copies of it come out to be sent.
//! - [`NEXT`] keeps a copy of the SDU: the packet goes on at once, and what is sent later is a packet of the service's own
//!   ([`Call::OWN_TAG`]): the fields of an answer, and behind them the bytes of the SDU that it is about.
//!
//! Bearers come as settings.
//!
//! | operation | payload | what comes of it |
//! |---|---|---|
//! | [`KEEP`] | the SDU | kept; the program has sent it by itself |
//! | [`SEND`] | the SDU | kept, and a copy comes out at once as event [`SENT`], with the P bit that is due |
//! | [`NEXT`] | the SDU | a copy is kept under the number that follows the bearer's last. The packet goes on with event [`SENT`] and the P bit that is due, or with [`IN_SEGMENTS`] |
//! | [`STATUS`] | a STATUS PDU | answered with event [`REPORT`]; what it acknowledges is kept no longer |
//! | [`ROOM`] | the SDU | a place for it is reserved: event [`HAS_ROOM`]; else dropped for the reason of [`NEXT`] |
//! | [`CUT`] | the SDU | nothing is kept: event [`IN_SEGMENTS`] |
//!
//! **Segmentation** (TS 38.322 §5.2.2.2, §5.2.3.1.1). A request with `segment_bytes` says what a PDU has room for: the SDU comes out in parts with flag [`PART`]. Of
//! [`SEND`] they are copies of the packet with that part as payload, and the headers that the program puts in front of the payload are in the first part, whole. Of
//! [`NEXT`] and [`CUT`] they are packets of the service's own, and the headers are bytes of the SDU like others; the packet itself goes on with event [`IN_SEGMENTS`],
//! and has nothing left to carry. Parts of packets that are sent again are as long as the bearer's last request said.

use crate::plain::rlc::PlainRlc;
use crate::rlc::{BearerConfig, Keeps, Key, MAX_BEARERS};
use crate::status::{SnLength, StatusFault};
use crate::store::Store;
use crate::{Event, Limits, Payload, RlcBuffer};
use ::service::{
    Access, AtOnce, Call, FIELDS_MAX, Field, Interface, Order, Outcome, Question, Reason, Requests, Service, Setting, SettingError,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Operation: keep a packet that was sent.
pub const KEEP: u8 = 0;
/// Operation: a STATUS PDU of the peer.
pub const STATUS: u8 = 1;
/// Operation: keep a packet and send it.
pub const SEND: u8 = 2;
/// Operation: number a packet, and keep a copy of its SDU. A packet that is refused has spent no number, so that the peer does not wait for it.
pub const NEXT: u8 = 3;
/// Operation: reserve a place for one more. A program asks before it spends a number of its own on the packet: the answer's `sn` counts the bearer's places, and is the
/// `sn` of the [`NEXT`] for which the place is. Places whose packets do not come are free again with the first that comes behind them, or when the bearer's `t-PollRetransmit` expires.
pub const ROOM: u8 = 4;
/// Operation: cut a packet into segments, and keep nothing. They have the request's number and, beyond that, the number of packets of the bearer that were cut before.
pub const CUT: u8 = 5;

/// Event: the peer has the packet; `sn` names it.
pub const ACKNOWLEDGED: u8 = 0;
/// Event of a copy: send it again, from byte `start` to before byte `end`.
pub const RETRANSMISSION: u8 = 1;
/// Event: a status was processed. `sn` is the number of packets acknowledged, `start` of those missing, `end` of those missing and not kept.
pub const REPORT: u8 = 2;
/// Event of a packet, or of a copy of it: send it for the first time.
pub const SENT: u8 = 3;
/// Event: there is room; `sn` is the number of the place, from 0 since the bearer was set; `u32::MAX`: its numbers are spent.
pub const HAS_ROOM: u8 = 4;
/// Event: the SDU goes in segments, which are packets of the service's own.
pub const IN_SEGMENTS: u8 = 5;

/// In `flags`: the PDU must carry the P bit.
pub const POLL: u8 = 1;
/// In `flags` of a request of [`SEND`]: the packet gets the number that follows the bearer's last, as by [`NEXT`].
pub const NUMBER: u8 = 0x10;
/// In `flags`: the packet has been sent again as often as the bearer allows (TS 38.322 §5.3.2). It is still kept.
pub const MAX_RETRANSMISSIONS: u8 = 2;
/// In `flags` of an answer: the payload is the SDU from byte `start` to before byte `end`; of [`SEND`] without the program's headers, which belong to byte 0.
pub const PART: u8 = 4;
/// In `flags` beside [`PART`]: the SDU goes on behind `end`.
pub const MORE: u8 = 8;

/// Bytes of the field SO, which segments have that are not their SDU's first (TS 38.322 §6.2.3.5).
const SO_BYTES: usize = 2;

/// Copies that one poll gives at most: a lane goes on with other packets.
const BURST: usize = 64;
/// Timers run in ticks of 1 ms.
const TICK_NS: u64 = 1_000_000;

/// Fields and reasons.
pub static INTERFACE: Interface = Interface {
    name: "buffer",
    request: &[
        Field { name: "operation", width: 8 },
        Field { name: "bearer", width: 32 },
        Field { name: "sn", width: 32 },
        Field { name: "flags", width: 8 },
        Field { name: "prefix_bytes", width: 8 },
        Field { name: "segment_bytes", width: 16 },
        Field { name: "prefix", width: 32 },
    ],
    answer: &[
        Field { name: "event", width: 8 },
        Field { name: "bearer", width: 32 },
        Field { name: "sn", width: 32 },
        Field { name: "start", width: 16 },
        Field { name: "end", width: 16 },
        Field { name: "flags", width: 8 },
    ],
    key: Some(1),
    reasons: &[
        "no_bearer",
        "out_of_order",
        "window",
        "bearer_bytes",
        "packets",
        "bytes",
        "duplicate",
        "attempts",
        "upper_layer",
        "removed",
        "status_no_bearer",
        "status_length",
        "status_not_status",
        "status_field",
        "status_stale",
        "status_outside_window",
    ],
    access: |fields| match Request::read(fields) {
        Request { operation: STATUS | NEXT | CUT, .. } => Access::Read,
        Request { operation: SEND, segment_bytes: 1.., .. } => Access::Write,
        _ => Access::None,
    },
    sends_own: true,
    check_setting: |index, value| match value {
        _ if index as usize >= MAX_BEARERS => Err(SettingError::Index { index, limit: MAX_BEARERS as u32 }),
        Some(value) => read_bearer(index, value).map(drop),
        None => Ok(()),
    },
};

fn reason(reason: crate::Reason) -> Reason {
    Reason::own(reason as usize)
}

fn status_reason(fault: StatusFault) -> Reason {
    Reason::own(crate::Reason::ALL.len() + fault as usize)
}

/// A request, as a program's fields say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// [`KEEP`], [`STATUS`], [`SEND`], [`NEXT`], [`ROOM`] or [`CUT`].
    pub operation: u8,
    /// Number of the bearer.
    pub bearer: u32,
    /// The packet's sequence number; of [`NEXT`] the number of its place, if it has one. It is not read of a status and [`ROOM`].
    pub sn: u32,
    /// [`POLL`]: the PDU carries the P bit. [`NUMBER`].
    pub flags: u8,
    /// Bytes of the SDU that the program puts in front of the payload.
    pub prefix_bytes: u8,
    /// Bytes of an SDU that a PDU with a segment offset has room for; one without has room for two more. 0: the SDU fits a PDU as it is.
    pub segment_bytes: u16,
    /// Of [`NEXT`] and [`CUT`]: those `prefix_bytes`, at most 4, in the last bytes of this.
    pub prefix: u32,
}

impl Request {
    /// Without flags, headers and segments.
    pub fn new(operation: u8, bearer: u32, sn: u32) -> Request {
        Request { operation, bearer, sn, flags: 0, prefix_bytes: 0, segment_bytes: 0, prefix: 0 }
    }

    /// As fields.
    pub fn fields(self) -> [u8; FIELDS_MAX] {
        let mut fields = [0; FIELDS_MAX];
        fields[0] = self.operation;
        fields[1..5].copy_from_slice(&self.bearer.to_be_bytes());
        fields[5..9].copy_from_slice(&self.sn.to_be_bytes());
        fields[9] = self.flags;
        fields[10] = self.prefix_bytes;
        fields[11..13].copy_from_slice(&self.segment_bytes.to_be_bytes());
        fields[13..17].copy_from_slice(&self.prefix.to_be_bytes());
        fields
    }

    /// The program's headers in front of the payload.
    fn prefix(&self) -> Result<Prefix, Reason> {
        let from = 4usize.checked_sub(self.prefix_bytes.into()).ok_or(Reason::MALFORMED)?;
        Ok(Prefix { from, bytes: self.prefix.to_be_bytes() })
    }

    /// From fields.
    #[inline]
    pub fn read(fields: &[u8; FIELDS_MAX]) -> Request {
        let &[operation, b0, b1, b2, b3, s0, s1, s2, s3, flags, prefix_bytes, g0, g1, p0, p1, p2, p3, ..] = fields;
        let (bearer, sn) = (u32::from_be_bytes([b0, b1, b2, b3]), u32::from_be_bytes([s0, s1, s2, s3]));
        let (segment_bytes, prefix) = (u16::from_be_bytes([g0, g1]), u32::from_be_bytes([p0, p1, p2, p3]));
        Request { operation, bearer, sn, flags, prefix_bytes, segment_bytes, prefix }
    }
}

/// Headers that a program puts in front of a payload.
struct Prefix {
    from: usize,
    bytes: [u8; 4],
}

impl Prefix {
    fn bytes(&self) -> &[u8] {
        &self.bytes[self.from..]
    }
}

/// An answer, as a program's fields say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it is about.
    pub event: u8,
    /// Number of the bearer.
    pub bearer: u32,
    /// See the event.
    pub sn: u32,
    /// See the event.
    pub start: u16,
    /// See the event.
    pub end: u16,
    /// [`POLL`], [`MAX_RETRANSMISSIONS`], [`PART`], [`MORE`].
    pub flags: u8,
}

/// Bytes of an answer.
const ANSWER_LEN: usize = 14;

impl Answer {
    fn bytes(self) -> [u8; ANSWER_LEN] {
        let mut bytes = [0; ANSWER_LEN];
        bytes[0] = self.event;
        bytes[1..5].copy_from_slice(&self.bearer.to_be_bytes());
        bytes[5..9].copy_from_slice(&self.sn.to_be_bytes());
        bytes[9..11].copy_from_slice(&self.start.to_be_bytes());
        bytes[11..13].copy_from_slice(&self.end.to_be_bytes());
        bytes[13] = self.flags;
        bytes
    }

    /// As fields.
    #[inline]
    fn fields(self) -> [u8; FIELDS_MAX] {
        // By whole words, as in `bytes`: of packets that come back by the thousand.
        let [sn0, sn1, sn2, sn3] = self.sn.to_be_bytes().map(u64::from);
        let first = u64::from(self.event) << 56 | u64::from(self.bearer) << 24 | sn0 << 16 | sn1 << 8 | sn2;
        let second = sn3 << 56 | u64::from(self.start) << 40 | u64::from(self.end) << 24 | u64::from(self.flags) << 16;
        let words = u128::from(first) << 64 | u128::from(second);
        let mut fields = [0; FIELDS_MAX];
        fields[..16].copy_from_slice(&words.to_be_bytes());
        fields
    }

    /// From fields.
    pub fn read(fields: &[u8; FIELDS_MAX]) -> Answer {
        let &[event, b0, b1, b2, b3, s0, s1, s2, s3, a0, a1, e0, e1, flags, ..] = fields;
        Answer {
            event,
            bearer: u32::from_be_bytes([b0, b1, b2, b3]),
            sn: u32::from_be_bytes([s0, s1, s2, s3]),
            start: u16::from_be_bytes([a0, a1]),
            end: u16::from_be_bytes([e0, e1]),
            flags,
        }
    }
}

/// A bearer's setting: its index is the bearer's number.
pub fn bearer_setting(config: &BearerConfig) -> Vec<u8> {
    let bits: u8 = match config.sn_length {
        SnLength::Bits12 => 12,
        SnLength::Bits18 => 18,
    };
    let mut value = vec![bits];
    value.extend(config.window.to_be_bytes());
    value.extend(config.bytes.to_be_bytes());
    value.extend(config.poll_retransmit_ms.to_be_bytes());
    value.extend(config.poll_pdu.unwrap_or(0).to_be_bytes());
    value.extend(config.poll_byte.unwrap_or(0).to_be_bytes());
    value.push(config.max_retransmissions);
    value
}

fn wrong(index: u32, what: impl ToString) -> SettingError {
    SettingError::Value { index, what: what.to_string() }
}

fn read_bearer(index: u32, value: &[u8]) -> Result<BearerConfig, SettingError> {
    let config = split_bearer(value).ok_or_else(|| wrong(index, "expected a bearer's 26 bytes, with 12 or 18 bits of sequence numbers"))?;
    config.check().map_err(|error| wrong(index, error))?;
    Ok(config)
}

fn split_bearer(value: &[u8]) -> Option<BearerConfig> {
    let (&[bits], rest) = value.split_first_chunk()?;
    let (window, rest) = rest.split_first_chunk()?;
    let (bytes, rest) = rest.split_first_chunk()?;
    let (poll_retransmit_ms, rest) = rest.split_first_chunk()?;
    let (poll_pdu, rest) = rest.split_first_chunk()?;
    let (poll_byte, rest) = rest.split_first_chunk()?;
    let &[max_retransmissions] = rest else { return None };
    let some = |bytes: &[u8; 4]| Some(u32::from_be_bytes(*bytes)).filter(|n| *n > 0);
    Some(BearerConfig {
        sn_length: match bits {
            12 => SnLength::Bits12,
            18 => SnLength::Bits18,
            _ => return None,
        },
        window: u32::from_be_bytes(*window),
        bytes: u64::from_be_bytes(*bytes),
        poll_retransmit_ms: u32::from_be_bytes(*poll_retransmit_ms),
        poll_pdu: some(poll_pdu),
        poll_byte: some(poll_byte),
        max_retransmissions,
    })
}

/// What is sent of the part of a kept SDU that `answer` says, in segments that fit a PDU; with `segment_bytes` 0 of the whole, in one.
fn send(store: &Store, held: Held, segment_bytes: u16, answer: Answer, out: &mut Vec<Call>) {
    if let Some((sdu, route)) = store.sdu(held) {
        return send_own(sdu, route, segment_bytes, answer, out);
    }
    let Some(kept) = store.packet(held) else { return };
    // Elsewhere the packet's bytes stay with the lane that called.
    if segment_bytes == 0 || kept.packet().is_void() {
        return out.push(kept.copy(&answer.bytes()));
    }
    let prefix = usize::from(kept.own);
    for part in parts(prefix, held.sdu_bytes(), segment_bytes, answer) {
        let mut copy = kept.copy(&[]);
        hold(&mut copy, prefix, part);
        copy.outcome = Outcome::Copy;
        out.push(copy);
    }
}

/// The same of an SDU as packets of the service's own.
fn send_own(sdu: &[u8], route: u32, segment_bytes: u16, answer: Answer, out: &mut Vec<Call>) {
    let mut push = |part: Answer, bytes: &[u8]| out.push(Call::own(bytes, &part.bytes(), route));
    match segment_bytes {
        0 => push(Answer { start: 0, end: sdu.len() as u16, ..answer }, sdu),
        _ => parts(0, sdu.len(), segment_bytes, answer).for_each(|part| push(part, &sdu[part.start.into()..part.end.into()])),
    }
}

/// The segments of a part of an SDU, of which the first `prefix` bytes are headers of the program: what begins or ends within them holds them all. The P bit is the
/// last one's.
fn parts(prefix: usize, sdu: usize, segment_bytes: u16, answer: Answer) -> impl Iterator<Item = Answer> {
    let room = usize::from(segment_bytes).max(prefix + 1);
    let stop = usize::from(answer.end).max(prefix + 1).min(sdu);
    let first = if usize::from(answer.start) <= prefix { 0 } else { usize::from(answer.start) };
    let mut next = first;
    std::iter::from_fn(move || {
        let start = next;
        if start >= stop {
            return None;
        }
        let end = (start + room + if start == 0 { SO_BYTES } else { 0 }).min(stop);
        next = end;
        let mut flags = PART;
        flags |= if end < sdu { MORE } else { 0 };
        flags |= if end == stop { answer.flags & POLL } else { 0 };
        flags |= if start == first { answer.flags & MAX_RETRANSMISSIONS } else { 0 };
        Some(Answer { start: start as u16, end: end as u16, flags, ..answer })
    })
}

/// Leaves only that part of its SDU in a call, and answers it.
fn hold(call: &mut Call, prefix: usize, part: Answer) {
    let (from, to) = (usize::from(part.start).saturating_sub(prefix), usize::from(part.end) - prefix);
    call.payload_mut().copy_within(from..to, 0);
    let shorter = call.resize_payload(to - from);
    debug_assert!(shorter);
    call.answer(&part.bytes());
}

pub use crate::store::Held;

/// How fast packets are sent again, those of all bearers together.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Bytes of RLC PDUs a second, at least 1.
    pub bytes_per_s: u64,
    /// What was sent again is added here, in bytes of RLC PDUs: whoever shapes what is sent for the first time takes it from the rate that they share.
    pub sent: Arc<AtomicU64>,
}

/// How long a pace may be saved up, in ns: more than a lane that has nothing to do sleeps.
const SAVED_NS: u64 = 4_000_000;
/// Header of an RLC AM PDU, at most: 18 bits of sequence number, and a segment offset.
const PDU_HEADER: u64 = 5;

/// One instance: a buffer and its bearers.
pub struct BufferService<B = RlcBuffer<Held>> {
    buffer: B,
    store: Store,
    configs: Vec<Option<BearerConfig>>,
    /// By bearer: `segment_bytes` of the last request that cut a packet.
    segment_bytes: Vec<u16>,
    /// By bearer: packets that [`CUT`] has cut since it was set last, or removed.
    cut: Vec<u32>,
    /// What comes out by the next poll.
    done: Vec<Call>,
    /// Packets that were sent again too often, to be told with their next copies.
    exhausted: BTreeSet<Key>,
    /// Of the burst: what is kept.
    keys: Vec<Key>,
    now_ns: u64,
    pace: Option<Pace>,
    /// When by its pace the next packet is sent again.
    again_ns: u64,
}

impl BufferService {
    /// For bearers with numbers below `bearers`.
    ///
    /// # Panics
    /// If they are more than [`crate::rlc::MAX_BEARERS`].
    pub fn new(bearers: usize, limits: Limits) -> BufferService {
        BufferService::over(bearers, limits)
    }

    /// The same, but what is sent again keeps to a pace. Without one it goes at once.
    pub fn paced(self, pace: Pace) -> BufferService {
        BufferService { pace: Some(pace), ..self }
    }
}

impl BufferService<PlainRlc<Held>> {
    /// The same over the slow twin: what the interpreter calls.
    pub fn plain(bearers: usize, limits: Limits) -> Self {
        BufferService::over(bearers, limits)
    }
}

impl<B: Keeps<Held>> BufferService<B> {
    fn over(bearers: usize, limits: Limits) -> Self {
        BufferService {
            buffer: B::new(bearers, limits),
            store: Store::default(),
            configs: vec![None; bearers],
            segment_bytes: vec![0; bearers],
            cut: vec![0; bearers],
            done: Vec::new(),
            exhausted: BTreeSet::new(),
            keys: Vec::new(),
            now_ns: 0,
            pace: None,
            again_ns: 0,
        }
    }

    #[inline]
    fn keep(&mut self, call: &mut Call, request: Request, now_ns: u64) {
        let Request { bearer, flags, operation, prefix_bytes, segment_bytes, .. } = request;
        let BufferService { buffer, store, done, segment_bytes: segments, .. } = self;
        let sn = if operation == SEND && flags & NUMBER != 0 { buffer.next_sn(bearer).unwrap_or_default() } else { request.sn };
        let sdu_bytes = call.payload_len as usize + usize::from(prefix_bytes);
        let end = sdu_bytes.min(usize::from(u16::MAX)) as u16;
        let (mut is_sent, mut is_cut) = (false, false);
        let kept = buffer.keep_with(bearer, sn, sdu_bytes as u64, flags & POLL != 0, now_ns, || {
            if operation == SEND {
                // Elsewhere the packet's bytes stay with the lane that called.
                is_cut = segment_bytes > 0 && !call.packet.is_void();
                is_sent = !is_cut;
            }
            let mut kept = if is_sent { call.keep_copy() } else { call.keep() };
            kept.own = prefix_bytes;
            store.keep(kept, end)
        });
        match kept {
            Err(why) => call.drop_for(reason(why)),
            Ok(kept) => {
                let sent = Answer { event: SENT, bearer, sn, start: 0, end, flags: u8::from(kept.poll) };
                if is_sent {
                    let mut copy = call.take();
                    (copy.fields, copy.outcome) = (sent.fields(), Outcome::Copy);
                    done.push(copy);
                } else if is_cut {
                    segments[bearer as usize] = segment_bytes;
                    if let Some(held) = buffer.packet(bearer, sn) {
                        send(store, *held, segment_bytes, sent, done);
                    }
                }
            }
        }
    }

    /// What is answered at once, of calls and questions alike: its outcome, and the answer in place of the request's fields. Each answer is put there by whole words, from registers:
    /// one that lay in memory before would be waited for until the copy that is kept has been written to memory.
    #[inline]
    fn answer_to(&mut self, fields: &mut [u8; FIELDS_MAX], (payload, payload_len): (&[u8], u32), route: u32, now_ns: u64) -> Outcome {
        let request = Request::read(fields);
        let done = match request.operation {
            NEXT => self.next(request, payload, route, now_ns, fields),
            STATUS => self.status(request.bearer, payload).map(|answer| *fields = answer.fields()),
            ROOM => self.room(request, payload_len, now_ns, fields),
            CUT => self.cut(request, payload, route).map(|answer| *fields = answer.fields()),
            _ => Err(Reason::MALFORMED),
        };
        done.map_or_else(Outcome::Dropped, |()| Outcome::Answered)
    }

    /// Keeps a copy of an SDU.
    #[inline]
    fn next(&mut self, request: Request, payload: &[u8], route: u32, now_ns: u64, fields: &mut [u8; FIELDS_MAX]) -> Result<(), Reason> {
        let Request { bearer, flags, segment_bytes, .. } = request;
        let BufferService { buffer, store, done, segment_bytes: segments, .. } = self;
        buffer.claim(bearer, request.sn);
        let prefix = request.prefix()?;
        let bytes = usize::from(request.prefix_bytes) + payload.len();
        let end = own_len(bytes)?;
        let sn = buffer.next_sn(bearer).unwrap_or_default();
        let copy = || store.copy(prefix.bytes(), payload, route);
        let kept = buffer.keep_with(bearer, sn, bytes as u64, flags & POLL != 0, now_ns, copy).map_err(reason)?;
        let sent = Answer { event: SENT, bearer, sn, start: 0, end, flags: u8::from(kept.poll) };
        if segment_bytes == 0 {
            *fields = sent.fields();
            return Ok(());
        }
        segments[bearer as usize] = segment_bytes;
        if let Some(held) = buffer.packet(bearer, sn) {
            send(store, *held, segment_bytes, sent, done);
        }
        *fields = Answer { event: IN_SEGMENTS, ..sent }.fields();
        Ok(())
    }

    #[inline]
    fn room(&mut self, request: Request, payload_len: u32, now_ns: u64, fields: &mut [u8; FIELDS_MAX]) -> Result<(), Reason> {
        let Request { bearer, prefix_bytes, .. } = request;
        let bytes = own_len(payload_len as usize + usize::from(prefix_bytes))?;
        let sn = self.buffer.reserve(bearer, bytes.into(), now_ns).map_err(reason)?;
        *fields = Answer { event: HAS_ROOM, bearer, sn, start: 0, end: 0, flags: 0 }.fields();
        Ok(())
    }

    /// Segments without a buffer: RLC UM.
    fn cut(&mut self, request: Request, payload: &[u8], route: u32) -> Result<Answer, Reason> {
        let Request { bearer, sn, segment_bytes, .. } = request;
        let sdu = [request.prefix()?.bytes(), payload].concat();
        let end = own_len(sdu.len())?;
        if segment_bytes == 0 || sdu.is_empty() {
            return Err(Reason::MALFORMED);
        }
        let cut = self.cut.get_mut(bearer as usize).ok_or(reason(crate::Reason::NoBearer))?;
        let sent = Answer { event: SENT, bearer, sn: sn.wrapping_add(*cut), start: 0, end, flags: 0 };
        *cut = cut.wrapping_add(1);
        send_own(&sdu, route, segment_bytes, sent, &mut self.done);
        Ok(Answer { event: IN_SEGMENTS, ..sent })
    }

    fn status(&mut self, bearer: u32, pdu: &[u8]) -> Result<Answer, Reason> {
        let BufferService { buffer, store, done, exhausted, .. } = self;
        let report = buffer.status(bearer, pdu, &mut |event| note(event, store, done, exhausted)).map_err(status_reason)?;
        let small = |n: u32| n.min(u32::from(u16::MAX)) as u16;
        let (start, end) = (small(report.nacked), small(report.absent));
        Ok(Answer { event: REPORT, bearer, sn: report.acknowledged, start, end, flags: 0 })
    }

    /// Asks the cache for what the requests of a burst will need: its misses overlap.
    fn touch<'a>(&mut self, calls: impl Iterator<Item = (&'a [u8; FIELDS_MAX], u32)> + Clone) {
        let requests = calls.clone().map(|(fields, _)| fields);
        self.buffer.prefetch(requests.clone().map(|fields| Request::read(fields).bearer));
        let copies = calls.filter(|(fields, _)| fields[0] == NEXT);
        self.store.prefetch(copies.map(|(fields, len)| usize::from(Request::read(fields).prefix_bytes) + len as usize));
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        keys.extend(requests.clone().map(|fields| {
            let Request { operation, bearer, sn, flags, .. } = Request::read(fields);
            // These have none of their own: theirs is the bearer's next.
            let sn =
                if matches!(operation, NEXT | ROOM) || flags & NUMBER != 0 { self.buffer.next_sn(bearer).unwrap_or_default() } else { sn };
            Key { bearer, sn }
        }));
        self.buffer.touch(&keys);
        let statuses = requests.zip(&keys).filter(|(fields, _)| fields[0] == STATUS);
        self.buffer.touch_waiting(statuses.map(|(_, key)| key.bearer));
        self.keys = keys;
    }
}

/// The length of an SDU that a packet of the service's own has room for.
fn own_len(bytes: usize) -> Result<u16, Reason> {
    if bytes > Call::OWN_MAX { Err(Reason::MALFORMED) } else { Ok(bytes as u16) }
}

/// Whether it may keep the packet itself.
fn keeps(operation: u8) -> bool {
    matches!(operation, KEEP | SEND)
}

/// An event as a call that comes out.
fn note(event: Event<Key, Held>, store: &mut Store, done: &mut Vec<Call>, exhausted: &mut BTreeSet<Key>) {
    match event {
        Event::Acknowledged { key, packet } => {
            if !exhausted.is_empty() {
                exhausted.remove(&key);
            }
            if let Some(kept) = store.release(packet) {
                let Key { bearer, sn } = key;
                let answer = Answer { event: ACKNOWLEDGED, bearer, sn, start: 0, end: 0, flags: 0 };
                done.push(kept.into_ended(answer.fields(), Outcome::Answered));
            }
        }
        Event::Discarded { key, packet, reason: why } => {
            exhausted.remove(&key);
            if let Some(kept) = store.release(packet) {
                done.push(kept.into_ended([0; FIELDS_MAX], Outcome::Dropped(reason(why))));
            }
        }
        Event::MaxRetransmissions { key } => {
            exhausted.insert(key);
        }
    }
}

impl<B: Keeps<Held> + Send> Service for BufferService<B> {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.now_ns = now_ns;
        self.touch(burst.iter().map(|call| (&call.fields, call.payload_len)));
        for call in burst {
            let request = Request::read(&call.fields);
            match request.operation {
                KEEP | SEND => self.keep(call, request, now_ns),
                _ => {
                    let Call { packet, payload, payload_len, route, fields, .. } = call;
                    let payload = packet.data().get(*payload as usize..).unwrap_or_default();
                    call.outcome = self.answer_to(fields, (payload, *payload_len), *route, now_ns);
                }
            }
        }
    }

    /// A packet itself is kept with what the program needs to go on with it later, which it has only where it stops. Places are reserved ahead of the packets that
    /// they are for, so that those of a burst may be reserved together.
    fn at_once(&self) -> AtOnce {
        AtOnce { requests: Requests::Those(|fields| !keeps(fields[0])), order: Order::Places }
    }

    fn answer(&mut self, burst: &mut [Question<'_>], now_ns: u64) {
        self.now_ns = now_ns;
        self.touch(burst.iter().map(|question| (&question.fields, question.len)));
        for question in burst {
            // It was not to be asked: it has to be called, and what is behind it.
            if keeps(question.fields[0]) {
                break;
            }
            let Question { fields, room, len, .. } = question;
            question.outcome = self.answer_to(fields, (&room[..*len as usize], *len), 0, now_ns);
        }
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        self.now_ns = now_ns;
        let BufferService { buffer, store, done, exhausted, segment_bytes, pace, again_ns, .. } = self;
        buffer.advance(now_ns, &mut |event| note(event, store, done, exhausted));
        // As a rule the caller has taken all that was there: then nothing is copied.
        if out.is_empty() {
            std::mem::swap(out, done);
        } else {
            out.append(done);
        }
        *again_ns = (*again_ns).max(now_ns.saturating_sub(SAVED_NS));
        for _ in 0..BURST {
            if pace.is_some() && *again_ns > now_ns {
                break;
            }
            let Some(again) = buffer.next_retransmission(now_ns) else { break };
            let (bytes, before) = ((again.end - again.start) as u64, out.len() as u64);
            let mut flags = if again.poll { POLL } else { 0 };
            if exhausted.remove(&again.key) {
                flags |= MAX_RETRANSMISSIONS;
            }
            let Key { bearer, sn } = again.key;
            let (start, end) = (again.start as u16, again.end.min(usize::from(u16::MAX)) as u16);
            let answer = Answer { event: RETRANSMISSION, bearer, sn, start, end, flags };
            send(store, *again.packet, segment_bytes[bearer as usize], answer, out);
            if let Some(Pace { bytes_per_s, sent }) = pace {
                let bytes = bytes + PDU_HEADER * (out.len() as u64 - before);
                sent.fetch_add(bytes, Relaxed);
                *again_ns += (bytes * 1_000_000_000).div_ceil((*bytes_per_s).max(1));
            }
        }
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        if !self.done.is_empty() {
            return Some(0);
        }
        (self.buffer.packets() > 0).then(|| (self.now_ns / TICK_NS + 1) * TICK_NS)
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        let index = setting.index;
        let Some(place) = self.configs.get_mut(index as usize) else {
            return Err(SettingError::Index { index, limit: self.configs.len() as u32 });
        };
        let BufferService { buffer, store, done, exhausted, segment_bytes, cut, .. } = self;
        let Some(value) = &setting.value else {
            buffer.remove(index, &mut |event| note(event, store, done, exhausted));
            (*place, segment_bytes[index as usize], cut[index as usize]) = (None, 0, 0);
            return Ok(());
        };
        let config = read_bearer(index, value)?;
        if *place == Some(config) {
            return Ok(());
        }
        buffer.add(index, config).map_err(|error| wrong(index, error))?;
        (*place, cut[index as usize]) = (Some(config), 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answers_fields_are_its_bytes() {
        let answer = Answer { event: 0xfe, bearer: 0x0123_4567, sn: 0x89ab_cdef, start: 0x1357, end: 0x2468, flags: 0x9a };
        assert_eq!((&answer.fields()[..ANSWER_LEN], Answer::read(&answer.fields())), (&answer.bytes()[..], answer));
        assert_eq!(answer.fields()[ANSWER_LEN..], [0; FIELDS_MAX - ANSWER_LEN]);
    }
}
