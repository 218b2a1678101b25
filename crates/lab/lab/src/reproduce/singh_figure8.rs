//! Figure 8 of Singh et al.: latency of the UPF on the chip and on x86, by sessions.

use super::Args;
use super::chart::{Chart, Series};
use super::gnb_latency::{RULE, at_loads};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use super::singh_figure7::count;
use super::singh_table4::{Parts, place};
use crate::bench::latency::Downlink;
use cli::failure::Failure;

pub(super) const NAME: &str = "singh-figure8";
pub(super) const TITLE: &str = "Latency by sessions: the chip alone and x86 alone (Singh et al., Figure 8)";

/// The paper's numbers of UEs, as in its Figure 7.
const SESSIONS: [u32; 3] = [100_000, 800_000, 2_000_000];
/// Percent of what x86 carries: with more its queue only grows.
const LOAD: f64 = 80.0;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let sessions: &[u32] = args.size(&SESSIONS, &[1000, 2000]);
    let parts = Parts { upf: true, ipg: false };
    let room = super::singh_table5::most(parts)?;
    let (mut rows, mut chip, mut x86) = (Vec::new(), Vec::new(), Vec::new());
    for sessions in sessions {
        let fits = u64::from(*sessions) <= room;
        let us = match fits {
            true => {
                let placement = place(parts, u64::from(*sessions))?;
                Some(placement.latency_clocks.iter().sum::<u64>() as f64 / placement.clock_mhz as f64)
            }
            false => None,
        };
        let row = Row::new(format!("chip, {} UEs: latency of the stages", count(*sessions)), How::Modelled, us.unwrap_or(0.0), "us");
        let note = if fits { "the paper's is from port to port".to_owned() } else { format!("the chip holds {room} at most") };
        rows.push(Row { ours: us, ..row.beside(papers().claim("singh_figure8_chip")).note(note) });
        chip.push(us);
        let upf = Downlink::new(*sessions, args.size(1 << 16, 1024))?;
        let measured = at_loads(&[LOAD], args, |rate| upf.run(rate, args.round()))?;
        for (us, note) in measured {
            let row = Row::new(format!("x86, one core, {} UEs", count(*sessions)), How::Measured, us, "us");
            rows.push(row.beside(papers().claim("singh_figure8_x86")).note(note));
            x86.push(Some(us));
        }
    }
    let middle = |name: &str| vec![Some(papers().claim(name).middle()); sessions.len()];
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            RULE.into(),
            "Modelled: the clocks that a packet spends in the stages of p4/tna/published.p4 on the model of a Tofino 1, without parser, deparser, queues and ports.".into(),
            format!(
                "The load on x86 is {LOAD} % of what one core carries. The paper sends at line rate, more than its x86 carries, with NIC and DPDK around it: its time is that of full queues. So only the step from chip to x86 compares, and that more UEs take longer."
            ),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "us".into(),
            logarithmic: true,
            categories: sessions.iter().map(|sessions| format!("{} UEs", count(*sessions))).collect(),
            series: vec![
                Series::paper("UPF-Tofino, middle of the range", middle("singh_figure8_chip")),
                Series::paper("UPF-x86, middle of the range", middle("singh_figure8_x86")),
                Series::ours("chip", How::Modelled, chip),
                Series::ours("x86, one core", How::Measured, x86),
            ],
        },
    })
}
