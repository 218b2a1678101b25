//! What do steps 0 to 3 cost in the kernel's XDP hook, compiled from `p4/gnb.p4` and written by hand (`hand.c`)?
//!
//! By the kernel's test run behind the driver of `bench xdp`, which makes the packet of another bearer each time; its own share is taken off. Both send by a
//! device map, as a program does whose ways out are configured; `XDP_TX`, which sends back without one, is a row of its own.

use super::bearers::{self, N3, Security, entries};
use super::failed;
use crate::bench::measure::{Pinned, Rounds};
use crate::bench::options::Common;
use crate::bench::report;
use crate::bench::xdp::alone::{self, Program, TX};
use crate::bench::xdp::driver::{Driver, Frames, number};
use crate::bench::xdp::programs::REDIRECT;
use base::VerdictKind;
use cli::failure::Failure;
use p4_interp::{Machine, Mode};
use program::Batch;
use serde_json::{Value, json};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use target_api::Target;
use target_xdp::object::{Object, Sizes};
use target_xdp::sys::{self, test_run};
use target_xdp::{EntryPoints, Options, Xdp};

const HAND: &str = include_str!("hand.c");
/// Steps that XDP runs: it clones no packets.
const STEPS: u8 = 4;
/// Bearers whose packets are compared.
const COMPARED: u32 = 4096;
/// Entries that go in together.
const BATCH: usize = 256;
/// RLC and PDCP of 18 bits, SDAP header.
const FORMATS: u32 = 7;

/// Nanoseconds of a step: compiled, by hand with a device map, by hand with `XDP_TX`.
pub(crate) struct StepCost {
    pub(crate) ours: Rounds,
    hand: Rounds,
    tx: Rounds,
    verified: usize,
}

/// Three rows a step.
pub(super) fn xdp(bearers: u32, common: &Common) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::new();
    for (step, cost) in costs(bearers, common)?.into_iter().enumerate() {
        let StepCost { ours, hand, tx, verified } = cost;
        let row = |who: &str, rounds: &Rounds| {
            let mut row = report::rate(&format!("XDP, step {step}: {who}"), "ns", rounds, verified);
            row["note"] = json!("");
            row
        };
        let ratio = ours.ratio(&hand);
        let mut first = row("p4/gnb.p4", &ours);
        first["note"] = json!(format!("{:.2} of by hand, aim 1.2", ratio.median()));
        first["of_hand"] = ratio.json();
        rows.extend([first, row("by hand", &hand), row("by hand, back by XDP_TX", &tx)]);
    }
    Ok(rows)
}

/// What each of steps 0 to 3 costs.
pub(crate) fn costs(bearers: u32, common: &Common) -> Result<Vec<StepCost>, Failure> {
    let usable = |e: target_xdp::LoadError| Failure::Usage(e.to_string());
    sys::require_capabilities().map_err(usable)?;
    let own = rustix::thread::sched_getaffinity(None).map_err(failed)?;
    let _back = Pinned::to(crate::bench::workers::cores().last().copied().unwrap_or(0), own)?;
    let interface = std::fs::read_to_string("/sys/class/net/lo/ifindex").ok().and_then(|t| t.trim().parse().ok()).unwrap_or(1);
    let hand = by_hand(bearers, interface)?;
    let mut driver = Driver::new(bearers)?;
    driver.prepare_frames(&Frames { frame: &bearers::downlink, ue: 74, checksum: 68, teid: bearers::TEID });
    let drive = driver.program_named("drive_gnb")?;
    let empty = driver.empty()?;
    let mut costs = Vec::new();
    for step in 0..STEPS {
        let ir = Arc::new(bearers::compile(Some(step), bearers, &[])?);
        let text = p4_driver::xdp_text(&ir)?;
        let options =
            Options { entries: bearers.max(1024).into(), seed: rand::random(), entry: EntryPoints::Interfaces, ..Options::default() };
        let xdp = Xdp::load(Arc::new(ir.program.clone()), &text, &options).map_err(usable)?;
        xdp.set_way_out(N3, Some(interface)).map_err(usable)?;
        xdp.set_port(interface, Some((N3, 0))).map_err(usable)?;
        let mut judge = Machine::new(ir.clone()).map_err(failed)?;
        for ops in entries(&ir.program, bearers, Security::NONE)?.ops.chunks(BATCH) {
            let batch = Batch { ops: ops.to_vec() };
            xdp.apply(&batch).map_err(failed)?;
            judge.apply(&batch).map_err(failed)?;
        }
        let ours = xdp.program_fd().map_err(usable)?;
        let [redirect, tx]: [OwnedFd; 2] = [format!("redirect{step}"), format!("tx{step}")]
            .map(|name| {
                hand.program_fd(&name).map_err(usable).and_then(|fd| std::os::fd::AsFd::as_fd(&fd).try_clone_to_owned().map_err(failed))
            })
            .into_iter()
            .collect::<Result<Vec<_>, Failure>>()?
            .try_into()
            .map_err(|_| failed("two programs"))?;
        let ends = || xdp.ends()[0];
        let programs = [
            Program { fd: number(&ours), action: REDIRECT, forwarded: Some(&ends) },
            Program { fd: number(&redirect), action: REDIRECT, forwarded: None },
            Program { fd: number(&tx), action: TX, forwarded: None },
        ];
        // By hand COUNT is one array for both ways out: the second program's packets follow the first's.
        let verified = compare(step, bearers.min(COMPARED), &mut judge, &programs)?;
        let frame = bearers::downlink(0);
        let (_, rounds) = alone::measure(&driver, number(&drive), number(&empty), &programs, &frame, common)?;
        let [ours, hand, tx]: [Rounds; 3] = rounds.try_into().map_err(|_| failed("three programs"))?;
        costs.push(StepCost { ours, hand, tx, verified });
    }
    Ok(costs)
}

/// The programs by hand, with their bearers.
fn by_hand(bearers: u32, interface: u32) -> Result<Object, Failure> {
    let usable = |e: target_xdp::LoadError| Failure::Usage(e.to_string());
    let sizes = Sizes { entries: vec![("bearers".into(), bearers), ("spent".into(), bearers)], ..Sizes::default() };
    let names: Vec<String> = ["redirect", "tx"].iter().flat_map(|way| (0..STEPS).map(move |step| format!("{way}{step}"))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let hand = Object::compile(HAND, &sizes, &names).map_err(usable)?;
    // An interface, and no program there.
    hand.put("out", &u32::from(N3.0).to_ne_bytes(), &u64::from(interface).to_ne_bytes()).map_err(usable)?;
    hand.put("ports", &interface.to_ne_bytes(), &u32::from(N3.0).to_ne_bytes()).map_err(usable)?;
    let entries: Vec<(Vec<u8>, Vec<u8>)> = (0..bearers)
        .map(|n| {
            let frame = bearers::downlink(n);
            let key = [&frame[bearers::TEID..bearers::TEID + 4], &u32::from(frame[56]).to_ne_bytes()].concat();
            (key, [n, 0, FORMATS, 0].map(u32::to_ne_bytes).concat())
        })
        .collect();
    hand.put_all("bearers", entries.iter().map(|(k, v)| (&k[..], &v[..]))).map_err(usable)?;
    Ok(hand)
}

/// Frames of many bearers, each program alone: bytes as the interpreter has them.
fn compare(step: u8, bearers: u32, judge: &mut Machine, programs: &[Program<'_>]) -> Result<usize, Failure> {
    let mut output = vec![0; 256];
    for n in 0..bearers {
        let frame = bearers::downlink(n);
        let mut expected = Vec::new();
        for (i, program) in programs.iter().enumerate() {
            // The first two have spent a COUNT each on their own; the third goes on where the second was.
            if i != 1 {
                let out = judge.process(&frame, N3, 1, Mode::Whole);
                if out.verdict.kind != VerdictKind::Forward {
                    return Err(failed(format!("step {step}: the interpreter does not forward bearer {n}: {:?}", out.verdict)));
                }
                expected = out.bytes.to_vec();
            }
            let run = test_run(program.fd, &frame, 0, &mut output, 1).map_err(failed)?;
            if run.action != program.action || output[..run.len] != expected[..] {
                let got = &output[..run.len];
                return Err(failed(format!(
                    "step {step}: program {i} makes {got:02x?} (action {}) of bearer {n}'s packet, not {expected:02x?}",
                    run.action
                )));
            }
        }
    }
    Ok(bearers as usize)
}
