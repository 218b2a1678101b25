//! `bench dpdk`: what DPDK's devices carry through our ports, and the UPF between two processes over shared memory.
//!
//! First devices that are nothing but memory, in one thread. Then this binary starts itself again: the second process sends over memif and
//! compares every byte that comes back, with what it sent where the first process only echoes, and with the interpreter's output where
//! it runs the UPF as native code. A window of packets is in flight at a time, so nothing is lost.
//!
//! **The second process stays until the first has left its devices**: when one end of a memif goes, a thread of DPDK's unmaps what both share,
//! under whoever polls the other end just then, who dies of that without a word.

use super::contestant::{Judge, OnLane, load_x86};
use super::measure::{Rounds, Runner, thread_time};
use super::options::Common;
use super::report;
use super::sessions::{self, Direction, Sessions};
use super::source::SessionPort;
use super::upf;
use base::{Packet, PortId, VerdictKind};
use cli::failure::Failure;
use dpdk::DpdkPort;
use pktio::Port;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};
use target_api::{BURST, Target};

/// Options of `bench dpdk`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Sessions of the UPF.
    #[arg(long, default_value_t = SESSIONS, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    sessions: u32,
    /// The second process: its folder of sockets.
    #[arg(long, hide = true)]
    peer: Option<PathBuf>,
    /// What the first process does.
    #[arg(long, hide = true, value_enum, default_value = "echo")]
    task: Task,
    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// As `bench all` has them.
    pub fn with(common: Common) -> Args {
        Args { sessions: SESSIONS, peer: None, task: Task::Echo, common }
    }
}

/// What the first process does with packets.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    /// Sends them back as they are.
    Echo,
    /// Runs the UPF on them, to the UEs.
    Downlink,
    /// From the UEs.
    Uplink,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Task::Echo => "echo",
            Task::Downlink => "downlink",
            Task::Uplink => "uplink",
        }
    }

    /// Of the packets.
    fn direction(self) -> Direction {
        if self == Task::Uplink { Direction::Uplink } else { Direction::Downlink }
    }
}

/// Sessions by default.
const SESSIONS: u32 = 1_000;
/// Free memory in huge pages that it takes to use them, and memory in normal ones, in MiB.
const MEMORY_MIB: (u32, u32) = (256, 512);

/// Packets in flight at a time.
const WINDOW: u64 = 512;
/// Distinct packets that go round.
const PACKETS: usize = 4096;
/// Patience with the other process.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs it, or the second process's part; the figures as JSON.
pub(super) fn dpdk(args: &Args) -> Result<Value, Failure> {
    dpdk::start_shared(MEMORY_MIB.0, MEMORY_MIB.1).map_err(|e| Failure::Usage(e.to_string()))?;
    if let Some(folder) = &args.peer {
        return peer(args, folder).map(|()| Value::Null);
    }
    let machine = report::machine();
    report::print_machine(&machine);
    println!(
        "bench dpdk: DPDK {}, median (min to max) of {} rounds of {} ms; devices by this thread's time, two processes by the clock",
        dpdk::BUILT_WITH.unwrap_or("unknown"),
        args.common.rounds(),
        args.common.round().as_millis()
    );
    let mut rows = devices(&args.common)?;
    rows.iter().for_each(report::print_rate);
    for task in [Task::Echo, Task::Downlink, Task::Uplink] {
        let row = between_processes(args, task)?;
        report::print_rate(&row);
        rows.push(row);
    }
    let round_ms = args.common.round().as_millis() as u64;
    let figures = json!({ "bench": "dpdk", "machine": machine, "sessions": args.sessions, "round_ms": round_ms, "rows": rows });
    args.common.write(&figures)?;
    Ok(figures)
}

fn open(device: &str) -> Result<DpdkPort, Failure> {
    let fail = |e: dpdk::Error| Failure::Usage(e.to_string());
    let mut ports = dpdk::open("bench", &device.parse().map_err(fail)?, dpdk::Options::default()).map_err(fail)?;
    ports.pop().ok_or_else(|| Failure::Failed(format!("{device}: no queue")))
}

fn failed(e: pktio::PortError) -> Failure {
    Failure::Failed(e.to_string())
}

/// What a device's packets must be.
enum Holds {
    Bytes(Vec<u8>),
    Length(usize),
}

/// Devices in memory: received and sent again, in bursts, by this thread's time.
fn devices(common: &Common) -> Result<Vec<Value>, Failure> {
    let mut all = Vec::new();
    // What is in a null device's packets nobody has written; their lengths at least can be wrong.
    for (number, size) in [64, 512, 1500].into_iter().enumerate() {
        let port = open(&format!("net_null{number},size={size}"))?;
        all.push((format!("net_null, {size} bytes: receive and send, both copied"), port, Holds::Length(size), Rounds::default()));
    }
    let mut ring = open("net_ring0")?;
    let frame: Vec<u8> = (0..64).collect();
    ring.transmit(&vec![Packet::new(&frame, PortId(0)); 256]).map_err(failed)?;
    all.push(("net_ring, 64 bytes: receive and send, both copied".to_owned(), ring, Holds::Bytes(frame), Rounds::default()));
    let mut packets: Vec<Packet> = (0..BURST).map(|_| Packet::empty(0)).collect();
    for _ in 0..common.rounds() {
        for (_, port, _, rounds) in &mut all {
            let (begin, mut count) = (thread_time(), 0u64);
            while thread_time() - begin < common.round() {
                for _ in 0..16 {
                    let n = port.receive(&mut packets).map_err(failed)?;
                    count += port.transmit(&packets[..n]).map_err(failed)? as u64;
                }
            }
            rounds.0.push(count as f64 / (thread_time() - begin).as_secs_f64() / 1e6);
        }
    }
    let mut rows = Vec::new();
    for (what, port, holds, rounds) in &mut all {
        let n = port.receive(&mut packets).map_err(failed)?;
        let right = |packet: &Packet| match holds {
            Holds::Bytes(bytes) => packet.data() == bytes.as_slice(),
            Holds::Length(length) => packet.len() == *length,
        };
        if n == 0 || !packets[..n].iter().all(right) {
            return Err(Failure::Failed(format!("{what}: frames changed")));
        }
        rows.push(report::rate(what, "Mpps", rounds, n));
    }
    Ok(rows)
}

/// This process between the two ends of the other.
fn between_processes(args: &Args, task: Task) -> Result<Value, Failure> {
    let folder = std::env::temp_dir().join(format!("splitplane-bench-{}-{}", std::process::id(), task.name()));
    std::fs::create_dir(&folder).map_err(|e| Failure::Failed(format!("{}: {e}", folder.display())))?;
    let result = between(args, task, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn between(args: &Args, task: Task, folder: &Path) -> Result<Value, Failure> {
    let mut from = open(&device(0, "server", folder))?;
    let mut to = open(&device(1, "server", folder))?;
    let mut runner = if task == Task::Echo { None } else { Some(upf_of(args.sessions)?) };
    let binary = crate::programs::own()?;
    let mut command = Command::new(binary);
    command.args(["bench", "dpdk", "--task", task.name(), "--sessions", &args.sessions.to_string(), "--peer"]).arg(folder);
    command.args(["--rounds", &args.common.rounds().to_string(), "--round-ms", &args.common.round().as_millis().to_string()]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|e| Failure::Failed(e.to_string()))?;
    // On every way out it goes before our devices do, and we do not poll them then.
    let mut child = Second::new(child);
    let mut packets: Vec<Packet> = (0..BURST).map(|_| Packet::empty(0)).collect();
    let said = loop {
        if let Some(said) = child.said() {
            break said;
        }
        // Looking after the child costs a call into the kernel: not for every burst.
        for _ in 0..4096 {
            let packets = match &mut runner {
                Some(runner) => {
                    let (packets, verdicts) = runner.burst(&mut from, task.direction().port(), BURST)?;
                    if let Some(other) = verdicts.iter().find(|v| v.kind != VerdictKind::Forward) {
                        return Err(Failure::Failed(format!("a packet was not forwarded: {other:?}")));
                    }
                    packets
                }
                None => {
                    let n = from.receive(&mut packets).map_err(failed)?;
                    &packets[..n]
                }
            };
            if packets.is_empty() {
                std::hint::spin_loop();
            }
            let mut sent = 0;
            while sent < packets.len() {
                sent += to.transmit(&packets[sent..]).map_err(failed)?;
            }
        }
    };
    drop((from, to));
    let ended = child.end();
    let said: Value = serde_json::from_str(&said)
        .map_err(|_| Failure::Failed(format!("{}: the second process ended without an answer ({ended})", task.name())))?;
    if let Some(why) = said["failed"].as_str() {
        return Err(Failure::Failed(format!("{}: {why}", task.name())));
    }
    let rates = said["mpps"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let what = match task {
        Task::Echo => "memif, two processes: echo, 64 bytes".to_owned(),
        _ => format!("memif, two processes: the UPF on x86, {} sessions, {}", args.sessions, task.direction()),
    };
    Ok(report::rate(&what, "Mpps", &Rounds(rates), said["verified"].as_u64().unwrap_or_default() as usize))
}

/// The second process, which does not outlive us.
struct Second {
    child: Child,
    line: Receiver<String>,
}

impl Second {
    fn new(mut child: Child) -> Second {
        let out = child.stdout.take();
        let (sender, line) = channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            if let Some(out) = out {
                // What is no text is no answer either.
                let _ = BufReader::new(out).read_line(&mut text);
            }
            let _ = sender.send(text);
        });
        Second { child, line }
    }

    /// Its answer, when it has one; nothing in it if it ended without.
    fn said(&self) -> Option<String> {
        match self.line.try_recv() {
            Ok(line) => Some(line),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(String::new()),
        }
    }

    /// Lets it end, and tells how it did.
    fn end(&mut self) -> String {
        drop(self.child.stdin.take());
        let end = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.to_string(),
                Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
                Ok(None) => return format!("still there after {PATIENCE:?}"),
                Err(e) => return e.to_string(),
            }
        }
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn device(number: u32, role: &str, folder: &Path) -> String {
    format!("net_memif{number},role={role},id=0,socket-abstract=no,socket={}/{number}.sock", folder.display())
}

/// The UPF with its sessions, as native code.
fn upf_of(sessions: u32) -> Result<Runner, Failure> {
    let ir = upf::compile(sessions.max(1024))?;
    let x86 = load_x86(&ir)?;
    let all = Sessions::new(&ir.program).map_err(Failure::Failed)?;
    let apply = |batch: &program::Batch| x86.apply(batch).map_err(|e| Failure::Failed(e.to_string()));
    apply(all.initial())?;
    apply(&all.batch((0..sessions).map(|n| (n, n))))?;
    Ok(Runner::new(x86.lane(0)))
}

/// What the second process sends, and what must come back for it.
fn load(args: &Args) -> Result<Vec<(Packet, Vec<u8>)>, Failure> {
    let direction = args.task.direction();
    let numbers: Arc<[u32]> = (0..PACKETS as u32).map(|i| i.wrapping_mul(0x9e37_79b1) % args.sessions).collect();
    let frames = numbers.iter().map(|n| Packet::new(&sessions::frame(direction, *n), PortId(0)));
    if args.task == Task::Echo {
        return Ok(frames.map(|packet| (packet.clone(), packet.data().to_vec())).collect());
    }
    let few: HashMap<u32, u32> = (0..args.sessions).map(|n| (n, n)).collect();
    let mut judge = OnLane::interpreter(&Arc::new(upf::compile(args.sessions.max(1024))?), few)?;
    let mut source = SessionPort::new(direction, numbers.clone(), 0);
    let mut expected = Vec::new();
    while expected.len() < PACKETS {
        let (packets, _) = judge.expect(&mut source, direction, BURST)?;
        expected.extend(packets.iter().map(|p| p.data().to_vec()));
    }
    Ok(frames.zip(expected).collect())
}

/// The second process: says in a line how fast it was, or what went wrong, and stays with its devices until its input ends.
fn peer(args: &Args, folder: &Path) -> Result<(), Failure> {
    let load = load(args)?;
    let mut to = open(&device(0, "client", folder))?;
    let mut from = open(&device(1, "client", folder))?;
    let said = exchange(args, &load, &mut to, &mut from).unwrap_or_else(|why| json!({ "failed": why.to_string() }));
    println!("{said}");
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    Ok(())
}

/// Sends, and compares what comes back.
fn exchange(args: &Args, load: &[(Packet, Vec<u8>)], to: &mut DpdkPort, from: &mut DpdkPort) -> Result<Value, Failure> {
    let out: Vec<Packet> = load.iter().map(|(packet, _)| packet.clone()).collect();
    let begin = Instant::now();
    while !(to.link_is_up() && from.link_is_up()) {
        if begin.elapsed() > PATIENCE {
            return Err(Failure::Failed("the first process does not come".into()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut packets: Vec<Packet> = (0..BURST).map(|_| Packet::empty(0)).collect();
    let (mut sent, mut received) = (0u64, 0u64);
    let mut rates = Vec::new();
    // The first round warms up.
    for round in 0..=args.common.rounds() {
        let (begin, first) = (Instant::now(), received);
        let mut heard = begin;
        loop {
            let now = Instant::now();
            if now - begin >= args.common.round() && received > first {
                break;
            }
            if now - heard > PATIENCE {
                return Err(Failure::Failed(format!("{} of {sent} packets came back, then no more", received)));
            }
            for _ in 0..16 {
                if sent - received < WINDOW {
                    let at = (sent % PACKETS as u64) as usize;
                    sent += to.transmit(&out[at..PACKETS.min(at + BURST)]).map_err(failed)? as u64;
                }
                let n = from.receive(&mut packets).map_err(failed)?;
                for packet in &packets[..n] {
                    let (_, expected) = &load[(received % PACKETS as u64) as usize];
                    if packet.data() != expected {
                        return Err(Failure::Failed(format!("packet {received} came back as {packet:?}, not {expected:02x?}")));
                    }
                    received += 1;
                    heard = now;
                }
            }
        }
        if round > 0 {
            rates.push((received - first) as f64 / begin.elapsed().as_secs_f64() / 1e6);
        }
    }
    Ok(json!({ "mpps": rates, "verified": received }))
}
