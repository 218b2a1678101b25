//! Starting and stopping workers, and moving buckets between them, under traffic.
//!
//! If the master steers, it moves buckets itself. If ports steer, a bucket moves in steps: its new worker holds packets of the
//! bucket from now on; the ports are switched; the old worker drains its queues; the new
//! worker continues with the packets that it held. Either way no packet of the bucket is processed by the new worker before the old one has
//! finished all earlier ones, and packets of other buckets do not wait.

use crate::balance::{BalanceSettings, Loads, Planner, Scale, WorkerLoad, empty, spread};
use crate::command::Command;
use crate::control::{Control, Engine, EngineError, Inner, MAX_WORKERS, Slot};
use crate::ledger::{Ledger, PortCount};
use crate::master::MasterCommand;
use crate::message::Drained;
use crate::port::WorkerPorts;
use crate::steer::{Move, SteerTable};
use base::PortId;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use pktio::{Port, Steering};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Instant;

/// Packets that wait in a port's queue and count as a full ring, where ports steer.
const FULL_QUEUE: f64 = 1024.0;

/// What has been moved, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Buckets that changed their worker.
    pub buckets: u64,
    /// Packets that were held back meanwhile, as their bucket's old worker was not done.
    pub held: u64,
    /// Workers that came after the start.
    pub added: u64,
    /// Workers that went before the end.
    pub removed: u64,
}

/// A worker that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkerGauge {
    /// Its slot.
    pub slot: u16,
    /// Packets that it was given since it started.
    pub packets: u64,
    /// Time that it did not wait since then, in nanoseconds.
    pub busy_ns: u64,
    /// Packets that wait for it now, as a share of its ring or of a queue of 1024.
    pub depth: f64,
    /// Steering buckets that it owns.
    pub buckets: usize,
}

/// The counts of [`Moved`].
#[derive(Default)]
pub(crate) struct MovedCells {
    buckets: AtomicU64,
    pub(crate) held: Arc<AtomicU64>,
    added: AtomicU64,
    removed: AtomicU64,
}

impl Engine {
    /// The slots of the workers that run.
    pub fn workers(&self) -> Vec<usize> {
        self.inner.lock().running()
    }

    /// The owner of each bucket, by slot; `None` without steering.
    pub fn owners(&self) -> Option<Vec<u16>> {
        self.inner.table.as_ref().map(|table| table.owners())
    }

    /// Packets of each worker and bucket since the start. `busy` is the share of the time since the start.
    pub fn loads(&self) -> Loads {
        Sample::take(&self.inner, &self.inner.lock()).since(&Sample::default())
    }

    /// Packets that each worker received from ports of its own since the start, by slot: of those that have ended, too. None
    /// where a master receives.
    pub fn received_by_worker(&self) -> Vec<u64> {
        let control = self.inner.lock();
        let received = |slot: &Slot| Ledger::sum([&*slot.ledger].into_iter()).ports.values().map(|p| p.received.packets).sum();
        control.slots.iter().map(received).collect()
    }

    /// What each worker that runs has done and what waits for it, by slot.
    pub fn gauges(&self) -> Vec<WorkerGauge> {
        let Sample { workers, owners, .. } = Sample::take(&self.inner, &self.inner.lock());
        let gauge = |(slot, (packets, busy_ns, depth)): (u16, (u64, u64, f64))| {
            let buckets = owners.iter().filter(|owner| **owner == slot).count();
            WorkerGauge { slot, packets, busy_ns, depth, buckets }
        };
        workers.into_iter().map(gauge).collect()
    }

    /// Packets by the nanoseconds below which their burst was in a worker, from taking it to having given the devices what it sends; ascending, of all
    /// workers since the start. A step is at most 5/4 of the one before.
    pub fn burst_times(&self) -> BTreeMap<u64, u64> {
        let control = self.inner.lock();
        let mut sum = BTreeMap::new();
        for (below_ns, packets) in control.slots.iter().flat_map(|slot| slot.ledger.burst_times.read()) {
            *sum.entry(below_ns).or_default() += packets;
        }
        sum
    }

    /// Packets of each port by worker that received or sent them, by slot: of those that have ended, too.
    pub fn ports_by_worker(&self) -> Vec<BTreeMap<PortId, PortCount>> {
        let control = self.inner.lock();
        control.slots.iter().map(|slot| Ledger::sum([&*slot.ledger].into_iter()).ports).collect()
    }

    /// How much has moved.
    pub fn moved(&self) -> Moved {
        let MovedCells { buckets, held, added, removed } = &*self.inner.moved;
        let [buckets, held, added, removed] = [buckets, &**held, added, removed].map(|cell| cell.load(Relaxed));
        Moved { buckets, held, added, removed }
    }

    /// Moves buckets to other workers, and waits until that is done; packets go on meanwhile.
    pub fn move_buckets(&self, moves: &[Move]) -> Result<(), EngineError> {
        self.inner.move_buckets(&self.inner.moves(), moves)
    }

    /// Starts one more worker and gives it its share of the buckets. Returns its slot.
    pub fn add_worker(&self) -> Result<usize, EngineError> {
        self.inner.add_worker(&self.inner.moves())
    }

    /// Gives a worker's buckets to the others, lets it finish what it has, and ends it.
    pub fn remove_worker(&self, slot: usize) -> Result<(), EngineError> {
        self.inner.remove_worker(&self.inner.moves(), slot)
    }

    /// From now on as many workers run as now if `count` has them, else the nearest number that it has; and buckets move and workers come and go by themselves
    /// as `balance` says. Packets go on meanwhile. It returns when all buckets have moved, and workers that went have sent what they had, also what waited
    /// for a rate.
    ///
    /// # Errors
    /// `count` is empty; the engine has stopped; packets cannot be steered; the ports have no queues for so many; one that would go receives alone from a port. Then as
    /// many run as before, and `balance` is not used.
    pub fn set_workers(&self, count: RangeInclusive<usize>, balance: Option<BalanceSettings>) -> Result<(), EngineError> {
        if count.is_empty() {
            return Err(EngineError::Config(format!("{} to {} workers", count.start(), count.end())));
        }
        let mut balancer = self.balancer.lock().unwrap_or_else(PoisonError::into_inner);
        // Else it would change the number meanwhile.
        let before = balancer.take().map(Balancer::stop);
        let moves = self.inner.moves();
        let running = self.inner.lock().running().len();
        let result = self.inner.set_workers(&moves, running.clamp(*count.start(), *count.end()));
        drop(moves);
        let settings = if result.is_ok() { balance } else { before };
        *balancer = settings.filter(|_| self.inner.table.is_some()).map(|settings| Balancer::start(&self.inner, settings));
        result
    }
}

/// The right to move buckets and to start and end workers: its holder knows that no worker starts or stops, except when all stop. The
/// engine can be asked anything else meanwhile.
pub(crate) type Moves<'a> = MutexGuard<'a, ()>;

impl Inner {
    pub(crate) fn moves(&self) -> Moves<'_> {
        self.moves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn move_buckets(&self, _moves: &Moves, moves: &[Move]) -> Result<(), EngineError> {
        let control = self.lock();
        if control.stopped {
            return Err(EngineError::Stopped);
        }
        let table = self.table()?;
        let running = control.running();
        for Move { bucket, to } in moves {
            if usize::from(*bucket) >= table.len() || !running.contains(&usize::from(*to)) {
                return Err(EngineError::Config(format!("there is no bucket {bucket}, or no worker {to}")));
            }
        }
        // The last word on each bucket counts.
        let moves: BTreeMap<u16, u16> = moves.iter().map(|m| (m.bucket, m.to)).collect();
        let moves: Vec<Move> = moves.into_iter().map(|(bucket, to)| Move { bucket, to }).collect();
        let moves: Vec<Move> = moves.into_iter().filter(|m| table.owner(m.bucket.into()) != m.to).collect();
        if moves.is_empty() {
            return Ok(());
        }
        let count = moves.len() as u64;
        match &control.master {
            Some(master) => {
                let moved = master.begin(|done| MasterCommand::Move { moves, done })?;
                drop(control);
                moved.wait();
            }
            None => {
                drop(control);
                self.move_by_ports(table, &moves)?;
            }
        }
        self.moved.buckets.fetch_add(count, Relaxed);
        Ok(())
    }

    fn move_by_ports(&self, table: &SteerTable, moves: &[Move]) -> Result<(), EngineError> {
        let from: BTreeSet<usize> = moves.iter().map(|m| table.owner(m.bucket.into()).into()).collect();
        let to: BTreeSet<usize> = moves.iter().map(|m| m.to.into()).collect();
        // When these are dropped the new workers go on, whatever has happened.
        let (_aside, begun) = self.lock().put_aside(&to, moves)?;
        while begun.recv().is_ok() {}
        let pairs: Vec<(u16, u16)> = moves.iter().map(|m| (m.bucket, m.to)).collect();
        let devices = self.steering.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let told = devices.iter().try_for_each(|(_, steering)| steering.assign(&pairs));
        // Until no packet is in flight to a queue that its bucket has left.
        if let Err(error) = told.and_then(|()| devices.iter().try_for_each(|(_, steering)| steering.settle())) {
            // Both directions of a flow belong together: back to what it was, as far as the devices let us.
            let back: Vec<(u16, u16)> = moves.iter().map(|m| (m.bucket, table.owner(m.bucket.into()))).collect();
            devices.iter().for_each(|(_, steering)| drop(steering.assign(&back)));
            return Err(error.into());
        }
        moves.iter().for_each(|m| table.set_owner(m.bucket.into(), m.to));
        let drained = self.lock().begin_drain(from, Drained::Steered)?;
        drained.wait();
        Ok(())
    }

    fn add_worker(&self, moves: &Moves) -> Result<usize, EngineError> {
        let mut control = self.lock();
        if control.stopped {
            return Err(EngineError::Stopped);
        }
        self.table()?;
        let free = control.slots.iter().position(|slot| slot.running.is_none());
        let slot = if let Some(master) = &control.master {
            let slot = free.unwrap_or(control.slots.len());
            if slot >= MAX_WORKERS {
                return Err(EngineError::Config(format!("there are {MAX_WORKERS} workers already")));
            }
            let (reply, outputs) = bounded(1);
            let commands = master.commands.clone();
            let ledger = self.fed_slot(&mut control, slot);
            commands.send(MasterCommand::Outputs(ledger, reply)).map_err(|_| EngineError::Stopped)?;
            let outputs = outputs.recv().map_err(|_| EngineError::Stopped)??;
            let link = self.start_fed(&mut control, slot, outputs)?;
            commands.send(MasterCommand::Attach { slot: slot as u16, link: Box::new(link) }).map_err(|_| EngineError::Stopped)?;
            slot
        } else {
            let slot = free.ok_or_else(|| EngineError::Config("the ports have no queue for another worker".into()))?;
            self.start_polling(&mut control, slot)?;
            slot
        };
        self.moved.added.fetch_add(1, Relaxed);
        let loads = Sample::take(self, &control).since(&Sample::default());
        drop(control);
        self.move_buckets(moves, &spread(&loads, slot as u16))?;
        Ok(slot)
    }

    fn remove_worker(&self, moves: &Moves, slot: usize) -> Result<(), EngineError> {
        let control = self.lock();
        if control.stopped {
            return Err(EngineError::Stopped);
        }
        self.table()?;
        let running = control.running();
        if !running.contains(&slot) {
            return Err(EngineError::WorkerGone(slot));
        }
        if running.len() == 1 {
            return Err(EngineError::Config("the last worker stays".into()));
        }
        if !control.slots[slot].fixed.is_empty() {
            return Err(EngineError::Config(format!("worker {slot} stays: it alone receives from a port that cannot be steered")));
        }
        let loads = Sample::take(self, &control).since(&Sample::default());
        drop(control);
        self.move_buckets(moves, &empty(&loads, slot as u16))?;
        // All its buckets have moved: only its messages are left.
        let mut control = self.lock();
        control.send(slot, Command::Stop)?;
        if let Some(master) = &control.master {
            master.ask(|done| MasterCommand::Detach { slot: slot as u16, done })?;
        }
        let Some(running) = control.slots[slot].running.take() else { return Err(EngineError::WorkerGone(slot)) };
        let ports = running.thread.join().map_err(|_| EngineError::WorkerGone(slot))?;
        control.slots[slot].ports = control.master.is_none().then_some(ports);
        self.moved.removed.fetch_add(1, Relaxed);
        Ok(())
    }

    fn set_workers(&self, moves: &Moves, count: usize) -> Result<(), EngineError> {
        let before = self.lock().running();
        let result = self.approach(moves, count);
        if result.is_err() {
            // What came goes, and for each that went another comes.
            let came = self.lock().running().into_iter().filter(|slot| !before.contains(slot));
            let undone = came.rev().try_for_each(|slot| self.remove_worker(moves, slot)).and_then(|()| self.approach(moves, before.len()));
            if let Err(error) = undone {
                tracing::error!("the number of workers is not what it was: {error}");
            }
        }
        result
    }

    /// One worker after the other comes or goes: the last slots first.
    fn approach(&self, moves: &Moves, count: usize) -> Result<(), EngineError> {
        loop {
            let running = self.lock().running();
            match running.last() {
                None => return Err(EngineError::Stopped),
                Some(_) if running.len() < count => {
                    self.add_worker(moves)?;
                }
                Some(last) if running.len() > count => self.remove_worker(moves, *last)?,
                Some(_) => return Ok(()),
            }
        }
    }

    fn table(&self) -> Result<&Arc<SteerTable>, EngineError> {
        self.table.as_ref().ok_or_else(|| EngineError::Config("packets cannot be steered: the ports have fixed queues".into()))
    }
}

/// What the gauges showed at a time.
#[derive(Default)]
struct Sample {
    at: Option<Instant>,
    /// By slot: packets, busy nanoseconds.
    workers: BTreeMap<u16, (u64, u64, f64)>,
    owners: Vec<u16>,
    packets: Vec<u64>,
}

impl Sample {
    fn take(inner: &Inner, control: &Control) -> Sample {
        let running = control.slots.iter().enumerate().filter_map(|(slot, s)| s.running.as_ref().map(|r| (slot, r)));
        let workers = running.map(|(slot, running)| {
            let gauge = &running.gauge;
            let depth = match control.master {
                Some(_) => gauge.pushed.load(Relaxed).saturating_sub(gauge.done.load(Relaxed)) as f64 / inner.settings.ring as f64,
                None => gauge.waiting.load(Relaxed) as f64 / FULL_QUEUE,
            };
            (slot as u16, (gauge.packets.load(Relaxed), gauge.busy_ns.load(Relaxed), depth))
        });
        let (owners, packets) = inner.table.as_ref().map(|t| (t.owners(), t.packets())).unwrap_or_default();
        Sample { at: Some(Instant::now()), workers: workers.collect(), owners, packets }
    }

    /// The loads between two looks; a first look has none before it.
    fn since(&self, before: &Sample) -> Loads {
        let span_ns = self.at.zip(before.at).map(|(now, then)| now.saturating_duration_since(then).as_nanos().max(1) as f64);
        let worker = |(slot, (packets, busy_ns, depth)): (&u16, &(u64, u64, f64))| {
            // A new worker in a slot counts from zero.
            let (was, was_busy, _) = before.workers.get(slot).copied().filter(|w| w.0 <= *packets).unwrap_or_default();
            let busy = span_ns.map_or(0.0, |span| ((busy_ns.saturating_sub(was_busy)) as f64 / span).min(1.0));
            WorkerLoad { slot: *slot, packets: packets - was, busy, depth: *depth }
        };
        let packets = self.packets.iter().enumerate().map(|(b, n)| n - before.packets.get(b).copied().unwrap_or(0).min(*n));
        Loads { workers: self.workers.iter().map(worker).collect(), owners: self.owners.clone(), packets: packets.collect() }
    }
}

/// The thread that looks at loads and acts on the plan.
pub(crate) struct Balancer {
    settings: BalanceSettings,
    end: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Balancer {
    pub(crate) fn start(inner: &Arc<Inner>, settings: BalanceSettings) -> Balancer {
        let (end, ended) = bounded::<()>(0);
        let engine = Arc::downgrade(inner);
        let run = move || {
            let mut planner = Planner::new(settings);
            let mut before = Sample::default();
            while ended.recv_timeout(settings.period) == Err(RecvTimeoutError::Timeout) {
                let Some(engine) = Weak::upgrade(&engine) else { return };
                before = look(&engine, &mut planner, &before);
            }
        };
        let thread = std::thread::Builder::new().name("balancer".into()).spawn(run);
        if let Err(error) = &thread {
            tracing::error!("cannot start the load balancer: {error}");
        }
        Balancer { settings, end, thread: thread.ok() }
    }

    /// What it acted by.
    pub(crate) fn stop(self) -> BalanceSettings {
        drop(self.end);
        if let Some(thread) = self.thread {
            let _ = thread.join();
        }
        self.settings
    }
}

/// One look and what follows from it; what was seen.
fn look(engine: &Inner, planner: &mut Planner, before: &Sample) -> Sample {
    let moves = engine.moves();
    let (now, stopped) = {
        let control = engine.lock();
        (Sample::take(engine, &control), control.stopped)
    };
    if stopped || before.at.is_none() {
        return now;
    }
    let loads = now.since(before);
    let plan = planner.plan(&loads);
    let result = match plan.scale {
        Some(Scale::Add) => engine.add_worker(&moves).map(|slot| tracing::info!(slot, "worker started")),
        Some(Scale::Remove(slot)) => engine.remove_worker(&moves, slot.into()).map(|()| tracing::info!(slot, "worker stopped")),
        None if plan.moves.is_empty() => Ok(()),
        None => engine.move_buckets(&moves, &plan.moves).map(|()| tracing::debug!(buckets = plan.moves.len(), "load rebalanced")),
    };
    if let Err(error) = result {
        tracing::warn!("cannot rebalance: {error}");
    }
    now
}

/// The table of workers whose ports steer, and each device's steering set to it; none if no port can be steered.
///
/// A port that cannot (a socket to a controller) always gives its packets to the worker that has it.
///
/// # Errors
/// If ports steer, but not so that worker `n` has queue `n` of each; several ports may be of one device.
pub(crate) fn port_table(workers: &[WorkerPorts], count: usize) -> Result<PortTable, EngineError> {
    let wrong = |what: &str| Err(EngineError::Config(format!("the ports cannot be steered together: {what}")));
    type OfQueue = (PortId, u16, Arc<dyn Steering>);
    let steered = |ports: &WorkerPorts| -> Vec<OfQueue> {
        ports.iter().filter_map(|(id, port)| port.steering().map(|(queue, steering)| (*id, queue, steering))).collect()
    };
    let of_workers: Vec<_> = workers.iter().map(steered).collect();
    let Some(first) = of_workers.first() else { return Ok(None) };
    if of_workers.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    for (slot, ports) in of_workers.iter().enumerate() {
        let same = |(a, b): (&OfQueue, &OfQueue)| a.0 == b.0 && Arc::ptr_eq(&a.2, &b.2);
        if ports.len() != first.len() || !ports.iter().zip(first).all(same) || ports.iter().any(|port| usize::from(port.1) != slot) {
            return wrong("worker n must have queue n of each port");
        }
    }
    let mut all: Vec<Steered> = Vec::new();
    for (id, _, steering) in first {
        if !all.iter().any(|(known, same)| known == id && Arc::ptr_eq(same, steering)) {
            all.push((*id, steering.clone()));
        }
    }
    let buckets = all[0].1.buckets();
    if !buckets.is_power_of_two() || buckets > 1 << 15 || workers.len() > MAX_WORKERS.min(buckets) {
        return wrong("the number of buckets or workers");
    }
    if all.iter().any(|(_, s)| s.buckets() != buckets || s.queues() < workers.len()) {
        return wrong("they differ in buckets, or have too few queues");
    }
    let slots: Vec<u16> = (0..count as u16).collect();
    let owners = SteerTable::new(buckets, &slots);
    let pairs: Vec<(u16, u16)> = (0..buckets).map(|b| (b as u16, owners.owner(b))).collect();
    all.iter().try_for_each(|(_, steering)| steering.assign(&pairs))?;
    all.iter().try_for_each(|(_, steering)| steering.settle())?;
    Ok(Some((Arc::new(owners), all)))
}

/// The table, and what it is a copy of.
pub(crate) type PortTable = Option<(Arc<SteerTable>, Vec<Steered>)>;

/// A port, and what steers packets to its queues; several ports may be of one device.
pub(crate) type Steered = (PortId, Arc<dyn Steering>);

/// Ports that packets arrive on and that cannot be steered.
pub(crate) fn fixed(ports: &WorkerPorts) -> BTreeSet<PortId> {
    ports.iter().filter(|(_, port)| is_fixed(&**port)).map(|(id, _)| *id).collect()
}

/// Whether packets arrive there, and cannot be steered.
pub(crate) fn is_fixed(port: &dyn Port) -> bool {
    port.receives() && port.steering().is_none()
}
