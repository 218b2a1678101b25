//! `bench n4`: how many sessions a second does N4 take, how long may an answer take, and what does a session cost in memory, while
//! none, 100,000 and a million are there?
//!
//! The daemon's own agent, with the x86 target and without ports, behind a UDP socket of loopback; an SMF of this process asks, with
//! some requests in flight. Each response is checked. Memory is the process's resident memory, the tables' too.
//!
//! With `--store` two agents take turns, one of which keeps its sessions in a store (`[n4.store]`): what does that cost requests, and packets, whose counters
//! it writes; and how long does a start take that brings all of them back?
//!
//! With `--takeover` an agent keeps them in a server that it shares with a second one, which waits, and is given up: how long until the second one
//! serves?
//!
//! With `--xdp` all sessions run in XDP, on no interface.
//!
//! With `--scrape` the metrics are asked for: what does that cost the agent and packets ([`scrape`])?
//!
//! With `--memory` messages come and go by memory ([`memory`]): what could the agent do without a socket?
//!
//! With `--idle` nobody asks anything and no packet comes: which share of a core does the agent take, with and without a store?

mod memory;
mod scrape;

use super::contestant::load_x86;
use super::measure::threads_time;
use super::options::Common;
use super::{report, sessions};
use base::Packet;
use buffer::idle::{IdleBuffer, Limits};
use cli::failure::Failure;
use crossbeam_channel::{Sender, bounded, unbounded};
use daemon::agent::{Agent, AtEnd, Datapath, Life, N4};
use daemon::config::shared_store::Settings;
use daemon::datapath::targets::EngineAndTargets;
use daemon::manage::request::Request;
use daemon::n4::output::Output;
use daemon::n4::store::{Back, Counts, Moment, Opened, PersistMode};
use offload::{Policy, Split};
use p4_ir::Ir;
use pfcp::codec::{
    self, ApplyActionFlags, BitRates, Cause, FSeid, FTeid, GateStatus, Group, Ie, Message, MessageType, NodeId, OuterHeaderCreation,
    OuterHeaderRemoval, Triggers, UeIpAddress, Volume, find,
};
use pktio::{DeviceDrops, LoopPort, Port, PortError};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};
use target_api::Target;

/// Requests in flight: as many as an SMF's workers have.
const IN_FLIGHT: usize = 32;
/// After the last of many requests, until nothing is left to be done for them: a checkpoint of the store, and memory that goes back.
const SETTLES: Duration = Duration::from_secs(8);
/// After so long a request is lost.
const PATIENCE: Duration = Duration::from_secs(30);
/// What a node's lease of a shared store lasts for, without a renewal.
const LEASE: Duration = Duration::from_secs(1);
/// After so long a standby that was to take over has failed.
const TAKEOVER_PATIENCE: Duration = Duration::from_secs(300);
/// Sessions that have packets at once, at most, where packets are counted, and for how long at a time: some looks at the counters, which come within half of
/// the time by which the store may lag behind.
const FRAMES: u32 = 1024;
const PACKETS_WINDOW: Duration = Duration::from_secs(6);
const PACKETS_WINDOW_QUICK: Duration = Duration::from_millis(400);
/// Memory is back when for so long no more than so many bytes have come: the agent asks for it once a second.
const GIVEN_BACK: Duration = Duration::from_millis(2500);
const SETTLED: u64 = 1 << 20;
const NODE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Options of `bench n4`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Numbers of existing sessions, ascending [default: 0,100000,1000000; with --quick: 0,2000].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=4_000_000))]
    sessions: Vec<u32>,
    /// Measures what it costs requests and packets to keep sessions in a store in this folder, and how long a start takes with them. The folder must not be
    /// there.
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
    /// Measures which share of a core sessions take that do nothing, for so many seconds each; with --store of an agent that keeps them, too.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "10", value_parser = clap::value_parser!(u64).range(1..=600))]
    idle: Option<u64>,
    /// Measures how long a standby takes until it serves, by a store in this server, which is emptied: redis://HOST:PORT/ or redis+unix:///PATH.
    #[arg(long, value_name = "URL", conflicts_with_all = ["store", "idle"])]
    takeover: Option<String>,
    /// Measures what a scrape of the metrics costs the agent's thread, and packets, with a scrape a second [default sessions: 1,65536; with --quick: 1,2000].
    #[arg(long, conflicts_with_all = ["store", "idle", "takeover", "xdp"])]
    scrape: bool,
    /// Measures messages on one thread, without sockets: reading, deciding, changing the tables.
    #[arg(long, conflicts_with_all = ["store", "idle", "takeover", "scrape", "xdp"])]
    memory: bool,
    /// All sessions run in XDP, which is attached nowhere; needs root.
    #[arg(long)]
    xdp: bool,
    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// As `bench all` has them.
    pub(crate) fn with(common: Common) -> Args {
        Args { sessions: Vec::new(), store: None, idle: None, takeover: None, scrape: false, memory: false, xdp: false, common }
    }
}

/// Where an agent keeps its sessions.
#[derive(Clone, Copy)]
enum Kept<'a> {
    Nowhere,
    Folder(&'a Path),
    Shared(&'a Settings),
}

/// Runs it; the figures as JSON.
pub(crate) fn n4(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    let levels = if args.sessions.is_empty() { common.size(vec![0, 100_000, 1_000_000], vec![0, 2_000]) } else { args.sessions.clone() };
    let most = levels.iter().max().copied().unwrap_or(0);
    let sample = common.size(20_000, 200);
    if let Some(seconds) = args.idle {
        let levels = if args.sessions.is_empty() { common.size(vec![0, 10_000, 64_000, 1_000_000], vec![0, 2_000]) } else { levels };
        return idle(args, machine, &levels, Duration::from_secs(seconds));
    }
    if args.scrape {
        let levels = if args.sessions.is_empty() { common.size(vec![1, 65_536], vec![1, 2_000]) } else { levels };
        return scrape::scrape(args, machine, &levels);
    }
    if args.memory {
        return memory::memory(args, machine, &levels, sample);
    }
    if let Some(folder) = &args.store {
        return store(args, folder, machine, &levels, sample);
    }
    if let Some(url) = &args.takeover {
        let sessions = if args.sessions.is_empty() { common.size(100_000, 2_000) } else { most };
        return takeover(args, url, machine, sessions);
    }
    println!("bench n4: {sample} sessions at a time, {IN_FLIGHT} requests in flight, 2 PDRs, 2 FARs, a QER and a URR a session");
    let Running { agent, requests, mut smf, .. } = start(args, most + sample, Kept::Nowhere)?;
    smf.associate(1)?;
    let before = resident();
    println!(
        "  {:>10} {:>13} {:>13} {:>13} {:>15} {:>17}",
        "sessions", "established/s", "modified/s", "deleted/s", "longest answer", "bytes a session"
    );
    let mut rows = Vec::new();
    let mut there = 0;
    for level in levels {
        let filled = smf.establish(there, level)?;
        there = there.max(level);
        let bytes = (resident().saturating_sub(before)).checked_div(u64::from(there)).unwrap_or(0);
        let [established, modified, deleted] =
            [smf.establish(level, level + sample)?, smf.modify(level, level + sample)?, smf.delete(level, level + sample)?];
        let longest = [&filled, &established, &modified, &deleted].map(|run| run.longest).into_iter().max().unwrap_or_default();
        println!(
            "  {level:>10} {:>13.0} {:>13.0} {:>13.0} {:>12.1} ms {bytes:>17}",
            established.rate,
            modified.rate,
            deleted.rate,
            longest.as_secs_f64() * 1e3
        );
        rows.push(json!({
            "sessions": level, "verified": 3 * sample, "established_per_s": established.rate, "modified_per_s": modified.rate, "deleted_per_s": deleted.rate,
            "filled_per_s": filled.rate, "longest_answer_ms": longest.as_secs_f64() * 1e3, "bytes_per_session": bytes,
        }));
    }
    let full = resident();
    smf.seids = Vec::new();
    let began = Instant::now();
    smf.associate(2)?;
    let mut heartbeats = Vec::new();
    while ending(&requests)? > 0 {
        smf.beat(&mut heartbeats)?;
    }
    let took = began.elapsed();
    // Free memory goes back in the seconds after.
    let (mut after, mut still) = (resident(), Instant::now());
    while still.elapsed() < GIVEN_BACK {
        smf.beat(&mut heartbeats)?;
        let now = resident();
        if now + SETTLED < after {
            (after, still) = (now, Instant::now());
        }
    }
    let longest = heartbeats.iter().max().copied().unwrap_or_default();
    println!(
        "  {there} sessions ended with their association in {:.1} s; {} heartbeats until memory was back, the longest answer {:.1} ms",
        took.as_secs_f64(),
        heartbeats.len(),
        longest.as_secs_f64() * 1e3
    );
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!("  resident: {:.0} MiB before, {:.0} MiB with all, {:.0} MiB after", mib(before), mib(full), mib(after));
    let _ = requests.send(Request::Stop);
    agent.join().map_err(|_| Failure::Failed("the agent failed".into()))?;
    let figures = json!({
        "bench": "n4", "machine": machine, "rows": rows, "ended": there, "ended_in_s": took.as_secs_f64(),
        "longest_heartbeat_ms": longest.as_secs_f64() * 1e3, "resident_before": before, "resident_full": full, "resident_after": after,
    });
    common.write(&figures)?;
    Ok(figures)
}

/// `--store`: rates with and without, in turns, and a start with all sessions.
fn store(args: &Args, folder: &Path, machine: Value, levels: &[u32], sample: u32) -> Result<Value, Failure> {
    let common = &args.common;
    if folder.exists() {
        return Err(Failure::Usage(format!("--store {}: it is there already; expected a new folder", folder.display())));
    }
    let most = levels.iter().max().copied().unwrap_or(0);
    let rounds = common.size(5, 2);
    println!("bench n4 --store: {rounds} times {sample} sessions at a time, in turns without and with a store; medians");
    let mut contestants = [start(args, most + sample, Kept::Nowhere)?, start(args, most + sample, Kept::Folder(folder))?];
    contestants.iter_mut().try_for_each(|running| running.smf.associate(1))?;
    println!("  {:>10} {:>12} {:>12} {:>12} {:>7}", "sessions", "", "without/s", "with/s", "ratio");
    let (mut rows, mut there) = (Vec::new(), 0);
    for &level in levels {
        for running in &mut contestants {
            running.smf.establish(there, level)?;
        }
        there = there.max(level);
        // By kind of request and contestant.
        let mut rates = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
        for _ in 0..rounds {
            for (n, Running { smf, .. }) in contestants.iter_mut().enumerate() {
                rates[0][n].push(smf.establish(level, level + sample)?.rate);
                rates[1][n].push(smf.modify(level, level + sample)?.rate);
                rates[2][n].push(smf.delete(level, level + sample)?.rate);
            }
        }
        for (kind, rates) in ["established", "modified", "deleted"].into_iter().zip(rates) {
            let [without, with] = rates.map(median);
            println!("  {level:>10} {kind:>12} {without:>12.0} {with:>12.0} {:>7.2}", with / without);
            rows.push(json!({
                "sessions": level, "kind": kind, "verified": 2 * rounds * u64::from(sample), "without_per_s": without, "with_per_s": with, "ratio": with / without,
            }));
        }
        rows.extend(packets(common, &contestants, level)?);
    }
    for Running { agent, requests, .. } in contestants {
        let _ = requests.send(Request::Stop);
        agent.join().map_err(|_| Failure::Failed("the agent failed".into()))?;
    }
    let again = start(args, most + sample, Kept::Folder(folder))?;
    if again.came_back != there as usize {
        return Err(Failure::Failed(format!("{} sessions of {there} came back", again.came_back)));
    }
    let seconds = again.took.as_secs_f64();
    println!("  {there} sessions came back in {seconds:.2} s");
    let _ = again.requests.send(Request::Stop);
    again.agent.join().map_err(|_| Failure::Failed("the agent failed".into()))?;
    std::fs::remove_dir_all(folder).map_err(|e| Failure::Failed(format!("{}: {e}", folder.display())))?;
    let figures = json!({ "bench": "n4-store", "machine": machine, "rows": rows, "came_back": there, "came_back_in_s": seconds });
    common.write(&figures)?;
    Ok(figures)
}

/// Packets a second of the sessions that are there, with and without a store that writes what is counted; none where there are no sessions.
fn packets(common: &Common, contestants: &[Running; 2], sessions: u32) -> Result<Option<Value>, Failure> {
    if sessions == 0 {
        return Ok(None);
    }
    let (rounds, window) = (common.size(5, 2), common.size(PACKETS_WINDOW, 2 * PACKETS_WINDOW_QUICK));
    let written = |running: &Running| running.store.as_ref().map_or(0, |counts| counts.records.load(Ordering::Relaxed));
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (rates, running) in rates.iter_mut().zip(contestants) {
            running.packets.store(sessions.min(FRAMES), Ordering::SeqCst);
            let sent = || running.engine.ledger().ports.get(&sessions::N3).map_or(0, |port| port.transmitted.packets);
            let (records, before, began) = (written(running), sent(), Instant::now());
            std::thread::sleep(window);
            let (after, took) = (sent(), began.elapsed());
            running.packets.store(0, Ordering::SeqCst);
            if running.store.is_some() && written(running) == records {
                return Err(Failure::Failed(format!("no counter was written within {window:?}")));
            }
            rates.push((after - before) as f64 / took.as_secs_f64());
        }
    }
    for running in contestants {
        let dropped: u64 = running.engine.ledger().dropped.values().map(|count| count.packets).sum();
        if dropped > 0 {
            return Err(Failure::Failed(format!("{dropped} packets were dropped")));
        }
    }
    let [without, with] = rates.map(median);
    println!("  {sessions:>10} {:>12} {without:>12.0} {with:>12.0} {:>7.2}", "packets", with / without);
    Ok(Some(json!({
        "sessions": sessions, "kind": "packets", "with_packets": sessions.min(FRAMES), "verified": 2 * rounds, "without_per_s": without, "with_per_s": with,
        "ratio": with / without,
    })))
}

/// Downlink packets of some of the sessions, of as many as is asked for at the moment: none before the first request.
struct Asked {
    frames: Vec<Vec<u8>>,
    asked: Arc<AtomicU32>,
    next: usize,
}

impl Port for Asked {
    fn name(&self) -> &str {
        "source"
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        let asked = self.asked.load(Ordering::Relaxed) as usize;
        for packet in packets.iter_mut().take(if asked > 0 { usize::MAX } else { 0 }) {
            packet.set(&self.frames[self.next % asked]);
            self.next += 1;
        }
        Ok(if asked > 0 { packets.len() } else { 0 })
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        Ok(packets.len())
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

/// `--takeover`: from the moment at which a node is no more until another one has its sessions.
fn takeover(args: &Args, url: &str, machine: Value, sessions: u32) -> Result<Value, Failure> {
    let usage = |e: String| Failure::Usage(format!("--takeover {url}: {e}"));
    let settings = Settings::new(url, format!("bench-{}", std::process::id()), LEASE, Duration::ZERO, sessions as usize).map_err(usage)?;
    println!("bench n4 --takeover: {sessions} sessions, a lease of {} s; the standby has loaded the program and follows", LEASE.as_secs());
    let active = start(args, sessions + 1, Kept::Shared(&settings))?;
    let Running { agent, requests, mut smf, abandons, .. } = active;
    smf.associate(1)?;
    let filled = smf.establish_with(0, sessions, charged)?;
    let (given_up, was_given_up) = bounded::<Instant>(1);
    let standby = std::thread::scope(|scope| {
        let waits = scope.spawn(|| start(args, sessions + 1, Kept::Shared(&settings)));
        // It reads all records, and follows those that still come.
        std::thread::sleep(SETTLES);
        let _ = given_up.send(Instant::now());
        abandons.into_iter().for_each(|abandon| abandon());
        waits.join().map_err(|_| Failure::Failed("the standby has failed".into()))?
    })?;
    let began = was_given_up.recv().map_err(|e| Failure::Failed(e.to_string()))?;
    if standby.came_back != sessions as usize {
        return Err(Failure::Failed(format!("{} sessions of {sessions} were taken over", standby.came_back)));
    }
    let (total, restored) = (standby.ready_at.saturating_duration_since(began).as_secs_f64(), standby.took.as_secs_f64());
    println!("  the standby has all sessions {total:.2} s after the active node was given up, {restored:.2} s of that for the sessions");
    // The one that was given up has nothing left to say.
    for (requests, agent) in [(standby.requests, standby.agent), (requests, agent)] {
        let _ = requests.send(Request::Stop);
        agent.join().map_err(|_| Failure::Failed("an agent failed".into()))?;
    }
    let figures = json!({
        "bench": "n4-takeover", "machine": machine, "sessions": sessions, "established_per_s": filled.rate, "lease_s": LEASE.as_secs(),
        "taken_over_in_s": total, "restored_in_s": restored,
    });
    args.common.write(&figures)?;
    Ok(figures)
}

/// `--idle`: time on processors while nothing happens, by number of sessions.
fn idle(args: &Args, machine: Value, levels: &[u32], window: Duration) -> Result<Value, Failure> {
    let (common, folder) = (&args.common, args.store.as_deref());
    if let Some(folder) = folder.filter(|folder| folder.exists()) {
        return Err(Failure::Usage(format!("--store {}: it is there already; expected a new folder", folder.display())));
    }
    println!("bench n4 --idle: {} s each; a URR with threshold, quota, period, start of traffic; no request, no packet", window.as_secs());
    println!("  {:>10} {:>8} {:>20} {:>20}", "sessions", "store", "agent, % of a core", "all, % of a core");
    let most = levels.iter().max().copied().unwrap_or(0);
    let mut rows = Vec::new();
    for kept in [Kept::Nowhere].into_iter().chain(folder.map(Kept::Folder)) {
        let Running { agent, requests, mut smf, .. } = start(args, most + 1, kept)?;
        smf.associate(1)?;
        let mut there = 0;
        for &level in levels {
            smf.establish_with(there, level, charged)?;
            there = there.max(level);
            // The allocator gives back what requests took, and a store writes the last of them.
            std::thread::sleep(SETTLES);
            // Without the engine's, which has no ports here and does not wait for any.
            let time = || (threads_time("agent"), process_time().saturating_sub(threads_time("worker")));
            let (began, before) = (Instant::now(), time());
            std::thread::sleep(window);
            let (took, after) = (began.elapsed(), time());
            let share = |after: Duration, before: Duration| 100.0 * (after - before).as_secs_f64() / took.as_secs_f64();
            let (agent, process) = (share(after.0, before.0), share(after.1, before.1));
            let has_store = matches!(kept, Kept::Folder(_));
            let store = if has_store { "with" } else { "without" };
            println!("  {there:>10} {store:>8} {agent:>20.2} {process:>20.2}");
            rows.push(json!({ "sessions": there, "store": has_store, "xdp": args.xdp, "agent_percent": agent, "all_percent": process }));
        }
        let _ = requests.send(Request::Stop);
        agent.join().map_err(|_| Failure::Failed("the agent failed".into()))?;
    }
    if let Some(folder) = folder {
        std::fs::remove_dir_all(folder).map_err(|e| Failure::Failed(format!("{}: {e}", folder.display())))?;
    }
    let figures = json!({ "bench": "n4-idle", "machine": machine, "seconds": window.as_secs(), "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

/// Time that all threads of this process have had on processors, those that have ended too.
fn process_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// An agent and what asks it.
struct Running {
    agent: std::thread::JoinHandle<()>,
    requests: Sender<Request>,
    smf: Smf,
    /// Sessions that were in the store, and how long it took to have them back.
    came_back: usize,
    took: Duration,
    ready_at: Instant,
    /// So many sessions have packets, one behind the other, as fast as they are taken.
    packets: Arc<AtomicU32>,
    engine: Arc<engine::Engine>,
    store: Option<Arc<Counts>>,
    /// Leaves its store to others, as if it was killed.
    abandons: Option<Box<dyn FnOnce() + Send>>,
}

/// What carries packets.
fn targets(args: &Args, ir: &Ir) -> Result<Arc<Split>, Failure> {
    if !args.xdp {
        return Ok(Arc::new(Split::alone(Box::new(load_x86(ir)?))));
    }
    let failed = |e: &dyn std::fmt::Display| Failure::Usage(e.to_string());
    let text = p4_driver::xdp_text(ir)?;
    let entries = ir.program.tables.values().map(|table| table.size).max().unwrap_or_default();
    let options = target_xdp::Options { entries, subset: true, entry: target_xdp::EntryPoints::Interfaces, ..Default::default() };
    let xdp = target_xdp::Xdp::load(Arc::new(ir.program.clone()), &text, &options).map_err(|e| failed(&e))?;
    let options = target_x86::Options { meters: xdp.share_meters(), ..Default::default() };
    let x86 = p4_driver::X86Program::of(ir)?.load(&options, &[])?;
    let split = Split::new(Box::new(xdp), x86, Policy::Share(1.0)).map_err(|e| failed(&e))?;
    Ok(Arc::new(split))
}

/// The agent on its thread, and an SMF beside it.
fn start(args: &Args, capacity: u32, kept: Kept<'_>) -> Result<Running, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::Failed(e.to_string());
    let ir = super::upf::compile(capacity)?;
    let targets = targets(args, &ir)?;
    let (events, events_in) = bounded(1024);
    // As in the daemon: a session that ends ends the wait of its packets.
    let settings = engine::Settings { buffer: Some(IdleBuffer::deploy(Limits::default())), ..Default::default() };
    let packets = Arc::new(AtomicU32::new(0));
    let engine = engine::Engine::start(&(targets.clone() as Arc<dyn Target>), vec![ports(args, &packets)?], settings, events)
        .map_err(|e| failed(&e))?;
    let engine = Arc::new(engine);
    let data = EngineAndTargets::new(targets.clone(), engine.clone());
    let mut plane = upf::plane::Plane::new(&sessions::network(), &ir.program, data).map_err(|e| failed(&e))?;
    targets.apply(plane.initial_batch()).map_err(|e| failed(&e))?;
    let mut config = node_config(capacity);
    let io = |e: std::io::Error| Failure::Failed(format!("loopback: {e}"));
    let socket = Arc::new(UdpSocket::bind((NODE, 0)).map_err(io)?);
    let upf = socket.local_addr().map_err(io)?;
    let mut began = Instant::now();
    let opened = match kept {
        Kept::Nowhere => None,
        Kept::Folder(folder) => Some(Opened::open_folder(folder, PersistMode::Buffer).map_err(Failure::Failed)?),
        Kept::Shared(settings) => {
            let waits_since = Instant::now();
            let opened = Opened::open_shared(settings, &|| waits_since.elapsed() > TAKEOVER_PATIENCE).map_err(Failure::Failed)?;
            began = Instant::now();
            Some(opened.ok_or_else(|| Failure::Failed("the store is another node's, who does not let it go".into()))?)
        }
    };
    let abandons = opened.as_ref().and_then(Opened::abandons).map(|abandon| Box::new(abandon) as Box<dyn FnOnce() + Send>);
    let now = Moment::new(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(), Instant::now());
    // As by default.
    config.records = opened.as_ref().map(|_| args.common.size(Duration::from_secs(5), PACKETS_WINDOW_QUICK));
    let (back, opened) = match opened {
        Some(mut opened) => (opened.bring_back(config, now, &mut plane).map_err(Failure::Failed)?, Some(opened)),
        None => (Back::new(config, now).map_err(Failure::Failed)?, None),
    };
    let (took, came_back, ready_at) = (began.elapsed(), back.node.session_count(), Instant::now());
    let output = Arc::new(Output::new(socket.clone())?);
    let store = opened.map(|opened| opened.start(output.clone())).transpose()?;
    let (engine_of_it, counts) = (engine.clone(), store.as_ref().map(|store| store.counts.clone()));
    let at_end = AtEnd { keeps_sessions: store.is_some(), ..AtEnd::default() };
    let n4 = N4 { node: back.node, output, dropped: Default::default(), store };
    let (services, backlog) = Default::default();
    let datapath = Datapath { plane, targets, services, engine, events: events_in, backlog, kernel: None, ports: Vec::new() };
    let life = Life::new(back.start, at_end, Default::default(), Default::default());
    let mut agent = Agent::new(n4, datapath, None, life, None, None);
    let datagrams = daemon::n4::socket::Datagrams::read(socket, Default::default())?;
    let (requests, requests_in) = unbounded();
    let workers = engine_of_it.clone();
    let run = move || {
        agent.run(&datagrams, &requests_in);
        workers.stop();
    };
    let agent = std::thread::Builder::new().name("agent".into()).spawn(run).map_err(io)?;
    let socket = UdpSocket::bind((NODE, 0)).map_err(io)?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(io)?;
    let smf = Smf { socket, upf, sequence: 0, started: 0, seids: Vec::new() };
    Ok(Running { agent, requests, smf, came_back, took, ready_at, packets, engine: engine_of_it, store: counts, abandons })
}

fn node_config(capacity: u32) -> pfcp::config::Config {
    let mut config = pfcp::config::Config::new(NodeId::Ipv4(NODE), NODE.into(), 1);
    (config.max_sessions, config.max_sessions_per_peer) = (capacity as usize, capacity as usize);
    // SEIDs at random, as in the daemon: maps by SEID are not filled in order.
    config.seed = Some([7; 32]);
    config.heartbeat_period = None;
    config.request_port = pfcp::config::RequestPort::Source;
    config.gtpu = vec![pfcp::config::GtpuAddress { ipv4: sessions::UPF_N3, network_instance: None, interface: None, default: false }];
    config
}

/// Where packets are counted: where they come from and where they go.
fn ports(args: &Args, asked: &Arc<AtomicU32>) -> Result<engine::WorkerPorts, Failure> {
    if !args.scrape && (args.store.is_none() || args.idle.is_some()) {
        return Ok(Vec::new());
    }
    let frames = (0..FRAMES).map(|n| sessions::frame(sessions::Direction::Downlink, n)).collect();
    let sink = LoopPort::new("sink", &[vec![0; 64]], Some(0)).map_err(|e| Failure::Failed(e.to_string()))?;
    Ok(vec![(sessions::N6, Box::new(Asked { frames, asked: asked.clone(), next: 0 })), (sessions::N3, Box::new(sink))])
}

fn ending(requests: &Sender<Request>) -> Result<u64, Failure> {
    let (reply, answer) = bounded(1);
    let gone = || Failure::Failed("the agent has ended".into());
    requests.send(Request::Report { reply }).map_err(|_| gone())?;
    let report = answer.recv_timeout(PATIENCE).map_err(|_| gone())?;
    Ok(report.n4.get("sessions_ending").copied().unwrap_or_default())
}

/// Bytes of this process in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}

/// A CP function, as far as it takes to ask.
struct Smf {
    socket: UdpSocket,
    upf: SocketAddr,
    sequence: u32,
    /// Its Recovery Time Stamp.
    started: u32,
    /// By session, our SEIDs of it.
    seids: Vec<u64>,
}

/// Some requests of a kind.
#[derive(Default)]
struct Run {
    /// Answers a second.
    rate: f64,
    longest: Duration,
}

impl Smf {
    fn establish(&mut self, from: u32, to: u32) -> Result<Run, Failure> {
        self.establish_with(from, to, establishment)
    }

    fn establish_with(&mut self, from: u32, to: u32, rules: fn(u32) -> Group) -> Result<Run, Failure> {
        self.seids.resize(to.max(from) as usize, 0);
        let request = |_: &Smf, n: u32| Message::session(MessageType::SessionEstablishmentRequest, 0, 0, rules(n));
        self.run(from, to, request, |smf, n, answer| {
            smf.seids[n as usize] = find!(answer.ies, FSeid).map_or(0, |f_seid| f_seid.seid);
        })
    }

    fn modify(&mut self, from: u32, to: u32) -> Result<Run, Failure> {
        let request =
            |smf: &Smf, n: u32| Message::session(MessageType::SessionModificationRequest, smf.seids[n as usize], 0, modification(n));
        self.run(from, to, request, |_, _, _| ())
    }

    fn delete(&mut self, from: u32, to: u32) -> Result<Run, Failure> {
        let request = |smf: &Smf, n: u32| Message::session(MessageType::SessionDeletionRequest, smf.seids[n as usize], 0, Vec::new());
        self.run(from, to, request, |_, _, _| ())
    }

    fn associate(&mut self, started: u32) -> Result<(), Failure> {
        self.started = started;
        let ies = vec![Ie::NodeId(NodeId::Ipv4(NODE)), Ie::RecoveryTimeStamp(started), Ie::CpFunctionFeatures(vec![0])];
        let request = |_: &Smf, _| Message::node(MessageType::AssociationSetupRequest, 0, ies.clone());
        self.run(0, 1, request, |_, _, _| ()).map(drop)
    }

    /// Some heartbeats, and how long each answer took.
    fn beat(&mut self, took: &mut Vec<Duration>) -> Result<(), Failure> {
        for _ in 0..20 {
            took.push(self.heartbeat()?);
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn heartbeat(&mut self) -> Result<Duration, Failure> {
        let request = |smf: &Smf, _| Message::node(MessageType::HeartbeatRequest, 0, vec![Ie::RecoveryTimeStamp(smf.started)]);
        Ok(self.run(0, 1, request, |_, _, _| ())?.longest)
    }

    /// A request for each number, some of them in flight at any time.
    fn run(
        &mut self,
        from: u32,
        to: u32,
        request: impl Fn(&Smf, u32) -> Message,
        mut answered: impl FnMut(&mut Smf, u32, &Message),
    ) -> Result<Run, Failure> {
        let io = |e: std::io::Error| Failure::Failed(format!("no answer by N4: {e}"));
        let (began, first) = (Instant::now(), self.sequence);
        let mut sent_at = vec![began; to.saturating_sub(from) as usize];
        let (mut sent, mut longest) = (0, Duration::ZERO);
        let mut buffer = [0; 2048];
        for answers in 0..sent_at.len() {
            while sent < sent_at.len() && sent - answers < IN_FLIGHT {
                let mut message = request(self, from + sent as u32);
                message.sequence = (first + sent as u32) & 0xff_ffff;
                let octets = message.encode().map_err(|e| Failure::Failed(format!("{e:?}")))?;
                sent_at[sent] = Instant::now();
                self.socket.send_to(&octets, self.upf).map_err(io)?;
                sent += 1;
            }
            let length = self.socket.recv(&mut buffer).map_err(io)?;
            let answer = codec::decode(&buffer[..length]).map_err(|e| Failure::Failed(format!("answer: {e:?}")))?;
            if answer.cause().is_some_and(|cause| cause != Cause::REQUEST_ACCEPTED) {
                return Err(Failure::Failed(format!("{:?} with cause {:?}", answer.kind, answer.cause())));
            }
            let which = (answer.sequence.wrapping_sub(first) & 0xff_ffff) as usize;
            let at = sent_at.get(which).ok_or_else(|| Failure::Failed(format!("an answer to no request: {answer:?}")))?;
            longest = longest.max(at.elapsed());
            answered(self, from + which as u32, &answer);
        }
        self.sequence = (first + sent as u32) & 0xff_ffff;
        Ok(Run { rate: sent as f64 / began.elapsed().as_secs_f64(), longest })
    }
}

/// The downlink goes to another tunnel.
fn modification(n: u32) -> Group {
    let tunnel = OuterHeaderCreation::gtpu_ipv4(n + 2, sessions::GNB);
    let to = Ie::UpdateForwardingParameters(vec![Ie::DestinationInterface(0), Ie::OuterHeaderCreation(tunnel)]);
    vec![Ie::UpdateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::FORW), to])]
}

/// The same as a charging function would have it: everything that is looked for is far away.
fn charged(n: u32) -> Group {
    let bytes = |total| Volume { total: Some(total), ..Volume::default() };
    let mut ies = establishment(n);
    ies.retain(|ie| !matches!(ie, Ie::CreateUrr(_)));
    ies.push(Ie::CreateUrr(vec![
        Ie::UrrId(1),
        Ie::MeasurementMethod(0x03),
        // PERIO, VOLTH, START; VOLQU, TIMQU.
        Ie::ReportingTriggers(Triggers(0x0313)),
        Ie::MeasurementPeriod(86_400),
        Ie::VolumeThreshold(bytes(1 << 30)),
        Ie::VolumeQuota(bytes(1 << 31)),
        Ie::TimeQuota(86_400),
    ]));
    ies
}

/// The session that [`sessions::rules`] has, as an SMF asks for it.
fn establishment(n: u32) -> Group {
    let ue = |destination| Ie::UeIpAddress(UeIpAddress { ipv4: Some(sessions::ue(n).into()), destination, ..UeIpAddress::default() });
    let pdr = |id, pdi: Group, rest: Group| {
        let ies = vec![Ie::PdrId(id), Ie::Precedence(255), Ie::Pdi(pdi), Ie::FarId(id.into()), Ie::UrrId(1), Ie::QerId(1)];
        Ie::CreatePdr([ies, rest].concat())
    };
    let tunnel = Ie::FTeid(FTeid::Given { teid: sessions::teid(n), ipv4: Some(sessions::UPF_N3), ipv6: None });
    let far = |id, to: Group| Ie::CreateFar(vec![Ie::FarId(id), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::ForwardingParameters(to)]);
    let gnb = OuterHeaderCreation::gtpu_ipv4(sessions::teid(n), sessions::GNB);
    let rates = BitRates { uplink_kbps: 10_000_000, downlink_kbps: 10_000_000 };
    let open = GateStatus { uplink_open: true, downlink_open: true };
    vec![
        Ie::NodeId(NodeId::Ipv4(NODE)),
        Ie::FSeid(FSeid { seid: u64::from(n) + 1, ipv4: Some(NODE), ipv6: None }),
        pdr(
            1,
            vec![Ie::SourceInterface(0), tunnel, ue(false)],
            vec![Ie::OuterHeaderRemoval(OuterHeaderRemoval { description: 0, extension_deletion: None })],
        ),
        pdr(2, vec![Ie::SourceInterface(1), ue(true)], Vec::new()),
        far(1, vec![Ie::DestinationInterface(1)]),
        far(2, vec![Ie::DestinationInterface(0), Ie::OuterHeaderCreation(gnb)]),
        Ie::CreateQer(vec![Ie::QerId(1), Ie::GateStatus(open), Ie::Mbr(rates), Ie::Qfi(9)]),
        Ie::CreateUrr(vec![Ie::UrrId(1), Ie::MeasurementMethod(0x02), Ie::ReportingTriggers(Triggers(0))]),
    ]
}
