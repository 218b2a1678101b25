//! `bench latency`: how long do packets take through the engine, from memory port to memory port, at a load that it can carry?
//!
//! Open loop: when a packet is due is fixed beforehand, and its latency counts from then, whether or not it could be sent in time.
//! So what waits behind a slow packet is seen to wait (no coordinated omission). Packets carry their number; each must come out
//! once, in order, with the right tunnel. Load and sink are one thread, the engine's worker is another.

use super::contestant::load_x86;
use super::measure::Pinned;
use super::options::Common;
use super::report;
use super::sessions::{self, Direction, Sessions};
use base::{Packet, PortId};
use cli::failure::Failure;
use engine::{Engine, Settings};
use hdrhistogram::Histogram;
use pktio::Port;
use pktio::memory::{MemoryPort, pair};
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use target_api::{BURST, Target};

/// Limit of packets in flight, in each of the two ports.
const QUEUE: usize = 4096;
/// A packet's number is its last 8 bytes.
const NUMBER: usize = 8;

/// Options of `bench latency`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Loads, in percent of the maximum with the same settings.
    #[arg(long, value_delimiter = ',', default_values_t = [10, 50, 80], value_parser = clap::value_parser!(u32).range(1..=100))]
    loads: Vec<u32>,
    /// Sessions [default: 64000; with --quick: 200].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    sessions: Option<u32>,
    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// As `bench all` has them.
    pub fn with(common: Common) -> Args {
        Args { loads: vec![10, 50, 80], sessions: None, common }
    }
}

/// Runs it; the figures as JSON.
pub(super) fn latency(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    let sessions = args.sessions.unwrap_or(common.size(64_000, 200));
    println!("bench latency: downlink, one worker, {sessions} sessions, open loop through two memory ports; latencies in microseconds");
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("  note: one core: load and worker take turns, and latencies are those of the scheduler");
    }
    let downlink = Downlink::new(sessions, common.size(1 << 16, 1024))?;
    let bar = report::progress(args.loads.len() as u64 * u64::from(common.rounds()));
    // What it carries: as much as goes in while the queue is kept full.
    let mut most = super::measure::Rounds::default();
    for _ in 0..common.rounds() {
        let run = downlink.run(None, common.round())?;
        most.0.push(run.packets as f64 / run.elapsed.as_secs_f64() / 1e6);
    }
    let capacity = most.median();
    println!("  {capacity:.2} Mpps at most ({:.2} to {:.2})", most.spread().0, most.spread().1);
    println!(
        "  {:>5} {:>9} {:>12} {:>9} {:>9} {:>9} {:>9} {:>10}  p99.9 of the median round",
        "load", "Mpps", "packets", "p50", "p90", "p99", "p99.9", "max"
    );
    let mut rows = Vec::new();
    for load in &args.loads {
        let rate = capacity * f64::from(*load) / 100.0;
        let mut all = histogram()?;
        // One stall of the machine, of a few milliseconds, is more than 1 in 1000 packets of its round: rounds are told apart.
        let mut rounds = super::measure::Rounds::default();
        let (mut packets, mut elapsed) = (0u64, Duration::ZERO);
        for _ in 0..common.rounds() {
            let run = downlink.run(Some(rate * 1e6), common.round())?;
            packets += run.packets;
            elapsed += run.elapsed;
            all.add(&run.latency).map_err(failed)?;
            rounds.0.push(run.latency.value_at_quantile(0.999) as f64 / 1e3);
            bar.inc(1);
        }
        let us = |ns: u64| ns as f64 / 1e3;
        let at = |quantile: f64| us(all.value_at_quantile(quantile));
        let reached = packets as f64 / elapsed.as_secs_f64() / 1e6;
        bar.suspend(|| {
            println!(
                "  {load:>3} % {reached:>9.3} {packets:>12} {:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>10.1}  {:.1} ({:.1} to {:.1})",
                at(0.5),
                at(0.9),
                at(0.99),
                at(0.999),
                us(all.max()),
                rounds.median(),
                rounds.spread().0,
                rounds.spread().1,
            )
        });
        rows.push(json!({
            "what": format!("{load} % of {capacity:.2} Mpps"), "load_percent": load, "verified": packets,
            "rate": { "median": reached, "asked_for": rate }, "unit": "Mpps",
            "latency_us": { "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p99.9": at(0.999), "max": us(all.max()), "p99.9_by_round": rounds.json() },
        }));
    }
    bar.finish_and_clear();
    let figures = json!({
        "bench": "latency", "machine": machine, "sessions": sessions, "capacity": most.json(),
        "round_ms": common.round().as_millis() as u64, "rows": rows,
    });
    common.write(&figures)?;
    Ok(figures)
}

/// The UPF with so many sessions, and downlink packets to some of them at random.
pub(crate) struct Downlink {
    pub(crate) target: Arc<dyn Target>,
    /// Of which session each frame is.
    pub(crate) numbers: Vec<u32>,
    pub(crate) frames: Vec<Vec<u8>>,
}

impl Downlink {
    /// So many packets before their order repeats.
    pub(crate) fn new(sessions: u32, packets: usize) -> Result<Downlink, Failure> {
        let mut rng = rand::rngs::StdRng::seed_from_u64(1);
        let numbers: Vec<u32> = (0..packets).map(|_| rng.random_range(0..sessions)).collect();
        let frames = numbers.iter().map(|n| sessions::frame(Direction::Downlink, *n)).collect();
        Ok(Downlink { target: target(sessions)?, numbers, frames })
    }

    /// As [`run`].
    pub(crate) fn run(&self, rate: Option<f64>, length: Duration) -> Result<Run, Failure> {
        let is_right = |i: usize, data: &[u8]| self.is_right(i, data);
        let traffic = Traffic { from: sessions::N6, to: sessions::N3, frames: &self.frames, is_right: &is_right };
        run(&self.target, &traffic, rate, length)
    }

    /// Whether this is what must come of the frame of that index, but for the packet's number.
    pub(crate) fn is_right(&self, i: usize, data: &[u8]) -> bool {
        let (n, user) = (self.numbers[i], sessions::user_offset(Direction::Uplink));
        data.len() == user + sessions::USER_PACKET
            && data[46..50] == sessions::teid(n).to_be_bytes()
            && data[user + 16..user + 20] == sessions::ue(n).to_be_bytes()
    }
}

fn target(sessions: u32) -> Result<Arc<dyn Target>, Failure> {
    let ir = super::upf::compile(sessions.max(1024))?;
    let target: Arc<dyn Target> = Arc::new(load_x86(&ir)?);
    let entries = Sessions::new(&ir.program).map_err(Failure::Failed)?;
    target.apply(entries.initial()).map_err(failed)?;
    for from in (0..sessions).step_by(1_000) {
        target.apply(&entries.batch((from..(from + 1_000).min(sessions)).map(|n| (n, n)))).map_err(failed)?;
    }
    Ok(target)
}

/// Frames in turn, and what must come of each.
pub(crate) struct Traffic<'a> {
    /// The port by which they come in, and that by which they leave; both may be one.
    pub(crate) from: PortId,
    pub(crate) to: PortId,
    /// Their last 8 bytes get the packet's number.
    pub(crate) frames: &'a [Vec<u8>],
    /// Whether bytes are those that come of a frame, but for the number.
    pub(crate) is_right: &'a dyn Fn(usize, &[u8]) -> bool,
}

/// What a run has shown.
pub(crate) struct Run {
    pub(crate) packets: u64,
    pub(crate) elapsed: Duration,
    pub(crate) latency: Histogram<u64>,
}

/// Packets at `rate` a second, or as many as go; each is checked when it comes out.
pub(crate) fn run(target: &Arc<dyn Target>, traffic: &Traffic<'_>, rate: Option<f64>, length: Duration) -> Result<Run, Failure> {
    let (mut near, far) = pair("in", "in", QUEUE);
    let mut ports = vec![(traffic.from, Box::new(far) as Box<dyn Port>)];
    let mut out = (traffic.to != traffic.from).then(|| {
        let (near, far) = pair("out", "out", QUEUE);
        ports.push((traffic.to, Box::new(far)));
        near
    });
    let (events, _events) = crossbeam_channel::bounded(64);
    // A core for the worker and another for the load: two busy threads on one core measure the scheduler's slices.
    let cores = super::workers::cores();
    let own = rustix::thread::sched_getaffinity(None).map_err(failed)?;
    let settings = Settings { cores: cores.first().copied().into_iter().collect(), ..Settings::default() };
    let engine = Engine::start(target, vec![ports], settings, events).map_err(failed)?;
    // Now that the worker is off this core.
    let _back = cores.get(1).map(|load| Pinned::to(*load, own)).transpose()?;
    let mut load = Load { frames: traffic.frames, next: 0, packets: (0..BURST).map(|_| Packet::empty(0)).collect(), filled: 0, given: 0 };
    let mut sink = Sink { traffic, received: (0..BURST).map(|_| Packet::empty(0)).collect(), next: 0 };
    let mut latency = histogram()?;
    let begin = Instant::now();
    let interval_ns = rate.map(|rate| 1e9 / rate);
    // The first sixteenth warms caches up and is not recorded.
    let warm_ns = (length / 16).as_nanos() as u64;
    loop {
        let now = begin.elapsed();
        let sending = now < length;
        if sending {
            let due = interval_ns.map_or(u64::MAX, |interval| (now.as_nanos() as f64 / interval) as u64);
            // No more on the way than the queue out of the engine takes, or it drops some while this thread does not run.
            let most = sink.next + (QUEUE - BURST) as u64;
            load.send(&mut near, due.min(most))?;
        }
        let received = sink.receive(out.as_mut().unwrap_or(&mut near))?;
        let now_ns = begin.elapsed().as_nanos() as u64;
        if let Some(interval) = interval_ns {
            for i in sink.next - received..sink.next {
                let due_ns = ((i + 1) as f64 * interval) as u64;
                if due_ns > warm_ns {
                    latency.record(now_ns.saturating_sub(due_ns).max(1)).map_err(failed)?;
                }
            }
        }
        if !sending && sink.next == load.next {
            break;
        }
        if now > length * 2 + Duration::from_secs(10) {
            return Err(Failure::Failed(format!("{} packets went in, and {} came out", load.next, sink.next)));
        }
    }
    let elapsed = begin.elapsed();
    engine.stop();
    if engine.ledger().imbalance() != 0 {
        return Err(Failure::Failed(format!("not all packets were forwarded: {:?}", engine.ledger())));
    }
    Ok(Run { packets: sink.next, elapsed, latency })
}

/// What sends.
struct Load<'a> {
    frames: &'a [Vec<u8>],
    /// Packets sent.
    next: u64,
    packets: Vec<Packet>,
    /// Of the packets that are made: how many, and how many of them the port has taken.
    filled: usize,
    given: usize,
}

impl Load<'_> {
    /// Sends up to a burst of the packets before `due` that are not sent yet.
    fn send(&mut self, port: &mut MemoryPort, due: u64) -> Result<(), Failure> {
        if self.given == self.filled {
            let count = (due.saturating_sub(self.next)).min(BURST as u64);
            for i in 0..count {
                let number = self.next + i;
                let packet = &mut self.packets[i as usize];
                packet.set(&self.frames[(number % self.frames.len() as u64) as usize]);
                let at = packet.len() - NUMBER;
                packet.data_mut()[at..].copy_from_slice(&number.to_be_bytes());
            }
            (self.filled, self.given) = (count as usize, 0);
        }
        if self.given < self.filled {
            let taken = port.transmit(&self.packets[self.given..self.filled]).map_err(failed)?;
            self.given += taken;
            self.next += taken as u64;
        }
        Ok(())
    }
}

/// What receives and checks.
struct Sink<'a> {
    traffic: &'a Traffic<'a>,
    received: Vec<Packet>,
    /// Packets received.
    next: u64,
}

impl Sink<'_> {
    fn receive(&mut self, port: &mut MemoryPort) -> Result<u64, Failure> {
        let count = port.receive(&mut self.received).map_err(failed)?;
        for packet in &self.received[..count] {
            let data = packet.data();
            let right = data.len() > NUMBER
                && data[data.len() - NUMBER..] == self.next.to_be_bytes()
                && (self.traffic.is_right)((self.next % self.traffic.frames.len() as u64) as usize, data);
            if !right {
                return Err(Failure::Failed(format!("packet {} is lost, late or wrong; in its place: {packet:?}", self.next)));
            }
            self.next += 1;
        }
        Ok(count as u64)
    }
}

/// From a nanosecond to a minute, three digits.
pub(crate) fn histogram() -> Result<Histogram<u64>, Failure> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).map_err(failed)
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}
