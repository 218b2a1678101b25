//! Where packets over a rate wait: one [`shaper::Shaper`] for each worker, asked by its loop.
//!
//! The program decides who waits: it leaves the packet in the buffer with a reason, as it came in. Its meter's cell is the queue. When the cell lets
//! it pass, it runs through the program again, which asks its other meters, and only then counts it: usage is what was sent after QoS
//! enforcement (TS 29.244 §5.2.2.2 and §8.2.68, MBQE not set). So what waits or is dropped here is never charged, and rules that were
//! changed or deleted meanwhile hold for it.
//!
//! Packets that wait for one cell share it by connection: each has one of [`FLOWS`] queues of the cell, which send in turns, by bytes.

use base::{DropReason, Metered, Packet, Verdict, VerdictKind};
use program::MeterId;
use shaper::shaper::AHEAD;
use shaper::{Counters, Fate, Limits, Offered, Reason, Shaper, Take};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use target::{BURST, Lane, Taken};

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
/// bytes a cell, which are one line of memory together.
const FLOWS: u32 = 16;

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
    /// Leaves first, then the nodes above them.
    fn all(self) -> u32 {
        match self.queues {
            Queues::Cells => self.count.saturating_mul(FLOWS + 1),
            Queues::OneCell => self.count.saturating_add(1),
        }
    }

    /// Where a packet waits.
    fn leaf(self, queue: u32, packet: &Packet) -> u32 {
        match self.queues {
            Queues::Cells => queue.saturating_mul(FLOWS).saturating_add(wire::user::connection(packet.data()) % FLOWS),
            Queues::OneCell => queue,
        }
    }

    fn queue(self, leaf: u32) -> u32 {
        match self.queues {
            Queues::Cells => leaf / FLOWS,
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
            Queues::Cells => self.count.saturating_mul(FLOWS).saturating_add(queue),
            Queues::OneCell => self.count,
        }
    }
}

/// A worker's. For the worker, and for tests of the targets that it runs.
pub struct Shaping {
    shaper: Shaper<Packet>,
    numbers: Numbers,
    limits: Limits,
    delays: Option<Delays>,
    /// Queues that have become empty.
    idle: Vec<u32>,
    /// Packets that may go.
    pub ready: Vec<Packet>,
    /// Packets that are dropped.
    pub dropped: Vec<(Packet, DropReason)>,
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
    /// Packets that wait, by queue; its worker alone writes them. In chunks, for which memory is taken when the first queue of one is used: a map with a million entries
    /// under a lock takes longer than all the rest.
    waiting: OnceLock<Box<[Chunk]>>,
}

/// Packets that wait in [`CHUNK`] queues, from when the first of those is used.
type Chunk = OnceLock<Box<[AtomicU32]>>;

/// Queues of a [`Chunk`].
const CHUNK: usize = 4096;

impl Shown {
    pub(crate) fn counters(&self) -> Counters {
        *self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Packets that wait in that queue.
    pub fn waiting_in(&self, queue: u32) -> u32 {
        let chunk = self.waiting.get().and_then(|chunks| chunks.get(queue as usize / CHUNK)?.get());
        chunk.map_or(0, |chunk| chunk[queue as usize % CHUNK].load(Relaxed))
    }

    /// For queues below that number.
    fn begin(&self, queues: u32) {
        self.waiting.get_or_init(|| (0..(queues as usize).div_ceil(CHUNK)).map(|_| OnceLock::new()).collect());
    }

    fn change(&self, queue: u32, change: impl FnOnce(u32) -> u32) {
        let Some(chunk) = self.waiting.get().and_then(|chunks| chunks.get(queue as usize / CHUNK)) else { return };
        let of = &chunk.get_or_init(|| (0..CHUNK).map(|_| AtomicU32::new(0)).collect())[queue as usize % CHUNK];
        of.store(change(of.load(Relaxed)), Relaxed);
    }

    fn has_come(&self, queue: u32) {
        self.change(queue, |n| n + 1);
    }

    fn has_left(&self, queue: u32) {
        self.change(queue, |n| n.saturating_sub(1));
    }
}

/// How often counters are shown to others, in ns.
const SHOW_NS: u64 = 10_000_000;

impl Shaping {
    /// None if the lane cannot. Counters are shown in `shown`, now and then.
    pub fn new(settings: ShapeSettings, lane: &mut dyn Lane, shown: Arc<Shown>) -> Option<Shaping> {
        let ShapeSettings { meter, queues, mut limits, delays } = settings;
        let numbers = Numbers { queues, count: limits.nodes };
        limits.nodes = numbers.all();
        shown.begin(numbers.count);
        let shaping = || Shaping {
            shaper: Shaper::new(limits),
            numbers,
            limits,
            delays,
            idle: Vec::new(),
            ready: Vec::with_capacity(BURST),
            dropped: Vec::new(),
            shown,
            shown_ns: 0,
            is_shown: true,
        };
        lane.shape(meter).then(shaping)
    }

    /// Before packets of a burst are given to [`Shaping::wait`]: the memory of their queues comes to the cache for all of them at once.
    pub fn look_ahead(&self, packets: &[Packet], verdicts: &[Verdict]) {
        let numbers = self.numbers;
        let mut waiting = packets.iter().zip(verdicts).filter(|(_, of)| of.kind == VerdictKind::Buffer && of.reason != 0);
        let mut leaves = [0; AHEAD];
        loop {
            let n = leaves.iter_mut().zip(&mut waiting).map(|(at, (packet, of))| *at = numbers.leaf(of.mark, packet)).count();
            self.shaper.look_ahead(&leaves[..n], |leaf| numbers.shared(leaf));
            if n < AHEAD {
                return;
            }
        }
    }

    /// Keeps a packet that the program lets wait in that queue, or gives it back with the reason.
    pub fn wait(&mut self, packet: Packet, queue: u32, now_ns: u64, lane: &mut dyn Lane) -> Result<(), (Packet, DropReason)> {
        self.offer(packet, queue, now_ns, lane).map_err(|(mut packet, reason)| {
            // Its buffer is for the next packet that is received, which has passed no meter.
            packet.metered = Metered::default();
            (packet, reason)
        })
    }

    fn offer(&mut self, packet: Packet, queue: u32, now_ns: u64, lane: &mut dyn Lane) -> Result<(), (Packet, DropReason)> {
        let units = packet.metered.units();
        if packet.metered == Metered::default() || queue >= self.numbers.count {
            return Err((packet, DropReason::SHAPER_FULL));
        }
        self.is_shown = false;
        let marks = wire::user::takes_marks(packet.data());
        let (numbers, delays) = (self.numbers, self.delays.as_ref());
        let leaf = numbers.leaf(queue, &packet);
        let (shaper, shown, dropped, mut packet, mut result) = (&mut self.shaper, &self.shown, &mut self.dropped, Some(packet), Ok(()));
        lane.with_rates(&mut |rates| {
            let Some(packet) = packet.take() else { return };
            // Of another connection, in its place.
            let mut instead = |fate| {
                if let Fate::Dropped { leaf, packet, reason } = fate {
                    shown.has_left(numbers.queue(leaf));
                    dropped.push((packet, drop_reason(reason)));
                }
            };
            match shaper.offer(leaf, packet, units.into(), marks, now_ns, &mut Cells { rates, numbers, delays }, &mut instead) {
                Offered::Waits => {
                    rates.set_waiting(numbers.cell(queue), true);
                    shown.has_come(queue);
                }
                Offered::Dropped(packet, reason) => result = Err((packet, drop_reason(reason))),
            }
        });
        // A lane that lends no rates has kept none.
        packet.map_or(result, |packet| Err((packet, DropReason::SHAPER_FULL)))
    }

    /// Whether packets wait in that queue.
    pub fn waits(&self, queue: u32) -> bool {
        let Numbers { queues, count } = self.numbers;
        queue < count && self.shaper.waits(if queues == Queues::Cells { self.numbers.node(queue) } else { queue })
    }

    /// When [`Shaping::poll`] has something to do.
    pub fn next_ns(&self) -> Option<u64> {
        self.shaper.next_ns()
    }

    /// Whether there is nothing to poll for.
    pub(crate) fn is_idle(&self) -> bool {
        self.shaper.is_empty() && self.is_shown
    }

    /// Whether what came before `began_ns` may still wait.
    pub(crate) fn may_hold(&self, began_ns: u64, now_ns: u64) -> bool {
        // It leaves at the second tick behind its time at the latest.
        let most_ns = self.limits.delay_ns + 2 * shaper::wheel::TICK_NS;
        !self.shaper.is_empty() && now_ns <= began_ns.saturating_add(most_ns)
    }

    /// Puts what may go, at most a burst, into `ready`, and what may not into `dropped`.
    pub fn poll(&mut self, now_ns: u64, lane: &mut dyn Lane) {
        if now_ns > self.shown_ns + SHOW_NS {
            self.show(now_ns);
        }
        if self.shaper.next_ns().is_none_or(|at| at > now_ns) {
            return;
        }
        let Shaping { shaper, numbers, delays, idle, ready, dropped, shown, .. } = self;
        let numbers = *numbers;
        lane.with_rates(&mut |rates| {
            shaper.poll(now_ns, &mut Cells { rates, numbers, delays: delays.as_ref() }, BURST, &mut |fate| match fate {
                Fate::Sent { leaf, mut packet, mark } => {
                    shown.has_left(numbers.queue(leaf));
                    if mark {
                        wire::user::mark(packet.data_mut());
                    }
                    ready.push(packet);
                }
                Fate::Dropped { leaf, packet, reason } => {
                    shown.has_left(numbers.queue(leaf));
                    dropped.push((packet, drop_reason(reason)));
                }
                Fate::Idle { leaf } => idle.push(numbers.queue(leaf)),
            });
            let still = |queue| match numbers.queues {
                Queues::Cells => shaper.waits(numbers.node(queue)),
                Queues::OneCell => !shaper.is_empty(),
            };
            idle.drain(..).filter(|queue| !still(*queue)).for_each(|queue| rates.set_waiting(numbers.cell(queue), false));
        });
    }

    /// All that waits, at the end.
    pub fn end(&mut self) {
        let Shaping { shaper, numbers, dropped, shown, .. } = self;
        shaper.end(&mut |fate| {
            if let Fate::Dropped { leaf, packet, .. } = fate {
                shown.has_left(numbers.queue(leaf));
                dropped.push((packet, DropReason::STOPPING));
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
    rates: &'a mut dyn target::Rates,
    numbers: Numbers,
    delays: Option<&'a Delays>,
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
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{PortId, Verdict};
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

        fn with_rates(&mut self, work: &mut dyn FnMut(&mut dyn target::Rates)) {
            work(self);
        }
    }

    impl target::Rates for OneRate {
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

    #[test]
    fn a_long_queue_of_one_rate_does_not_hold_up_a_short_one() {
        let law = Law { target_ns: DELAY_NS, interval_ns: DELAY_NS };
        let limits = Limits { nodes: 3, packets: 1000, delay_ns: DELAY_NS, law };
        let settings = ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::OneCell, limits, delays: None };
        let mut lane = OneRate { next_ns: 1_000_000, waits: false };
        let shown = Arc::new(Shown::default());
        let mut shaping = Shaping::new(settings, &mut lane, shown.clone()).unwrap();
        for _ in 0..100 {
            shaping.wait(packet(0), 0, 0, &mut lane).unwrap();
        }
        shaping.wait(packet(2), 2, 0, &mut lane).unwrap();
        assert!(lane.waits);
        assert_eq!([0, 1, 2].map(|queue| shown.waiting_in(queue)), [100, 0, 1]);
        let (_, why) = shaping.wait(packet(3), 3, 0, &mut lane).unwrap_err();
        assert_eq!(why, DropReason::SHAPER_FULL, "there are queues 0 to 2");
        let (mut sent, mut now) = (Vec::new(), 0);
        while let Some(next) = shaping.next_ns() {
            assert!(lane.waits && next < DELAY_NS, "while any waits, what comes waits too");
            now = next.max(now + 1);
            shaping.poll(now, &mut lane);
            sent.extend(shaping.ready.drain(..).map(|packet| packet.data()[0]));
        }
        assert!(!lane.waits && shaping.dropped.is_empty());
        assert_eq!((sent.len(), sent.iter().filter(|queue| **queue == 0).count()), (101, 100));
        let place = sent.iter().position(|queue| *queue == 2).unwrap();
        assert!(place < 4, "it came out as number {place}");
        assert_eq!([0, 1, 2].map(|queue| shown.waiting_in(queue)), [0; 3]);
        // 101 packets of 1 ms each, and what the wheel rounds.
        assert!((100_000_000..=104_000_000).contains(&now), "{now} ns");
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
        let settings = ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::Cells, limits, delays: None };
        let mut lane = OneRate::default();
        let shown = Arc::new(Shown::default());
        let mut shaping = Shaping::new(settings, &mut lane, shown.clone()).unwrap();
        // The sixteen queues are filled by hash: two ports that do not share one.
        let queue = |port| wire::user::connection(datagram(port, 0).data()) % FLOWS;
        let other = (1..=255).find(|port| queue(*port) != queue(0)).unwrap();
        let refused = (0..30).filter(|n| shaping.wait(datagram(0, *n), 0, 0, &mut lane).is_err()).count();
        assert_eq!((refused, shown.waiting_in(0)), (10, 20));
        // For each that comes of another connection the greedy one loses its first.
        for n in 0..5 {
            shaping.wait(datagram(other, n), 0, 0, &mut lane).unwrap();
        }
        assert_eq!(
            shaping.dropped.iter().map(|(packet, why)| (name(packet), *why)).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4].map(|n| ((0, n), DropReason::SHAPER_FULL))
        );
        assert_eq!((shown.waiting_in(0), shaping.waits(0), shaping.waits(1)), (20, true, false));
        shaping.dropped.clear();
        let (_, why) = shaping.wait(packet(0), 1, 0, &mut lane).unwrap_err();
        assert_eq!(why, DropReason::SHAPER_FULL, "there is one queue");
        let (mut sent, mut now) = (Vec::new(), 0);
        while let Some(next) = shaping.next_ns() {
            assert!(lane.waits, "while any waits, what comes waits too");
            now = next.max(now + 1);
            shaping.poll(now, &mut lane);
            sent.extend(shaping.ready.drain(..).map(|packet| name(&packet)));
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
        let settings = ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::OneCell, limits, delays: None };
        let mut lane = OneRate { next_ns: 1_000_000, waits: false };
        let shown = Arc::<Shown>::default();
        let mut shaping = Shaping::new(settings, &mut lane, shown.clone()).unwrap();
        for n in 0..30 {
            shaping.wait(packet(n % 3), (n % 3).into(), 0, &mut lane).unwrap();
        }
        shaping.poll(5_000_000, &mut lane);
        let sent = shaping.ready.drain(..).count();
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
        let settings = ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::OneCell, limits, delays: Some(delays.clone()) };
        let mut lane = OneRate { next_ns: 1_000_000, waits: false };
        let mut shaping = Shaping::new(settings, &mut lane, Arc::default()).unwrap();
        delays.set(1, 10_000_000);
        delays.set(2, 0);
        // One goes in a millisecond, in turns: half of the second queue's have waited for too long then.
        for _ in 0..10 {
            shaping.wait(packet(0), 0, 0, &mut lane).unwrap();
            shaping.wait(packet(1), 1, 0, &mut lane).unwrap();
        }
        let (mut sent, mut dropped, mut now) = ([0; 2], [0; 2], 0);
        while let Some(next) = shaping.next_ns() {
            now = next.max(now + 1);
            shaping.poll(now, &mut lane);
            shaping.ready.drain(..).for_each(|packet| sent[usize::from(packet.data()[0])] += 1);
            for (packet, why) in shaping.dropped.drain(..) {
                assert_eq!(why, DropReason::SHAPER_LATE);
                dropped[usize::from(packet.data()[0])] += 1;
            }
        }
        assert_eq!((sent[0], dropped[0]), (10, 0));
        assert!((3..=7).contains(&sent[1]) && sent[1] + dropped[1] == 10, "{sent:?} {dropped:?}");
    }
}
