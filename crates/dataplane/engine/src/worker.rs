//! The packet path: one worker's loop, top to bottom.
//!
//! A worker gets its packets either from ports of its own, or from the master by a ring ([`crate::master`]); the rest of its way
//! is the same. What it sends leaves by its own handle of the port, or, where the port has one handle only, by the master.

use crate::buffer::{Buffer, Given};
use crate::command::Command;
use crate::ledger::WorkerLedger;
use crate::message::{Aside, Drained, Event, Hold, LetGo};
pub(crate) use crate::port::now_ns;
use crate::port::{EnginePort, NO_PORT, Patience, TX_ATTEMPTS, burst, port_index};
use crate::queues::PortQueues;
use crate::ring::{SharedGauge, WorkerEnd};
use crate::shape::Shaping;
use crate::steer::{SteerFn, SteerTable};
use crate::tap::Tap;
use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError};
use program::CounterId;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU64, fence};
use std::time::Duration;
use target_api::{BURST, Extra, InFlight, Lane, Returned};

/// Time without a packet after which a thread sleeps between polls: about the cost of a few wake-ups. A poll of a ring costs nanoseconds, a poll of a socket
/// a system call, which takes the core from the senders on it.
const SPIN_NS: u64 = 20_000;
/// Polls without a packet after which it sleeps in any case.
const SPINS: u32 = 512;
/// How long an idle worker sleeps at most: packets wake it where its ports can be waited for, commands do not.
pub(crate) const NAP: Duration = Duration::from_millis(1);
/// The same where a port cannot be waited for.
pub(crate) const SHORT_NAP: Duration = Duration::from_micros(50);
/// Rounds of polls between two looks at what devices have lost, when there is always something to do.
pub(crate) const BUSY_ROUNDS: u32 = 1 << 14;
/// Of so many bursts one is looked at for the load of its buckets, where ports steer. A power of two.
const SAMPLE_EVERY: u32 = 16;
/// Packets that are received, at most, before a queue that never was empty counts as drained, where the port cannot tell how
/// many wait: more than any device's ring holds.
pub(crate) const DRAIN_LIMIT: usize = 1 << 16;

/// A part of the channel of events that only [`crate::Settings::vital_punts`] may fill.
const VITAL_SHARE: usize = 8;

/// The part of it that [`crate::Settings::told_punts`] may fill: whoever has a packet to send can have them made.
const TOLD_SHARE: usize = 4;

/// Packets put aside beyond which nothing more is received: the devices' queues hold the rest. A worker whose own buckets leave goes
/// on, as others wait for it.
const ASIDE_MAX: usize = 8192;

/// What a worker is made of.
pub(crate) struct Parts {
    pub(crate) lane: Box<dyn Lane>,
    pub(crate) ports: Vec<EnginePort>,
    /// The ring that feeds it; none: it polls its ports.
    pub(crate) feed: Option<WorkerEnd>,
    /// How packets are steered, if they are.
    pub(crate) steering: Option<(Arc<SteerTable>, SteerFn)>,
    /// Where packets wait that the program buffers.
    pub(crate) buffer: Option<Buffer>,
    pub(crate) commands: Receiver<Command>,
    pub(crate) events: Sender<Event>,
    /// Reasons of punts that may fill the channel of events; others leave a part of it.
    pub(crate) vital: Box<[u8]>,
    /// Those of packets that end here, and whose senders are told if there is room.
    pub(crate) told: Box<[u8]>,
    pub(crate) ledger: Arc<WorkerLedger>,
    pub(crate) gauge: SharedGauge,
    /// Counts packets that were held back while their bucket moved.
    pub(crate) held: Arc<AtomicU64>,
    /// What a target ahead counts as in flight.
    pub(crate) in_flight: Option<Arc<InFlight>>,
    /// Where packets wait for their rates, if they do.
    pub(crate) shaping: Option<Shaping>,
    /// The program's counter in which packets are charged that wait for a port's rate.
    pub(crate) counter: Option<CounterId>,
    /// Who looks at packets, if somebody does.
    pub(crate) tap: Arc<Tap>,
}

/// Polls in a row that found nothing.
#[derive(Default)]
pub(crate) struct Idle {
    polls: u32,
    since_ns: u64,
}

impl Idle {
    /// Notes a poll that found so many packets. Whether it is time to sleep.
    pub(crate) fn polled(&mut self, found: usize) -> bool {
        if found > 0 {
            self.polls = 0;
            return false;
        }
        self.polls = self.polls.saturating_add(1);
        if self.polls == 1 {
            self.since_ns = now_ns();
        }
        if self.polls.is_multiple_of(8) && now_ns() - self.since_ns > SPIN_NS {
            self.polls = SPINS;
        }
        self.polls >= SPINS
    }

    /// There was something else to do.
    pub(crate) fn end(&mut self) {
        self.polls = 0;
    }
}

/// Flows that may wait for a device that is busy, beyond which packets are not counted as left.
const LEAVING_MAX: usize = 1 << 16;

/// What came before must have been sent: when buckets of ours move, before their new worker continues.
struct Drain {
    which: Drained,
    /// Packets still to be received from each port.
    remaining: Vec<usize>,
    /// With the devices, when all is received, to take what they have not taken: a poll apart.
    patience: Patience,
    began_ns: u64,
    /// Dropped at the end: who waits hears of it.
    _done: Sender<()>,
}

pub(crate) struct Worker {
    parts: Parts,
    port_index: Vec<u16>,
    packets: Vec<Packet>,
    verdicts: Vec<Verdict>,
    /// What a target ahead counts each of them by.
    flows: [u32; BURST],
    /// Packets that the last burst made beside those that came in.
    extra: Vec<Extra>,
    /// Packets that come back from services.
    returned: Vec<Returned>,
    /// Buckets of packets that have just left the shaper.
    unshaped: Vec<usize>,
    /// What the control plane must hear of, while its queue is full of punts: at most one for a buffered packet or a port.
    owed: VecDeque<Event>,
    bursts: u32,
    drains: Vec<Drain>,
    /// By what a target ahead counts packets that are with the devices, or about to be; and how long a device may take.
    leaving: Vec<u32>,
    leaving_patience: Patience,
    /// Packets for the buffer whose queue is being released: they go through the program again.
    again: VecDeque<Packet>,
    /// Commands that came while others did that.
    postponed: VecDeque<Command>,
    /// Buckets that are moving to us, and their packets.
    aside: Option<(Aside, VecDeque<Packet>)>,
    stopping: bool,
}

impl Worker {
    pub(crate) fn new(parts: Parts) -> Worker {
        Worker {
            port_index: port_index(&parts.ports),
            packets: burst(),
            verdicts: vec![Verdict::default(); BURST],
            flows: [0; BURST],
            extra: Vec::new(),
            returned: Vec::new(),
            unshaped: Vec::new(),
            owed: VecDeque::new(),
            bursts: 0,
            drains: Vec::new(),
            leaving: Vec::new(),
            leaving_patience: Patience::new(TX_ATTEMPTS),
            again: VecDeque::new(),
            postponed: VecDeque::new(),
            aside: None,
            stopping: false,
            parts,
        }
    }

    /// What it was given, of one that did not run.
    pub(crate) fn into_ports(self) -> Vec<EnginePort> {
        self.parts.ports
    }

    /// The loop, until stopped: commands, then a burst from ring or ports; sleeps when idle. Returns its ports.
    pub(crate) fn run(mut self) -> Vec<EnginePort> {
        let (mut idle, mut rounds) = (Idle::default(), 0u32);
        loop {
            self.tell_owed();
            while let Ok(command) = self.parts.commands.try_recv() {
                self.obey(command);
                idle.end();
            }
            self.end_aside();
            self.run_again();
            let received = if self.parts.feed.is_some() { self.poll_feed() } else { self.poll_ports() }
                + self.poll_services()
                + self.poll_shaping()
                + self.poll_queues();
            if self.stopping && self.parts.feed.as_ref().is_none_or(WorkerEnd::ended) {
                return self.stop();
            }
            self.note_sent();
            let idles = idle.polled(received);
            rounds = rounds.wrapping_add(1);
            if rounds.is_multiple_of(BUSY_ROUNDS) {
                self.note_devices();
            }
            if idles {
                self.note_devices();
                // What a busy device left over goes with the next packet, and here there is none.
                self.parts.ports.iter_mut().filter(|p| p.alive).for_each(|port| _ = port.send_rest());
                self.sleep();
            }
        }
    }

    /// Waits for packets, or, where a port cannot be waited for, a moment for a command.
    fn sleep(&mut self) {
        let Some(nap) = self.nap() else { return };
        if let Some(feed) = &self.parts.feed {
            // The master looks at this after it has put packets into the ring; the fences see to it that one of us sees the other.
            self.parts.gauge.sleeping.store(true, Relaxed);
            fence(SeqCst);
            if feed.is_empty() {
                self.wait_for_command(nap);
            }
            return self.parts.gauge.sleeping.store(false, Relaxed);
        }
        let fds: Option<Vec<_>> = self.devices().map(|device| device.fd()).collect();
        match fds {
            Some(fds) if !fds.is_empty() => {
                if pktio::wait(&fds, nap).is_err() {
                    std::thread::sleep(SHORT_NAP);
                }
            }
            _ => self.wait_for_command(SHORT_NAP.min(nap)),
        }
    }

    /// How long to sleep, so that services' answers are taken in time and packets that wait for a rate go in time; none: not at all.
    fn nap(&self) -> Option<Duration> {
        let shaping_ns = self.parts.shaping.as_ref().and_then(Shaping::next_ns);
        let queues_ns = self.queues().filter_map(PortQueues::next_ns);
        let Some(poll_ns) = self.parts.lane.next_poll_ns().into_iter().chain(shaping_ns).chain(queues_ns).min() else { return Some(NAP) };
        let left = Duration::from_nanos(poll_ns.saturating_sub(now_ns()));
        (!left.is_zero()).then(|| left.min(NAP))
    }

    /// Queues of ports that have a rate.
    fn queues(&self) -> impl Iterator<Item = &PortQueues> {
        self.parts.ports.iter().filter_map(|port| port.queues.as_ref())
    }

    fn wait_for_command(&mut self, nap: Duration) {
        match self.parts.commands.recv_timeout(nap) {
            Ok(command) => self.obey(command),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                self.stopping = true;
                std::thread::sleep(SHORT_NAP);
            }
        }
    }

    fn devices(&self) -> impl Iterator<Item = &dyn pktio::Port> {
        self.parts.ports.iter().filter(|p| p.alive && p.listens).filter_map(|p| p.device.as_deref())
    }

    /// One burst from the ring, all the way.
    fn poll_feed(&mut self) -> usize {
        let Some(feed) = &mut self.parts.feed else { return 0 };
        let n = feed.receive(&mut self.packets);
        let taken = feed.taken;
        if n > 0 {
            self.forward_burst(n);
            // What became of the packets is visible to who reads this: their bucket may move.
            self.parts.gauge.done.store(taken, Release);
        }
        if let Some(feed) = &mut self.parts.feed {
            feed.give_back();
        }
        n
    }

    /// One burst from each port, all the way.
    fn poll_ports(&mut self) -> usize {
        if self.aside.as_ref().is_some_and(|(_, packets)| packets.len() >= ASIDE_MAX)
            && !self.drains.iter().any(|drain| drain.which == Drained::Steered)
        {
            return 0;
        }
        let mut received = 0;
        for index in 0..self.parts.ports.len() {
            let n = self.poll_port(index);
            received += n;
            self.note_drained(index, n);
        }
        received
    }

    /// One burst from a port, all the way.
    fn poll_port(&mut self, index: usize) -> usize {
        let n = self.parts.ports[index].receive(&mut self.packets, &mut self.owed);
        if n > 0 {
            self.sample(n);
            let ours = self.put_aside(n);
            self.forward_burst(ours);
        }
        n
    }

    /// What comes back from services goes out; how many packets.
    fn poll_services(&mut self) -> usize {
        if self.parts.lane.next_poll_ns().is_none() {
            return 0;
        }
        self.begin_charging();
        self.parts.lane.poll(now_ns(), &mut self.returned);
        let n = self.returned.len();
        if n > 0 {
            self.dispatch_returned();
            self.transmit_all();
            self.run_again();
        }
        self.end_charging();
        n
    }

    /// What waited for its rate goes through the program again and out; how many packets.
    fn poll_shaping(&mut self) -> usize {
        let Some(shaping) = self.parts.shaping.as_mut().filter(|shaping| !shaping.is_idle()) else { return 0 };
        let ready = shaping.poll(now_ns(), &mut *self.parts.lane, &mut self.packets);
        let n = ready + shaping.dropped.len();
        if n > 0 {
            if let Some((table, hash)) = self.parts.steering.as_ref().filter(|_| self.parts.feed.is_some()) {
                let left = self.packets[..ready].iter().chain(shaping.dropped.iter().map(|(packet, _)| packet));
                self.unshaped.extend(left.map(|packet| table.bucket(hash(packet.data(), packet.port))));
            }
            self.drop_shaped();
            self.packets[..ready].iter().for_each(|packet| self.parts.ledger.returned.add(1, packet.len()));
            if ready > 0 {
                self.forward_burst(ready);
            }
            // They have been sent, or wait again and are counted so: their buckets may move.
            let Worker { unshaped, parts, .. } = self;
            for bucket in unshaped.drain(..) {
                let shaped = &parts.gauge.shaped[bucket];
                shaped.store(shaped.load(Relaxed).saturating_sub(1), Release);
            }
        }
        n
    }

    /// What waited for a port's rate goes out; how many packets.
    fn poll_queues(&mut self) -> usize {
        let waiting = |worker: &Worker| worker.queues().map(PortQueues::len).sum::<usize>();
        if self.queues().all(|queues| queues.next_ns().is_none()) {
            return 0;
        }
        let (before, now_ns) = (waiting(self), now_ns());
        for index in 0..self.parts.ports.len() {
            if self.parts.ports[index].queues.as_ref().and_then(PortQueues::next_ns).is_some_and(|at| at <= now_ns) {
                self.transmit(index);
            }
        }
        before - waiting(self)
    }

    /// Counts what the shaper dropped.
    fn drop_shaped(&mut self) {
        let Some(shaping) = self.parts.shaping.as_mut().filter(|shaping| !shaping.dropped.is_empty()) else { return };
        let dropped = std::mem::take(&mut shaping.dropped);
        for (packet, reason) in &dropped {
            self.parts.ledger.returned.add(1, packet.len());
            self.count_drop(packet.port, *reason, packet.len());
            if packet.flow != 0 && self.leaving.len() < LEAVING_MAX {
                self.leaving.push(packet.flow);
            }
        }
        if let Some(shaping) = &mut self.parts.shaping {
            shaping.recycle(dropped);
        }
    }

    /// Those packets of a burst of `n` that are over their rates.
    fn wait_for_rates(&mut self, n: usize) {
        let mut refused = [None; BURST];
        if self.parts.shaping.is_none() {
            let over = self.verdicts[..n].iter().zip(&mut refused).filter(|(verdict, _)| verdict.kind == VerdictKind::Shape);
            over.for_each(|(verdict, refused)| *refused = Some(DropReason(verdict.reason)));
        } else {
            let mut buckets = [0; BURST];
            for i in (0..n).filter(|i| self.verdicts[*i].kind == VerdictKind::Shape) {
                // In flight until it goes: its flow's packets come here as long.
                let flow = std::mem::take(&mut self.flows[i]);
                if flow != 0
                    && let Some(at) = self.leaving.iter().rposition(|leaving| *leaving == flow)
                {
                    self.leaving.swap_remove(at);
                    self.packets[i].flow = flow;
                }
                if let Some((table, hash)) = self.parts.steering.as_ref().filter(|_| self.parts.feed.is_some()) {
                    buckets[i] = table.bucket(hash(self.packets[i].data(), self.packets[i].port));
                }
            }
            let Parts { shaping, lane, ledger, steering, feed, gauge, .. } = &mut self.parts;
            let counts_buckets = steering.is_some() && feed.is_some();
            let mut told = |i: usize, reason| {
                refused[i] = reason;
                if reason.is_none() {
                    // Its length is counted when it goes.
                    ledger.kept.add(1, 0);
                    if counts_buckets {
                        // The master looks at this before it moves the bucket.
                        let shaped = &gauge.shaped[buckets[i]];
                        shaped.store(shaped.load(Relaxed) + 1, Relaxed);
                    }
                }
            };
            if let Some(shaping) = shaping {
                shaping.wait(&mut self.packets[..n], &self.verdicts[..n], now_ns(), &mut **lane, &mut told);
            }
        }
        for (i, reason) in refused.into_iter().enumerate() {
            let Some(reason) = reason else { continue };
            self.count_drop(self.packets[i].port, reason, self.packets[i].len());
            let flow = std::mem::take(&mut self.packets[i].flow);
            if flow != 0 {
                self.leaving.push(flow);
            }
        }
    }

    fn dispatch_returned(&mut self) {
        // Put back when it is empty: the packet path allocates nothing.
        let mut returned = std::mem::take(&mut self.returned);
        for Returned { packet, verdict, copy } in returned.drain(..) {
            let cell = if copy { &self.parts.ledger.copied } else { &self.parts.ledger.returned };
            cell.add(1, packet.len());
            (self.packets[0], self.verdicts[0]) = (packet, verdict);
            self.dispatch_one();
        }
        self.returned = returned;
    }

    /// What is in `packets[..n]`: through the program and out.
    fn forward_burst(&mut self, n: usize) {
        let begin_ns = self.process(n);
        self.dispatch(n);
        self.transmit_all();
        self.run_again();
        let gauge = &self.parts.gauge;
        gauge.packets.store(gauge.packets.load(Relaxed) + n as u64, Relaxed);
        let busy_ns = now_ns().saturating_sub(begin_ns);
        gauge.busy_ns.store(gauge.busy_ns.load(Relaxed) + busy_ns, Relaxed);
        self.parts.ledger.burst_times.add(n, busy_ns);
    }

    fn process(&mut self, n: usize) -> u64 {
        let now_ns = now_ns();
        self.begin_charging();
        if self.parts.in_flight.is_some() {
            self.note_flows(n);
        }
        let tapped = if self.parts.tap.is_open() { self.parts.tap.before(&self.packets[..n]) } else { None };
        self.parts.lane.process(&mut self.packets[..n], &mut self.verdicts[..n], now_ns);
        if let Some((look, copies)) = tapped {
            look.after(copies, &self.packets[..n], &self.verdicts[..n], |place| self.parts.lane.ran_by(place));
        }
        self.parts.lane.take_extra(&mut self.extra);
        now_ns
    }

    /// What is in `packets[..n]` is about to leave.
    fn note_flows(&mut self, n: usize) {
        for (packet, of) in self.packets[..n].iter_mut().zip(&mut self.flows) {
            let flow = std::mem::take(&mut packet.flow);
            *of = flow;
            if flow != 0 && self.leaving.len() < LEAVING_MAX {
                self.leaving.push(flow);
            }
        }
    }

    /// Counts what was in flight as sent, if the devices have taken it: from now on nothing overtakes it. If one is busy, a poll later; one that
    /// is stuck is not waited for: nothing overtakes on it.
    fn note_sent(&mut self) {
        let Some(in_flight) = self.parts.in_flight.as_ref().filter(|_| !self.leaving.is_empty()) else { return };
        let unsent = |p: &EnginePort| p.alive && p.device.as_ref().is_some_and(|device| device.unsent() > 0) || p.has_any();
        let with_master = self.parts.feed.as_ref().is_some_and(|feed| !feed.is_sent());
        if !(with_master || self.parts.ports.iter().any(unsent)) || !self.leaving_patience.lasts() {
            self.leaving.drain(..).for_each(|flow| in_flight.sent(flow));
            self.leaving_patience = Patience::new(TX_ATTEMPTS);
        }
    }

    /// Sends every packet where its verdict says; then those that the burst made beside them.
    fn dispatch(&mut self, n: usize) {
        if self.verdicts[..n].iter().any(|verdict| verdict.kind == VerdictKind::Shape) {
            self.wait_for_rates(n);
        }
        for i in 0..n {
            self.send(i);
        }
        if !self.extra.is_empty() {
            self.dispatch_extra();
        }
    }

    fn send(&mut self, i: usize) {
        let verdict = self.verdicts[i];
        match verdict.kind {
            VerdictKind::Forward => self.forward(i, verdict),
            // With others of its burst.
            VerdictKind::Shape => {}
            VerdictKind::Buffer => self.buffer(i, verdict.mark),
            VerdictKind::Punt => self.punt(i, verdict),
            VerdictKind::Drop => self.count_drop(self.packets[i].port, DropReason(verdict.reason), self.packets[i].len()),
            // The last target of a chain holds everything; if it says "next" there is no target left.
            // Its length is known again when it comes back.
            VerdictKind::Kept => self.parts.ledger.kept.add(1, 0),
            VerdictKind::Next | VerdictKind::Resume => {
                self.count_drop(self.packets[i].port, DropReason::TARGET_FAILED, self.packets[i].len());
            }
        }
    }

    /// Counts the drop of a packet that came in by a port.
    #[cold]
    fn count_drop(&self, came_by: PortId, reason: DropReason, bytes: usize) {
        let port = self.port_index.get(usize::from(came_by.0)).and_then(|index| self.parts.ports.get(usize::from(*index)));
        self.parts.ledger.count_received_drop(port.map(|port| &*port.cells), reason, bytes);
    }

    #[cold]
    fn dispatch_extra(&mut self) {
        for Extra { packet, verdict } in std::mem::take(&mut self.extra) {
            self.parts.ledger.copied.add(1, packet.len());
            (self.packets[0], self.verdicts[0]) = (packet, verdict);
            self.dispatch_one();
        }
    }

    /// The first alone.
    fn dispatch_one(&mut self) {
        if self.verdicts[0].kind == VerdictKind::Shape {
            self.wait_for_rates(1);
        }
        self.send(0);
    }

    fn forward(&mut self, i: usize, verdict: Verdict) {
        let index = self.port_index.get(usize::from(verdict.port)).copied().unwrap_or(NO_PORT);
        let Some(port) = self.parts.ports.get_mut(usize::from(index)) else {
            return self.count_drop(self.packets[i].port, DropReason::NO_PORT, self.packets[i].len());
        };
        if port.enqueue(&mut self.packets[i], verdict, &self.parts.ledger) && port.queued == BURST {
            self.transmit(usize::from(index));
        }
    }

    fn buffer(&mut self, i: usize, queue: u32) {
        let packet = self.take(i);
        let len = packet.len();
        let Parts { buffer, ledger, .. } = &mut self.parts;
        let given = match buffer {
            Some(buffer) => buffer.give(queue, packet, now_ns(), ledger),
            None => Given::Dropped(packet, DropReason::SERVICE_DOWN),
        };
        match given {
            Given::Waits { notify } => {
                ledger.buffered.add(1, len);
                if notify {
                    // Must not be lost: the receiver would never be woken. Nor waited for: the control plane may wait for us.
                    self.owed.push_back(Event::Buffering { queue });
                    self.tell_owed();
                }
            }
            Given::Again(packet) => self.again.push_back(packet),
            Given::Dropped(packet, reason) => {
                self.count_drop(packet.port, reason, len);
                self.packets[i] = packet;
            }
        }
    }

    fn punt(&mut self, i: usize, verdict: Verdict) {
        let events = &self.parts.events;
        let room = events.capacity().unwrap_or(usize::MAX);
        if events.len() >= room / TOLD_SHARE && self.parts.told.contains(&verdict.reason) {
            return self.count_drop(self.packets[i].port, DropReason(verdict.reason), self.packets[i].len());
        }
        let most = room - room / VITAL_SHARE;
        if events.len() >= most && !self.parts.vital.contains(&verdict.reason) {
            return self.count_drop(self.packets[i].port, DropReason::PUNT_FULL, self.packets[i].len());
        }
        let packet = self.take(i);
        let (port, len) = (packet.port, packet.len());
        match self.parts.events.try_send(Event::Punt { packet, reason: verdict.reason, mark: verdict.mark }) {
            Ok(()) => self.parts.ledger.punted[usize::from(verdict.reason)].add(1, len),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => self.count_drop(port, DropReason::PUNT_FULL, len),
        }
    }

    /// A packet out of the burst, an empty one in its place.
    fn take(&mut self, i: usize) -> Packet {
        let empty = self.parts.feed.as_mut().map_or_else(|| Packet::empty(0), WorkerEnd::buffer);
        std::mem::replace(&mut self.packets[i], empty)
    }

    /// Tells what is owed, as far as there is room.
    fn tell_owed(&mut self) {
        while let Some(event) = self.owed.pop_front() {
            if let Err(TrySendError::Full(event)) = self.parts.events.try_send(event) {
                return self.owed.push_front(event);
            }
        }
    }

    fn transmit_all(&mut self) {
        for index in 0..self.parts.ports.len() {
            if self.parts.ports[index].has_any() {
                self.transmit(index);
            }
        }
        self.end_charging();
    }

    /// From now on counters may have packets that will be taken off again: see [`Engine::between_bursts`](crate::Engine::between_bursts).
    fn begin_charging(&self) {
        if self.parts.counter.is_none() {
            return;
        }
        let charging = &self.parts.gauge.charging;
        charging.store(charging.load(Relaxed) | 1, Relaxed);
        fence(Release);
    }

    fn end_charging(&self) {
        let charging = &self.parts.gauge.charging;
        let now = charging.load(Relaxed);
        charging.store(now + (now & 1), Release);
    }

    fn transmit(&mut self, index: usize) {
        let port = &mut self.parts.ports[index];
        if port.device.is_some() {
            port.transmit(&self.parts.ledger, &mut self.owed);
            return self.charge(index);
        }
        let mut sent = 0;
        while sent < port.queued {
            // The master keeps emptying this ring: there will be room.
            match self.parts.feed.as_mut().and_then(|feed| feed.send(&mut port.queue[sent..port.queued], port.id)) {
                Some(0) => std::thread::yield_now(),
                Some(n) => sent += n,
                None => break,
            }
        }
        port.drop_queued(sent, DropReason::NO_PORT, &self.parts.ledger);
    }

    /// Charges what a port's queues have sent, and takes back what was charged before it came there.
    fn charge(&mut self, index: usize) {
        let Parts { ports, lane, counter, .. } = &mut self.parts;
        if let (Some(queues), Some(counter)) = (&mut ports[index].queues, *counter)
            && !queues.charges.is_empty()
        {
            lane.count(counter, &queues.charges);
            queues.charges.clear();
        }
    }

    /// Does what the control plane asked.
    fn obey(&mut self, command: Command) {
        // A move may have ended, and the next one begin with this.
        self.end_aside();
        match command {
            Command::Inject(packets) => {
                for packet in &packets {
                    self.parts.ledger.injected.add(1, packet.len());
                }
                self.run_through(packets);
            }
            Command::Transmit { port, packet } => self.transmit_own(port, packet),
            Command::Hold(hold) => self.hold(hold),
            Command::Pass(_passed) => {}
            Command::Aside(aside, _begun) => self.aside = Some((aside, VecDeque::new())),
            Command::Drain(which, done) => self.begin_drain(which, done),
            Command::AddPort(port, _done) => self.add_port(*port),
            Command::Listen(id) => self.parts.ports.iter_mut().filter(|port| port.id == id).for_each(|port| port.listens = true),
            Command::RemovePort(id, _done) => self.remove_port(id),
            Command::Wake => {}
            Command::Stop => self.stopping = true,
        }
    }

    /// A frame of the control plane's.
    fn transmit_own(&mut self, id: PortId, packet: Packet) {
        let Parts { ports, ledger, .. } = &mut self.parts;
        ledger.injected.add(1, packet.len());
        let index = usize::from(self.port_index.get(usize::from(id.0)).copied().unwrap_or(NO_PORT));
        match ports.get_mut(index) {
            Some(port) => port.transmit_own(packet, ledger, &mut self.owed),
            None => ledger.count_drop(DropReason::NO_PORT, packet.len()),
        }
    }

    /// One more device, which is not received from yet.
    fn add_port(&mut self, port: EnginePort) {
        self.parts.ports.push(port);
        self.port_index = port_index(&self.parts.ports);
        // What it receives has not come when they began.
        self.drains.iter_mut().for_each(|drain| drain.remaining.push(0));
    }

    /// Takes a port's devices away, when what has come by them was run, and what was to leave by them was sent or dropped.
    fn remove_port(&mut self, id: PortId) {
        for index in (0..self.parts.ports.len()).rev().filter(|index| self.parts.ports[*index].id == id).collect::<Vec<_>>() {
            self.end_port(index);
        }
        self.note_sent();
        for index in (0..self.parts.ports.len()).rev().filter(|index| self.parts.ports[*index].id == id).collect::<Vec<_>>() {
            self.parts.ports.remove(index);
            self.drains.iter_mut().for_each(|drain| _ = drain.remaining.remove(index));
        }
        self.port_index = port_index(&self.parts.ports);
        self.end_drains();
    }

    /// The last that a device receives and sends.
    fn end_port(&mut self, index: usize) {
        let waiting = |port: &EnginePort| port.device.as_ref().map_or(0, |device| device.waiting().unwrap_or(DRAIN_LIMIT));
        let mut remaining = if self.parts.feed.is_some() { 0 } else { waiting(&self.parts.ports[index]) };
        while remaining > 0 {
            let n = self.poll_port(index);
            remaining = if n == 0 { 0 } else { remaining.saturating_sub(n) };
        }
        self.transmit(index);
        let (port, ledger) = (&mut self.parts.ports[index], &self.parts.ledger);
        port.end(DropReason::PORT_DOWN, ledger);
        self.charge(index);
    }

    /// Holds still while others change something, then releases what it is given; continues when all have done so.
    fn hold(&mut self, hold: Hold) {
        let _ = hold.arrived.send(());
        // A sender that vanished means that nothing is to be released.
        let rows = hold.release.recv().unwrap_or_default();
        let newer = std::mem::take(&mut self.again);
        rows.into_iter().for_each(|(row, why)| self.let_go(row, why));
        self.again.extend(newer);
        drop(hold.arrived);
        let _ = hold.resume.recv();
    }

    /// Runs packets through the program again that were for the buffer while their queue was being released: when that is over, and before anything else is
    /// received. Who releases it may want this worker to stand, and gives it older packets then.
    fn run_again(&mut self) {
        while !self.again.is_empty() {
            while self.parts.buffer.as_ref().is_some_and(Buffer::is_releasing) && !self.stopping {
                match self.parts.commands.recv_timeout(SHORT_NAP) {
                    Ok(Command::Hold(hold)) => self.hold(hold),
                    Ok(Command::Pass(_)) | Err(RecvTimeoutError::Timeout) => {}
                    Ok(other) => self.postponed.push_back(other),
                    Err(RecvTimeoutError::Disconnected) => self.stopping = true,
                }
            }
            let packets = std::mem::take(&mut self.again);
            self.run_through(packets);
        }
        while let Some(command) = self.postponed.pop_front() {
            self.obey(command);
        }
    }

    /// Ends the wait of packets. They run through the program again, in order, before anything else is received.
    fn let_go(&mut self, row: VecDeque<Packet>, why: LetGo) {
        let ledger = &self.parts.ledger;
        for packet in &row {
            let cell = if why == LetGo::Injected { &ledger.injected } else { &ledger.released };
            cell.add(1, packet.len());
        }
        self.run_through(row);
    }

    /// Packets that are already counted as come in: through the program in bursts.
    fn run_through(&mut self, packets: impl IntoIterator<Item = Packet>) {
        let mut n = 0;
        for packet in packets {
            self.packets[n] = packet;
            n += 1;
            if n == BURST {
                self.process(n);
                self.dispatch(n);
                n = 0;
            }
        }
        if n > 0 {
            self.process(n);
            self.dispatch(n);
        }
        self.transmit_all();
    }

    /// Notes, for one burst in some, which buckets its packets are of.
    fn sample(&mut self, n: usize) {
        let Some((table, hash)) = &self.parts.steering else { return };
        self.bursts = self.bursts.wrapping_add(1);
        if self.bursts.is_multiple_of(SAMPLE_EVERY) {
            for packet in &self.packets[..n] {
                table.note_shared(table.bucket(hash(packet.data(), packet.port)), SAMPLE_EVERY.into());
            }
        }
    }

    /// Takes what must wait out of a burst of `n`; how many are left in front.
    fn put_aside(&mut self, n: usize) -> usize {
        let Some((aside, waiting)) = &mut self.aside else { return n };
        let Some((table, hash)) = &self.parts.steering else { return n };
        let mut left = 0;
        for i in 0..n {
            let bucket = table.bucket(hash(self.packets[i].data(), self.packets[i].port));
            if aside.buckets.get(bucket) == Some(&true) {
                waiting.push_back(std::mem::replace(&mut self.packets[i], Packet::empty(0)));
            } else {
                self.packets.swap(left, i);
                left += 1;
            }
        }
        left
    }

    /// Takes up what was put aside, if it may go on: before anything else is received.
    fn end_aside(&mut self) {
        let ended = |(aside, _): &mut (Aside, VecDeque<Packet>)| aside.until.try_recv() == Err(TryRecvError::Disconnected);
        let Some((_, packets)) = self.aside.take_if(ended) else { return };
        self.parts.held.fetch_add(packets.len() as u64, Relaxed);
        let gauge = &self.parts.gauge;
        gauge.packets.store(gauge.packets.load(Relaxed) + packets.len() as u64, Relaxed);
        self.run_through(packets);
    }

    /// Starts to record what must be received. No packet of a bucket that has moved arrives at our queues any more: what is in them
    /// is the last.
    fn begin_drain(&mut self, which: Drained, done: Sender<()>) {
        let waiting = |p: &EnginePort| match &p.device {
            Some(device) if p.alive && (which == Drained::All || device.steering().is_some()) => device.waiting().unwrap_or(DRAIN_LIMIT),
            _ => 0,
        };
        let remaining = self.parts.ports.iter().map(waiting).collect();
        self.drains.push(Drain { which, remaining, patience: Patience::new(TX_ATTEMPTS), began_ns: now_ns(), _done: done });
        self.end_drains();
    }

    fn note_drained(&mut self, index: usize, received: usize) {
        if self.drains.is_empty() {
            return;
        }
        for Drain { remaining, .. } in &mut self.drains {
            // A queue that was found empty has given all; so has a port that is down.
            remaining[index] = if received == 0 { 0 } else { remaining[index].saturating_sub(received) };
        }
        self.end_drains();
    }

    /// Tells who waits, if all is received and what became of it has been sent: the buckets' new workers may have ways of their own to
    /// the wire. A device that is stuck is not waited for: nothing overtakes on it.
    fn end_drains(&mut self) {
        // What is put aside has come in, but has not been run. Who moves buckets waits for those that others put aside, and must not
        // wait for them here.
        let aside = self.aside.is_some();
        let (shaping, now_ns) = (&self.parts.shaping, now_ns());
        let in_queues_ns = self.queues().filter_map(PortQueues::holds_ns).max();
        let waits = |d: &Drain| {
            shaping.as_ref().is_some_and(|shaping| shaping.may_hold(d.began_ns, now_ns))
                || in_queues_ns.is_some_and(|longest_ns| now_ns <= d.began_ns.saturating_add(longest_ns))
        };
        let received = |d: &Drain| d.remaining.iter().all(|n| *n == 0) && !(aside && d.which == Drained::All) && !waits(d);
        if !self.drains.iter().any(received) {
            return;
        }
        let unsent: usize = self.parts.ports.iter_mut().filter(|p| p.alive).map(EnginePort::send_rest).sum();
        let ended = |d: &mut Drain| received(d) && (unsent == 0 || !d.patience.lasts());
        let ended: Vec<Drain> = self.drains.extract_if(.., ended).collect();
        if !ended.is_empty() {
            self.note_sent();
        }
    }

    fn note_devices(&mut self) {
        self.parts.ports.iter_mut().for_each(EnginePort::note_device_drops);
        let waiting: usize = self.devices().filter_map(|device| device.waiting()).sum();
        self.parts.gauge.waiting.store(waiting as u64, Relaxed);
    }

    /// What was sent is given to the device.
    fn stop(mut self) -> Vec<EnginePort> {
        self.tell_owed();
        self.poll_services();
        if let Some(shaping) = &mut self.parts.shaping {
            shaping.end();
            self.drop_shaped();
        }
        for index in 0..self.parts.ports.len() {
            self.parts.ports[index].end_queues(DropReason::STOPPING, &self.parts.ledger);
            self.charge(index);
        }
        self.note_devices();
        let mut patience = Patience::new(TX_ATTEMPTS);
        let ports = &mut self.parts.ports;
        while ports.iter_mut().filter(|p| p.alive).map(EnginePort::send_rest).sum::<usize>() > 0 && patience.lasts() {
            std::thread::yield_now();
        }
        self.note_sent();
        self.parts.ports.iter_mut().for_each(|port| port.drop_own(DropReason::STOPPING, &self.parts.ledger));
        std::mem::take(&mut self.parts.ports)
    }
}
