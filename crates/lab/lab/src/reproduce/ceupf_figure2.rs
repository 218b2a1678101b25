//! Figure 2 of CeUPF: throughput of encapsulation and decapsulation by frame size, for one rule and for a thousand.
//!
//! Measured is the pipeline of `ceupf.p4` as native code on one core, output compared with the interpreter's before. Modelled is the
//! switch, by its links.

use super::Args;
use super::chart::{Chart, Series};
use super::link;
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::contestant::load_x86;
use crate::bench::measure::{Rounds, Runner};
use base::PortId;
use ceupf::{ACCESS_PORT, Arrangement, Book, CORE_PORT, Hop, Rule, Side};
use cli::failure::Failure;
use p4_ir::Ir;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use target_api::{BURST, Target};

pub(super) const NAME: &str = "ceupf-figure2";
pub(super) const TITLE: &str = "A switch in front of a foreign UPF: throughput by frame size, rules and users (CeUPF, section 3)";

/// RFC 2544 §9.1 for Ethernet.
const RFC_2544: [usize; 7] = [64, 128, 256, 512, 1024, 1280, 1518];
/// What the paper lists; its averages are over these.
const PAPERS: [usize; 5] = [64, 128, 256, 1024, 1058];
/// The paper's links.
const LINK_BPS: f64 = 100e9;
/// Ethernet's check sequence, which is in frame sizes and not in our frames.
const FCS: usize = 4;
/// IPv4, UDP and GTP-U without a session container.
const TUNNEL: usize = 36;
const UPF: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
const GNB: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);

/// Users and rules of a direction.
#[derive(Clone, Copy)]
struct Scenario {
    name: &'static str,
    users: u32,
    rules: u32,
}

/// As the paper has them. Its "100 users - 1K rules" is read as a thousand rules in all.
const SCENARIOS: [Scenario; 3] = [
    Scenario { name: "1 user, 1 rule", users: 1, rules: 1 },
    Scenario { name: "1 user, 1K rules", users: 1, rules: 1000 },
    Scenario { name: "100 users, 1K rules", users: 100, rules: 1000 },
];

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Encap,
    Decap,
}

const DIRECTIONS: [(Direction, &str); 2] = [(Direction::Encap, "encapsulation"), (Direction::Decap, "decapsulation")];

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let sizes: &[usize] = args.size(&RFC_2544, &[64, 1518]);
    let ir = Arc::new(p4_driver::compile(Path::new("ceupf.p4"), &[], &[("RULES".to_owned(), "8192".to_owned())])?);
    let mut rows = Vec::new();
    let mut series = Vec::new();
    for scenario in SCENARIOS {
        for (direction, name) in DIRECTIONS {
            let rates = measure(args, &ir, scenario, direction, sizes)?;
            for (size, rate) in sizes.iter().zip(&rates) {
                let gbps = link::offered_bps(rate.median(), length(direction, *size) as f64) / 1e9;
                let (low, high) = rate.spread();
                let note = format!("{:.2} Mpps ({low:.2} to {high:.2})", rate.median());
                rows.push(
                    Row::new(format!("x86, one core: {name}, {}, {size} B", scenario.name), How::Measured, gbps, "Gbit/s").note(note),
                );
            }
            if scenario.rules == 1000 && scenario.users == 100 {
                let values =
                    sizes.iter().zip(&rates).map(|(size, r)| Some(link::offered_bps(r.median(), length(direction, *size) as f64) / 1e9));
                series.push(Series::ours(format!("x86, one core, {name}"), How::Measured, values.collect()));
            }
        }
    }
    rows.extend(switch(sizes));
    rows.extend(comparison());
    rows.extend(on_the_chip()?);
    for (direction, name) in DIRECTIONS {
        let values = sizes.iter().map(|size| Some(switch_gbps(direction, *size)));
        series.push(Series::ours(format!("switch, {name}"), How::Modelled, values.collect()));
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Measured: p4/ceupf.p4 as native code on one core, frames from memory to memory; each output frame compared with the interpreter's first.".into(),
            "Modelled: a switch forwards what its 100 Gbit/s links carry. Encapsulation adds 36 bytes, so the sending link is full first: S-byte frames come in at (S + 20) / (S + 56) of the link.".into(),
            "Gbit/s count the frames that come in, with preamble and gap (20 bytes), as testers do; with S from 64 to 1058 the mean of encapsulation is then what the paper has.".into(),
            "A frame of 64 bytes holds no tunnel with an IP packet in it: for decapsulation ours then has 74.".into(),
            "The paper's \"100 users - 1K rules\" is read as a thousand rules in all. Its sizes end with 1058; RFC 2544 has 1518.".into(),
            "Modelled too: the latency of ceupf.p4's stages on the model of a Tofino 1, a part of what the paper measured from port to port. The native UPF (free5GC) is not here. Latency of x86 is a matter of the engine: `splitplane-lab bench latency`.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "Gbit/s of frames received".into(),
            logarithmic: true,
            categories: sizes.iter().map(|size| format!("{size} B")).collect(),
            series,
        },
    })
}

/// The switch by size.
fn switch(sizes: &[usize]) -> Vec<Row> {
    let row = |direction: Direction, name: &str, size: usize| {
        Row::new(format!("switch: {name}, {size} B"), How::Modelled, switch_gbps(direction, size), "Gbit/s")
    };
    DIRECTIONS.iter().flat_map(|(direction, name)| sizes.iter().map(move |size| row(*direction, name, *size))).collect()
}

/// Frames of `size` bytes arrive, in or out of the tunnel as the direction says.
fn switch_gbps(direction: Direction, size: usize) -> f64 {
    let grown = if direction == Direction::Encap { size + TUNNEL } else { size };
    link::offered_bps(link::through_mpps(LINK_BPS, size as f64, grown as f64), size as f64) / 1e9
}

/// Bytes of a frame that is asked to have `size`: a tunnel with an IP header in it is longer than the shortest frame.
fn length(direction: Direction, size: usize) -> usize {
    if direction == Direction::Encap { size } else { size.max(14 + TUNNEL + 20 + FCS) }
}

/// What the paper gives as averages over its sizes, and what it says of the software.
fn comparison() -> Vec<Row> {
    let of = papers();
    let mean = |direction| PAPERS.iter().map(|size| switch_gbps(direction, *size)).sum::<f64>() / PAPERS.len() as f64;
    let sizes = "mean over 64, 128, 256, 1024 and 1058 B";
    let unknown = |what: &str, claim: &str, note: &str| Row {
        what: what.into(),
        paper: Some(of.claim(claim).clone()),
        ours: None,
        unit: of.claim(claim).unit.clone(),
        how: How::Modelled,
        note: note.into(),
    };
    vec![
        Row::new("switch: encapsulation, mean", How::Modelled, mean(Direction::Encap), "Gbit/s")
            .beside(of.claim("ceupf_encap"))
            .note(sizes),
        Row::new("switch: decapsulation, mean", How::Modelled, mean(Direction::Decap), "Gbit/s")
            .beside(of.claim("ceupf_decap"))
            .note(sizes),
        Row::new("switch: least", How::Modelled, switch_gbps(Direction::Encap, 64), "Gbit/s").beside(of.claim("ceupf_low")),
        unknown("native UPF: encapsulation", "ceupf_native_encap", "free5GC is not here"),
        unknown("native UPF: decapsulation", "ceupf_native_decap", "free5GC is not here"),
    ]
}

/// The program on the model of a Tofino 1, with room for the thousand rules. Its latency is a part of what the paper measured from port to
/// port: parser, deparser, queues and ports are not in it.
fn on_the_chip() -> Result<Vec<Row>, Failure> {
    let fail = |e: &dyn std::fmt::Display| Failure::Failed(format!("ceupf.p4 on the model of a chip: {e}"));
    let ir = p4_driver::compile(Path::new("ceupf.p4"), &[], &[("RULES".to_owned(), "1000".to_owned())])?;
    let placement = chip::place(&ir, &super::singh_table4::tofino()?, &chip::Sizes::default()).map_err(|e| fail(&e))?;
    let us = placement.latency_clocks.iter().sum::<u64>() as f64 / placement.clock_mhz as f64;
    let latency = |name: &str, claim: &str| {
        let row = Row::new(format!("switch: {name}, latency of the stages"), How::Modelled, us, "us");
        row.beside(papers().claim(claim)).note("the paper's is from port to port, ours the stages alone")
    };
    let stages = Row::new("switch: stages of a Tofino 1 for ceupf.p4", How::Modelled, placement.stages_used() as f64, "stages");
    Ok(vec![
        latency("encapsulation", "ceupf_encap_latency"),
        latency("decapsulation", "ceupf_decap_latency"),
        stages.note(format!("of {}, with room for 1000 rules each way", placement.stages.len())),
    ])
}

/// Rounds of each size, in Mpps, taken in turns.
fn measure(args: &Args, ir: &Arc<Ir>, scenario: Scenario, direction: Direction, sizes: &[usize]) -> Result<Vec<Rounds>, Failure> {
    let fail = |e: &dyn std::fmt::Display| Failure::Failed(format!("ceupf, {}: {e}", scenario.name));
    let x86 = load_x86(ir)?;
    let judge = target_asic::Asic::oracle(ir.clone()).map_err(|e| fail(&e))?;
    install(ir, scenario, &[&x86, &judge])?;
    let port = PortId(if direction == Direction::Encap { CORE_PORT } else { ACCESS_PORT });
    let frames: Vec<Vec<Vec<u8>>> = sizes.iter().map(|size| frames(scenario, direction, *size)).collect();
    let source = |frames: &[Vec<u8>]| pktio::LoopPort::new("source", frames, None).map_err(|e| fail(&e));
    let (mut runner, mut oracle) = (Runner::new(x86.lane(0)), Runner::new(judge.lane(0)));
    for frames in &frames {
        let (mut ours, mut theirs) = (source(frames)?, source(frames)?);
        let mut left = frames.len().max(BURST);
        while left > 0 {
            let (packets, verdicts) = runner.burst(&mut ours, port, left)?;
            let (expected, expected_verdicts) = oracle.burst(&mut theirs, port, left)?;
            let same = packets.iter().zip(expected).all(|(a, b)| a.data() == b.data()) && verdicts == expected_verdicts;
            let grown = packets.iter().all(|p| match direction {
                Direction::Encap => p.len() == frames[0].len() + TUNNEL,
                Direction::Decap => p.len() + TUNNEL == frames[0].len(),
            });
            if !same || !grown {
                return Err(fail(&format!("frames of {} bytes do not come out as the interpreter says", frames[0].len() + FCS)));
            }
            left -= packets.len();
        }
    }
    let mut rounds = vec![Rounds::default(); sizes.len()];
    for _ in 0..args.rounds() {
        for (frames, rounds) in frames.iter().zip(&mut rounds) {
            rounds.0.push(runner.round(&mut source(frames)?, port, args.round())?.0);
        }
    }
    Ok(rounds)
}

/// The scenario's rules, in both directions.
fn install(ir: &Ir, scenario: Scenario, targets: &[&dyn Target]) -> Result<(), Failure> {
    let fail = |e: &dyn std::fmt::Display| Failure::Failed(format!("ceupf: {e}"));
    let hop = |name: &str, side, to: [u8; 4], len| Hop {
        name: name.into(),
        side,
        to: (to.into(), len),
        src_mac: [2, 0, 0, 0, 0, 1],
        dst_mac: [2, 0, 0, 0, 0, 2],
        mtu: 9000,
    };
    let hops = vec![hop("gnbs", Side::Access, [10, 3, 0, 0], 24), hop("internet", Side::Core, [0, 0, 0, 0], 0)];
    let mut book = Book::new(Arrangement { upf: UPF, hops }, &ir.program).map_err(|e| fail(&e))?;
    let rules = (0..scenario.rules).flat_map(|n| {
        let (ue, remote, teid) = (ue(scenario, n), remote(scenario, n), teid(scenario, n));
        let remote = remote.map_or_else(String::new, |remote| format!(" remote={remote}"));
        [format!("encap ue={ue} teid={teid} gnb={GNB}{remote}"), format!("decap teid={teid} ue={ue}{remote}")]
    });
    let rules = rules.map(|text| text.parse()).collect::<Result<Vec<Rule>, _>>().map_err(|e| fail(&e))?;
    let staged = book.stage_add(&rules).map_err(|e| fail(&e))?;
    for target in targets {
        target.apply(&book.initial()).and_then(|()| target.apply(&staged.batch)).map_err(|e| fail(&e))?;
    }
    book.commit(staged);
    Ok(())
}

fn ue(scenario: Scenario, n: u32) -> Ipv4Addr {
    Ipv4Addr::from(0x0a2d_0001 + n % scenario.users)
}

fn teid(scenario: Scenario, n: u32) -> u32 {
    1 + n % scenario.users
}

/// Where a user has several rules, they differ by the host in the data network.
fn remote(scenario: Scenario, n: u32) -> Option<Ipv4Addr> {
    (scenario.rules > scenario.users).then(|| Ipv4Addr::from(0xc633_0001 + n / scenario.users))
}

/// A frame for each rule, of `size` bytes with its check sequence where there is room: a tunnel of an empty packet is longer than 64.
fn frames(scenario: Scenario, direction: Direction, size: usize) -> Vec<Vec<u8>> {
    (0..scenario.rules).map(|n| frame(scenario, direction, size, n)).collect()
}

fn frame(scenario: Scenario, direction: Direction, size: usize, n: u32) -> Vec<u8> {
    let remote = remote(scenario, n).unwrap_or(Ipv4Addr::new(198, 51, 100, 1));
    let ue = ue(scenario, n);
    let mut out = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8, 0];
    let room = size - FCS - out.len();
    match direction {
        Direction::Encap => out.extend(ipv4(remote, ue, &vec![0; room - 20])),
        Direction::Decap => {
            // 64 bytes hold no tunnel with an IP packet in it: a header alone makes 74.
            let user = ipv4(ue, remote, &vec![0; room.saturating_sub(TUNNEL + 20)]);
            let mut udp = [8, 104, 8, 104].to_vec();
            udp.extend(((16 + user.len()) as u16).to_be_bytes());
            udp.extend([0, 0, 0x30, 255]);
            udp.extend((user.len() as u16).to_be_bytes());
            udp.extend(teid(scenario, n).to_be_bytes());
            udp.extend(user);
            out.extend(ipv4(GNB, UPF, &udp));
        }
    }
    out
}

fn ipv4(src: Ipv4Addr, dst: Ipv4Addr, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0];
    header[2..4].copy_from_slice(&((20 + payload.len()) as u16).to_be_bytes());
    header.extend(src.octets());
    header.extend(dst.octets());
    let sum = wire::checksum::finish(wire::checksum::sum(&header));
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header.extend(payload);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's 86 Gbit/s follow from the links alone.
    #[test]
    fn the_means_of_the_model_are_the_papers() {
        let rows = comparison();
        let near = |row: &Row| (row.ours.unwrap() - row.paper.as_ref().unwrap().value).abs();
        assert!(near(&rows[0]) < 1.0 && near(&rows[1]) < 1e-6 && near(&rows[2]) < 1.0, "{rows:?}");
    }

    #[test]
    fn frames_are_as_long_as_they_say() {
        for size in RFC_2544 {
            assert_eq!(frame(SCENARIOS[2], Direction::Encap, size, 7).len() + FCS, size);
            assert_eq!(frame(SCENARIOS[2], Direction::Decap, size, 7).len() + FCS, length(Direction::Decap, size));
        }
    }
}
