//! Figure 12 of Singh et al.: the distribution of latency of what runs on the fast target, passes through it, and knows nothing of it.

use super::Args;
use super::bed::{self, Times};
use super::chart::{Chart, Series};
use super::offload_cases::{self, CASES};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use cli::failure::Failure;

pub(super) const NAME: &str = "singh-figure12";
pub(super) const TITLE: &str = "Distribution of latency, offloaded and not (Singh et al., Figure 12)";

/// A share of the packets, and the time that it takes less than, in microseconds.
type Share = (&'static str, fn(&Times) -> f64);

/// What is shown of a distribution.
const SHARES: [Share; 5] =
    [("50 %", |of| of.p50_us), ("90 %", |of| of.p90_us), ("99 %", |of| of.p99_us), ("99.9 %", |of| of.p99_9_us), ("all", |of| of.max_us)];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let mut rows = Vec::new();
    let mut series = Vec::new();
    match bed::usable(true) {
        Err(why) => {
            for (name, _) in CASES {
                rows.extend(
                    SHARES.map(|(share, _)| Row::none(format!("{name}: {share} of the packets take less than"), How::Measured, "us", &why)),
                );
                series.push(Series::curve(name, How::Measured, vec![None; SHARES.len()]));
            }
        }
        Ok(()) => {
            let of = offload_cases::measure(args)?;
            let rate = Row::new("rate", How::Measured, of.pps / 1e6, "Mpps");
            rows.push(rate.beside(papers().claim("singh_figure11_rate")));
            for ((name, _), times) in CASES.into_iter().zip(&of.times) {
                let at: Vec<f64> = SHARES.iter().map(|(_, of)| of(times)).collect();
                for ((share, _), us) in SHARES.iter().zip(&at) {
                    rows.push(Row::new(format!("{name}: {share} of the packets take less than"), How::Measured, *us, "us"));
                }
                let tail = if times.p50_us > 0.0 { times.p99_us / times.p50_us } else { 0.0 };
                rows.push(Row::new(format!("{name}: tail, 99 % against half"), How::Measured, tail, "times"));
                series.push(Series::curve(name, How::Measured, at.into_iter().map(Some).collect()));
            }
        }
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "The paper's text has no number of the distributions: it says that what is offloaded has nearly no tail, and what is not has a long one.".into(),
            bed::RULE.into(),
            "The packets are those of singh-figure11. Medians of the rounds' quantiles, of the direction with more packets.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "us".into(),
            logarithmic: true,
            categories: SHARES.map(|(share, _)| share.to_owned()).into(),
            series,
        },
    })
}
