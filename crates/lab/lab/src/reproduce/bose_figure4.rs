//! Figure 4 of Bose et al.: throughput over time while a UPF gets one more worker.

use super::Args;
use super::bose_figure3::SESSIONS;
use super::chart::{Chart, Series};
use super::outcome::{How, Outcome, Row};
use super::world::{self, BIN, Change, Design, Load, World};
use crate::bench::latency::Downlink;
use crate::bench::measure::Rounds;
use crate::bench::workers::steered;
use cli::failure::Failure;
use std::time::Duration;

pub(super) const NAME: &str = "bose-figure4";
pub(super) const TITLE: &str = "Throughput while a worker is added (Bose et al., Figure 4)";

/// Packets a second before and after: one worker carries either, so that what is lost is lost by the change.
const RATES: [f64; 2] = [150_000.0, 300_000.0];
const QUICK_RATES: [f64; 2] = [10_000.0, 20_000.0];
/// What is compared: the paper's two designs, and ours.
const CASES: [(&str, Design, Change); 3] = [
    ("software steers, a worker comes", Design::Software, Change::Add),
    ("the port steers and restarts", Design::Port, Change::Restart),
    ("the port steers, a worker comes", Design::Port, Change::Add),
];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let sessions = args.size(SESSIONS, 256);
    let downlink = Downlink::new(sessions, args.size(1 << 16, 256))?;
    let [length, at] = args.size([2000, 1000], [240, 80]).map(Duration::from_millis);
    let [before, after] = args.size(RATES, QUICK_RATES);
    let rate = |now: Duration| if now < at { before } else { after };
    let choose = |n: u64| (n % downlink.frames.len() as u64) as usize;
    let load = Load { downlink: &downlink, choose: &choose, rate: &rate, length, from: Duration::ZERO };
    let mut measured: [[Rounds; 3]; CASES.len()] = Default::default();
    let mut bins: Vec<Vec<u64>> = vec![Vec::new(); CASES.len()];
    for _ in 0..args.rounds() {
        for (case, (_, design, change)) in CASES.into_iter().enumerate() {
            let world = World::new(&downlink.target, design, 1, 2)?;
            let (world, run) = world::run(world, &load, Some((at, change)))?;
            if world.engine.workers().len() != 2 || run.received == 0 {
                return Err(Failure::Failed(format!("{} workers, {} packets", world.engine.workers().len(), run.received)));
            }
            world.close()?;
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            let of_run = [ms(run.change), ms(run.gap), (run.due - run.received) as f64];
            measured[case].iter_mut().zip(of_run).for_each(|(rounds, value)| rounds.0.push(value));
            bins[case] = run.bins;
        }
    }
    let mut rows = Vec::new();
    for ((name, _, _), of_case) in CASES.into_iter().zip(&measured) {
        let units = [("the change takes", "ms"), ("longest time without a packet, from the change on", "ms"), ("packets lost", "packets")];
        for ((what, unit), rounds) in units.into_iter().zip(of_case) {
            let (low, high) = rounds.spread();
            let row = Row::new(format!("{name}: {what}"), How::Measured, rounds.median(), unit);
            rows.push(row.note(format!("{low:.2} to {high:.2}")));
        }
    }
    // What is gained, with a core for each thread.
    for workers in [1, 2] {
        let [software, port] = steered(workers, sessions, &args.common())?;
        for (name, rounds) in [("software steers", software), ("the port steers", port)] {
            let what = format!("{name}: what {workers} of its workers carry, each thread on a core of its own");
            rows.push(Row::new(what, How::Modelled, rounds.median(), "Mpps"));
        }
    }
    let bin_ms = BIN.as_millis() as u64;
    let count = bins.iter().map(Vec::len).min().unwrap_or(0);
    let series = CASES.iter().zip(&bins).map(|((name, ..), bins)| {
        let kpps = |packets: &u64| Some(*packets as f64 / BIN.as_secs_f64() / 1e3);
        Series::curve(*name, How::Measured, bins[..count].iter().map(kpps).collect())
    });
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "The paper's text has no number of this figure: it says that restarting the port hurts.".into(),
            format!(
                "Measured: the engine on x86 between memory ports, with {} kpps from the start and {} from the change on, which one worker carries; each packet's bytes and each session's order are checked. Medians of the rounds; the picture is of the last one.",
                before / 1e3,
                after / 1e3
            ),
            "A port that restarts is closed with its engine and opened again with two queues. A NIC's link also goes down and comes up, for seconds: that is not in ours. Threads share this machine's cores: with two of them, some time without a packet is the scheduler's.".into(),
            "Modelled: what is gained, from the time that each thread takes for a packet here.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "kpps".into(),
            categories: (0..count as u64).map(|bin| format!("{} ms", bin * bin_ms)).collect(),
            series: series.collect(),
            ..Chart::default()
        },
    })
}
