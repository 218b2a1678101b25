//! `bench workers`: what a second worker of the engine brings, where ports divide packets among workers and where the engine does.
//!
//! - `port`: each worker has ports of its own, over which packets of its share of the sessions come: what a network card with a queue for
//!   each worker does.
//! - `engine`: a master receives everything from one port, and gives each packet to a worker by a hash of its UE. When a worker's ring
//!   is full, the master waits, so that nothing is dropped.
//! - `xdp`, with `--af-xdp`: real ports, of one queue each; a program in the kernel gives each packet to a worker's socket by its UE
//!   (`wire.rs`). The sender's thread also pays for what the kernel does to receive, and what workers cannot take is lost before
//!   them, so *by the clock* is what three threads make of the cores that there are. A worker's time has its system calls in it, and
//!   its looks at empty sockets.
//!
//! Packets come as fast as they are taken. Threads are pinned to cores in turn, the master first. A rate is by the clock, as threads must
//! not wait for each other either; beside it stands what a packet cost the threads in time on a processor, which leaves out what other
//! people's processes took: from it follows what as many cores of their own would carry.

use super::contestant::load_x86;
use super::measure::{Rounds, threads_time};
use super::options::Common;
use super::report;
use super::sessions::{self, Direction, Sessions};
use super::source::SessionPort;
use super::wire::Wire;
use cli::failure::Failure;
use engine::{Engine, Settings, WhenFull, WorkerPorts};
use pktio::LoopPort;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use target_api::Target;

/// Options of `bench workers`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Numbers of workers [default: 1 and 2].
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2], value_parser = clap::value_parser!(u32).range(1..=64))]
    workers: Vec<u32>,
    /// Sessions [default: 64000; with --quick: 200].
    #[arg(long, value_parser = clap::value_parser!(u32).range(64..=1_000_000))]
    sessions: Option<u32>,
    /// Also over AF_XDP sockets on veth pairs, steered in the kernel (as root).
    #[arg(long)]
    af_xdp: bool,
    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// As `bench all` has them.
    pub fn with(common: Common) -> Args {
        Args { workers: vec![1, 2], sessions: None, af_xdp: false, common }
    }
}

/// Who divides packets among workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steering {
    Port,
    Engine,
    Xdp,
}

impl Steering {
    fn name(self) -> &'static str {
        match self {
            Steering::Port => "port",
            Steering::Engine => "engine",
            Steering::Xdp => "xdp",
        }
    }
}

/// Runs it; the figures as JSON.
pub(super) fn workers(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    let sessions = args.sessions.unwrap_or(common.size(64_000, 200));
    let cores = cores();
    println!(
        "bench workers: the engine on x86 with {sessions} sessions, threads pinned to {} cores; median (min to max) of {} rounds of {} ms",
        cores.len(),
        common.rounds(),
        common.round().as_millis()
    );
    println!(
        "  {:<34} {:>24} {:>9} {:>24} {:>12} {:>12}",
        "", "Mpps by the clock", "x first", "Mpps on cores alone", "ns, worker", "ns, master"
    );
    let bar = report::progress(u64::from(common.rounds()) * 2);
    let installed = Installed::new(sessions)?;
    let mut fields = Vec::new();
    for steering in [Steering::Port, Steering::Engine, Steering::Xdp] {
        for workers in args.workers.iter().filter(|_| args.af_xdp || steering != Steering::Xdp) {
            // An engine on real ports goes on between rounds, and two cannot have the same lanes.
            let installed = if steering == Steering::Xdp { Installed::new(sessions)? } else { installed.clone() };
            fields.push(Field::new(steering, *workers, installed, &cores, common)?);
        }
    }
    let mut rows = Vec::new();
    for direction in [Direction::Downlink, Direction::Uplink] {
        let mut rounds: Vec<Vec<Round>> = fields.iter().map(|_| Vec::new()).collect();
        for _ in 0..common.rounds() {
            for (field, rounds) in fields.iter_mut().zip(&mut rounds) {
                rounds.push(field.round(direction, common)?);
            }
            bar.inc(1);
        }
        for (field, of_field) in fields.iter().zip(&rounds) {
            // Each real port beside real ports.
            let first = fields.iter().position(|f| (f.steering == Steering::Xdp) == (field.steering == Steering::Xdp)).unwrap_or(0);
            let row = field.row(direction, of_field, &rounds[first]);
            bar.suspend(|| print(&row));
            rows.push(row);
        }
    }
    bar.finish_and_clear();
    println!("  on cores alone: what workers, and a master, would carry by their time on processors, each on a core of its own");
    let figures = json!({
        "bench": "workers", "machine": machine, "sessions": sessions, "round_ms": common.round().as_millis() as u64, "rows": rows,
    });
    common.write(&figures)?;
    Ok(figures)
}

/// What a round has shown.
struct Round {
    /// By the clock.
    mpps: f64,
    /// Time of all workers on processors, for a packet. 0 where the kernel does not tell.
    worker_ns: f64,
    /// The master's; 0 without one.
    master_ns: f64,
    /// All packets, from start to stop.
    packets: u64,
    /// The share of the packets that the least loaded worker had.
    least_share: f64,
}

impl Round {
    /// Millions a second that threads would do on cores of their own; the master may be the one that limits.
    fn alone(&self, workers: usize) -> f64 {
        let of = |ns: f64| if ns > 0.0 { 1e3 / ns } else { f64::INFINITY };
        let least = (of(self.worker_ns) * workers as f64).min(of(self.master_ns));
        if least.is_finite() { least } else { 0.0 }
    }
}

/// A target with its sessions.
#[derive(Clone)]
struct Installed {
    target: Arc<dyn Target>,
    usage: program::CounterId,
    sessions: u32,
}

impl Installed {
    fn new(sessions: u32) -> Result<Installed, Failure> {
        let ir = super::upf::compile(sessions.max(1024))?;
        let target: Arc<dyn Target> = Arc::new(load_x86(&ir)?);
        let entries = Sessions::new(&ir.program).map_err(Failure::Failed)?;
        target.apply(entries.initial()).map_err(failed)?;
        for from in (0..sessions).step_by(1_000) {
            target.apply(&entries.batch((from..(from + 1_000).min(sessions)).map(|n| (n, n)))).map_err(failed)?;
        }
        Ok(Installed { target, usage: entries.usage(), sessions })
    }

    /// Packets counted for all sessions.
    fn counted(&self) -> u64 {
        (1..=2 * u64::from(self.sessions)).map(|cell| self.target.counter(self.usage, cell).packets).sum()
    }

    /// Nothing was dropped, and what was sent was counted for users.
    fn check(&self, engine: &Engine, counted_before: u64, sent: u64) -> Result<(), Failure> {
        let ledger = engine.ledger();
        if ledger.imbalance() != 0 || !ledger.dropped.is_empty() || !ledger.punted.is_empty() {
            return Err(Failure::Failed(format!("not all packets were forwarded: {ledger:?}")));
        }
        let counted = self.counted() - counted_before;
        if counted == 0 || counted != sent {
            return Err(Failure::Failed(format!("{sent} packets were sent, and {counted} counted for users")));
        }
        Ok(())
    }
}

/// Some number of workers and what divides packets among them.
struct Field {
    steering: Steering,
    workers: usize,
    cores: Vec<usize>,
    installed: Installed,
    /// Sessions of the packets of each port.
    numbers: Vec<Arc<[u32]>>,
    /// Real ports, where they are; their engine goes on between rounds.
    wire: Option<Wire>,
}

impl Field {
    fn new(steering: Steering, workers: u32, installed: Installed, cores: &[usize], common: &Common) -> Result<Field, Failure> {
        let ports = if steering == Steering::Port { workers } else { 1 };
        let numbers = (0..ports).map(|port| share(port, ports, installed.sessions, common.size(1 << 20, 4096))).collect();
        let wire = match steering {
            Steering::Xdp => Some(Wire::new(&installed.target, workers as usize, cores)?),
            Steering::Port | Steering::Engine => None,
        };
        Ok(Field { steering, workers: workers as usize, cores: cores.to_vec(), installed, numbers, wire })
    }

    /// All workers together; the packets that were counted for users are as many as the ports sent.
    fn round(&mut self, direction: Direction, common: &Common) -> Result<Round, Failure> {
        let before = self.installed.counted();
        if let Some(wire) = &mut self.wire {
            let source = SessionPort::new(direction, self.numbers[0].clone(), 0);
            let (sent_before, workers_before) = (sent(&wire.engine), wire.engine.received_by_worker());
            let round = wire.feed(direction, source, |engine| measure(engine, common))?;
            let by_worker = wire.engine.received_by_worker();
            let by_worker: Vec<u64> = by_worker.iter().zip(&workers_before).map(|(now, was)| now - was).collect();
            let least = by_worker.iter().min().copied().unwrap_or(0) as f64 / by_worker.iter().sum::<u64>().max(1) as f64;
            let packets = sent(&wire.engine) - sent_before;
            return self.installed.check(&wire.engine, before, packets).map(|()| Round { packets, least_share: least, ..round });
        }
        let (events, received) = crossbeam_channel::bounded(64);
        let engine = self.start(direction, events)?;
        let round = measure(&engine, common)?;
        engine.stop();
        if received.try_recv().is_ok() {
            return Err(Failure::Failed("not all packets were forwarded".into()));
        }
        let packets = sent(&engine);
        self.installed.check(&engine, before, packets).map(|()| Round { packets, ..round })
    }

    /// The engine on sources that never end, and sinks.
    fn start(&self, direction: Direction, events: crossbeam_channel::Sender<engine::Event>) -> Result<Engine, Failure> {
        let ports = |numbers: &Arc<[u32]>| -> Result<WorkerPorts, Failure> {
            let source = SessionPort::new(direction, numbers.clone(), 0);
            let sink = LoopPort::new("sink", &[vec![0; 64]], Some(0)).map_err(failed)?;
            let other = if direction == Direction::Uplink { sessions::N6 } else { sessions::N3 };
            Ok(vec![(direction.port(), Box::new(source)), (other, Box::new(sink))])
        };
        let settings = Settings { cores: self.cores.clone(), when_full: WhenFull::Wait, ..Settings::default() };
        let mut all = self.numbers.iter().map(ports).collect::<Result<Vec<_>, _>>()?;
        match self.steering {
            Steering::Port => Engine::start(&self.installed.target, all, settings, events),
            Steering::Engine | Steering::Xdp => {
                Engine::start_steered(&self.installed.target, all.remove(0), upf::steer::ue_hash, self.workers, settings, events)
            }
        }
        .map_err(failed)
    }

    fn row(&self, direction: Direction, rounds: &[Round], first: &[Round]) -> Value {
        let of = |rounds: &[Round], what: fn(&Round) -> f64| Rounds(rounds.iter().map(what).collect());
        let alone = |rounds: &[Round], workers: usize| Rounds(rounds.iter().map(|r| r.alone(workers)).collect());
        let mpps = of(rounds, |r| r.mpps);
        // A master, or a sender.
        let threads = self.workers + usize::from(self.steering != Steering::Port);
        let turns = threads > self.cores.len();
        let what = format!(
            "{direction}, {} by {}",
            if self.workers == 1 { "1 worker".into() } else { format!("{} workers", self.workers) },
            self.steering.name()
        );
        let mut row = report::rate(&what, "Mpps", &mpps, rounds.iter().map(|r| r.packets as usize).sum());
        row["direction"] = json!(direction);
        row["workers"] = json!(self.workers);
        row["steering"] = json!(self.steering.name());
        row["times_first"] = mpps.ratio(&of(first, |r| r.mpps)).json();
        row["on_cores_alone"] = alone(rounds, self.workers).json();
        row["worker_ns"] = of(rounds, |r| r.worker_ns).json();
        row["master_ns"] = if self.steering == Steering::Engine { of(rounds, |r| r.master_ns).json() } else { Value::Null };
        row["threads_take_turns"] = json!(turns);
        if self.wire.is_some() {
            row["least_share"] = of(rounds, |r| r.least_share).json();
        }
        row
    }
}

/// Once round the clock, while packets come.
fn measure(engine: &Engine, common: &Common) -> Result<Round, Failure> {
    // From when the first packets have gone through; on a busy machine workers may be late.
    let (start, deadline, before) = (Instant::now(), Duration::from_secs(20), sent(engine));
    while sent(engine) == before && start.elapsed() < deadline {
        std::thread::sleep(common.round() / 8);
    }
    let time = || (threads_time("worker-"), threads_time("master"));
    let (begin, first, (worker, master)) = (Instant::now(), sent(engine), time());
    std::thread::sleep(common.round());
    while sent(engine) == first && start.elapsed() < deadline {
        std::thread::sleep(common.round());
    }
    let (moved, elapsed, after) = ((sent(engine) - first) as f64, begin.elapsed(), time());
    if moved == 0.0 {
        return Err(Failure::Failed("no packets went through".into()));
    }
    let a_packet = |after: Duration, before: Duration| after.saturating_sub(before).as_nanos() as f64 / moved;
    Ok(Round {
        mpps: moved / elapsed.as_secs_f64() / 1e6,
        worker_ns: a_packet(after.0, worker),
        master_ns: a_packet(after.1, master),
        packets: 0,
        least_share: 0.0,
    })
}

fn print(row: &Value) {
    let number = |of: &Value| of.as_f64().unwrap_or_default();
    let range = |of: &Value| format!("{:.2} ({:.2} to {:.2})", number(&of["median"]), number(&of["min"]), number(&of["max"]));
    println!(
        "  {:<34} {:>24} {:>9.2} {:>24} {:>12.1} {:>12}{}",
        row["what"].as_str().unwrap_or_default(),
        range(&row["rate"]),
        number(&row["times_first"]["median"]),
        range(&row["on_cores_alone"]),
        number(&row["worker_ns"]["median"]),
        row["master_ns"]["median"].as_f64().map_or_else(|| "-".into(), |ns| format!("{ns:.1}")),
        if row["threads_take_turns"] == true { "  (more threads than cores)" } else { "" }
    );
    if let Some(share) = row["least_share"]["median"].as_f64() {
        println!("  {:<34} {:>24}", "", format!("least share {share:.2}"));
    }
}

/// What all workers have sent.
fn sent(engine: &Engine) -> u64 {
    engine.ledger().ports.values().map(|port| port.transmitted.packets).sum()
}

/// Sessions at random that belong to a port: both directions of a session are the same port's.
fn share(port: u32, ports: u32, sessions: u32, count: usize) -> Arc<[u32]> {
    let mut rng = rand::rngs::StdRng::seed_from_u64(u64::from(port) + 1);
    (0..count).map(|_| rng.random_range(0..sessions / ports) * ports + port).collect()
}

/// What so many workers carry downlink with each thread on a core of its own, in millions of packets a second by the time that threads take: where
/// the engine's master steers, and where ports do.
pub(crate) fn steered(workers: u32, sessions: u32, common: &Common) -> Result<[Rounds; 2], Failure> {
    let (cores, installed) = (cores(), Installed::new(sessions)?);
    let field = |steering| Field::new(steering, workers, installed.clone(), &cores, common);
    let mut fields = [field(Steering::Engine)?, field(Steering::Port)?];
    let mut rates = [Rounds::default(), Rounds::default()];
    for _ in 0..common.rounds() {
        for (field, rates) in fields.iter_mut().zip(&mut rates) {
            // On a busy machine a short round may end before a thread has run at all.
            let mut rate = 0.0;
            for _ in 0..10 {
                rate = field.round(Direction::Downlink, common)?.alone(workers as usize);
                if rate > 0.0 {
                    break;
                }
            }
            rates.0.push(rate);
        }
    }
    match rates.iter().all(|rates| rates.median() > 0.0) {
        true => Ok(rates),
        false => Err(Failure::Usage("this kernel does not tell how long threads ran (/proc/self/task/*/schedstat)".into())),
    }
}

/// Cores that this process may run on.
pub(super) fn cores() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).unwrap_or_default();
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}
