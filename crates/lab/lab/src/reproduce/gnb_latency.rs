//! How long does a downlink packet take through the engine and a step of the gNodeB, or the UPF?

use super::Args;
use crate::bench::gnb::BEARERS;
use crate::bench::gnb::bearers::{N3, downlink};
use crate::bench::gnb::steps::numbers;
use crate::bench::latency::{self, Run, Traffic};
use crate::bench::measure::Rounds;
use cli::failure::Failure;
use hdrhistogram::Histogram;
use std::sync::Arc;
use target_api::Target;

/// How x86 is measured.
pub(super) const RULE: &str = "Measured: through the engine and a memory port, one worker, open loop: a packet's time counts from when it was due. Mean of all rounds; each packet is looked at when it comes out.";

/// Mean latency, in microseconds, at that percentage of what the program carries; and least and most, in words.
pub(super) fn at_load(target: &Arc<dyn Target>, percent: f64, args: &Args) -> Result<(f64, String), Failure> {
    let common = args.common();
    let bearers = args.size(BEARERS, 128);
    let frames: Vec<Vec<u8>> = numbers(bearers, &common).iter().take(args.size(1 << 16, 1024)).map(|n| downlink(*n)).collect();
    // MAC addresses swapped, and the user's packet as it was but for its number, whatever is in front of it.
    let is_right = |i: usize, out: &[u8]| {
        let frame = &frames[i];
        out.len() > 46
            && out[..6] == frame[6..12]
            && out[6..12] == frame[..6]
            && out[out.len() - 40..out.len() - 8] == frame[frame.len() - 40..frame.len() - 8]
    };
    let traffic = Traffic { from: N3, to: N3, frames: &frames, is_right: &is_right };
    let of = at_loads(&[percent], args, |rate| latency::run(target, &traffic, rate, common.round()))?;
    of.into_iter().next().ok_or_else(|| Failure::Failed("no latency was measured".into()))
}

/// The same at some percentages of what `run` carries, which sends at a rate or as much as goes.
pub(super) fn at_loads(
    percents: &[f64],
    args: &Args,
    run: impl Fn(Option<f64>) -> Result<Run, Failure>,
) -> Result<Vec<(f64, String)>, Failure> {
    let mut most = Rounds::default();
    for _ in 0..args.rounds() {
        let run = run(None)?;
        most.0.push(run.packets as f64 / run.elapsed.as_secs_f64());
    }
    let mut all: Vec<Histogram<u64>> = percents.iter().map(|_| latency::histogram()).collect::<Result<_, _>>()?;
    // In turns: the machine's load is everybody's.
    for _ in 0..args.rounds() {
        for (percent, all) in percents.iter().zip(&mut all) {
            let run = run(Some(most.median() * percent / 100.0))?;
            all.add(&run.latency).map_err(|e| Failure::Failed(e.to_string()))?;
        }
    }
    let us = |ns: u64| ns as f64 / 1e3;
    let told = |all: &Histogram<u64>| {
        let note = format!("{:.1} to {:.0} us, half below {:.1}", us(all.min()), us(all.max()), us(all.value_at_quantile(0.5)));
        (all.mean() / 1e3, note)
    };
    Ok(all.iter().map(told).collect())
}
