//! Table 6 of Singh et al.: heavy hitters a second by threshold; and what detectors make of the same packets.

use super::Args;
use super::chart::{Chart, Series};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use super::shares;
use cli::failure::Failure;
use detect::table6::{PAPER, THRESHOLDS};
use detect::truth::PerSecond;
use detect::workload::Workload;
use detect::{DecayedTwoWay, Detector, IpgHardware, IpgSimulator};
use rand::SeedableRng;

pub(super) const NAME: &str = "singh-table6";
pub(super) const TITLE: &str = "Heavy hitters a second by threshold, and what detectors find (Singh et al., Table 6)";

/// Memory of each detector: the middle one of those that they are compared by.
const MEMORY_BYTES: usize = 81 << 10;
/// Seconds that counts are averaged over.
const SECONDS: u64 = 3;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    // The table's columns are by flows and threshold, its rows captures; ours are the other way round.
    let chosen: Vec<usize> = if args.quick { vec![0] } else { (0..PAPER.len()).collect() };
    let captures = PAPER.len() / 2;
    let duration = args.size(SECONDS, 1) * shares::table6_second();
    let thresholds = shares::thresholds();
    let mut rows = Vec::new();
    let (mut paper_means, mut our_means) = (vec![0.0; 4], vec![0.0; 4]);
    for n in &chosen {
        let row = &PAPER[*n];
        let mut counted = PerSecond::new(&THRESHOLDS);
        Workload::new(&row.config(1, duration)).for_each(|p| counted.packet(p.key, p.bytes, p.at_ns));
        for (at, count) in counted.average().into_iter().enumerate() {
            let claim = papers().table6.cell(n % captures, at + 4 * (n / captures));
            let what = format!("{}, {}K flows, {}", row.capture, row.flows / 1000, thresholds[at]);
            let of = Row::new(what, How::Modelled, count, "flows/s");
            paper_means[at] += claim.as_ref().map_or(0.0, |c| c.value) / chosen.len() as f64;
            our_means[at] += count / chosen.len() as f64;
            rows.push(Row { paper: claim, ..of });
        }
    }
    rows.extend(detectors(args));
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            format!("Modelled: {}.", shares::RULE),
            "So the counts show that the traffic is like the paper's, not that the paper is right; what the detectors do with it is measured.".into(),
            format!("Measured: detectors of {} KiB each on one second of those packets; F1 against flows that had the threshold's bytes in any window of a second.", MEMORY_BYTES >> 10),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "heavy hitters a second, mean of the captures".into(),
            logarithmic: true,
            categories: thresholds.to_vec(),
            series: vec![
                Series::paper("CAIDA captures", paper_means.into_iter().map(Some).collect()),
                Series::ours("seeded traffic", How::Modelled, our_means.into_iter().map(Some).collect()),
            ],
        },
    })
}

/// What each detector reports in the first capture's second, by threshold.
fn detectors(args: &Args) -> Vec<Row> {
    let row = &PAPER[0];
    let thresholds: &[u64] = args.size(&THRESHOLDS, &THRESHOLDS[1..2]);
    let mut rows = Vec::new();
    for threshold in thresholds {
        let rng = rand::rngs::StdRng::seed_from_u64(2);
        let names = ["inter-packet gap, as on the switch", "inter-packet gap, as in the simulator", "decayed bytes, two ways (ours)"];
        let mut all: Vec<Box<dyn Detector>> = vec![
            Box::new(IpgHardware::new(MEMORY_BYTES, *threshold)),
            Box::new(IpgSimulator::new(MEMORY_BYTES, *threshold)),
            Box::new(DecayedTwoWay::new(MEMORY_BYTES, *threshold, rng)),
        ];
        let packets = Workload::new(&row.config(1, shares::table6_second()));
        let (reports, truth) = detect::score::run(packets, *threshold, &mut all);
        for (name, reports) in names.iter().zip(&reports) {
            let score = reports.score(&truth);
            let what = format!("{name}: flows reported, {} Mbit/s", threshold * 8 / 1_000_000);
            let note = format!("F1 {:.3}, precision {:.3}, recall {:.3}", score.f1(), score.precision(), score.recall());
            rows.push(Row::new(what, How::Measured, score.reported as f64, "flows").note(note));
        }
    }
    rows
}
