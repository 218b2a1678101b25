//! Figure 8 of Memarian et al.: packets a second of x86, as the gNodeB's pipeline grows there, by cores.

use super::Args;
use super::chart::{Chart, Series};
use super::cores;
use super::gnb_steps::{X86_RULE, x86_growth};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::gnb::steps::Who;
use cli::failure::Failure;

pub(super) const NAME: &str = "memarian-figure8";
pub(super) const TITLE: &str = "gNodeB on x86: packets a second by step and cores (Memarian et al., Figure 8)";

/// The paper's steps here: its 0 receives and drops, its 1 is our 0, and it has none that clones and drops.
const STEPS: [(&str, Who); 6] = [
    ("receive and drop", Who::Ports),
    ("L2 forwarding", Who::Step(0)),
    ("+ GTP-U off", Who::Step(1)),
    ("+ headers", Who::Step(2)),
    ("+ 64K bearers", Who::Step(3)),
    ("+ copy to the buffer", Who::Step(5)),
];
const CORES: [u32; 3] = [1, 2, 8];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let of = &papers().memarian_steps;
    let (mut rows, mut paper) = (Vec::new(), Vec::new());
    let mut ours: [Vec<Option<f64>>; CORES.len()] = Default::default();
    for (step, (name, who)) in STEPS.into_iter().enumerate() {
        let growth = x86_growth(who, args)?;
        let claim = of.cell(1, step);
        paper.push(claim.as_ref().map(|claim| claim.value));
        for (cores, ours) in CORES.into_iter().zip(&mut ours) {
            let (mpps, how) = growth.on(cores);
            ours.push(Some(mpps));
            let row = Row::new(format!("x86, {cores} core{}, step {step}: {name}", if cores > 1 { "s" } else { "" }), how, mpps, "Mpps");
            rows.push(match &claim {
                Some(claim) if cores == 8 => row.beside(claim),
                _ => row,
            });
        }
    }
    let [one, two, eight] = ours;
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            X86_RULE.into(),
            format!("Modelled: {}.", cores::RULE),
            "The last step keeps a copy of each packet in the buffer in the lane, and frees it by a STATUS for 8; the paper enqueues it for another process. Not here: the card that brings the packets, which carries 32.5 Mpps in the paper.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "Mpps".into(),
            logarithmic: true,
            categories: STEPS.iter().map(|(name, _)| name.to_string()).collect(),
            series: vec![
                Series::paper("x86, 8 cores", paper),
                Series::ours("1 core", How::Measured, one),
                Series::ours("2 cores", How::Measured, two),
                Series::ours("8 cores", How::Modelled, eight),
            ],
        },
    })
}
