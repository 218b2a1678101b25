//! Table 2 of Bose et al.: latency of the UPF in software, and with the data plane in front of it, by packet size.

use super::Args;
use super::bed::{self, Bed, Times, share_of};
use super::chart::{Chart, Series};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::measure::Rounds;
use cli::failure::Failure;

pub(super) const NAME: &str = "bose-table2";
pub(super) const TITLE: &str = "Latency by packet size: x86 alone, and XDP in front (Bose et al., Table 2)";

/// The paper's users.
const SESSIONS: u32 = 1000;
/// Sizes as `splitplane load` has them, in the order of the paper's columns.
const SIZES: [&str; 3] = ["64", "imix", "1400"];
/// Percent of the slower design's throughput that is sent; the sink mirrors all of it, so that twice as much comes.
const LOAD: f64 = 40.0;
/// Packets a second with `--quick`: any machine carries them.
const QUICK_PPS: f64 = 2000.0;
/// The designs, in the order of the paper: our name, the daemon's settings.
const DESIGNS: [(&str, &str); 2] = [("x86 alone", ""), ("XDP in front", "[split]\nfast = \"xdp\"\npolicy = { share = 1.0 }\n")];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let of = &papers().bose_table2;
    let name = |design: usize, size: usize| format!("{}, {}", DESIGNS[design].0, of.columns[size]);
    let mut rows = Vec::new();
    let mut ours = [vec![None; SIZES.len()], vec![None; SIZES.len()]];
    match bed::usable(true) {
        Err(why) => {
            let cells = (0..SIZES.len()).flat_map(|size| (0..DESIGNS.len()).map(move |design| (design, size)));
            for (design, size) in cells {
                rows.push(beside(Row::none(name(design, size), How::Measured, "us", &why), design, size));
            }
        }
        Ok(()) => {
            let sessions = args.size(SESSIONS, 32);
            let beds = [Bed::make("soft", DESIGNS[0].1, sessions, 1)?, Bed::make("offload", DESIGNS[1].1, sessions, 1)?];
            for (at, size) in SIZES.into_iter().enumerate() {
                let (rate, times) = measure(&beds, size, args)?;
                for (design, rounds) in times.iter().enumerate() {
                    let us = Rounds(rounds.iter().map(|of| of.mean_us).collect()).median();
                    let row = Row::new(name(design, at), How::Measured, us, "us");
                    let note = rounds.first().map(Times::text).unwrap_or_default();
                    rows.push(beside(row.note(format!("{:.1} kpps; {note}", rate / 1e3)), design, at));
                    ours[design][at] = Some(us);
                }
                if let [Some(soft), Some(offload)] = [ours[0][at], ours[1][at]] {
                    let papers = of.rows[1].values[at] / of.rows[0].values[at];
                    let row =
                        Row::new(format!("XDP in front of that of x86 alone, {}", of.columns[at]), How::Measured, offload / soft, "times");
                    rows.push(row.note(format!("the paper's two are {papers:.2}")));
                }
            }
            for (bed, (name, _)) in beds.into_iter().zip(DESIGNS) {
                let share = share_of(&bed.end()?, "xdp");
                rows.push(Row::new(format!("{name}: packets that ran in XDP"), How::Measured, share * 100.0, "%"));
            }
        }
    }
    let paper = |row: usize| of.rows[row].values.iter().map(|value| Some(*value)).collect();
    let [soft, offload] = ours;
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            bed::RULE.into(),
            format!(
                "Round trip: the sink mirrors each packet, and a reply's time counts from when the packet was due. Both designs in turn at one rate, {LOAD} % of what the slower one carries without mirroring: medians of the rounds' means. The paper measures at 10 Gbit/s, which fill its line."
            ),
            "The paper's DPOffload is a SmartNIC; XDP is the fast target that can be measured here. It runs in the kernel on the same cores.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "us".into(),
            logarithmic: false,
            categories: of.columns.clone(),
            series: vec![
                Series::paper("SoftUPF", paper(0)),
                Series::paper("DPOffload", paper(1)),
                Series::ours("x86 alone", How::Measured, soft),
                Series::ours("XDP in front", How::Measured, offload),
            ],
        },
    })
}

fn beside(row: Row, design: usize, size: usize) -> Row {
    match papers().bose_table2.cell(design, size) {
        Some(claim) => row.beside(&claim),
        None => row,
    }
}

/// The rate in packets a second, and round trip times of each design, by round.
fn measure(beds: &[Bed; 2], size: &str, args: &Args) -> Result<(f64, [Vec<Times>; 2]), Failure> {
    let seconds = args.size(2.0, 0.1);
    let rate = match args.quick {
        true => QUICK_PPS,
        false => beds[0].throughput(size, seconds)?.min(beds[1].throughput(size, seconds)?) * LOAD / 100.0,
    };
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..args.size(args.rounds(), 1) {
        for (bed, times) in beds.iter().zip(&mut times) {
            let trial = bed.trial(size, Some(rate), seconds, true)?;
            times.push(trial.rtt);
        }
    }
    Ok((rate, times))
}
