//! `bench quota`: by how much is a volume quota passed while packets of its session come as fast as they are taken?
//!
//! The engine on x86, whose workers all have packets of one session, downlink: so they take from one quota at once. Once the quota is in the packet path, and
//! nobody looks; once only polls see to it, one a millisecond, as it was before: the rules are without a quota, and are committed as used up at
//! the first look that finds so many bytes.
//!
//! Verified: the quota was used up, packets came and were dropped for that reason behind it, and the ledger balances.

use super::contestant::load_x86;
use super::measure::Rounds;
use super::options::Common;
use super::report;
use super::sessions::{self, Direction};
use cli::failure::Failure;
use daemon::datapath::targets::EngineAndTargets;
use engine::{Engine, Settings, WorkerPorts};
use offload::Split;
use pfcp::rules::{SessionRules, UserPlane, VolumeLimit};
use pktio::LoopPort;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use target_api::Target;
use upf::plane::Plane;

/// Options of `bench quota`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Numbers of workers.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2], value_parser = clap::value_parser!(u32).range(1..=64))]
    workers: Vec<u32>,
    /// Lengths of the user's packets, in bytes.
    #[arg(long, value_delimiter = ',', default_values_t = [46, 1400], value_parser = clap::value_parser!(u32).range(28..=1400))]
    lengths: Vec<u32>,
    /// The quota, in MB [default: 100; with --quick: 1].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    megabytes: Option<u64>,
    #[command(flatten)]
    pub common: Common,
}

/// Who stops the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    PacketPath,
    Polls,
}

impl By {
    fn name(self) -> &'static str {
        match self {
            By::PacketPath => "packet path",
            By::Polls => "polls",
        }
    }
}

/// The session.
const SEID: u64 = 1;
/// Between two polls.
const POLL: Duration = Duration::from_millis(1);
/// Packets go on coming for so long when the quota is used up.
const BEHIND: Duration = Duration::from_millis(100);
/// A quota that is not used up after so long will not be.
const PATIENCE: Duration = Duration::from_secs(120);

/// One round.
struct Round {
    over_bytes: f64,
    mbit_per_s: f64,
}

/// Runs it; the figures as JSON.
pub(super) fn quota(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    let bytes = 1_000_000 * args.megabytes.unwrap_or(common.size(100, 1));
    println!("bench quota: {bytes} bytes for one session, downlink at full rate; median (most) of {} rounds", common.rounds());
    println!("  {:>7} {:>7} {:>12} {:>10} {:>22} {:>12}", "workers", "bytes", "stopped by", "Mbit/s", "passed by, bytes", "packets");
    let ir = super::upf::compile(1024)?;
    let targets = Arc::new(Split::alone(Box::new(load_x86(&ir)?)));
    let ids = upf::ids::Ids::bind(&ir.program).map_err(failed)?;
    targets.apply(&upf::static_rules::initial(&sessions::network(), &ids)).map_err(failed)?;
    let mut rows = Vec::new();
    for &workers in &args.workers {
        for &length in &args.lengths {
            let mut rounds = [Vec::new(), Vec::new()];
            for _ in 0..common.rounds() {
                for (rounds, by) in rounds.iter_mut().zip([By::PacketPath, By::Polls]) {
                    rounds.push(round(&targets, &ir.program, by, workers, length as usize, bytes)?);
                }
            }
            for (rounds, by) in rounds.iter().zip([By::PacketPath, By::Polls]) {
                rows.push(row(by, workers, length, rounds));
            }
        }
    }
    let figures = json!({ "bench": "quota", "machine": machine, "quota_bytes": bytes, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

fn row(by: By, workers: u32, length: u32, rounds: &[Round]) -> Value {
    let of = |what: fn(&Round) -> f64| Rounds(rounds.iter().map(what).collect());
    let (over, rate) = (of(|r| r.over_bytes).json(), of(|r| r.mbit_per_s).json());
    let number = |of: &Value, what: &str| of[what].as_f64().unwrap_or_default();
    let packets = |what| (number(&over, what) / f64::from(length)).ceil();
    println!(
        "  {workers:>7} {length:>7} {:>12} {:>10.0} {:>22} {:>12}",
        by.name(),
        number(&rate, "median"),
        format!("{:.0} ({:.0})", number(&over, "median"), number(&over, "max")),
        format!("{} ({})", packets("median"), packets("max"))
    );
    json!({
        "workers": workers, "length": length, "by": by.name(), "mbit_per_s": rate, "over_bytes": over,
        "over_packets": packets("median"), "most_over_packets": packets("max"), "verified": rounds.len(),
    })
}

/// A quota from its beginning to its end.
fn round(targets: &Arc<Split>, program: &program::Program, by: By, workers: u32, length: usize, bytes: u64) -> Result<Round, Failure> {
    let (events, _received) = crossbeam_channel::bounded(64);
    let ports = || -> Result<WorkerPorts, Failure> {
        let source = LoopPort::new("source", &[sessions::long_frame(Direction::Downlink, 0, length)], None).map_err(failed)?;
        let sink = LoopPort::new("sink", &[vec![0; 64]], Some(0)).map_err(failed)?;
        Ok(vec![(sessions::N6, Box::new(source)), (sessions::N3, Box::new(sink))])
    };
    let ports = (0..workers).map(|_| ports()).collect::<Result<Vec<_>, _>>()?;
    let engine = Arc::new(Engine::start(&(targets.clone() as Arc<dyn Target>), ports, Settings::default(), events).map_err(failed)?);
    let data = EngineAndTargets::new(targets.clone(), engine.clone());
    let mut plane = Plane::new(&sessions::network(), program, data).map_err(failed)?;
    let outcome = measure(&mut plane, by, bytes);
    plane.commit(SEID, None).map_err(|error| Failure::Failed(format!("{error:?}")))?;
    engine.stop();
    let ledger = engine.ledger();
    let dropped: u64 = ledger.dropped.values().map(|count| count.packets).sum();
    if ledger.imbalance() != 0 || dropped == 0 {
        return Err(Failure::Failed(format!("no packet was dropped behind the quota, or one is missing: {ledger:?}")));
    }
    outcome
}

fn measure(plane: &mut Plane<EngineAndTargets>, by: By, bytes: u64) -> Result<Round, Failure> {
    let refused = |error: pfcp::rules::CommitError| Failure::Failed(format!("{error:?}"));
    let mut rules = without_rates();
    if let (Some(urr), By::PacketPath) = (rules.urrs.get_mut(&1), by) {
        urr.volume_quota = Some(VolumeLimit { total: Some(bytes), ..VolumeLimit::default() });
    }
    let used = |plane: &mut Plane<EngineAndTargets>| plane.usage(SEID, 1).downlink_bytes;
    let began = Instant::now();
    plane.commit(SEID, Some(&rules)).map_err(refused)?;
    while used(plane) < bytes {
        if began.elapsed() > PATIENCE {
            return Err(Failure::Failed(format!("{} of {bytes} bytes were used in {PATIENCE:?}", used(plane))));
        }
        std::thread::sleep(POLL);
    }
    if by == By::Polls {
        rules.urrs.values_mut().for_each(|urr| urr.exhausted = true);
        plane.commit(SEID, Some(&rules)).map_err(refused)?;
    }
    let took = began.elapsed();
    std::thread::sleep(BEHIND);
    let passed = used(plane);
    let longest = sessions::network().ports.iter().map(|port| u64::from(port.mtu)).max().unwrap_or_default();
    if by == By::PacketPath && passed - bytes >= longest {
        return Err(Failure::Failed(format!("{passed} bytes passed of {bytes}: by a packet or more too many")));
    }
    Ok(Round { over_bytes: (passed - bytes) as f64, mbit_per_s: bytes as f64 * 8.0 / took.as_secs_f64() / 1e6 })
}

/// As those of the other benchmarks, without an MBR, which would be the limit.
fn without_rates() -> SessionRules {
    let mut rules = sessions::rules(0);
    rules.qers.values_mut().for_each(|qer| qer.mbr_kbps = None);
    rules
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}
