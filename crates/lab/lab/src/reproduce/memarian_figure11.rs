//! Figure 11 of Memarian et al.: the buffer as a second process behind the program that sends the packets, by cores on both sides.

use super::Args;
use super::chart::{Chart, Series};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use super::singh_cipher::median;
use crate::bench::services::seam::keep;
use cli::failure::Failure;
use service::Place;

pub(super) const NAME: &str = "memarian-figure11";
pub(super) const TITLE: &str = "Buffer service as a second process: packets a second by cores of both sides (Memarian et al., Figure 11)";

/// Cores of the sender, and of the buffer.
const CORES: [(u32, u32); 3] = [(1, 1), (8, 2), (8, 4)];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let common = args.common();
    let folder = tempfile::tempdir().map_err(|error| Failure::Failed(error.to_string()))?;
    let row = keep(&Place::Process(folder.path().join("buffer.sock")), 128, &common)?;
    let side = |name: &str| row[name]["median"].as_f64().unwrap_or_default();
    let (sender, buffer, both, clock) = (side("caller"), side("service"), median(&row), side("clock"));
    let (two, most) = (papers().claim("memarian_figure11_two"), papers().claim("memarian_figure11_most"));
    let mut rows = vec![
        Row::new("one core of the sender", How::Measured, sender, "Mpps"),
        Row::new("one core of the buffer", How::Measured, buffer, "Mpps"),
        Row::new("a core of both in turn", How::Measured, both, "Mpps"),
        Row::new("one core each, by the clock of this machine", How::Measured, clock, "Mpps"),
    ];
    let (mut paper, mut ours) = (Vec::new(), Vec::new());
    for (senders, buffers) in CORES {
        // Whoever is full first limits both.
        let mpps = (f64::from(senders) * sender).min(f64::from(buffers) * buffer);
        let claim = match (senders, buffers) {
            (8, 2) => Some(two),
            (8, 4) => Some(most),
            _ => None,
        };
        let row = Row::new(format!("{senders} + {buffers} cores"), How::Modelled, mpps, "Mpps");
        rows.push(match claim {
            Some(claim) => row.beside(claim),
            None => row,
        });
        paper.push(claim.map(|claim| claim.value));
        ours.push(Some(mpps));
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Measured: a synthetic sender gives RLC AM packets of 128 B and statuses for 16 each, by shared memory, to `splitplane service buffer`; each side's packets a second by its own time, both together, and by the clock.".into(),
            "Modelled: so many cores of each side share nothing, and the side that is full first limits both. The sender is no gNodeB: its core does nothing but give and take packets.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "Mpps".into(),
            logarithmic: false,
            categories: CORES.map(|(senders, buffers)| format!("{senders} + {buffers} cores")).into(),
            series: vec![Series::paper("BaaS", paper), Series::ours("RLC AM", How::Modelled, ours)],
        },
    })
}
