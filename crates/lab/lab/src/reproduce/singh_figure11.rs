//! Figure 11 of Singh et al.: latency by load and cores on x86, and of what runs on the fast target beside what passes through it.

use super::Args;
use super::bed;
use super::chart::{Chart, Series};
use super::cores::{self, Growth};
use super::gnb_latency::{RULE, at_loads};
use super::offload_cases::{self, CASES};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use super::singh_figure7::{count, downlink};
use crate::bench::latency::Downlink;
use cli::failure::Failure;

pub(super) const NAME: &str = "singh-figure11";
pub(super) const TITLE: &str = "Latency by cores, and of what is offloaded and what is not (Singh et al., Figure 11)";

/// The paper's UEs.
pub(super) const SESSIONS: u32 = 100_000;
pub(super) const CORES: [u32; 4] = [1, 2, 4, 8];
/// Percents of what one core carries.
const LOADS: [f64; 4] = [10.0, 50.0, 80.0, 90.0];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let claim = |name| papers().claim(name);
    let sessions = args.size(SESSIONS, 1000);
    let mut rows = Vec::new();
    let growth = Growth::measure(|| downlink(args, sessions).map(|rounds| rounds.median()))?;
    for cores in CORES {
        let (mpps, how) = growth.on(cores);
        rows.push(Row::new(format!("x86, {} UEs: most that {cores} cores carry", count(sessions)), how, mpps, "Mpps"));
    }
    let times = Row::new("x86: two cores against one", How::Measured, growth.two / growth.one, "times");
    rows.push(times.beside(claim("singh_figure11_growth")));
    let upf = Downlink::new(sessions, args.size(1 << 16, 1024))?;
    let measured = at_loads(args.size(&LOADS, &LOADS[..2]), args, |rate| upf.run(rate, args.round()))?;
    for (load, (us, note)) in LOADS.iter().zip(&measured) {
        rows.push(Row::new(format!("x86, one core, at {load} % of its most: latency"), How::Measured, *us, "us").note(note));
        // Each core has its UEs, its packets and nothing in common with others.
        let (mpps, _) = growth.on(8);
        let what = format!("x86, 8 cores, at {load} % of their most: latency");
        let note = format!("{:.1} Mpps in all: that of one core at its share", mpps * load / 100.0);
        rows.push(Row::new(what, How::Modelled, *us, "us").note(note));
    }
    let mut us = vec![None; CASES.len()];
    match bed::usable(true) {
        Err(why) => rows.extend(CASES.map(|(name, _)| Row::none(format!("{name}: latency"), How::Measured, "us", &why))),
        Ok(()) => {
            let of = offload_cases::measure(args)?;
            let rate = Row::new("rate of what is offloaded and what is not", How::Measured, of.pps / 1e6, "Mpps");
            rows.push(rate.beside(claim("singh_figure11_rate")));
            for (((name, _), times), (throughput, us)) in CASES.into_iter().zip(&of.times).zip(of.throughput.iter().zip(&mut us)) {
                rows.push(Row::new(format!("{name}: latency"), How::Measured, times.mean_us, "us").note(times.text()));
                *us = Some(times.mean_us);
                if let Some(pps) = throughput {
                    rows.push(Row::new(format!("{name}: throughput"), How::Measured, pps / 1e3, "kpps"));
                }
            }
        }
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            format!("x86 by cores: measured as in singh-figure7, packets of 64 bytes; {}. As the paper's containers, cores share nothing.", cores::RULE),
            RULE.into(),
            bed::RULE.into(),
            "What is offloaded runs in XDP, the fast target that can be measured here, in place of the paper's SmartNIC; what is not passes through its program to x86. Without that program is x86 alone, the paper's standard NIC. Frames of 128 bytes.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "us".into(),
            categories: CASES.map(|(name, _)| name.to_owned()).into(),
            series: vec![Series::ours("mean latency", How::Measured, us)],
            ..Chart::default()
        },
    })
}
