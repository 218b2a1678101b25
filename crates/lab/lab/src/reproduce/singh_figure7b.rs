//! Figure 7(b) of Singh et al.: the hybrid's throughput with the traffic of four days.

use super::Args;
use super::chart::{Chart, Series};
use super::link;
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use super::shares;
use super::singh_figure7::{SENT_FRAME, count, downlink};
use cli::failure::Failure;
use detect::table6::PAPER;

pub(super) const NAME: &str = "singh-figure7b";
pub(super) const TITLE: &str = "Throughput of the hybrid with the traffic of four days (Singh et al., Figure 7b)";

/// From so many flows on the paper finds no more change.
const SESSIONS: u32 = 1_000_000;
/// The paper's link, and one that one core of ours does not fill.
const LINKS_BPS: [f64; 2] = [10e9, 100e9];
/// The picture's threshold is the lowest, 2 Mbit/s.
const THRESHOLD: usize = 0;
/// Seconds of each day's traffic, seeded each.
const SECONDS: u64 = 8;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let claim = |name| papers().claim(name);
    let sessions = args.size(SESSIONS, 1000);
    let (small, large) = PAPER.split_at(PAPER.len() / 2);
    let days = args.size(large, small);
    let rounds = downlink(args, sessions)?;
    let (low, high) = rounds.spread();
    let ours = rounds.median();
    let x86 = Row::new(format!("x86 alone, one core, {} UEs", count(sessions)), How::Measured, ours, "Mpps");
    let mut rows = vec![x86.beside(claim("figure7_x86")).note(format!("{low:.2} to {high:.2}"))];
    // In one second few flows have many packets: which ones send short packets is chance.
    let seconds = args.size(SECONDS, 1);
    let share = |day| (1..=seconds).map(|seed| shares::shares(day, seed)[THRESHOLD].packets).sum::<f64>() / seconds as f64;
    let shares: Vec<f64> = days.iter().map(share).collect();
    // The paper's own x86 on its link, and ours on one that it does not fill.
    let papers_x86 = claim("figure7_x86").middle();
    let cases = [("the paper's x86, 10 Gbit/s", papers_x86, LINKS_BPS[0]), ("our x86, 100 Gbit/s", ours, LINKS_BPS[1])];
    let mut series = vec![Series::paper("H-UPF, middle of the range", vec![Some(claim("figure7_hybrid").middle()); days.len()])];
    for (at, (name, x86_mpps, bps)) in cases.into_iter().enumerate() {
        let line = link::mpps(bps, SENT_FRAME);
        let all: Vec<f64> = shares.iter().map(|share| link::hybrid_mpps(*share, line, x86_mpps)).collect();
        for ((day, mpps), share) in days.iter().zip(&all).zip(&shares) {
            let row = Row::new(format!("hybrid of {name}, {}", day.capture), How::Modelled, *mpps, "Mpps");
            let row = row.note(format!("{:.1} % of the packets on the chip", share * 100.0));
            rows.push(if at == 0 { row.beside(claim("figure7_hybrid")) } else { row });
        }
        let (least, most) = all.iter().fold((f64::INFINITY, 0.0f64), |(least, most), mpps| (least.min(*mpps), most.max(*mpps)));
        let change = Row::new(format!("change between the days, hybrid of {name}"), How::Modelled, (most / least - 1.0) * 100.0, "%");
        rows.push(change.beside(claim("singh_figure7b_change")));
        series.push(Series::ours(format!("hybrid of {name}"), How::Modelled, all.into_iter().map(Some).collect()));
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Measured: x86 as in singh-figure7. Modelled from its rate r, or from the paper's: with a share s of the packets on the chip, both forward min(link, r / (1 - s)).".into(),
            format!("The threshold is 2 Mbit/s. Shares by day, mean of {seconds} seconds: {}.", shares::RULE),
            "Days differ here by their heavy hitters alone, as Table 6 counts them: what else may change from day to day is not in this traffic.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart { y: "Mpps".into(), logarithmic: false, categories: days.iter().map(|day| day.capture.to_owned()).collect(), series },
    })
}
