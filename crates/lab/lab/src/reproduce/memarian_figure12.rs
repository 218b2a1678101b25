//! Figure 12 of Memarian et al.: latency on the card and behind it, at the highest rate without loss.

use super::Args;
use super::chart::{Chart, Series};
use super::gnb_latency::{RULE, at_load};
use super::gnb_steps::{NIC_RULE, nic, nic_step};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::gnb::steps::{self, Who};
use cli::failure::Failure;
use std::sync::Arc;
use target_api::Target;

pub(super) const NAME: &str = "memarian-figure12";
pub(super) const TITLE: &str = "Latency near the highest rate: on the card, and on x86 (Memarian et al., Figure 12)";

/// Percent of what x86 carries: with more its queue only grows.
const LOAD: f64 = 80.0;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let of = &papers().memarian_figure12;
    let l2fwd = p4_driver::compile_shipped("l2fwd.p4")?;
    let card = [nic(&l2fwd, false)?.us, nic_step(4)?.us];
    let plain: Arc<dyn Target> = Arc::new(crate::bench::contestant::load_x86(&l2fwd)?);
    let gnb = steps::target(Who::Step(4), args.size(crate::bench::gnb::BEARERS, 128))?;
    let x86 = [at_load(&plain, LOAD, args)?, at_load(&gnb, LOAD, args)?];
    let mut rows = Vec::new();
    for (program, name) in ["L2 forwarding", "gNodeB with its clone"].into_iter().enumerate() {
        let on_card = Row::new(format!("{name}, on the card"), How::Modelled, card[program], "us");
        let (us, note) = &x86[program];
        let on_x86 = Row::new(format!("{name}, on x86"), How::Measured, *us, "us").note(note);
        for (column, row) in [on_card, on_x86].into_iter().enumerate() {
            rows.push(match of.cell(program, column) {
                Some(claim) => row.beside(&claim),
                None => row,
            });
        }
    }
    let claims = |column: usize| (0..2).map(|row| of.cell(row, column).map(|claim| claim.value)).collect();
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            RULE.into(),
            NIC_RULE.into(),
            format!(
                "The load on x86 is {LOAD} % of what it carries. The paper's times are those of a tester, with its ports, the card and the way over PCIe in them: ours are the program's and the engine's alone. So what compares is what the gNodeB adds to L2 forwarding, and x86 to the card."
            ),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "us".into(),
            logarithmic: true,
            categories: vec!["L2 forwarding".into(), "gNodeB".into()],
            series: vec![
                Series::paper("SmartNIC", claims(0)),
                Series::paper("SmartNIC + x86", claims(1)),
                Series::ours("card", How::Modelled, card.map(Some).into()),
                Series::ours("x86", How::Measured, x86.iter().map(|(us, _)| Some(*us)).collect()),
            ],
        },
    })
}
