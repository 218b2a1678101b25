//! Section 6.3.3 of Singh et al.: SNOW 3G on packets of 64 bytes, its growth with cores, and the latency of the step and of the component.

use super::Args;
use super::chart::{Chart, Series};
use super::cores::Growth;
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::services::seam::{cipher, latency};
use ciphering::Nea;
use cli::failure::Failure;
use service::Place;

pub(super) const NAME: &str = "singh-cipher";
pub(super) const TITLE: &str = "Cipher service: SNOW 3G, 64 B: rate, growth, latency (Singh et al., section 6.3.3)";

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let common = args.common();
    let growth = Growth::measure(|| Ok(median(&cipher(Nea::Nea1, &common)?)))?;
    let claim = |name: &str| papers().claim(name);
    let (mpps, scaling) = (claim("singh_cipher_mpps"), claim("singh_cipher_scaling"));
    let (step, component) = (claim("singh_cipher_step"), claim("singh_cipher_component"));
    let folder = tempfile::tempdir().map_err(|error| Failure::Failed(error.to_string()))?;
    let places = [
        ("in the lane", Place::Lane),
        ("on a thread", Place::Threads(1)),
        ("in a second process", Place::Process(folder.path().join("cipher.sock"))),
    ];
    let step_us = 1.0 / growth.one;
    let mut rows = vec![
        Row::new("encryption, one core", How::Measured, growth.one, "Mpps").beside(mpps),
        Row::new("encryption, two cores", How::Measured, growth.two, "Mpps"),
        Row::new("growth: two cores, of twice one", How::Measured, growth.factor(), "times").beside(scaling),
        Row::new("latency of the step, a burst of 32 shared by its packets", How::Measured, step_us, "us").beside(step),
    ];
    let mut latencies = Vec::new();
    for (name, place) in &places {
        let row = latency(place, &common, Nea::Nea1)?;
        let p99 = row["p99_us"].as_f64().unwrap_or_default();
        let us = median(&row);
        rows.push(
            Row::new(format!("latency of the component {name}, one packet at a time: p50"), How::Measured, us, "us")
                .beside(component)
                .note(format!("p99 {p99:.2}")),
        );
        latencies.push(Some(us));
    }
    let with_step = |value, rest: Vec<Option<f64>>| [vec![Some(value)], rest].concat();
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Measured: NEA1 through the seam, 1024 packets, each with a key of its own, in bursts of 32, by the own time of each core; bytes are compared with those of the implementation in Rust.".into(),
            "The paper's component has a NIC and DPDK on both sides, in normal load; ours begins with the call and ends with the answer, by the clock, on an idle service.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "us".into(),
            logarithmic: true,
            categories: ["the step"].into_iter().chain(places.iter().map(|(name, _)| *name)).map(str::to_owned).collect(),
            series: vec![
                Series::paper("SNOW 3G", with_step(step.value, vec![Some(component.middle()); places.len()])),
                Series::ours("NEA1", How::Measured, with_step(step_us, latencies)),
            ],
        },
    })
}

/// Of a row of a benchmark.
pub(super) fn median(row: &serde_json::Value) -> f64 {
    row["rate"]["median"].as_f64().unwrap_or_default()
}
