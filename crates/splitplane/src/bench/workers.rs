//! `bench workers`: what a second worker of the engine brings.
//!
//! Each worker has ports of its own, over which packets of its share of the sessions come as fast as it takes them: what a network
//! card with a queue for each worker does. Rates are by the clock, as workers must not wait for each other either; and beside that
//! by processor time, which leaves out what other people's processes took.

use super::contestant::load_x86;
use super::measure::{Rounds, process_time};
use super::options::Common;
use super::report;
use super::sessions::{self, Direction, Sessions};
use super::source::SessionPort;
use crate::failure::Failure;
use engine::{Engine, Settings};
use pktio::LoopPort;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use target::Target;

/// Options of `bench workers`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Numbers of workers [default: 1 and 2].
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2], value_parser = clap::value_parser!(u32).range(1..=64))]
    workers: Vec<u32>,
    /// Sessions [default: 64000; with --quick: 200].
    #[arg(long, value_parser = clap::value_parser!(u32).range(64..=1_000_000))]
    sessions: Option<u32>,
    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// As `bench all` has them.
    pub fn with(common: Common) -> Args {
        Args { workers: vec![1, 2], sessions: None, common }
    }
}

/// Runs it; the figures as JSON.
pub fn workers(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    let sessions = args.sessions.unwrap_or(common.size(64_000, 200));
    println!("bench workers: the engine on x86 with {sessions} sessions, a queue of the ports for each worker; Mpps by the clock");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if args.workers.iter().any(|w| *w as usize > cores) {
        println!("  note: this machine has {cores} cores; more workers than that take turns");
    }
    let bar = report::progress(u64::from(common.rounds()) * 2);
    let mut rows = Vec::new();
    for direction in [Direction::Downlink, Direction::Uplink] {
        let mut rounds = vec![Rounds::default(); args.workers.len()];
        let mut by_cpu = rounds.clone();
        let mut verified = vec![0u64; args.workers.len()];
        let mut fields = args.workers.iter().map(|w| Field::new(*w, sessions, common)).collect::<Result<Vec<_>, _>>()?;
        for _ in 0..common.rounds() {
            for (i, field) in fields.iter_mut().enumerate() {
                let round = field.round(direction, common)?;
                rounds[i].0.push(round.mpps);
                by_cpu[i].0.push(round.mpps_by_cpu);
                verified[i] += round.packets;
            }
            bar.inc(1);
        }
        for (i, workers) in args.workers.iter().enumerate() {
            let times = rounds[i].ratio(&rounds[0]);
            let mut row = report::rate(&format!("{workers} workers, {direction}"), "Mpps", &rounds[i], verified[i] as usize);
            row["workers"] = json!(workers);
            row["steering"] = json!("port");
            row["times_first"] = times.json();
            let times_by_cpu = by_cpu[i].ratio(&by_cpu[0]);
            row["by_processor_time"] = by_cpu[i].json();
            row["times_first_by_processor_time"] = times_by_cpu.json();
            let note = format!("{:.2} times {} workers; by processor time {:.2}", times.median(), args.workers[0], times_by_cpu.median());
            row["note"] = json!(note);
            bar.suspend(|| report::print_rate(&row));
            rows.push(row);
        }
    }
    bar.finish_and_clear();
    let figures = json!({ "bench": "workers", "machine": machine, "round_ms": common.round().as_millis() as u64, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

/// What a round has shown.
struct Round {
    /// By the clock.
    mpps: f64,
    /// As if each worker had had a core to itself: by the time that they had on processors.
    mpps_by_cpu: f64,
    /// All packets, from start to stop.
    packets: u64,
}

/// A target with its sessions, for some number of workers.
struct Field {
    target: Arc<dyn Target>,
    usage: program::CounterId,
    sessions: u32,
    /// Sessions of each worker's packets.
    numbers: Vec<Arc<[u32]>>,
}

impl Field {
    fn new(workers: u32, sessions: u32, common: &Common) -> Result<Field, Failure> {
        let ir = super::upf::compile(sessions.max(1024))?;
        let target: Arc<dyn Target> = Arc::new(load_x86(&ir)?);
        let entries = Sessions::new(&ir.program)?;
        target.apply(entries.initial()).map_err(failed)?;
        for from in (0..sessions).step_by(1_000) {
            target.apply(&entries.batch((from..(from + 1_000).min(sessions)).map(|n| (n, n)))).map_err(failed)?;
        }
        let numbers = (0..workers).map(|worker| share(worker, workers, sessions, common.size(1 << 20, 4096))).collect();
        Ok(Field { target, usage: entries.usage(), sessions, numbers })
    }

    /// All workers together; the packets that were counted for users are as many as the ports sent.
    fn round(&mut self, direction: Direction, common: &Common) -> Result<Round, Failure> {
        let before = self.counted();
        let ports = |numbers: &Arc<[u32]>| -> Result<engine::WorkerPorts, Failure> {
            let source = SessionPort::new(direction, numbers.clone(), 0);
            let sink = LoopPort::new("sink", &[vec![0; 64]], Some(0)).map_err(failed)?;
            let other = if direction == Direction::Uplink { sessions::N6 } else { sessions::N3 };
            Ok(vec![(direction.port(), Box::new(source)), (other, Box::new(sink))])
        };
        let all = self.numbers.iter().map(ports).collect::<Result<Vec<_>, _>>()?;
        let (events, received) = crossbeam_channel::bounded(64);
        let engine = Engine::start(&self.target, all, Settings::default(), events).map_err(failed)?;
        // From when the first packets have gone through; on a busy machine workers may be late.
        let (start, deadline) = (Instant::now(), Duration::from_secs(20));
        while sent(&engine) == 0 && start.elapsed() < deadline {
            std::thread::sleep(common.round() / 8);
        }
        let (begin, cpu, first) = (Instant::now(), process_time(), sent(&engine));
        std::thread::sleep(common.round());
        while sent(&engine) == first && start.elapsed() < deadline {
            std::thread::sleep(common.round());
        }
        let (moved, elapsed) = ((sent(&engine) - first) as f64 / 1e6, begin.elapsed());
        let cpu = (process_time() - cpu).as_secs_f64();
        engine.stop();
        let ledger = engine.ledger();
        if ledger.imbalance() != 0 || !ledger.dropped.is_empty() || !ledger.punted.is_empty() || received.try_recv().is_ok() {
            return Err(Failure::Failed(format!("not all packets were forwarded: {ledger:?}")));
        }
        let packets = self.counted() - before;
        if packets == 0 || packets != sent(&engine) {
            return Err(Failure::Failed(format!("{} packets were sent, and {packets} counted for users", sent(&engine))));
        }
        let workers = self.numbers.len() as f64;
        Ok(Round { mpps: moved / elapsed.as_secs_f64(), mpps_by_cpu: moved * workers / cpu, packets })
    }

    /// Packets counted for all sessions.
    fn counted(&self) -> u64 {
        (1..=2 * u64::from(self.sessions)).map(|cell| self.target.counter(self.usage, cell).packets).sum()
    }
}

/// What all workers have sent.
fn sent(engine: &Engine) -> u64 {
    engine.ledger().ports.values().map(|port| port.transmitted.packets).sum()
}

/// Sessions at random that belong to a worker: both directions of a session are the same worker's.
fn share(worker: u32, workers: u32, sessions: u32, count: usize) -> Arc<[u32]> {
    let mut rng = rand::rngs::StdRng::seed_from_u64(u64::from(worker) + 1);
    (0..count).map(|_| rng.random_range(0..sessions / workers) * workers + worker).collect()
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}
