//! Figure 3 of Bose et al.: throughput and latency where software chooses a packet's worker, and where that is offloaded.

use super::Args;
use super::bed::{self, Bed};
use super::chart::{Chart, Series};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::measure::Rounds;
use crate::bench::workers::steered;
use cli::failure::Failure;

pub(super) const NAME: &str = "bose-figure3";
pub(super) const TITLE: &str = "Steering in software and offloaded: throughput and latency (Bose et al., Figure 3)";

/// The paper's workers; its users are 65K, of which an IPv4 /16 has room for these.
pub(super) const WORKERS: u32 = 2;
pub(super) const SESSIONS: u32 = 65_000;
const SIZES: [(&str, &str); 3] = [("64", "64 B"), ("imix", "IMIX"), ("1400", "1400 B")];
/// Percent of the slower design's throughput at which round trips are measured; as many packets come back.
const LOAD: f64 = 40.0;
const QUICK_PPS: f64 = 1000.0;
/// Our name, and the daemon's settings.
const DESIGNS: [(&str, &str); 2] =
    [("software steers", "[workers]\ncount = 2\nsteering = \"software\"\n"), ("XDP steers", "[workers]\ncount = 2\nsteering = \"xdp\"\n")];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let claim = |name| papers().claim(name);
    let sessions = args.size(SESSIONS, 64);
    let mut rows = Vec::new();
    // Each thread on a core of its own, by the time that it takes.
    let [software, offloaded] = steered(WORKERS, sessions, &args.common())?;
    let alone = |name: &str, rounds: &Rounds| {
        Row::new(format!("{name}, 64 B, {WORKERS} workers, each thread on a core of its own"), How::Modelled, rounds.median(), "Mpps")
    };
    rows.push(alone("software steers", &software).note("the master has a core too"));
    rows.push(alone("the port steers", &offloaded));
    let times = offloaded.ratio(&software).median();
    rows.push(Row::new("throughput, port against software", How::Modelled, times, "times").beside(claim("bose_figure3_throughput")));
    let mut us = [vec![None; SIZES.len()], vec![None; SIZES.len()]];
    match bed::usable(true) {
        Err(why) => {
            for (design, _) in DESIGNS {
                let none = |(_, size): (&str, &str)| Row::none(format!("{design}, {size}: round trip"), How::Measured, "us", &why);
                rows.extend(SIZES.map(none));
            }
        }
        Ok(()) => {
            let beds = [Bed::make("soft", DESIGNS[0].1, sessions, 1)?, Bed::make("steer", DESIGNS[1].1, sessions, 1)?];
            for (at, (size, name)) in SIZES.into_iter().enumerate() {
                let measured = measure(&beds, size, args)?;
                for (design, of) in measured.iter().enumerate() {
                    let what = format!("{}, {name}", DESIGNS[design].0);
                    rows.push(Row::new(format!("{what}: throughput"), How::Measured, of.kpps, "kpps"));
                    rows.push(Row::new(format!("{what}: round trip"), How::Measured, of.us, "us"));
                    us[design][at] = Some(of.us);
                }
                let [soft, offload] = measured;
                let row = |what: &str, ratio: f64| Row::new(format!("{what}, XDP against software, {name}"), How::Measured, ratio, "times");
                rows.push(row("throughput", offload.kpps / soft.kpps));
                let latency = row("round trip", offload.us / soft.us);
                rows.push(if at == 0 { latency.beside(claim("bose_figure3_latency")) } else { latency });
            }
            beds.into_iter().try_for_each(|bed| bed.end().map(drop))?;
        }
    }
    let [soft, offload] = us;
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Modelled: what two workers, and the master that steers to them, would carry with each thread on a core of its own, from the time that each takes for a packet here; memory ports, downlink. The port that steers is one with a queue for each worker, whose hash costs the workers nothing: a NIC.".into(),
            bed::RULE.into(),
            "There two workers, a master with software steering, and the tester take turns on this machine's cores: with two cores, those figures are of threads that wait for each other.".into(),
            format!("Throughput is what loses at most 0.1 %; round trips are medians of the rounds' means at {LOAD} % of what the slower design carries, to which as many replies come."),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "us, round trip".into(),
            categories: SIZES.map(|(_, name)| name.to_owned()).into(),
            series: vec![Series::ours(DESIGNS[0].0, How::Measured, soft), Series::ours(DESIGNS[1].0, How::Measured, offload)],
            ..Chart::default()
        },
    })
}

/// Of a design and size.
#[derive(Clone, Copy)]
struct Measured {
    kpps: f64,
    us: f64,
}

fn measure(beds: &[Bed; 2], size: &str, args: &Args) -> Result<[Measured; 2], Failure> {
    let seconds = args.size(2.0, 0.1);
    let pps = match args.quick {
        true => [QUICK_PPS; 2],
        false => [beds[0].throughput(size, seconds)?, beds[1].throughput(size, seconds)?],
    };
    let rate = pps[0].min(pps[1]) * LOAD / 100.0;
    let mut rounds = [Rounds::default(), Rounds::default()];
    for _ in 0..args.size(args.rounds(), 1) {
        for (bed, rounds) in beds.iter().zip(&mut rounds) {
            let trial = bed.trial(size, Some(rate), seconds, true)?;
            rounds.0.push(trial.rtt.mean_us);
        }
    }
    Ok([0, 1].map(|design| Measured { kpps: pps[design] / 1e3, us: rounds[design].median() }))
}
