//! How fast do sessions change on an attached program? One session at a time, as PFCP messages have it: its tunnel leads to another TEID of the
//! gNodeB's, and the change is complete when no packet in flight saw the old one.
//!
//! That is waited for by what each core counts of its packets, or, as where the kernel does not offer what that needs, by the kernel. No packets, or
//! packets of random sessions on another core, as fast as the kernel runs them. By the clock: a waiting thread uses no CPU time. Some changed sessions
//! of each round must send what was changed, and at the end, when all changes are taken back, what the interpreter sends.

use super::super::measure::{Pinned, Rounds};
use super::super::namespace;
use super::super::options::Common;
use super::super::sessions::{self, Direction};
use super::driver::{Driver, number};
use super::programs::{Programs, REDIRECT};
use super::{load_failure, spread, test_run_failure};
use cli::failure::Failure;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rustix::thread::CpuSet;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use target_xdp::sys::test_run;

/// The head of its lines.
pub(super) const HEAD: &str = "  sessions changed a second, one at a time            by cores' counts          by the kernel";
/// Where a downlink packet's TEID is, behind Ethernet, IPv4, UDP and the beginning of GTP-U.
const TEID: std::ops::Range<usize> = 46..50;
/// Changed sessions whose packets are checked in each round.
const LOOKED_AT: usize = 64;
/// Packets of a system call.
const REPEAT: u32 = 10_000;
/// Ways of waiting.
const WAYS: usize = 2;

/// Changes with no packets in flight, and beside packets on core `other`, if there is one.
pub(super) fn row(
    programs: &mut Programs,
    driver: &mut Driver,
    own: CpuSet,
    other: Option<usize>,
    common: &Common,
) -> Result<(Value, String), Failure> {
    namespace::inside(&format!("xdp-changes-{}", programs.count), || {
        namespace::pair("near", "far")?;
        let near = pktio::Interface::find("near", "near").map_err(|e| Failure::Failed(e.to_string()))?;
        programs.xdp.attach("near", near.index).map_err(load_failure)?;
        programs.come_by_loopback(Direction::Downlink)?;
        let mut changes = Changes { changed: BTreeMap::new(), rng: rand::rngs::StdRng::seed_from_u64(2) };
        let mut alone: [Rounds; WAYS] = Default::default();
        let mut beside: [Rounds; WAYS] = Default::default();
        let before = programs.xdp.waited();
        let mut packets = 0;
        driver.prepare(Direction::Downlink);
        for _ in 0..common.rounds() {
            for (way, rounds) in alone.iter_mut().enumerate() {
                rounds.0.push(changes.round(programs, way, false, common)?);
            }
            let Some(other) = other else { continue };
            for (way, rounds) in beside.iter_mut().enumerate() {
                let (rate, run) = beside_packets(programs, driver, (own, other), || changes.round(programs, way, true, common))?;
                rounds.0.push(rate);
                packets += run;
            }
        }
        programs.xdp.wait_by_kernel(false);
        let after = programs.xdp.waited();
        let (quick, slow) = (after.quick - before.quick, after.slow - before.slow);
        for n in changes.changed.keys() {
            programs.handover(*n, sessions::teid(*n))?;
        }
        let ours = programs.ours()?;
        let compared = programs.compare(Direction::Downlink, &[("upf.p4", number(&ours))])?;
        let line = |what: &str, of: &[Rounds; WAYS]| format!("    {what:<40} {:>26} {:>22}", spread(&of[0], 0), spread(&of[1], 0));
        let mut text = line("no packets", &alone);
        if other.is_some() {
            text = format!("{text}\n{}\n      {quick} waits by counts, {slow} by the kernel", line("packets on another core", &beside));
        }
        let row = json!({
            "what": "changes", "sessions": programs.count, "verified": compared, "packets": packets, "waits_by_counts": quick,
            "waits_by_kernel": slow, "alone_per_second": alone[0].json(), "alone_per_second_by_kernel": alone[1].json(),
            "beside_packets_per_second": beside[0].json(), "beside_packets_per_second_by_kernel": beside[1].json(),
        });
        Ok((row, text))
    })
}

/// What was changed.
struct Changes {
    changed: BTreeMap<u32, u32>,
    rng: rand::rngs::StdRng,
}

impl Changes {
    /// Changes a second, in the time of a round; `beside`: of those during which packets ended, as the other core may be somebody else's meanwhile.
    fn round(&mut self, programs: &Programs, way: usize, beside: bool, common: &Common) -> Result<f64, Failure> {
        programs.xdp.wait_by_kernel(way == 1);
        let (mut seconds, mut changes, mut last) = (0.0, 0u32, Vec::new());
        let begin = Instant::now();
        while begin.elapsed() < common.round() {
            let (n, teid) = (self.rng.random_range(0..programs.count), self.rng.random());
            let (ended, start) = (programs.xdp.ends(), Instant::now());
            programs.handover(n, teid)?;
            let took = start.elapsed();
            self.changed.insert(n, teid);
            last.push(n);
            if !beside || programs.xdp.ends() != ended {
                seconds += took.as_secs_f64();
                changes += 1;
            }
        }
        let rate = if changes == 0 { 0.0 } else { f64::from(changes) / seconds };
        last.shuffle(&mut self.rng);
        let ours = programs.xdp.program_fd().map_err(load_failure)?;
        let mut output = [0; 256];
        for n in last.into_iter().take(LOOKED_AT) {
            let frame = sessions::frame(Direction::Downlink, n);
            let run = test_run(number(&ours), &frame, 0, &mut output, 1).map_err(test_run_failure)?;
            if run.action != REDIRECT || output[TEID] != self.changed[&n].to_be_bytes() {
                return Err(Failure::Failed(format!("session {n} goes to {:02x?}, not to TEID {:#x}", &output[TEID], self.changed[&n])));
            }
        }
        Ok(rate)
    }
}

/// Does something while packets run on another core; gives how many, too.
fn beside_packets<T>(
    programs: &Programs,
    driver: &mut Driver,
    (own, other): (CpuSet, usize),
    what: impl FnOnce() -> Result<T, Failure>,
) -> Result<(T, u64), Failure> {
    let ours = programs.xdp.program_fd().map_err(load_failure)?;
    driver.go_on_in(number(&ours))?;
    let drive = driver.program(Direction::Downlink)?;
    let frame = sessions::frame(Direction::Downlink, 0);
    let (stop, packets) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let runner = scope.spawn(|| {
            let _back = Pinned::to(other, own)?;
            let mut output = [0; 256];
            while !stop.load(Ordering::Acquire) {
                let run = test_run(number(&drive), &frame, 0, &mut output, REPEAT).map_err(test_run_failure)?;
                packets.fetch_add(REPEAT.into(), Ordering::Relaxed);
                if run.action != REDIRECT {
                    return Err(Failure::Failed(format!("packets were not forwarded (action {})", run.action)));
                }
            }
            Ok(())
        });
        let done = what();
        stop.store(true, Ordering::Release);
        runner.join().map_err(|_| Failure::Failed("the thread of the packets panicked".into()))??;
        Ok((done?, packets.load(Ordering::Relaxed)))
    })
}
