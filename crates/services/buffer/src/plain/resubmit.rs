//! Algorithm 1 as a list that is searched from end to end.

use crate::resubmit::Resubmits;
use crate::{Event, Limits, Payload, Reason, Refused};

struct Packet<P> {
    id: u64,
    packet: P,
    came_ms: u64,
    attempts: u32,
    acknowledged: bool,
}

/// What comes of a turn.
#[derive(Debug, PartialEq, Eq)]
pub enum Did<S, P> {
    /// The packet of that id is sent again: what was made of it.
    Sent(u64, S),
    /// One has left.
    Left(Event<u64, P>),
}

/// Twin of [`crate::ResubmitBuffer`].
pub struct PlainResubmit<P> {
    packets: Vec<Packet<P>>,
    interval_ms: u64,
    most_attempts: u32,
    limits: Limits,
    last_ms: u64,
}

impl<P: Payload> PlainResubmit<P> {
    /// As [`crate::ResubmitBuffer::new`].
    pub fn new(interval_ms: u32, most_attempts: u32, limits: Limits) -> PlainResubmit<P> {
        PlainResubmit { packets: Vec::new(), interval_ms: interval_ms.into(), most_attempts, limits, last_ms: 0 }
    }

    /// As [`crate::ResubmitBuffer::keep`].
    ///
    /// # Errors
    /// As for that.
    pub fn keep(&mut self, id: u64, packet: P) -> Result<(), Refused<P>> {
        let reason = if self.packets.len() >= self.limits.packets {
            Reason::Packets
        } else if self.bytes() + packet.sdu_bytes() as u64 > self.limits.bytes {
            Reason::Bytes
        } else if self.packets.iter().any(|packet| packet.id == id && !packet.acknowledged) {
            Reason::Duplicate
        } else {
            self.packets.push(Packet { id, packet, came_ms: self.last_ms, attempts: 0, acknowledged: false });
            return Ok(());
        };
        Err(Refused { packet, reason })
    }

    /// As [`crate::ResubmitBuffer::status`].
    pub fn status(&mut self, id: u64) -> bool {
        let named = self.packets.iter_mut().find(|packet| packet.id == id && !packet.acknowledged);
        named.map(|packet| packet.acknowledged = true).is_some()
    }

    /// All turns up to a time; `again` makes what is sent of a packet. Packets of one bucket are in the order in which they came.
    pub fn advance<S>(&mut self, now_ns: u64, again: impl Fn(u64, &P) -> S) -> Vec<Did<S, P>> {
        let now_ms = now_ns / 1_000_000;
        let mut did = Vec::new();
        // Each bucket once, however far the clock went, in the order in which their packets came.
        for ms in self.last_ms + 1..=now_ms.min(self.last_ms + self.interval_ms) {
            let turn = |packet: &Packet<P>| packet.came_ms % self.interval_ms == ms % self.interval_ms;
            let (due, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.packets).into_iter().partition(turn);
            self.packets = rest;
            for mut packet in due {
                let key = packet.id;
                if packet.acknowledged {
                    did.push(Did::Left(Event::Acknowledged { key, packet: packet.packet }));
                } else if packet.attempts == self.most_attempts {
                    did.push(Did::Left(Event::Discarded { key, packet: packet.packet, reason: Reason::Attempts }));
                } else {
                    packet.attempts += 1;
                    did.push(Did::Sent(key, again(key, &packet.packet)));
                    self.packets.push(packet);
                }
            }
        }
        self.last_ms = self.last_ms.max(now_ms);
        did
    }

    /// Packets that are kept.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    /// Bytes of their SDUs.
    pub fn bytes(&self) -> u64 {
        self.packets.iter().map(|packet| packet.packet.sdu_bytes() as u64).sum()
    }
}

impl<P: Payload> Resubmits<P> for PlainResubmit<P> {
    fn new(interval_ms: u32, most_attempts: u32, limits: Limits) -> Self {
        PlainResubmit::new(interval_ms, most_attempts, limits)
    }

    fn keep(&mut self, id: u64, packet: P) -> Result<(), Refused<P>> {
        self.keep(id, packet)
    }

    fn status(&mut self, id: u64) -> bool {
        self.status(id)
    }

    fn advance<S>(&mut self, now_ns: u64, again: impl Fn(u64, &P) -> S, sent: &mut impl FnMut(S), left: &mut impl FnMut(Event<u64, P>)) {
        for did in self.advance(now_ns, again) {
            match did {
                Did::Sent(_, copy) => sent(copy),
                Did::Left(event) => left(event),
            }
        }
    }

    fn packets(&self) -> usize {
        self.packets()
    }
}
