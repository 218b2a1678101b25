//! By packet id, as published (Singh et al., IEEE TMC 2023, Algorithm 1): send each packet again every n ms until a status names it.
//!
//! There are n buckets, one for each ms. A packet lies in the bucket of the ms in which it came. Every ms the next bucket's turn comes: what a
//! status has named leaves, everything else is sent again and stays. So an acknowledged packet leaves up to n ms after its status; until
//! then it counts as kept.
//!
//! Beyond the publication: ids that are kept already are refused, a packet is sent again a limited number of times, and packets and bytes are bounded.
//! After a jump of the clock each bucket has one turn, not one for each ms, and the one that is due first goes first: packets are sent again in the order in which
//! they came.
//!
//! RLC AM is not like that: it sends again what a status says is missing ([`crate::rlc`]). How a P4 program calls it: [`service`](mod@service).

pub mod service;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::{Counters, Event, Limits, Payload, Reason, Refused};

/// Longest interval in ms.
pub const MAX_INTERVAL_MS: u32 = 60_000;
/// Most packets. Memory for them is taken when the buffer is made.
pub const MAX_PACKETS: usize = 1 << 24;
const TICK_NS: u64 = 1_000_000;
/// Ends a list.
const NONE: u32 = u32::MAX;

/// A place for a packet.
struct Slot<P> {
    packet: Option<P>,
    id: u64,
    bytes: u32,
    /// How often it was sent again.
    attempts: u32,
    /// A status has named it.
    acknowledged: bool,
    /// The next of its bucket, or the next free one.
    next: u32,
}

/// First and last packet of one ms.
#[derive(Clone, Copy)]
struct Bucket {
    first: u32,
    last: u32,
}

const EMPTY: Bucket = Bucket { first: NONE, last: NONE };

/// The packets that wait for a status, by id. `P` is a packet's handle.
pub struct ResubmitBuffer<P> {
    slots: Vec<Slot<P>>,
    free: u32,
    buckets: Box<[Bucket]>,
    /// Ids that no status has named, and their places. Ids come from programs and peers, so the hash is keyed.
    places: HashMap<u64, u32>,
    limits: Limits,
    most_attempts: u32,
    packets: usize,
    bytes: u64,
    /// The ms up to which buckets have had their turn.
    tick: u64,
    counters: Counters,
}

impl<P: Payload> ResubmitBuffer<P> {
    /// Sends packets again every `interval_ms`, at most `most_attempts` times each.
    ///
    /// # Panics
    /// If `interval_ms` is not 1 to [`MAX_INTERVAL_MS`], or `limits.packets` is more than [`MAX_PACKETS`].
    pub fn new(interval_ms: u32, most_attempts: u32, limits: Limits) -> ResubmitBuffer<P> {
        assert!((1..=MAX_INTERVAL_MS).contains(&interval_ms), "an interval of {interval_ms} ms: expected 1 to {MAX_INTERVAL_MS}");
        assert!(limits.packets <= MAX_PACKETS, "{} packets: at most {MAX_PACKETS}", limits.packets);
        let slot = |next| Slot { packet: None, id: 0, bytes: 0, attempts: 0, acknowledged: false, next };
        let last = limits.packets as u32;
        ResubmitBuffer {
            slots: (1..=last).map(|next| slot(if next == last { NONE } else { next })).collect(),
            free: if last == 0 { NONE } else { 0 },
            buckets: vec![EMPTY; interval_ms as usize].into_boxed_slice(),
            // Twice the room: a table that is half full reuses the places of what was removed, and does not grow.
            places: HashMap::with_capacity(2 * limits.packets),
            limits,
            most_attempts,
            packets: 0,
            bytes: 0,
            tick: 0,
            counters: Counters::default(),
        }
    }

    /// Keeps a packet, which has been sent once, in the bucket of the ms that [`ResubmitBuffer::advance`] came to.
    ///
    /// # Errors
    /// The packet and the [`Reason`], which is counted.
    #[inline]
    pub fn keep(&mut self, id: u64, packet: P) -> Result<(), Refused<P>> {
        self.counters.offered += 1;
        let bytes = packet.sdu_bytes() as u64;
        let refused = if self.free == NONE {
            Some(Reason::Packets)
        } else if self.bytes + bytes > self.limits.bytes {
            Some(Reason::Bytes)
        } else {
            match self.places.entry(id) {
                Entry::Occupied(_) => Some(Reason::Duplicate),
                Entry::Vacant(place) => {
                    place.insert(self.free);
                    None
                }
            }
        };
        if let Some(reason) = refused {
            self.counters.discarded[reason as usize] += 1;
            return Err(Refused { packet, reason });
        }
        let at = self.free;
        let slot = &mut self.slots[at as usize];
        self.free = slot.next;
        *slot = Slot { packet: Some(packet), id, bytes: bytes as u32, attempts: 0, acknowledged: false, next: NONE };
        self.packets += 1;
        self.bytes += bytes;
        let bucket = self.bucket(self.tick);
        self.append(bucket, at);
        Ok(())
    }

    /// A status names a packet: it is not sent again. Whether it was kept; if not, the status counts as ignored, as a late one.
    #[inline]
    pub fn status(&mut self, id: u64) -> bool {
        match self.places.remove(&id) {
            Some(at) => {
                self.counters.statuses += 1;
                self.slots[at as usize].acknowledged = true;
                true
            }
            None => {
                self.counters.ignored_statuses[crate::status::StatusFault::Stale as usize] += 1;
                false
            }
        }
    }

    /// Gives each bucket its turn whose ms has come: `resend` gets what must be sent again, `events` what leaves.
    pub fn advance(&mut self, now_ns: u64, resend: &mut impl FnMut(u64, &P), events: &mut impl FnMut(Event<u64, P>)) {
        let now = now_ns / TICK_NS;
        for tick in self.tick + 1..=now.min(self.tick + self.buckets.len() as u64) {
            self.turn(self.bucket(tick), resend, events);
        }
        self.tick = self.tick.max(now);
    }

    fn turn(&mut self, bucket: usize, resend: &mut impl FnMut(u64, &P), events: &mut impl FnMut(Event<u64, P>)) {
        let mut next = std::mem::replace(&mut self.buckets[bucket], EMPTY).first;
        while next != NONE {
            let at = next;
            let slot = &mut self.slots[at as usize];
            next = slot.next;
            let id = slot.id;
            if !slot.acknowledged && slot.attempts < self.most_attempts {
                slot.attempts += 1;
                slot.next = NONE;
                self.counters.retransmitted += 1;
                resend(id, slot.packet.as_ref().expect("a packet in a bucket is kept"));
                self.append(bucket, at);
                continue;
            }
            let acknowledged = slot.acknowledged;
            let packet = slot.packet.take().expect("a packet in a bucket is kept");
            slot.next = self.free;
            self.free = at;
            self.packets -= 1;
            self.bytes -= u64::from(slot.bytes);
            if acknowledged {
                self.counters.acknowledged += 1;
                events(Event::Acknowledged { key: id, packet });
            } else {
                self.places.remove(&id);
                self.counters.discarded[Reason::Attempts as usize] += 1;
                events(Event::Discarded { key: id, packet, reason: Reason::Attempts });
            }
        }
    }

    /// What happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Packets that are kept, with those that a status has named and whose bucket's turn has not come.
    pub fn packets(&self) -> usize {
        self.packets
    }

    /// Bytes of their SDUs.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn bucket(&self, tick: u64) -> usize {
        (tick % self.buckets.len() as u64) as usize
    }

    fn append(&mut self, bucket: usize, at: u32) {
        let bucket = &mut self.buckets[bucket];
        match bucket.last {
            NONE => bucket.first = at,
            last => self.slots[last as usize].next = at,
        }
        bucket.last = at;
    }
}

/// What keeps packets behind [`service::ResubmitService`]: [`ResubmitBuffer`], or its slow twin [`crate::plain::resubmit::PlainResubmit`]. The methods are those of
/// [`ResubmitBuffer`].
#[expect(missing_docs, reason = "ResubmitBuffer's methods have them")]
pub trait Resubmits<P> {
    fn new(interval_ms: u32, most_attempts: u32, limits: Limits) -> Self;
    fn keep(&mut self, id: u64, packet: P) -> Result<(), Refused<P>>;
    fn status(&mut self, id: u64) -> bool;
    /// `again` makes what is sent of a packet once more.
    fn advance<S>(&mut self, now_ns: u64, again: impl Fn(u64, &P) -> S, sent: &mut impl FnMut(S), left: &mut impl FnMut(Event<u64, P>));
    fn packets(&self) -> usize;
}

impl<P: Payload> Resubmits<P> for ResubmitBuffer<P> {
    fn new(interval_ms: u32, most_attempts: u32, limits: Limits) -> Self {
        ResubmitBuffer::new(interval_ms, most_attempts, limits)
    }

    #[inline]
    fn keep(&mut self, id: u64, packet: P) -> Result<(), Refused<P>> {
        self.keep(id, packet)
    }

    #[inline]
    fn status(&mut self, id: u64) -> bool {
        self.status(id)
    }

    fn advance<S>(&mut self, now_ns: u64, again: impl Fn(u64, &P) -> S, sent: &mut impl FnMut(S), left: &mut impl FnMut(Event<u64, P>)) {
        self.advance(now_ns, &mut |id, packet| sent(again(id, packet)), left);
    }

    #[inline]
    fn packets(&self) -> usize {
        self.packets()
    }
}
