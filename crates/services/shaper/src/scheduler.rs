//! Which packet leaves a port next? Guaranteed flows within their rates, then slices by weight; of a slice strict queues first, the highest number first of all,
//! and what they leave is shared by weight (deficit round robin, Shreedhar and Varghese, SIGCOMM 1995).
//!
//! - **Work conserving**: while anything may be sent and the rate lets one packet pass, one leaves.
//! - **Guaranteed flows** (GFBR, TS 23.501 §5.7.2.5) have queues of their own. Within its rate a flow's packets go before all others; beyond it they take part in
//!   their slice, with the weight of the queue that they would wait in. Guarantees of more than the line's rate are the caller's fault, and starve the others.
//! - **Slices** share the line by weight, and each may have a rate of its own that it does not exceed; guaranteed flows count towards it, and go all the same.
//! - **Shares** of weighted queues that stay full differ from their weights by no more than a round's quantum and a packet each, however long.
//! - **Bounded**: a queue takes no more than the port's rate sends in its longest delay, what has waited for longer is dropped, and all queues together
//!   hold so many packets. CoDel (RFC 8289) keeps the delay of each low, and marks (RFC 3168) before it drops.
//!
//! The rates are the caller's ([`PortRates`]), since several threads may send by one port.

use crate::codel::{Codel, Law};
use crate::counters::Counters;
use crate::shaper::Reason;
use std::cmp::Reverse;
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
    /// Its flow, if that has a guaranteed rate.
    pub guaranteed: Option<Guaranteed>,
}

impl Place {
    /// A queue of the first slice.
    pub fn queue(number: usize) -> Place {
        Place { queue: number, ..Place::default() }
    }
}

/// A flow with a guaranteed rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guaranteed {
    /// What tells it from others.
    pub flow: u32,
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

    /// Takes the line for `size` bytes though it is not free.
    fn owe(&self, size: u32, now_ns: u64) {
        let (now, took) = (now_ns << FRACTION, self.time(size));
        let most = now.saturating_add(MOST_DEBT_NS << FRACTION);
        let next = |free: u64| Some(free.max(now.saturating_sub(self.burst)).saturating_add(took).min(most.max(free)));
        let _ = self.free.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
    }

    fn time(&self, size: u32) -> u64 {
        u64::try_from(((u128::from(size) * NANO) << FRACTION).div_ceil(self.rate.into())).unwrap_or(u64::MAX >> 1)
    }
}

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
    packet: P,
    size: u32,
    /// What it takes of a guaranteed rate.
    guaranteed: u32,
    marks: bool,
    at_ns: u64,
}

/// Packets in the order of arrival, and their share.
struct Queue<P> {
    items: VecDeque<Item<P>>,
    bytes: u64,
    deficit: u64,
    codel: Codel,
}

impl<P> Default for Queue<P> {
    fn default() -> Queue<P> {
        Queue { items: VecDeque::new(), bytes: 0, deficit: 0, codel: Codel::default() }
    }
}

/// A flow with a guaranteed rate, as long as it has packets, or has sent some lately.
struct Flow<P> {
    packets: Queue<P>,
    id: u32,
    rate: u64,
    slice: usize,
    /// Whose settings and counters are its.
    queue: usize,
    /// When its rate has sent what it has been given of it, in ns.
    sent_until_ns: u64,
    /// Which of its entries in [`Scheduler::due`] holds.
    stamp: u64,
}

/// Who takes part in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Queue(usize),
    /// Number in [`Scheduler::flows`].
    Flow(usize),
}

struct Slice<P> {
    queues: [Queue<P>; QUEUES],
    /// Weighted queues and flows with packets, in the order of their turns.
    turns: VecDeque<Member>,
    /// Whether the first of them has been given its quantum.
    is_served: bool,
    weight: u16,
    deficit: u64,
    /// Packets of its queues and flows.
    len: usize,
}

/// What is next.
enum Next {
    /// A flow, within its guaranteed rate.
    Guaranteed(usize),
    Shared(usize, Member),
    /// All that waits waits for a rate of its own until then.
    Later(u64),
}

/// The queues of a port, of one thread.
pub struct Scheduler<P> {
    slices: Vec<Slice<P>>,
    /// Slices with packets, in the order of their turns.
    turns: VecDeque<usize>,
    /// Whether the first of them has been given its quantum.
    is_served: bool,
    flows: Vec<Option<Flow<P>>>,
    free_flows: Vec<usize>,
    flow_of: HashMap<u32, usize>,
    /// When a flow may send within its guaranteed rate; of one without packets when it may be forgotten. Number and stamp.
    due: BinaryHeap<Reverse<(u64, usize, u64)>>,
    /// The last one given.
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
            deficit: 0,
            len: 0,
        };
        let rest = [SliceSettings::default()];
        let slices = if settings.slices.is_empty() { &rest[..] } else { &settings.slices };
        let in_time = |of: QueueSettings| u64::try_from(u128::from(settings.rate) * u128::from(of.delay_ns) / NANO).unwrap_or(u64::MAX);
        Scheduler {
            slices: slices.iter().map(slice).collect(),
            turns: VecDeque::new(),
            is_served: false,
            flows: Vec::new(),
            free_flows: Vec::new(),
            flow_of: HashMap::new(),
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
        let number = place.queue.min(QUEUES - 1);
        let at = if place.slice < self.slices.len() { place.slice } else { 0 };
        let member = place.guaranteed.map(|of| self.flow(of, at, number, now_ns));
        // A flow stays in the slice and queue that it is in while it has packets.
        let (at, number) = member.and_then(|flow| self.flows[flow].as_ref()).map_or((at, number), |flow| (flow.slice, flow.queue));
        let member = member.map_or(Member::Queue(number), Member::Flow);
        let limit_bytes = self.limit_bytes[number];
        let (full, is_strict) = (self.len >= self.settings.packets, self.settings.queues[number].service == Service::Strict);
        let Some(queue) = queue_of(&mut self.slices, &mut self.flows, at, member) else { return Err((packet, Reason::Full)) };
        let too_many = queue.items.len() >= LEAST_PACKETS && queue.bytes.saturating_add(size.into()) > limit_bytes;
        if too_many || full {
            let reason = if too_many { Reason::QueueFull } else { Reason::Full };
            self.counters[number].count_drop(reason);
            return Err((packet, reason));
        }
        let was_empty = queue.items.is_empty();
        if was_empty {
            (queue.codel, queue.deficit) = (Codel::default(), 0);
        }
        let guaranteed = place.guaranteed.map_or(0, |of| of.size);
        queue.items.push_back(Item { packet, size, guaranteed, marks, at_ns: now_ns });
        queue.bytes += u64::from(size);
        self.counters[number].queued += 1;
        self.len += 1;
        let slice = &mut self.slices[at];
        if was_empty && (member != Member::Queue(number) || !is_strict) {
            slice.turns.push_back(member);
        }
        slice.len += 1;
        if slice.len == 1 {
            slice.deficit = 0;
            self.turns.push_back(at);
        }
        if let (true, Member::Flow(flow)) = (was_empty, member) {
            self.wait_for_guarantee(flow);
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

    /// Guaranteed flows that have packets, or have sent some lately.
    pub fn flows(&self) -> usize {
        self.flow_of.len()
    }

    /// What each queue has done since it was made, in all slices together. Guaranteed flows count with the queue that they would wait in.
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
            let (at, member, guaranteed) = match self.choose(now_ns, rates)? {
                Next::Guaranteed(flow) => (self.flows[flow].as_ref()?.slice, Member::Flow(flow), true),
                Next::Shared(slice, member) => (slice, member, false),
                Next::Later(at_ns) => return Some(at_ns.max(now_ns + 1)),
            };
            let number = self.number(member);
            let queue = queue_of(&mut self.slices, &mut self.flows, at, member)?;
            let &Item { ref packet, size, guaranteed: takes, marks, at_ns } = queue.items.front()?;
            let waited_ns = now_ns.saturating_sub(at_ns);
            let is_late = waited_ns > self.settings.queues[number].delay_ns;
            if is_late || !wanted(packet) {
                let reason = if is_late { Reason::Late } else { Reason::Ended };
                self.counters[number].count_drop(reason);
                self.leave(at, member, |packet| out(Left::Dropped { queue: number, packet, reason }));
                continue;
            }
            if let Err(at_ns) = rates.port.take(size, now_ns) {
                return Some(at_ns);
            }
            if let Some(slice) = rates.slice(at) {
                if guaranteed {
                    slice.owe(size, now_ns);
                } else if let Err(at_ns) = slice.take(size, now_ns) {
                    // Another thread has taken it since.
                    rates.port.give_back(size);
                    return Some(at_ns.max(now_ns + 1));
                }
            }
            let chosen = queue.codel.leaves(&self.settings.law, now_ns, waited_ns, queue.bytes, size.into());
            if chosen && !marks {
                rates.port.give_back(size);
                rates.slice(at).into_iter().for_each(|slice| slice.give_back(size));
                self.counters[number].count_drop(Reason::Codel);
                self.leave(at, member, |packet| out(Left::Dropped { queue: number, packet, reason: Reason::Codel }));
                continue;
            }
            self.counters[number].count_sent(size, waited_ns, chosen);
            if guaranteed {
                self.take_guarantee(member, takes, now_ns);
            } else {
                // They have been given as much: see `choose`.
                queue.deficit = queue.deficit.saturating_sub(size.into());
                let slice = &mut self.slices[at];
                slice.deficit = slice.deficit.saturating_sub(size.into());
            }
            self.leave(at, member, |packet| out(Left::Sent { queue: number, packet, mark: chosen }));
        }
        (!self.is_empty()).then_some(now_ns)
    }

    /// Empties all queues.
    pub fn end(&mut self, out: &mut impl FnMut(Left<P>)) {
        let flows =
            (0..self.flows.len()).filter_map(|flow| Some((self.flows[flow].as_ref()?.slice, Member::Flow(flow)))).collect::<Vec<_>>();
        let queues = (0..self.slices.len()).flat_map(|at| (0..QUEUES).map(move |number| (at, Member::Queue(number))));
        for (at, member) in queues.chain(flows) {
            let number = self.number(member);
            while queue_of(&mut self.slices, &mut self.flows, at, member).is_some_and(|queue| !queue.items.is_empty()) {
                self.counters[number].count_drop(Reason::Ended);
                self.leave(at, member, |packet| out(Left::Dropped { queue: number, packet, reason: Reason::Ended }));
            }
        }
    }

    /// Whose first packet is next; none if no packet waits.
    fn choose(&mut self, now_ns: u64, rates: &PortRates) -> Option<Next> {
        let mut later_ns = u64::MAX;
        while let Some(&Reverse((at_ns, number, stamp))) = self.due.peek() {
            let flow = self.flows[number].as_ref().filter(|flow| flow.stamp == stamp);
            let waits = flow.is_some_and(|flow| !flow.packets.items.is_empty());
            if waits && at_ns > now_ns {
                later_ns = at_ns;
                break;
            }
            if waits {
                return Some(Next::Guaranteed(number));
            }
            if flow.is_some() && at_ns > now_ns {
                // One to be forgotten; those behind it are later still.
                later_ns = at_ns;
                break;
            }
            self.due.pop();
            self.forget(number, stamp);
        }
        if self.is_empty() {
            return None;
        }
        let mut waiting = 0;
        while waiting < self.turns.len() {
            let at = *self.turns.front()?;
            if let Some(until_ns) = rates.slice(at).and_then(|slice| slice.busy_until(now_ns)) {
                later_ns = later_ns.min(until_ns);
                waiting += 1;
                self.is_served = false;
                self.turns.rotate_left(1);
                continue;
            }
            let (member, size) = self.next_of(at)?;
            let slice = &mut self.slices[at];
            if !std::mem::replace(&mut self.is_served, true) {
                slice.deficit += QUANTUM * u64::from(slice.weight);
            }
            if u64::from(size) <= slice.deficit {
                return Some(Next::Shared(at, member));
            }
            waiting = 0;
            self.is_served = false;
            self.turns.rotate_left(1);
        }
        Some(Next::Later(later_ns))
    }

    /// Whose first packet is next of a slice that has packets, and its size.
    fn next_of(&mut self, at: usize) -> Option<(Member, u32)> {
        let Scheduler { slices, flows, settings, .. } = self;
        let Slice { queues, turns, is_served, .. } = &mut slices[at];
        let strict = |number: &usize| settings.queues[*number].service == Service::Strict;
        if let Some((number, item)) = (0..QUEUES).rev().filter(strict).find_map(|n| Some((n, queues[n].items.front()?))) {
            return Some((Member::Queue(number), item.size));
        }
        loop {
            let member = *turns.front()?;
            let (number, queue) = match member {
                Member::Queue(number) => (number, &mut queues[number]),
                Member::Flow(flow) => flows[flow].as_mut().map(|flow| (flow.queue, &mut flow.packets))?,
            };
            let weight = if let Service::Weighted(weight) = settings.queues[number].service { weight.max(1) } else { 1 };
            if !std::mem::replace(is_served, true) {
                queue.deficit += QUANTUM * u64::from(weight);
            }
            let size = queue.items.front()?.size;
            if u64::from(size) <= queue.deficit {
                return Some((member, size));
            }
            *is_served = false;
            turns.rotate_left(1);
        }
    }

    /// The first packet of a queue or flow goes.
    fn leave(&mut self, at: usize, member: Member, out: impl FnOnce(P)) {
        let Some(queue) = queue_of(&mut self.slices, &mut self.flows, at, member) else { return };
        let Some(item) = queue.items.pop_front() else { return };
        queue.bytes -= u64::from(item.size);
        let is_empty = queue.items.is_empty();
        self.len -= 1;
        let slice = &mut self.slices[at];
        slice.len -= 1;
        if is_empty && let Some(turn) = slice.turns.iter().position(|turn| *turn == member) {
            slice.is_served &= turn != 0;
            slice.turns.remove(turn);
        }
        if slice.len == 0
            && let Some(turn) = self.turns.iter().position(|turn| *turn == at)
        {
            self.is_served &= turn != 0;
            self.turns.remove(turn);
        }
        if let (true, Member::Flow(flow)) = (is_empty, member) {
            self.wait_for_guarantee(flow);
        }
        out(item.packet);
    }

    /// Number of the queue whose settings and counters a member has.
    fn number(&self, member: Member) -> usize {
        match member {
            Member::Queue(number) => number,
            Member::Flow(flow) => self.flows[flow].as_ref().map_or(0, |flow| flow.queue),
        }
    }

    /// The flow of that name, with the rate that it has now.
    fn flow(&mut self, of: Guaranteed, slice: usize, queue: usize, now_ns: u64) -> usize {
        if let Some(&number) = self.flow_of.get(&of.flow)
            && let Some(flow) = &mut self.flows[number]
        {
            flow.rate = of.rate.max(1);
            if flow.packets.items.is_empty() {
                (flow.slice, flow.queue) = (slice, queue);
            }
            return number;
        }
        let fresh = Flow { packets: Queue::default(), id: of.flow, rate: of.rate.max(1), slice, queue, sent_until_ns: now_ns, stamp: 0 };
        let number = self.free_flows.pop().unwrap_or_else(|| {
            self.flows.push(None);
            self.flows.len() - 1
        });
        self.flows[number] = Some(fresh);
        self.flow_of.insert(of.flow, number);
        number
    }

    /// A flow's bytes go of its guaranteed rate.
    fn take_guarantee(&mut self, member: Member, size: u32, now_ns: u64) {
        let Member::Flow(number) = member else { return };
        let Some(flow) = &mut self.flows[number] else { return };
        let took_ns = u64::try_from((u128::from(size) * NANO).div_ceil(flow.rate.into())).unwrap_or(u64::MAX);
        flow.sent_until_ns = flow.sent_until_ns.max(now_ns).saturating_add(took_ns);
        self.wait_for_guarantee(number);
    }

    /// Notes when a flow may send within its rate next, or be forgotten.
    fn wait_for_guarantee(&mut self, number: usize) {
        let Some(flow) = &mut self.flows[number] else { return };
        self.stamp += 1;
        flow.stamp = self.stamp;
        let burst_ns = if flow.packets.items.is_empty() { 0 } else { GUARANTEED_BURST_NS };
        self.due.push(Reverse((flow.sent_until_ns.saturating_sub(burst_ns), number, flow.stamp)));
    }

    /// A flow that has no packets and has made up for all that it has sent.
    fn forget(&mut self, number: usize, stamp: u64) {
        if let Some(flow) = self.flows[number].take_if(|flow| flow.stamp == stamp && flow.packets.items.is_empty()) {
            self.flow_of.remove(&flow.id);
            self.free_flows.push(number);
        }
    }
}

fn queue_of<'a, P>(slices: &'a mut [Slice<P>], flows: &'a mut [Option<Flow<P>>], at: usize, member: Member) -> Option<&'a mut Queue<P>> {
    match member {
        Member::Queue(number) => slices.get_mut(at)?.queues.get_mut(number),
        Member::Flow(flow) => flows.get_mut(flow)?.as_mut().map(|flow| &mut flow.packets),
    }
}
