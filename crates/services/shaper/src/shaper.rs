//! The queues: who waits, who may send now, and who has waited too long.
//!
//! A leaf with packets is a member of one *ring*: its own while it waits for its own rate, that of a node above it while it waits for that one's. A ring has a
//! timer in the wheel, and its members share what the node lets pass by weight (deficit round robin, Shreedhar and Varghese 1995).
//!
//! Leaves that wait for one node's rate and nothing else are its *flows* ([`Rates::shared`]): each has a queue with a CoDel of its own, and all have one limit,
//! as in FQ-CoDel (RFC 8290). Not here: its second ring for flows that have just begun (§4.2). They are served after one round of the others.

use crate::codel::{Codel, Law};
use crate::counters::Counters;
use crate::wheel::Wheel;
use pages::Array;

/// How many nodes, or packets that come, are looked at ahead: caches miss for all of them at once. A processor has some tens of misses under way.
pub const AHEAD: usize = 32;
/// Bytes that a leaf of weight 1 may send in a round.
const QUANTUM: i64 = 1514;
/// Packets that a queue may hold whatever its rate: below it a connection cannot recover from a loss without waiting for a timer.
const LEAST_PACKETS: u32 = 4;
const NONE: u32 = u32::MAX;

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Leaves and nodes are numbered from 0 to this, exclusive.
    pub nodes: u32,
    /// Packets in all queues.
    pub packets: u32,
    /// How long a packet may wait, in ns: a queue takes no more than its rate sends in that time, and what has waited for longer is dropped.
    pub delay_ns: u64,
    /// CoDel's.
    pub law: Law,
}

/// Whether a packet may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// Its bytes are taken.
    Now {
        /// Within a guaranteed rate: it does not count for the leaf's share of what is spare.
        guaranteed: bool,
    },
    /// Not before that time, in ns, for that node: the leaf itself, or one above it.
    At {
        /// Whose rate is exceeded.
        node: u32,
        /// When it will let as many bytes pass, if nobody else takes them.
        at_ns: u64,
    },
    /// Never: its rate is zero, or its burst is smaller than the packet.
    Never,
}

/// The rates that leaves are shaped to.
pub trait Rates {
    /// Takes `size` bytes at `now_ns` from the rates of a leaf, all of them or none.
    fn take(&mut self, leaf: u32, size: u32, now_ns: u64) -> Take;

    /// Gives back what [`Rates::take`] has just taken: the packet is dropped instead.
    fn give_back(&mut self, leaf: u32, size: u32, guaranteed: bool);

    /// When [`Rates::take`] will let so many bytes of a leaf pass, if nobody else takes them, as far as that is known without taking any; else now.
    fn when_ns(&self, _leaf: u32, _size: u32, now_ns: u64) -> u64 {
        now_ns
    }

    /// Rate of a leaf in bytes a second.
    fn rate(&self, leaf: u32) -> u64;

    /// Its share of what is spare.
    fn weight(&self, _leaf: u32) -> u32 {
        1
    }

    /// How long its packets may wait, in ns, if that is less than [`Limits::delay_ns`]. It is asked when its queue begins.
    fn delay_ns(&self, _leaf: u32) -> u64 {
        u64::MAX
    }

    /// The node whose rate all packets of a leaf wait for, shared with others: the *flows* of one rate. They have its queue limit together, and when it is
    /// reached the longest of their queues loses its first packet (RFC 8290 §4.1). A leaf that shares none names itself. One that shares one is itself no node
    /// of others, nor for [`Take::At`].
    fn shared(&self, leaf: u32) -> u32 {
        leaf
    }

    /// A leaf will be asked about soon: a chance to have its rate's memory come to the cache. It returns whatever it has read there.
    fn look_ahead(&self, _leaf: u32) -> u64 {
        0
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its queue holds as much as its rate sends in the longest delay.
    QueueFull,
    /// All queues together are full.
    Full,
    /// It has waited for longer than it may.
    Late,
    /// CoDel chose it, and its sender does not understand marks.
    Codel,
    /// Its rate lets no packet pass.
    NoRate,
    /// The shaper was emptied.
    Ended,
    /// It waited in the longest queue of those that share a limit, when another flow's packet came ([`Rates::shared`]).
    Longest,
}

impl Reason {
    /// All, in the order of their numbers.
    pub const ALL: [Reason; 7] =
        [Reason::QueueFull, Reason::Full, Reason::Late, Reason::Codel, Reason::NoRate, Reason::Ended, Reason::Longest];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Reason::QueueFull => "queue_full",
            Reason::Full => "full",
            Reason::Late => "late",
            Reason::Codel => "codel",
            Reason::NoRate => "no_rate",
            Reason::Ended => "ended",
            Reason::Longest => "longest",
        }
    }
}

/// What became of a packet that was offered.
#[derive(Debug, PartialEq, Eq)]
pub enum Offered<P> {
    /// It waits.
    Waits,
    /// It is dropped, for [`Reason::QueueFull`] or [`Reason::Full`].
    Dropped(P, Reason),
}

/// What became of a packet that waited.
#[derive(Debug, PartialEq, Eq)]
pub enum Fate<P> {
    /// It may go: its bytes are taken.
    Sent {
        /// Whose it is.
        leaf: u32,
        /// The packet.
        packet: P,
        /// Whether to mark it as having met congestion (CE).
        mark: bool,
    },
    /// It is dropped.
    Dropped {
        /// Whose it was.
        leaf: u32,
        /// The packet.
        packet: P,
        /// Why.
        reason: Reason,
    },
    /// The leaf's queue is empty: what comes next need not wait for others; if it shares a node ([`Rates::shared`]) and that has no packets either
    /// ([`Shaper::waits`]).
    Idle {
        /// Whose it is.
        leaf: u32,
    },
}

/// A packet that waits.
struct Item<P> {
    packet: Option<P>,
    at_ns: u64,
    /// Its size, and [`MARKS`].
    size: u32,
    next: u32,
}

/// Its sender understands marks.
const MARKS: u32 = 1 << 31;
/// A packet is no larger: no burst holds as much.
const MOST_BYTES: u32 = MARKS - 1;

impl<P> Item<P> {
    fn size(&self) -> u32 {
        self.size & MOST_BYTES
    }
}

/// A leaf with packets, or a node whose ring has members; often both. Each is a line of memory, and of one that is not both the other line is not touched.
#[derive(Clone, Copy)]
#[repr(C)]
struct Record {
    queue: Queue,
    ring: Ring,
}

/// The packets of a leaf.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Queue {
    id: u32,
    head: u32,
    tail: u32,
    /// The next member of the ring that it is in.
    next: u32,
    /// The record of the node that it shares with other flows, or its own.
    shared: u32,
    weight: u32,
    bytes: u64,
    deficit: i64,
    codel: Codel,
}

/// The ring of a node.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Ring {
    id: u32,
    first: u32,
    last: u32,
    /// What waits in the queues of all flows that share it, and how much may.
    all_packets: u32,
    all_bytes: u64,
    limit_bytes: u64,
    delay_ns: u64,
    /// Not before this time, however early the wheel gives it.
    at_ns: u64,
    armed: bool,
    /// Whether it is a leaf too.
    is_leaf: bool,
}

const _: () = assert!(size_of::<Queue>() == 64 && size_of::<Ring>() == 64);

impl Queue {
    fn is_empty(&self) -> bool {
        self.head == NONE
    }

    fn has_several(&self) -> bool {
        self.head != self.tail
    }
}

/// Queues of packets `P` by leaf.
pub struct Shaper<P> {
    limits: Limits,
    /// Of each leaf or node its record, plus one.
    at: Array<u32>,
    records: Array<Record>,
    free_records: Vec<u32>,
    items: Array<Item<P>>,
    free_item: u32,
    waiting: u32,
    wheel: Wheel,
    /// Empty between calls: for [`Shaper::poll`], which allocates nothing.
    later: Vec<u32>,
    counters: Counters,
}

impl<P> Shaper<P> {
    /// Empty. Memory grows with what waits: a node costs four bytes, and its neighbours with it, from when it is used first.
    pub fn new(limits: Limits) -> Shaper<P> {
        // As a rule a leaf and a node for each packet.
        let records = u64::from(limits.nodes).min(2 * u64::from(limits.packets));
        Shaper {
            limits,
            at: Array::zeros(limits.nodes as usize),
            records: Array::with_room(records as usize),
            free_records: Vec::new(),
            items: Array::with_room(limits.packets as usize),
            free_item: NONE,
            waiting: 0,
            wheel: Wheel::default(),
            later: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// A packet of `size` bytes that must wait: its leaf's rate is exceeded, or packets of that leaf wait. `marks`: its sender understands marks (ECT).
    /// Packets of other flows that are dropped in its place ([`Rates::shared`]) are given to `out`.
    #[allow(clippy::too_many_arguments)] // A packet is five of them.
    pub fn offer(
        &mut self,
        leaf: u32,
        packet: P,
        size: u32,
        marks: bool,
        now_ns: u64,
        rates: &mut impl Rates,
        out: &mut impl FnMut(Fate<P>),
    ) -> Offered<P> {
        let node = rates.shared(leaf);
        if leaf.max(node) as usize >= self.at.len() || self.waiting >= self.limits.packets {
            self.counters.count_drop(Reason::Full);
            return Offered::Dropped(packet, Reason::Full);
        }
        let size = size.min(MOST_BYTES);
        let shared = self.record(node);
        if self.records[shared as usize].ring.all_packets == 0 {
            let rate = rates.rate(leaf);
            let all = &mut self.records[shared as usize].ring;
            all.delay_ns = rates.delay_ns(leaf).min(self.limits.delay_ns);
            all.limit_bytes = (u128::from(rate) * u128::from(all.delay_ns) / 1_000_000_000).min(u64::MAX.into()) as u64;
        } else if !self.makes_room(shared, leaf, size, out) {
            self.counters.count_drop(Reason::QueueFull);
            return Offered::Dropped(packet, Reason::QueueFull);
        }
        let at = if node == leaf { shared } else { self.record(leaf) };
        let all = &mut self.records[shared as usize].ring;
        all.all_packets += 1;
        all.all_bytes += u64::from(size);
        all.is_leaf |= at == shared;
        let delay_ns = all.delay_ns;
        let item = self.store(Item { packet: Some(packet), at_ns: now_ns, size: size | if marks { MARKS } else { 0 }, next: NONE });
        let of = &mut self.records[at as usize].queue;
        of.bytes += u64::from(size);
        let tail = std::mem::replace(&mut of.tail, item);
        if tail == NONE {
            of.head = item;
            of.deficit = 0;
            of.codel = Codel::default();
            of.shared = shared;
            of.weight = rates.weight(leaf).max(1);
            // When it is late it goes, whatever the rate is.
            let late_ns = now_ns.saturating_add(delay_ns + 1);
            self.join(shared, at, rates.when_ns(leaf, size, now_ns).min(late_ns));
        } else {
            self.items[tail as usize].next = item;
        }
        self.waiting += 1;
        self.counters.queued += 1;
        Offered::Waits
    }

    /// Whether a packet of the leaf fits into the queues of a node's flows, if need be in place of others.
    fn makes_room(&mut self, shared: u32, leaf: u32, size: u32, out: &mut impl FnMut(Fate<P>)) -> bool {
        loop {
            let all = &self.records[shared as usize].ring;
            if all.all_packets < LEAST_PACKETS || all.all_bytes.saturating_add(size.into()) <= all.limit_bytes {
                return true;
            }
            // A leaf that shares no node may have others in its ring, which have limits of their own.
            let Some(longest) = self.longest(shared).filter(|_| all.id != leaf) else { return false };
            let longest_bytes = self.records[longest as usize].queue.bytes;
            let at = self.at[leaf as usize];
            let bytes = if at == 0 { 0 } else { self.records[at as usize - 1].queue.bytes };
            if longest + 1 == at || longest_bytes <= bytes + u64::from(size) {
                return false;
            }
            self.drop_head(longest, Reason::Longest, out);
        }
    }

    /// The flow of a node that has most bytes waiting, of those that have more than one packet: a queue that empties is for [`Shaper::poll`] to end.
    fn longest(&self, shared: u32) -> Option<u32> {
        let member = |at: u32| (at != NONE).then_some(at);
        let queue = |at: u32| &self.records[at as usize].queue;
        let members = std::iter::successors(member(self.records[shared as usize].ring.first), |at| member(queue(*at).next));
        // The first of equals.
        members
            .filter(|at| queue(*at).has_several())
            .reduce(|longest, at| if queue(at).bytes > queue(longest).bytes { at } else { longest })
    }

    /// For a caller that is about to ask [`Shaper::waits`] or [`Shaper::offer`] for these leaves, at most [`AHEAD`] of them: reads what that will read, for all of
    /// them at once. With a million queues each costs several cache misses, and one packet's have to wait for each other. `shared` as [`Rates::shared`].
    pub fn look_ahead(&self, leaves: &[u32], shared: impl Fn(u32) -> u32) {
        if leaves.len() < 2 {
            return;
        }
        let mut at = [(0, 0); AHEAD];
        let leaves = leaves.iter().take(AHEAD);
        let number = |id: u32| self.at.get(id as usize).copied().unwrap_or(0);
        for (at, leaf) in at.iter_mut().zip(leaves.clone()) {
            *at = (number(*leaf), number(shared(*leaf)));
        }
        let at = &at[..leaves.len()];
        // What is read must be of use, or nothing is read.
        let mut read = 0;
        let mut tails = [NONE; AHEAD];
        let record = |at: u32| self.records.get(at.wrapping_sub(1) as usize);
        for (tail, (at, shared)) in tails.iter_mut().zip(at) {
            if let Some(of) = record(*at) {
                *tail = of.queue.tail;
            }
            read ^= record(*shared).map_or(0, |of| of.ring.all_bytes);
        }
        for tail in &tails[..at.len()] {
            read ^= self.items.get(*tail as usize).map_or(0, |item| u64::from(item.next));
        }
        std::hint::black_box(read);
    }

    /// As [`Shaper::look_ahead`], for nodes that are about to be served. The packets themselves come to the cache too.
    fn look_ahead_of(&self, nodes: &[u32], rates: &impl Rates) {
        let (mut firsts, mut heads, mut read) = ([NONE; AHEAD], [NONE; AHEAD], 0);
        let record = |at: u32| self.records.get(at as usize);
        for (first, node) in firsts.iter_mut().zip(nodes) {
            if let Some(of) = record(*node) {
                *first = of.ring.first;
            }
        }
        for (head, first) in heads.iter_mut().zip(&firsts[..nodes.len()]) {
            if let Some(Record { queue: of, .. }) = record(*first) {
                *head = of.head;
                // Where the leaf stands among all is written when its queue ends.
                let at = self.at.get(of.id as usize).copied().unwrap_or(0);
                read ^= rates.look_ahead(of.id) ^ u64::from(at);
            }
        }
        for head in &mut heads[..nodes.len()] {
            *head = self.items.get(*head as usize).map_or(NONE, |item| {
                read ^= item.at_ns ^ u64::from(item.packet.is_some());
                item.next
            });
        }
        // The next one's, which says until when the node then waits.
        for next in &heads[..nodes.len()] {
            read ^= self.items.get(*next as usize).map_or(0, |item| item.at_ns);
        }
        std::hint::black_box(read);
    }

    /// Whether packets of a leaf wait, or of any flow that shares a node.
    pub fn waits(&self, number: u32) -> bool {
        match self.at.get(number as usize).copied() {
            None | Some(0) => false,
            Some(at) => {
                let Record { queue, ring } = &self.records[at as usize - 1];
                ring.all_packets > 0 || !queue.is_empty()
            }
        }
    }

    /// The same, for a node that flows share.
    pub fn waits_in_flows(&self, node: u32) -> bool {
        match self.at.get(node as usize).copied() {
            None | Some(0) => false,
            // Its other line is not touched.
            Some(at) => self.records[at as usize - 1].ring.all_packets > 0,
        }
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.waiting as usize
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// When [`Shaper::poll`] has something to do.
    pub fn next_ns(&self) -> Option<u64> {
        self.wheel.next_ns()
    }

    /// Since it was made.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Gives what may go at `now_ns`, and what is dropped, to `out`: of each leaf in the order of arrival. Returns after `most` packets, in that case more may
    /// be due.
    pub fn poll(&mut self, now_ns: u64, rates: &mut impl Rates, most: usize, out: &mut impl FnMut(Fate<P>)) -> usize {
        let mut left = most;
        // Beyond the wheel's horizon when they were linked. They are linked again when the wheel stands at `now_ns`: a clock that has jumped far ahead
        // would have them go round and round.
        let mut later = std::mem::take(&mut self.later);
        let mut due = [NONE; AHEAD];
        while left > 0 {
            // What is not served when no packets are left is due again at once.
            let count = due[..left.min(AHEAD)].iter_mut().map_while(|at| self.wheel.take(now_ns).map(|node| *at = node)).count();
            if count == 0 {
                break;
            }
            self.look_ahead_of(&due[..count], rates);
            for node in due[..count].iter().copied() {
                let of = &mut self.records[node as usize].ring;
                if of.at_ns > now_ns {
                    later.push(node);
                    continue;
                }
                of.armed = false;
                self.serve(node, now_ns, rates, &mut left, out);
            }
        }
        for node in later.drain(..) {
            self.wheel.link(node, self.records[node as usize].ring.at_ns);
        }
        self.later = later;
        most - left
    }

    /// Empties all queues.
    pub fn end(&mut self, out: &mut impl FnMut(Fate<P>)) {
        for at in 0..self.records.len() {
            while !self.records[at].queue.is_empty() {
                self.drop_head(at as u32, Reason::Ended, out);
            }
        }
        *self = Shaper { counters: self.counters, ..Shaper::new(self.limits) };
    }

    /// The members of a node's ring in turn, until the node lets no more pass.
    fn serve(&mut self, node: u32, now_ns: u64, rates: &mut impl Rates, left: &mut usize, out: &mut impl FnMut(Fate<P>)) {
        loop {
            let leaf = self.records[node as usize].ring.first;
            if leaf == NONE {
                return self.give_up(node);
            }
            let of = &self.records[leaf as usize].queue;
            let (alone, id, shared) = (of.next == NONE, of.id, of.shared);
            if of.is_empty() {
                self.leave(node);
                if shared != leaf {
                    self.free(leaf, id);
                }
                if shared != node {
                    self.give_up(shared);
                }
                out(Fate::Idle { leaf: id });
                continue;
            }
            if *left == 0 {
                return self.arm(node, now_ns);
            }
            let (deficit, weight, head) = (of.deficit, of.weight, of.head);
            let delay_ns = self.records[shared as usize].ring.delay_ns;
            let item = &self.items[head as usize];
            let (at_ns, size, marks) = (item.at_ns, item.size(), item.size & MARKS != 0);
            let waited_ns = now_ns.saturating_sub(at_ns);
            if waited_ns > delay_ns {
                self.drop_head(leaf, Reason::Late, out);
                *left -= 1;
                continue;
            }
            if !alone && deficit < i64::from(size) {
                self.records[leaf as usize].queue.deficit += QUANTUM * i64::from(weight);
                self.turn(node);
                continue;
            }
            let guaranteed = match rates.take(id, size, now_ns) {
                Take::Now { guaranteed } => guaranteed,
                Take::Never => {
                    self.drop_head(leaf, Reason::NoRate, out);
                    *left -= 1;
                    continue;
                }
                Take::At { node: by, at_ns } => {
                    // When it is late it goes, whatever the rate is.
                    let late_ns = (now_ns - waited_ns).saturating_add(delay_ns + 1);
                    let at_ns = at_ns.min(late_ns).max(now_ns + 1);
                    let by = self.record(by);
                    if by == node {
                        return self.arm(node, at_ns);
                    }
                    self.leave(node);
                    self.join(by, leaf, at_ns);
                    continue;
                }
            };
            let of = &mut self.records[leaf as usize].queue;
            let chosen = of.codel.leaves(&self.limits.law, now_ns, waited_ns, of.bytes, u64::from(size));
            if chosen && !marks {
                rates.give_back(id, size, guaranteed);
                self.drop_head(leaf, Reason::Codel, out);
                *left -= 1;
                continue;
            }
            if !alone && !guaranteed {
                of.deficit -= i64::from(size);
            }
            self.counters.count_sent(size, waited_ns, chosen);
            if let Some(packet) = self.unlink_head(leaf) {
                out(Fate::Sent { leaf: id, packet, mark: chosen });
            }
            *left -= 1;
        }
    }

    fn drop_head(&mut self, leaf: u32, reason: Reason, out: &mut impl FnMut(Fate<P>)) {
        self.counters.count_drop(reason);
        let id = self.records[leaf as usize].queue.id;
        if let Some(packet) = self.unlink_head(leaf) {
            out(Fate::Dropped { leaf: id, packet, reason });
        }
    }

    fn unlink_head(&mut self, leaf: u32) -> Option<P> {
        let of = &mut self.records[leaf as usize].queue;
        let at = of.head;
        let item = &mut self.items[at as usize];
        let (packet, size) = (item.packet.take(), u64::from(item.size()));
        of.bytes -= size;
        of.head = std::mem::replace(&mut item.next, self.free_item);
        if of.head == NONE {
            of.tail = NONE;
        }
        self.free_item = at;
        let shared = of.shared;
        let all = &mut self.records[shared as usize].ring;
        all.all_packets -= 1;
        all.all_bytes -= size;
        self.waiting -= 1;
        packet
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

    /// The record of a leaf or node.
    fn record(&mut self, id: u32) -> u32 {
        let at = self.at[id as usize];
        if at != 0 {
            return at - 1;
        }
        let queue =
            Queue { id, head: NONE, tail: NONE, next: NONE, shared: NONE, weight: 1, bytes: 0, deficit: 0, codel: Codel::default() };
        let ring = Ring {
            id,
            first: NONE,
            last: NONE,
            all_packets: 0,
            all_bytes: 0,
            limit_bytes: 0,
            delay_ns: 0,
            at_ns: 0,
            armed: false,
            is_leaf: false,
        };
        let at = match self.free_records.pop() {
            Some(at) => {
                self.records[at as usize] = Record { queue, ring };
                at
            }
            None => {
                self.records.push(Record { queue, ring });
                (self.records.len() - 1) as u32
            }
        };
        self.at[id as usize] = at + 1;
        at
    }

    /// Frees the record of a node that has neither packets nor members.
    fn give_up(&mut self, at: u32) {
        let Record { queue, ring } = &self.records[at as usize];
        let (id, busy) = (ring.id, ring.all_packets > 0 || ring.first != NONE || ring.armed || (ring.is_leaf && !queue.is_empty()));
        if !busy && self.at[id as usize] == at + 1 {
            self.free(at, id);
        }
    }

    fn free(&mut self, at: u32, id: u32) {
        self.at[id as usize] = 0;
        self.free_records.push(at);
    }

    /// Puts a leaf at the end of a node's ring, which is served at that time at the latest.
    fn join(&mut self, node: u32, leaf: u32, at_ns: u64) {
        self.append(node, leaf);
        self.records[leaf as usize].queue.next = NONE;
        self.arm(node, at_ns);
    }

    fn append(&mut self, node: u32, leaf: u32) {
        let of = &mut self.records[node as usize].ring;
        let last = std::mem::replace(&mut of.last, leaf);
        if last == NONE {
            of.first = leaf;
        } else {
            self.records[last as usize].queue.next = leaf;
        }
    }

    /// Takes the first member out of a ring.
    fn leave(&mut self, node: u32) {
        let leaf = self.records[node as usize].ring.first;
        let next = std::mem::replace(&mut self.records[leaf as usize].queue.next, NONE);
        let of = &mut self.records[node as usize].ring;
        of.first = next;
        if next == NONE {
            of.last = NONE;
        }
    }

    /// The first member of a ring becomes its last.
    fn turn(&mut self, node: u32) {
        let leaf = self.records[node as usize].ring.first;
        self.leave(node);
        self.append(node, leaf);
    }

    /// Has a node served at that time, if nothing does so earlier.
    fn arm(&mut self, node: u32, at_ns: u64) {
        let of = &mut self.records[node as usize].ring;
        if !of.armed {
            of.armed = true;
            of.at_ns = at_ns;
            self.wheel.link(node, at_ns);
        }
    }
}
