//! Which packet leaves a port next? Queues of a port with a rate: strict ones first, the highest number first of all, and what they leave is shared by weight
//! (deficit round robin, Shreedhar and Varghese, SIGCOMM 1995).
//!
//! - **Work conserving**: while any queue has packets and the rate lets one pass, one leaves.
//! - **Shares** of weighted queues that stay full differ from their weights by no more than a round's quantum and a packet each, however long.
//! - **Bounded**: a queue takes no more than the port's rate sends in its longest delay, what has waited for longer is dropped, and all queues together
//!   hold so many packets. CoDel (RFC 8289) keeps the delay of each low, and marks (RFC 3168) before it drops.
//!
//! The rate is the caller's ([`Pace`]), since several threads may send by one port.

use crate::codel::{Codel, Law};
use crate::counters::Counters;
use crate::shaper::Reason;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// Queues of a port, by number.
pub const QUEUES: usize = 8;
/// Bytes that a queue of weight 1 may send in a round: a frame of the usual length, so that each round serves it.
pub const QUANTUM: u64 = 1514;
/// Packets that a queue may hold whatever the rate is.
const LEAST_PACKETS: usize = 4;
const NANO: u128 = 1_000_000_000;

/// When a queue is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Before all queues of lower numbers that are strict, and before all that are not.
    Strict,
    /// When no strict queue has packets, by weight: 1 or more.
    Weighted(u16),
}

/// What one queue is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// When it is served.
    pub service: Service,
    /// How long a packet may wait, in ns.
    pub delay_ns: u64,
}

impl Default for QueueSettings {
    fn default() -> QueueSettings {
        QueueSettings { service: Service::Weighted(1), delay_ns: 50_000_000 }
    }
}

/// What a port's queues are set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSettings {
    /// Bytes a second.
    pub rate: u64,
    /// By number.
    pub queues: [QueueSettings; QUEUES],
    /// Packets in all queues of one scheduler.
    pub packets: usize,
    /// CoDel's.
    pub law: Law,
}

/// The rate of a port, of all that send by it: packets a line's time apart, but for a burst (a virtual scheduling algorithm, ITU-T I.371).
#[derive(Debug)]
pub struct Pace {
    /// Bytes a second.
    rate: u64,
    burst: u64,
    /// When the line is free, in 2^-6 ns, so that a frame's time is exact enough at 100 Gbit/s.
    free: AtomicU64,
}

/// Part of a nanosecond that [`Pace`] counts in.
const FRACTION: u32 = 6;

impl Pace {
    /// A line that is free. `rate` in bytes a second, at least 1; `burst_ns` how much may go at once after a pause, as time of the line.
    pub fn new(rate: u64, burst_ns: u64) -> Pace {
        Pace { rate: rate.max(1), burst: burst_ns << FRACTION, free: AtomicU64::new(0) }
    }

    /// Takes the line for `size` bytes; or when it will be free, in ns.
    pub fn take(&self, size: u32, now_ns: u64) -> Result<(), u64> {
        let (now, took) = (now_ns << FRACTION, self.time(size));
        let next = |free: u64| (free <= now).then(|| free.max(now.saturating_sub(self.burst)).saturating_add(took));
        self.free.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).map(|_| ()).map_err(|free| free.div_ceil(1 << FRACTION))
    }

    /// Gives back what was just taken: the packet is dropped instead.
    pub fn give_back(&self, size: u32) {
        self.free.fetch_sub(self.time(size), Ordering::AcqRel);
    }

    fn time(&self, size: u32) -> u64 {
        u64::try_from(((u128::from(size) * NANO) << FRACTION).div_ceil(self.rate.into())).unwrap_or(u64::MAX >> 1)
    }
}

/// What became of a packet that waited.
#[derive(Debug, PartialEq, Eq)]
pub enum Left<P> {
    /// It may go; marked first as having met congestion (CE), if so.
    Sent {
        /// Its queue.
        queue: usize,
        /// The packet.
        packet: P,
        /// Whether to mark it.
        mark: bool,
    },
    /// It is dropped.
    Dropped {
        /// Its queue.
        queue: usize,
        /// The packet.
        packet: P,
        /// [`Reason::Late`], [`Reason::Codel`] or [`Reason::Ended`].
        reason: Reason,
    },
}

struct Item<P> {
    packet: P,
    size: u32,
    marks: bool,
    at_ns: u64,
}

struct Queue<P> {
    items: VecDeque<Item<P>>,
    bytes: u64,
    limit_bytes: u64,
    delay_ns: u64,
    service: Service,
    deficit: u64,
    codel: Codel,
    counters: Counters,
}

/// The queues of a port, of one thread.
pub struct Scheduler<P> {
    queues: [Queue<P>; QUEUES],
    /// Weighted queues with packets, in the order of their turns.
    turns: VecDeque<usize>,
    /// Whether the first of them has been given its quantum.
    is_served: bool,
    law: Law,
    len: usize,
    most: usize,
}

impl<P> Scheduler<P> {
    /// Empty queues.
    pub fn new(settings: &PortSettings) -> Scheduler<P> {
        let queue = |of: QueueSettings| Queue {
            items: VecDeque::new(),
            bytes: 0,
            limit_bytes: u64::try_from(u128::from(settings.rate) * u128::from(of.delay_ns) / NANO).unwrap_or(u64::MAX),
            delay_ns: of.delay_ns,
            service: of.service,
            deficit: 0,
            codel: Codel::default(),
            counters: Counters::default(),
        };
        let queues = settings.queues.map(queue);
        Scheduler { queues, turns: VecDeque::with_capacity(QUEUES), is_served: false, law: settings.law, len: 0, most: settings.packets }
    }

    /// Puts a packet into a queue (beyond the last one: into that); gives it back with [`Reason::Full`] or [`Reason::QueueFull`] if it does not fit. `marks`: its
    /// sender understands marks (ECT).
    pub fn offer(&mut self, queue: usize, packet: P, size: u32, marks: bool, now_ns: u64) -> Result<(), (P, Reason)> {
        let number = queue.min(QUEUES - 1);
        let queue = &mut self.queues[number];
        let too_many = queue.items.len() >= LEAST_PACKETS && queue.bytes.saturating_add(size.into()) > queue.limit_bytes;
        if too_many || self.len >= self.most {
            let reason = if too_many { Reason::QueueFull } else { Reason::Full };
            queue.counters.count_drop(reason);
            return Err((packet, reason));
        }
        if queue.items.is_empty() {
            queue.codel = Codel::default();
            if queue.service != Service::Strict {
                queue.deficit = 0;
                self.turns.push_back(number);
            }
        }
        queue.items.push_back(Item { packet, size, marks, at_ns: now_ns });
        queue.bytes += u64::from(size);
        queue.counters.queued += 1;
        self.len += 1;
        Ok(())
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What each queue has done since it was made.
    pub fn counters(&self) -> [Counters; QUEUES] {
        std::array::from_fn(|number| self.queues[number].counters)
    }

    /// Gives what leaves at `now_ns`, at most so many packets, to `out`. When to ask again, if packets still wait.
    pub fn poll(&mut self, now_ns: u64, pace: &Pace, most: usize, out: &mut impl FnMut(Left<P>)) -> Option<u64> {
        for _ in 0..most {
            let number = self.choose()?;
            let queue = &mut self.queues[number];
            let &Item { size, marks, at_ns, .. } = queue.items.front()?;
            let waited_ns = now_ns.saturating_sub(at_ns);
            if waited_ns > queue.delay_ns {
                self.leave(number, |packet| out(Left::Dropped { queue: number, packet, reason: Reason::Late }));
                self.queues[number].counters.count_drop(Reason::Late);
                continue;
            }
            if let Err(at_ns) = pace.take(size, now_ns) {
                return Some(at_ns);
            }
            let chosen = queue.codel.leaves(&self.law, now_ns, waited_ns, queue.bytes, size.into());
            if chosen && !marks {
                pace.give_back(size);
                queue.counters.count_drop(Reason::Codel);
                self.leave(number, |packet| out(Left::Dropped { queue: number, packet, reason: Reason::Codel }));
                continue;
            }
            queue.counters.count_sent(size, waited_ns, chosen);
            // It has been given as much: see `choose`.
            queue.deficit = queue.deficit.saturating_sub(size.into());
            self.leave(number, |packet| out(Left::Sent { queue: number, packet, mark: chosen }));
        }
        (!self.is_empty()).then_some(now_ns)
    }

    /// Empties all queues.
    pub fn end(&mut self, out: &mut impl FnMut(Left<P>)) {
        for number in 0..QUEUES {
            while !self.queues[number].items.is_empty() {
                self.queues[number].counters.count_drop(Reason::Ended);
                self.leave(number, |packet| out(Left::Dropped { queue: number, packet, reason: Reason::Ended }));
            }
        }
    }

    /// The queue whose first packet is next.
    fn choose(&mut self) -> Option<usize> {
        let strict = |queue: &&Queue<P>| queue.service == Service::Strict && !queue.items.is_empty();
        if let Some(number) = self.queues.iter().rposition(|queue| strict(&queue)) {
            return Some(number);
        }
        loop {
            let number = *self.turns.front()?;
            let queue = &mut self.queues[number];
            let Service::Weighted(weight) = queue.service else { return None };
            if !std::mem::replace(&mut self.is_served, true) {
                queue.deficit += QUANTUM * u64::from(weight.max(1));
            }
            if queue.items.front().is_some_and(|item| u64::from(item.size) <= queue.deficit) {
                return Some(number);
            }
            self.is_served = false;
            self.turns.rotate_left(1);
        }
    }

    /// The first packet of a queue goes.
    fn leave(&mut self, number: usize, out: impl FnOnce(P)) {
        let queue = &mut self.queues[number];
        let Some(item) = queue.items.pop_front() else { return };
        queue.bytes -= u64::from(item.size);
        self.len -= 1;
        if queue.items.is_empty()
            && let Some(at) = self.turns.iter().position(|turn| *turn == number)
        {
            self.is_served &= at != 0;
            self.turns.remove(at);
        }
        out(item.packet);
    }
}
