//! Figure 7 of Memarian et al.: packets a second of the card, as the gNodeB's pipeline grows on it.

use super::Args;
use super::chart::{Chart, Series};
use super::gnb_steps::{NIC_RULE, STEPS, nic_step};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::gnb::{BEARERS, xdp};
use cli::failure::Failure;

pub(super) const NAME: &str = "memarian-figure7";
pub(super) const TITLE: &str = "gNodeB on the card: packets a second by step (Memarian et al., Figure 7)";

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let of = &papers().memarian_steps;
    let (mut rows, mut paper, mut modelled) = (Vec::new(), Vec::new(), Vec::new());
    for (step, name) in STEPS.iter().enumerate() {
        let nic = nic_step(step as u8)?;
        let row = Row::new(format!("card, step {step}: {name}"), How::Modelled, nic.mpps, "Mpps");
        let claim = of.cell(0, step);
        paper.push(claim.as_ref().map(|claim| claim.value));
        modelled.push(Some(nic.mpps));
        rows.push(match claim {
            Some(claim) => row.beside(&claim),
            None => row,
        });
    }
    // The NIC that is here: the driver's hook in the kernel.
    let costs = match xdp::costs(args.size(BEARERS, 256), &args.common()) {
        Ok(costs) => costs.iter().map(|cost| Ok(1e3 / cost.ours.median().max(1.0))).collect(),
        Err(Failure::Usage(why)) => vec![Err(why); 4],
        Err(other) => return Err(other),
    };
    let mut measured = vec![None; STEPS.len()];
    for (step, name) in STEPS.iter().enumerate() {
        let what = format!("XDP, one core, step {step}: {name}");
        rows.push(match costs.get(step) {
            Some(Ok(mpps)) => {
                measured[step] = Some(*mpps);
                Row::new(what, How::Measured, *mpps, "Mpps")
            }
            Some(Err(why)) => Row { ours: None, ..Row::new(what, How::Measured, 0.0, "Mpps").note(why) },
            None => Row { ours: None, ..Row::new(what, How::Measured, 0.0, "Mpps").note("XDP clones no packets") },
        });
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            NIC_RULE.into(),
            "Measured: steps 0 to 3 in the kernel's XDP hook, alone, by its test run: what a core does that has nothing but the program. No NIC, no interrupts.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "Mpps".into(),
            logarithmic: false,
            categories: STEPS.iter().map(|step| step.to_string()).collect(),
            series: vec![
                Series::paper("SmartNIC", paper),
                Series::ours("card", How::Modelled, modelled),
                Series::ours("XDP, one core", How::Measured, measured),
            ],
        },
    })
}
