//! A port and its transmit queue, as a worker or the master holds it.

use crate::ledger::{PortCells, WorkerLedger};
use crate::message::Event;
use crate::queues::PortQueues;
use base::{DropReason, Packet, PortId, Verdict};
use pktio::{DeviceDrops, Port, PortError};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use target_api::BURST;

/// Attempts at a device that takes nothing before packets are dropped, a yield apart.
pub(crate) const TX_ATTEMPTS: u32 = 2000;
/// And how long they may take: on a busy machine every yield may cost a time slice, and all of them seconds.
const TX_PATIENCE: Duration = Duration::from_millis(500);
/// Delay from a device's failure to the first attempt to reopen it, doubled for each further attempt, and its maximum.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LAST: Duration = Duration::from_secs(5);
/// Frames of the control plane's (answers to ARP, neighbour discovery, echo; end markers) that may wait for a device that takes nothing, while users'
/// packets are dropped: as many as it answers in some milliseconds.
const OWN_MAX: usize = 64;
/// Mark in the port index: no such port.
pub(crate) const NO_PORT: u16 = u16::MAX;

/// The ports that one worker, or the master, polls. Several may have one number: the queues of one interface; the first of them
/// sends.
pub type WorkerPorts = Vec<(PortId, Box<dyn Port>)>;

/// A port and its transmit queue, `queue[..queued]`.
pub(crate) struct EnginePort {
    pub(crate) id: PortId,
    /// The device; none: packets leave by the master's.
    pub(crate) device: Option<Box<dyn Port>>,
    pub(crate) max_frame: usize,
    pub(crate) queue: Vec<Packet>,
    pub(crate) queued: usize,
    /// Where packets wait for the port's rate, if it has one.
    pub(crate) queues: Option<PortQueues>,
    /// Frames of the control plane's that the device has not taken: the next that it takes.
    own: VecDeque<Packet>,
    pub(crate) alive: bool,
    /// Whether it is received from. A port that was just added is not yet.
    pub(crate) listens: bool,
    /// Where it counts.
    pub(crate) cells: Arc<PortCells>,
    /// When a failed device is reopened next, and the last delay.
    retry: Option<(Instant, Duration)>,
    /// What devices before this one have lost.
    lost: DeviceDrops,
    /// Bursts in a row that the device has not taken. Each halves the attempts at the next: a device that is stuck holds up the
    /// thread's other ports, and who waits for its commands, for no longer than twice the first wait in all.
    refusals: u32,
}

/// How often, and how long, a device that takes nothing is asked again.
pub(crate) struct Patience {
    attempts: u32,
    /// From the first time.
    until: Option<Instant>,
}

impl Patience {
    pub(crate) fn new(attempts: u32) -> Patience {
        Patience { attempts, until: None }
    }

    /// Whether to ask once more.
    pub(crate) fn lasts(&mut self) -> bool {
        self.attempts = self.attempts.saturating_sub(1);
        let now = Instant::now();
        self.attempts > 0 && now < *self.until.get_or_insert(now + TX_PATIENCE)
    }
}

impl EnginePort {
    pub(crate) fn new(id: PortId, device: Option<Box<dyn Port>>, max_frame: usize, cells: Arc<PortCells>) -> EnginePort {
        EnginePort {
            id,
            device,
            max_frame,
            queue: burst(),
            queued: 0,
            queues: None,
            own: VecDeque::new(),
            alive: true,
            listens: true,
            retry: None,
            lost: cells.lost(),
            cells,
            refusals: 0,
        }
    }

    /// On this device, counting in `ledger`.
    pub(crate) fn open(id: PortId, device: Box<dyn Port>, ledger: &WorkerLedger) -> EnginePort {
        let max_frame = device.max_frame();
        EnginePort::new(id, Some(device), max_frame, ledger.cells(id))
    }

    /// Not received from yet.
    pub(crate) fn deaf(self) -> EnginePort {
        EnginePort { listens: false, ..self }
    }

    /// A handle to send by, without a device where only the holder of this can send; it counts in `ledger`.
    pub(crate) fn transmitter(&self, ledger: &WorkerLedger) -> Result<EnginePort, PortError> {
        let device = self.device.as_ref().map_or(Ok(None), |device| device.transmitter())?;
        Ok(EnginePort::new(self.id, device, self.max_frame, ledger.cells(self.id)))
    }

    /// The device has failed: reports it to the control plane, and tries to reopen it at growing intervals.
    #[cold]
    fn fail(&mut self, what: &str, error: &PortError, owed: &mut VecDeque<Event>) {
        tracing::error!(port = self.device.as_ref().map_or("?", |device| device.name()), "{what} failed, port is down: {error}");
        self.alive = false;
        self.retry = Some((Instant::now() + RETRY_FIRST, RETRY_FIRST));
        owed.push_back(Event::PortDown { port: self.id, why: error.to_string() });
    }

    /// Reopens a failed device, if it is due and possible.
    #[cold]
    fn revive(&mut self, owed: &mut VecDeque<Event>) {
        let Some((_, waited)) = self.retry.filter(|(at, _)| Instant::now() >= *at) else { return };
        let Some(device) = &mut self.device else { return };
        match device.reopen() {
            None => {
                tracing::error!(port = device.name(), "cannot be reopened: restart when its interface exists again");
                self.retry = None;
            }
            Some(Err(error)) => {
                let wait = (2 * waited).min(RETRY_LAST);
                tracing::debug!(port = device.name(), "not reopened, next attempt in {wait:?}: {error}");
                self.retry = Some((Instant::now() + wait, wait));
            }
            Some(Ok(anew)) => {
                let lost = device.device_drops();
                self.lost.rx_full += lost.rx_full;
                self.lost.rx_invalid += lost.rx_invalid;
                self.lost.tx_invalid += lost.tx_invalid;
                tracing::info!(port = anew.name(), "reopened: port is up again");
                self.max_frame = anew.max_frame();
                (self.device, self.alive, self.retry, self.refusals) = (Some(anew), true, None, 0);
                owed.push_back(Event::PortUp { port: self.id });
            }
        }
    }

    /// A burst from the device, counted. Failure and recovery of the device are reported to the control plane.
    pub(crate) fn receive(&mut self, packets: &mut [Packet], owed: &mut VecDeque<Event>) -> usize {
        if !self.alive {
            self.revive(owed);
        }
        if !self.own.is_empty() {
            self.send_own(owed);
        }
        let Some(device) = self.device.as_mut().filter(|_| self.alive && self.listens) else { return 0 };
        let n = match device.receive(packets) {
            Ok(n) => n,
            Err(e) => {
                self.fail("receive", &e, owed);
                return 0;
            }
        };
        let mut bytes = 0;
        for packet in &mut packets[..n] {
            packet.port = self.id;
            bytes += packet.len();
        }
        if n > 0 {
            self.cells.received.add(n, bytes);
        }
        n
    }

    /// Takes a packet into the queue, leaving a spent buffer in its place; false if the port does not take such a frame, whose
    /// drop is then counted. A full queue must be transmitted before the next. Where the port has a rate, packets wait in one of its queues: that of the verdict, or
    /// by their class.
    pub(crate) fn enqueue(&mut self, packet: &mut Packet, verdict: Verdict, ledger: &WorkerLedger) -> bool {
        if packet.len() > self.max_frame {
            ledger.count_unsent(&self.cells, DropReason::TX_TOO_LONG, packet.len());
            return false;
        }
        if let Some(queues) = &mut self.queues {
            if let Err(reason) = queues.enqueue(packet, verdict, now_ns()) {
                ledger.count_unsent(&self.cells, reason, packet.len());
                return false;
            }
            return true;
        }
        // Buffers are exchanged, not copied.
        std::mem::swap(packet, &mut self.queue[self.queued]);
        self.queued += 1;
        true
    }

    /// Sends a frame of the control plane's, behind what is queued: now, or, if the device is full, before anything else that comes.
    pub(crate) fn transmit_own(&mut self, packet: Packet, ledger: &WorkerLedger, owed: &mut VecDeque<Event>) {
        if self.queued > 0 {
            self.transmit(ledger, owed);
        }
        if !self.alive {
            self.revive(owed);
        }
        if packet.len() > self.max_frame {
            return ledger.count_unsent(&self.cells, DropReason::TX_TOO_LONG, packet.len());
        }
        if !self.alive {
            return ledger.count_unsent(&self.cells, DropReason::PORT_DOWN, packet.len());
        }
        self.send_own(owed);
        if self.own.len() == OWN_MAX {
            return ledger.count_unsent(&self.cells, DropReason::TX_FULL, packet.len());
        }
        self.own.push_back(packet);
        self.send_own(owed);
    }

    /// Gives the device what waits of the control plane's, as far as it takes it.
    fn send_own(&mut self, owed: &mut VecDeque<Event>) {
        while let (Some(device), Some(packet)) = (self.device.as_mut().filter(|_| self.alive), self.own.front()) {
            match device.transmit(std::slice::from_ref(packet)).and_then(|n| device.flush().map(|()| n)) {
                Ok(0) => return,
                Ok(_) => {
                    self.cells.transmitted.add(1, packet.len());
                    self.own.pop_front();
                }
                Err(e) => self.fail("transmit", &e, owed),
            }
        }
    }

    /// Drops what still waits of the control plane's.
    pub(crate) fn drop_own(&mut self, reason: DropReason, ledger: &WorkerLedger) {
        let cells = &self.cells;
        self.own.drain(..).for_each(|packet| ledger.count_unsent(cells, reason, packet.len()));
    }

    /// Whether there is something to transmit, now or when the port's rate lets it, or to charge.
    pub(crate) fn has_any(&self) -> bool {
        self.queued > 0 || self.queues.as_ref().is_some_and(|queues| queues.len() > 0 || !queues.charges.is_empty())
    }

    /// Sends what is to leave now: all that is queued, and of what waits for the port's rate what that lets pass.
    pub(crate) fn transmit(&mut self, ledger: &WorkerLedger, owed: &mut VecDeque<Event>) {
        loop {
            if let Some(queues) = &mut self.queues {
                let dropped = |reason, bytes| ledger.count_unsent(&self.cells, reason, bytes);
                self.queued = queues.dequeue(&mut self.queue, self.queued, now_ns(), dropped);
                self.cells.waiting.store(queues.len() as u64, Relaxed);
            }
            let full = self.queued == BURST && self.queues.is_some();
            self.transmit_queued(ledger, owed);
            if !full {
                return;
            }
        }
    }

    /// Drops what waits for the port's rate.
    pub(crate) fn end_queues(&mut self, reason: DropReason, ledger: &WorkerLedger) {
        if let Some(queues) = &mut self.queues {
            queues.end(|bytes| ledger.count_unsent(&self.cells, reason, bytes));
            self.cells.waiting.store(0, Relaxed);
        }
    }

    /// The device goes: what waits is dropped, and what it has taken leaves, if it lets it.
    pub(crate) fn end(&mut self, reason: DropReason, ledger: &WorkerLedger) {
        self.end_queues(reason, ledger);
        self.drop_queued(0, reason, ledger);
        self.drop_own(reason, ledger);
        let mut patience = Patience::new(TX_ATTEMPTS);
        while self.alive && self.send_rest() > 0 && patience.lasts() {
            std::thread::yield_now();
        }
        self.note_device_drops();
    }

    /// Empties the queue: into the device, or, if the device stays full, into the drop count.
    fn transmit_queued(&mut self, ledger: &WorkerLedger, owed: &mut VecDeque<Event>) {
        if !self.alive {
            self.revive(owed);
        }
        if !self.own.is_empty() {
            self.send_own(owed);
        }
        let attempts = TX_ATTEMPTS >> self.refusals.min(u32::BITS - 1);
        let (mut sent, mut patience) = (0, Patience::new(attempts));
        while let Some(device) = self.device.as_mut().filter(|_| self.alive && sent < self.queued) {
            match device.transmit(&self.queue[sent..self.queued]).and_then(|n| device.flush().map(|()| n)) {
                Ok(0) => {
                    if !patience.lasts() {
                        break;
                    }
                    std::thread::yield_now();
                }
                Ok(n) => {
                    self.cells.transmitted.add(n, self.queue[sent..sent + n].iter().map(Packet::len).sum());
                    sent += n;
                    patience = Patience::new(attempts);
                }
                Err(e) => self.fail("transmit", &e, owed),
            }
        }
        self.refusals = if sent < self.queued && self.alive { self.refusals.saturating_add(1) } else { 0 };
        self.drop_queued(sent, if self.alive { DropReason::TX_FULL } else { DropReason::PORT_DOWN }, ledger);
    }

    /// Asks the device to take what it has not taken yet; how many packets still wait. A device that fails takes no more, and says so
    /// when it is used next.
    pub(crate) fn send_rest(&mut self) -> usize {
        self.device.as_mut().map_or(0, |device| device.flush().map_or(0, |()| device.unsent()))
    }

    /// Drops what is queued from `first` on.
    pub(crate) fn drop_queued(&mut self, first: usize, reason: DropReason, ledger: &WorkerLedger) {
        self.queue[first..self.queued].iter().for_each(|packet| ledger.count_unsent(&self.cells, reason, packet.len()));
        self.queued = 0;
    }

    pub(crate) fn note_device_drops(&mut self) {
        let Some(device) = &mut self.device else { return };
        let drops = device.device_drops();
        self.cells.rx_full.store(self.lost.rx_full + drops.rx_full, Relaxed);
        self.cells.rx_invalid.store(self.lost.rx_invalid + drops.rx_invalid, Relaxed);
        self.cells.tx_invalid.store(self.lost.tx_invalid + drops.tx_invalid, Relaxed);
    }
}

/// Closes devices side by side: the kernel waits for all cores before an AF_XDP socket is gone, and for many sockets one after the other that takes
/// seconds in which no packet passes. On return all are closed.
pub(crate) fn close(ports: impl IntoIterator<Item = EnginePort>) {
    std::thread::scope(|scope| {
        for device in ports.into_iter().filter_map(|port| port.device) {
            // Without a thread it is closed here.
            let _ = std::thread::Builder::new().name("close".into()).spawn_scoped(scope, move || drop(device));
        }
    });
}

/// Empty packets for a burst.
pub(crate) fn burst() -> Vec<Packet> {
    (0..BURST).map(|_| Packet::empty(0)).collect()
}

/// Port number to position: the first port of a number sends.
pub(crate) fn port_index(ports: &[EnginePort]) -> Vec<u16> {
    let mut index = vec![NO_PORT; 512];
    for (i, port) in ports.iter().enumerate().rev() {
        index[usize::from(port.id.0)] = i as u16;
    }
    index
}

/// The kernel's clock since it started, which a target in its hooks reads too: packets of one rate may run here and there.
pub(crate) fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    /// Takes as many packets as `room` says, and counts how often it was asked.
    #[derive(Default, Clone)]
    struct Narrow {
        room: Arc<AtomicUsize>,
        asked: Arc<AtomicUsize>,
    }

    impl Port for Narrow {
        fn name(&self) -> &str {
            "narrow"
        }
        fn receive(&mut self, _: &mut [Packet]) -> Result<usize, PortError> {
            Ok(0)
        }
        fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
            self.asked.fetch_add(1, Relaxed);
            let taken = packets.len().min(self.room.load(Relaxed));
            self.room.fetch_sub(taken, Relaxed);
            Ok(taken)
        }
        fn flush(&mut self) -> Result<(), PortError> {
            Ok(())
        }
        fn max_frame(&self) -> usize {
            1514
        }
        fn device_drops(&mut self) -> DeviceDrops {
            DeviceDrops::default()
        }
    }

    #[test]
    fn answers_of_ours_wait_for_a_full_device_that_users_packets_are_dropped_at_and_leave_first() {
        let device = Narrow::default();
        let ledger = WorkerLedger::new();
        let mut port = EnginePort::open(PortId(1), Box::new(device.clone()), &ledger);
        let cells = port.cells.clone();
        let mut owed = VecDeque::new();
        let dropped = |reason: DropReason| ledger.dropped[usize::from(reason.0)].read().packets as usize;
        let sent = || cells.transmitted.read().packets as usize;
        for _ in 0..OWN_MAX + 3 {
            port.transmit_own(Packet::new(&[2; 60], PortId(0)), &ledger, &mut owed);
        }
        port.transmit_own(Packet::new(&[2; 1515], PortId(0)), &ledger, &mut owed);
        assert_eq!((sent(), dropped(DropReason::TX_FULL), dropped(DropReason::TX_TOO_LONG)), (0, 3, 1));
        assert!(port.enqueue(&mut Packet::new(&[1; 60], PortId(0)), Verdict::default(), &ledger));
        port.transmit(&ledger, &mut owed);
        assert_eq!((sent(), dropped(DropReason::TX_FULL)), (0, 4), "the user's is dropped");
        // Room for some: ours are first, whether anything is sent or only received.
        device.room.store(10, Relaxed);
        port.receive(&mut [], &mut owed);
        assert_eq!((sent(), port.own.len()), (10, OWN_MAX - 10));
        device.room.store(OWN_MAX - 10 + 1, Relaxed);
        assert!(port.enqueue(&mut Packet::new(&[1; 60], PortId(0)), Verdict::default(), &ledger));
        port.transmit(&ledger, &mut owed);
        assert_eq!((sent(), port.own.len(), dropped(DropReason::TX_FULL)), (OWN_MAX + 1, 0, 4));
        port.transmit_own(Packet::new(&[2; 60], PortId(0)), &ledger, &mut owed);
        port.drop_own(DropReason::STOPPING, &ledger);
        assert_eq!((dropped(DropReason::STOPPING), port.own.len()), (1, 0));
    }

    /// A device whose end waits until so many others end too.
    struct Closing(Arc<std::sync::Barrier>);

    impl Drop for Closing {
        fn drop(&mut self) {
            self.0.wait();
        }
    }

    impl Port for Closing {
        fn name(&self) -> &str {
            "closing"
        }
        fn receive(&mut self, _: &mut [Packet]) -> Result<usize, PortError> {
            Ok(0)
        }
        fn transmit(&mut self, _: &[Packet]) -> Result<usize, PortError> {
            Ok(0)
        }
        fn flush(&mut self) -> Result<(), PortError> {
            Ok(())
        }
        fn max_frame(&self) -> usize {
            1514
        }
        fn device_drops(&mut self) -> DeviceDrops {
            DeviceDrops::default()
        }
    }

    #[test]
    fn devices_are_closed_side_by_side() {
        let (ledger, all) = (WorkerLedger::new(), Arc::new(std::sync::Barrier::new(8)));
        close((0..8).map(|n| EnginePort::open(PortId(n), Box::new(Closing(all.clone())), &ledger)));
    }

    #[test]
    fn a_stuck_device_is_waited_for_less_and_less_until_it_takes_again() {
        let device = Narrow::default();
        let ledger = WorkerLedger::new();
        let mut port = EnginePort::open(PortId(1), Box::new(device.clone()), &ledger);
        let mut owed = VecDeque::new();
        let mut burst_of = |room: usize| {
            device.room.store(room, Relaxed);
            for _ in 0..BURST {
                assert!(port.enqueue(&mut Packet::new(&[1; 60], PortId(0)), Verdict::default(), &ledger));
            }
            let before = device.asked.load(Relaxed);
            port.transmit(&ledger, &mut owed);
            device.asked.load(Relaxed) - before
        };
        let dropped = || ledger.dropped[usize::from(DropReason::TX_FULL.0)].read().packets as usize;

        assert_eq!((burst_of(BURST), dropped()), (1, 0));
        let asked: Vec<usize> = (0..40).map(|_| burst_of(0)).collect();
        assert!((2..=TX_ATTEMPTS as usize).contains(&asked[0]), "it is waited for at first: {asked:?}");
        assert!(asked.iter().enumerate().all(|(n, asked)| *asked <= (TX_ATTEMPTS as usize >> n).max(1)), "{asked:?}");
        assert_eq!(dropped(), 40 * BURST);
        // A partial burst is no sign of a backlog.
        assert_eq!((burst_of(7), dropped()), (2, 41 * BURST - 7));
        assert_eq!((burst_of(BURST), dropped()), (1, 41 * BURST - 7));
        assert!(burst_of(0) > 1, "it is waited for again");
        assert_eq!(port.cells.transmitted.read().packets as usize, 2 * BURST + 7);
    }
}
