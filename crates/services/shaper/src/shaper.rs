//! The queues: who waits, who may send now, and who has waited too long.
//!
//! A leaf with packets is a member of one *ring*: its own while it waits for its own rate, that of a node above it while it waits for that one's. A ring has a
//! timer in the wheel, and its members share what the node lets pass by weight (deficit round robin, Shreedhar and Varghese 1995).
//!
//! Leaves that wait for one node's rate and nothing else are its *flows* ([`Rates::shared`]): each has a queue with a CoDel of its own, and all have one limit,
//! as in FQ-CoDel (RFC 8290). Not here: its second ring for flows that have just begun (§4.2). They are served after one round of the others.

use crate::codel::{Codel, Law};
use crate::counters::Counters;
use crate::sparse::Sparse;
use crate::wheel::Wheel;

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
    /// reached the longest of their queues loses its first packet (RFC 8290 §4.1). A leaf that shares none names itself.
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

struct Item<P> {
    packet: Option<P>,
    at_ns: u64,
    size: u32,
    next: u32,
    marks: bool,
}

/// A leaf with packets, or a node whose ring has members; often both. Two lines of memory.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Record {
    id: u32,
    // The queue.
    head: u32,
    tail: u32,
    packets: u32,
    bytes: u64,
    /// The next member of the ring that it is in.
    next: u32,
    /// The record of the node that it shares with other flows, or its own; and what waits in all of their queues, there.
    shared: u32,
    all_bytes: u64,
    all_packets: u32,
    weight: u32,
    // The ring of the node.
    first: u32,
    last: u32,
    /// Not before this time, however early the wheel gives it.
    at_ns: u64,
    // The second line.
    limit_bytes: u64,
    delay_ns: u64,
    deficit: i64,
    codel: Codel,
    armed: bool,
}

impl Record {
    /// Something of each of its lines.
    fn read(&self) -> u64 {
        self.bytes ^ u64::from(self.codel.is_dropping())
    }
}

/// Queues of packets `P` by leaf.
pub struct Shaper<P> {
    limits: Limits,
    /// Of each leaf or node its record.
    at: Sparse,
    records: Vec<Record>,
    free_records: Vec<u32>,
    items: Vec<Item<P>>,
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
        Shaper {
            limits,
            // A record's number plus one.
            at: Sparse::new(limits.nodes),
            records: Vec::new(),
            free_records: Vec::new(),
            items: Vec::new(),
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
        if leaf.max(node) >= self.at.len() || self.waiting >= self.limits.packets {
            self.counters.count_drop(Reason::Full);
            return Offered::Dropped(packet, Reason::Full);
        }
        let at = self.record(leaf);
        let shared = if node == leaf { at } else { self.record(node) };
        let all = &mut self.records[shared as usize];
        if all.all_packets == 0 {
            let rate = rates.rate(leaf);
            all.delay_ns = rates.delay_ns(leaf).min(self.limits.delay_ns);
            all.limit_bytes = (u128::from(rate) * u128::from(all.delay_ns) / 1_000_000_000).min(u64::MAX.into()) as u64;
        } else if !self.makes_room(shared, at, size, out) {
            self.give_up(at);
            self.counters.count_drop(Reason::QueueFull);
            return Offered::Dropped(packet, Reason::QueueFull);
        }
        let all = &mut self.records[shared as usize];
        all.all_packets += 1;
        all.all_bytes += u64::from(size);
        let delay_ns = all.delay_ns;
        let item = self.store(Item { packet: Some(packet), at_ns: now_ns, size, next: NONE, marks });
        let of = &mut self.records[at as usize];
        of.packets += 1;
        of.bytes += u64::from(size);
        let tail = std::mem::replace(&mut of.tail, item);
        if tail == NONE {
            of.head = item;
            of.deficit = 0;
            of.codel = Codel::default();
            (of.shared, of.delay_ns) = (shared, delay_ns);
            of.weight = rates.weight(leaf).max(1);
            // The timer finds out what it waits for.
            self.join(shared, at, now_ns);
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
            let all = &self.records[shared as usize];
            if all.all_packets < LEAST_PACKETS || all.all_bytes.saturating_add(size.into()) <= all.limit_bytes {
                return true;
            }
            // A leaf that shares no node may have others in its ring, which have limits of their own.
            let Some(longest) = self.longest(shared).filter(|_| shared != leaf) else { return false };
            if longest == leaf || self.records[longest as usize].bytes <= self.records[leaf as usize].bytes + u64::from(size) {
                return false;
            }
            self.drop_head(longest, Reason::Longest, out);
        }
    }

    /// The flow of a node that has most bytes waiting, of those that have more than one packet: a queue that empties is for [`Shaper::poll`] to end.
    fn longest(&self, shared: u32) -> Option<u32> {
        let member = |at: u32| (at != NONE).then_some(at);
        let members = std::iter::successors(member(self.records[shared as usize].first), |at| member(self.records[*at as usize].next));
        // The first of equals.
        members
            .filter(|at| self.records[*at as usize].packets > 1)
            .reduce(|longest, at| if self.records[at as usize].bytes > self.records[longest as usize].bytes { at } else { longest })
    }

    /// For a caller that is about to ask [`Shaper::waits`] or [`Shaper::offer`] for these leaves, at most [`AHEAD`] of them: reads what that will read, for all of
    /// them at once. With a million queues each costs several cache misses, and one packet's have to wait for each other. `shared` as [`Rates::shared`].
    pub fn look_ahead(&self, leaves: &[u32], shared: impl Fn(u32) -> u32) {
        if leaves.len() < 2 {
            return;
        }
        let mut at = [(0, 0); AHEAD];
        let leaves = leaves.iter().take(AHEAD);
        for (at, leaf) in at.iter_mut().zip(leaves.clone()) {
            *at = (self.at.get(*leaf), self.at.get(shared(*leaf)));
        }
        let at = &at[..leaves.len()];
        // What is read must be of use, or nothing is read.
        let mut read = 0;
        let mut tails = [NONE; AHEAD];
        let record = |at: u32| self.records.get(at.wrapping_sub(1) as usize);
        for (tail, (at, shared)) in tails.iter_mut().zip(at) {
            if let Some(of) = record(*at) {
                *tail = of.tail;
                read ^= of.read();
            }
            read ^= record(*shared).map_or(0, Record::read);
        }
        for tail in &tails[..at.len()] {
            read ^= self.items.get(*tail as usize).map_or(0, |item| u64::from(item.next));
        }
        std::hint::black_box(read);
    }

    /// As [`Shaper::look_ahead`], for nodes that are about to be served.
    fn look_ahead_of(&self, nodes: &[u32], rates: &impl Rates) {
        let (mut firsts, mut heads, mut read) = ([NONE; AHEAD], [NONE; AHEAD], 0);
        let record = |at: u32| self.records.get(at as usize);
        for (first, node) in firsts.iter_mut().zip(nodes) {
            if let Some(of) = record(*node) {
                *first = of.first;
                read ^= of.read();
            }
        }
        for (head, first) in heads.iter_mut().zip(&firsts[..nodes.len()]) {
            if let Some(of) = record(*first) {
                *head = of.head;
                read ^= of.read() ^ rates.look_ahead(of.id);
            }
        }
        for head in &mut heads[..nodes.len()] {
            *head = self.items.get(*head as usize).map_or(NONE, |item| item.next);
        }
        // The next one's, which says until when the node then waits.
        for next in &heads[..nodes.len()] {
            read ^= self.items.get(*next as usize).map_or(0, |item| item.at_ns);
        }
        std::hint::black_box(read);
    }

    /// Whether packets of a leaf wait, or of any flow that shares a node.
    pub fn waits(&self, number: u32) -> bool {
        let waits = |of: &Record| of.packets > 0 || of.all_packets > 0;
        match self.at.get(number) {
            0 => false,
            at => waits(&self.records[at as usize - 1]),
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
                let of = &mut self.records[node as usize];
                if of.at_ns > now_ns {
                    later.push(node);
                    continue;
                }
                of.armed = false;
                self.serve(node, now_ns, rates, &mut left, out);
            }
        }
        for node in later.drain(..) {
            self.wheel.link(node, self.records[node as usize].at_ns);
        }
        self.later = later;
        most - left
    }

    /// Empties all queues.
    pub fn end(&mut self, out: &mut impl FnMut(Fate<P>)) {
        for at in 0..self.records.len() {
            while self.records[at].packets > 0 {
                self.drop_head(at as u32, Reason::Ended, out);
            }
        }
        self.at.clear();
        self.records.clear();
        self.free_records.clear();
        self.items.clear();
        self.free_item = NONE;
        self.wheel = Wheel::default();
    }

    /// The members of a node's ring in turn, until the node lets no more pass.
    fn serve(&mut self, node: u32, now_ns: u64, rates: &mut impl Rates, left: &mut usize, out: &mut impl FnMut(Fate<P>)) {
        loop {
            let leaf = self.records[node as usize].first;
            if leaf == NONE {
                return self.give_up(node);
            }
            let (alone, id) = (self.records[leaf as usize].next == NONE, self.records[leaf as usize].id);
            if self.records[leaf as usize].packets == 0 {
                self.leave(node);
                let shared = self.records[leaf as usize].shared;
                self.give_up(leaf);
                if shared != node {
                    self.give_up(shared);
                }
                out(Fate::Idle { leaf: id });
                continue;
            }
            if *left == 0 {
                return self.arm(node, now_ns);
            }
            let of = &self.records[leaf as usize];
            let delay_ns = of.delay_ns;
            let Item { at_ns, size, marks, .. } = self.items[of.head as usize];
            let waited_ns = now_ns.saturating_sub(at_ns);
            if waited_ns > delay_ns {
                self.drop_head(leaf, Reason::Late, out);
                *left -= 1;
                continue;
            }
            if !alone && of.deficit < i64::from(size) {
                let more = QUANTUM * i64::from(of.weight);
                self.records[leaf as usize].deficit += more;
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
            let of = &mut self.records[leaf as usize];
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
        let id = self.records[leaf as usize].id;
        if let Some(packet) = self.unlink_head(leaf) {
            out(Fate::Dropped { leaf: id, packet, reason });
        }
    }

    fn unlink_head(&mut self, leaf: u32) -> Option<P> {
        let of = &mut self.records[leaf as usize];
        let item = of.head;
        let Item { packet, size, next, .. } = &mut self.items[item as usize];
        let packet = packet.take();
        let size = u64::from(*size);
        of.packets -= 1;
        of.bytes -= size;
        of.head = std::mem::replace(next, self.free_item);
        if of.head == NONE {
            of.tail = NONE;
        }
        self.free_item = item;
        let shared = of.shared;
        let all = &mut self.records[shared as usize];
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
        let at = self.at.get(id);
        if at != 0 {
            return at - 1;
        }
        let fresh = Record {
            id,
            head: NONE,
            tail: NONE,
            packets: 0,
            weight: 1,
            bytes: 0,
            limit_bytes: 0,
            delay_ns: 0,
            deficit: 0,
            codel: Codel::default(),
            next: NONE,
            shared: NONE,
            all_packets: 0,
            all_bytes: 0,
            first: NONE,
            last: NONE,
            armed: false,
            at_ns: 0,
        };
        let at = match self.free_records.pop() {
            Some(at) => {
                self.records[at as usize] = fresh;
                at
            }
            None => {
                self.records.push(fresh);
                (self.records.len() - 1) as u32
            }
        };
        self.at.set(id, at + 1);
        at
    }

    /// Frees the record of who has neither packets nor members.
    fn give_up(&mut self, at: u32) {
        let of = &self.records[at as usize];
        if of.packets == 0 && of.all_packets == 0 && of.first == NONE && !of.armed && self.at.get(of.id) == at + 1 {
            self.at.set(of.id, 0);
            self.free_records.push(at);
        }
    }

    /// Puts a leaf at the end of a node's ring, which is served at that time at the latest.
    fn join(&mut self, node: u32, leaf: u32, at_ns: u64) {
        let of = &mut self.records[node as usize];
        let last = std::mem::replace(&mut of.last, leaf);
        if last == NONE {
            of.first = leaf;
        } else {
            self.records[last as usize].next = leaf;
        }
        self.records[leaf as usize].next = NONE;
        self.arm(node, at_ns);
    }

    /// Takes the first member out of a ring.
    fn leave(&mut self, node: u32) {
        let leaf = self.records[node as usize].first;
        let next = std::mem::replace(&mut self.records[leaf as usize].next, NONE);
        let of = &mut self.records[node as usize];
        of.first = next;
        if next == NONE {
            of.last = NONE;
        }
    }

    /// The first member of a ring becomes its last.
    fn turn(&mut self, node: u32) {
        let leaf = self.records[node as usize].first;
        self.leave(node);
        let of = &mut self.records[node as usize];
        let last = std::mem::replace(&mut of.last, leaf);
        if last == NONE {
            of.first = leaf;
        } else {
            self.records[last as usize].next = leaf;
        }
    }

    /// Has a node served at that time, if nothing does so earlier.
    fn arm(&mut self, node: u32, at_ns: u64) {
        let of = &mut self.records[node as usize];
        if !of.armed {
            of.armed = true;
            of.at_ns = at_ns;
            self.wheel.link(node, at_ns);
        }
    }
}
