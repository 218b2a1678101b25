//! The master: receives packets from the ports and gives each to the worker of its flow's bucket (SoftUPF's steering).
//!
//! A round: packets returned by workers, moves that have become possible, then a burst from each port into the rings. Order within a
//! flow is kept while its bucket moves: the bucket's packets are held here until the old worker has finished all that it was
//! given. If a ring is full the master waits, so that the device's queue fills, or drops: [`WhenFull`].
//!
//! The master never waits for a worker without draining the return rings, and never for the control plane.

use crate::command::Command;
use crate::ledger::WorkerLedger;
use crate::message::Event;
use crate::port::{EnginePort, NO_PORT, burst, close, port_index};
use crate::ring::{MasterEnd, SPENT, SharedGauge};
use crate::steer::{Move, SteerFn, SteerTable};
use crate::worker::{BUSY_ROUNDS, DRAIN_LIMIT, Idle, NAP, SHORT_NAP};
use base::{DropReason, Packet, PortId, Verdict};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError};
use pktio::PortError;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, fence};
use std::time::Duration;
use target_api::BURST;

/// Packets of buckets that move, at most: a full ring ahead of them, processed at 0.2 Mpps, lets that many pass at 1 Mpps.
const HELD_MAX: usize = 8192;
/// Spent buffers kept for packets to come.
const SPARE_MAX: usize = 8192;
/// Places beyond a full ring for frames of no flow: ARP, neighbour discovery, messages of paths.
const OF_NO_FLOW: usize = 64;
/// Mark: the bucket does not move.
const STAYS: u16 = u16::MAX;

/// What happens when a worker's ring is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// Its packets are dropped as `worker_full`, the other workers' go on: one flow's flood does not hold up the others.
    #[default]
    Drop,
    /// Nothing more is received until there is room: the devices' queues fill, and nothing is lost here.
    Wait,
}

/// What the control plane asks of the master.
pub(crate) enum MasterCommand {
    /// Through the program, steered like what comes in.
    Inject(Vec<Packet>),
    /// Straight out of a port.
    Transmit { port: PortId, packet: Packet },
    /// Handles to send by, for a new worker, which counts in that ledger.
    Outputs(Arc<WorkerLedger>, Sender<Result<Vec<EnginePort>, PortError>>),
    /// See [`Command::AddPort`].
    AddPort(Box<EnginePort>, Sender<()>),
    /// See [`Command::Listen`].
    Listen(PortId),
    /// See [`Command::RemovePort`]. Workers send nothing to it any more.
    RemovePort(PortId, Sender<()>),
    /// A worker that has started.
    Attach { slot: u16, link: Box<Link> },
    /// A worker that has no bucket any more: it gets nothing more, and so ends. Answers when all that it sent is out.
    Detach { slot: u16, done: Sender<()> },
    /// Moves buckets; the sender is dropped when all have moved.
    Move { moves: Vec<Move>, done: Sender<()> },
    /// Sends the packets that workers have returned so far; the sender is dropped when that is done.
    Flush(Sender<()>),
    /// Drops the sender when all that waits in the ports now has been received, and done by the workers, and has left.
    Drain(Sender<()>),
    /// Passes on what was received, and ends when the workers have.
    Stop,
}

/// A worker, as the master sees it.
pub(crate) struct Link {
    ring: MasterEnd,
    gauge: SharedGauge,
    commands: Sender<Command>,
    /// Steered, but there was no room in the ring.
    pending: VecDeque<Packet>,
    /// Places in the burst of packets that come after those in `pending`.
    staged: Vec<u16>,
    /// Packets given to the worker, those in `pending` and `staged` included.
    given: u64,
    /// Reports a detached worker's end.
    leaving: Option<Sender<()>>,
}

impl Link {
    pub(crate) fn new(ring: MasterEnd, gauge: SharedGauge, commands: Sender<Command>) -> Link {
        Link { ring, gauge, commands, pending: VecDeque::new(), staged: Vec::with_capacity(BURST), given: 0, leaving: None }
    }

    /// Whether the worker has nothing of a bucket any more whose last packet has that number.
    fn has_left(&self, bucket: usize, last: u64) -> bool {
        let done = self.done();
        done == u64::MAX || done >= last && self.gauge.shaped.get(bucket).is_none_or(|shaped| shaped.load(Acquire) == 0)
    }

    fn done(&self) -> u64 {
        // A worker that has ended sends nothing more: buckets that move away from it must not wait.
        match &self.ring.packets {
            Some(packets) if !packets.is_abandoned() => self.gauge.done.load(Acquire),
            _ => u64::MAX,
        }
    }
}

/// Where a packet goes.
enum Route {
    /// To this slot's worker.
    Give(usize),
    /// To the packets held for this place in `moving`.
    Hold(usize),
    Drop(DropReason),
}

/// A bucket between two workers.
struct Moving {
    bucket: usize,
    to: u16,
    held: Vec<Packet>,
    /// Dropped when the bucket has moved.
    _done: Sender<()>,
}

/// What is in the ports must be received, and then processed by the workers.
struct Drain {
    /// Packets still to be received from each port.
    remaining: Vec<usize>,
    /// When all are: how many each worker must have done.
    given: Option<Vec<u64>>,
    /// Dropped at the end: who waits hears of it.
    _done: Sender<()>,
}

/// What the master is made of.
pub(crate) struct MasterParts {
    pub(crate) ports: Vec<EnginePort>,
    pub(crate) steer: SteerFn,
    pub(crate) table: Arc<SteerTable>,
    pub(crate) when_full: WhenFull,
    pub(crate) ring: usize,
    pub(crate) commands: Receiver<MasterCommand>,
    pub(crate) events: Sender<Event>,
    pub(crate) ledger: Arc<WorkerLedger>,
    /// Counts packets that were held back while their bucket moved.
    pub(crate) held: Arc<AtomicU64>,
}

pub(crate) struct Master {
    parts: MasterParts,
    port_index: Vec<u16>,
    links: Vec<Option<Link>>,
    /// For each bucket its owner (the table's truth), the number of its last packet among those given to the owner, and its
    /// place in `moving`.
    owner: Vec<u16>,
    last: Vec<u64>,
    moves: Vec<u16>,
    moving: Vec<Moving>,
    held: usize,
    drains: Vec<Drain>,
    packets: Vec<Packet>,
    spare: Vec<Packet>,
    owed: VecDeque<Event>,
    stopping: bool,
}

/// Handles for a worker to send by, one for each port.
pub(crate) fn outputs(ports: &[EnginePort], ledger: &WorkerLedger) -> Result<Vec<EnginePort>, PortError> {
    ports.iter().map(|port| port.transmitter(ledger)).collect()
}

impl Master {
    pub(crate) fn new(parts: MasterParts, links: Vec<Option<Link>>) -> Master {
        let buckets = parts.table.len();
        Master {
            port_index: port_index(&parts.ports),
            links,
            owner: parts.table.owners(),
            last: vec![0; buckets],
            moves: vec![STAYS; buckets],
            moving: Vec::new(),
            held: 0,
            drains: Vec::new(),
            packets: burst(),
            spare: Vec::with_capacity(SPARE_MAX),
            owed: VecDeque::new(),
            stopping: false,
            parts,
        }
    }

    /// Until stopped, and until all workers have ended.
    pub(crate) fn run(mut self) {
        let (mut idle, mut rounds) = (Idle::default(), 0u32);
        loop {
            self.tell_owed();
            while let Ok(command) = self.parts.commands.try_recv() {
                self.obey(command);
                idle.end();
            }
            // Looked at before the rings back are emptied: what a worker has sent by then is in them.
            let workers_idle = self.moving.is_empty() && self.links.iter().flatten().all(|link| link.done() >= link.given);
            let mut work = self.take_back();
            self.finish_moves();
            self.push_all();
            if self.stopping {
                if self.may_end() {
                    return self.end();
                }
            } else if self.may_receive() {
                for index in 0..self.parts.ports.len() {
                    work += self.poll(index);
                }
            }
            self.finish_drains();
            let idles = idle.polled(work);
            rounds = rounds.wrapping_add(1);
            if rounds.is_multiple_of(BUSY_ROUNDS) {
                self.note_devices();
            }
            if idles {
                self.note_devices();
                if workers_idle {
                    // What a busy device left over goes with the next packet, and here there is none.
                    self.parts.ports.iter_mut().filter(|p| p.alive).for_each(|port| _ = port.send_rest());
                    self.sleep();
                } else {
                    std::thread::yield_now();
                }
            }
        }
    }

    fn sleep(&mut self) {
        let alive = self.parts.ports.iter().filter(|p| p.alive && p.listens).filter_map(|p| p.device.as_deref());
        let fds: Option<Vec<_>> = alive.map(|device| device.fd()).collect();
        match fds {
            Some(fds) if !fds.is_empty() && !self.stopping => {
                if pktio::wait(&fds, NAP).is_err() {
                    std::thread::sleep(SHORT_NAP);
                }
            }
            _ => self.wait_for_command(SHORT_NAP),
        }
    }

    fn wait_for_command(&mut self, nap: Duration) {
        match self.parts.commands.recv_timeout(nap) {
            Ok(command) => self.obey(command),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                self.obey(MasterCommand::Stop);
                std::thread::sleep(SHORT_NAP);
            }
        }
    }

    /// One burst from one port into the rings.
    fn poll(&mut self, index: usize) -> usize {
        let n = self.parts.ports[index].receive(&mut self.packets, &mut self.owed);
        let mut hashes = [0u32; BURST];
        for (hash, packet) in hashes.iter_mut().zip(&self.packets[..n]) {
            *hash = (self.parts.steer)(packet.data(), packet.port);
        }
        for (i, hash) in hashes[..n].iter().enumerate() {
            // Only the place is noted here, and the packet then moved once: from the burst into the ring.
            match self.route(*hash) {
                Route::Give(slot) => {
                    if let Some(link) = &mut self.links[slot] {
                        link.staged.push(i as u16);
                    }
                }
                Route::Hold(at) => {
                    let packet = std::mem::replace(&mut self.packets[i], self.spare.pop().unwrap_or_else(|| Packet::empty(0)));
                    self.moving[at].held.push(packet);
                }
                Route::Drop(reason) => self.parts.ledger.count_drop(reason, self.packets[i].len()),
            }
        }
        if n > 0 {
            self.push_all();
        }
        for drain in &mut self.drains {
            // A queue that was found empty has given all; so has a port that is down.
            drain.remaining[index] = if n == 0 { 0 } else { drain.remaining[index].saturating_sub(n) };
        }
        n
    }

    /// Tells who waits, where all has been received, done by workers and taken back from them.
    fn finish_drains(&mut self) {
        let mut drains = std::mem::take(&mut self.drains);
        drains.retain_mut(|drain| {
            if drain.given.is_none() && self.moving.is_empty() && drain.remaining.iter().all(|n| *n == 0) {
                drain.given = Some(self.links.iter().map(|link| link.as_ref().map_or(0, |link| link.given)).collect());
            }
            let Some(given) = &drain.given else { return true };
            let done = self.links.iter().zip(given).all(|(link, given)| link.as_ref().is_none_or(|link| link.done() >= *given));
            if done {
                self.take_back();
            }
            !done
        });
        self.drains.append(&mut drains);
    }

    /// Where the next packet of a hash's bucket goes.
    fn route(&mut self, hash: u32) -> Route {
        let bucket = self.parts.table.bucket(hash);
        self.parts.table.note(bucket, 1);
        let drop_when_full = self.parts.when_full == WhenFull::Drop;
        if self.moves[bucket] != STAYS {
            if drop_when_full && self.held >= HELD_MAX {
                return Route::Drop(DropReason::WORKER_FULL);
            }
            self.held += 1;
            return Route::Hold(self.moves[bucket].into());
        }
        let slot = usize::from(self.owner[bucket]);
        // Frames of no flow have the hash 0; of flows that one in four thousand millions.
        let room = self.parts.ring + if hash == 0 { OF_NO_FLOW } else { 0 };
        match self.links.get_mut(slot) {
            Some(Some(link)) if drop_when_full && link.pending.len() + link.staged.len() >= room => Route::Drop(DropReason::WORKER_FULL),
            Some(Some(link)) => {
                link.given += 1;
                self.last[bucket] = link.given;
                Route::Give(slot)
            }
            _ => Route::Drop(DropReason::TARGET_FAILED),
        }
    }

    /// Gives a packet to the worker of its bucket, or holds it while the bucket moves.
    fn steer(&mut self, packet: Packet) {
        match self.route((self.parts.steer)(packet.data(), packet.port)) {
            Route::Give(slot) => {
                if let Some(link) = &mut self.links[slot] {
                    link.pending.push_back(packet);
                }
            }
            Route::Hold(at) => self.moving[at].held.push(packet),
            Route::Drop(reason) => self.drop(packet, reason),
        }
    }

    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.parts.ledger.count_drop(reason, packet.len());
        self.recycle(packet);
    }

    fn recycle(&mut self, packet: Packet) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(packet);
        }
    }

    /// Puts into each ring what fits.
    fn push_all(&mut self) {
        for link in self.links.iter_mut().flatten() {
            if link.pending.is_empty() && link.staged.is_empty() {
                continue;
            }
            let Some(way) = link.ring.way() else {
                // The worker has failed, which is a defect: its packets are not lost in silence.
                link.pending.drain(..).for_each(|packet| self.parts.ledger.count_drop(DropReason::TARGET_FAILED, packet.len()));
                let staged = link.staged.drain(..).map(|i| &self.packets[usize::from(i)]);
                staged.for_each(|packet| self.parts.ledger.count_drop(DropReason::TARGET_FAILED, packet.len()));
                continue;
            };
            let n = (link.pending.len() + link.staged.len()).min(way.slots());
            let older = link.pending.len().min(n);
            let (packets, spare) = (&mut self.packets, &mut self.spare);
            let mut take = |i: u16| std::mem::replace(&mut packets[usize::from(i)], spare.pop().unwrap_or_else(|| Packet::empty(0)));
            if let Ok(chunk) = way.write_chunk_uninit(n) {
                chunk.fill_from_iter(link.pending.drain(..older).chain(link.staged.drain(..n - older).map(&mut take)));
            }
            link.pending.extend(link.staged.drain(..).map(take));
            link.gauge.pushed.store(link.given - link.pending.len() as u64, Relaxed);
            fence(SeqCst);
            if link.gauge.sleeping.load(Relaxed) {
                // A full queue of commands wakes as well.
                let _ = link.commands.try_send(Command::Wake);
            }
        }
    }

    fn may_receive(&self) -> bool {
        self.parts.when_full == WhenFull::Drop
            || (self.held < HELD_MAX && self.links.iter().flatten().all(|link| link.pending.len() < self.parts.ring))
    }

    /// Receives what workers return: frames to send, and spent buffers.
    fn take_back(&mut self) -> usize {
        let mut taken = 0;
        for slot in 0..self.links.len() {
            let Some(link) = &mut self.links[slot] else { continue };
            let ended = link.ring.back.is_abandoned();
            let n = link.ring.back.slots();
            let Ok(chunk) = link.ring.back.read_chunk(n) else { continue };
            let mut given = chunk.into_iter();
            for mut packet in given.by_ref() {
                if packet.port != SPENT {
                    taken += 1;
                    let index = self.port_index.get(usize::from(packet.port.0)).copied().unwrap_or(NO_PORT);
                    let Some(port) = self.parts.ports.get_mut(usize::from(index)) else {
                        self.parts.ledger.count_drop(DropReason::NO_PORT, packet.len());
                        continue;
                    };
                    if port.enqueue(&mut packet, Verdict::default(), &self.parts.ledger) && port.queued == BURST {
                        port.transmit(&self.parts.ledger, &mut self.owed);
                    }
                }
                if self.spare.len() < SPARE_MAX {
                    self.spare.push(packet);
                }
            }
            // Before the worker finds its ring empty, which tells that they have left.
            transmit_all(&mut self.parts, &mut self.owed);
            drop(given);
            if ended && link.leaving.is_some() {
                self.links[slot] = None;
            }
        }
        taken
    }

    fn obey(&mut self, command: MasterCommand) {
        match command {
            MasterCommand::Inject(packets) => {
                for packet in packets {
                    self.parts.ledger.injected.add(1, packet.len());
                    self.steer(packet);
                }
                self.push_all();
            }
            MasterCommand::Transmit { port, packet } => self.send(port, packet),
            MasterCommand::Outputs(ledger, reply) => drop(reply.send(outputs(&self.parts.ports, &ledger))),
            MasterCommand::AddPort(port, _done) => {
                self.parts.ports.push(*port);
                self.port_index = port_index(&self.parts.ports);
                self.drains.iter_mut().for_each(|drain| drain.remaining.push(0));
            }
            MasterCommand::Listen(id) => self.parts.ports.iter_mut().filter(|p| p.id == id).for_each(|p| p.listens = true),
            MasterCommand::RemovePort(id, _done) => self.remove_port(id),
            MasterCommand::Attach { slot, link } => {
                let slot = usize::from(slot);
                if self.links.len() <= slot {
                    self.links.resize_with(slot + 1, || None);
                }
                // What a drain waits for was given to the worker that was here before, which is done with it.
                let given = self.drains.iter_mut().filter_map(|drain| drain.given.as_mut()?.get_mut(slot));
                given.for_each(|given| *given = 0);
                self.links[slot] = Some(*link);
            }
            MasterCommand::Detach { slot, done } => {
                if let Some(link) = self.links.get_mut(usize::from(slot)).and_then(Option::as_mut) {
                    link.ring.packets = None;
                    link.leaving = Some(done);
                }
            }
            MasterCommand::Move { moves, done } => moves.iter().for_each(|m| self.begin_move(*m, &done)),
            MasterCommand::Flush(_done) => drop(self.take_back()),
            MasterCommand::Drain(done) => {
                let remaining = self.parts.ports.iter().map(|p| match &p.device {
                    Some(device) if p.alive => device.waiting().unwrap_or(DRAIN_LIMIT),
                    _ => 0,
                });
                let remaining = remaining.collect();
                self.drains.push(Drain { remaining, given: None, _done: done });
            }
            MasterCommand::Stop => self.stopping = true,
        }
    }

    fn send(&mut self, id: PortId, packet: Packet) {
        let MasterParts { ports, ledger, .. } = &mut self.parts;
        ledger.injected.add(1, packet.len());
        let index = usize::from(self.port_index.get(usize::from(id.0)).copied().unwrap_or(NO_PORT));
        match ports.get_mut(index) {
            Some(port) => port.transmit_own(packet, ledger, &mut self.owed),
            None => ledger.count_drop(DropReason::NO_PORT, packet.len()),
        }
    }

    /// Takes a port away, when what has come by it was given to workers, and what they sent by it has left.
    fn remove_port(&mut self, id: PortId) {
        self.take_back();
        while let Some(index) = self.parts.ports.iter().position(|port| port.id == id) {
            let device = self.parts.ports[index].device.as_ref();
            let mut remaining = device.map_or(0, |device| device.waiting().unwrap_or(DRAIN_LIMIT));
            while remaining > 0 {
                let n = self.poll(index);
                remaining = if n == 0 { 0 } else { remaining.saturating_sub(n) };
                // Rings have room again.
                self.take_back();
            }
            self.parts.ports[index].end(DropReason::PORT_DOWN, &self.parts.ledger);
            self.parts.ports.remove(index);
            self.drains.iter_mut().for_each(|drain| _ = drain.remaining.remove(index));
        }
        self.port_index = port_index(&self.parts.ports);
    }

    /// From now on the bucket's packets are held, until the old worker is done with all of them, those too that wait for a rate there.
    fn begin_move(&mut self, Move { bucket, to }: Move, done: &Sender<()>) {
        let bucket = usize::from(bucket);
        if bucket >= self.owner.len() || self.owner[bucket] == to || self.moves[bucket] != STAYS {
            return;
        }
        self.moves[bucket] = self.moving.len() as u16;
        self.moving.push(Moving { bucket, to, held: Vec::new(), _done: done.clone() });
    }

    /// Gives each bucket that moves to its new worker, if the old one is done with it.
    fn finish_moves(&mut self) {
        if self.moving.is_empty() {
            return;
        }
        let ready = |m: &Moving| {
            let link = self.links.get(usize::from(self.owner[m.bucket])).and_then(Option::as_ref);
            link.is_none_or(|link| link.has_left(m.bucket, self.last[m.bucket]))
        };
        let (ready, not_yet): (Vec<Moving>, Vec<Moving>) = std::mem::take(&mut self.moving).into_iter().partition(ready);
        for (i, moving) in not_yet.iter().enumerate() {
            self.moves[moving.bucket] = i as u16;
        }
        self.moving = not_yet;
        if ready.is_empty() {
            return;
        }
        // What the old workers have sent by us leaves before anything that the new ones will send.
        self.take_back();
        for moved in ready {
            self.moves[moved.bucket] = STAYS;
            self.owner[moved.bucket] = moved.to;
            self.last[moved.bucket] = 0;
            self.parts.table.set_owner(moved.bucket, moved.to);
            self.held -= moved.held.len();
            self.parts.held.fetch_add(moved.held.len() as u64, Relaxed);
            match self.links.get_mut(usize::from(moved.to)).and_then(Option::as_mut) {
                Some(link) if !moved.held.is_empty() => {
                    link.given += moved.held.len() as u64;
                    self.last[moved.bucket] = link.given;
                    link.pending.extend(moved.held);
                }
                Some(_) => {}
                None => moved.held.into_iter().for_each(|packet| self.drop(packet, DropReason::TARGET_FAILED)),
            }
        }
    }

    /// Whether all that was received is out; lets the workers go once they have all that is theirs.
    fn may_end(&mut self) -> bool {
        if !self.moving.is_empty() {
            return false;
        }
        for link in self.links.iter_mut().flatten().filter(|link| link.pending.is_empty()) {
            link.ring.packets = None;
        }
        self.links.iter().flatten().all(|link| link.ring.back.is_abandoned() && link.ring.back.is_empty())
    }

    fn end(mut self) {
        self.tell_owed();
        self.note_devices();
        let mut ports = std::mem::take(&mut self.parts.ports);
        ports.iter_mut().for_each(|port| port.drop_own(DropReason::STOPPING, &self.parts.ledger));
        for device in ports.iter_mut().filter_map(|p| p.device.as_mut()) {
            let _ = device.flush();
        }
        close(ports);
    }

    fn note_devices(&mut self) {
        self.parts.ports.iter_mut().for_each(EnginePort::note_device_drops);
    }

    fn tell_owed(&mut self) {
        while let Some(event) = self.owed.pop_front() {
            if let Err(TrySendError::Full(event)) = self.parts.events.try_send(event) {
                return self.owed.push_front(event);
            }
        }
    }
}

fn transmit_all(parts: &mut MasterParts, owed: &mut VecDeque<Event>) {
    for port in parts.ports.iter_mut().filter(|port| port.queued > 0) {
        port.transmit(&parts.ledger, owed);
    }
}
