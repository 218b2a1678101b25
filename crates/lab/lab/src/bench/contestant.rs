//! Who runs in `bench upf`: one trait, and those that are driven as lanes.
//!
//! A contestant that brings its own ports and bursts, such as another packet framework, implements [`Contestant`] itself.

use super::measure::Runner;
use super::sessions::{self, Direction, Sessions};
use super::source::SessionPort;
use base::{Packet, Verdict, VerdictKind};
use cli::failure::Failure;
use p4_ir::Ir;
use program::Batch;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use target_api::{BURST, Count, Lane, Target};

/// Packets of a direction, to the sessions of a list, again and again.
#[derive(Clone)]
pub struct Traffic {
    /// Their direction.
    pub direction: Direction,
    /// The session of each packet.
    pub numbers: Arc<[u32]>,
}

/// A contestant: processes the same packets as all others.
pub trait Contestant {
    /// What figures call it.
    fn name(&self) -> &'static str;

    /// What else readers of its figures must know, in a few words.
    fn note(&self) -> String {
        String::new()
    }

    /// Bytes of memory that its sessions have taken, as the kernel counts them.
    fn resident_bytes(&self) -> u64;

    /// Whether it holds the sessions of the verified packets only.
    fn few_sessions(&self) -> bool {
        false
    }

    /// Treats the first `count` packets and compares what comes out with the judge's output, byte by byte.
    fn verify(&mut self, judge: &mut dyn Judge, traffic: &Traffic, count: usize) -> Result<(), Failure>;

    /// What it has counted for a session. `None`: it cannot say.
    fn usage(&self, direction: Direction, n: u32) -> Option<Count>;

    /// One round: packets in millions a second.
    fn round(&mut self, traffic: &Traffic, length: Duration) -> Result<f64, Failure>;
}

/// Who knows what must come out.
pub trait Judge {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The next `count` packets, at most a burst: what becomes of each.
    fn expect(&mut self, source: &mut SessionPort, direction: Direction, count: usize) -> Result<(&[Packet], &[Verdict]), Failure>;
}

/// A contestant or judge that is a lane.
pub struct OnLane {
    name: &'static str,
    runner: Runner,
    /// Where in the list the next round begins.
    next: usize,
    resident_bytes: u64,
    few_sessions: bool,
    note: String,
    usage: Box<dyn Fn(Direction, u32) -> Option<Count>>,
}

/// Names of those that others are compared with, or that may be absent.
pub const LIMIT: &str = "limit: C by hand";
/// The same text on DPDK's hash.
pub const RTE_HASH: &str = "C on rte_hash";
/// The judge.
pub const INTERPRETER: &str = "interpreter";

/// Sessions to install, and the number that a session's cells follow from.
pub type Installed<'a> = dyn Fn() -> Box<dyn Iterator<Item = (u32, u32)>> + 'a;

/// Sessions in one batch.
const BATCH: usize = 1_000;

impl OnLane {
    /// Hand-written C, on its own hash table or on DPDK's.
    pub fn limit(ir: &Ir, sessions: u32, rte_hash: bool, install: &Installed) -> Result<OnLane, Failure> {
        let fail = |e: baseline::LimitError| match e {
            baseline::LimitError::Absent(why) => Failure::Usage(why),
            other => Failure::Failed(other.to_string()),
        };
        if rte_hash {
            start_dpdk()?;
        }
        let before = resident_bytes();
        let program = Arc::new(ir.program.clone());
        let new = if rte_hash { baseline::Limit::on_rte_hash } else { baseline::Limit::new };
        let mut limit = new(program, sessions.into()).map_err(fail)?;
        each_batch(ir, install, |batch| limit.install(batch).map_err(fail))?;
        let note = limit.page_bytes().map(|bytes| pages(bytes, &super::report::transparent_shared())).unwrap_or_default();
        Ok(OnLane {
            name: if rte_hash { RTE_HASH } else { LIMIT },
            note,
            runner: Runner::new(limit.lane()),
            next: 0,
            resident_bytes: resident_bytes().saturating_sub(before),
            few_sessions: false,
            usage: Box::new(move |direction, n| Some(limit.usage(sessions::usage_cell(direction, n)))),
        })
    }

    /// The program as native code.
    pub fn x86(ir: &Ir, install: &Installed) -> Result<OnLane, Failure> {
        OnLane::x86_named("x86", ir, install)
    }

    /// The same by another name: the program with an option.
    pub fn x86_named(name: &'static str, ir: &Ir, install: &Installed) -> Result<OnLane, Failure> {
        let before = resident_bytes();
        let x86 = load_x86(ir)?;
        OnLane::target(name, ir, Box::new(x86), before, install)
    }

    /// The interpreter, with the sessions that `cells` names only: each session's cells follow from its number there.
    pub fn interpreter(ir: &Arc<Ir>, cells: HashMap<u32, u32>) -> Result<OnLane, Failure> {
        let before = resident_bytes();
        let oracle = target_asic::Asic::oracle(ir.clone()).map_err(|e| Failure::Failed(e.to_string()))?;
        let all = || -> Box<dyn Iterator<Item = (u32, u32)>> {
            Box::new(cells.iter().map(|(n, cell)| (*n, *cell)).collect::<Vec<_>>().into_iter())
        };
        let mut lane = OnLane::target(INTERPRETER, ir, Box::new(oracle), before, &all)?;
        lane.few_sessions = true;
        lane.note = "sessions of the compared packets".into();
        let by_cell = lane.usage;
        lane.usage = Box::new(move |direction, n| by_cell(direction, *cells.get(&n)?));
        Ok(lane)
    }

    /// No pipeline: what source, sink and bursts cost by themselves.
    pub fn ports() -> OnLane {
        let usage = Box::new(|_, _| None);
        let runner = Runner::new(Box::new(ForwardAll));
        OnLane { name: "ports alone", runner, next: 0, resident_bytes: 0, few_sessions: false, note: String::new(), usage }
    }

    fn target(name: &'static str, ir: &Ir, target: Box<dyn Target>, before: u64, install: &Installed) -> Result<OnLane, Failure> {
        each_batch(ir, install, |batch| target.apply(batch).map_err(|e| Failure::Failed(format!("{name}: {e}"))))?;
        let usage = Sessions::new(&ir.program).map_err(Failure::Failed)?.usage();
        Ok(OnLane {
            name,
            runner: Runner::new(target.lane(0)),
            next: 0,
            resident_bytes: resident_bytes().saturating_sub(before),
            few_sessions: false,
            note: String::new(),
            usage: Box::new(move |direction, n| Some(target.counter(usage, sessions::usage_cell(direction, n).into()))),
        })
    }
}

/// The pages that a hash is in. Shared memory, as DPDK's is, may be in larger ones where the kernel does that by itself or when asked.
fn pages(bytes: u64, transparent: &str) -> String {
    let size = if bytes >= 1 << 30 {
        format!("{} GiB", bytes >> 30)
    } else if bytes >= 1 << 20 {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{} KiB", bytes >> 10)
    };
    let larger = bytes < 1 << 20 && !matches!(transparent, "never" | "deny" | "unknown");
    format!("{size} pages{}", if larger { ", or transparent huge ones" } else { "" })
}

/// Starts DPDK for contestants that need it: in huge pages if a GiB is free in them, otherwise in normal ones, of which the kernel gives
/// what is touched.
pub fn start_dpdk() -> Result<(), Failure> {
    dpdk::start_shared(1024, 6144).map_err(|e| Failure::Usage(e.to_string()))
}

/// Gives configuration and sessions, batch by batch.
fn each_batch(ir: &Ir, install: &Installed, mut apply: impl FnMut(&Batch) -> Result<(), Failure>) -> Result<(), Failure> {
    let sessions = Sessions::new(&ir.program).map_err(Failure::Failed)?;
    apply(sessions.initial())?;
    let mut all = install();
    loop {
        let batch = sessions.batch(all.by_ref().take(BATCH));
        if batch.ops.is_empty() {
            return Ok(());
        }
        apply(&batch)?;
    }
}

impl Judge for OnLane {
    fn name(&self) -> &'static str {
        self.name
    }

    fn expect(&mut self, source: &mut SessionPort, direction: Direction, count: usize) -> Result<(&[Packet], &[Verdict]), Failure> {
        self.runner.burst(source, direction.port(), count)
    }
}

impl Contestant for OnLane {
    fn name(&self) -> &'static str {
        self.name
    }

    fn note(&self) -> String {
        self.note.clone()
    }

    fn resident_bytes(&self) -> u64 {
        self.resident_bytes
    }

    fn few_sessions(&self) -> bool {
        self.few_sessions
    }

    fn verify(&mut self, judge: &mut dyn Judge, traffic: &Traffic, count: usize) -> Result<(), Failure> {
        let source = || SessionPort::new(traffic.direction, traffic.numbers.clone(), 0);
        let (mut ours, mut theirs) = (source(), source());
        let mut left = count;
        while left > 0 {
            let of = judge.name();
            let (packets, verdicts) = self.runner.burst(&mut ours, traffic.direction.port(), left)?;
            let (expected, expected_verdicts) = judge.expect(&mut theirs, traffic.direction, left.min(BURST))?;
            for (i, (packet, verdict)) in packets.iter().zip(verdicts).enumerate() {
                let same = *verdict == expected_verdicts[i] && packet.data() == expected[i].data();
                if !same || verdict.kind != VerdictKind::Forward {
                    let n = traffic.numbers[(count - left + i) % traffic.numbers.len()];
                    let what = if same { "is not forwarded".to_owned() } else { format!("differs from {of}'s") };
                    let text = format!(
                        "{}, {}: the packet of session {n} {what}:\n  {verdict:?} {packet:?}\n  {:?} {:?}",
                        self.name, traffic.direction, expected_verdicts[i], expected[i]
                    );
                    return Err(Failure::Failed(text));
                }
            }
            left -= packets.len();
        }
        Ok(())
    }

    fn usage(&self, direction: Direction, n: u32) -> Option<Count> {
        (self.usage)(direction, n)
    }

    fn round(&mut self, traffic: &Traffic, length: Duration) -> Result<f64, Failure> {
        let mut source = SessionPort::new(traffic.direction, traffic.numbers.clone(), self.next);
        let (mpps, packets) = self.runner.round(&mut source, traffic.direction.port(), length)?;
        self.next = (self.next as u64 + packets) as usize % traffic.numbers.len();
        Ok(mpps)
    }
}

/// Forwards what comes, as it is.
pub struct ForwardAll;

impl Lane for ForwardAll {
    fn process(&mut self, _: &mut [Packet], verdicts: &mut [Verdict], _: u64) {
        verdicts.fill(Verdict::forward(sessions::N6));
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, count, with_rates);
}

/// Loads a program that makes one packet of one on x86 with the system's compiler.
pub fn load_x86(ir: &Ir) -> Result<target_x86::X86, Failure> {
    Ok(p4_driver::X86Program::of(ir)?.load_whole(&Default::default())?)
}

/// Memory of this process that is in use, huge pages included; 0 where the kernel does not say.
pub fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or_default() * 1024
}

#[cfg(test)]
mod tests {
    use super::pages;

    #[test]
    fn pages_are_named_by_their_size() {
        assert_eq!(pages(4096, "never"), "4 KiB pages");
        assert_eq!(pages(4096, "advise"), "4 KiB pages, or transparent huge ones");
        assert_eq!(pages(2 << 20, "advise"), "2 MiB pages");
        assert_eq!(pages(1 << 30, "never"), "1 GiB pages");
    }
}
