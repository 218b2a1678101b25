//! How do packets fare while the engine divides UEs among workers and the load changes? The engine between memory ports, and one thread that sends at
//! a rate that may change, receives, and checks each packet: bytes, and the order of each session.

use crate::bench::latency::{Downlink, histogram};
use crate::bench::sessions::{N3, N6};
use base::Packet;
use cli::failure::Failure;
use crossbeam_channel::{Receiver, bounded};
use engine::{BUCKETS, BalanceSettings, Engine, Event, Settings, SteerFn, WorkerPorts};
use hdrhistogram::Histogram;
use pktio::{Port, memory, steered};
use std::sync::Arc;
use std::time::{Duration, Instant};
use target_api::{BURST, Target};

/// Packets that each port's queues take.
const QUEUE: usize = 4096;
/// A packet's number is its last 8 bytes.
const NUMBER: usize = 8;
/// What is in flight at the end has come out after this time without a packet.
const QUIET: Duration = Duration::from_millis(100);
/// Length of the parts that throughput is counted by.
pub(super) const BIN: Duration = Duration::from_millis(20);
/// Most packets of a run: their times are kept.
const MOST: u64 = 1 << 24;

/// Who chooses a packet's worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Design {
    /// A master thread: the paper's SoftUPF.
    Software,
    /// The port, with a queue for each worker: the paper's SteerOffload.
    Port,
}

/// What happens in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A worker comes, while packets go on.
    Add,
    /// The port is closed and opened again with a queue more, as a NIC whose number of queues changes.
    Restart,
}

/// An engine on its ports, and their far ends.
pub(super) struct World {
    pub engine: Arc<Engine>,
    source: Box<dyn Port>,
    sink: Box<dyn Port>,
    _events: Receiver<Event>,
}

/// What came of a run.
pub(super) struct Run {
    /// Packets that were due.
    pub due: u64,
    /// Those that came out, each checked.
    pub received: u64,
    /// From when a packet was due, those that were due after the given time.
    pub latency: Histogram<u64>,
    /// Packets that came out by [`BIN`].
    pub bins: Vec<u64>,
    /// By the [`BIN`] that they were due in: packets that came out, and nanoseconds of them all from when they were due.
    pub waits: Vec<(u64, u64)>,
    /// The longest time in which none came out, after the change if there is one.
    pub gap: Duration,
    /// How long the change took.
    pub change: Duration,
}

impl World {
    /// So many workers at first, and at most; UEs stay with theirs.
    pub(super) fn new(target: &Arc<dyn Target>, design: Design, workers: usize, most: usize) -> Result<World, Failure> {
        World::balanced(target, design, workers, most, None)
    }

    /// The same, where UEs move to other workers if so asked.
    pub(super) fn balanced(
        target: &Arc<dyn Target>,
        design: Design,
        workers: usize,
        most: usize,
        balance: Option<BalanceSettings>,
    ) -> Result<World, Failure> {
        let (events, received) = bounded(1 << 10);
        let hash: SteerFn = upf::steer::ue_hash;
        let mut far: Vec<Box<dyn Port>> = Vec::new();
        let settings = Settings { balance, ..Settings::default() };
        let engine = match design {
            Design::Software => {
                let mut ports: WorkerPorts = Vec::new();
                for id in [N6, N3] {
                    let (near, end) = memory::pair("near", "far", QUEUE);
                    far.push(Box::new(end));
                    ports.push((id, Box::new(near)));
                }
                Engine::start_steered(target, ports, hash, workers, settings, events)
            }
            Design::Port => {
                let mut of_workers: Vec<WorkerPorts> = (0..most).map(|_| Vec::new()).collect();
                for id in [N6, N3] {
                    let (near, end) = steered::device("port", id, most, BUCKETS, QUEUE, hash).map_err(failed)?;
                    far.push(Box::new(end));
                    for (worker, port) in of_workers.iter_mut().zip(near) {
                        worker.push((id, Box::new(port)));
                    }
                }
                Engine::start_some(target, of_workers, workers, Settings { port_hash: Some(hash), ..settings }, events)
            }
        }
        .map_err(failed)?;
        let [source, sink]: [Box<dyn Port>; 2] = far.try_into().map_err(|_| failed("two far ends"))?;
        Ok(World { engine: Arc::new(engine), source, sink, _events: received })
    }

    /// Ends it; its books must balance.
    pub(super) fn close(self) -> Result<(), Failure> {
        self.engine.stop();
        match self.engine.ledger().imbalance() {
            0 => Ok(()),
            n => Err(failed(format!("{n} packets are not accounted for: {:?}", self.engine.ledger()))),
        }
    }
}

/// What is sent.
pub(super) struct Load<'a> {
    /// Sessions' packets.
    pub downlink: &'a Downlink,
    /// Which of them the packet of a number is.
    pub choose: &'a dyn Fn(u64) -> usize,
    /// Packets a second at a time.
    pub rate: &'a dyn Fn(Duration) -> f64,
    pub length: Duration,
    /// Latency is that of packets due from this time on.
    pub from: Duration,
}

/// Runs a load; with a change at a time, of a world of that design with one worker, to two.
pub(super) fn run(world: World, load: &Load<'_>, change: Option<(Duration, Change)>) -> Result<(World, Run), Failure> {
    let (new, renewed) = bounded::<Result<Option<World>, Failure>>(1);
    let Load { downlink, choose, rate, length, from } = *load;
    let mut world = Some(world);
    let mut run = Run {
        due: 0,
        received: 0,
        latency: histogram()?,
        bins: vec![0; (length.as_nanos() / BIN.as_nanos()) as usize + 1],
        waits: vec![(0, 0); (length.as_nanos() / BIN.as_nanos()) as usize + 1],
        gap: Duration::ZERO,
        change: Duration::ZERO,
    };
    // When a packet was due, and whose it is.
    let mut log: Vec<(u64, u32)> = Vec::new();
    let mut last_of: Vec<u64> = vec![0; downlink.frames.len()];
    let (mut pending, mut began_change) = (change, None);
    let mut burst: Vec<Packet> = (0..BURST).map(|_| Packet::empty(0)).collect();
    let (begin, mut before, mut due, mut last_seen) = (Instant::now(), Duration::ZERO, 0.0, Duration::ZERO);
    loop {
        let now = begin.elapsed();
        if let Some((at, what)) = pending
            && now >= at
        {
            pending = None;
            began_change = Some(now);
            let (target, new) = (downlink.target.clone(), new.clone());
            match what {
                Change::Add => {
                    let Some(engine) = world.as_ref().map(|world| world.engine.clone()) else { return Err(failed("no engine")) };
                    std::thread::spawn(move || new.send(engine.add_worker().map(|_| None).map_err(failed)));
                }
                Change::Restart => {
                    let old = world.take();
                    std::thread::spawn(move || {
                        let closed = old.map_or(Ok(()), World::close);
                        new.send(closed.and_then(|()| World::new(&target, Design::Port, 2, 2)).map(Some))
                    });
                }
            }
        }
        if let (Some(began), Ok(changed)) = (began_change, renewed.try_recv()) {
            run.change = begin.elapsed() - began;
            began_change = None;
            if let Some(again) = changed? {
                world = Some(again);
            }
        }
        if now < length && run.due < MOST {
            due += rate(now) * (now - before).as_secs_f64();
            let count = (due as u64 - run.due).min(MOST - run.due);
            for i in 0..count {
                let at = before + (now - before).mul_f64((i + 1) as f64 / count as f64);
                log.push((at.as_nanos() as u64, choose(run.due + i) as u32));
            }
            send(world.as_mut(), downlink, &log, run.due, &mut burst)?;
            run.due += count;
        }
        before = now;
        let mut seen = 0;
        if let Some(world) = &mut world {
            let n = world.sink.receive(&mut burst).map_err(failed)?;
            let now = begin.elapsed();
            for packet in &burst[..n] {
                let number = check(packet.data(), downlink, &log, &mut last_of)?;
                let due_ns = log[number as usize].0;
                if let Some((packets, ns)) = run.waits.get_mut((due_ns / BIN.as_nanos() as u64) as usize) {
                    *packets += 1;
                    *ns += (now.as_nanos() as u64).saturating_sub(due_ns);
                }
                if due_ns >= from.as_nanos() as u64 {
                    run.latency.record((now.as_nanos() as u64).saturating_sub(due_ns).max(1)).map_err(failed)?;
                }
                if let Some(bin) = run.bins.get_mut((now.as_nanos() / BIN.as_nanos()) as usize) {
                    *bin += 1;
                }
            }
            seen = n as u64;
        }
        let now = begin.elapsed();
        if seen > 0 {
            // Only while packets come: at the end there is silence.
            if now < length && change.is_none_or(|(at, _)| now >= at) {
                run.gap = run.gap.max(now - last_seen.max(change.map_or(Duration::ZERO, |(at, _)| at)));
            }
            last_seen = now;
            run.received += seen;
        } else if now >= length && began_change.is_none() && pending.is_none() && now - last_seen.max(length) > quiet(&run) {
            break;
        } else {
            std::thread::yield_now();
        }
    }
    // The last bin is not a whole one.
    (_, _) = (run.bins.pop(), run.waits.pop());
    let world = world.ok_or_else(|| failed("no engine"))?;
    Ok((world, run))
}

/// Silence after which no packet is expected any more. On a busy machine the workers may not have had a turn yet.
fn quiet(run: &Run) -> Duration {
    if run.received == 0 { 40 * QUIET } else { QUIET }
}

/// Sends all that is logged from `first` on; what the port does not take is lost, as on a wire.
fn send(world: Option<&mut World>, downlink: &Downlink, log: &[(u64, u32)], first: u64, burst: &mut [Packet]) -> Result<(), Failure> {
    let Some(world) = world else { return Ok(()) };
    let mut number = first;
    for of in log[first as usize..].chunks(BURST) {
        for ((_, index), packet) in of.iter().zip(burst.iter_mut()) {
            packet.set(&downlink.frames[*index as usize]);
            let at = packet.len() - NUMBER;
            packet.data_mut()[at..].copy_from_slice(&number.to_be_bytes());
            number += 1;
        }
        let mut done = 0;
        while done < of.len() {
            let taken = world.source.transmit(&burst[done..of.len()]).map_err(failed)?;
            // The next one's queue is full. Others' may not be.
            done += taken.max(1);
        }
    }
    world.source.flush().map_err(failed)
}

/// The packet's number; an error if it is not what must come of it, or was overtaken by a later one of its session.
fn check(data: &[u8], downlink: &Downlink, log: &[(u64, u32)], last_of: &mut [u64]) -> Result<u64, Failure> {
    let number = data.last_chunk::<NUMBER>().map_or(u64::MAX, |bytes| u64::from_be_bytes(*bytes));
    let Some((_, index)) = log.get(number as usize) else { return Err(failed("a packet came out that was not sent")) };
    let index = *index as usize;
    if !downlink.is_right(index, data) {
        return Err(failed(format!("packet {number} came out wrong")));
    }
    // From 1: 0 is none yet.
    if last_of[index] > number {
        return Err(failed(format!("packet {number} of a session came after its packet {}", last_of[index] - 1)));
    }
    last_of[index] = number + 1;
    Ok(number)
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_go_on_in_order_while_a_worker_comes_and_after_a_port_restarts() {
        let downlink = Downlink::new(256, 256).unwrap();
        for (design, change) in [(Design::Software, Change::Add), (Design::Port, Change::Add), (Design::Port, Change::Restart)] {
            let world = World::new(&downlink.target, design, 1, 2).unwrap();
            let at = Duration::from_millis(40);
            let choose = |n: u64| (n % 256) as usize;
            let load = Load {
                downlink: &downlink,
                choose: &choose,
                rate: &|_| 20_000.0,
                length: Duration::from_millis(400),
                from: Duration::ZERO,
            };
            let (world, run) = super::run(world, &load, Some((at, change))).unwrap();
            assert_eq!(world.engine.workers().len(), 2, "{design:?} {change:?}");
            assert!(run.due > 2000 && run.received > run.due / 4 && run.received <= run.due, "{} of {}", run.received, run.due);
            assert_eq!(run.latency.len(), run.received);
            world.close().unwrap();
        }
    }
}
