//! What do XDP and x86 do of step 3 together, split by the marker in the packet (build option MARKER, Figure 9 of Memarian et al.)?
//!
//! XDP runs the groups of bearers that it holds, and passes packets of the others on: its time for the mixture is measured, by the kernel's test run behind
//! the driver of `bench xdp`, which makes the packet of another bearer each time. x86 runs the others: measured memory to memory. Not in it: what the kernel
//! takes to bring a passed packet from one to the other.

use super::bearers::{self, GROUPS, N3, Security, entries};
use super::failed;
use super::traffic::Runner;
use crate::bench::contestant::load_x86;
use crate::bench::measure::{Pinned, Rounds, thread_time};
use crate::bench::options::Common;
use crate::bench::report;
use crate::bench::xdp::alone::repeat;
use crate::bench::xdp::driver::{Driver, Frames, number};
use crate::bench::xdp::programs::REDIRECT;
use base::{Packet, Verdict, VerdictKind};
use cli::failure::Failure;
use offload::{Policy, Split, Unit};
use p4_interp::{Machine, Mode};
use program::{Batch, Entry, Op};
use serde_json::{Value, json};
use std::sync::Arc;
use target_api::{Lane, Target};
use target_xdp::sys::{self, test_run};
use target_xdp::{EntryPoints, Options, Xdp};

/// Groups in front, of [`GROUPS`].
const IN_FRONT: [u32; 5] = [64, 48, 32, 16, 0];
/// Bearers whose packets are compared.
const COMPARED: u32 = 4096;
/// Entries that go in together.
const BATCH: usize = 256;
/// `XDP_PASS`: nobody has opened a socket for what is passed on.
const PASS: u32 = 2;

/// A share of the packets.
pub(crate) struct Share {
    /// Percent of them that x86 runs.
    pub(crate) behind: u32,
    /// What XDP needs for a packet, of either kind, in nanoseconds.
    pub(crate) xdp_ns: Rounds,
    /// Millions of the others a second that a core of x86 runs; none if there are none.
    pub(crate) x86_mpps: Option<Rounds>,
    /// Packets whose bytes are the interpreter's: that ran in XDP, and on x86.
    verified: [usize; 2],
}

impl Share {
    /// Millions of packets a second that a core for XDP and one for x86 carry together: whichever is full first limits both, as the marker fixes the shares.
    pub(crate) fn together(&self) -> f64 {
        let x86_ns = self.x86_mpps.as_ref().map_or(0.0, |mpps| f64::from(self.behind) / 100.0 * 1e3 / mpps.median());
        1e3 / self.xdp_ns.median().max(x86_ns)
    }
}

/// Two rows a share.
pub(super) fn split(bearers: u32, common: &Common) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::new();
    for share in shares(bearers, common)? {
        let [in_xdp, on_x86] = share.verified;
        let what = |who: &str| format!("step 3 by marker, {} % on x86: {who}", share.behind);
        let mut row = report::rate(&what("XDP, a packet of all"), "ns", &share.xdp_ns, in_xdp + on_x86);
        row["note"] = json!(format!(
            "{in_xdp} frames compared that ran in XDP, {on_x86} on x86; a core each: {:.2} Mpps, computed",
            share.together()
        ));
        row["together_mpps"] = json!(share.together());
        row["compared"] = json!({ "xdp": in_xdp, "x86": on_x86 });
        rows.push(row);
        if let Some(mpps) = &share.x86_mpps {
            let mut row = report::rate(&what("x86, of the others"), "Mpps", mpps, on_x86);
            row["note"] = json!("");
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Each share of the packets on x86, from none to all.
pub(crate) fn shares(bearers: u32, common: &Common) -> Result<Vec<Share>, Failure> {
    sys::require_capabilities().map_err(usable)?;
    let own = rustix::thread::sched_getaffinity(None).map_err(failed)?;
    let _back = Pinned::to(crate::bench::workers::cores().last().copied().unwrap_or(0), own)?;
    let mut driver = Driver::new(bearers)?;
    let at = bearers::IDENTIFICATION - 2;
    driver.prepare_frames(&Frames { frame: &bearers::marked, ue: at, checksum: bearers::CHECKSUM, teid: bearers::TEID });
    IN_FRONT.iter().map(|in_front| share(*in_front, bearers, &mut driver, common)).collect()
}

fn usable(e: target_xdp::LoadError) -> Failure {
    Failure::Usage(e.to_string())
}

/// Whether packets of that bearer run in XDP: neighbours are spread.
fn is_in_front(n: u32, in_front: u32) -> bool {
    n % GROUPS * 37 % GROUPS < in_front
}

fn share(in_front: u32, bearers: u32, driver: &mut Driver, common: &Common) -> Result<Share, Failure> {
    let interface = std::fs::read_to_string("/sys/class/net/lo/ifindex").ok().and_then(|t| t.trim().parse().ok()).unwrap_or(1);
    let ir = Arc::new(bearers::compile(Some(3), bearers, &["MARKER"])?);
    let text = p4_driver::xdp_text(&ir)?;
    let options = Options { entries: bearers.max(1024).into(), seed: rand::random(), entry: EntryPoints::Interfaces, ..Options::default() };
    let xdp = Arc::new(Xdp::load(Arc::new(ir.program.clone()), &text, &options).map_err(usable)?);
    let chain = Split::new(Box::new(xdp.clone()), Box::new(load_x86(&ir)?), Policy::Chosen).map_err(failed)?;
    xdp.set_way_out(N3, Some(interface)).map_err(usable)?;
    xdp.set_port(interface, Some((N3, 0))).map_err(usable)?;
    let mut judge = Machine::new(ir.clone()).map_err(failed)?;
    let marked = ir.program.table("marked").ok_or_else(|| failed("gnb.p4 has no table marked"))?;
    let run = ir.program.tables[marked].actions.first().ok_or_else(|| failed("table marked has no action"))?.action;
    let all = entries(&ir.program, bearers, Security::NONE)?.ops;
    if all.len() != bearers as usize {
        return Err(failed(format!("{} entries of {bearers} bearers", all.len())));
    }
    for group in 0..GROUPS {
        let unit = Unit { id: u64::from(group) + 1, chosen: is_in_front(group, in_front), ..Unit::default() };
        let marker =
            Op::Insert(Entry { table: marked, keys: vec![program::KeyMatch::Exact(group.into())], priority: 0, action: run, args: vec![] });
        // A group is its marker, and its bearers.
        let ops: Vec<Op> = std::iter::once(marker).chain(all.iter().skip(group as usize).step_by(GROUPS as usize).cloned()).collect();
        for ops in ops.chunks(BATCH) {
            let batch = Batch { ops: ops.to_vec() };
            chain.apply_session(&unit, &batch).map_err(failed)?;
            judge.apply(&batch).map_err(failed)?;
        }
    }
    let program = xdp.program_fd().map_err(usable)?;
    let verified = compare(&mut judge, number(&program), &mut *chain.lane(0), (bearers.min(COMPARED), in_front))?;
    let (empty, drive) = (driver.empty()?, driver.program_named("drive_gnb_marked")?);
    let rest: Arc<[u32]> = super::steps::numbers(bearers, common).iter().copied().filter(|n| !is_in_front(*n, in_front)).collect();
    let mut x86 = (!rest.is_empty()).then(|| (Runner::new(chain.base().lane(1), rest, false, Vec::new()).marked(), Rounds::default()));
    let (mut output, mut xdp_ns, packets) = (vec![0; 256], Rounds::default(), repeat(common));
    for round in 0..=common.rounds() {
        let mut ns = [0.0; 2];
        for (ns, (fd, is_program)) in ns.iter_mut().zip([(number(&empty), false), (number(&program), true)]) {
            driver.go_on_in(fd)?;
            let expected = driver.coming(packets as usize).filter(|n| is_in_front(*n, in_front)).count() as u64;
            let before = xdp.ends()[0];
            let begin = thread_time();
            test_run(number(&drive), &bearers::marked(0), 0, &mut output, packets).map_err(failed)?;
            *ns = (thread_time() - begin).as_nanos() as f64 / f64::from(packets);
            let forwarded = xdp.ends()[0] - before;
            if is_program && forwarded != expected {
                return Err(failed(format!("XDP has forwarded {forwarded} packets, and {expected} are of its groups")));
            }
        }
        // The first round warms up.
        if round > 0 {
            xdp_ns.0.push(ns[1] - ns[0]);
            if let Some((runner, rounds)) = &mut x86 {
                rounds.0.push(runner.round(common.round())?.0);
            }
        }
    }
    Ok(Share { behind: (GROUPS - in_front) * 100 / GROUPS, xdp_ns, x86_mpps: x86.map(|(_, rounds)| rounds), verified })
}

/// Frames of many bearers: each runs where its group is, and its bytes are those of the interpreter, which runs all. How many ran in XDP, and on x86.
fn compare(judge: &mut Machine, xdp: i32, x86: &mut dyn Lane, (bearers, in_front): (u32, u32)) -> Result<[usize; 2], Failure> {
    let (mut output, mut ran) = (vec![0; 256], [0; 2]);
    for n in (0..bearers).chain(0..bearers) {
        let frame = bearers::marked(n);
        let whole = judge.process(&frame, N3, 1, Mode::Whole);
        let run = test_run(xdp, &frame, 0, &mut output, 1).map_err(failed)?;
        let (mut packets, mut verdicts) = ([Packet::new(&frame, N3)], [Verdict::default()]);
        let (here, bytes) = match run.action {
            REDIRECT => (0, &output[..run.len]),
            PASS if output[..run.len] == frame => {
                x86.process(&mut packets, &mut verdicts, 1);
                (1, packets[0].data())
            }
            action => return Err(failed(format!("XDP ends bearer {n}'s packet by action {action}"))),
        };
        let is_right = whole.verdict.kind == VerdictKind::Forward && (here == 0 || verdicts[0] == whole.verdict) && bytes == whole.bytes;
        if !is_right || (here == 0) != is_in_front(n, in_front) {
            return Err(failed(format!(
                "of bearer {n}'s packet came {bytes:02x?} of target {here}, and {:02x?} in the interpreter",
                whole.bytes
            )));
        }
        ran[here] += 1;
    }
    Ok(ran)
}
