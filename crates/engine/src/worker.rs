//! The packet path: one worker's loop, top to bottom.

use crate::buffer::{Buffers, Pushed};
use crate::control::{BufferFate, Command, Event, WorkerPorts};
use crate::ledger::WorkerLedger;
use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError};
use pktio::Port;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use target::{BURST, Extra, Lane};

/// Empty polls before the worker starts to sleep between polls.
const SPINS: u32 = 512;
/// How long an idle worker sleeps at most: packets wake it where its ports can be waited for, commands do not.
const NAP: Duration = Duration::from_millis(1);
/// The same where a port cannot be waited for.
const SHORT_NAP: Duration = Duration::from_micros(50);
/// Attempts at a full transmit queue before a packet is dropped, a yield apart.
const TX_ATTEMPTS: u32 = 2000;
/// Rounds of polls between two looks at what devices have lost, when there is always something to do.
const BUSY_ROUNDS: u32 = 1 << 14;
/// Mark in the port index: no such port.
const NO_PORT: u16 = u16::MAX;

pub(crate) struct Worker {
    lane: Box<dyn Lane>,
    ports: Vec<WorkerPort>,
    port_index: Vec<u16>,
    packets: Vec<Packet>,
    verdicts: Vec<Verdict>,
    /// Packets that the last burst made beside those that came in.
    extra: Vec<Extra>,
    buffers: Buffers,
    commands: Receiver<Command>,
    events: Sender<Event>,
    /// What the control plane must hear of, while its queue is full of punts: at most one for a buffered packet or a port.
    owed: VecDeque<Event>,
    ledger: Arc<WorkerLedger>,
    epoch: Instant,
}

/// A port and what waits to leave by it: `queue[..queued]`.
struct WorkerPort {
    id: PortId,
    port: Box<dyn Port>,
    max_frame: usize,
    queue: Vec<Packet>,
    queued: usize,
    alive: bool,
}

impl Worker {
    pub(crate) fn new(
        lane: Box<dyn Lane>,
        ports: WorkerPorts,
        buffers: Buffers,
        commands: Receiver<Command>,
        events: Sender<Event>,
        ledger: Arc<WorkerLedger>,
        epoch: Instant,
    ) -> Worker {
        let burst = || (0..BURST).map(|_| Packet::empty(0)).collect::<Vec<_>>();
        let mut port_index = vec![NO_PORT; 512];
        let ports: Vec<WorkerPort> = ports
            .into_iter()
            .enumerate()
            .map(|(i, (id, port))| {
                if port_index[id.0 as usize] == NO_PORT {
                    port_index[id.0 as usize] = i as u16;
                }
                WorkerPort { id, max_frame: port.max_frame(), port, queue: burst(), queued: 0, alive: true }
            })
            .collect();
        Worker {
            lane,
            ports,
            port_index,
            packets: burst(),
            verdicts: vec![Verdict::default(); BURST],
            extra: Vec::new(),
            buffers,
            commands,
            events,
            owed: VecDeque::new(),
            ledger,
            epoch,
        }
    }

    /// Until told to stop: commands, then a burst from each port; asleep when there is nothing to do.
    pub(crate) fn run(mut self) {
        let (mut idle, mut rounds) = (0, 0u32);
        loop {
            self.tell_owed();
            while let Ok(command) = self.commands.try_recv() {
                if self.obey(command) {
                    return self.stop();
                }
                idle = 0;
            }
            let mut received = 0;
            for port in 0..self.ports.len() {
                received += self.poll(port);
            }
            idle = if received == 0 { idle + 1 } else { 0 };
            rounds = rounds.wrapping_add(1);
            if rounds.is_multiple_of(BUSY_ROUNDS) {
                self.note_device_drops();
            }
            if idle > SPINS {
                self.note_device_drops();
                if self.sleep() {
                    return self.stop();
                }
            }
        }
    }

    /// Waits for packets, or, where a port cannot be waited for, a moment for a command; true to stop.
    fn sleep(&mut self) -> bool {
        let fds: Option<Vec<_>> = self.ports.iter().filter(|p| p.alive).map(|p| p.port.fd()).collect();
        match fds {
            Some(fds) if !fds.is_empty() => {
                if pktio::wait(&fds, NAP).is_err() {
                    std::thread::sleep(SHORT_NAP);
                }
                false
            }
            _ => match self.commands.recv_timeout(SHORT_NAP) {
                Ok(command) => self.obey(command),
                Err(error) => error == RecvTimeoutError::Disconnected,
            },
        }
    }

    /// One burst from one port, all the way.
    fn poll(&mut self, port: usize) -> usize {
        let n = self.receive(port);
        if n > 0 {
            self.process(n);
            self.dispatch(n);
            self.transmit_all();
        }
        n
    }

    fn receive(&mut self, index: usize) -> usize {
        let port = &mut self.ports[index];
        if !port.alive {
            return 0;
        }
        let n = match port.port.receive(&mut self.packets) {
            Ok(n) => n,
            Err(e) => {
                // A port that fails stays down; the control plane is told once, the others go on.
                port.alive = false;
                tracing::error!(port = port.port.name(), "receive failed, port is down: {e}");
                self.owed.push_back(Event::PortDown { port: port.id, why: e.to_string() });
                0
            }
        };
        for packet in &mut self.packets[..n] {
            packet.port = port.id;
            self.ledger.ports[index].1.received.add(packet.len());
        }
        n
    }

    fn process(&mut self, n: usize) {
        let now_ns = self.epoch.elapsed().as_nanos() as u64;
        self.lane.process(&mut self.packets[..n], &mut self.verdicts[..n], now_ns);
        self.lane.take_extra(&mut self.extra);
    }

    /// Sends every packet where its verdict says; then those that the burst made beside them.
    fn dispatch(&mut self, n: usize) {
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
            VerdictKind::Forward => self.forward(i, PortId(verdict.port)),
            VerdictKind::Buffer => self.buffer(i, verdict.mark),
            VerdictKind::Punt => self.punt(i, verdict),
            VerdictKind::Drop => self.ledger.count_drop(DropReason(verdict.reason), self.packets[i].len()),
            // The last target of a chain holds everything; if it says "next" there is nobody left.
            VerdictKind::Next => self.ledger.count_drop(DropReason::TARGET_FAILED, self.packets[i].len()),
        }
    }

    #[cold]
    fn dispatch_extra(&mut self) {
        for Extra { packet, verdict } in std::mem::take(&mut self.extra) {
            self.ledger.copied.add(packet.len());
            (self.packets[0], self.verdicts[0]) = (packet, verdict);
            self.send(0);
        }
    }

    fn forward(&mut self, i: usize, id: PortId) {
        let index = self.port_index.get(id.0 as usize).copied().unwrap_or(NO_PORT);
        if index == NO_PORT {
            return self.ledger.count_drop(DropReason::NO_PORT, self.packets[i].len());
        }
        let port = &mut self.ports[index as usize];
        if self.packets[i].len() > port.max_frame {
            return self.ledger.count_drop(DropReason::TX_TOO_LONG, self.packets[i].len());
        }
        // Buffers are exchanged, not copied.
        std::mem::swap(&mut self.packets[i], &mut port.queue[port.queued]);
        port.queued += 1;
        if port.queued == BURST {
            self.transmit(index as usize);
        }
    }

    fn buffer(&mut self, i: usize, pdr: u32) {
        let packet = std::mem::replace(&mut self.packets[i], Packet::empty(0));
        let len = packet.len();
        match self.buffers.push(pdr, packet) {
            Pushed::Full(packet) => {
                self.packets[i] = packet;
                self.ledger.count_drop(DropReason::BUFFER_FULL, len);
            }
            Pushed::Told => {
                self.ledger.buffered.add(len);
                // Must not be lost: a UE would never be paged. Nor waited for: the control plane may wait for us.
                self.owed.push_back(Event::Buffering { pdr });
                self.tell_owed();
            }
            Pushed::Kept => self.ledger.buffered.add(len),
        }
    }

    fn punt(&mut self, i: usize, verdict: Verdict) {
        let packet = std::mem::replace(&mut self.packets[i], Packet::empty(0));
        let len = packet.len();
        match self.events.try_send(Event::Punt { packet, reason: verdict.reason, mark: verdict.mark }) {
            Ok(()) => self.ledger.punted[verdict.reason as usize].add(len),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => self.ledger.count_drop(DropReason::PUNT_FULL, len),
        }
    }

    /// Tells what is owed, as far as there is room.
    fn tell_owed(&mut self) {
        while let Some(event) = self.owed.pop_front() {
            if let Err(TrySendError::Full(event)) = self.events.try_send(event) {
                return self.owed.push_front(event);
            }
        }
    }

    fn transmit_all(&mut self) {
        for index in 0..self.ports.len() {
            if self.ports[index].queued > 0 {
                self.transmit(index);
            }
        }
    }

    /// Empties a port's queue: into the device, or, if the device stays full, into the drop count.
    fn transmit(&mut self, index: usize) {
        let port = &mut self.ports[index];
        let cells = &self.ledger.ports[index].1;
        let mut sent = 0;
        let mut attempts = 0;
        while sent < port.queued && port.alive {
            match port.port.transmit(&port.queue[sent..port.queued]).and_then(|n| port.port.flush().map(|()| n)) {
                Ok(0) => {
                    attempts += 1;
                    if attempts == TX_ATTEMPTS {
                        break;
                    }
                    std::thread::yield_now();
                }
                Ok(n) => {
                    for packet in &port.queue[sent..sent + n] {
                        cells.transmitted.add(packet.len());
                    }
                    sent += n;
                    attempts = 0;
                }
                Err(e) => {
                    port.alive = false;
                    tracing::error!(port = port.port.name(), "transmit failed, port is down: {e}");
                    self.owed.push_back(Event::PortDown { port: port.id, why: e.to_string() });
                }
            }
        }
        for packet in &port.queue[sent..port.queued] {
            self.ledger.count_drop(DropReason::TX_FULL, packet.len());
        }
        port.queued = 0;
    }

    /// Does what the control plane asked; true to stop.
    fn obey(&mut self, command: Command) -> bool {
        match command {
            Command::Inject(packets) => {
                for packet in &packets {
                    self.ledger.injected.add(packet.len());
                }
                self.run_through(packets);
            }
            Command::Transmit { port, packet } => {
                self.ledger.injected.add(packet.len());
                self.packets[0] = packet;
                self.forward(0, port);
                self.transmit_all();
            }
            Command::Hold { arrived, resume } => {
                let _ = arrived.send(());
                // A sender that vanished means that the change did not happen.
                for (pdr, fate) in resume.recv().unwrap_or_default() {
                    self.settle(pdr, fate);
                }
            }
            Command::Stop => return true,
        }
        false
    }

    /// Ends the wait of a PDR's packets. They run through the program again, in order, before anything else is received.
    fn settle(&mut self, pdr: u32, fate: BufferFate) {
        let row = self.buffers.take(pdr);
        for packet in &row {
            self.ledger.released.add(packet.len());
            if fate == BufferFate::Discard {
                self.ledger.count_drop(DropReason::BUFFER_DISCARDED, packet.len());
            }
        }
        if fate == BufferFate::Release {
            self.run_through(row);
        }
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

    fn note_device_drops(&mut self) {
        for (index, port) in self.ports.iter_mut().enumerate() {
            let drops = port.port.device_drops();
            let cells = &self.ledger.ports[index].1;
            cells.rx_full.store(drops.rx_full, Relaxed);
            cells.rx_invalid.store(drops.rx_invalid, Relaxed);
            cells.tx_invalid.store(drops.tx_invalid, Relaxed);
        }
    }

    /// What still waits is dropped and counted; what was sent is given to the device.
    fn stop(mut self) {
        let waiting: Vec<Packet> = self.buffers.take_all().collect();
        for packet in waiting {
            self.ledger.released.add(packet.len());
            self.ledger.count_drop(DropReason::STOPPING, packet.len());
        }
        self.transmit_all();
        for port in &mut self.ports {
            let _ = port.port.flush();
        }
        self.note_device_drops();
    }
}
