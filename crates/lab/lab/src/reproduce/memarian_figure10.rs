//! Figure 10 of Memarian et al.: the buffer fed directly, as a NIC that clones packets feeds it, by cores.

use super::Args;
use super::chart::{Chart, Series};
use super::cores::{self, Growth};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use super::singh_cipher::median;
use crate::bench::services::seam::keep;
use cli::failure::Failure;
use service::Place;

pub(super) const NAME: &str = "memarian-figure10";
pub(super) const TITLE: &str = "Buffer service fed directly: packets a second by cores (Memarian et al., Figure 10)";

const CORES: [u32; 3] = [1, 2, 4];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let common = args.common();
    let growth = Growth::measure(|| Ok(median(&keep(&Place::Lane, 128, &common)?)))?;
    let (offered, needed) = (papers().claim("memarian_figure10_offered"), papers().claim("memarian_figure10_cores"));
    let mut rows = Vec::new();
    for cores in CORES {
        let (mpps, how) = growth.on(cores);
        let row = Row::new(format!("keep and acknowledge, {cores} core{}", if cores > 1 { "s" } else { "" }), how, mpps, "Mpps");
        // What the paper's NIC can clone is what its buffer gets at most.
        rows.push(if cores == 2 { row.beside(offered) } else { row });
    }
    let enough = CORES.iter().find(|cores| growth.on(**cores).0 >= offered.value);
    let row = match enough {
        Some(cores) => Row::new("cores for what the paper's NIC clones", growth.on(*cores).1, f64::from(*cores), "cores"),
        None => Row { ours: None, ..Row::new("cores for what the paper's NIC clones", How::Modelled, 0.0, "cores").note("more than four") },
    };
    rows.push(row.beside(needed));
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Measured: RLC AM behind the seam in the lane, 128 B, kept and acknowledged by a status for 16 packets each, memory to memory, by the own time of each core. Beside two cores stands what the paper's NIC can clone: its buffer is not full then.".into(),
            format!("Modelled: {}.", cores::RULE),
            "Not here: the NIC and its receive queues, by which the paper's packets come.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "Mpps".into(),
            logarithmic: false,
            categories: CORES.map(|cores| format!("{cores} cores")).into(),
            series: vec![
                Series::paper("offered", CORES.map(|_| Some(offered.value)).into()),
                Series::ours("RLC AM", How::Measured, CORES.map(|cores| Some(growth.on(cores)).filter(|(_, how)| *how == How::Measured).map(|(mpps, _)| mpps)).into()),
                Series::ours("RLC AM", How::Modelled, CORES.map(|cores| Some(growth.on(cores)).filter(|(_, how)| *how == How::Modelled).map(|(mpps, _)| mpps)).into()),
            ],
        },
    })
}
