//! Figure 9 of Singh et al.: latency of flows that stay on x86, when heavy hitters above a threshold are on the chip.

use super::Args;
use super::chart::{Chart, Series};
use super::gnb_latency::{RULE, at_loads};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use super::shares;
use super::singh_figure7::count;
use crate::bench::latency::Downlink;
use cli::failure::Failure;

pub(super) const NAME: &str = "singh-figure9";
pub(super) const TITLE: &str = "Latency of light flows by threshold: heavy hitters are on the chip (Singh et al., Figure 9)";

/// Sessions, and percent of what x86 carries that comes in: all of it without a chip.
const SESSIONS: u32 = 1_000_000;
const LOAD: f64 = 90.0;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let sessions = args.size(SESSIONS, 1000);
    let upf = Downlink::new(sessions, args.size(1 << 16, 1024))?;
    let shares = shares::shares(shares::row(args, sessions), 1);
    // x86 alone, and behind the chip by threshold.
    let left: Vec<f64> = std::iter::once(1.0).chain(shares.iter().map(|share| 1.0 - share.packets)).collect();
    let percents: Vec<f64> = left.iter().map(|left| LOAD * left).collect();
    let measured = at_loads(&percents, args, |rate| upf.run(rate, args.round()))?;
    let names = std::iter::once("x86 alone".to_owned());
    let names: Vec<String> = names.chain(shares::thresholds().into_iter().map(|of| format!("behind the chip, {of}"))).collect();
    let alone = measured.first().map_or(0.0, |(us, _)| *us);
    let mut rows = Vec::new();
    for (at, (name, (us, note))) in names.iter().zip(&measured).enumerate() {
        // At a load that only a chip would leave.
        let how = if at == 0 { How::Measured } else { How::Modelled };
        let row = Row::new(format!("{name}: latency of light flows"), how, *us, "us");
        let row = row.note(format!("{:.1} % of the packets are on x86; {note}", left[at] * 100.0));
        rows.push(if at == 0 { row.beside(papers().claim("singh_figure8_x86")) } else { row });
        if at > 0 {
            let ratio = if alone > 0.0 { us / alone } else { 0.0 };
            rows.push(Row::new(format!("{name}: of that of x86 alone"), how, ratio, "times"));
        }
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            RULE.into(),
            format!(
                "x86 has {} sessions and {LOAD} % of what one core carries. Modelled: behind a chip it has that less the share of the packets that heavy hitters have, and its latency is measured at that load. Shares: {}.",
                count(sessions),
                shares::RULE
            ),
            "The paper says that 2 Mbit/s lowers the latency and that higher thresholds change nothing; it sends more than its x86 carries. Added by the chip's way, some microseconds, is not in ours.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "us".into(),
            logarithmic: false,
            categories: names,
            series: vec![Series::ours("light flows", How::Modelled, measured.iter().map(|(us, _)| Some(*us)).collect())],
        },
    })
}
