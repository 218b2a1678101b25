//! Figure 13 of Singh et al.: throughput of the UPF on x86, offloaded, and on both, by sessions.

use super::Args;
use super::chart::{Chart, Series};
use super::cores::{self, Growth};
use super::link;
use super::outcome::{How, Outcome, Row};
use super::singh_figure7::{count, downlink};
use crate::bench::xdp;
use cli::failure::Failure;

pub(super) const NAME: &str = "singh-figure13";
pub(super) const TITLE: &str = "Throughput on x86, offloaded, and on both, by sessions (Singh et al., Figure 13)";

/// The last one is the paper's; at the others the text does not say where its points are.
const SESSIONS: [u32; 4] = [1000, 10_000, 50_000, 100_000];
/// The paper's containers, and what can be measured here.
const CORES: [u32; 3] = [1, 2, 8];
/// Of the sessions, and so of the packets, on the fast target.
const SHARE: f64 = 0.5;
/// Cores of x86 in the hybrid.
const HYBRID_CORES: u32 = 8;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let sessions: &[u32] = args.size(&SESSIONS, &[200, 1000]);
    let mut rows = Vec::new();
    let (mut x86, mut offloaded, mut hybrid) = (vec![Vec::new(); CORES.len()], Vec::new(), Vec::new());
    let mut without = None;
    for sessions in sessions {
        let growth = Growth::measure(|| downlink(args, *sessions).map(|rounds| rounds.median()))?;
        for (cores, line) in CORES.into_iter().zip(&mut x86) {
            let (mpps, how) = growth.on(cores);
            rows.push(Row::new(
                format!("x86, {} UEs, {cores} core{}", count(*sessions), if cores > 1 { "s" } else { "" }),
                how,
                mpps,
                "Mpps",
            ));
            line.push(Some(mpps));
        }
        let in_xdp = match xdp::downlink_ns(*sessions, &args.common()) {
            Ok(ns) => Some(ns),
            Err(Failure::Usage(why)) => {
                without = Some(why);
                None
            }
            Err(other) => return Err(other),
        };
        let mpps = in_xdp.as_ref().map(|ns| 1e3 / ns.median());
        let why = || without.clone().unwrap_or_default();
        let what = format!("offloaded to XDP, {} UEs, 1 core", count(*sessions));
        rows.push(match (mpps, &in_xdp) {
            (Some(mpps), Some(ns)) => Row::new(what, How::Measured, mpps, "Mpps").note(format!("{:.0} ns a packet", ns.median())),
            _ => Row::none(what, How::Measured, "Mpps", why()),
        });
        offloaded.push(mpps);
        let both = mpps.map(|mpps| link::hybrid_mpps(SHARE, mpps, growth.on(HYBRID_CORES).0));
        let what = format!("hybrid, {} UEs, XDP on 1 core, x86 on {HYBRID_CORES}", count(*sessions));
        rows.push(both.map_or_else(|| Row::none(&what, How::Modelled, "Mpps", why()), |both| Row::new(&what, How::Modelled, both, "Mpps")));
        hybrid.push(both);
    }
    // The paper: offloading is fastest with few sessions.
    let change = |name: &str, line: &[Option<f64>], how| {
        let what = format!("{name}, {} UEs against {}", count(sessions[sessions.len() - 1]), count(sessions[0]));
        match (line.first().copied().flatten(), line.last().copied().flatten()) {
            (Some(few), Some(many)) => Row::new(what, how, many / few, "times"),
            _ => Row::none(what, how, "times", without.clone().unwrap_or_default()),
        }
    };
    rows.push(change("x86, 1 core", &x86[0], How::Measured));
    rows.push(change("offloaded to XDP, 1 core", &offloaded, How::Measured));
    let mut series: Vec<Series> = CORES
        .into_iter()
        .zip(x86)
        .map(|(cores, line)| {
            let how = if cores > 2 { How::Modelled } else { How::Measured };
            Series::ours(format!("x86, {cores} core{}", if cores > 1 { "s" } else { "" }), how, line)
        })
        .collect();
    series.push(Series::ours("offloaded to XDP, 1 core", How::Measured, offloaded));
    series.push(Series::ours(format!("hybrid, XDP on 1 core, x86 on {HYBRID_CORES}"), How::Modelled, hybrid));
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "The paper's text has no number of this figure: it says that both targets process in parallel, and that what is offloaded is fastest where few sessions are.".into(),
            format!("x86: the whole of p4/upf.p4 downlink as native code, measured as in singh-figure7; {}. As the paper's containers, cores share nothing.", cores::RULE),
            "Offloaded: the same program in XDP, the fast target that can be measured here, in place of the paper's SmartNIC; by the kernel's test run, a driver's share taken off, output bytes compared with the interpreter's first. No interface and no NIC is in it. It needs root.".into(),
            format!(
                "Modelled, the hybrid: {:.0} % of the packets run in XDP, and the others pass through it to x86. Each of them takes XDP as long as one that runs there, which is more than a miss takes; whichever is full first limits both. Not in it: what the kernel takes to bring a packet to x86.",
                SHARE * 100.0
            ),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "Mpps".into(),
            logarithmic: false,
            categories: sessions.iter().map(|sessions| format!("{} UEs", count(*sessions))).collect(),
            series,
        },
    })
}
