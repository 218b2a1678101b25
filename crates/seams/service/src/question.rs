//! What of a call that is answered at once? Its packet stays where it is, parsed, and the service works on the payload in place.
//!
//! It is a [`Call`] without a packet of its own: nothing is moved or copied for it. A service that does not look at questions itself gets them as calls,
//! with copies of their payloads: [`by_calls`], which is also what tests compare the others with.

use crate::call::{Call, FIELDS_MAX, Outcome, Reason, fields_of};
use crate::{Access, Service};
use base::{Packet, PortId};

/// A packet's call, to be answered at once.
#[derive(Debug)]
pub struct Question<'a> {
    /// The request's fields; once it is answered, the answer's: as [`Call::fields`].
    pub fields: [u8; FIELDS_MAX],
    /// The payload, and behind it the room in the packet's buffer.
    pub room: &'a mut [u8],
    /// Bytes of the payload, at most those of `room`.
    pub len: u32,
    /// The caller's, unread: which packet of the burst it is.
    pub packet: u32,
    /// The port that the packet came in by.
    pub port: PortId,
    /// What came of it: answered, or dropped. One that is still pending was declined: it has to be called.
    pub outcome: Outcome,
}

// A line of the cache.
const _: () = assert!(size_of::<Question<'_>>() <= 64);

impl Question<'_> {
    /// The payload's bytes.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.room[..self.len as usize]
    }

    /// Changes the payload's length: what is new at its end is zero. False, with nothing changed, if there is not so much room.
    #[inline]
    pub fn resize_payload(&mut self, len: usize) -> bool {
        if len > self.room.len() {
            return false;
        }
        if let Some(new) = self.room.get_mut(self.len as usize..len) {
            new.fill(0);
        }
        self.len = len as u32;
        true
    }

    /// As [`Call::answer`].
    #[inline]
    pub fn answer(&mut self, answer: &[u8]) {
        self.fields = fields_of(answer);
        self.outcome = Outcome::Answered;
    }

    /// Ends it.
    #[inline]
    pub fn drop_for(&mut self, reason: Reason) {
        self.outcome = Outcome::Dropped(reason);
    }
}

/// Questions as calls, each with a copy of its payload if the service looks at it. What the service keeps nevertheless stays kept, and nobody waits for it.
pub fn by_calls(service: &mut (impl Service + ?Sized), burst: &mut [Question<'_>], now_ns: u64) {
    let access = service.interface().access;
    let call = |question: &Question<'_>| {
        let mut packet = match access(&question.fields) {
            Access::None => Packet::void(),
            Access::Read | Access::Write => Packet::new(question.payload(), question.port),
        };
        packet.port = question.port;
        let mut call = Call::new(packet, 0, question.fields, Call::SENT_TAG);
        call.payload_len = question.len;
        call
    };
    let mut calls: Vec<Call> = burst.iter().map(call).collect();
    service.call(&mut calls, now_ns);
    for (call, question) in calls.into_iter().zip(burst) {
        question.outcome = match call.outcome {
            // It was called, and nothing came of it.
            Outcome::Pending => Outcome::Dropped(Reason::UNANSWERED),
            outcome => outcome,
        };
        if call.outcome != Outcome::Answered {
            continue;
        }
        if access(&question.fields) == Access::Write {
            let written = call.packet.data();
            let Some(place) = question.room.get_mut(..written.len()) else {
                // It has grown by more than it may.
                question.drop_for(Reason::UNANSWERED);
                continue;
            };
            place.copy_from_slice(written);
            question.len = written.len() as u32;
        }
        question.fields = call.fields;
    }
}
