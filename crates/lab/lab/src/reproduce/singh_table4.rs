//! Table 4 of Singh et al.: what of a Tofino the UPF, the detector and both together take.

use super::Args;
use super::chart::{Chart, Series};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use chip::{Chip, Placement, Resource, Sizes};
use cli::failure::Failure;
use std::path::Path;

pub(super) const NAME: &str = "singh-table4";
pub(super) const TITLE: &str = "Resources of a Tofino: UPF, heavy-hitter detector, hybrid (Singh et al., Table 4)";

/// The table's rows as resources of our model.
const RESOURCES: [Resource; 8] = [
    Resource::ExactCrossbar,
    Resource::HashBits,
    Resource::HashSlices,
    Resource::MeterAlus,
    Resource::Sram,
    Resource::Tcam,
    Resource::Instructions,
    Resource::ResultBuses,
];

/// Which of the programs in `p4/tna`: the UPF and both together are `published.p4`, the detector alone is `heavy.p4`.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub upf: bool,
    pub ipg: bool,
}

/// The table's columns: parts and UEs.
const COLUMNS: [(Parts, u64); 5] = [
    (Parts { upf: true, ipg: false }, 10_000),
    (Parts { upf: true, ipg: false }, 430_000),
    (Parts { upf: false, ipg: true }, 0),
    (Parts { upf: true, ipg: true }, 10_000),
    (Parts { upf: true, ipg: true }, 430_000),
];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let of = &papers().table4;
    let mut rows = Vec::new();
    let (mut paper, mut ours) = (Vec::new(), Vec::new());
    for (column, (parts, ues)) in COLUMNS.iter().enumerate() {
        let placement = place(*parts, *ues)?;
        for (row, resource) in RESOURCES.iter().enumerate() {
            let Some(claim) = of.cell(row, column) else { continue };
            let percent = placement.percent(*resource);
            rows.push(Row::new(format!("{}: {}", of.columns[column], of.rows[row].name), How::Modelled, percent, "%").beside(&claim));
            // The picture has what the paper makes its point with: the hybrid at its full size.
            if column + 1 == COLUMNS.len() {
                paper.push(Some(claim.value));
                ours.push(Some(percent));
            }
        }
        let ns = placement.latency_clocks.iter().sum::<u64>() as f64 * 1e3 / placement.clock_mhz as f64;
        let note = format!("{} of {} stages", placement.stages_used(), placement.stages.len());
        rows.push(Row::new(format!("{}: latency of the stages", of.columns[column]), How::Modelled, ns, "ns").note(note));
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Modelled: p4/tna/published.p4 and p4/tna/heavy.p4 placed on the model of a Tofino 1 (12 stages; docs/chips.md). No vendor's compiler is asked.".into(),
            "The paper's programs are not public but for the detector. Ours have the UE look-up, the encapsulation and exact look-ups of layers 2 and 3; the paper's UPF-Tofino takes no TCAM and no meter ALU, so its firewall, meters and prefixes were not in what was measured.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "% of the chip".into(),
            logarithmic: false,
            categories: of.rows.iter().map(|row| row.name.clone()).collect(),
            series: vec![Series::paper("H-UPF 430K", paper), Series::ours("H-UPF 430K", How::Modelled, ours)],
        },
    })
}

/// The model of the paper's chip.
pub(super) fn tofino() -> Result<Chip, Failure> {
    Chip::named("tofino1").map_err(|e| Failure::Failed(e.to_string()))
}

/// The program with those parts.
pub(super) fn compile(parts: Parts) -> Result<p4_ir::Ir, Failure> {
    let path = if parts.upf { "tna/published.p4" } else { "tna/heavy.p4" };
    let defines: Vec<_> = (parts.upf && parts.ipg).then(|| ("HEAVY".to_owned(), "1".to_owned())).into_iter().collect();
    Ok(p4_driver::compile_for_chip(Path::new(path), &[], &defines)?)
}

/// The same on the chip, with room for so many UEs.
pub(super) fn place(parts: Parts, ues: u64) -> Result<Placement, Failure> {
    let placed = chip::place(&compile(parts)?, &tofino()?, &Sizes::sessions(ues.max(1)));
    placed.map_err(|refusal| Failure::Failed(format!("the program of the paper's chip: {refusal}")))
}
