//! The demo as root: real interfaces, unmodified programs.

use super::checks::{Checks, SessionBytes, sessions_agree, upf_is_sound};
use super::netns::{Namespace, Networks};
use super::process::{Background, Part};
use super::{Args, Fast};
use cli::failure::Failure;
use daemon::datapath::xdp::{FAR_END_TOOK, SENDS_NOTHING};
use daemon::manage::report::{Count, PortReport, Report};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Compiling the program takes a second or two, and on a busy machine a minute.
pub(super) const START: Duration = Duration::from_secs(120);
/// More than the UPF itself takes before it gives up.
pub(super) const STOP: Duration = Duration::from_secs(90);
/// Of an iperf3 of two seconds, with all that TCP may make of a bad start.
pub(super) const IPERF_S: &str = "120";
const ETHERNET_HEADER: u64 = 14;
/// Of a downlink frame to the gNodeB: Ethernet, IPv4, UDP, and GTP-U with the PDU session container.
const TUNNEL_HEADERS: u64 = ETHERNET_HEADER + 20 + 8 + 16;
/// From an IP packet without anything to the longest that the demo sends.
const FRAME_LENGTHS: std::ops::RangeInclusive<u64> = ETHERNET_HEADER + 20..=1500 + TUNNEL_HEADERS;
/// After the last program has ended, its packets are still in flight in queues.
pub(super) const SETTLE: Duration = Duration::from_millis(800);

/// Looks whether iperf3's server is free again: for half a minute.
const BUSY_TRIES: usize = 40;
/// Tests that iperf3's server may break off itself, as it does on a busy machine: it closes the connection by which the two control each other.
const BROKEN_OFF: usize = 3;

/// Of the pseudo-random bytes that are downloaded.
pub(super) const SEED: u64 = 5;

/// Where the parts leave what they know.
pub(super) struct Files {
    pub(super) config: PathBuf,
    pub(super) sessions: PathBuf,
    pub(super) upf: PathBuf,
    pub(super) ran: PathBuf,
    pub(super) smf: PathBuf,
}

impl Files {
    pub(super) fn of(out: &Path) -> Files {
        let file = |name: &str| out.join(name);
        Files {
            config: file("upf.toml"),
            sessions: file("sessions.jsonl"),
            upf: file("upf.json"),
            ran: file("ran.json"),
            smf: file("smf.json"),
        }
    }
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let begin = Instant::now();
    let out = args.out.canonicalize().map_err(|e| Failure::Usage(format!("{}: {e}", args.out.display())))?;
    let file = |name: &str| out.join(name);
    let files = Files::of(&out);
    println!("Networks: namespaces for RAN, UPF and data network, joined by veth pairs");
    let net = Networks::create(args.workers)?;
    let at_start = kernel_counts(&net)?;
    let text = |p: &Path| p.display().to_string();
    let mut captures = Vec::new();
    if args.capture {
        net.keep_frames_apart();
        for (ns, interface, name) in [(&net.ran, "n3", "n3.pcap"), (&net.dn, "n6", "n6.pcap"), (&net.upf, "lo", "n4.pcap")] {
            let path = text(&file(name));
            let mut command = ns.command("dumpcap", &["-q", "-P", "-i", interface, "-w", &path]);
            command.stdin(std::process::Stdio::null());
            captures.push(Background::start(command, "dumpcap")?);
        }
        std::thread::sleep(Duration::from_millis(700));
    }

    let upf = start_upf(args, &net, &files, &out)?;
    let mut smf = start_smf(args.sessions, &net, &files, &out)?;

    println!("RAN: a gNodeB with a TUN device for each UE");
    let (sessions_path, ran_path) = (text(&files.sessions), text(&files.ran));
    let mut ran = Part::start(
        "RAN",
        &net.ran,
        &["ran", "--gnb", "10.3.0.2", "--records", &sessions_path, "--report", &ran_path, "--until-input-ends"],
        &out,
        false,
    )?;
    ran.wait_for("ready", START)?;

    let http = Part::http_server(&net.dn, "10.6.0.2:80", &out)?;
    let iperf = iperf_server(&net.dn, "5201")?;
    let records = read_records(&files.sessions)?;

    println!("Users: unmodified programs\n");
    let mut checks = Checks::default();
    let mut outcomes = Vec::new();
    users(args, &net, &records, &mut smf, &mut outcomes)?;
    std::thread::sleep(SETTLE);

    drop(iperf);
    http.stop(STOP)?;
    ran.stop(STOP)?;
    smf.stop(STOP)?;
    let links = kernel_counts(&net)?;
    upf.stop(STOP)?;
    captures.into_iter().for_each(Background::interrupt);

    println!("\nWhat the programs say");
    for (what, result) in outcomes {
        match result {
            Ok(seen) => checks.check(true, &what, &seen),
            Err(why) => checks.check(false, &what, &why),
        }
    }
    println!("\nWhat was counted");
    let report: Report = read_json(&files.upf)?;
    upf_is_sound(&mut checks, &report);
    let ahead = report.targets.contains_key("xdp");
    if ahead {
        let slow_path: u64 = report.targets.values().map(|t| t.slow_path).sum();
        let by_engine = report.ports.values().filter(|p| p.driver == "af_xdp").map(|p| p.received.packets - p.received_ahead.packets);
        checks.equal("packets that XDP passed to the slow path", ("frames", slow_path), ("frames out of AF_XDP", by_engine.sum()));
    }
    let mut lost = BTreeMap::new();
    for (now, before) in links.iter().zip(&at_start) {
        let (received, sent) = (less(now.received, before.received), less(now.sent, before.sent));
        let received = less(received, tried(&out, now.port));
        let port = report.ports.get(now.port).cloned().unwrap_or_default();
        lost.insert(now.port, link_agrees(&mut checks, now.port, &port, ahead, received, sent));
    }
    // What the UPF has charged, and the gNodeB has not seen.
    let to_gnb = lost.get("n3").copied().unwrap_or_default();
    sessions_agree(&mut checks, &by_session(&report, &files)?, to_gnb.bytes.saturating_sub(to_gnb.packets * TUNNEL_HEADERS));
    println!("\n{:.0} s in all; reports are in {}", begin.elapsed().as_secs_f64(), out.display());
    checks.finish()
}

/// The SMF, when it has set up its sessions.
pub(super) fn start_smf(sessions: u16, net: &Networks, files: &Files, logs: &Path) -> Result<Part, Failure> {
    println!("SMF: association and {sessions} sessions over PFCP");
    let (count, records, report) = (sessions.to_string(), files.sessions.display().to_string(), files.smf.display().to_string());
    let addresses = ["--upf", "127.0.0.1:8805", "--local", "127.0.0.2:8805", "--n4u", "127.0.0.2:2152", "--gnb", "10.3.0.2"];
    let what = ["--shape", "open5gs", "--sessions", &count, "--records", &records, "--report", &report, "--until-input-ends"];
    let mut smf = Part::start("SMF", &net.upf, &[&["smf"][..], &addresses, &what].concat(), logs, false)?;
    smf.wait_for("ready", START)?;
    Ok(smf)
}

/// The UPF, ready, with the fast target that was requested or is available.
pub(super) fn start_upf(args: &Args, net: &Networks, files: &Files, logs: &Path) -> Result<Part, Failure> {
    let start = |fast: &str, what: &str| {
        write(&files.config, &config(fast, args.share, args.workers))?;
        println!("UPF: N3 and N6 on real interfaces, N4 on UDP 8805, {:.0} % of the sessions {what}", args.share * 100.0);
        let (config, report) = (files.config.display().to_string(), files.upf.display().to_string());
        let line = ["run", "--config", &config, "--report", &report, "--live", "--until-input-ends"];
        let mut upf = Part::start("UPF", &net.upf, &line, logs, true)?;
        upf.wait_for("ready", START)?;
        Ok(upf)
    };
    if args.fast != Fast::Asic {
        net.take_redirected(true)?;
        let started =
            start("xdp", "in the kernel's XDP hook, the others on x86 behind it").and_then(|upf| match upf.logged(SENDS_NOTHING) {
                Some(line) if args.fast == Fast::Auto => Err(Failure::Failed(line)),
                _ => Ok(upf),
            });
        match started {
            Err(why) if args.fast == Fast::Auto => println!("     {why}: the switch model instead"),
            result => return result,
        }
        net.take_redirected(false)?;
    }
    start("asic", "on the switch model")
}

type Outcomes = Vec<(String, Result<String, String>)>;

/// What UEs do: one after the other, so that each has the machine to itself; pings of all UEs together.
fn users(args: &Args, net: &Networks, records: &[traffic::SessionRecord], smf: &mut Part, outcomes: &mut Outcomes) -> Result<(), Failure> {
    let ue = |i: usize| records[i % records.len()].ue_ipv4.map(|a| a.to_string()).unwrap_or_default();
    let ue6 = |i: usize| records[i % records.len()].ue_ipv6_address().map(|a| a.to_string()).unwrap_or_default();
    let mut note = |what: String, result: Result<String, Failure>| outcomes.push((what, result.map_err(|f| f.to_string())));

    let all: Vec<(String, &str)> = (0..records.len()).map(|i| (ue(i), "10.6.0.2")).collect();
    note(format!("ping over IPv4 from {} UEs", all.len()), ping_all(net, &all));
    let some: Vec<(String, &str)> = (0..records.len()).map(|i| (ue6(i), "2001:db8:6::2")).collect();
    note(format!("ping over IPv6 from {} UEs", some.len()), ping_all(net, &some));

    for i in 0..2 {
        let bytes = u64::from(args.download_mb) * 1_000_000;
        note(format!("HTTP download of {} MB by {}, checksum compared", args.download_mb, ue(i)), download(net, &ue(i), bytes));
    }
    let iperf = |more: &[&str], ue: &str| {
        // A connection that stalls is waited for by TCP, but not for ever by us.
        let mut line = vec![IPERF_S, "iperf3", "-c", "10.6.0.2", "-B", ue, "-t", "2", "-J", "--connect-timeout", "3000"];
        if args.capture {
            // At full speed captures would have gaps, and gigabytes.
            line.extend(["-b", "200M"]);
        }
        line.extend(more);
        self::iperf(|| net.ran.run("timeout", &line), || std::thread::sleep(SETTLE))
    };
    note(format!("iperf3 TCP uplink by {}", ue(2)), iperf(&[], &ue(2)));
    note(format!("iperf3 TCP downlink by {}", ue(3)), iperf(&["-R"], &ue(3)));
    note(format!("iperf3 UDP uplink by {}", ue(4)), iperf(&["-u", "-b", "40M", "-l", "1300"], &ue(4)));
    note(format!("iperf3 UDP downlink by {}", ue(5)), iperf(&["-R", "-u", "-b", "40M", "-l", "1300"], &ue(5)));

    // Idle mode: the UE is released, a ping from the data network is buffered and reported, the SMF pages, it goes on.
    smf.tell("idle 7")?;
    smf.wait_for("idle", START)?;
    let paged = net.dn.run("ping", &["-c", "3", "-i", "0.3", "-W", "3", &ue(7)]).map(|text| last_line(&text));
    note(format!("ping to idle UE {}: buffered, reported, paged, delivered", ue(7)), paged);
    Ok(())
}

/// Three pings from each source, many at a time; all answers must come.
pub(super) fn ping_all(net: &Networks, pairs: &[(String, &str)]) -> Result<String, Failure> {
    let mut answered = 0;
    for group in pairs.chunks(25) {
        let running: Vec<_> = group
            .iter()
            .map(|(from, to)| {
                let command = net.ran.command("ping", &["-c", "3", "-i", "0.2", "-W", "3", "-q", "-I", from, to]);
                Background::start_with_output(command, "ping")
            })
            .collect::<Result<_, _>>()?;
        answered += running.into_iter().map(Background::output).filter(|text| text.contains(" 0% packet loss")).count();
    }
    if answered == pairs.len() {
        Ok("3 of 3 answered each".into())
    } else {
        Err(Failure::Failed(format!("only {answered} of {} got all their answers", pairs.len())))
    }
}

pub(super) fn download(net: &Networks, ue: &str, bytes: u64) -> Result<String, Failure> {
    download_mbps(net, ue, bytes, None).map(|mbps| format!("{mbps:.0} Mbit/s"))
}

/// Loads bytes, at so many a second at most, compares their checksum, and gives the goodput in Mbit/s.
pub(super) fn download_mbps(net: &Networks, ue: &str, bytes: u64, pace: Option<u64>) -> Result<f64, Failure> {
    let begin = Instant::now();
    let pace = pace.map(|pace| format!("--limit-rate {pace}")).unwrap_or_default();
    let url = format!("http://10.6.0.2/data?bytes={bytes}&seed={SEED}");
    let line = format!("set -o pipefail; curl -sS --fail --max-time 60 {pace} --interface {ue} '{url}' | sha256sum");
    let sum = net.ran.run("bash", &["-c", &line])?;
    let sum = sum.split_whitespace().next().unwrap_or_default().to_owned();
    let expected = traffic::dn::sha256_hex(bytes, SEED);
    if sum != expected {
        return Err(Failure::Failed(format!("checksum {sum} instead of {expected}")));
    }
    Ok(bytes as f64 * 8.0 / begin.elapsed().as_secs_f64() / 1e6)
}

/// iperf3's server in the data network, once it listens: a client that comes before is refused.
pub(super) fn iperf_server(dn: &Namespace, port: &str) -> Result<Background, Failure> {
    let server = Background::start(dn.command("iperf3", &["-s", "-B", "10.6.0.2", "-p", port]), "iperf3")?;
    let end = Instant::now() + START;
    while dn.run("ss", &["--listening", "--tcp", "--numeric", "--no-header", "sport", "=", port])?.trim().is_empty() {
        if Instant::now() >= end {
            return Err(Failure::Failed(format!("iperf3 does not listen at port {port}")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(server)
}

/// Runs iperf3, and again while its server has not noticed that the test before has ended. With `-J` it says so in its output, and may call that a success.
pub(super) fn iperf(run: impl Fn() -> Result<String, Failure>, pause: impl Fn()) -> Result<String, Failure> {
    until_free(run, pause, iperf_summary)
}

/// The same, and gives what came in Mbit/s.
pub(super) fn iperf_mbps(run: impl Fn() -> Result<String, Failure>, pause: impl Fn()) -> Result<f64, Failure> {
    until_free(run, pause, |json| iperf_rate(json).map(|(rate, _)| rate))
}

fn until_free<T>(
    run: impl Fn() -> Result<String, Failure>,
    pause: impl Fn(),
    read: impl Fn(&str) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (mut busy, mut broken_off) = (0, 0);
    loop {
        let result = run().and_then(|json| read(&json));
        let why = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let (tries, most) = match () {
            () if why.contains("server is busy") => (&mut busy, BUSY_TRIES),
            () if why.contains("control message") => (&mut broken_off, BROKEN_OFF),
            () => return result,
        };
        if *tries == most {
            return result;
        }
        *tries += 1;
        pause();
    }
}

fn iperf_summary(json: &str) -> Result<String, Failure> {
    let (rate, end) = iperf_rate(json)?;
    let lost = end["sum"]["lost_packets"].as_u64().map(|n| format!(", {n} datagrams lost")).unwrap_or_default();
    Ok(format!("{rate:.0} Mbit/s{lost}"))
}

/// What came, in Mbit/s, of a test's JSON; and its end.
fn iperf_rate(json: &str) -> Result<(f64, serde_json::Value), Failure> {
    let mut value: serde_json::Value = serde_json::from_str(json).map_err(|e| Failure::Failed(format!("iperf3 printed no JSON: {e}")))?;
    if let Some(error) = value["error"].as_str() {
        return Err(Failure::Failed(error.to_owned()));
    }
    let end = value["end"].take();
    let received = if end["sum_received"].is_object() { &end["sum_received"] } else { &end["sum"] };
    let rate = received["bits_per_second"].as_f64().unwrap_or(0.0) / 1e6;
    if rate <= 0.0 {
        return Err(Failure::Failed("nothing arrived".into()));
    }
    Ok((rate, end))
}

fn last_line(text: &str) -> String {
    let mut lines = text.trim().lines().rev();
    let last = lines.next().unwrap_or_default();
    lines.next().unwrap_or(last).to_owned()
}

/// What the kernel at the far end of a link has counted.
struct FarEnd {
    port: &'static str,
    received: Count,
    sent: Count,
}

fn kernel_counts(net: &Networks) -> Result<Vec<FarEnd>, Failure> {
    let ends = [(&net.ran, "n3"), (&net.dn, "n6")];
    let count = |(ns, port): (&Namespace, &'static str)| {
        let read =
            |packets: &str, bytes: &str| Ok::<_, Failure>(Count { packets: ns.counter(port, packets)?, bytes: ns.counter(port, bytes)? });
        Ok(FarEnd { port, received: read("rx_packets", "rx_bytes")?, sent: read("tx_packets", "tx_bytes")? })
    };
    ends.into_iter().map(count).collect()
}

/// Frames with which the UPF has found out that this far end takes redirected ones, where the kernel does not tell: of no port's count.
fn tried(out: &Path, port: &str) -> Count {
    let log = std::fs::read_to_string(out.join("upf.log")).unwrap_or_default();
    let of_port = format!("port=\"{port}\"");
    let packets = log.lines().filter(|line| line.contains(FAR_END_TOOK) && line.contains(&of_port)).count() as u64;
    Count { packets, bytes: packets * target_xdp::probe::FRAME_LEN as u64 }
}

fn less(now: Count, before: Count) -> Count {
    Count { packets: now.packets - before.packets, bytes: now.bytes - before.bytes }
}

/// Checks that the UPF's port and the kernel at the far end of its veth pair have counted the same frames, and gives those that the UPF sent and
/// the far end's full ring did not take: the UPF must have counted as many.
fn link_agrees(checks: &mut Checks, name: &str, port: &PortReport, ahead: bool, mut received: Count, mut sent: Count) -> Count {
    // A veth device counts what it sent when the far end has received it; where that is by native XDP, without the
    // Ethernet header.
    if port.driver == "af_xdp" {
        sent.bytes += sent.packets * ETHERNET_HEADER;
    }
    // And so it counts what it receives where it takes redirected frames too; those with the header.
    if ahead {
        received.bytes += (port.transmitted.packets - port.transmitted_ahead.packets) * ETHERNET_HEADER;
    }
    let (out, into) = (format!("{name}, frames out"), format!("{name}, frames in"));
    let lost = Count { packets: port.lost_after_us, bytes: port.transmitted.bytes.saturating_sub(received.bytes) };
    let refused = if lost.packets == 0 { String::new() } else { format!(" ({} more were refused by a full ring)", lost.packets) };
    checks.equal(&out, ("UPF sent", port.transmitted.packets - lost.packets), (&format!("far kernel received{refused}"), received.packets));
    match lost.packets {
        0 => checks.equal(&format!("{out}, bytes"), ("UPF sent", port.transmitted.bytes), ("far kernel received", received.bytes)),
        // Their lengths are in no counter.
        n => {
            let plausible = (n * FRAME_LENGTHS.start()..=n * FRAME_LENGTHS.end()).contains(&lost.bytes);
            let seen = format!("UPF sent {}, far kernel received {}: {} less", port.transmitted.bytes, received.bytes, lost.bytes);
            checks.check(plausible, &format!("{out}, bytes"), &seen);
        }
    }
    checks.equal(&into, ("far kernel sent", sent.packets), ("UPF received", port.received.packets));
    checks.equal(&format!("{into}, bytes"), ("far kernel sent", sent.bytes), ("UPF received", port.received.bytes));
    checks.equal(&format!("{name}, frames lost in full rings"), ("lost", port.lost_before_us), ("none", 0));
    lost
}

/// What each party counted, by UE.
fn by_session(report: &Report, files: &Files) -> Result<Vec<SessionBytes>, Failure> {
    let ran: traffic::ran::Report = read_json(&files.ran)?;
    let smf: traffic::smf::Report = read_json(&files.smf)?;
    let upf: HashMap<_, _> = report.sessions.iter().map(|s| (s.ue_ipv4, s)).collect();
    let smf: HashMap<_, _> = smf.sessions.iter().map(|s| (s.ue_ipv4, s)).collect();
    Ok(ran
        .ues
        .iter()
        .map(|ue| {
            let counted = upf.get(&ue.ue_ipv4).map_or((0, 0), |s| (s.uplink.bytes, s.downlink.bytes));
            let charged = smf.get(&ue.ue_ipv4).map_or((0, 0), |s| (s.uplink_bytes, s.downlink_bytes));
            SessionBytes {
                ue: ue.ue_ipv4,
                parties: vec![
                    ("kernel", ue.kernel_tx.unwrap_or_default().bytes, ue.kernel_rx.unwrap_or_default().bytes),
                    ("gNodeB", ue.uplink.bytes, ue.downlink.bytes),
                    ("UPF", counted.0, counted.1),
                    ("PFCP usage reports", charged.0, charged.1),
                ],
            }
        })
        .collect())
}

pub(super) fn read_records(path: &Path) -> Result<Vec<traffic::SessionRecord>, Failure> {
    let file = std::fs::File::open(path).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
    traffic::record::read(std::io::BufReader::new(file)).map_err(|e| Failure::Failed(e.to_string()))
}

pub(super) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
    serde_json::from_str(&text).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))
}

/// The example of a split, with the demo's fast target, share and workers.
fn config(fast: &str, share: f64, workers: u8) -> String {
    include_str!("../../../../../docs/split.example.toml")
        .replace("fast = \"asic\"", &format!("fast = \"{fast}\""))
        .replace("share = 0.5", &format!("share = {share:?}"))
        .replace("[engine]", &format!("[workers]\ncount = {workers}\n\n[engine]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_server_that_says_in_its_output_that_it_is_busy_is_asked_again() {
        let busy = r#"{"error": "the server is busy running a test. try again later"}"#;
        let done = r#"{"end": {"sum_received": {"bits_per_second": 9e6}}}"#;
        let asked = Cell::new(0);
        let run = |busy_for: usize| {
            asked.set(asked.get() + 1);
            Ok(if asked.get() <= busy_for { busy } else { done }.to_owned())
        };
        assert_eq!((iperf(|| run(3), || ()).unwrap(), asked.take()), ("9 Mbit/s".to_owned(), 4));
        // Not for ever; and what failed otherwise is not tried again.
        assert!(iperf(|| run(usize::MAX), || ()).unwrap_err().to_string().contains("busy"));
        assert_eq!(asked.take(), BUSY_TRIES + 1);
        let refused = || {
            asked.set(asked.get() + 1);
            Err(Failure::Failed("unable to connect".into()))
        };
        assert!(iperf(refused, || ()).is_err() && asked.get() == 1);
        // One that breaks tests off is asked again, too, but not for long.
        let tries = Cell::new(0);
        let broken = || {
            tries.set(tries.get() + 1);
            Err(Failure::Failed("unable to receive control message: Connection reset by peer".into()))
        };
        assert!(iperf(broken, || ()).unwrap_err().to_string().contains("reset by peer"));
        assert_eq!(tries.get(), BROKEN_OFF + 1);
    }
}
