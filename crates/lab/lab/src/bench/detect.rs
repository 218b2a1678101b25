//! `bench detect`: which detector of heavy hitters is right, in how much memory, and how late?
//!
//! Every detector sees the same packets: seeded populations, or a capture. Truth is exact: a flow is heavy if a window of a second
//! has the threshold's bytes of it. The published forms of inter-packet gap detection are beside ours; what a control plane sees
//! that reads every session's cell or counter now and then is the last two lines, as they have a place for each flow, whatever that
//! takes.

use super::options::Common;
use super::report;
use cli::failure::Failure;
use detect::polled::{Polled, Source};
use detect::score::{self, Score};
use detect::workload::{Arrival, Case, Workload};
use detect::{DecayedTwoWay, Detector, IpgHardware, IpgSimulator};
use pktio::{PcapReader, PortError};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Options of `bench detect`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Table memory, in KiB. Most tables use a power of two of slots, as many as fit.
    #[arg(long, value_delimiter = ',', value_parser = kibibytes, default_values_t = [20.25, 81.0, 324.0])]
    memory: Vec<f64>,
    /// Traffic: a is packets of 1000 bytes, b mixed lengths, c mixed lengths in trains of 16.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Population::A, Population::B, Population::C])]
    case: Vec<Population>,
    /// Uses the packets of this capture (pcap or pcapng): flows are 5-tuples, lengths those of frames.
    #[arg(long, conflicts_with_all = ["case", "seconds", "seed"])]
    pcap: Option<PathBuf>,
    /// What is heavy.
    #[arg(long, default_value_t = 5.0, value_parser = megabits)]
    threshold_mbps: f64,
    /// Seconds of traffic [default: 3; with --quick: 0.3].
    #[arg(long, value_parser = seconds)]
    seconds: Option<f64>,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    pub common: Common,
}

/// The populations of [`Case`].
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Population {
    A,
    B,
    C,
}

impl std::fmt::Display for Population {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Population::A => "a",
            Population::B => "b",
            Population::C => "c",
        })
    }
}

/// Runs it; the figures as JSON.
pub(super) fn detect(args: &Args) -> Result<Value, Failure> {
    let threshold = (args.threshold_mbps * 125_000.0) as u64;
    let machine = report::machine();
    println!(
        "bench detect: heavy is {} Mbit/s in a window of a second; F1 of flows, and how long after such a window a report is",
        args.threshold_mbps
    );
    let mut rows = Vec::new();
    if let Some(path) = &args.pcap {
        rows.extend(contest(&path.display().to_string(), &mut capture(path)?, threshold, args)?);
    } else {
        let duration_ns = (args.seconds.unwrap_or(args.common.size(3.0, 0.3)) * 1e9) as u64;
        for population in &args.case {
            let (case, what) = match population {
                Population::A => (Case::A, "a: 200,000 flows, 1 Mpps, 1000 bytes, independent"),
                Population::B => (Case::B, "b: 1,000,000 flows, 4 Mpps, 90, 500 or 1400 bytes, independent"),
                Population::C => (Case::C, "c: 200,000 flows, 1 Mpps, 90, 500 or 1400 bytes, trains of 16"),
            };
            let packets = Workload::new(&case.config(args.seed, duration_ns));
            rows.extend(contest(what, &mut packets.map(Ok), threshold, args)?);
        }
    }
    let figures = json!({
        "bench": "detect", "machine": machine, "threshold_mbps": args.threshold_mbps, "seed": args.seed, "rows": rows,
    });
    args.common.write(&figures)?;
    Ok(figures)
}

/// One workload, all detectors: a row each.
fn contest(
    what: &str,
    packets: &mut dyn Iterator<Item = Result<Arrival, Failure>>,
    threshold: u64,
    args: &Args,
) -> Result<Vec<Value>, Failure> {
    let mut detectors: Vec<(&str, Box<dyn Detector>)> = Vec::new();
    for kib in &args.memory {
        let memory = (kib * 1024.0) as usize;
        let numbers = ChaCha8Rng::seed_from_u64(args.seed);
        detectors.push(("decayed bytes, two ways", Box::new(DecayedTwoWay::new(memory, threshold, numbers))));
        detectors.push(("packet gap, switch", Box::new(IpgHardware::new(memory, threshold))));
        detectors.push(("packet gap, simulator", Box::new(IpgSimulator::new(memory, threshold))));
    }
    detectors.push(("session cells, read each 0.1 s", Box::new(Polled::new(Source::Cells, threshold, 100_000_000))));
    detectors.push(("counters, read each second", Box::new(Polled::new(Source::Counters, threshold, 1_000_000_000))));
    let (names, mut detectors): (Vec<_>, Vec<_>) = detectors.into_iter().unzip();

    // An error ends the packets, and then the contest.
    let (mut count, mut error) = (0u64, None);
    let readable = packets.map_while(|packet| packet.map_err(|e| error = Some(e)).ok()).inspect(|_| count += 1);
    let (reports, truth) = score::run(readable, threshold, &mut detectors);
    if let Some(error) = error {
        return Err(error);
    }
    if count == 0 {
        return Err(Failure::Usage(format!("{what}: no packets")));
    }

    println!("{what}: {count} packets, {} flows, {} heavy", truth.flows(), truth.heavy().len());
    println!("  {:<32} {:>9} {:>7} {:>10} {:>7} {:>9} {:>10}", "", "KiB", "F1", "precision", "recall", "reports", "delay, ms");
    let mut rows = Vec::new();
    for ((name, detector), reports) in names.iter().zip(&detectors).zip(&reports) {
        let score = reports.score(&truth);
        let kib = detector.memory_bytes() as f64 / 1024.0;
        print(name, kib, &score);
        rows.push(json!({
            "what": what, "detector": name, "memory_kib": kib, "f1": score.f1(), "precision": score.precision(), "recall": score.recall(),
            "heavy": score.heavy, "reported": score.reported, "reports": score.reports,
            "median_delay_ms": score.median_delay_ns.map(|ns| ns as f64 / 1e6),
            "packets": count, "flows": truth.flows(),
            // Packets that truth has seen too.
            "verified": count,
        }));
    }
    Ok(rows)
}

fn print(name: &str, kib: f64, score: &Score) {
    let delay = score.median_delay_ns.map_or_else(|| "-".to_owned(), |ns| format!("{:.0}", ns as f64 / 1e6));
    println!(
        "  {name:<32} {kib:>9.2} {:>7.3} {:>10.3} {:>7.3} {:>9} {delay:>10}",
        score.f1(),
        score.precision(),
        score.recall(),
        score.reports
    );
}

/// A capture's IP packets; what is none belongs to no flow and is left out.
fn capture(path: &Path) -> Result<impl Iterator<Item = Result<Arrival, Failure>>, Failure> {
    let usage = |e: PortError| Failure::Usage(e.to_string());
    let mut first_ns = None;
    let packets = PcapReader::open(path).map_err(usage)?;
    Ok(packets.filter_map(move |packet| match packet {
        Err(e) => Some(Err(usage(e))),
        Ok(packet) => {
            let key = flow_of(&packet.data)?;
            let at_ns = packet.time_ns.saturating_sub(*first_ns.get_or_insert(packet.time_ns));
            Some(Ok(Arrival { key, bytes: packet.original_len, at_ns }))
        }
    }))
}

/// A frame's 5-tuple as a number. Captures are often cut short behind the ports, so lengths are not asked for. Up to two VLAN tags
/// are passed over; of fragments all but the first have no ports.
fn flow_of(frame: &[u8]) -> Option<u64> {
    let u16_at = |at: usize| frame.get(at..at + 2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
    let (mut ethertype, mut ip) = (u16_at(12)?, 14);
    for _ in 0..2 {
        if matches!(ethertype, 0x8100 | 0x88a8) {
            (ethertype, ip) = (u16_at(ip + 2)?, ip + 4);
        }
    }
    let (addresses, protocol, ports) = match ethertype {
        0x0800 => {
            let later_fragment = u16_at(ip + 6)? & 0x1fff != 0;
            let header = usize::from(*frame.get(ip)? & 15) * 4;
            (frame.get(ip + 12..ip + 20)?, *frame.get(ip + 9)?, (!later_fragment).then_some(ip + header))
        }
        0x86dd => (frame.get(ip + 8..ip + 40)?, *frame.get(ip + 6)?, Some(ip + 40)),
        _ => return None,
    };
    // TCP, UDP, SCTP.
    let ports = ports.filter(|_| matches!(protocol, 6 | 17 | 132)).and_then(|at| frame.get(at..at + 4)).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    (addresses, protocol, ports).hash(&mut hasher);
    Some(hasher.finish())
}

fn kibibytes(text: &str) -> Result<f64, String> {
    number(text, 0.01, 65_536.0)
}

fn megabits(text: &str) -> Result<f64, String> {
    number(text, 0.2, 4_000.0)
}

fn seconds(text: &str) -> Result<f64, String> {
    number(text, 0.01, 600.0)
}

fn number(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|e| format!("{e}"))?;
    if (least..=most).contains(&number) { Ok(number) } else { Err(format!("not from {least} to {most}")) }
}

#[cfg(test)]
mod tests {
    use super::flow_of;

    /// Ethernet, tags, IPv4 with that flags-and-offset field, ports.
    fn frame(tags: &[u8], fragment: u16, ports: [u8; 4]) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend(tags);
        frame.extend([8, 0, 0x45, 0, 0, 99, 0, 0]);
        frame.extend(fragment.to_be_bytes());
        frame.extend([64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend(ports);
        frame
    }

    #[test]
    fn flows_are_five_tuples() {
        let plain = flow_of(&frame(&[], 0, [1, 2, 3, 4]));
        assert!(plain.is_some());
        assert_eq!(plain, flow_of(&frame(&[0x81, 0, 0, 5], 0x4000, [1, 2, 3, 4])), "tags and the don't-fragment flag are no part of it");
        assert_ne!(plain, flow_of(&frame(&[], 0, [1, 2, 3, 5])));
        assert_eq!(flow_of(&frame(&[], 7, [1, 2, 3, 4])), flow_of(&frame(&[], 9, [5, 5, 5, 5])), "payload is not taken for ports");
    }

    #[test]
    fn short_frames_have_a_flow_only_with_their_addresses() {
        let frame = frame(&[0x88, 0xa8, 0, 1, 0x81, 0, 0, 5], 0, [1, 2, 3, 4]);
        let shortest = (0..=frame.len()).find(|len| flow_of(&frame[..*len]).is_some());
        assert_eq!(shortest, Some(frame.len() - 4), "ports may be missing");
    }
}
