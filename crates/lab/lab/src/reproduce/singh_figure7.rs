//! Figure 7 of Singh et al.: throughput of x86 alone, of the chip alone, and of both together, by sessions and by threshold.
//!
//! Measured is x86: the whole UPF downlink on one core, for each number of sessions. Modelled are the chip, by its link and its room, and
//! the hybrid, by the rule of [`super::link::hybrid_mpps`] with the share of packets that heavy hitters
//! have ([`super::shares`]).

use super::Args;
use super::chart::{Chart, Series};
use super::link;
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use super::shares::{self, Share};
use crate::bench::contestant::{Contestant, OnLane, Traffic};
use crate::bench::measure::Rounds;
use crate::bench::sessions::Direction;
use cli::failure::Failure;

pub(super) const NAME: &str = "singh-figure7";
pub(super) const TITLE: &str = "Throughput by sessions and threshold: x86 alone, chip alone, hybrid (Singh et al., Figure 7)";

/// The paper's link, and one that one core of ours does not fill.
const LINKS_BPS: [f64; 2] = [10e9, 100e9];
/// What leaves: a user's packet of 46 bytes in a tunnel with a session container, Ethernet and its check sequence.
pub(super) const SENT_FRAME: f64 = 108.0;
/// The paper's numbers of UEs.
const SESSIONS: [u32; 4] = [100_000, 800_000, 1_000_000, 2_000_000];
/// Packets before the sessions' order repeats, and those that are compared.
const NUMBERS: usize = 1 << 21;
const VERIFIED: usize = 16_384;

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let all: &[u32] = args.size(&SESSIONS, &[1000, 2000]);
    let claim = |name| papers().claim(name);
    let lines = LINKS_BPS.map(|bps| link::mpps(bps, SENT_FRAME));
    let room = super::singh_table5::most(super::singh_table4::Parts { upf: true, ipg: false })?;
    let thresholds = shares::thresholds();
    let link_row = |(bps, line): (f64, f64)| {
        let frame = claim("figure7_frame").value;
        let note = format!("{:.2} with the paper's {frame} B", link::mpps(bps, frame));
        Row::new(format!("chip's link, {}, frames of 108 B sent", gbps(bps)), How::Modelled, line, "Mpps").note(note)
    };
    let mut rows: Vec<Row> = LINKS_BPS.into_iter().zip(lines).map(link_row).collect();
    let (mut x86, mut chip) = (Vec::new(), Vec::new());
    let mut hybrid: Vec<Vec<Option<f64>>> = vec![Vec::new(); thresholds.len()];
    for sessions in all {
        let rounds = downlink(args, *sessions)?;
        let rate = rounds.median();
        let (low, high) = rounds.spread();
        let row = Row::new(format!("x86 alone, one core, {} UEs", count(*sessions)), How::Measured, rate, "Mpps");
        rows.push(row.beside(claim("figure7_x86")).note(format!("{low:.2} to {high:.2}")));
        x86.push(Some(rate));
        let fits = u64::from(*sessions) <= room;
        chip.push(fits.then_some(lines[1]));
        for (bps, line) in LINKS_BPS.into_iter().zip(lines) {
            rows.push(Row {
                ours: fits.then_some(line),
                note: if fits { String::new() } else { format!("the chip holds {room} at most") },
                ..Row::new(format!("chip alone, {}, {} UEs", gbps(bps), count(*sessions)), How::Modelled, line, "Mpps")
            });
        }
        let shares = shares::shares(shares::row(args, *sessions), 1);
        for (bps, line) in LINKS_BPS.into_iter().zip(lines) {
            for (at, share) in shares.iter().enumerate() {
                let both = link::hybrid_mpps(share.packets, line, rate);
                let what = format!("hybrid, {}, {}, {} UEs", gbps(bps), thresholds[at], count(*sessions));
                let row =
                    Row::new(what, How::Modelled, both, "Mpps").note(format!("{:.1} % of the packets on the chip", share.packets * 100.0));
                let papers = at == 0 && bps == LINKS_BPS[0];
                rows.push(if papers { row.beside(claim("figure7_hybrid")) } else { row });
                if bps == LINKS_BPS[1] {
                    hybrid[at].push(Some(both));
                }
            }
        }
    }
    let most = all.iter().copied().max().unwrap_or(0);
    rows.extend(with_the_papers_x86(&shares::shares(shares::row(args, most), 1), lines[0]));
    let mut series = vec![
        Series::paper("UPF-x86, middle of the range", vec![Some(claim("figure7_x86").middle()); all.len()]),
        Series::ours("x86, one core", How::Measured, x86),
        Series::ours("chip, 100 Gbit/s", How::Modelled, chip),
    ];
    let hybrid = thresholds.iter().zip(hybrid).map(|(of, values)| Series::ours(format!("hybrid, {of}, 100 Gbit/s"), How::Modelled, values));
    series.extend(hybrid);
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Measured: the whole of p4/upf.p4 downlink as native code on one core, 46-byte user packets to sessions at random; outputs compared with the interpreter's first.".into(),
            "Modelled: the chip forwards what its link carries of the frames that it sends, 10 Gbit/s as in the paper and 100, for as many UEs as fit the model of a Tofino 1.".into(),
            "Modelled from the measured rate r: with a share s of the packets on the chip, both forward min(link, r / (1 - s)) together.".into(),
            format!("Shares: {}.", shares::RULE),
            "One core of this machine is faster than the paper's four: where x86 alone fills the link, a chip has nothing to add, and 10 Gbit/s are such a link. The last rows take the paper's x86 instead of ours: what is left to compare is the rule.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "Mpps".into(),
            logarithmic: false,
            categories: all.iter().map(|sessions| format!("{} UEs", count(*sessions))).collect(),
            series,
        },
    })
}

/// The rule with the paper's rate of x86 in place of ours.
fn with_the_papers_x86(shares: &[Share], line: f64) -> Vec<Row> {
    let claim = |name| papers().claim(name);
    let r = claim("figure7_x86").middle();
    let mut rows = Vec::new();
    for (share, threshold) in shares.iter().zip(shares::thresholds()) {
        let both = link::hybrid_mpps(share.packets, line, r);
        // The paper's words are about the lowest threshold.
        let papers = rows.is_empty();
        let row = Row::new(format!("hybrid of the paper's x86 ({r} Mpps), {threshold}"), How::Modelled, both, "Mpps");
        rows.push(if papers { row.beside(claim("figure7_hybrid")) } else { row });
        let times = Row::new(format!("the same against the paper's x86 alone, {threshold}"), How::Modelled, both / r, "times");
        rows.push(if papers { times.beside(claim("figure7_hybrid_times_x86")) } else { times });
    }
    let chip = Row::new("chip alone against the paper's x86 alone", How::Modelled, line / r, "times");
    rows.push(chip.beside(claim("figure7_chip_times_x86")).note("the paper's chip drops the trace's IPv6, ours is the link"));
    // What the paper's hybrid says of its share, by the rule turned round.
    let needed = 1.0 - r / claim("figure7_hybrid").middle();
    rows.push(Row::new("share of packets that the paper's hybrid needs", How::Modelled, needed * 100.0, "% of packets"));
    rows
}

/// Rounds of the whole UPF, in Mpps.
pub(super) fn downlink(args: &Args, sessions: u32) -> Result<Rounds, Failure> {
    use crate::bench::upf;
    let numbers = upf::numbers(sessions, args.size(NUMBERS, 4096));
    let ir = upf::compile(sessions.max(1024))?;
    let everybody = || -> Box<dyn Iterator<Item = (u32, u32)>> { Box::new((0..sessions).map(|n| (n, n))) };
    let mut x86 = OnLane::x86(&ir, &everybody)?;
    let few: std::sync::Arc<[u32]> = numbers[..args.size(VERIFIED, 512)].into();
    let cells = upf::cells(sessions, &few);
    let mut judge = OnLane::interpreter(&std::sync::Arc::new(upf::compile((cells.len() as u32).max(1024))?), cells)?;
    x86.verify(&mut judge, &Traffic { direction: Direction::Downlink, numbers: few.clone() }, few.len())?;
    drop(judge);
    let traffic = Traffic { direction: Direction::Downlink, numbers };
    let mut rounds = Rounds::default();
    for _ in 0..args.rounds() {
        rounds.0.push(x86.round(&traffic, args.round())?);
    }
    Ok(rounds)
}

/// 100000 as 100K.
pub(super) fn count(n: u32) -> String {
    match n {
        n if n >= 1_000_000 && n.is_multiple_of(100_000) => format!("{}M", f64::from(n) / 1e6),
        n if n >= 1000 && n.is_multiple_of(1000) => format!("{}K", n / 1000),
        n => n.to_string(),
    }
}

/// 10e9 as 10 Gbit/s.
fn gbps(bps: f64) -> String {
    format!("{} Gbit/s", bps / 1e9)
}
