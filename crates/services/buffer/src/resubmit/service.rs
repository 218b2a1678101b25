//! How does a P4 program call it? As a [`::service::Service`]: a packet is named by the number of its flow and its own in it.
//!
//! | operation | what comes of it |
//! |---|---|
//! | [`KEEP`] | kept; the program has sent it by itself. Every n ms a copy comes out to be sent again, until a status names it or the attempts are used up |
//! | [`STATUS`] | answered with event [`REPORT`]; the packet that it names comes out, at the next turn of its bucket |
//!
//! The payload is not read: a program takes the ids out of its status messages. All copies of a bucket come out together, as published.

use super::{ResubmitBuffer, Resubmits};
use crate::plain::resubmit::PlainResubmit;
use crate::{Event, Limits, Payload};
use ::service::{Access, AtOnce, Call, FIELDS_MAX, Field, Interface, Order, Question, Reason, Requests, Service, Setting, SettingError};

/// Operation: keep a packet that was sent.
pub const KEEP: u8 = 0;
/// Operation: a status that names a packet.
pub const STATUS: u8 = 1;

/// Event: a status has named the packet.
pub const ACKNOWLEDGED: u8 = 0;
/// Event of a copy: send it again.
pub const RESUBMISSION: u8 = 1;
/// Event: a status was processed.
pub const REPORT: u8 = 2;

const TICK_NS: u64 = 1_000_000;

/// Fields and reasons.
pub static INTERFACE: Interface = Interface {
    name: "resubmit",
    request: &[Field { name: "operation", width: 8 }, Field { name: "flow", width: 32 }, Field { name: "id", width: 32 }],
    answer: &[Field { name: "event", width: 8 }, Field { name: "flow", width: 32 }, Field { name: "id", width: 32 }],
    key: Some(1),
    reasons: &["packets", "bytes", "duplicate", "attempts", "status_stale"],
    access: |_| Access::None,
    sends_own: false,
    check_setting: |index, _| Err(SettingError::Index { index, limit: 0 }),
};

/// A status names a packet that is not kept: it came twice, or too late.
pub const STALE: Reason = Reason::own(4);

fn reason(reason: crate::Reason) -> Reason {
    let own = INTERFACE.reasons.iter().position(|name| *name == reason.name());
    // No other reason is given by this buffer.
    own.map_or(Reason::MALFORMED, Reason::own)
}

/// A request, as a program's fields say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// [`KEEP`] or [`STATUS`].
    pub operation: u8,
    /// Number of the flow: packets of one flow have one owner.
    pub flow: u32,
    /// Number of the packet in its flow.
    pub id: u32,
}

impl Request {
    /// As fields.
    pub fn fields(self) -> [u8; FIELDS_MAX] {
        let mut fields = [0; FIELDS_MAX];
        fields[..9].copy_from_slice(&bytes(self.operation, u64::from(self.flow) << 32 | u64::from(self.id)));
        fields
    }

    /// From fields.
    #[inline]
    pub fn read(fields: &[u8; FIELDS_MAX]) -> Request {
        let &[operation, f0, f1, f2, f3, i0, i1, i2, i3, ..] = fields;
        Request { operation, flow: u32::from_be_bytes([f0, f1, f2, f3]), id: u32::from_be_bytes([i0, i1, i2, i3]) }
    }

    fn key(self) -> u64 {
        u64::from(self.flow) << 32 | u64::from(self.id)
    }
}

/// The fields of a request, and of an answer.
fn bytes(first: u8, key: u64) -> [u8; 9] {
    let mut bytes = [first; 9];
    bytes[1..].copy_from_slice(&key.to_be_bytes());
    bytes
}

/// What is kept of a call.
pub struct Held(Call);

impl Payload for Held {
    fn sdu_bytes(&self) -> usize {
        self.0.payload_len as usize
    }
}

/// One instance.
pub struct ResubmitService<B = ResubmitBuffer<Held>> {
    buffer: B,
    /// What comes out by the next poll.
    done: Vec<Call>,
    now_ns: u64,
}

impl ResubmitService {
    /// As [`ResubmitBuffer::new`].
    ///
    /// # Panics
    /// As that.
    pub fn new(interval_ms: u32, most_attempts: u32, limits: Limits) -> ResubmitService {
        ResubmitService::over(interval_ms, most_attempts, limits)
    }
}

impl ResubmitService<PlainResubmit<Held>> {
    /// The same over the slow twin: what the interpreter calls.
    pub fn plain(interval_ms: u32, most_attempts: u32, limits: Limits) -> Self {
        ResubmitService::over(interval_ms, most_attempts, limits)
    }
}

impl<B: Resubmits<Held>> ResubmitService<B> {
    fn over(interval_ms: u32, most_attempts: u32, limits: Limits) -> Self {
        ResubmitService { buffer: B::new(interval_ms, most_attempts, limits), done: Vec::new(), now_ns: 0 }
    }

    /// Buckets have their turns before anything else of this ms.
    fn advance(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        let (mut again, mut gone) = (Vec::new(), Vec::new());
        let copy = |key, held: &Held| held.0.copy(&bytes(RESUBMISSION, key));
        self.buffer.advance(self.now_ns, copy, &mut |copy| again.push(copy), &mut |event| match event {
            Event::Acknowledged { key, packet: Held(mut call) } => {
                call.answer(&bytes(ACKNOWLEDGED, key));
                gone.push(call);
            }
            Event::Discarded { packet: Held(mut call), reason: why, .. } => {
                call.drop_for(reason(why));
                gone.push(call);
            }
            // RLC's.
            Event::MaxRetransmissions { .. } => {}
        });
        self.done.append(&mut again);
        self.done.append(&mut gone);
    }

    fn keep(&mut self, call: &mut Call, request: Request) {
        if let Err(refused) = self.buffer.keep(request.key(), Held(call.take())) {
            *call = refused.packet.0;
            call.drop_for(reason(refused.reason));
        }
    }

    /// What is answered at once, of calls and questions alike.
    fn answer_to(&mut self, request: Request) -> Result<[u8; 9], Reason> {
        match request.operation {
            STATUS if self.buffer.status(request.key()) => Ok(bytes(REPORT, request.key())),
            STATUS => Err(STALE),
            _ => Err(Reason::MALFORMED),
        }
    }
}

impl<B: Resubmits<Held> + Send> Service for ResubmitService<B> {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.advance(now_ns);
        for call in burst {
            let request = Request::read(&call.fields);
            match request.operation {
                KEEP => self.keep(call, request),
                _ => match self.answer_to(request) {
                    Ok(answer) => call.answer(&answer),
                    Err(reason) => call.drop_for(reason),
                },
            }
        }
    }

    fn at_once(&self) -> AtOnce {
        AtOnce { requests: Requests::Those(|fields| fields[0] != KEEP), order: Order::Packets }
    }

    fn answer(&mut self, burst: &mut [Question<'_>], now_ns: u64) {
        self.advance(now_ns);
        for question in burst {
            let request = Request::read(&question.fields);
            // It was not to be asked: it has to be called, and what is behind it.
            if request.operation == KEEP {
                break;
            }
            match self.answer_to(request) {
                Ok(answer) => question.answer(&answer),
                Err(reason) => question.drop_for(reason),
            }
        }
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        self.advance(now_ns);
        out.append(&mut self.done);
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        if !self.done.is_empty() {
            return Some(0);
        }
        (self.buffer.packets() > 0).then(|| (self.now_ns / TICK_NS + 1) * TICK_NS)
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        Err(SettingError::Index { index: setting.index, limit: 0 })
    }
}
