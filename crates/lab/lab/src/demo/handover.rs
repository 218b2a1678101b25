//! Handovers of the demo: UEs go to a second gNodeB and back while they load a file, ping and count datagrams.
//!
//! `splitplane bearers handover` plays the control planes of both gNodeBs, the SMF switches the path, and the UPF ends the old one with an End Marker. What a gNodeB has
//! that is not acknowledged goes to the other by GTP-U.

use super::Args;
use super::checks::Checks;
use super::gnb::{Outcomes, UES, gnb_ue, start, start_radio, ue_ue};
use super::namespaces::{IPERF_S, SETTLE, START, STOP, download_mbps, iperf_server, read_json, write};
use super::netns::Networks;
use super::process::Part;
use cli::failure::Failure;
use gnodeb::counts::{Count, Report, UeReport, add_count};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use traffic::SessionRecord;

/// The second gNodeB's addresses, and the link's for it.
const N3: &str = "10.3.0.3";
const RADIO: &str = "127.0.0.7:4001";
const LINK_FOR_UES: &str = "127.0.0.5:4001";
const LINK_FOR_GNB: &str = "127.0.0.6:4001";
/// Its TEIDs begin here.
const TEIDS: u32 = 1000;
/// Seconds of all that users do: both ways take two or three, on a busy machine more. The file is loaded at that pace.
const SECONDS: u64 = 8;
const FILE_BYTES: u64 = 16_000_000;
/// What users do has begun.
const BEGUN: Duration = Duration::from_millis(400);

/// The control socket of a gNodeB.
pub(super) fn socket(out: &Path, cell: usize) -> String {
    out.join(format!("gnb{cell}.sock")).display().to_string()
}

/// The control socket of the UEs.
pub(super) fn ue_socket(out: &Path) -> String {
    out.join("ue.sock").display().to_string()
}

/// What is needed to move UEs.
struct Handovers<'a> {
    net: &'a Networks,
    records: &'a [SessionRecord],
    out: &'a Path,
}

/// Has UEs go there and back; what their programs say.
pub(super) fn run(args: &Args, net: &Networks, records: &[SessionRecord], smf: &mut Part, out: &Path) -> Result<Outcomes, Failure> {
    net.ran.ip(&["address", "replace", &format!("{N3}/24"), "dev", "n3"])?;
    let file = |name: &str| out.join(name).display().to_string();
    let radio = start_radio(net, [LINK_FOR_UES, UES, LINK_FOR_GNB, RADIO], args.radio_loss, &file("radio2.json"), out)?;
    let config = format!(
        "role = \"both\"\ndatapath = \"entities\"\nn3 = \"{N3}\"\ncontrol = \"{}\"\n[radio]\naddress = \"{RADIO}\"\nrate_mbps = {}\n",
        socket(out, 1),
        args.radio_mbps
    );
    write(&out.join("gnb2.toml"), &config)?;
    let gnb = start("gNodeB 2", net, "gnb", &["--config", &file("gnb2.toml")], &file("gnb2.json"), out)?;
    let iperf = iperf_server(&net.dn, "5202")?;
    let handovers = Handovers { net, records, out };
    let outcomes = handovers.there_and_back(smf)?;
    drop(iperf);
    gnb.stop(STOP)?;
    radio.stop(STOP)?;
    Ok(outcomes)
}

impl Handovers<'_> {
    fn ue(&self, n: usize) -> String {
        self.records[n % self.records.len()].ue_ipv4.map(|a| a.to_string()).unwrap_or_default()
    }

    fn there_and_back(&self, smf: &mut Part) -> Result<Outcomes, Failure> {
        // One loads and pings, one receives and one sends datagrams; the one that tshark deciphers stays.
        let moved: Vec<usize> = [0, 1, 3].into_iter().filter(|n| *n < self.records.len()).collect();
        let last = moved[moved.len() - 1];
        std::thread::scope(|scope| {
            let loads = scope.spawn(|| self.load(&self.ue(0)));
            let pings = scope.spawn(|| self.pings(&self.ue(0)));
            let receives = scope.spawn(|| self.datagrams(&self.ue(1), &["-R"]));
            let sends = scope.spawn(|| self.datagrams(&self.ue(last), &["-p", "5202"]));
            std::thread::sleep(BEGUN);
            let mut at_work = Vec::new();
            for (generation, source) in [(1, 0), (2, 1)] {
                for n in &moved {
                    self.hand_over(*n, source, generation, smf)?;
                }
                at_work.push([loads.is_finished(), receives.is_finished(), sends.is_finished()] == [false; 3]);
                // All has been forwarded.
                std::thread::sleep(SETTLE);
                let numbers: Vec<String> = moved.iter().map(|n| (n + 1).to_string()).collect();
                let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
                bearers(&[&["--control", &socket(self.out, source), "release"][..], &numbers].concat())?;
            }
            let who: Vec<String> = moved.iter().map(|n| self.ue(*n)).collect();
            let outcome = |of: std::thread::ScopedJoinHandle<'_, Result<String, Failure>>| {
                of.join().unwrap_or_else(|_| Err(Failure::Failed("its thread has panicked".into())))
            };
            let seen = match at_work[..] {
                [true, true] => Ok("all were at work".into()),
                // A busy machine.
                [true, ..] => Ok("all were at work on the way there, and some on the way back".into()),
                _ => Err(Failure::Failed("a program had ended before".into())),
            };
            Ok(vec![
                (format!("handover of {} to gNodeB 2 and back", who.join(", ")), seen),
                (format!("meanwhile, HTTP download of {} MB by {}, checksum compared", FILE_BYTES / 1_000_000, who[0]), outcome(loads)),
                (format!("meanwhile, ping from {}", who[0]), outcome(pings)),
                (format!("meanwhile, numbered datagrams to {}", self.ue(1)), outcome(receives)),
                (format!("meanwhile, numbered datagrams of {}", self.ue(last)), outcome(sends)),
            ])
        })
    }

    /// Has UE `n` go from cell `source` to the other. Each time it gets other keys.
    fn hand_over(&self, n: usize, source: usize, generation: usize, smf: &mut Part) -> Result<(), Failure> {
        let (target, record) = (1 - source, &self.records[n]);
        let (radio, teid, link) = match target {
            0 => (super::gnb::LINK_FOR_GNB, record.downlink.teid, super::gnb::LINK_FOR_UES),
            _ => (LINK_FOR_GNB, TEIDS + record.downlink.teid, LINK_FOR_UES),
        };
        let path = |name: &str| self.out.join(name);
        write(&path("handover-gnb.toml"), &gnb_ue(n, generation, record, Some(radio), Some(teid), false))?;
        write(&path("handover-ue.toml"), &ue_ue(n, generation, record, link))?;
        let (gnb_file, ue_file) = (path("handover-gnb.toml").display().to_string(), path("handover-ue.toml").display().to_string());
        let (from, to, ues) = (socket(self.out, source), socket(self.out, target), ue_socket(self.out));
        bearers(&["--control", &from, "handover", &gnb_file, "--to", &to, "--ues", &ues, "--ue-file", &ue_file])?;
        let address = if target == 0 { "10.3.0.2" } else { N3 };
        smf.tell(&format!("switch {n} {address} {teid}"))?;
        smf.wait_for("switched", START).map(drop)
    }

    fn load(&self, ue: &str) -> Result<String, Failure> {
        let pace = FILE_BYTES / SECONDS;
        download_mbps(self.net, ue, FILE_BYTES, Some(pace)).map(|mbps| format!("{mbps:.0} Mbit/s, as asked for"))
    }

    /// All answers must come, once.
    fn pings(&self, ue: &str) -> Result<String, Failure> {
        let pings = (SECONDS * 20).to_string();
        let text = self.net.ran.run("ping", &["-c", &pings, "-i", "0.05", "-W", "3", "-q", "-I", ue, "10.6.0.2"])?;
        if text.contains(" 0% packet loss") && !text.contains("duplicates") {
            return Ok(format!("{pings} of {pings} answered, once each"));
        }
        Err(Failure::Failed(text.lines().find(|line| line.contains("transmitted")).unwrap_or(&text).to_owned()))
    }

    /// Datagrams with numbers: none may be lost, doubled or overtaken.
    fn datagrams(&self, ue: &str, more: &[&str]) -> Result<String, Failure> {
        let seconds = SECONDS.to_string();
        let line =
            [&[IPERF_S, "iperf3", "-c", "10.6.0.2", "-B", ue, "-u", "-b", "4M", "-l", "1000", "-t", &seconds, "-J"][..], more].concat();
        let json = self.net.ran.run("timeout", &line)?;
        let value: serde_json::Value = serde_json::from_str(&json).map_err(|e| Failure::Failed(format!("iperf3 printed no JSON: {e}")))?;
        if let Some(error) = value["error"].as_str() {
            return Err(Failure::Failed(error.to_owned()));
        }
        let udp = &value["end"]["streams"][0]["udp"];
        let [packets, lost, disordered] = ["packets", "lost_packets", "out_of_order"].map(|name| udp[name].as_i64());
        match (packets, lost, disordered) {
            (Some(packets), Some(0), Some(0)) if packets > 0 => Ok(format!("{packets}: none lost, doubled or overtaken")),
            _ => Err(Failure::Failed(format!("of {packets:?} {lost:?} lost, {disordered:?} doubled or overtaken"))),
        }
    }
}

/// `splitplane bearers`.
fn bearers(args: &[&str]) -> Result<(), Failure> {
    let output = Command::new(crate::programs::splitplane()?).arg("bearers").args(args).output();
    let output = output.map_err(|e| Failure::Failed(format!("cannot run `splitplane bearers`: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::Failed(format!("splitplane bearers {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim())))
}

/// Adds what the second gNodeB has counted to what the first has, and checks that what one has forwarded the other got.
pub(super) fn both(checks: &mut Checks, first: &mut Report, out: &Path) -> Result<Report, Failure> {
    let second: Report = read_json(&out.join("gnb2.json"))?;
    let sum = |of: &Report, count: fn(&UeReport) -> Count| {
        let mut sum = Count::default();
        of.ues.iter().for_each(|ue| add_count(&mut sum, count(ue)));
        sum
    };
    for (name, source, target) in [("to gNodeB 2", &*first, &second), ("and back", &second, &*first)] {
        let (sent, received) = (sum(source, |ue| ue.forwarded_sent), sum(target, |ue| ue.forwarded_received));
        let what = format!("forwarded {name}");
        checks.equal(&what, ("sent", sent.packets), ("received", received.packets));
        checks.check(sent.packets > 0, &format!("{what}: there was something"), &format!("{} SDUs, {} B", sent.packets, sent.bytes));
    }
    for ue in &second.ues {
        if let Some(sum) = first.ues.iter_mut().find(|of| of.ue == ue.ue) {
            sum.absorb(ue);
        }
    }
    Ok(second)
}
