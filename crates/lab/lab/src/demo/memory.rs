//! The demo without root: agent, targets and workers as always, but ports in memory, fed from a capture file.
//!
//! `in.pcap` holds synthetic user traffic of the sessions; what the UPF sends goes to `out.pcap`. Every output frame is
//! compared, byte for byte and in order, with what `traffic::expect` says, which knows nothing of the UPF.

use super::Args;
use super::checks::{Checks, SessionBytes, sessions_agree, upf_is_sound};
use base::{Packet, PortId};
use cli::failure::Failure;
use daemon::config::Config;
use daemon::datapath::open::OpenPort;
use daemon::manage::report::{HEADER, Report, live_lines};
use daemon::run::Upf;
use pktio::memory::MemoryPort;
use pktio::pcap::{PcapReader, PcapWriter};
use pktio::{Port, PortError};
use std::collections::{HashMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};
use traffic::around::{self, AROUND};
use traffic::plan::{Address, Pool, SessionPlan, Shape};
use traffic::smf::{Event, Session, Smf};
use traffic::synth::{self, Pick, Synth};
use traffic::{SessionRecord, Tunnel};

/// Frames of the capture file.
const FRAMES: usize = 200_000;
/// Frames that wait for an idle UE.
const WAITING: usize = 20;
const PATIENCE: Duration = Duration::from_secs(10);

/// The far ends of N3 and N6, and what must come out of them.
struct FarEnds {
    n3: Side,
    n6: Side,
    output: PcapWriter<std::fs::File>,
    wrong: Option<String>,
    compared: usize,
}

struct Side {
    name: &'static str,
    port: MemoryPort,
    expected: VecDeque<Vec<u8>>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let (n3, far_n3) = pktio::memory::pair("n3", "far n3", 8192);
    let (n6, far_n6) = pktio::memory::pair("n6", "far n6", 8192);
    let n4 = free_loopback_port()?;
    let config = Config::parse(&config(n4, args.share)).map_err(Failure::Failed)?;
    let ir = p4_driver::compile(Path::new("upf.p4"), &[], &config.defines())?;
    let port =
        |id, port: MemoryPort, mac| OpenPort { id: PortId(id), of_workers: vec![vec![Box::new(port)]], driver: "memory".into(), mac };
    let upf = Upf::start(&config, ir, vec![port(0, n3, AROUND.n3_mac), port(128, n6, AROUND.n6_mac)], None)?;

    println!("SMF: association and {} sessions over PFCP on loopback", args.sessions);
    let smf =
        Smf::connect(traffic::smf::Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), n4)).map_err(|e| Failure::Failed(e.to_string()))?;
    let fail = |e: traffic::smf::SmfError| Failure::Failed(e.to_string());
    smf.associate().map_err(fail)?;
    let mut sessions = (0..u32::from(args.sessions)).map(|n| establish(&smf, n)).collect::<Result<Vec<_>, _>>()?;
    let records: Vec<SessionRecord> = sessions.iter().map(Session::record).collect();

    let (input, output) = (args.out.join("in.pcap"), args.out.join("out.pcap"));
    println!("Traffic: {FRAMES} frames of the sessions into {}", input.display());
    // Correspondents behind the N6 router, not on its link, or the UPF would ask for them by neighbour discovery.
    let remote_ipv6 = std::net::Ipv6Addr::new(0x2001, 0xdb8, 7, 0, 0, 0, 0, 1);
    let load = synth::Config { pick: Pick::Zipf(1.0), remote_ipv6, ..synth::Config::new(1, AROUND) };
    let mut synth = Synth::new(load, records.clone()).map_err(|e| Failure::Failed(e.to_string()))?;
    write_input(&mut synth, &input)?;

    println!(
        "UPF: from {} to {}, {:.0} % of the sessions on the switch model\n{HEADER}",
        input.display(),
        output.display(),
        args.share * 100.0
    );
    let side = |name, port| Side { name, port, expected: VecDeque::new() };
    let mut far = FarEnds {
        n3: side("n3", far_n3),
        n6: side("n6", far_n6),
        output: PcapWriter::create(&output).map_err(port_failure)?,
        wrong: None,
        compared: 0,
    };
    let mut offered: HashMap<usize, (u64, u64)> = HashMap::new();
    let played = play(&upf, &mut far, &records, &input, &mut offered)?;
    let paged = page(&smf, &mut sessions, &mut synth, &mut far, &mut offered);

    for session in &sessions {
        smf.delete(session).map_err(fail)?;
    }
    smf.release().map_err(fail)?;
    let charged = smf.report();
    let report = upf.stop()?;
    far.output.flush().map_err(port_failure)?;
    let text = serde_json::to_string_pretty(&report).map_err(|e| Failure::Failed(e.to_string()))?;
    std::fs::write(args.out.join("upf.json"), text).map_err(|e| Failure::Failed(e.to_string()))?;

    println!("\nWhat came out");
    let mut checks = Checks::default();
    match &far.wrong {
        None => checks.check(true, "output equals what is expected, byte for byte and in order", &format!("{} frames", far.compared)),
        Some(why) => checks.check(false, "output equals what is expected, byte for byte and in order", why),
    }
    checks.equal("all of the capture file was played", ("frames", played as u64), ("of", FRAMES as u64));
    match paged {
        Ok(seen) => checks.check(true, "idle UE: packets buffered, reported once, released in order", &seen),
        Err(why) => checks.check(false, "idle UE: packets buffered, reported once, released in order", &why.to_string()),
    }
    upf_is_sound(&mut checks, &report);
    sessions_agree(&mut checks, &by_session(&records, &offered, &report, &charged), 0);
    println!("\nreports and captures are in {}", args.out.display());
    checks.finish()
}

fn establish(smf: &Smf, n: u32) -> Result<Session, Failure> {
    let fail = |e: traffic::smf::SmfError| Failure::Failed(format!("session {}: {e}", n + 1));
    let pool = Pool {
        ipv4: Some((Ipv4Addr::new(10, 45, 0, 0), 16)),
        ipv6: Some((std::net::Ipv6Addr::new(0x2001, 0xdb8, 0x45, 0, 0, 0, 0, 0), 48)),
    };
    let (ipv4, ipv6) = pool.nth(n).unwrap_or_default();
    let mut plan = SessionPlan::new(Shape::Open5gs, Tunnel { addr: Ipv4Addr::new(10, 3, 0, 2), teid: n + 1 });
    plan.ue_ipv4 = ipv4.map_or(Address::None, Address::Given);
    plan.ue_ipv6 = ipv6.map_or(Address::None, Address::Given);
    let gnb = plan.gnb;
    let mut session = smf.establish(&plan).map_err(fail)?;
    smf.set_active(&mut session, gnb).map_err(fail)?;
    Ok(session)
}

fn write_input(synth: &mut Synth, path: &Path) -> Result<(), Failure> {
    let mut writer = PcapWriter::create(path).map_err(port_failure)?;
    let mut frame = Vec::new();
    for n in 0..FRAMES {
        // A third of the packets is uplink.
        if n % 3 == 0 {
            synth.uplink(&mut frame);
        } else {
            synth.downlink(&mut frame);
        }
        writer.write(n as u64 * 10_000, &frame).map_err(port_failure)?;
    }
    writer.flush().map_err(port_failure)
}

/// Plays the capture file as fast as the UPF takes it; the number of frames.
fn play(
    upf: &Upf,
    far: &mut FarEnds,
    records: &[SessionRecord],
    input: &Path,
    offered: &mut HashMap<usize, (u64, u64)>,
) -> Result<usize, Failure> {
    let (by_teid, by_v4, by_v6) = indexes(records);
    let (mut played, mut next_view, mut before) = (0, Instant::now(), Report::default());
    for packet in PcapReader::open(input).map_err(port_failure)? {
        let frame = packet.map_err(port_failure)?.data;
        let unknown = || Failure::Failed(format!("{}: frame {} is of no session", input.display(), played + 1));
        if frame.get(..6) == Some(&AROUND.n3_mac[..]) {
            let teid = frame.get(46..50).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes).ok_or_else(unknown)?;
            let n = *by_teid.get(&teid).ok_or_else(unknown)?;
            let out = AROUND.uplink(&records[n], &frame).map_err(|e| Failure::Failed(format!("{e:?}")))?;
            offered.entry(n).or_default().0 += out.len() as u64 - 14;
            far.offer(true, &frame, out)?;
        } else {
            let v4 = frame.get(30..34).and_then(|b| <[u8; 4]>::try_from(b).ok()).and_then(|a| by_v4.get(&Ipv4Addr::from(a)));
            let v6 = frame.get(38..46).and_then(|b| <[u8; 8]>::try_from(b).ok()).and_then(|p| by_v6.get(&u64::from_be_bytes(p)));
            let n = *(if frame.get(12) == Some(&0x08) { v4 } else { v6 }).ok_or_else(unknown)?;
            let out = AROUND.downlink(&records[n], &frame, 0).map_err(|e| Failure::Failed(format!("{e:?}")))?;
            offered.entry(n).or_default().1 += frame.len() as u64 - 14;
            far.offer(false, &frame, out)?;
        }
        played += 1;
        if played % 32 == 0 {
            far.collect()?;
        }
        if Instant::now() >= next_view {
            next_view += Duration::from_secs(1);
            before = view(upf, &before)?;
        }
    }
    far.collect_all()?;
    view(upf, &before)?;
    Ok(played)
}

fn view(upf: &Upf, before: &Report) -> Result<Report, Failure> {
    let now = upf.report(false)?;
    live_lines(&now, before).iter().for_each(|line| println!("{line}"));
    Ok(now)
}

type Indexes = (HashMap<u32, usize>, HashMap<Ipv4Addr, usize>, HashMap<u64, usize>);

/// Sessions by uplink TEID, IPv4 address and IPv6 prefix.
fn indexes(records: &[SessionRecord]) -> Indexes {
    let teids = records.iter().enumerate().map(|(n, r)| (r.uplink.teid, n)).collect();
    let v4 = records.iter().enumerate().filter_map(|(n, r)| Some((r.ue_ipv4?, n))).collect();
    let v6 = records.iter().enumerate().filter_map(|(n, r)| Some(((u128::from(r.ue_ipv6?) >> 64) as u64, n))).collect();
    (teids, v4, v6)
}

/// Lets a UE go idle, sends to it, waits for the one report, and pages it.
fn page(
    smf: &Smf,
    sessions: &mut [Session],
    synth: &mut Synth,
    far: &mut FarEnds,
    offered: &mut HashMap<usize, (u64, u64)>,
) -> Result<String, Failure> {
    let fail = |e: traffic::smf::SmfError| Failure::Failed(e.to_string());
    let n = sessions.len() / 2;
    let events = smf.events().ok_or_else(|| Failure::Failed("the SMF's events are taken".into()))?;
    smf.set_idle(&sessions[n]).map_err(fail)?;
    let mut frame = Vec::new();
    let mut sent = 0;
    let record = sessions[n].record();
    let mut late = Vec::new();
    while sent < WAITING {
        if synth.downlink(&mut frame).session == n {
            let out = AROUND.downlink(&record, &frame, 0).map_err(|e| Failure::Failed(format!("{e:?}")))?;
            offered.entry(n).or_default().1 += frame.len() as u64 - 14;
            far.n6.send(&frame)?;
            late.push(out);
            sent += 1;
        }
    }
    std::thread::sleep(Duration::from_millis(200));
    far.collect()?;
    let reports = events.try_iter().filter(|e| matches!(e, Event::DownlinkData { .. })).count();
    if reports != 1 {
        return Err(Failure::Failed(format!("{reports} downlink data reports instead of one")));
    }
    far.n3.expected.extend(late);
    let gnb = sessions[n].plan.gnb;
    smf.set_active(&mut sessions[n], gnb).map_err(fail)?;
    far.collect_all()?;
    Ok(format!("{sent} packets, one downlink data report"))
}

impl FarEnds {
    /// Sends a frame towards the UPF (`uplink`: on N3) and notes what must come out on the other side.
    fn offer(&mut self, uplink: bool, frame: &[u8], out: Vec<u8>) -> Result<(), Failure> {
        let (from, to) = if uplink { (&mut self.n3, &mut self.n6) } else { (&mut self.n6, &mut self.n3) };
        to.expected.push_back(out);
        if from.try_send(frame)? { Ok(()) } else { self.offer_again(uplink, frame) }
    }

    /// The UPF is behind: take what it has sent until there is room.
    fn offer_again(&mut self, uplink: bool, frame: &[u8]) -> Result<(), Failure> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let from = if uplink { &mut self.n3 } else { &mut self.n6 };
            if from.try_send(frame)? {
                return Ok(());
            }
            self.collect()?;
            std::thread::yield_now();
        }
        Err(Failure::Failed("the UPF takes no more packets".into()))
    }

    /// Compares what has come out so far.
    fn collect(&mut self) -> Result<(), Failure> {
        let mut packets: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
        for side in [&mut self.n3, &mut self.n6] {
            loop {
                let n = side.port.receive(&mut packets).map_err(port_failure)?;
                for packet in &packets[..n] {
                    self.output.write(self.compared as u64 * 1000, packet.data()).map_err(port_failure)?;
                    self.compared += 1;
                    let expected = side.expected.pop_front();
                    if expected.as_deref() != Some(packet.data()) && self.wrong.is_none() {
                        self.wrong = Some(format!("output {} on {}: {packet:?} instead of {expected:02x?}", self.compared, side.name));
                    }
                }
                if n == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Waits until all has come out.
    fn collect_all(&mut self) -> Result<(), Failure> {
        let end = Instant::now() + PATIENCE;
        while !(self.n3.expected.is_empty() && self.n6.expected.is_empty()) && Instant::now() < end {
            self.collect()?;
            std::thread::yield_now();
        }
        let missing = self.n3.expected.len() + self.n6.expected.len();
        if missing > 0 && self.wrong.is_none() {
            self.wrong = Some(format!("{missing} frames did not come out"));
        }
        Ok(())
    }
}

impl Side {
    fn try_send(&mut self, frame: &[u8]) -> Result<bool, Failure> {
        self.port.transmit(&[Packet::new(frame, PortId(0))]).map(|n| n == 1).map_err(port_failure)
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Failure> {
        let sent = self.try_send(frame)?;
        if sent { Ok(()) } else { Err(Failure::Failed(format!("{} is full", self.name))) }
    }
}

fn by_session(
    records: &[SessionRecord],
    offered: &HashMap<usize, (u64, u64)>,
    report: &Report,
    charged: &traffic::smf::Report,
) -> Vec<SessionBytes> {
    let upf: HashMap<_, _> = report.sessions.iter().map(|s| (s.ue_ipv4, s)).collect();
    let smf: HashMap<_, _> = charged.sessions.iter().map(|s| (s.ue_ipv4, s)).collect();
    records
        .iter()
        .enumerate()
        .map(|(n, record)| {
            let offered = offered.get(&n).copied().unwrap_or_default();
            let counted = upf.get(&record.ue_ipv4).map_or((0, 0), |s| (s.uplink.bytes, s.downlink.bytes));
            let charged = smf.get(&record.ue_ipv4).map_or((0, 0), |s| (s.uplink_bytes, s.downlink_bytes));
            let parties = [("offered", offered), ("UPF", counted), ("PFCP usage reports", charged)];
            SessionBytes { ue: record.ue_ipv4, parties: parties.map(|(name, (up, down))| (name, up, down)).to_vec() }
        })
        .collect()
}

fn port_failure(error: PortError) -> Failure {
    Failure::Failed(error.to_string())
}

/// A UDP address on loopback that is free now.
fn free_loopback_port() -> Result<SocketAddr, Failure> {
    let socket = UdpSocket::bind("127.0.0.1:0").and_then(|s| s.local_addr());
    socket.map_err(|e| Failure::Failed(format!("no free UDP port on loopback: {e}")))
}

/// N3 and N6, and the fast target.
fn config(n4: SocketAddr, share: f64) -> String {
    format!("{}[split]\nfast = \"asic\"\npolicy = {{ share = {share:?} }}\n", around::config(n4))
}
