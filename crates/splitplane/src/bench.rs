//! `splitplane bench`: speed of the x86 target on memory ports, against baselines in the same run, bytes verified.
//!
//! One thread takes bursts from a memory port, runs them through a lane and gives them to a memory port, as a worker of
//! the engine does. Rounds of all contestants are interleaved and medians are shown, because shared machines drift.

mod upf_load;

use crate::failure::Failure;
use base::{Packet, PortId, Verdict, VerdictKind};
use pktio::Port;
use pktio::memory::LoopPort;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use target::{BURST, Lane, Target};
use upf_load::{Direction, Load};

/// Benchmarks.
#[derive(clap::Subcommand, Debug)]
pub enum BenchCommand {
    /// The UPF's pipeline, uplink and downlink, 64-byte inner frames, one core.
    Upf(UpfArgs),
}

/// Options of `bench upf`.
#[derive(clap::Args, Debug)]
pub struct UpfArgs {
    /// Numbers of sessions.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 64_000], value_parser = clap::value_parser!(u32).range(1..=500_000))]
    sessions: Vec<u32>,
    /// Rounds of each contestant; medians are shown.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=101))]
    rounds: u32,
    /// Milliseconds of a round.
    #[arg(long, default_value_t = 150, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    round_ms: u64,
    /// Writes the figures here, as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
}

/// Runs one.
pub fn bench(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::Upf(args) => upf(args),
    }
}

/// Rates of one contestant in Mpps, one a round.
#[derive(Clone, Debug, Default, serde::Serialize)]
struct Rates(Vec<f64>);

impl Rates {
    fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    fn spread(&self) -> (f64, f64) {
        let fold = |f: fn(f64, f64) -> f64, start| self.0.iter().copied().fold(start, f);
        (fold(f64::min, f64::INFINITY), fold(f64::max, 0.0))
    }
}

/// A row of the result.
#[derive(Clone, Debug, serde::Serialize)]
struct Row {
    sessions: u32,
    direction: Direction,
    verified: usize,
    x86_mpps: Rates,
    interpreter_mpps: Rates,
    wire_mpps: Rates,
}

fn upf(args: &UpfArgs) -> Result<(), Failure> {
    println!("machine: {}", machine());
    println!("upf.p4, one core, 64-byte inner frames, uniform random sessions, memory ports; QFI, gate, MBR meter, URR counter, routing");
    println!("median Mpps of {} interleaved rounds of {} ms (lowest to highest)\n", args.rounds, args.round_ms);
    println!(
        "{:>8} {:>9}  {:>22}  {:>12}  {:>8}  {:>16}  verified",
        "sessions", "direction", "x86", "interpreter", "ratio", "p4wire on x86"
    );
    let mut wire = upf_load::wire()?;
    let mut rows = Vec::new();
    for sessions in &args.sessions {
        progress(&format!("installing {sessions} sessions"));
        let mut load = Load::new(*sessions)?;
        for direction in [Direction::Downlink, Direction::Uplink] {
            progress(&format!("{sessions} sessions, {direction}: comparing output with the interpreter"));
            let verified = verify(&mut load, direction)?;
            let frames = load.frames(direction).to_vec();
            let mut row = Row {
                sessions: *sessions,
                direction,
                verified,
                x86_mpps: Rates::default(),
                interpreter_mpps: Rates::default(),
                wire_mpps: Rates::default(),
            };
            let length = Duration::from_millis(args.round_ms);
            for round in 0..args.rounds {
                progress(&format!("{sessions} sessions, {direction}: round {} of {}", round + 1, args.rounds));
                row.x86_mpps.0.push(round_of(&mut *load.x86_lane, direction.port(), &frames, length)?);
                row.wire_mpps.0.push(round_of(&mut *wire.lane, PortId(0), &frames, length)?);
                row.interpreter_mpps.0.push(round_of(&mut *load.oracle_lane, direction.port(), &frames, length)?);
            }
            progress("");
            let (x86, (low, high)) = (row.x86_mpps.median(), row.x86_mpps.spread());
            let (interp, wire) = (row.interpreter_mpps.median(), row.wire_mpps.median());
            println!(
                "{sessions:>8} {:>9}  {:>6.2} ({low:>5.2} to {high:>5.2})  {interp:>12.3}  {:>7.1}x  {wire:>16.1}  {verified} frames",
                direction.to_string(),
                x86,
                x86 / interp
            );
            rows.push(row);
        }
    }
    if let Some(path) = &args.json {
        let json = serde_json::json!({ "machine": machine(), "rounds": args.rounds, "round_ms": args.round_ms, "rows": rows });
        std::fs::write(path, format!("{json:#}\n")).map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))?;
    }
    Ok(())
}

/// Runs every frame through x86 and the interpreter and compares verdicts and bytes; all must be forwarded.
fn verify(load: &mut Load, direction: Direction) -> Result<usize, Failure> {
    let mut fast: Vec<Packet> = (0..BURST).map(|_| Packet::empty(0)).collect();
    let mut slow = fast.clone();
    let (mut fast_verdicts, mut slow_verdicts) = (vec![Verdict::default(); BURST], vec![Verdict::default(); BURST]);
    let frames = load.frames(direction).to_vec();
    let mut now_ns = 1_000_000_000;
    for burst in frames.chunks(BURST) {
        let n = burst.len();
        // Slowly enough that no meter is exceeded.
        now_ns += 1_000_000;
        for (i, frame) in burst.iter().enumerate() {
            for packets in [&mut fast, &mut slow] {
                packets[i].set(frame);
                packets[i].port = direction.port();
            }
        }
        load.x86_lane.process(&mut fast[..n], &mut fast_verdicts[..n], now_ns);
        load.oracle_lane.process(&mut slow[..n], &mut slow_verdicts[..n], now_ns);
        for i in 0..n {
            let same = fast_verdicts[i] == slow_verdicts[i] && fast[i].data() == slow[i].data();
            if !same || fast_verdicts[i].kind != VerdictKind::Forward {
                let what = if same { "is not forwarded" } else { "differs from the interpreter's" };
                return Err(Failure::Failed(format!("{direction}: a packet {what}: {:?} and {:?}", fast_verdicts[i], slow_verdicts[i])));
            }
        }
    }
    Ok(frames.len())
}

/// One round: Mpps. Every packet must be forwarded, or the figure would be of drops.
fn round_of(lane: &mut dyn Lane, port: PortId, frames: &[Vec<u8>], length: Duration) -> Result<f64, Failure> {
    let fail = |e: pktio::PortError| Failure::Failed(e.to_string());
    let mut source = LoopPort::new("source", frames, None).map_err(fail)?;
    let mut sink = LoopPort::new("sink", &frames[..1], Some(0)).map_err(fail)?;
    let mut packets: Vec<Packet> = (0..BURST).map(|_| Packet::empty(0)).collect();
    let mut verdicts = vec![Verdict::default(); BURST];
    let begin = Instant::now();
    let mut done = 0u64;
    // The clock of the meters runs a hundred times faster than time, so that the load stays below every rate.
    let mut now_ns = 2_000_000_000_000;
    while begin.elapsed() < length {
        for _ in 0..16 {
            let n = source.receive(&mut packets).map_err(fail)?;
            packets[..n].iter_mut().for_each(|p| p.port = port);
            now_ns += 1_000_000;
            lane.process(&mut packets[..n], &mut verdicts[..n], now_ns);
            if let Some(other) = verdicts[..n].iter().find(|v| v.kind != VerdictKind::Forward) {
                return Err(Failure::Failed(format!("a packet was not forwarded: {other:?}")));
            }
            let sent = sink.transmit(&packets[..n]).map_err(fail)?;
            done += sent as u64;
        }
    }
    Ok(done as f64 / begin.elapsed().as_secs_f64() / 1e6)
}

fn progress(text: &str) {
    let mut err = std::io::stderr();
    if err.is_terminal() {
        let _ = write!(err, "\r\x1b[K{text}");
        let _ = err.flush();
    }
}

fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|l| l.strip_prefix("model name")).map_or("unknown CPU", |l| l.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{model}, {cores} cores visible, Linux {}", kernel.trim())
}

/// Loads a program on x86 with the system's compiler.
fn load_x86(ir: &p4_ir::Ir) -> Result<target_x86::X86, Failure> {
    let text = p4_emit::emit_x86(ir).map_err(|e| Failure::Failed(e.to_string()))?;
    target_x86::X86::load(std::sync::Arc::new(ir.program.clone()), &text, &Default::default()).map_err(|e| Failure::Usage(e.to_string()))
}

/// A target and its one lane.
struct OneLane {
    _target: Box<dyn Target>,
    lane: Box<dyn Lane>,
}
