//! Figure 9 of Memarian et al.: packets a second of card and x86 together, by the share that x86 takes and its cores.

use super::Args;
use super::chart::{Chart, Series};
use super::cores;
use super::gnb_steps::{LINE_MPPS, NIC_RULE, X86_RULE, nic_step, x86_growth};
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::gnb::BEARERS;
use crate::bench::gnb::split;
use crate::bench::gnb::steps::Who;
use cli::failure::Failure;

pub(super) const NAME: &str = "memarian-figure9";
pub(super) const TITLE: &str = "gNodeB split between card and x86: packets a second by share and cores (Memarian et al., Figure 9)";

/// Percent of the packets that x86 takes.
const SHARES: [u32; 5] = [0, 25, 50, 75, 100];
const CORES: [u32; 4] = [1, 2, 4, 8];

/// How XDP is measured.
const XDP_RULE: &str = "Measured: step 3 with MARKER in XDP, which runs the packets of its groups and passes on the others; by the kernel's test run, a driver's share taken off; where each packet runs is counted, and output bytes of both compared with the interpreter's. Modelled: XDP and x86 on a core each; whichever is full first limits both. Not in it: what the kernel takes to bring a packet from XDP to x86.";

/// What card and x86 forward together, in Mpps: `share` of the packets go to x86, through the card twice.
fn together(share: f64, card: f64, wire: f64, x86: f64) -> f64 {
    // Each packet's part of the card's time.
    let of_card = (1.0 - share) / card + 2.0 * share / wire;
    let of_x86 = share / x86;
    LINE_MPPS.min(1.0 / of_card.max(of_x86))
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    // The least that a card can do goes at the speed of its line: the paper's L2 forwarding does.
    let (card, wire) = (nic_step(3)?.mpps, LINE_MPPS);
    let growth = x86_growth(Who::Step(3), args)?;
    let (alone, most) = (papers().claim("memarian_figure9_card"), papers().claim("memarian_figure9_x86"));
    let mut rows = vec![
        Row::new("card alone, step 3", How::Modelled, card, "Mpps").beside(alone),
        Row::new("card that only passes packets on (p4wire.p4)", How::Modelled, wire, "Mpps"),
        Row::new("x86, one core, step 3", How::Measured, growth.one, "Mpps"),
        Row::new("x86, two cores, step 3", How::Measured, growth.two, "Mpps"),
    ];
    let mut series = Vec::new();
    let mut paper = vec![None; SHARES.len()];
    (paper[0], paper[SHARES.len() - 1]) = (Some(alone.value), Some(most.value));
    series.push(Series::paper("1 (0 %) and 8 cores (100 %)", paper));
    for cores in CORES {
        let mut line = Vec::new();
        for share in SHARES {
            let mpps = together(f64::from(share) / 100.0, card, wire, growth.on(cores).0);
            line.push(Some(mpps));
            let row = Row::new(format!("{share} % on x86, {cores} core{}", if cores > 1 { "s" } else { "" }), How::Modelled, mpps, "Mpps");
            rows.push(if (share, cores) == (100, 8) { row.beside(most) } else { row });
        }
        series.push(Series::ours(format!("{cores} core{}", if cores > 1 { "s" } else { "" }), How::Modelled, line));
    }
    // XDP is the card that can run here.
    let mut without = None;
    match split::shares(args.size(BEARERS, 128), &args.common()) {
        Ok(shares) => {
            for share in &shares {
                rows.push(Row::new(
                    format!("XDP, {} % on x86: time for a packet", share.behind),
                    How::Measured,
                    share.xdp_ns.median(),
                    "ns",
                ));
            }
            for share in &shares {
                let what = format!("XDP on one core and x86 on one, {} % on x86", share.behind);
                rows.push(Row::new(what, How::Modelled, share.together(), "Mpps"));
            }
            let line = shares.iter().map(|share| Some(share.together())).collect();
            series.push(Series::ours("XDP instead of the card, 1 core", How::Modelled, line));
        }
        Err(Failure::Usage(why)) => without = Some(format!("XDP takes no part: {why}.")),
        Err(other) => return Err(other),
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            without.unwrap_or_else(|| XDP_RULE.into()),
            X86_RULE.into(),
            NIC_RULE.into(),
            format!(
                "Modelled: a packet of x86 goes through the card twice, as through p4wire.p4 at the speed of its line; whichever is full first, card, x86 or line, limits both, as the marker fixes the shares. Beyond that {}.",
                cores::RULE
            ),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart { y: "Mpps".into(), logarithmic: false, categories: SHARES.map(|share| format!("{share} %")).into(), series },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_split_is_as_fast_as_what_is_full_first() {
        assert_eq!(together(0.0, 14.0, 30.0, 5.0), 14.0);
        assert_eq!(together(1.0, 14.0, 30.0, 5.0), 5.0);
        assert_eq!(together(1.0, 14.0, 30.0, 50.0), 15.0, "through the card twice");
        assert_eq!(together(0.5, 14.0, 1000.0, 5.0), 10.0);
        assert_eq!(together(0.0, 100.0, 100.0, 1.0), LINE_MPPS);
    }
}
