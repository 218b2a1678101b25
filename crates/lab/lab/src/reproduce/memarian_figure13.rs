//! Figure 13 of Memarian et al.: latency by step, at 10 % of the rate.

use super::Args;
use super::chart::{Chart, Series};
use super::gnb_latency::{RULE, at_load};
use super::gnb_steps::{NIC_RULE, STEPS, nic_step};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::gnb::BEARERS;
use crate::bench::gnb::steps::{self, Who};
use cli::failure::Failure;

pub(super) const NAME: &str = "memarian-figure13";
pub(super) const TITLE: &str = "Latency by step at a tenth of the rate: on the card, and on x86 (Memarian et al., Figure 13)";

const LOAD: f64 = 10.0;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let of = &papers().memarian_figure13;
    let (mut rows, mut paper, mut card, mut x86) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let steps: Vec<(u8, &str)> = (0u8..).zip(STEPS).take(of.columns.len()).collect();
    for (step, name) in &steps {
        let us = nic_step(*step)?.us;
        let claim = of.cell(0, (*step).into());
        paper.push(claim.as_ref().map(|claim| claim.value));
        card.push(Some(us));
        let row = Row::new(format!("card, step {step}: {name}"), How::Modelled, us, "us");
        rows.push(match claim {
            Some(claim) => row.beside(&claim),
            None => row,
        });
    }
    for (step, name) in &steps {
        let target = steps::target(Who::Step(*step), args.size(BEARERS, 128))?;
        let (us, note) = at_load(&target, LOAD, args)?;
        x86.push(Some(us));
        rows.push(Row::new(format!("x86, step {step}: {name}"), How::Measured, us, "us").note(note));
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            RULE.into(),
            NIC_RULE.into(),
            "The load on x86 is 10 % of what the step carries there. What the paper has for x86 is in the picture, which is not in the text; it says that each step adds as on the card, to a higher and less steady latency.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "us".into(),
            logarithmic: true,
            categories: steps.iter().map(|(_, name)| name.to_string()).collect(),
            series: vec![
                Series::paper("SmartNIC", paper),
                Series::ours("card", How::Modelled, card),
                Series::ours("x86", How::Measured, x86),
            ],
        },
    })
}
