//! The control plane's handle on running workers: start, release, inject, count, stop. How they become more or fewer is in
//! [`crate::scale`], and how their ports do in [`crate::ports`].

use crate::balance::BalanceSettings;
use crate::buffer::{self, Buffer, count_dropped};
use crate::command::Command;
use crate::ledger::{Ledger, WorkerLedger};
use crate::master::{Link, Master, MasterCommand, MasterParts, WhenFull, outputs};
use crate::message::{Aside, Drained, Event, Hold, LetGo};
use crate::port::{EnginePort, WorkerPorts, close};
use crate::queues::{Line, MarkSettings, QueueSettings};
use crate::ring::{SharedGauge, WorkerEnd, gauge, rings};
use crate::scale::{Balancer, MovedCells, PortTable, Steered, fixed, port_table};
use crate::shape::{ShapeSettings, Shaping, Shown};
use crate::steer::{BUCKETS, Move, SteerFn, SteerTable};
use crate::tap::{Looking, Tap, Wanted};
use crate::worker::{Parts, Worker, now_ns};
use base::{BufferFate, Packet, PortId};
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use service::SharedDeployment;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::fence;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::thread::JoinHandle;
use target_api::{Ahead, Target};

/// Commands that may wait for a worker or the master.
const COMMANDS: usize = 1024;
/// Slots, at most: each has counters of its own in the targets.
pub(crate) const MAX_WORKERS: usize = 64;

/// Choices of the operator.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where packets wait that the program buffers. None: they are dropped as `service_down`.
    pub buffer: Option<Arc<SharedDeployment>>,
    /// Packets that may wait for one worker in its ring, 64 to 65536.
    pub ring: usize,
    /// What happens to more of them.
    pub when_full: WhenFull,
    /// How the ports hash, where they steer. Without it their buckets stay as they are, and workers as many.
    pub port_hash: Option<SteerFn>,
    /// Whether and how buckets move and workers come and go by themselves.
    pub balance: Option<BalanceSettings>,
    /// Reasons of punts that links and paths live by. Users' packets that are punted leave an eighth of the channel of events to these.
    pub vital_punts: Vec<u8>,
    /// Reasons of punts of packets that are not sent on, and whose senders are told. They may fill a quarter of that channel; beyond, such a packet is dropped for
    /// its reason.
    pub told_punts: Vec<u8>,
    /// Packets over a rate wait instead of being dropped, if the program lets them.
    pub shape: Option<ShapeSettings>,
    /// Ports that have a rate, and queues in which packets wait for it.
    pub queues: Vec<QueueSettings>,
    /// What is known of packets that wait there.
    pub marks: Option<MarkSettings>,
    /// Cores to pin threads to, in turn: the master first, if there is one, then the workers by slot. Empty: as the system likes.
    pub cores: Vec<usize>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            buffer: None,
            ring: 1024,
            when_full: WhenFull::default(),
            port_hash: None,
            balance: None,
            vital_punts: Vec::new(),
            told_punts: Vec::new(),
            shape: None,
            queues: Vec::new(),
            marks: None,
            cores: Vec::new(),
        }
    }
}

/// Why the engine did not start or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Caller's fault.
    #[error("{0}")]
    Config(String),
    /// A worker thread has ended.
    #[error("worker {0} has stopped")]
    WorkerGone(usize),
    /// The engine was stopped.
    #[error("the engine has stopped")]
    Stopped,
    /// A port does not do what is asked of it.
    #[error(transparent)]
    Port(#[from] pktio::PortError),
}

/// A drain of the ports that has begun: see [`Engine::begin_drain`]. It ends by itself, also where workers do.
#[derive(Debug)]
pub struct Draining(Receiver<()>);

impl Draining {
    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.0.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// Waits for its end.
    pub fn wait(self) {
        while self.0.recv().is_ok() {}
    }
}

/// Running workers. Stopped by [`Engine::stop`] or on drop.
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
    pub(crate) balancer: Mutex<Option<Balancer>>,
}

/// What the engine and its balancer share.
pub(crate) struct Inner {
    target: Arc<dyn Target>,
    pub(crate) settings: Settings,
    events: Sender<Event>,
    pub(crate) ports: RwLock<Vec<PortId>>,
    /// Whose the buckets are; none: the ports' own business.
    pub(crate) table: Option<Arc<SteerTable>>,
    /// How flows are hashed, if there is a table.
    hash: Option<SteerFn>,
    /// The devices that steer by it; empty where the master does.
    pub(crate) steering: Mutex<Vec<Steered>>,
    pub(crate) moved: Arc<MovedCells>,
    /// All that ever counted.
    ledgers: RwLock<Vec<Arc<WorkerLedger>>>,
    tap: Arc<Tap>,
    /// Of ports that have a rate.
    pub(crate) lines: Mutex<BTreeMap<PortId, Line>>,
    /// What waited for rates, of each worker.
    shaped: Mutex<Vec<Arc<Shown>>>,
    /// Held by who moves buckets, starts and ends workers, while packets in flight are waited for. Taken before `control`.
    pub(crate) moves: Mutex<()>,
    /// Held for as long as it takes to say something, or while workers stand.
    control: Mutex<Control>,
}

/// One change at a time.
pub(crate) struct Control {
    pub(crate) slots: Vec<Slot>,
    pub(crate) master: Option<MasterHandle>,
    /// What the engine itself counts.
    own: Arc<WorkerLedger>,
    pub(crate) stopped: bool,
}

/// A worker's place: its number in target and table.
pub(crate) struct Slot {
    pub(crate) ledger: Arc<WorkerLedger>,
    pub(crate) running: Option<Running>,
    /// Where ports steer: the ports of the worker that is to run here.
    pub(crate) ports: Option<Vec<EnginePort>>,
    /// Those that packets arrive on and that cannot be steered: they keep the worker where it is.
    pub(crate) fixed: BTreeSet<PortId>,
}

pub(crate) struct Running {
    pub(crate) commands: Sender<Command>,
    pub(crate) gauge: SharedGauge,
    pub(crate) thread: JoinHandle<Vec<EnginePort>>,
}

pub(crate) struct MasterHandle {
    pub(crate) commands: Sender<MasterCommand>,
    pub(crate) ledger: Arc<WorkerLedger>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Starts one worker for each element of `workers`, which polls these ports: steering, if any, is done by the ports.
    /// Packets that are punted and buffers that fill go to `events`.
    pub fn start(
        target: &Arc<dyn Target>,
        workers: Vec<WorkerPorts>,
        settings: Settings,
        events: Sender<Event>,
    ) -> Result<Engine, EngineError> {
        let count = workers.len();
        Engine::start_some(target, workers, count, settings, events)
    }

    /// Like [`Engine::start`], with the first `count` workers only. The other elements are for workers to come, which needs
    /// ports that can be steered; start before the ports receive, or what is in the others' queues waits till then.
    pub fn start_some(
        target: &Arc<dyn Target>,
        workers: Vec<WorkerPorts>,
        count: usize,
        settings: Settings,
        events: Sender<Event>,
    ) -> Result<Engine, EngineError> {
        if count == 0 || count > workers.len() {
            return Err(EngineError::Config(format!("{count} workers on ports for {}", workers.len())));
        }
        let table = if settings.port_hash.is_some() { port_table(&workers, count)? } else { None };
        if count < workers.len() && (table.is_none() || workers[count..].iter().any(|ports| !fixed(ports).is_empty())) {
            return Err(EngineError::Config("workers cannot be added later, as not all their ports can be steered".into()));
        }
        let hash = settings.port_hash;
        let inner = Inner::new(target, workers.iter().flatten().map(|(id, _)| *id), table, hash, settings, events)?;
        let mut control = inner.lock();
        for ports in workers {
            let (ledger, fixed) = (inner.ledger(), fixed(&ports));
            let ports = ports.into_iter().map(|(id, device)| EnginePort::open(id, device, &ledger)).collect();
            control.slots.push(Slot { ledger, running: None, ports: Some(ports), fixed });
        }
        for slot in 0..count {
            inner.start_polling(&mut control, slot)?;
        }
        drop(control);
        Ok(Engine::with_balancer(inner))
    }

    /// Starts a master, which polls `ports`, and `workers` workers: the master gives each packet to the worker of its bucket by
    /// `hash`, which must be the same for all packets of a flow. A port whose [`Port::transmitter`] gives handles is sent by
    /// from the workers, others from the master.
    pub fn start_steered(
        target: &Arc<dyn Target>,
        ports: WorkerPorts,
        hash: SteerFn,
        workers: usize,
        settings: Settings,
        events: Sender<Event>,
    ) -> Result<Engine, EngineError> {
        if !(1..=MAX_WORKERS).contains(&workers) || !(64..=65536).contains(&settings.ring) {
            return Err(EngineError::Config(format!("{workers} workers with rings of {} packets", settings.ring)));
        }
        let slots: Vec<u16> = (0..workers as u16).collect();
        if !settings.queues.is_empty() {
            return Err(EngineError::Config("ports have no queues where one thread sends for all workers".into()));
        }
        let table = Arc::new(SteerTable::new(BUCKETS, &slots));
        let inner = Inner::new(target, ports.iter().map(|(id, _)| *id), Some((table.clone(), Vec::new())), Some(hash), settings, events)?;
        let mut control = inner.lock();
        let ledger = inner.ledger();
        let ports: Vec<EnginePort> = ports.into_iter().map(|(id, device)| EnginePort::open(id, device, &ledger)).collect();
        let mut links = Vec::new();
        for slot in 0..workers {
            let outputs = outputs(&ports, &inner.fed_slot(&mut control, slot))?;
            links.push(Some(inner.start_fed(&mut control, slot, outputs)?));
        }
        let (commands, receiver) = bounded(COMMANDS);
        let parts = MasterParts {
            ports,
            steer: hash,
            table,
            when_full: inner.settings.when_full,
            ring: inner.settings.ring,
            commands: receiver,
            events: inner.events.clone(),
            ledger: ledger.clone(),
            held: inner.moved.held.clone(),
        };
        let master = Master::new(parts, links);
        let thread = inner.spawn("master".into(), 0, move || master.run())?;
        control.master = Some(MasterHandle { commands, ledger, thread: Some(thread) });
        drop(control);
        Ok(Engine::with_balancer(inner))
    }

    fn with_balancer(inner: Arc<Inner>) -> Engine {
        let balancer = inner.settings.balance.filter(|_| inner.table.is_some()).map(|settings| Balancer::start(&inner, settings));
        Engine { inner, balancer: Mutex::new(balancer) }
    }

    /// Copies of the next packets that are wanted and whose verdict `which` holds for, so many at most. Who looked until now sees no more.
    pub fn look(&self, most: usize, which: fn(&base::Verdict) -> bool, wanted: Box<Wanted>) -> Looking {
        self.inner.tap.open(most, which, wanted)
    }

    /// Runs packets through the program as if they had come in by their `port`.
    pub fn inject(&self, packets: Vec<Packet>) -> Result<(), EngineError> {
        let control = self.inner.lock();
        if let Some(master) = &control.master {
            return master.commands.send(MasterCommand::Inject(packets)).map_err(|_| EngineError::Stopped);
        }
        // Each to where its flow's packets are.
        for packet in packets {
            let slot = self.inner.owner(&packet).map_or_else(|| control.first(), Ok)?;
            control.send(slot, Command::Inject(vec![packet]))?;
        }
        Ok(())
    }

    /// Sends a frame straight out of `port`.
    pub fn transmit(&self, port: PortId, packet: Packet) -> Result<(), EngineError> {
        let control = self.inner.lock();
        match &control.master {
            Some(master) => master.commands.send(MasterCommand::Transmit { port, packet }).map_err(|_| EngineError::Stopped),
            None => control.send(control.first()?, Command::Transmit { port, packet }),
        }
    }

    /// Makes a change that ends the buffering of these queues, and releases or discards what waits in them, so that no packet that comes after
    /// the change overtakes one that waited before it. If `change` fails, all packets stay buffered.
    ///
    /// Workers that packets of the queues have come to, and will come to, stand between two bursts meanwhile. The others go on; one that
    /// meets a packet for one of the queues waits with it until this is over.
    pub fn end_buffering<E>(
        &self,
        queues: &[(u32, BufferFate)],
        change: impl FnOnce() -> Result<(), E>,
    ) -> Result<Result<(), E>, EngineError> {
        // While buckets move, a flow's packets may be with two workers.
        let moving = self.inner.moves.try_lock();
        let control = self.inner.lock();
        // Without a buffer nothing waits.
        let Some(buffer) = &self.inner.settings.buffer else { return Ok(change()) };
        let releasing = buffer.close(queues.iter().map(|(queue, _)| *queue));
        let mut stand = control.running();
        let others = match (&moving, &self.inner.table) {
            (Ok(_), Some(_)) => {
                let mut owners = BTreeSet::new();
                for (queue, _) in queues {
                    buffer.look(*queue, |kept| _ = owners.insert(self.inner.owner(kept.packet()).unwrap_or(kept.tag() as usize)));
                }
                // One that has ended is stood in for by the first that runs.
                let there = owners.iter().all(|owner| stand.contains(owner));
                stand.extract_if(.., |slot| there && !owners.contains(slot)).collect()
            }
            // The steering, if any, does not say which worker gets a flow's next packet.
            _ => Vec::new(),
        };
        let mut standing = control.stand(stand)?;
        let result = change();
        if result.is_err() {
            return Ok(result);
        }
        for (queue, fate) in queues {
            match fate {
                BufferFate::Release => {
                    let packets = buffer.release(*queue).into_iter().map(|call| (call.tag as usize, call.packet));
                    self.inner.divide(&mut standing, packets, LetGo::Released);
                }
                BufferFate::Discard => buffer.discard(*queue).iter().for_each(|call| count_dropped(buffer, call, &control.own)),
            }
        }
        Self::let_go(&control, standing)?;
        // Their bursts that began before the change find that the queue is being released.
        control.pass(others)?;
        drop(releasing);
        Ok(result)
    }

    /// Makes a change while every worker stands between two bursts, and runs the packets that it gives through the program, in order and as if
    /// they had arrived on their `port`, before any continues. All earlier worker events are in the event channel when `change` is called. If it
    /// fails, no packet is run.
    pub fn release<E>(&self, change: impl FnOnce() -> Result<Vec<Packet>, E>) -> Result<Result<(), E>, EngineError> {
        let control = self.inner.lock();
        let mut standing = control.stand(control.running())?;
        let first = control.first()?;
        match change() {
            Ok(packets) => self.inner.divide(&mut standing, packets.into_iter().map(|packet| (first, packet)), LetGo::Injected),
            Err(error) => return Ok(Err(error)),
        }
        Self::let_go(&control, standing)?;
        Ok(Ok(()))
    }

    /// Reads counters while no worker has packets that the program has counted and that wait for a port's rate without having been taken off again. `read` may be
    /// called several times. A read between two bursts mostly succeeds without a pause of the workers; otherwise they stand for the last call.
    pub fn between_bursts<T>(&self, mut read: impl FnMut() -> T) -> T {
        const TRIES: u32 = 64;
        let control = self.inner.lock();
        for _ in 0..TRIES {
            if let Some(before) = control.bursts() {
                let value = read();
                fence(Acquire);
                if control.bursts() == Some(before) {
                    return value;
                }
            }
            std::hint::spin_loop();
        }
        // Workers that have ended count no more.
        let _standing = control.stand(control.running());
        read()
    }

    /// Lets workers run what they were given while they stood, and then go on.
    fn let_go(control: &Control, mut standing: Vec<Standing>) -> Result<(), EngineError> {
        let released = standing.iter().any(|s| !s.rows.is_empty());
        for worker in &mut standing {
            let _ = worker.release.send(std::mem::take(&mut worker.rows));
        }
        if released {
            // Each drops its sender when it has released what is its.
            standing.iter().for_each(|worker| while worker.arrivals.recv().is_ok() {});
            if let Some(master) = &control.master {
                // What it has of released packets leaves before what others send later.
                master.ask(MasterCommand::Flush)?;
            }
        }
        Ok(())
    }

    /// Waits until all packets that are in the ports' queues now have been through the program, and what became of them has left
    /// or waits in a buffer.
    pub fn drain(&self) -> Result<(), EngineError> {
        self.begin_drain()?.wait();
        Ok(())
    }

    /// Begins what [`Engine::drain`] waits for. Meanwhile the engine can be asked anything else.
    pub fn begin_drain(&self) -> Result<Draining, EngineError> {
        let control = self.inner.lock();
        if control.stopped {
            return Err(EngineError::Stopped);
        }
        match &control.master {
            Some(master) => master.begin(MasterCommand::Drain),
            None => control.begin_drain(control.running(), Drained::All),
        }
    }

    /// Drops packets that have waited in the buffer for too long: to be called some times a second.
    pub fn age_buffers(&self) {
        let control = self.inner.lock();
        let Some(buffer) = &self.inner.settings.buffer else { return };
        buffer.poll(now_ns()).iter().for_each(|call| count_dropped(buffer, call, &control.own));
    }

    /// Whether packets of a queue wait in the buffer.
    pub fn waits(&self, queue: u32) -> bool {
        self.inner.settings.buffer.as_ref().is_some_and(|buffer| buffer.waiting(queue) > 0)
    }

    /// Packets of a queue that wait in its buffer.
    pub fn waiting_in(&self, queue: u32) -> usize {
        self.inner.settings.buffer.as_ref().map_or(0, |buffer| buffer.waiting(queue))
    }

    /// The name of a thread that ended without being stopped: a bug, after which its packets are not processed. None while
    /// something else is being changed: ask again later.
    pub fn failed(&self) -> Option<String> {
        let control = match self.inner.control.try_lock() {
            Ok(control) => control,
            Err(TryLockError::Poisoned(control)) => control.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let master = control.master.as_ref().and_then(|master| master.thread.as_ref());
        if master.is_some_and(JoinHandle::is_finished) {
            return Some("master".into());
        }
        let ended = |slot: &Slot| slot.running.as_ref().is_some_and(|running| running.thread.is_finished());
        control.slots.iter().position(ended).map(|slot| format!("worker-{slot}"))
    }

    /// Counters of all workers now.
    pub fn ledger(&self) -> Ledger {
        let ledgers = self.inner.ledgers.read().unwrap_or_else(PoisonError::into_inner);
        Ledger::sum(ledgers.iter().map(Arc::as_ref))
    }

    /// Bytes of all packets that have entered so far, from wherever.
    pub fn entered_bytes(&self) -> u64 {
        let ledgers = self.inner.ledgers.read().unwrap_or_else(PoisonError::into_inner);
        ledgers.iter().map(|ledger| ledger.entered_bytes()).fold(0, u64::wrapping_add)
    }

    /// What waited for rates, of all workers past and present: as it was some milliseconds ago.
    pub fn shaped(&self) -> shaper::Counters {
        let mut sum = shaper::Counters::default();
        let shaped = self.inner.shaped.lock().unwrap_or_else(PoisonError::into_inner);
        shaped.iter().for_each(|of| sum += of.counters());
        sum
    }

    /// Packets that wait for the rate of that cell now, in all workers.
    pub fn waiting_for_rate(&self, cell: u32) -> u64 {
        let shaped = self.inner.shaped.lock().unwrap_or_else(PoisonError::into_inner);
        shaped.iter().map(|of| u64::from(of.waiting_in(cell))).sum()
    }

    /// What waited in the queues of ports that have a rate, of all workers past and present: as it was some milliseconds ago.
    pub fn queues(&self) -> BTreeMap<PortId, [shaper::Counters; shaper::QUEUES]> {
        let lines = self.inner.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(|(id, line)| (*id, line.counters())).collect()
    }

    /// The numbers of all ports.
    pub fn ports(&self) -> Vec<PortId> {
        self.inner.ports.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops all workers after their current burst, and after all that the master has received. What waits in buffers is dropped as
    /// `stopping`. The counts remain; calls that need a worker fail from now on. Stopping twice is no fault.
    pub fn stop(&self) {
        if let Some(balancer) = self.balancer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            balancer.stop();
        }
        let mut control = self.inner.lock();
        control.stopped = true;
        if let Some(master) = &control.master {
            let _ = master.commands.send(MasterCommand::Stop);
        }
        let workers: Vec<Running> = control.slots.iter_mut().filter_map(|slot| slot.running.take()).collect();
        for worker in &workers {
            let _ = worker.commands.send(Command::Stop);
        }
        close(workers.into_iter().filter_map(|worker| worker.thread.join().ok()).flatten());
        if let Some(thread) = control.master.take().and_then(|mut master| master.thread.take()) {
            let _ = thread.join();
        }
        if let Some(buffer) = &self.inner.settings.buffer {
            buffer.discard_all().iter().for_each(|call| count_dropped(buffer, call, &control.own));
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Inner {
    fn new(
        target: &Arc<dyn Target>,
        ports: impl Iterator<Item = PortId>,
        table: PortTable,
        hash: Option<SteerFn>,
        settings: Settings,
        events: Sender<Event>,
    ) -> Result<Arc<Inner>, EngineError> {
        let mut ports: Vec<PortId> = ports.collect();
        ports.sort();
        ports.dedup();
        if let Some(bad) = ports.iter().find(|id| id.0 > PortId::MAX) {
            return Err(EngineError::Config(format!("port number {bad} exceeds {}", PortId::MAX)));
        }
        if let Some(buffer) = &settings.buffer {
            buffer::check(buffer.interface()).map_err(|mismatch| EngineError::Config(mismatch.to_string()))?;
        }
        let (table, steering) = table.map_or((None, Vec::new()), |(table, steering)| (Some(table), steering));
        if let Some(queues) = settings.queues.iter().find(|queues| !ports.contains(&queues.port)) {
            return Err(EngineError::Config(format!("queues for port {}, which there is not", queues.port)));
        }
        let marks = settings.marks.as_ref().map(|of| of.marks.clone());
        let lines = settings.queues.iter().map(|queues| (queues.port, Line::new(queues.clone(), marks.clone()))).collect();
        let own = Arc::new(WorkerLedger::new());
        Ok(Arc::new(Inner {
            target: target.clone(),
            settings,
            events,
            ports: RwLock::new(ports),
            table,
            hash,
            steering: Mutex::new(steering),
            moved: Arc::default(),
            ledgers: RwLock::new(vec![own.clone()]),
            tap: Arc::default(),
            lines: Mutex::new(lines),
            shaped: Mutex::default(),
            moves: Mutex::default(),
            control: Mutex::new(Control { slots: Vec::new(), master: None, own, stopped: false }),
        }))
    }

    /// Divides packets, each with the worker that had it, among workers that stand: to where their flows' next packets will be, as their
    /// buckets may have moved since.
    fn divide(&self, standing: &mut [Standing], packets: impl IntoIterator<Item = (usize, Packet)>, why: LetGo) {
        let mut shares: Vec<VecDeque<Packet>> = standing.iter().map(|_| VecDeque::new()).collect();
        for (worker, packet) in packets {
            let slot = self.owner(&packet).unwrap_or(worker);
            // One that has ended is stood in for by the first that runs.
            let at = standing.iter().position(|s| s.slot == slot).unwrap_or(0);
            shares[at].push_back(packet);
        }
        for (worker, share) in standing.iter_mut().zip(shares).filter(|(_, share)| !share.is_empty()) {
            worker.rows.push((share, why));
        }
    }

    /// The slot that a packet as it was received belongs to, if packets are steered.
    fn owner(&self, packet: &Packet) -> Option<usize> {
        let (table, hash) = (self.table.as_ref()?, self.hash?);
        Some(table.owner(table.bucket(hash(packet.data(), packet.port))).into())
    }

    /// A thread that panicked while it held this had no change half made that another could not see.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Control> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new one, which counts from now on.
    fn ledger(&self) -> Arc<WorkerLedger> {
        let ledger = Arc::new(WorkerLedger::new());
        self.ledgers.write().unwrap_or_else(PoisonError::into_inner).push(ledger.clone());
        ledger
    }

    /// Starts the worker of a slot on the slot's ports, which keeps them if that fails.
    pub(crate) fn start_polling(&self, control: &mut Control, slot: usize) -> Result<(), EngineError> {
        let ports = control.slots[slot].ports.take().ok_or_else(|| EngineError::Config(format!("no ports for worker {slot}")))?;
        self.start_worker(control, slot, ports, None, gauge()).map_err(|(error, ports)| {
            control.slots[slot].ports = Some(ports);
            error
        })
    }

    /// The ledger of a slot, new or left, whose worker is to run on rings.
    pub(crate) fn fed_slot(&self, control: &mut Control, slot: usize) -> Arc<WorkerLedger> {
        if slot == control.slots.len() {
            control.slots.push(Slot { ledger: self.ledger(), running: None, ports: None, fixed: BTreeSet::new() });
        }
        control.slots[slot].ledger.clone()
    }

    /// Starts the worker of a slot ([`Inner::fed_slot`]) on rings; the master is to get the link.
    pub(crate) fn start_fed(&self, control: &mut Control, slot: usize, outputs: Vec<EnginePort>) -> Result<Link, EngineError> {
        let (master_end, worker_end) = rings(self.settings.ring);
        let gauge = gauge();
        self.start_worker(control, slot, outputs, Some(worker_end), gauge.clone()).map_err(|(error, _)| error)?;
        let running = control.slots[slot].running.as_ref().ok_or(EngineError::WorkerGone(slot))?;
        Ok(Link::new(master_end, gauge, running.commands.clone()))
    }

    /// Gives the ports back if that fails.
    fn start_worker(
        &self,
        control: &mut Control,
        slot: usize,
        mut ports: Vec<EnginePort>,
        feed: Option<WorkerEnd>,
        gauge: SharedGauge,
    ) -> Result<(), (EngineError, Vec<EnginePort>)> {
        let (commands, receiver) = bounded(COMMANDS);
        let steering = self.table.clone().zip(self.hash);
        let cores_before = usize::from(feed.is_some());
        let mut lane = self.target.lane(slot);
        let shaping = self.settings.shape.clone().and_then(|settings| {
            let shown: Arc<Shown> = Arc::default();
            self.shaped.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&shown));
            Shaping::new(settings, &mut *lane, shown)
        });
        let counter = self.settings.marks.as_ref().map(|marks| marks.counter);
        if counter.is_some_and(|counter| !lane.count(counter, &[])) {
            let what = format!("target {} cannot count what waits for a port's rate when it leaves", self.target.name());
            return Err((EngineError::Config(what), ports));
        }
        for (id, line) in self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // The first of a number sends.
            if let Some(port) = ports.iter_mut().find(|port| port.id == *id) {
                port.queues = Some(line.queues());
            }
        }
        let worker = Worker::new(Parts {
            lane,
            ports,
            feed,
            steering,
            buffer: self.settings.buffer.as_ref().map(|buffer| Buffer::new(buffer, slot)),
            commands: receiver,
            events: self.events.clone(),
            vital: self.settings.vital_punts.clone().into(),
            told: self.settings.told_punts.clone().into(),
            ledger: control.slots[slot].ledger.clone(),
            gauge: gauge.clone(),
            held: self.moved.held.clone(),
            in_flight: self.target.facets().ahead.map(Ahead::in_flight),
            shaping,
            counter,
            tap: self.tap.clone(),
        });
        // A thread that does not start must not take the ports with it.
        let (give, given) = bounded::<Worker>(1);
        let run = move || given.recv().map(Worker::run).unwrap_or_default();
        let thread = match self.spawn(format!("worker-{slot}"), cores_before + slot, run) {
            Ok(thread) => thread,
            Err(error) => return Err((error, worker.into_ports())),
        };
        give.send(worker).map_err(|unsent| (EngineError::WorkerGone(slot), unsent.0.into_ports()))?;
        control.slots[slot].running = Some(Running { commands, gauge, thread });
        Ok(())
    }

    /// A thread, on the core of its turn if there are any.
    fn spawn<T: Send + 'static>(
        &self,
        name: String,
        turn: usize,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, EngineError> {
        let core = self.settings.cores.get(turn % self.settings.cores.len().max(1)).copied();
        let what = name.clone();
        let body = move || {
            if let Some(id) = core
                && !core_affinity::set_for_current(core_affinity::CoreId { id })
            {
                tracing::warn!(thread = name, core = id, "cannot pin the thread: does the core exist?");
            }
            run()
        };
        let builder = std::thread::Builder::new().name(what.clone());
        builder.spawn(body).map_err(|e| EngineError::Config(format!("cannot start {what}: {e}")))
    }
}

/// A worker that stands until this is dropped.
pub(crate) struct Standing {
    slot: usize,
    arrivals: Receiver<()>,
    release: Sender<Vec<(VecDeque<Packet>, LetGo)>>,
    rows: Vec<(VecDeque<Packet>, LetGo)>,
    _resume: Sender<()>,
}

impl Control {
    /// Slots whose workers run.
    pub(crate) fn running(&self) -> Vec<usize> {
        (0..self.slots.len()).filter(|slot| self.slots[*slot].running.is_some()).collect()
    }

    /// A number that grows with each worker's bursts; `None` while one is within a burst.
    fn bursts(&self) -> Option<u64> {
        let charging = |slot: &Slot| slot.running.as_ref().map(|running| running.gauge.charging.load(Acquire));
        self.slots.iter().filter_map(charging).try_fold(0u64, |sum, n| (n & 1 == 0).then_some(sum.wrapping_add(n)))
    }

    fn first(&self) -> Result<usize, EngineError> {
        self.running().first().copied().ok_or(EngineError::Stopped)
    }

    pub(crate) fn send(&self, slot: usize, command: Command) -> Result<(), EngineError> {
        let running = self.slots.get(slot).and_then(|s| s.running.as_ref()).ok_or(EngineError::WorkerGone(slot))?;
        running.commands.send(command).map_err(|_| EngineError::WorkerGone(slot))
    }

    /// Lets each of these workers put packets of the buckets that come to it aside, until what this returns is dropped: they have begun when
    /// the receiver ends.
    pub(crate) fn put_aside(&self, workers: &BTreeSet<usize>, moves: &[Move]) -> Result<(Vec<Sender<()>>, Receiver<()>), EngineError> {
        let mut ends = Vec::new();
        let (begun, wait) = bounded(0);
        for slot in workers {
            let mut buckets = vec![false; moves.iter().map(|m| usize::from(m.bucket) + 1).max().unwrap_or(0)];
            moves.iter().filter(|m| usize::from(m.to) == *slot).for_each(|m| buckets[usize::from(m.bucket)] = true);
            let (end, until) = bounded(0);
            ends.push(end);
            self.send(*slot, Command::Aside(Aside { buckets: buckets.into(), until }, begun.clone()))?;
        }
        Ok((ends, wait))
    }

    /// Drains the ports of these workers.
    pub(crate) fn begin_drain(&self, slots: impl IntoIterator<Item = usize>, which: Drained) -> Result<Draining, EngineError> {
        let (done, wait) = bounded(0);
        slots.into_iter().try_for_each(|slot| self.send(slot, Command::Drain(which, done.clone())))?;
        Ok(Draining(wait))
    }

    /// Waits until each of these workers has been between two bursts.
    fn pass(&self, slots: Vec<usize>) -> Result<(), EngineError> {
        let (passed, wait) = bounded(0);
        slots.into_iter().try_for_each(|slot| self.send(slot, Command::Pass(passed.clone())))?;
        drop(passed);
        while wait.recv().is_ok() {}
        Ok(())
    }

    /// Lets these workers stand between two bursts.
    pub(crate) fn stand(&self, slots: Vec<usize>) -> Result<Vec<Standing>, EngineError> {
        if self.stopped {
            return Err(EngineError::Stopped);
        }
        let mut standing = Vec::with_capacity(slots.len());
        for slot in slots {
            let ((arrived, arrivals), (release, released), (resume, resumed)) = (bounded(1), bounded(1), bounded(1));
            self.send(slot, Command::Hold(Hold { arrived, release: released, resume: resumed }))?;
            standing.push(Standing { slot, arrivals, release, rows: Vec::new(), _resume: resume });
        }
        for worker in &standing {
            worker.arrivals.recv().map_err(|_| EngineError::WorkerGone(worker.slot))?;
        }
        Ok(standing)
    }
}

impl MasterHandle {
    /// Gives a command with a sender in it, and waits until the master drops that.
    pub(crate) fn ask(&self, command: impl FnOnce(Sender<()>) -> MasterCommand) -> Result<(), EngineError> {
        self.begin(command)?.wait();
        Ok(())
    }

    /// Gives it, and lets the caller wait.
    pub(crate) fn begin(&self, command: impl FnOnce(Sender<()>) -> MasterCommand) -> Result<Draining, EngineError> {
        let (done, wait) = bounded(0);
        self.commands.send(command(done)).map_err(|_| EngineError::Stopped)?;
        Ok(Draining(wait))
    }
}
