//! Figure 14 of Singh et al.: how long downloads take that share a link with heavy hitters, before and after these are found and re-routed.

use super::Args;
use super::bed;
use super::chart::{Chart, Series};
use super::downloads::{self, Downloads, Load};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::qos::flows::DATAGRAM_IP_BYTES;
use cli::failure::Failure;
use std::time::Duration;

pub(super) const NAME: &str = "singh-figure14";
pub(super) const TITLE: &str = "Completion times of downloads beside heavy hitters, and without them (Singh et al., Figure 14)";

/// The paper's downloads and heavy hitters, 5 that take 40 % of the link, on a link of a fifth of its rate: two busy cores carry that, and so the link limits.
const FULL: Scenario = Scenario { link_kbps: 200_000, downloads: 20, bytes: 15_000_000, heavy: 5 };
const QUICK: Scenario = Scenario { link_kbps: 10_000, downloads: 8, bytes: 60_000, heavy: 2 };
/// The paper's link.
const PAPERS_LINK_BPS: f64 = 1e9;
/// Share of the link that all heavy hitters together take.
const HEAVY: f64 = 0.4;
/// A session is heavy above this share of one heavy hitter's rate: a download's fair share of the link is less.
const ABOVE: f64 = 0.8;
/// Our names for the paper's cases.
const CASES: [&str; 3] = ["alone", "beside heavy hitters", "heavy hitters re-routed"];

/// What is sent.
#[derive(Clone, Copy)]
struct Scenario {
    link_kbps: u64,
    downloads: usize,
    bytes: usize,
    heavy: usize,
}

impl Scenario {
    fn heavy_bps(&self) -> u64 {
        (self.link_kbps as f64 * 1e3 * HEAVY / self.heavy as f64) as u64
    }

    /// Above it a session is re-routed, in Mbit/s.
    fn above_mbps(&self) -> f64 {
        self.heavy_bps() as f64 * ABOVE / 1e6
    }
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let claim = |name| papers().claim(name);
    let of = args.size(FULL, QUICK);
    let mut rows = Vec::new();
    let mut curves = vec![vec![None; of.downloads]; CASES.len()];
    match bed::usable(true) {
        Err(why) => {
            rows.extend(CASES.map(|case| Row::none(format!("{case}: mean completion time"), How::Measured, "s", &why)));
            rows.push(Row::none("on a link of 1 Gbit/s they add", How::Modelled, "s", &why).beside(claim("singh_figure14_more")));
        }
        Ok(()) => {
            let cases = measure(&of, args)?;
            for ((case, outcome), curve) in CASES.into_iter().zip(&cases).zip(&mut curves) {
                *curve = outcome.completion.iter().map(|time| Some(time.as_secs_f64())).collect();
                rows.extend(rows_of(case, &outcome.completion));
            }
            let [alone, beside, rerouted] = &cases;
            let mean = |outcome: &downloads::Outcome| mean_s(&outcome.completion);
            let more = (mean(beside) - mean(alone)).max(0.0);
            rows.push(Row::new("what heavy hitters add, mean", How::Measured, more, "s"));
            let on_the_papers = more * of.link_kbps as f64 * 1e3 / PAPERS_LINK_BPS;
            let row = Row::new("on a link of 1 Gbit/s they add", How::Modelled, on_the_papers, "s");
            rows.push(row.beside(claim("singh_figure14_more")).note("the same bytes, by the rates of the links"));
            let times = |what: &str, outcome| Row::new(what, How::Measured, mean(outcome) / mean(alone), "times");
            rows.push(times("beside heavy hitters against alone, mean", beside));
            rows.push(times("heavy hitters re-routed against alone, mean", rerouted).note("the paper's: around the same"));
            let link_bps = of.link_kbps as f64 * 1e3;
            let goodput = (of.downloads * of.bytes) as f64 * 8.0 / alone.completion.last().map_or(1.0, Duration::as_secs_f64) / link_bps;
            let used = Row::new("alone: share of the link that the downloads' bytes take", How::Measured, goodput * 100.0, "% of the link");
            rows.push(used.note("headers and tunnels are not in it"));
            let sent = (beside.heavy.sent * DATAGRAM_IP_BYTES as u64 * 8) as f64 / beside.heavy_time.as_secs_f64() / link_bps;
            rows.push(
                Row::new("heavy hitters: what they send", How::Measured, sent * 100.0, "% of the link")
                    .beside(claim("singh_figure14_share")),
            );
            for (case, outcome) in [(CASES[1], beside), (CASES[2], rerouted)] {
                let arrive = outcome.heavy.received as f64 * 100.0 / outcome.heavy.sent.max(1) as f64;
                let row = Row::new(format!("{case}: their datagrams that arrive"), How::Measured, arrive, "% of those sent");
                rows.push(row.note(format!("{} of them overtaken by later ones", outcome.heavy.overtaken)));
            }
            let found =
                Row::new("heavy hitters that the daemon found and re-routed", How::Measured, rerouted.heavy_on_fast as f64, "sessions");
            rows.push(found.note(format!("of {}, at the end of the downloads; above {:.1} Mbit/s", of.heavy, of.above_mbps())));
            let after = rerouted.rerouted_after.map_or(0.0, |time| time.as_secs_f64());
            let row = Row::new("all of their packets come by the other link after", How::Measured, after, "s");
            rows.push(row.note("from their first datagram on, seen every quarter of a second"));
            let share = Row::new("their packets by the other link", How::Measured, rerouted.rerouted_share * 100.0, "% of their frames");
            rows.push(share.note("when the downloads are complete"));
            let taken = Row::new("downloads taken for heavy hitters", How::Measured, rerouted.downloads_on_fast as f64, "sessions");
            rows.push(taken.note(format!("of {}; the last ones get more than a share", of.downloads)));
        }
    }
    let shares = (1..=of.downloads).map(|n| format!("{:.0} %", n as f64 * 100.0 / of.downloads as f64));
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Measured through the running daemon: connections of the kernel's TCP (CUBIC) between network namespaces, each byte compared; heavy hitters are datagrams at a steady rate. Users, server and daemon share this machine's cores.".into(),
            "The congested link is a port with a rate (rate_kbps), by which x86 sends, all of them in one strict queue; the other one is a veth by which XDP sends. The paper has it the other way round: the chip sends by the congested link, and what is re-routed goes through x86. Heavy hitters are found by the program's detector (split.rates = \"cells\") and moved by the planner; split.egress leads what it moves to the other link.".into(),
            "Ours shares a queue by session, and the paper's is one queue for all: beside heavy hitters, a download loses no more than their fair share of the link, not what they send.".into(),
            format!("In the third case the downloads begin when the heavy hitters have been re-routed; in the second, {} after these have begun.", if args.quick { "a quarter of a second" } else { "a second" }),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "s, completion time".into(),
            categories: shares.collect(),
            series: CASES.iter().zip(curves).map(|(case, curve)| Series::curve(*case, How::Measured, curve)).collect(),
            ..Chart::default()
        },
    })
}

/// The three cases: two with a daemon that moves nobody, and one with one that does.
fn measure(of: &Scenario, args: &Args) -> Result<[downloads::Outcome; CASES.len()], Failure> {
    let lead = Some(Duration::from_millis(args.size(1000, 250)));
    let load = Load { downloads: of.downloads, bytes: of.bytes, heavy: of.heavy, heavy_bps: of.heavy_bps(), lead };
    let users = of.downloads + of.heavy;
    let place = Downloads::make(users, of.link_kbps, "heavy = \"none\"")?;
    let (alone, beside) = (place.run(&Load { heavy: 0, lead: Some(Duration::ZERO), ..load })?, place.run(&load)?);
    place.end()?;
    if alone.downloads_on_fast + beside.heavy_on_fast > 0 {
        return Err(Failure::Failed("sessions were moved that were not to be".into()));
    }
    let place = Downloads::make(users, of.link_kbps, &format!("heavy = {{ above_mbps = {:.4} }}", of.above_mbps()))?;
    let rerouted = place.run(&Load { lead: None, ..load })?;
    place.end()?;
    Ok([alone, beside, rerouted])
}

fn rows_of(case: &str, completion: &[Duration]) -> Vec<Row> {
    let row = |what: &str, s: f64| Row::new(format!("{case}: {what}"), How::Measured, s, "s");
    let at = |share: f64| completion.get((completion.len() as f64 * share).ceil() as usize - 1).map_or(0.0, Duration::as_secs_f64);
    vec![
        row("mean completion time", mean_s(completion)),
        row("half of the downloads are complete after", at(0.5)),
        row("90 % of them after", at(0.9)),
        row("all of them after", at(1.0)),
    ]
}

fn mean_s(of: &[Duration]) -> f64 {
    of.iter().map(Duration::as_secs_f64).sum::<f64>() / of.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heavy_hitter_is_above_the_threshold_and_a_downloads_share_is_below() {
        for of in [FULL, QUICK] {
            let share_bps = of.link_kbps as f64 * 1e3 / of.downloads as f64;
            let above_bps = of.above_mbps() * 1e6;
            assert!(share_bps * 1.2 <= above_bps && above_bps * 1.2 <= of.heavy_bps() as f64, "{share_bps} {above_bps} {}", of.heavy_bps());
            assert_eq!((of.heavy_bps() * of.heavy as u64) as f64, of.link_kbps as f64 * 400.0);
        }
    }

    #[test]
    fn quantiles_are_of_whole_downloads() {
        let times: Vec<Duration> = (1..=20).map(Duration::from_secs).collect();
        let rows: Vec<f64> = rows_of("alone", &times).iter().filter_map(|row| row.ours).collect();
        assert_eq!(rows, [10.5, 10.0, 18.0, 20.0]);
    }
}
