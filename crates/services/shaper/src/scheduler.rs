//! Which packet leaves a port next? Guaranteed flows within their rates, then slices by weight; of a slice strict queues first, the highest number first of all,
//! and what they leave is shared by weight (deficit round robin, Shreedhar and Varghese, SIGCOMM 1995). Within a queue flows share by weight, packet by packet.
//!
//! - **Work conserving**: while anything may be sent and the rate lets one packet pass, one leaves.
//! - **Guaranteed flows** (GFBR, TS 23.501 §5.7.2.5): within its rate a flow's packets go before all others; beyond it the flow takes part in its queue as
//!   any other. Guarantees of more than the line's rate are the caller's fault, and starve the others.
//! - **Flows** of one queue that stay full send bytes in proportion to their weights, whatever each is offered (self-clocked fair queueing, Golestani, INFOCOM
//!   1994): two of them differ by no more than a packet each, however long. Not by rounds: the quantum of a heavy flow is more than its queue may hold,
//!   and the others would wait for all of it. Packets of a flow are in the order of arrival, and what one has too much of is dropped of that one.
//! - **Slices** share the line by weight (start-time fair queueing, Goyal, Vin and Cheng, SIGCOMM 1996), and each may have a rate of its own that it does not
//!   exceed; guaranteed flows count towards it, and go all the same. What a slice's own rate keeps it from sending it does not make up for later.
//! - **Shares** of weighted queues that stay full differ from their weights by no more than a round's quantum and a packet each, however long.
//! - **Bounded**: a flow takes no more than its share, by weight, of the port's rate sends in its queue's longest delay, what has waited for longer is dropped, and all
//!   queues together hold so many packets, of which a flow has no more than are free (a dynamic threshold, Choudhury and Hahne, ToN 1998). CoDel
//!   (RFC 8289) keeps the delay of each flow low, and marks (RFC 3168) before it drops.
//!
//! The rates are the caller's ([`PortRates`]), since several threads may send by one port.

use crate::codel::{Codel, Law};
use crate::counters::Counters;
use crate::shaper::Reason;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

/// Queues of a port, by number.
pub const QUEUES: usize = 8;
/// Bytes that a queue of weight 1 may send in a round: a frame of the usual length, so that each round serves it.
pub const QUANTUM: u64 = 1514;
/// What a guaranteed flow may send at once, as time of its rate: a worker's sleep, and the time of a frame of a busy line.
const GUARANTEED_BURST_NS: u64 = 5_000_000;
/// How far guaranteed flows may put their slice behind: it makes up for it when they have ended.
const MOST_DEBT_NS: u64 = 100_000_000;
/// How far a slice that waits for its own rate may fall behind the others, in bytes of weight 1: a round of its queues.
const MOST_BEHIND: u128 = (QUANTUM as u128) << VIRTUAL;
/// Part of a byte that virtual time counts in, so that it is exact for each weight.
const VIRTUAL: u32 = 16;
/// Packets that a flow may hold whatever its share of the rate is.
const LEAST_PACKETS: u32 = 4;
/// Entries of a heap of flows for which it is not tidied up.
const FEW: usize = 64;
const NONE: u32 = u32::MAX;
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

/// What one slice is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceSettings {
    /// Its share of the line, 1 or more.
    pub weight: u16,
    /// Bytes a second that it does not exceed, if so.
    pub rate: Option<u64>,
}

impl Default for SliceSettings {
    fn default() -> SliceSettings {
        SliceSettings { weight: 1, rate: None }
    }
}

/// Where a packet waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of the slice; beyond the last one: that of what belongs to no other.
    pub slice: usize,
    /// Number of the queue; beyond the last one: that.
    pub queue: usize,
    /// What it shares the queue by: packets of a number are one flow.
    pub flow: u32,
    /// The flow's share of what flows of its queue get; 0 counts as 1.
    pub weight: u16,
    /// If that flow has a guaranteed rate. It is another one than that of the same number without.
    pub guaranteed: Option<Guaranteed>,
}

impl Place {
    /// A queue of the first slice.
    pub fn queue(number: usize) -> Place {
        Place { queue: number, ..Place::default() }
    }
}

/// The guaranteed rate of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guaranteed {
    /// Bytes a second, at least 1.
    pub rate: u64,
    /// What the packet takes of that, in bytes: a rate of the user's packets is none of frames.
    pub size: u32,
}

/// What a port's queues are set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSettings {
    /// Bytes a second.
    pub rate: u64,
    /// By number, in each slice.
    pub queues: [QueueSettings; QUEUES],
    /// By number, one at least: 0 is for what belongs to no other.
    pub slices: Vec<SliceSettings>,
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

    /// When the line is free, if it is not now, in ns.
    fn busy_until(&self, now_ns: u64) -> Option<u64> {
        let free_ns = self.free.load(Ordering::Acquire).div_ceil(1 << FRACTION);
        (free_ns > now_ns).then_some(free_ns)
    }

    /// Takes the line for `size` bytes though it is not free. What it took: less than the bytes' time if that is too far ahead.
    fn owe(&self, size: u32, now_ns: u64) -> Owed {
        let (now, time) = (now_ns << FRACTION, self.time(size));
        let most = now.saturating_add(MOST_DEBT_NS << FRACTION);
        let begin = |free: u64| free.max(now.saturating_sub(self.burst));
        let next = |free: u64| begin(free).saturating_add(time).min(most.max(free));
        let before = self.free.fetch_update(Ordering::AcqRel, Ordering::Acquire, |free| Some(next(free)));
        Owed(before.map_or(0, |free| next(free).saturating_sub(begin(free))))
    }

    /// As [`Pace::give_back`], of what [`Pace::owe`] took.
    fn forgive(&self, Owed(took): Owed) {
        self.free.fetch_sub(took, Ordering::AcqRel);
    }

    fn time(&self, size: u32) -> u64 {
        u64::try_from(((u128::from(size) * NANO) << FRACTION).div_ceil(self.rate.into())).unwrap_or(u64::MAX >> 1)
    }
}

/// Part of a line's time that was taken, in units of `Pace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owed(u64);

/// The rates of a port and of its slices, of all that send by it.
#[derive(Debug)]
pub struct PortRates {
    port: Pace,
    slices: Vec<Option<Pace>>,
}

impl PortRates {
    /// All free. `burst_ns` is how much may go at once after a pause, as time of the line.
    pub fn new(settings: &PortSettings, burst_ns: u64) -> PortRates {
        let slices = settings.slices.iter().map(|slice| slice.rate.map(|rate| Pace::new(rate, burst_ns)));
        PortRates { port: Pace::new(settings.rate, burst_ns), slices: slices.collect() }
    }

    fn slice(&self, number: usize) -> Option<&Pace> {
        self.slices.get(number)?.as_ref()
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
    packet: Option<P>,
    size: u32,
    /// What it takes of a guaranteed rate.
    guaranteed: u32,
    marks: bool,
    at_ns: u64,
    next: u32,
}

/// What tells a flow from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Shared { slice: u32, queue: u32, flow: u32 },
    Guaranteed(u32),
}

/// Packets in the order of arrival, and their share of a queue. One with a guaranteed rate is kept until it has made up for what it has sent.
struct Flow {
    key: Key,
    slice: usize,
    /// Whose settings and counters are its.
    queue: usize,
    head: u32,
    tail: u32,
    packets: u32,
    bytes: u64,
    weight: u16,
    /// What it has sent of its share, in virtual time of its queue.
    start: u128,
    codel: Codel,
    /// Which of its entries in [`Queue::turns`] holds; 0: none.
    turn: u64,
    /// The guaranteed rate, or 0.
    rate: u64,
    /// When its rate has sent what it has been given of it, in ns.
    sent_until_ns: u64,
    /// Which of its entries in [`Scheduler::due`] holds; 0: none, it is no flow any more.
    stamp: u64,
}

/// Flows with packets, in the order of their turns.
#[derive(Default)]
struct Queue {
    /// When, in virtual time, a flow will have sent its first packet; the stamp of this entry, and the flow.
    turns: BinaryHeap<Reverse<(u128, u64, u32)>>,
    /// That of the packet that was sent last: bytes that a flow of weight 1 has sent by then.
    virtual_time: u128,
    flows: usize,
    /// Of those flows, together.
    weights: u64,
    deficit: u64,
}

struct Slice {
    queues: [Queue; QUEUES],
    /// Weighted queues with packets, in the order of their turns.
    turns: VecDeque<usize>,
    /// Whether the first of them has been given its quantum.
    is_served: bool,
    weight: u16,
    /// When it may send next, in virtual time: bytes that a slice of weight 1 sends.
    start: u128,
    /// Packets of its queues.
    len: usize,
}

/// What is next.
enum Next {
    /// A flow, within its guaranteed rate.
    Guaranteed(u32),
    Shared(u32),
    /// All that waits waits for a rate of its own until then.
    Later(u64),
}

/// The queues of a port, of one thread.
pub struct Scheduler<P> {
    slices: Vec<Slice>,
    /// Slices with packets.
    active: Vec<usize>,
    /// How far slices have come, in virtual time.
    virtual_time: u128,
    flows: Vec<Flow>,
    free_flows: Vec<u32>,
    flow_of: HashMap<Key, u32>,
    items: Vec<Item<P>>,
    free_item: u32,
    /// When a flow may send within its guaranteed rate; of one without packets when it may be forgotten. Number and stamp.
    due: BinaryHeap<Reverse<(u64, u32, u64)>>,
    /// The last one given, there or in [`Queue::turns`].
    stamp: u64,
    settings: PortSettings,
    /// What a queue takes, by number.
    limit_bytes: [u64; QUEUES],
    counters: [Counters; QUEUES],
    len: usize,
}

impl<P> Scheduler<P> {
    /// Empty queues.
    pub fn new(settings: &PortSettings) -> Scheduler<P> {
        let slice = |of: &SliceSettings| Slice {
            queues: Default::default(),
            turns: VecDeque::with_capacity(QUEUES),
            is_served: false,
            weight: of.weight.max(1),
            start: 0,
            len: 0,
        };
        let rest = [SliceSettings::default()];
        let slices = if settings.slices.is_empty() { &rest[..] } else { &settings.slices };
        let in_time = |of: QueueSettings| u64::try_from(u128::from(settings.rate) * u128::from(of.delay_ns) / NANO).unwrap_or(u64::MAX);
        Scheduler {
            slices: slices.iter().map(slice).collect(),
            active: Vec::new(),
            virtual_time: 0,
            flows: Vec::new(),
            free_flows: Vec::new(),
            flow_of: HashMap::new(),
            items: Vec::new(),
            free_item: NONE,
            due: BinaryHeap::new(),
            stamp: 0,
            limit_bytes: settings.queues.map(in_time),
            counters: Default::default(),
            len: 0,
            settings: settings.clone(),
        }
    }

    /// Puts a packet into its place; gives it back with [`Reason::Full`] or [`Reason::QueueFull`] if it does not fit. `marks`: its sender understands marks (ECT).
    pub fn offer(&mut self, place: Place, packet: P, size: u32, marks: bool, now_ns: u64) -> Result<(), (P, Reason)> {
        let number = self.flow(place, now_ns);
        let flow = &self.flows[number as usize];
        let (at, queue, was_empty, weight) = (flow.slice, flow.queue, flow.packets == 0, u64::from(flow.weight));
        let sharers = self.slices[at].queues[queue].weights + if was_empty { weight } else { 0 };
        let share = |bytes: u64| (u128::from(bytes) * u128::from(weight) / u128::from(sharers.max(1))) as u64;
        let most = if flow.rate > 0 { self.limit_bytes[queue] } else { share(self.limit_bytes[queue]) };
        let too_many = flow.packets >= LEAST_PACKETS && flow.bytes.saturating_add(size.into()) > most;
        if too_many || flow.packets as usize >= self.settings.packets.saturating_sub(self.len) {
            let reason = if too_many { Reason::QueueFull } else { Reason::Full };
            self.counters[queue].count_drop(reason);
            if was_empty {
                self.forget(number);
            }
            return Err((packet, reason));
        }
        let guaranteed = place.guaranteed.map_or(0, |of| of.size);
        let item = self.store(Item { packet: Some(packet), size, guaranteed, marks, at_ns: now_ns, next: NONE });
        let flow = &mut self.flows[number as usize];
        (flow.packets, flow.bytes) = (flow.packets + 1, flow.bytes + u64::from(size));
        match std::mem::replace(&mut flow.tail, item) {
            NONE => flow.head = item,
            tail => self.items[tail as usize].next = item,
        }
        self.counters[queue].queued += 1;
        self.len += 1;
        let slice = &mut self.slices[at];
        slice.len += 1;
        if slice.len == 1 {
            slice.start = slice.start.max(self.virtual_time);
            self.active.push(at);
        }
        if was_empty {
            self.join(number);
        }
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

    /// Flows that have packets, or a guaranteed rate and have sent some lately.
    pub fn flows(&self) -> usize {
        self.flow_of.len()
    }

    /// What each queue has done since it was made, in all slices together.
    pub fn counters(&self) -> [Counters; QUEUES] {
        self.counters
    }

    /// Gives what leaves at `now_ns`, at most so many packets, to `out`; what is not `wanted` any more is dropped, for [`Reason::Ended`]. When to ask again, if
    /// packets still wait.
    pub fn poll(
        &mut self,
        now_ns: u64,
        rates: &PortRates,
        most: usize,
        wanted: impl Fn(&P) -> bool,
        out: &mut impl FnMut(Left<P>),
    ) -> Option<u64> {
        for _ in 0..most {
            let (number, guaranteed) = match self.choose(now_ns, rates)? {
                Next::Guaranteed(flow) => (flow, true),
                Next::Shared(flow) => (flow, false),
                Next::Later(at_ns) => return Some(at_ns.max(now_ns + 1)),
            };
            let flow = &mut self.flows[number as usize];
            let (at, queue) = (flow.slice, flow.queue);
            let &Item { ref packet, size, guaranteed: takes, marks, at_ns, .. } = self.items.get(flow.head as usize)?;
            let waited_ns = now_ns.saturating_sub(at_ns);
            let is_late = waited_ns > self.settings.queues[queue].delay_ns;
            if is_late || !packet.as_ref().is_some_and(&wanted) {
                self.drop_first(number, if is_late { Reason::Late } else { Reason::Ended }, out);
                continue;
            }
            if let Err(at_ns) = rates.port.take(size, now_ns) {
                return Some(at_ns);
            }
            let mut owed = None;
            if let Some(slice) = rates.slice(at) {
                if guaranteed {
                    owed = Some(slice.owe(size, now_ns));
                } else if let Err(at_ns) = slice.take(size, now_ns) {
                    // Another thread has taken it since.
                    rates.port.give_back(size);
                    return Some(at_ns.max(now_ns + 1));
                }
            }
            let chosen = flow.codel.leaves(&self.settings.law, now_ns, waited_ns, flow.bytes, size.into());
            if chosen && !marks {
                rates.port.give_back(size);
                match (rates.slice(at), owed) {
                    (Some(slice), Some(owed)) => slice.forgive(owed),
                    (Some(slice), None) => slice.give_back(size),
                    (None, _) => {}
                }
                self.drop_first(number, Reason::Codel, out);
                continue;
            }
            self.counters[queue].count_sent(size, waited_ns, chosen);
            if guaranteed {
                let took_ns = u64::try_from((u128::from(takes) * NANO).div_ceil(flow.rate.max(1).into())).unwrap_or(u64::MAX);
                flow.sent_until_ns = flow.sent_until_ns.max(now_ns).saturating_add(took_ns);
            } else {
                let slice = &mut self.slices[at];
                let of = &mut slice.queues[queue];
                flow.start += virtual_bytes(size, flow.weight);
                of.virtual_time = of.virtual_time.max(flow.start);
                // It has been given as much: see `next_of`.
                of.deficit = of.deficit.saturating_sub(size.into());
                let start = slice.start.max(self.virtual_time.saturating_sub(MOST_BEHIND));
                slice.start = start + virtual_bytes(size, slice.weight);
                self.virtual_time = self.virtual_time.max(start);
            }
            if let Some(packet) = self.unlink_first(number) {
                out(Left::Sent { queue, packet, mark: chosen });
            }
            if guaranteed && self.flows[number as usize].packets > 0 {
                self.wait_for_guarantee(number);
            }
        }
        (!self.is_empty()).then_some(now_ns)
    }

    /// Empties all queues.
    pub fn end(&mut self, out: &mut impl FnMut(Left<P>)) {
        for number in 0..self.flows.len() as u32 {
            while self.flows[number as usize].packets > 0 {
                self.drop_first(number, Reason::Ended, out);
            }
        }
    }

    /// Whose first packet is next; none if no packet waits.
    fn choose(&mut self, now_ns: u64, rates: &PortRates) -> Option<Next> {
        let mut later_ns = u64::MAX;
        while let Some(&Reverse((at_ns, number, stamp))) = self.due.peek() {
            let flow = &self.flows[number as usize];
            let (holds, waits) = (flow.stamp == stamp, flow.packets > 0);
            if holds && at_ns > now_ns {
                // Also one to be forgotten: those behind it are later still.
                later_ns = at_ns;
                break;
            }
            if holds && waits {
                return Some(Next::Guaranteed(number));
            }
            self.due.pop();
            if holds {
                self.flows[number as usize].rate = 0;
                self.forget(number);
            }
        }
        if self.is_empty() {
            return None;
        }
        let mut first: Option<usize> = None;
        for at in self.active.iter().copied() {
            let is_first = first.is_none_or(|first| self.slices[at].start < self.slices[first].start);
            match rates.slice(at).filter(|_| is_first).and_then(|slice| slice.busy_until(now_ns)) {
                Some(until_ns) => later_ns = later_ns.min(until_ns),
                None if is_first => first = Some(at),
                None => {}
            }
        }
        match first {
            Some(at) => self.next_of(at).map(|(flow, _)| Next::Shared(flow)),
            None => Some(Next::Later(later_ns)),
        }
    }

    /// Whose first packet is next of a slice that has packets, and its size.
    fn next_of(&mut self, at: usize) -> Option<(u32, u32)> {
        let strict = |number: &usize| self.settings.queues[*number].service == Service::Strict;
        let waits = |number: &usize| self.slices[at].queues[*number].flows > 0;
        if let Some(number) = (0..QUEUES).rev().filter(strict).find(waits) {
            return self.next_in(at, number);
        }
        loop {
            let number = *self.slices[at].turns.front()?;
            let weight = if let Service::Weighted(weight) = self.settings.queues[number].service { weight.max(1) } else { 1 };
            let (flow, size) = self.next_in(at, number)?;
            let slice = &mut self.slices[at];
            let queue = &mut slice.queues[number];
            if !std::mem::replace(&mut slice.is_served, true) {
                queue.deficit += QUANTUM * u64::from(weight);
            }
            if u64::from(size) <= queue.deficit {
                return Some((flow, size));
            }
            slice.is_served = false;
            slice.turns.rotate_left(1);
        }
    }

    /// The flow whose turn it is in a queue that has packets, and the size of its first one.
    fn next_in(&mut self, at: usize, number: usize) -> Option<(u32, u32)> {
        let queue = &mut self.slices[at].queues[number];
        loop {
            let &Reverse((_, stamp, number)) = queue.turns.peek()?;
            let flow = self.flows.get(number as usize)?;
            if flow.turn == stamp {
                return Some((number, self.items.get(flow.head as usize)?.size));
            }
            queue.turns.pop();
        }
    }

    fn drop_first(&mut self, number: u32, reason: Reason, out: &mut impl FnMut(Left<P>)) {
        let queue = self.flows[number as usize].queue;
        self.counters[queue].count_drop(reason);
        if let Some(packet) = self.unlink_first(number) {
            out(Left::Dropped { queue, packet, reason });
        }
    }

    /// The first packet of a flow that has some goes.
    fn unlink_first(&mut self, number: u32) -> Option<P> {
        let flow = &mut self.flows[number as usize];
        let item = flow.head;
        let Item { packet, size, next, .. } = self.items.get_mut(item as usize)?;
        let packet = packet.take();
        (flow.packets, flow.bytes) = (flow.packets - 1, flow.bytes - u64::from(*size));
        flow.head = std::mem::replace(next, self.free_item);
        self.free_item = item;
        let (at, is_empty) = (flow.slice, flow.packets == 0);
        self.len -= 1;
        let slice = &mut self.slices[at];
        slice.len -= 1;
        if slice.len == 0
            && let Some(active) = self.active.iter().position(|active| *active == at)
        {
            self.active.swap_remove(active);
        }
        if is_empty {
            self.flows[number as usize].tail = NONE;
            self.part(number);
        } else {
            self.take_turn(number);
        }
        packet
    }

    /// A flow that has its first packet joins the others of its queue. It has sent as much as they have: of a flow without packets the time when it had
    /// sent its last one is past.
    fn join(&mut self, number: u32) {
        let Flow { slice: at, queue: queue_number, weight, rate, .. } = self.flows[number as usize];
        let slice = &mut self.slices[at];
        let queue = &mut slice.queues[queue_number];
        if queue.flows == 0 {
            queue.deficit = 0;
            if self.settings.queues[queue_number].service != Service::Strict {
                slice.turns.push_back(queue_number);
            }
        }
        (queue.flows, queue.weights) = (queue.flows + 1, queue.weights + u64::from(weight));
        let flow = &mut self.flows[number as usize];
        (flow.start, flow.codel) = (queue.virtual_time, Codel::default());
        self.take_turn(number);
        if rate > 0 {
            self.wait_for_guarantee(number);
        }
    }

    /// A flow that has packets takes its turn in its queue, by the size of its first one.
    fn take_turn(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        let Some(first) = self.items.get(flow.head as usize) else { return };
        self.stamp += 1;
        flow.turn = self.stamp;
        let queue = &mut self.slices[flow.slice].queues[flow.queue];
        queue.turns.push(Reverse((flow.start + virtual_bytes(first.size, flow.weight), flow.turn, number)));
        // Of guaranteed flows behind strict queues many are past, and never the first.
        if queue.turns.len() > 2 * queue.flows + FEW {
            let flows = &self.flows;
            queue.turns.retain(|Reverse((_, stamp, number))| flows[*number as usize].turn == *stamp);
        }
    }

    /// A flow that has sent its last packet leaves its queue.
    fn part(&mut self, number: u32) {
        let Flow { slice: at, queue: queue_number, weight, rate, .. } = self.flows[number as usize];
        self.flows[number as usize].turn = 0;
        let slice = &mut self.slices[at];
        let queue = &mut slice.queues[queue_number];
        (queue.flows, queue.weights) = (queue.flows - 1, queue.weights - u64::from(weight));
        if queue.flows == 0
            && let Some(turn) = slice.turns.iter().position(|turn| *turn == queue_number)
        {
            slice.is_served &= turn != 0;
            slice.turns.remove(turn);
        }
        if rate > 0 {
            self.wait_for_guarantee(number);
        } else {
            self.forget(number);
        }
    }

    /// The flow of a place, with the rate and weight that it has now. One that has packets stays in the slice and queue that it is in.
    fn flow(&mut self, place: Place, now_ns: u64) -> u32 {
        let queue = place.queue.min(QUEUES - 1);
        let slice = if place.slice < self.slices.len() { place.slice } else { 0 };
        let key = match place.guaranteed {
            Some(_) => Key::Guaranteed(place.flow),
            None => Key::Shared { slice: slice as u32, queue: queue as u32, flow: place.flow },
        };
        let (rate, weight) = (place.guaranteed.map_or(0, |of| of.rate.max(1)), place.weight.max(1));
        match self.flow_of.entry(key) {
            Entry::Occupied(of) => {
                let number = *of.get();
                let flow = &mut self.flows[number as usize];
                let before = std::mem::replace(&mut flow.weight, weight);
                flow.rate = rate;
                if flow.packets == 0 {
                    (flow.slice, flow.queue) = (slice, queue);
                } else {
                    let weights = &mut self.slices[flow.slice].queues[flow.queue].weights;
                    *weights = *weights - u64::from(before) + u64::from(weight);
                }
                number
            }
            Entry::Vacant(of) => {
                let fresh = Flow {
                    key,
                    slice,
                    queue,
                    head: NONE,
                    tail: NONE,
                    packets: 0,
                    bytes: 0,
                    weight,
                    start: 0,
                    codel: Codel::default(),
                    turn: 0,
                    rate,
                    sent_until_ns: now_ns,
                    stamp: 0,
                };
                let number = match self.free_flows.pop() {
                    Some(number) => {
                        self.flows[number as usize] = fresh;
                        number
                    }
                    None => {
                        self.flows.push(fresh);
                        (self.flows.len() - 1) as u32
                    }
                };
                *of.insert(number)
            }
        }
    }

    fn store(&mut self, item: Item<P>) -> u32 {
        match self.free_item {
            NONE => {
                self.items.push(item);
                (self.items.len() - 1) as u32
            }
            free => {
                self.free_item = self.items[free as usize].next;
                self.items[free as usize] = item;
                free
            }
        }
    }

    /// Notes when a flow may send within its rate next, or be forgotten.
    fn wait_for_guarantee(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        self.stamp += 1;
        flow.stamp = self.stamp;
        let burst_ns = if flow.packets == 0 { 0 } else { GUARANTEED_BURST_NS };
        self.due.push(Reverse((flow.sent_until_ns.saturating_sub(burst_ns), number, flow.stamp)));
        // Entries that do not hold any more may be far from their time.
        if self.due.len() > 2 * self.flow_of.len() + FEW {
            let flows = &self.flows;
            self.due.retain(|Reverse((_, number, stamp))| flows[*number as usize].stamp == *stamp);
        }
    }

    /// A flow without packets that has made up for all that it has sent.
    fn forget(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        // An entry of it in `due` is to forget it.
        if flow.rate > 0 && flow.stamp > 0 {
            return;
        }
        flow.stamp = 0;
        self.flow_of.remove(&flow.key);
        self.free_flows.push(number);
    }
}

/// Virtual time that so many bytes take of who has that weight.
fn virtual_bytes(size: u32, weight: u16) -> u128 {
    (u128::from(size) << VIRTUAL) / u128::from(weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn settings(rate: u64) -> PortSettings {
        PortSettings {
            rate,
            queues: [QueueSettings::default(); QUEUES],
            slices: vec![SliceSettings::default()],
            packets: 100,
            law: Law { target_ns: u64::MAX, interval_ns: 100 * MS },
        }
    }

    /// Two guaranteed flows of 1 kbit/s of which each packet is sent at once, and puts the end of what they have sent 12 s further.
    #[test]
    fn sparse_packets_of_slow_guaranteed_flows_leave_few_entries() {
        let settings = settings(12_500_000_000);
        let (mut scheduler, rates) = (Scheduler::<()>::new(&settings), PortRates::new(&settings, MS));
        let (mut now, mut most, mut sent) = (0, 0, 0);
        for packet in 0..100_000u32 {
            let guaranteed = Some(Guaranteed { rate: 125, size: 1514 });
            scheduler.offer(Place { flow: packet % 2, guaranteed, ..Place::queue(0) }, (), 1514, false, now).unwrap();
            now += 2_000;
            scheduler.poll(now, &rates, 10, |()| true, &mut |left| sent += u32::from(matches!(left, Left::Sent { .. })));
            most = most.max(scheduler.due.len());
        }
        assert_eq!((sent, scheduler.flows()), (100_000, 2));
        assert!(most <= FEW + 4, "{most}");
    }

    /// A guaranteed packet that takes less of its slice's rate than its time gives no more back.
    #[test]
    fn a_rate_gets_back_what_was_owed_and_no_more() {
        let (pace, now) = (Pace::new(12_500_000, 0), 1_000 * MS);
        let mut least = u64::MAX;
        for _ in 0..2_000 {
            let before = pace.free.load(Ordering::Acquire).max(now << FRACTION);
            let owed = pace.owe(1514, now);
            least = least.min(owed.0);
            let after = pace.free.load(Ordering::Acquire);
            assert_eq!((after - before, after <= (now + MOST_DEBT_NS) << FRACTION), (owed.0, true));
            pace.forgive(owed);
            assert_eq!(pace.free.load(Ordering::Acquire), before);
            pace.owe(1514, now);
        }
        assert_eq!((least, pace.busy_until(now)), (0, Some(now + MOST_DEBT_NS)), "it was as far behind as it may be");
    }
}
