//! Table 5 of Singh et al.: how many UEs fit a chip alone, and a chip with an x86 behind it.
//!
//! Measured is x86: so many sessions are really installed in the tables of the whole UPF, both directions, and packets to some of them
//! compared with the interpreter's. Modelled is the chip.

use super::Args;
use super::chart::{Chart, Series};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use super::singh_table4::{Parts, compile, place, tofino};
use crate::bench::contestant::{load_x86, resident_bytes};
use crate::bench::measure::{Runner, thread_time};
use crate::bench::sessions::{Direction, Sessions};
use crate::bench::source::SessionPort;
use crate::bench::upf;
use chip::{Resource, Sizes};
use cli::failure::Failure;
use std::sync::Arc;
use target_api::{BURST, Target};

pub(super) const NAME: &str = "singh-table5";
pub(super) const TITLE: &str = "UEs on a chip alone, and on chip and x86 together (Singh et al., Table 5)";

/// Sessions of one change to the tables.
const BATCH: usize = 4096;
/// Packets that are compared, in each direction.
const VERIFIED: usize = 16_384;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let claim = |name| papers().claim(name);
    let (alone, hybrid) = (Parts { upf: true, ipg: false }, Parts { upf: true, ipg: true });
    let (most_alone, most_hybrid) = (most(alone)?, most(hybrid)?);
    let sram = |parts, ues| place(parts, ues).map(|placement| placement.percent(Resource::Sram));
    let papers_alone = claim("table5_chip_ues");
    let papers_hybrid = claim("table5_hybrid_chip_ues");
    let modelled = |what: &str, ours, unit| Row::new(what, How::Modelled, ours, unit);
    let mut rows = vec![
        modelled("chip alone: UEs at most", most_alone as f64, "UEs").beside(papers_alone),
        modelled("chip alone: SRAM with the paper's UEs", sram(alone, papers_alone.value as u64)?, "%").beside(claim("table5_chip_sram")),
        modelled("chip alone: SRAM with as many as fit", sram(alone, most_alone)?, "%"),
        modelled("hybrid, chip's part: UEs at most", most_hybrid as f64, "UEs")
            .beside(papers_hybrid)
            .note("the paper's is what it chose to hold"),
        modelled("hybrid, chip's part: SRAM with the paper's UEs", sram(hybrid, papers_hybrid.value as u64)?, "%")
            .beside(claim("table5_hybrid_sram")),
    ];
    let installed = install(args, args.sessions.unwrap_or(args.size(claim("table5_hybrid_x86_ues").value as u32, 2000)))?;
    let measured = |what: &str, ours, unit| Row::new(what, How::Measured, ours, unit);
    let ues = installed.sessions as f64;
    rows.extend([
        measured("hybrid, x86's part: UEs installed", ues, "UEs")
            .beside(claim("table5_hybrid_x86_ues"))
            .note(format!("{} packets each way compared with the interpreter's", installed.verified)),
        measured("hybrid, x86's part: entries of the session tables", installed.entries as f64, "entries").note("uplink and downlink"),
        measured("hybrid, x86's part: memory", installed.bytes as f64 / f64::from(1 << 20), "MiB"),
        measured("hybrid, x86's part: time to install, one thread", installed.seconds, "s").note("in batches of 4096"),
        modelled("hybrid against chip alone: UEs", ues / most_alone as f64, "times").note("x86 holds those of the chip too"),
        modelled("the same, with the paper's numbers", claim("table5_hybrid_x86_ues").value / papers_alone.value, "times"),
    ]);
    let paper_x86 = claim("table5_hybrid_x86_ues").value;
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Measured: sessions of p4/upf.p4 (one PDR each way, a QER with MBR and QFI, a URR) in the tables of the x86 target, in this run; the tables' own counts of entries are checked.".into(),
            "Modelled: p4/tna/published.p4 on the model of a Tofino 1; UEs at most by bisection.".into(),
            "The hybrid holds what x86 holds: the chip's sessions are copies.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "UEs".into(),
            logarithmic: true,
            categories: vec!["chip alone".into(), "hybrid: chip's part".into(), "hybrid: x86's part".into()],
            series: vec![
                Series::paper("paper", vec![Some(papers_alone.value), Some(papers_hybrid.value), Some(paper_x86)]),
                Series::ours("chip", How::Modelled, vec![Some(most_alone as f64), Some(most_hybrid as f64), None]),
                Series::ours("x86", How::Measured, vec![None, None, Some(ues)]),
            ],
        },
    })
}

/// UEs that fit the chip with those parts of the program.
pub(super) fn most(parts: Parts) -> Result<u64, Failure> {
    let most = chip::max_sessions(&compile(parts)?, &tofino()?, &Sizes::default());
    most.ok_or_else(|| Failure::Failed("tna/published.p4 does not fit the chip".into()))
}

/// What became of the sessions.
struct Installed {
    sessions: u32,
    /// Of both session tables, as the target counts them.
    entries: u64,
    bytes: u64,
    seconds: f64,
    verified: usize,
}

fn install(args: &Args, sessions: u32) -> Result<Installed, Failure> {
    let fail = |e: &dyn std::fmt::Display| Failure::Failed(format!("table5: {e}"));
    let ir = upf::compile(sessions.max(1024))?;
    let before = resident_bytes();
    let x86 = load_x86(&ir)?;
    let all = Sessions::new(&ir.program).map_err(Failure::Failed)?;
    let begin = thread_time();
    x86.apply(all.initial()).map_err(|e| fail(&e))?;
    let mut next = (0..sessions).map(|n| (n, n));
    loop {
        let batch = all.batch(next.by_ref().take(BATCH));
        if batch.ops.is_empty() {
            break;
        }
        x86.apply(&batch).map_err(|e| fail(&e))?;
    }
    let seconds = (thread_time() - begin).as_secs_f64();
    let table = |name: &str| ir.program.table(name).map_or(0, |id| x86.table_stats(id).entries);
    let entries = table("pdr_by_teid") + table("pdr_by_ue_ipv4");
    if entries != 2 * u64::from(sessions) {
        return Err(fail(&format!("the tables hold {entries} entries, not two for each of {sessions} sessions")));
    }
    let bytes = resident_bytes().saturating_sub(before);
    let verified = args.size(VERIFIED, 512);
    for direction in [Direction::Downlink, Direction::Uplink] {
        verify(&x86, sessions, verified, direction)?;
    }
    Ok(Installed { sessions, entries, bytes, seconds, verified })
}

/// Packets to sessions at random, beside the interpreter with those sessions only.
fn verify(x86: &target_x86::X86, sessions: u32, count: usize, direction: Direction) -> Result<(), Failure> {
    let fail = |e: &dyn std::fmt::Display| Failure::Failed(format!("table5, {direction}: {e}"));
    let numbers: Arc<[u32]> = upf::numbers(sessions, count);
    let cells = upf::cells(sessions, &numbers);
    let few = Arc::new(upf::compile((cells.len() as u32).max(1024))?);
    let judge = target_asic::Asic::oracle(few.clone()).map_err(|e| fail(&e))?;
    let theirs = Sessions::new(&few.program).map_err(Failure::Failed)?;
    for batch in [theirs.initial().clone(), theirs.batch(cells.into_iter())] {
        judge.apply(&batch).map_err(|e| fail(&e))?;
    }
    let source = || SessionPort::new(direction, numbers.clone(), 0);
    let (mut ours, mut expected) = (source(), source());
    let (mut runner, mut oracle) = (Runner::new(x86.lane(0)), Runner::new(judge.lane(0)));
    for at in (0..count).step_by(BURST) {
        let (packets, verdicts) = runner.burst(&mut ours, direction.port(), count - at)?;
        let (theirs, their_verdicts) = oracle.burst(&mut expected, direction.port(), count - at)?;
        for (i, (a, b)) in packets.iter().zip(theirs).enumerate() {
            if a.data() != b.data() || verdicts[i] != their_verdicts[i] || verdicts[i].kind != base::VerdictKind::Forward {
                return Err(fail(&format!("the packet of session {} differs from the interpreter's", numbers[at + i])));
            }
        }
    }
    Ok(())
}
