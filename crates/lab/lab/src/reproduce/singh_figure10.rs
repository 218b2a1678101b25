//! Figure 10 of Singh et al.: few flows are heavy, and have much of the bandwidth.

use super::Args;
use super::chart::{Chart, Series};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use super::shares::{self, Share};
use cli::failure::Failure;

pub(super) const NAME: &str = "singh-figure10";
pub(super) const TITLE: &str = "Heavy hitters: share of flows and of bandwidth (Singh et al., Figure 10)";

/// What the picture has: 2 and 20 Mbit/s. The others are between.
const PAPERS: [usize; 2] = [0, 3];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let claim = papers().claim("figure10_share");
    let thresholds = shares::thresholds();
    let populations: &[u32] = args.size(&[100_000, 500_000], &[100_000]);
    let mut rows = Vec::new();
    let (mut flows, mut bytes, mut categories) = (Vec::new(), Vec::new(), Vec::new());
    for population in populations {
        let of = shares::shares(shares::row(args, *population), 1);
        for (at, share) in of.iter().enumerate() {
            let name = format!("{}K flows, {}", population / 1000, thresholds[at]);
            let percent = |of: f64| of * 100.0;
            let bandwidth = Row::new(format!("{name}: share of the bytes"), How::Modelled, percent(share.bytes), "%").note(link(share));
            rows.push(Row::new(format!("{name}: share of the flows"), How::Modelled, percent(share.flows), "%"));
            rows.push(if PAPERS.contains(&at) { bandwidth.beside(claim) } else { bandwidth });
            rows.push(Row::new(format!("{name}: share of the packets"), How::Modelled, percent(share.packets), "%"));
            categories.push(name);
            flows.push(Some(percent(share.flows)));
            bytes.push(Some(percent(share.bytes)));
        }
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            format!("Modelled: {}.", shares::RULE),
            "The shares follow from the counts that the traffic is fitted to, and from the load: at less load heavy hitters have more of it.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "%".into(),
            logarithmic: true,
            categories,
            series: vec![Series::ours("of the flows", How::Modelled, flows), Series::ours("of the bytes", How::Modelled, bytes)],
        },
    })
}

/// The share as bits a second on the link.
fn link(share: &Share) -> String {
    format!("{:.2} Gbit/s", share.bytes * detect::table6::LOAD * shares::LINK_BYTES * 8.0 / 1e9)
}
