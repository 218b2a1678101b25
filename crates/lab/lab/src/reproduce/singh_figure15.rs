//! Figure 15 of Singh et al.: packets and bits a second of the buffer service, by packet size and number of cores.

use super::Args;
use super::chart::{Chart, Series};
use super::cores::{self, Growth};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::services::buffer::{published_rate, rlc_rate};
use cli::failure::Failure;

pub(super) const NAME: &str = "singh-figure15";
pub(super) const TITLE: &str = "Buffer service: packets a second by packet size and cores (Singh et al., Figure 15)";

/// Bytes of a packet: the text's three.
const SIZES: [usize; 3] = [128, 353, 1024];
const CORES: [u32; 4] = [1, 2, 4, 8];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let bearers = args.size(16_384, 256);
    let interval_ms = args.size(10, 1);
    let mut rows = Vec::new();
    let (mut paper, mut ours, mut rlc) = (Vec::new(), Vec::new(), Vec::new());
    let mut categories = Vec::new();
    for bytes in SIZES {
        // Each core has bearers of its own.
        let published = Growth::measure(|| published_rate(bearers, bytes, interval_ms, args.rounds(), args.round()))?;
        let other = Growth::measure(|| rlc_rate(bearers, bytes, args.rounds(), args.round()))?;
        for cores in CORES {
            let claim = |unit: &str| papers().find(&format!("singh_figure15_{bytes}_{cores}_{unit}"));
            let (mpps, how) = published.on(cores);
            let gbps = mpps * bytes as f64 * 8.0 / 1e3;
            let name = format!("{bytes} B, {cores} core{}", if cores > 1 { "s" } else { "" });
            let beside = |row: Row, claim: Option<_>| match claim {
                Some(claim) => row.beside(claim),
                None => row,
            };
            rows.push(beside(Row::new(format!("Algorithm 1, {name}"), how, mpps, "Mpps"), claim("mpps")));
            rows.push(beside(Row::new(format!("Algorithm 1, {name}: throughput"), how, gbps, "Gbit/s"), claim("gbps")));
            let (rlc_mpps, rlc_how) = other.on(cores);
            rows.push(Row::new(format!("RLC AM, {name}"), rlc_how, rlc_mpps, "Mpps"));
            paper.push(claim("mpps").map(|claim| claim.value));
            ours.push((mpps, how));
            rlc.push((rlc_mpps, rlc_how));
            categories.push(name);
        }
        rows.push(Row::new(format!("Algorithm 1, {bytes} B: two cores, of twice one"), How::Measured, published.factor(), "times"));
    }
    let of = |all: &[(f64, How)], wanted| all.iter().map(|(mpps, how)| (*how == wanted).then_some(*mpps)).collect();
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            format!("Measured: a packet is kept, and given back when a status names it, memory to memory, by the own time of each core; {bearers} bearers met at random on each core, {interval_ms} ms from one turn to the next."),
            format!("Modelled: {}. Bits are those of the packets.", cores::RULE),
            "The paper has a NIC on the way in and out (40 Gbit/s), and its packets are written into the buffer by it; ours are there, and are moved by their handle.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "Mpps".into(),
            logarithmic: true,
            categories,
            series: vec![
                Series::paper("BaaS", paper),
                Series::ours("Algorithm 1", How::Measured, of(&ours, How::Measured)),
                Series::ours("Algorithm 1", How::Modelled, of(&ours, How::Modelled)),
                Series::ours("RLC AM", How::Measured, of(&rlc, How::Measured)),
            ],
        },
    })
}
