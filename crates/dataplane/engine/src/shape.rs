//! Where packets over a rate wait: one [`shaper::Shaper`] for each worker, asked by its loop.
//!
//! The program decides who waits: it leaves the packet in the buffer with a reason, as it came in. Its meter's cell is the queue. When the cell lets
//! it pass, it runs through the program again, which asks its other meters, and only then counts it: usage is what was sent after QoS
//! enforcement (TS 29.244 §5.2.2.2 and §8.2.68, MBQE not set). So what waits or is dropped here is never charged, and rules that were
//! changed or deleted meanwhile hold for it.
//!
//! Packets that wait for one cell share it by connection: each has one of [`FLOWS`] queues of the cell, which send in turns, by bytes.

use base::{DropReason, HEADROOM, Metered, Packet, PortId, Verdict, VerdictKind};
use pages::Array;
use program::MeterId;
use shaper::shaper::AHEAD;
use shaper::{Counters, Fate, Limits, Offered, Reason, Shaper, Take};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use target_api::{BURST, Lane, Taken};

/// What waits, and how long.
#[derive(Clone, Debug)]
pub struct ShapeSettings {
    /// The program's meter whose red packets wait.
    pub meter: MeterId,
    /// Whose rate each waits for.
    pub queues: Queues,
    /// `nodes` is the number of queues; all others are of one worker.
    pub limits: Limits,
    /// Queues whose packets may wait for less than `limits` have it.
    pub delays: Option<Delays>,
    /// With [`Queues::OneCell`]: units that were sent at cell 0's rate past the program's meter, as what a service sends again. Who sends them adds to it. They come out of the
    /// cell's bucket before anything that waits does.
    pub owed: Option<Arc<AtomicU64>>,
}

/// How long packets of each queue may wait, in ns. It can be changed while workers run: a queue that is empty takes it up with its next packet.
#[derive(Clone, Debug)]
pub struct Delays(Arc<[AtomicU64]>);

impl Delays {
    /// For so many queues, none of which has a limit of its own.
    pub fn new(queues: u32) -> Delays {
        Delays((0..queues).map(|_| AtomicU64::new(u64::MAX)).collect())
    }

    /// Packets of a queue wait no longer than that; of one that there is not, nothing changes.
    pub fn set(&self, queue: u32, most_ns: u64) {
        if let Some(of) = self.0.get(queue as usize) {
            of.store(most_ns, Relaxed);
        }
    }

    fn of(&self, queue: u32) -> u64 {
        self.0.get(queue as usize).map_or(u64::MAX, |of| of.load(Relaxed))
    }
}

/// Queues of a cell, in which its packets wait by connection ([`wire::user::connection`]). Two connections that share one share its turns too. Each costs four
/// bytes a cell, as the node above them does: one line of memory together.
const FLOWS: u32 = 15;
/// Units of what is owed that are taken at once: no bucket is smaller.
const OWED_AT_ONCE: u64 = 1024;
/// Of the node among the numbers of a cell, behind those of its queues.
const NODE: u32 = FLOWS;

/// What a queue waits for. Its number is the mark of its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queues {
    /// The meter's cell of that number.
    #[default]
    Cells,
    /// Cell 0: the queues share its rate in turns, by bytes.
    OneCell,
}

/// How the shaper's leaves and nodes are numbered.
#[derive(Clone, Copy)]
struct Numbers {
    queues: Queues,
    /// As many as there may be.
    count: u32,
}

impl Numbers {
    /// Leaves, and the nodes above them.
    fn all(self) -> u32 {
        match self.queues {
            Queues::Cells => self.count.saturating_mul(NODE + 1),
            Queues::OneCell => self.count.saturating_add(1),
        }
    }

    /// Where a packet waits.
    fn leaf(self, queue: u32, packet: &Packet) -> u32 {
        match self.queues {
            Queues::Cells => queue.saturating_mul(NODE + 1).saturating_add(wire::user::connection(packet.data()) % FLOWS),
            Queues::OneCell => queue,
        }
    }

    fn queue(self, leaf: u32) -> u32 {
        match self.queues {
            Queues::Cells => leaf / (NODE + 1),
            Queues::OneCell => leaf,
        }
    }

    /// The meter's.
    fn cell(self, queue: u32) -> u32 {
        match self.queues {
            Queues::Cells => queue,
            Queues::OneCell => 0,
        }
    }

    /// Whose limit a leaf has together with others.
    fn shared(self, leaf: u32) -> u32 {
        match self.queues {
            Queues::Cells => self.node(self.queue(leaf)),
            // Queues of one cell have limits of their own.
            Queues::OneCell => leaf,
        }
    }

    /// Above a queue's leaves: whose rate they share.
    fn node(self, queue: u32) -> u32 {
        match self.queues {
            Queues::Cells => queue.saturating_mul(NODE + 1).saturating_add(NODE),
            Queues::OneCell => self.count,
        }
    }
}

/// A packet as it waits. A short one leaves its buffer, which is in the cache, to the next that is received: it waits in two lines of memory instead of 2 KiB, most of which
/// it never touches, but of pages that nobody else does. A long one is not copied.
enum Kept {
    Short { len: u8, port: PortId, metered: Metered, flow: u32, bytes: [u8; SHORT] },
    Long(Packet),
}

/// Bytes of a short packet, at most: with what the shaper knows of it they are two lines of memory. TCP's acknowledgements are shorter, in a tunnel too.
const SHORT: usize = 100;
const _: () = assert!(size_of::<Option<Kept>>() == 112);

/// Buffers, for packets whose own wait with them: the packet path allocates nothing.
#[derive(Default)]
struct Spare(Vec<Packet>);

impl Spare {
    /// More are freed.
    const MOST: usize = 4 * BURST;

    fn get(&mut self) -> Packet {
        self.0.pop().unwrap_or_else(|| Packet::empty(0))
    }

    fn put(&mut self, mut packet: Packet) {
        if self.0.len() < Spare::MOST && !packet.is_void() {
            // For a packet of another flow, which has passed no meter.
            (packet.flow, packet.metered) = (0, Metered::default());
            self.0.push(packet);
        }
    }
}

impl Kept {
    /// Leaves a buffer in place of the packet.
    fn keep(packet: &mut Packet, spare: &mut Spare) -> Kept {
        if packet.len() > SHORT {
            return Kept::Long(std::mem::replace(packet, spare.get()));
        }
        let (len, port) = (packet.len() as u8, packet.port);
        let (metered, flow) = (std::mem::take(&mut packet.metered), std::mem::take(&mut packet.flow));
        let (buffer, start, _) = packet.buffer_mut();
        // Of a fixed length, which is some moves; what is behind the packet's end is never read.
        let bytes = buffer[start..].first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; SHORT];
            bytes[..usize::from(len)].copy_from_slice(packet.data());
            bytes
        });
        Kept::Short { len, port, metered, flow, bytes }
    }

    /// Takes the place of a packet that is not needed any more.
    fn release(self, packet: &mut Packet, spare: &mut Spare) {
        match self {
            Kept::Short { len, port, metered, flow, bytes } => {
                let (buffer, ..) = packet.buffer_mut();
                match buffer.get_mut(HEADROOM..).and_then(<[u8]>::first_chunk_mut) {
                    Some(place) => {
                        *place = bytes;
                        packet.set_window(HEADROOM, len.into());
                    }
                    None => packet.set(&bytes[..usize::from(len)]),
                }
                (packet.port, packet.metered, packet.flow) = (port, metered, flow);
            }
            Kept::Long(waited) => spare.put(std::mem::replace(packet, waited)),
        }
    }
}

/// A worker's. For the worker, and for tests of the targets that it runs.
pub struct Shaping {
    shaper: Shaper<Kept>,
    numbers: Numbers,
    limits: Limits,
    delays: Option<Delays>,
    owed: Option<Arc<AtomicU64>>,
    /// What of it was taken up and not paid yet, and when the cell has the next part.
    debt: u64,
    debt_ns: u64,
    /// Queues that have become empty.
    idle: Vec<u32>,
    /// Packets that are dropped.
    pub dropped: Vec<(Packet, DropReason)>,
    spare: Spare,
    /// What others read.
    shown: Arc<Shown>,
    shown_ns: u64,
    is_shown: bool,
}
/// What others read of a worker's shaper.
#[derive(Default)]
pub struct Shown {
    /// Now and then.
    counters: Mutex<Counters>,
    /// Packets that wait, by queue; its worker alone writes them. Memory is taken when the first queue of a page is used: a map with a million entries
    /// under a lock takes longer than all the rest.
    waiting: OnceLock<Array<AtomicU32>>,
}

impl Shown {
    pub(crate) fn counters(&self) -> Counters {
        *self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Packets that wait in that queue.
    pub fn waiting_in(&self, queue: u32) -> u32 {
        self.of(queue).map_or(0, |of| of.load(Relaxed))
    }

    /// For queues below that number.
    fn begin(&self, queues: u32) {
        self.waiting.get_or_init(|| Array::zeros(queues as usize));
    }

    fn of(&self, queue: u32) -> Option<&AtomicU32> {
        self.waiting.get()?.get(queue as usize)
    }

    fn has_come(&self, queue: u32) {
        if let Some(of) = self.of(queue) {
            of.store(of.load(Relaxed) + 1, Relaxed);
        }
    }

    fn has_left(&self, queue: u32) {
        if let Some(of) = self.of(queue) {
            of.store(of.load(Relaxed).saturating_sub(1), Relaxed);
        }
    }
}

/// How often counters are shown to others, in ns.
const SHOW_NS: u64 = 10_000_000;

impl Shaping {
    /// None if the lane cannot. Counters are shown in `shown`, now and then.
    pub fn new(settings: ShapeSettings, lane: &mut dyn Lane, shown: Arc<Shown>) -> Option<Shaping> {
        let ShapeSettings { meter, queues, mut limits, delays, owed } = settings;
        let numbers = Numbers { queues, count: limits.nodes };
        limits.nodes = numbers.all();
        shown.begin(numbers.count);
        let shaping = || Shaping {
            shaper: Shaper::new(limits),
            numbers,
            limits,
            delays,
            owed: owed.filter(|_| queues == Queues::OneCell),
            debt: 0,
            debt_ns: 0,
            idle: Vec::new(),
            dropped: Vec::new(),
            spare: Spare::default(),
            shown,
            shown_ns: 0,
            is_shown: true,
        };
        lane.shape(meter).then(shaping)
    }

    /// Keeps those packets of a burst that its verdicts let wait, and leaves buffers in their places. `told` hears of each of them in order, by its number, whether it is
    /// refused, and why; one that is refused is where it was.
    pub fn wait(
        &mut self,
        packets: &mut [Packet],
        verdicts: &[Verdict],
        now_ns: u64,
        lane: &mut dyn Lane,
        told: &mut dyn FnMut(usize, Option<DropReason>),
    ) {
        let Shaping { shaper, numbers, delays, dropped, spare, shown, is_shown, .. } = self;
        let (numbers, delays) = (*numbers, delays.as_ref());
        *is_shown = false;
        let mut coming = (0..packets.len()).filter(|i| verdicts[*i].kind == VerdictKind::Shape);
        let (mut places, mut leaves) = ([0; AHEAD], [0; AHEAD]);
        loop {
            let mut n = 0;
            for ((place, leaf), i) in places.iter_mut().zip(&mut leaves).zip(&mut coming) {
                (*place, *leaf) = (i, numbers.leaf(verdicts[i].mark, &packets[i]));
                n += 1;
            }
            // The memory of their queues comes to the cache for all of them at once.
            shaper.look_ahead(&leaves[..n], |leaf| numbers.shared(leaf));
            let read = places[..n].iter().fold(0, |read, i| read ^ shown.waiting_in(verdicts[*i].mark));
            std::hint::black_box(read);
            let mut kept = 0;
            lane.with_rates(&mut |rates| {
                for (i, leaf) in places[..n].iter().copied().zip(leaves).skip(kept) {
                    kept += 1;
                    let (packet, queue) = (&mut packets[i], verdicts[i].mark);
                    let units = packet.metered.units();
                    if packet.metered == Metered::default() || queue >= numbers.count {
                        refuse(packet);
                        told(i, Some(DropReason::SHAPER_FULL));
                        continue;
                    }
                    let marks = wire::user::takes_marks(packet.data());
                    let waiting = Kept::keep(packet, spare);
                    let mut cells = Cells { rates: &mut *rates, numbers, delays, shown };
                    // Of another connection, in its place.
                    let mut instead = |fate| {
                        if let Fate::Dropped { leaf, packet, reason } = fate {
                            shown.has_left(numbers.queue(leaf));
                            dropped.push((packet_of(packet, spare), drop_reason(reason)));
                        }
                    };
                    match shaper.offer(leaf, waiting, units.into(), marks, now_ns, &mut cells, &mut instead) {
                        Offered::Waits => {
                            rates.set_waiting(numbers.cell(queue), true);
                            shown.has_come(queue);
                            told(i, None);
                        }
                        Offered::Dropped(waiting, reason) => {
                            waiting.release(packet, spare);
                            refuse(packet);
                            told(i, Some(drop_reason(reason)));
                        }
                    }
                }
            });
            // A lane that lends no rates has kept none.
            for i in places[kept..n].iter().copied() {
                refuse(&mut packets[i]);
                told(i, Some(DropReason::SHAPER_FULL));
            }
            if n < AHEAD {
                return;
            }
        }
    }

    /// Whether packets wait in that queue.
    pub fn waits(&self, queue: u32) -> bool {
        let Numbers { queues, count } = self.numbers;
        queue < count && self.shaper.waits(if queues == Queues::Cells { self.numbers.node(queue) } else { queue })
    }

    /// When [`Shaping::poll`] has something to do.
    pub fn next_ns(&self) -> Option<u64> {
        match self.has_debt() {
            // Nothing that waits goes before it is paid.
            true => Some(self.debt_ns),
            false => self.shaper.next_ns(),
        }
    }

    fn has_debt(&self) -> bool {
        self.debt > 0 || self.owed.as_ref().is_some_and(|owed| owed.load(Relaxed) > 0)
    }

    /// Takes what is owed out of cell 0; whether all of it is paid. While it is not, what comes waits: it would find what the debt waits for.
    fn pay(&mut self, now_ns: u64, lane: &mut dyn Lane) -> bool {
        if !self.has_debt() {
            return true;
        }
        let Shaping { shaper, owed, debt, debt_ns, .. } = self;
        *debt += owed.as_ref().map_or(0, |owed| owed.swap(0, Relaxed));
        lane.with_rates(&mut |rates| {
            while *debt > 0 {
                let units = (*debt).min(OWED_AT_ONCE);
                match rates.take(0, units as u32, now_ns) {
                    Taken::Now => *debt -= units,
                    Taken::At(at_ns) => {
                        *debt_ns = at_ns;
                        break;
                    }
                    // A rate of nothing: there is nothing to pay with.
                    Taken::Never => *debt = 0,
                }
            }
            rates.set_waiting(0, *debt > 0 || !shaper.is_empty());
        });
        if *debt == 0 {
            *debt_ns = 0;
        }
        *debt == 0
    }

    /// Whether there is nothing to poll for.
    pub(crate) fn is_idle(&self) -> bool {
        self.shaper.is_empty() && self.is_shown && !self.has_debt()
    }

    /// Whether what came before `began_ns` may still wait.
    pub(crate) fn may_hold(&self, began_ns: u64, now_ns: u64) -> bool {
        // It leaves at the second tick behind its time at the latest.
        let most_ns = self.limits.delay_ns + 2 * shaper::wheel::TICK_NS;
        !self.shaper.is_empty() && now_ns <= began_ns.saturating_add(most_ns)
    }

    /// Puts what may go into places of `packets`, which are one burst at most, and what may not into `dropped`; how many may go.
    pub fn poll(&mut self, now_ns: u64, lane: &mut dyn Lane, packets: &mut [Packet]) -> usize {
        if now_ns > self.shown_ns + SHOW_NS {
            self.show(now_ns);
        }
        if !self.pay(now_ns, lane) || self.shaper.next_ns().is_none_or(|at| at > now_ns) {
            return 0;
        }
        let Shaping { shaper, numbers, delays, idle, dropped, spare, shown, .. } = self;
        let numbers = *numbers;
        let (most, mut ready) = (packets.len(), 0);
        lane.with_rates(&mut |rates| {
            let mut cells = Cells { rates, numbers, delays: delays.as_ref(), shown };
            shaper.poll(now_ns, &mut cells, most, &mut |fate| match fate {
                Fate::Sent { leaf, packet: waited, mark } => {
                    shown.has_left(numbers.queue(leaf));
                    let packet = &mut packets[ready];
                    waited.release(packet, spare);
                    if mark {
                        wire::user::mark(packet.data_mut());
                    }
                    ready += 1;
                }
                Fate::Dropped { leaf, packet: waited, reason } => {
                    shown.has_left(numbers.queue(leaf));
                    dropped.push((packet_of(waited, spare), drop_reason(reason)));
                }
                Fate::Idle { leaf } => idle.push(numbers.queue(leaf)),
            });
            let still = |queue| match numbers.queues {
                Queues::Cells => shaper.waits_in_flows(numbers.node(queue)),
                Queues::OneCell => !shaper.is_empty(),
            };
            idle.drain(..).filter(|queue| !still(*queue)).for_each(|queue| cells.rates.set_waiting(numbers.cell(queue), false));
        });
        ready
    }

    /// Takes back what was in `dropped` when it has been counted: buffers for others that wait.
    pub fn recycle(&mut self, mut counted: Vec<(Packet, DropReason)>) {
        counted.drain(..).for_each(|(packet, _)| self.spare.put(packet));
        self.dropped = counted;
    }

    /// All that waits, at the end.
    pub fn end(&mut self) {
        let Shaping { shaper, numbers, dropped, spare, shown, .. } = self;
        shaper.end(&mut |fate| {
            if let Fate::Dropped { leaf, packet: waited, .. } = fate {
                shown.has_left(numbers.queue(leaf));
                dropped.push((packet_of(waited, spare), DropReason::STOPPING));
            }
        });
        self.show(self.shown_ns);
    }

    fn show(&mut self, now_ns: u64) {
        self.shown_ns = now_ns;
        self.is_shown = self.shaper.is_empty();
        *self.shown.counters.lock().unwrap_or_else(PoisonError::into_inner) = *self.shaper.counters();
    }
}

/// A packet that waited, in a buffer.
fn packet_of(waited: Kept, spare: &mut Spare) -> Packet {
    let mut packet = spare.get();
    waited.release(&mut packet, spare);
    packet
}

/// Its buffer is for the next packet that is received, which has passed no meter.
fn refuse(packet: &mut Packet) {
    packet.metered = Metered::default();
}

fn drop_reason(reason: Reason) -> DropReason {
    match reason {
        Reason::QueueFull | Reason::Full | Reason::NoRate | Reason::Longest => DropReason::SHAPER_FULL,
        Reason::Late => DropReason::SHAPER_LATE,
        Reason::Codel => DropReason::SHAPER_CODEL,
        Reason::Ended => DropReason::STOPPING,
    }
}

/// A lane's cells as the shaper asks rates, each with a node of the shaper.
struct Cells<'a> {
    rates: &'a mut dyn target_api::Rates,
    numbers: Numbers,
    delays: Option<&'a Delays>,
    shown: &'a Shown,
}

impl Cells<'_> {
    fn cell(&self, leaf: u32) -> u32 {
        self.numbers.cell(self.numbers.queue(leaf))
    }
}

impl shaper::Rates for Cells<'_> {
    fn take(&mut self, leaf: u32, size: u32, now_ns: u64) -> Take {
        match self.rates.take(self.cell(leaf), size, now_ns) {
            Taken::Now => Take::Now { guaranteed: false },
            Taken::At(at_ns) => Take::At { node: self.numbers.node(self.numbers.queue(leaf)), at_ns },
            Taken::Never => Take::Never,
        }
    }

    fn when_ns(&self, leaf: u32, size: u32, now_ns: u64) -> u64 {
        self.rates.when_ns(self.cell(leaf), size, now_ns)
    }

    fn give_back(&mut self, leaf: u32, size: u32, _guaranteed: bool) {
        self.rates.give_back(self.cell(leaf), size);
    }

    fn rate(&self, leaf: u32) -> u64 {
        self.rates.rate(self.cell(leaf))
    }

    fn delay_ns(&self, leaf: u32) -> u64 {
        self.delays.map_or(u64::MAX, |delays| delays.of(self.numbers.queue(leaf)))
    }

    fn shared(&self, leaf: u32) -> u32 {
        self.numbers.shared(leaf)
    }

    fn look_ahead(&self, leaf: u32) -> u64 {
        self.rates.look_ahead(self.cell(leaf));
        self.shown.waiting_in(self.numbers.queue(leaf)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng as _;
    use shaper::codel::Law;

    const BYTES: u64 = 1000;
    const DELAY_NS: u64 = 1_000_000_000;

    /// A lane with one cell, of one packet of [`BYTES`] a millisecond.
    #[derive(Default)]
    struct OneRate {
        next_ns: u64,
        waits: bool,
    }

    impl Lane for OneRate {
        fn process(&mut self, _packets: &mut [Packet], _verdicts: &mut [Verdict], _now_ns: u64) {}

        fn shape(&mut self, _meter: MeterId) -> bool {
            true
        }

        fn with_rates(&mut self, work: &mut dyn FnMut(&mut dyn target_api::Rates)) {
            work(self);
        }

        target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, count);
    }

    impl target_api::Rates for OneRate {
        fn take(&mut self, cell: u32, _units: u32, now_ns: u64) -> Taken {
            assert_eq!(cell, 0);
            if self.next_ns > now_ns {
                return Taken::At(self.next_ns);
            }
            self.next_ns += 1_000_000;
            Taken::Now
        }

        fn give_back(&mut self, _cell: u32, _units: u32) {
            self.next_ns = 0;
        }

        fn rate(&self, _cell: u32) -> u64 {
            BYTES * 1000
        }

        fn set_waiting(&mut self, cell: u32, waits: bool) {
            assert_eq!(cell, 0);
            self.waits = waits;
        }
    }

    fn packet(queue: u8) -> Packet {
        let mut packet = Packet::new(&[queue; BYTES as usize], PortId(0));
        packet.metered = Metered::new(1, BYTES as u16).unwrap();
        packet
    }

    /// A burst of one.
    fn wait(shaping: &mut Shaping, mut packet: Packet, queue: u32, lane: &mut dyn Lane) -> Result<(), DropReason> {
        let verdict = Verdict { kind: VerdictKind::Shape, reason: 1, mark: queue, ..Verdict::default() };
        let mut why = None;
        shaping.wait(std::slice::from_mut(&mut packet), &[verdict], 0, lane, &mut |_, reason| why = reason);
        why.map_or(Ok(()), Err)
    }

    fn poll(shaping: &mut Shaping, now_ns: u64, lane: &mut dyn Lane) -> Vec<Packet> {
        let mut burst: Vec<Packet> = (0..BURST).map(|_| Packet::void()).collect();
        let n = shaping.poll(now_ns, lane, &mut burst);
        burst.truncate(n);
        burst
    }

    #[test]
    fn a_long_queue_of_one_rate_does_not_hold_up_a_short_one() {
        let law = Law { target_ns: DELAY_NS, interval_ns: DELAY_NS };
        let limits = Limits { nodes: 3, packets: 1000, delay_ns: DELAY_NS, law };
        let settings = ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::OneCell, limits, delays: None, owed: None };
        let mut lane = OneRate { next_ns: 1_000_000, waits: false };
        let shown = Arc::new(Shown::default());
        let mut shaping = Shaping::new(settings, &mut lane, shown.clone()).unwrap();
        for _ in 0..100 {
            wait(&mut shaping, packet(0), 0, &mut lane).unwrap();
        }
        wait(&mut shaping, packet(2), 2, &mut lane).unwrap();
        assert!(lane.waits);
        assert_eq!([0, 1, 2].map(|queue| shown.waiting_in(queue)), [100, 0, 1]);
        let why = wait(&mut shaping, packet(3), 3, &mut lane).unwrap_err();
        assert_eq!(why, DropReason::SHAPER_FULL, "there are queues 0 to 2");
        let (mut sent, mut now) = (Vec::new(), 0);
        while let Some(next) = shaping.next_ns() {
            assert!(lane.waits && next < DELAY_NS, "while any waits, what comes waits too");
            now = next.max(now + 1);
            sent.extend(poll(&mut shaping, now, &mut lane).iter().map(|packet| packet.data()[0]));
        }
        assert!(!lane.waits && shaping.dropped.is_empty());
        assert_eq!((sent.len(), sent.iter().filter(|queue| **queue == 0).count()), (101, 100));
        let place = sent.iter().position(|queue| *queue == 2).unwrap();
        assert!(place < 4, "it came out as number {place}");
        assert_eq!([0, 1, 2].map(|queue| shown.waiting_in(queue)), [0; 3]);
        // 101 packets of 1 ms each, and what the wheel rounds.
        assert!((100_000_000..=104_000_000).contains(&now), "{now} ns");
    }

    #[test]
    fn what_was_sent_past_the_meter_is_paid_before_what_waits_goes() {
        let law = Law { target_ns: DELAY_NS, interval_ns: DELAY_NS };
        let limits = Limits { nodes: 1, packets: 1000, delay_ns: DELAY_NS, law };
        let owed = Arc::new(AtomicU64::new(0));
        let settings =
            ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::OneCell, limits, delays: None, owed: Some(owed.clone()) };
        let mut lane = OneRate::default();
        let mut shaping = Shaping::new(settings, &mut lane, Arc::default()).unwrap();
        assert!(shaping.is_idle() && shaping.next_ns().is_none());
        // Ten parts of a millisecond each, of which the cell has one.
        owed.fetch_add(10 * OWED_AT_ONCE, Relaxed);
        assert!(!shaping.is_idle() && shaping.next_ns().is_some());
        assert!(poll(&mut shaping, 0, &mut lane).is_empty() && lane.waits, "what comes has to wait");
        wait(&mut shaping, packet(0), 0, &mut lane).unwrap();
        let (mut now, mut sent) = (0, 0);
        while let Some(next) = shaping.next_ns() {
            now = next.max(now + 1);
            sent += poll(&mut shaping, now, &mut lane).len();
            assert!(now >= 10_000_000 || sent == 0, "{now} ns");
        }
        assert_eq!(sent, 1);
        assert!((10_000_000..=14_000_000).contains(&now) && !lane.waits, "{now} ns");
        // Nothing waits: the cell is free for what comes when all is paid.
        owed.fetch_add(1, Relaxed);
        assert!(poll(&mut shaping, now + 2_000_000, &mut lane).is_empty() && !lane.waits);
        assert!(shaping.next_ns().is_none());
    }

    /// UDP of a port, with the number behind.
    fn datagram(port: u8, number: u8) -> Packet {
        let (src, dst, payload_len) = ([10, 45, 0, 2].into(), [10, 6, 0, 2].into(), BYTES as usize - 34);
        let mut frame = [&[0; 12][..], &[8, 0]].concat();
        wire::ipv4::Repr { src, dst, protocol: 17, tos: 0, ttl: 64, payload_len }.emit(&mut frame);
        frame.extend([100, port, 1, 187, 0, 0, 0, 0, port, number]);
        frame.resize(BYTES as usize, 0);
        let mut packet = Packet::new(&frame, PortId(0));
        packet.metered = Metered::new(1, BYTES as u16).unwrap();
        packet
    }

    fn name(packet: &Packet) -> (u8, u8) {
        (packet.data()[42], packet.data()[43])
    }

    #[test]
    fn connections_of_one_rate_share_it_and_the_one_with_most_packets_loses_them() {
        let law = Law { target_ns: DELAY_NS, interval_ns: DELAY_NS };
        // At its rate the cell sends 20 packets in that time.
        let limits = Limits { nodes: 1, packets: 1000, delay_ns: 20_000_000, law };
        let settings = ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::Cells, limits, delays: None, owed: None };
        let mut lane = OneRate::default();
        let shown = Arc::new(Shown::default());
        let mut shaping = Shaping::new(settings, &mut lane, shown.clone()).unwrap();
        // The queues are filled by hash: two ports that do not share one.
        let queue = |port| wire::user::connection(datagram(port, 0).data()) % FLOWS;
        let other = (1..=255).find(|port| queue(*port) != queue(0)).unwrap();
        let refused = (0..30).filter(|n| wait(&mut shaping, datagram(0, *n), 0, &mut lane).is_err()).count();
        assert_eq!((refused, shown.waiting_in(0)), (10, 20));
        // For each that comes of another connection the greedy one loses its first.
        for n in 0..5 {
            wait(&mut shaping, datagram(other, n), 0, &mut lane).unwrap();
        }
        assert_eq!(
            shaping.dropped.iter().map(|(packet, why)| (name(packet), *why)).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4].map(|n| ((0, n), DropReason::SHAPER_FULL))
        );
        assert_eq!((shown.waiting_in(0), shaping.waits(0), shaping.waits(1)), (20, true, false));
        shaping.dropped.clear();
        let why = wait(&mut shaping, packet(0), 1, &mut lane).unwrap_err();
        assert_eq!(why, DropReason::SHAPER_FULL, "there is one queue");
        let (mut sent, mut now) = (Vec::new(), 0);
        while let Some(next) = shaping.next_ns() {
            assert!(lane.waits, "while any waits, what comes waits too");
            now = next.max(now + 1);
            sent.extend(poll(&mut shaping, now, &mut lane).iter().map(name));
        }
        assert!(!lane.waits && shaping.dropped.is_empty() && shown.waiting_in(0) == 0);
        let of = |port: u8| sent.iter().filter(|name| name.0 == port).map(|name| name.1).collect::<Vec<_>>();
        assert_eq!((of(0), of(other)), ((5..20).collect(), (0..5).collect()));
        // In turns: the last of five is among the first eleven or so.
        let last = sent.iter().rposition(|name| name.0 == other).unwrap();
        assert!(last < 13, "{sent:?}");
    }

    /// As a worker has it that stops.
    #[test]
    fn what_waits_at_the_end_is_given_back_with_that_reason_and_nothing_waits_any_more() {
        let law = Law { target_ns: DELAY_NS, interval_ns: DELAY_NS };
        let limits = Limits { nodes: 3, packets: 1000, delay_ns: DELAY_NS, law };
        let settings = ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::OneCell, limits, delays: None, owed: None };
        let mut lane = OneRate { next_ns: 1_000_000, waits: false };
        let shown = Arc::<Shown>::default();
        let mut shaping = Shaping::new(settings, &mut lane, shown.clone()).unwrap();
        for n in 0..30 {
            wait(&mut shaping, packet(n % 3), (n % 3).into(), &mut lane).unwrap();
        }
        let sent = poll(&mut shaping, 5_000_000, &mut lane).len();
        shaping.end();
        assert!(sent > 0 && shaping.dropped.len() == 30 - sent, "{sent} sent, {} dropped", shaping.dropped.len());
        assert!(shaping.dropped.iter().all(|(_, why)| *why == DropReason::STOPPING));
        assert!(shaping.is_idle() && (0..3).all(|queue| !shaping.waits(queue)));
        assert!((0..3).all(|queue| shown.waiting_in(queue) == 0));
        let counters = shown.counters();
        assert_eq!((counters.queued, counters.sent), (30, sent as u64));
        assert_eq!(counters.dropped[Reason::Ended as usize], 30 - sent as u64, "others are shown it");
    }

    #[test]
    fn a_queue_whose_packets_may_wait_for_less_drops_them_and_no_other() {
        let law = Law { target_ns: DELAY_NS, interval_ns: DELAY_NS };
        let limits = Limits { nodes: 2, packets: 1000, delay_ns: DELAY_NS, law };
        let delays = Delays::new(2);
        let settings =
            ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::OneCell, limits, delays: Some(delays.clone()), owed: None };
        let mut lane = OneRate { next_ns: 1_000_000, waits: false };
        let mut shaping = Shaping::new(settings, &mut lane, Arc::default()).unwrap();
        delays.set(1, 10_000_000);
        delays.set(2, 0);
        // One goes in a millisecond, in turns: half of the second queue's have waited for too long then.
        for _ in 0..10 {
            wait(&mut shaping, packet(0), 0, &mut lane).unwrap();
            wait(&mut shaping, packet(1), 1, &mut lane).unwrap();
        }
        let (mut sent, mut dropped, mut now) = ([0; 2], [0; 2], 0);
        while let Some(next) = shaping.next_ns() {
            now = next.max(now + 1);
            poll(&mut shaping, now, &mut lane).iter().for_each(|packet| sent[usize::from(packet.data()[0])] += 1);
            for (packet, why) in shaping.dropped.drain(..) {
                assert_eq!(why, DropReason::SHAPER_LATE);
                dropped[usize::from(packet.data()[0])] += 1;
            }
        }
        assert_eq!((sent[0], dropped[0]), (10, 0));
        assert!((3..=7).contains(&sent[1]) && sent[1] + dropped[1] == 10, "{sent:?} {dropped:?}");
    }

    /// Cells that let a packet pass now and then, by a clock of their own.
    struct Now(testkit::Rng);

    impl Lane for Now {
        fn process(&mut self, _packets: &mut [Packet], _verdicts: &mut [Verdict], _now_ns: u64) {}

        fn shape(&mut self, _meter: MeterId) -> bool {
            true
        }

        fn with_rates(&mut self, work: &mut dyn FnMut(&mut dyn target_api::Rates)) {
            work(self);
        }

        target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, count);
    }

    impl target_api::Rates for Now {
        fn take(&mut self, _cell: u32, _units: u32, now_ns: u64) -> Taken {
            match self.0.random_range(0..10) {
                0 => Taken::Never,
                1..4 => Taken::At(now_ns + 300_000),
                _ => Taken::Now,
            }
        }

        fn when_ns(&self, _cell: u32, units: u32, now_ns: u64) -> u64 {
            now_ns + u64::from(units) * 10_000
        }

        fn give_back(&mut self, _cell: u32, _units: u32) {}

        fn rate(&self, _cell: u32) -> u64 {
            1_000_000
        }

        fn set_waiting(&mut self, _cell: u32, _waits: bool) {}
    }

    /// Beside a list of all that was given: short and long ones, in bursts with others, in buffers that are used again and again.
    #[test]
    fn packets_come_back_as_they_were_whether_they_kept_their_buffers_or_not() {
        let mut rng = testkit::rng(31);
        let law = Law { target_ns: DELAY_NS, interval_ns: DELAY_NS };
        let limits = Limits { nodes: 40, packets: 60, delay_ns: 20_000_000, law };
        let settings = ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::Cells, limits, delays: None, owed: None };
        let mut lane = Now(testkit::rng(32));
        let shown = Arc::<Shown>::default();
        let mut shaping = Shaping::new(settings, &mut lane, shown.clone()).unwrap();
        let mut waiting: std::collections::HashMap<u32, (Packet, u32)> = Default::default();
        let mut burst: Vec<Packet> = (0..BURST).map(|_| Packet::void()).collect();
        let (mut number, mut now_ns) = (0u32, 0);
        // Short and long ones that were sent, dropped after they waited, and refused; and others of their bursts.
        let (mut sent, mut dropped, mut refused, mut others) = ([0; 2], [0; 2], [0; 2], 0);
        let mut verdicts = [Verdict::default(); BURST];
        for _ in 0..3_000 {
            let n = if rng.random_bool(0.1) { rng.random_range(0..=BURST) } else { rng.random_range(0..12) };
            let mut given = Vec::new();
            for i in 0..n {
                number += 1;
                let length = if rng.random_bool(0.5) { rng.random_range(4..=SHORT + 1) } else { rng.random_range(4..2_500) };
                let mut bytes = vec![0; length];
                rng.fill(&mut bytes[..]);
                bytes[..4].copy_from_slice(&number.to_be_bytes());
                burst[i].set(&bytes);
                (burst[i].port, burst[i].flow) = (PortId(rng.random_range(0..5)), rng.random_range(0..3));
                burst[i].metered = Metered::new(1, length as u16).unwrap();
                let queues = if rng.random_bool(0.05) { 50 } else { 40 };
                let queue = rng.random_range(0..queues);
                let kind = if rng.random_bool(0.8) { VerdictKind::Shape } else { VerdictKind::Forward };
                let reason = if rng.random_bool(0.9) { 7 } else { 0 };
                verdicts[i] = Verdict { kind, reason, mark: queue, ..Verdict::default() };
                given.push((burst[i].clone(), queue));
            }
            let mut told = Vec::new();
            shaping.wait(&mut burst[..n], &verdicts[..n], now_ns, &mut lane, &mut |i, why| told.push((i, why)));
            assert!(
                told.iter().map(|(i, _)| *i).eq((0..n).filter(|i| verdicts[*i].kind == VerdictKind::Shape)),
                "each that is to wait, in order"
            );
            others += n - told.len();
            for i in (0..n).filter(|i| verdicts[*i].kind != VerdictKind::Shape) {
                assert_eq!((burst[i].data(), burst[i].port), (given[i].0.data(), given[i].0.port), "it is where it was");
            }
            for (i, why) in told {
                let (packet, queue) = given[i].clone();
                if why.is_none() {
                    assert!(burst[i].flow == 0 && burst[i].metered == Metered::default(), "what is left is a buffer");
                    let named = u32::from_be_bytes(*packet.data().first_chunk().unwrap());
                    waiting.insert(named, (packet, queue));
                } else {
                    let same = |of: &Packet| (of.data().to_vec(), of.port, of.flow);
                    assert_eq!(same(&burst[i]), same(&packet));
                    assert_eq!(burst[i].metered, Metered::default());
                    refused[usize::from(packet.len() > SHORT)] += 1;
                }
            }
            let most_ns = if rng.random_bool(0.02) { 50_000_000 } else { 2_000_000 };
            now_ns += rng.random_range(0..most_ns);
            let n = shaping.poll(now_ns, &mut lane, &mut burst);
            let mut came_back = |packet: &Packet| {
                let (was, _) = waiting.remove(&u32::from_be_bytes(*packet.data().first_chunk().unwrap())).expect("it waits");
                let all = |of: &Packet| (of.data().to_vec(), of.port, of.flow, of.metered);
                assert_eq!(all(packet), all(&was));
                usize::from(was.len() > SHORT)
            };
            burst[..n].iter().for_each(|packet| sent[came_back(packet)] += 1);
            let counted = std::mem::take(&mut shaping.dropped);
            counted.iter().for_each(|(packet, _)| dropped[came_back(packet)] += 1);
            shaping.recycle(counted);
            for queue in 0..40 {
                let of = waiting.values().filter(|(_, of)| *of == queue).count();
                assert_eq!((shown.waiting_in(queue) as usize, shaping.waits(queue)), (of, of > 0), "queue {queue}");
            }
        }
        let most = [sent, dropped, refused].concat();
        assert!(most.iter().all(|n| *n > 300) && others > 1_000, "{most:?} {others}");
    }
}
