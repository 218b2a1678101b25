//! The demo with a gNodeB: UEs - radio that loses - our gNodeB - N3 - our UPF - data network.
//!
//! UEs, radio and gNodeB are processes of the RAN's namespace; the radio is UDP on its loopback, through `splitplane link`. RLC AM repeats what
//! the radio loses, so users see none of it: what the UE's kernel, UE, gNodeB, UPF and usage reports have counted is one number.

use super::checks::{Checks, SessionBytes, sessions_agree, upf_is_sound};
use super::namespaces::{
    Files, IPERF_S, SEED, SETTLE, START, STOP, download, iperf, iperf_mbps, iperf_server, ping_all, read_json, read_records, start_smf,
    start_upf, write,
};
use super::netns::{Namespace, Networks};
use super::process::{Background, Part};
use super::processors::Processors;
use super::{Args, Datapath, handover, radio_capture};
use cli::failure::Failure;
use daemon::manage::report::Report;
use gnodeb::counts::{Count, Drops};
use gnodeb::run::link::Direction;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use traffic::SessionRecord;

/// Radio addresses: the gNodeB's, the UEs', and the link's for each of them.
const GNB: &str = "127.0.0.1:4001";
pub(super) const UES: &str = "127.0.0.2:4001";
pub(super) const LINK_FOR_UES: &str = "127.0.0.3:4001";
pub(super) const LINK_FOR_GNB: &str = "127.0.0.4:4001";
const ENDS: [&str; 4] = [LINK_FOR_UES, UES, LINK_FOR_GNB, GNB];
/// F1-U: CU-UP and DU.
const CU: &str = "127.0.1.1";
const DU: &str = "127.0.1.2";
/// Datagrams that a capture holds: tshark reads them within seconds.
const CAPTURED: &str = "20000";
/// What RLC AM drops on a radio that reorders: PDUs that were sent again for a STATUS that was too early, and such a STATUS itself.
const USUAL: [&str; 6] = [
    "rlc_rx.duplicate",
    "rlc_status.stale",
    "rlc_rx.outside_window",
    "radio_bearer.am_duplicate",
    "buffer.status_stale",
    "radio_bearer.am_outside_window",
];
/// And at a handover: what was under way to or from the cell that is left, and what the other side had without having said so.
const USUAL_AT_HANDOVER: [&str; 4] = ["radio.cell_left", "radio.handed_over", "pdcp_rx.late", "pdcp_rx.duplicate"];

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let begin = Instant::now();
    let out = args.out.canonicalize().map_err(|e| Failure::Usage(format!("{}: {e}", args.out.display())))?;
    let files = Files::of(&out);
    println!("Networks: namespaces for RAN, UPF and data network, joined by veth pairs");
    let net = Networks::create(1)?;
    let upf = start_upf(args, &net, &files, &out)?;
    let mut smf = start_smf(args.ues, &net, &files, &out)?;
    let records = read_records(&files.sessions)?;

    let file = |name: &str| out.join(name).display().to_string();
    let mut captures = Vec::new();
    for (name, interface, filter) in captured(args) {
        let command = net.ran.command("dumpcap", &["-q", "-P", "-i", interface, "-f", filter, "-c", CAPTURED, "-w", &file(name)]);
        captures.push(Background::start(command, "dumpcap")?);
    }
    if args.capture {
        std::thread::sleep(SETTLE);
    }
    println!("Radio: {} Mbit/s, {:.0} % lost and as many reordered, each way", args.radio_mbps, args.radio_loss * 100.0);
    let radio = start_radio(&net, ENDS, args.radio_loss, &file("radio.json"), &out)?;
    let roles: &[(&'static str, &str)] = if args.split_gnb { &[("CU-UP", "cu-up"), ("DU", "du")] } else { &[("gNodeB", "both")] };
    let mut gnbs = Vec::new();
    for (name, role) in roles {
        let of = if is_program(args) { "p4/gnb.p4" } else { "the entities" };
        println!("{name} of {of}: {} UEs, a bearer of RLC AM each", args.ues);
        let config = out.join(format!("{role}.toml"));
        write(&config, &gnb_config(role, args, &records, &out))?;
        let config = config.display().to_string();
        gnbs.push(start(name, &net, "gnb", &["--config", &config], &file(&format!("{role}.json")), &out)?);
    }
    let config = out.join("ue.toml");
    write(&config, &ue_config(args, &records, &out))?;
    println!("UEs: a TUN device each");
    let ues = start("UEs", &net, "ue", &["--config", &config.display().to_string()], &file("ue.json"), &out)?;
    let http = Part::http_server(&net.dn, "10.6.0.2:80", &out)?;
    let iperf = iperf_server(&net.dn, "5201")?;

    println!("Users: unmodified programs\n");
    let mut outcomes = users(args, &net, &records)?;
    if hands_over(args) {
        outcomes.extend(handover::run(args, &net, &records, &mut smf, &out)?);
    }
    let (mut goodput, mut radio) = (Goodput::default(), radio);
    for round in 0..args.goodput_rounds {
        if round > 0 {
            radio = another_radio(&net, radio, args.radio_loss, &file("radio-again.json"), &out)?;
        }
        goodput.measure(&net, &records, true)?;
        // The same radio without loss, for comparison.
        radio = another_radio(&net, radio, 0.0, &file("radio-without-loss.json"), &out)?;
        goodput.measure(&net, &records, false)?;
    }
    let gaps = [("UEs", tcp_gaps(&net.ran)?), ("data network", tcp_gaps(&net.dn)?)];
    std::thread::sleep(SETTLE);
    drop(iperf);
    http.stop(STOP)?;
    ues.stop(STOP)?;
    radio.stop(STOP)?;
    gnbs.into_iter().try_for_each(|gnb| gnb.stop(STOP))?;
    smf.stop(STOP)?;
    upf.stop(STOP)?;
    captures.into_iter().for_each(Background::interrupt);

    println!("\nWhat the programs say");
    let mut checks = Checks::default();
    for (what, result) in outcomes {
        match result {
            Ok(seen) => checks.check(true, &what, &seen),
            Err(why) => checks.check(false, &what, &why.to_string()),
        }
    }
    println!("\nWhat was counted");
    let report: Report = read_json(&files.upf)?;
    upf_is_sound(&mut checks, &report);
    let lost = radio_was_bad(&mut checks, args, &out)?;
    for (whose, gaps) in gaps {
        checks.check(gaps == 0, &format!("the TCP of {whose} missed no segment"), &format!("{gaps} came out of order"));
    }
    // The program's rate is of what is sent for the first time.
    goodput.check(&mut checks, if is_program(args) { 1.0 } else { 1.0 - lost });
    let ues: gnodeb::counts::Report = read_json(&out.join("ue.json"))?;
    // A CU-UP counts users' packets, a DU those of the radio.
    let mut gnb: gnodeb::counts::Report = read_json(&out.join(format!("{}.json", roles[0].1)))?;
    let air: gnodeb::counts::Report = read_json(&out.join(format!("{}.json", roles[roles.len() - 1].1)))?;
    let hands_over = hands_over(args);
    for (name, counted) in [("UEs", &ues), ("gNodeB", &gnb), ("gNodeB's radio", &air)] {
        nothing_was_lost(&mut checks, name, counted, hands_over);
    }
    if hands_over {
        let second = handover::both(&mut checks, &mut gnb, &out)?;
        nothing_was_lost(&mut checks, "gNodeB 2", &second, hands_over);
    }
    sessions_agree(&mut checks, &by_session(&records, &report, &ues, &gnb, &files.smf)?, 0);
    if args.capture {
        let capture = out.join("radio.pcap");
        radio_capture::decodes(&mut checks, &capture)?;
        let bearers: Vec<_> = (0..records.len()).map(format).collect();
        radio_capture::pdcp_decodes(&mut checks, &capture, &bearers, &out.join("pdcp-all.pcap"))?;
        radio_capture::reads_n3(&mut checks, &out.join("n3.pcap"))?;
        if args.split_gnb {
            radio_capture::reads_f1u(&mut checks, &out.join("f1u.pcap"))?;
        }
        if records.len() > PROTECTED {
            let (cipher_key, integrity_key) = keys(PROTECTED, 0);
            let bearer = radio_capture::Bearer { ue: PROTECTED as u16 + 1, cipher_key, integrity_key };
            radio_capture::deciphers(&mut checks, &capture, &bearer, &out.join("pdcp.pcap"))?;
        }
    }
    println!("\n{:.0} s in all; reports are in {}", begin.elapsed().as_secs_f64(), out.display());
    checks.finish()
}

/// Of the goodput over a radio without loss so much must be left.
const KEPT: f64 = 0.9;
/// Connections of a measurement: enough to fill the radio within the seconds that are not counted, though each packet may wait for one that is sent again.
const CONNECTIONS: &str = "16";
/// Seconds that are not counted, in which they come up to speed, and those that are.
const OMITTED_S: &str = "2";
const COUNTED_S: &str = "4";
/// Processors' time that others may have before a bad figure says nothing.
const OTHERS: f64 = 0.1;

/// What TCP of the first UE gets downlink, in Mbit/s, with the radio's loss and without, in turns; and what others had of the processors, at most.
#[derive(Default)]
struct Goodput {
    with_loss: Vec<f64>,
    without_loss: Vec<f64>,
    others: f64,
}

impl Goodput {
    /// One measurement, of CUBIC: BBR takes the radio's repetitions for a longer path, whatever they carry (docs/gnodeb.md).
    fn measure(&mut self, net: &Networks, records: &[SessionRecord], lossy: bool) -> Result<(), Failure> {
        let ue = records[0].ue_ipv4.map(|a| a.to_string()).unwrap_or_default();
        let line =
            [IPERF_S, "iperf3", "-c", "10.6.0.2", "-B", &ue, "-R", "-C", "cubic", "-P", CONNECTIONS, "-O", OMITTED_S, "-t", COUNTED_S];
        let line = [&line[..], &["-J", "--connect-timeout", "3000"]].concat();
        let before = Processors::now();
        let mbps = iperf_mbps(|| net.ran.run("timeout", &line), || std::thread::sleep(SETTLE))?;
        if let Some((now, before)) = Processors::now().zip(before) {
            self.others = self.others.max(now.others_since(&before));
        }
        if lossy { &mut self.with_loss } else { &mut self.without_loss }.push(mbps);
        Ok(())
    }

    /// Checks what the radio's loss costs. `first`: the share of the radio's rate that was left for what was sent for the first time.
    fn check(mut self, checks: &mut Checks, first: f64) {
        if self.with_loss.is_empty() {
            return;
        }
        let all = |mbps: &[f64]| mbps.iter().map(|mbps| format!("{mbps:.1}")).collect::<Vec<_>>().join(", ");
        let seen = format!("{} Mbit/s, and {} without loss", all(&self.with_loss), all(&self.without_loss));
        let [lossy, clean] = [&mut self.with_loss, &mut self.without_loss].map(|mbps| median(mbps));
        let kept = lossy / clean / first;
        let what = format!("TCP keeps {:.0} % of the goodput without loss, the radio's repetitions deducted", KEPT * 100.0);
        let seen = format!("{:.0} % ({seen})", kept * 100.0);
        if kept < KEPT && self.others > OTHERS {
            return checks.not_made(&what, &format!("not measured, others had {:.0} % of the processors: {seen}", self.others * 100.0));
        }
        checks.check(kept >= KEPT, &what, &seen);
    }
}

/// The middle one.
fn median(of: &mut [f64]) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// Segments that the TCP of a namespace received behind a gap: the kernel's `TCPOFOQueue`. What TCP only believes to be lost, as it is late, leaves none.
fn tcp_gaps(namespace: &Namespace) -> Result<u64, Failure> {
    let counters = namespace.run("cat", &["/proc/net/netstat"])?;
    counter(&counters, "TcpExt:", "TCPOFOQueue").ok_or_else(|| Failure::Failed("/proc/net/netstat has no TCPOFOQueue".into()))
}

/// A counter of the kernel: a line of names, and a line of numbers.
fn counter(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with(group)).map(str::split_whitespace);
    let (mut names, mut numbers) = (lines.next()?, lines.next()?);
    let at = names.position(|of| of == name)?;
    numbers.nth(at)?.parse().ok()
}

/// A radio that loses that share of the datagrams, and reorders as many. `ends`: where the link listens and who sends there, at either end.
pub(super) fn start_radio(net: &Networks, ends: [&str; 4], loss: f64, report: &str, logs: &Path) -> Result<Part, Failure> {
    let loss = loss.to_string();
    let [listen_a, peer_a, listen_b, peer_b] = ends;
    let ends = ["--listen-a", listen_a, "--peer-a", peer_a, "--listen-b", listen_b, "--peer-b", peer_b];
    let like = ["--loss", &loss, "--reorder", &loss, "--delay-ms", "4", "--jitter-ms", "1", "--reorder-ms", "8"];
    let name = if listen_a == LINK_FOR_UES { "Radio" } else { "Radio 2" };
    start(name, net, "link", &[&ends[..], &like].concat(), report, logs)
}

/// Another one in its place, on the same addresses.
fn another_radio(net: &Networks, radio: Part, loss: f64, report: &str, logs: &Path) -> Result<Part, Failure> {
    // STATUS PDUs are still on the way.
    std::thread::sleep(SETTLE);
    radio.stop(STOP)?;
    start_radio(net, ENDS, loss, report, logs)
}

/// Whether the gNodeB is `p4/gnb.p4`.
fn is_program(args: &Args) -> bool {
    !args.split_gnb && args.datapath.unwrap_or_default() == Datapath::P4
}

/// Whether UEs go to a second gNodeB and back.
fn hands_over(args: &Args) -> bool {
    !args.split_gnb && !is_program(args)
}

pub(super) fn start(name: &'static str, net: &Networks, command: &str, args: &[&str], report: &str, logs: &Path) -> Result<Part, Failure> {
    let line = [&[command][..], args, &["--report", report, "--until-input-ends"]].concat();
    let mut part = Part::start(name, &net.ran, &line, logs, false)?;
    part.wait_for("ready", START)?;
    Ok(part)
}

/// The UE whose PDUs tshark can decipher and verify: NEA2 and NIA2, 18 bits, and no SDAP header, which it takes for ciphered. See [`drb`].
const PROTECTED: usize = 2;

/// Keys of UE `n` after so many handovers, for ciphering and for integrity protection.
fn keys(n: usize, generation: usize) -> (String, String) {
    let key = |base: usize| format!("{:032x}", (generation << 16) + base + n);
    (key(0x1000), key(0x2000))
}

/// What is captured: file, interface of the RAN's namespace, filter.
fn captured(args: &Args) -> Vec<(&'static str, &'static str, &'static str)> {
    // The radio at the gNodeB.
    let all =
        [("radio.pcap", "lo", "udp port 4001 and host 127.0.0.1"), ("n3.pcap", "n3", "udp port 2152"), ("f1u.pcap", "lo", "udp port 2152")];
    let number = if !args.capture {
        0
    } else if args.split_gnb {
        3
    } else {
        2
    };
    all[..number].to_vec()
}

/// Bits of the sequence numbers of UE `n`'s bearer, and whether it has SDAP headers.
fn format(n: usize) -> radio_capture::Format {
    radio_capture::Format { ue: n as u16 + 1, sn_bits: if n % 5 == 4 { 12 } else { 18 }, sdap_header: n % 2 == 1 }
}

/// The bearer of UE `n`: all algorithms, both lengths of sequence numbers, SDAP headers with half of them.
fn drb(n: usize, generation: usize, f1u: bool) -> String {
    let (nea, nia) = (n % 4, (n + n / 4) % 4);
    let radio_capture::Format { sn_bits: bits, sdap_header, .. } = format(n);
    let mut text =
        format!("[[ue.drb]]\nid = 1\nrlc = \"am\"\npdcp_sn_bits = {bits}\nrlc_sn_bits = {bits}\nciphering = {nea}\nintegrity = {nia}\n");
    let _ = writeln!(text, "sdap_header_uplink = {0}\nsdap_header_downlink = {0}", sdap_header);
    let (cipher_key, integrity_key) = keys(n, generation);
    if nea > 0 {
        let _ = writeln!(text, "cipher_key = \"{cipher_key}\"");
    }
    if nia > 0 {
        let _ = writeln!(text, "integrity_key = \"{integrity_key}\"");
    }
    if f1u {
        let _ = writeln!(text, "f1u = {{ cu_teid = {0}, du_teid = {0} }}", n + 1);
    }
    text
}

/// UE `n` in a gNodeB's file: with a radio address, and with the TEID of a session.
pub(super) fn gnb_ue(n: usize, generation: usize, record: &SessionRecord, radio: Option<&str>, teid: Option<u32>, f1u: bool) -> String {
    let mut text = format!("\n[[ue]]\nid = {}\nflows = [{{ qfi = {}, drb = 1 }}]\n", n + 1, record.qfi.unwrap_or_default());
    if let Some(radio) = radio {
        let _ = writeln!(text, "radio = \"{radio}\"");
    }
    if let Some(teid) = teid {
        let up = record.uplink;
        let _ = writeln!(text, "session = {{ upf = \"{}\", uplink_teid = {}, downlink_teid = {teid} }}", up.addr, up.teid);
    }
    text + &drb(n, generation, f1u)
}

/// UE `n` in the UEs' file, with the gNodeB's radio address.
pub(super) fn ue_ue(n: usize, generation: usize, record: &SessionRecord, gnb: &str) -> String {
    let qfi = record.qfi.unwrap_or_default();
    let mut text = format!("\n[[ue]]\nid = {}\ngnb = \"{gnb}\"\nqfi = {qfi}\nflows = [{{ qfi = {qfi}, drb = 1 }}]\n", n + 1);
    record.ue_ipv4.iter().for_each(|address| {
        let _ = writeln!(text, "ipv4 = \"{address}\"");
    });
    record.ue_ipv6.iter().for_each(|prefix| {
        let _ = writeln!(text, "ipv6 = \"{prefix}\"");
    });
    text + &drb(n, generation, false)
}

fn gnb_config(role: &str, args: &Args, records: &[SessionRecord], out: &Path) -> String {
    let (core, air) = (role != "du", role != "cu-up");
    let mut text = format!("role = \"{role}\"\n");
    let _ = writeln!(text, "datapath = \"{}\"", if is_program(args) { "p4" } else { "entities" });
    if core {
        text += "n3 = \"10.3.0.2\"\n";
    }
    if hands_over(args) {
        let _ = writeln!(text, "control = \"{}\"", handover::socket(out, 0));
    }
    if role != "both" {
        let (ours, peer) = if core { (CU, DU) } else { (DU, CU) };
        let _ = writeln!(text, "f1u = {{ address = \"{ours}\", peer = \"{peer}\" }}");
    }
    if air {
        let _ = writeln!(text, "\n[radio]\naddress = \"{GNB}\"\nrate_mbps = {}", args.radio_mbps);
    }
    for (n, record) in records.iter().enumerate() {
        text += &gnb_ue(n, 0, record, air.then_some(LINK_FOR_GNB), core.then_some(record.downlink.teid), role != "both");
    }
    text
}

fn ue_config(args: &Args, records: &[SessionRecord], out: &Path) -> String {
    let mut text = if hands_over(args) { format!("control = \"{}\"\n", handover::ue_socket(out)) } else { String::new() };
    let _ = writeln!(text, "[radio]\naddress = \"{UES}\"\nrate_mbps = {}", args.radio_mbps);
    for (n, record) in records.iter().enumerate() {
        text += &ue_ue(n, 0, record, LINK_FOR_UES);
    }
    text
}

pub(super) type Outcomes = Vec<(String, Result<String, Failure>)>;

/// What UEs do: one after the other; pings of all UEs together.
fn users(args: &Args, net: &Networks, records: &[SessionRecord]) -> Result<Outcomes, Failure> {
    let ue = |n: usize| records[n % records.len()].ue_ipv4.map(|a| a.to_string()).unwrap_or_default();
    let ue6 = |n: usize| records[n % records.len()].ue_ipv6_address().map(|a| a.to_string()).unwrap_or_default();
    let mut outcomes = Vec::new();
    let all: Vec<(String, &str)> = (0..records.len()).map(|n| (ue(n), "10.6.0.2")).collect();
    outcomes.push((format!("ping over IPv4 from {} UEs", all.len()), ping_all(net, &all)));
    let all: Vec<(String, &str)> = (0..records.len()).map(|n| (ue6(n), "2001:db8:6::2")).collect();
    outcomes.push((format!("ping over IPv6 from {} UEs", all.len()), ping_all(net, &all)));
    let bytes = u64::from(args.download_mb) * 1_000_000;
    for n in 0..2 {
        outcomes.push((format!("HTTP download of {} MB by {}, checksum compared", args.download_mb, ue(n)), download(net, &ue(n), bytes)));
    }
    outcomes.push((format!("HTTP upload of {} MB by {}, checksum compared", args.download_mb, ue(2)), upload(net, &ue(2), bytes)));
    for (n, what, more) in [(3, "uplink", &[][..]), (4, "downlink", &["-R"])] {
        let ue = ue(n);
        let line = [&[IPERF_S, "iperf3", "-c", "10.6.0.2", "-B", &ue, "-t", "2", "-J", "--connect-timeout", "3000"][..], more].concat();
        let result = iperf(|| net.ran.run("timeout", &line), || std::thread::sleep(SETTLE));
        outcomes.push((format!("iperf3 TCP {what} by {ue}"), result));
    }
    Ok(outcomes)
}

/// Sends pseudo-random bytes; the server's checksum of what came must be that of what the server itself would send.
fn upload(net: &Networks, ue: &str, bytes: u64) -> Result<String, Failure> {
    let begin = Instant::now();
    let mut content = tempfile::NamedTempFile::new().map_err(|e| Failure::Failed(format!("a temporary file: {e}")))?;
    traffic::dn::produce(bytes, SEED, |part| std::io::Write::write_all(&mut content, part))
        .map_err(|e| Failure::Failed(format!("a temporary file: {e}")))?;
    let path = content.path().display().to_string();
    let line = ["-sS", "--fail", "--max-time", "60", "--interface", ue, "-T", &path, "http://10.6.0.2/data"];
    let answer = net.ran.run("curl", &line)?;
    let expected = traffic::dn::sha256_hex(bytes, SEED);
    if !answer.contains(&expected) {
        return Err(Failure::Failed(format!("the server has {} instead of {expected}", answer.trim())));
    }
    Ok(format!("{:.0} Mbit/s", bytes as f64 * 8.0 / begin.elapsed().as_secs_f64() / 1e6))
}

/// Checks that the radio did lose; the share of the downlink that it lost.
fn radio_was_bad(checks: &mut Checks, args: &Args, out: &Path) -> Result<f64, Failure> {
    let counted: HashMap<String, Direction> = read_json(&out.join("radio.json"))?;
    for (way, name) in [("a_to_b", "uplink"), ("b_to_a", "downlink")] {
        let Direction { sent, arrived, lost, queue, wrong_source, unsent } = counted.get(way).copied().unwrap_or_default();
        let seen = format!("{lost} of {sent} datagrams lost");
        checks.check((lost > 0) == (args.radio_loss > 0.0), &format!("radio {name} lost as it was asked to"), &seen);
        checks.equal(&format!("radio {name} lost no other"), ("sent", sent), ("arrived or lost", arrived + lost));
        checks.equal(&format!("radio {name} dropped nothing else"), ("dropped", queue + wrong_source + unsent), ("none", 0));
    }
    let Direction { sent, lost, .. } = counted.get("b_to_a").copied().unwrap_or_default();
    Ok(lost as f64 / sent.max(1) as f64)
}

/// Checks that no user's packet was dropped, and RLC never gave up.
fn nothing_was_lost(checks: &mut Checks, name: &str, counted: &gnodeb::counts::Report, hands_over: bool) {
    let mut odd = Drops::new();
    let all = counted.ues.iter().flat_map(|ue| &ue.drops).chain(&counted.drops);
    let usual = |reason: &str| USUAL.contains(&reason) || hands_over && USUAL_AT_HANDOVER.contains(&reason);
    for (reason, number) in all.filter(|(reason, _)| !usual(reason)) {
        *odd.entry(reason.clone()).or_default() += number;
    }
    let again: u64 = counted.ues.iter().map(|ue| ue.retransmissions).sum();
    let failures: u64 = counted.ues.iter().map(|ue| ue.radio_link_failures).sum();
    let seen = if odd.is_empty() { format!("{again} PDUs sent again, {failures} given up") } else { format!("{odd:?}") };
    checks.check(odd.is_empty() && failures == 0, &format!("{name}: nothing of a user was dropped"), &seen);
}

fn by_session(
    records: &[SessionRecord],
    upf: &Report,
    ues: &gnodeb::counts::Report,
    gnb: &gnodeb::counts::Report,
    smf: &Path,
) -> Result<Vec<SessionBytes>, Failure> {
    let smf: traffic::smf::Report = read_json(smf)?;
    let upf: HashMap<_, _> = upf.sessions.iter().map(|s| (s.ue_ipv4, (s.uplink.bytes, s.downlink.bytes))).collect();
    let smf: HashMap<_, _> = smf.sessions.iter().map(|s| (s.ue_ipv4, (s.uplink_bytes, s.downlink_bytes))).collect();
    let bytes = |count: Option<Count>| count.unwrap_or_default().bytes;
    let sessions = records.iter().zip(&ues.ues).zip(&gnb.ues).map(|((record, ue), gnb)| {
        let counted = upf.get(&record.ue_ipv4).copied().unwrap_or_default();
        let charged = smf.get(&record.ue_ipv4).copied().unwrap_or_default();
        SessionBytes {
            ue: record.ue_ipv4,
            parties: vec![
                ("kernel", bytes(ue.kernel_tx), bytes(ue.kernel_rx)),
                ("UE", ue.uplink.bytes, ue.downlink.bytes),
                ("gNodeB", gnb.uplink.bytes, gnb.downlink.bytes),
                ("UPF", counted.0, counted.1),
                ("PFCP usage reports", charged.0, charged.1),
            ],
        }
    });
    Ok(sessions.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a bad figure counts follows from what others had, and a good one counts always.
    #[test]
    fn goodput_is_compared_by_medians_and_a_bad_one_beside_others_is_none() {
        let outcome = |with_loss: [f64; 3], others: f64, first: f64| {
            let mut checks = Checks::default();
            Goodput { with_loss: with_loss.to_vec(), without_loss: vec![95.0, 40.0, 100.0], others }.check(&mut checks, first);
            checks.counts()
        };
        let (passed, failed, not_made) = ((1, 0, 0), (0, 1, 0), (0, 0, 1));
        assert_eq!(outcome([90.0, 10.0, 86.0], 0.0, 1.0), passed, "86 of 95");
        assert_eq!(outcome([90.0, 85.0, 10.0], 0.0, 1.0), failed, "85 of 95");
        assert_eq!(outcome([90.0, 85.0, 10.0], 0.1, 1.0), failed);
        assert_eq!(outcome([90.0, 85.0, 10.0], 0.0, 0.95), passed, "of 95 % of the radio's rate");
        assert_eq!(outcome([90.0, 85.0, 10.0], 0.2, 1.0), not_made);
        assert_eq!(outcome([90.0, 86.0, 10.0], 0.2, 1.0), passed);
    }

    #[test]
    fn a_counter_of_the_kernel_is_found_by_group_and_name() {
        let text = "TcpExt: SyncookiesSent TCPOFOQueue TCPOFODrop\nTcpExt: 1 22 333\nIpExt: InNoRoutes TCPOFOQueue\nIpExt: 4 5\n";
        assert_eq!(counter(text, "TcpExt:", "TCPOFOQueue"), Some(22));
        assert_eq!(counter(text, "IpExt:", "TCPOFOQueue"), Some(5));
        assert_eq!(counter(text, "TcpExt:", "InNoRoutes"), None);
    }
}
