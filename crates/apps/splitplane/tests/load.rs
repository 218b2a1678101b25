//! Does `splitplane load` measure a running UPF? In namespaces of our own, as root; what it cannot do it says without root.

#[path = "netns/part.rs"]
mod part;

use part::{Namespaces, Part, run};
use serde_json::Value;
use std::process::Command;

const CONFIG: &str = r#"
[n4]
listen = "127.0.0.7:8805"
[[port]]
name = "n3"
driver = "af_packet"
interface = "n3"
role = "access"
network_instance = "access"
addresses = ["10.3.0.1/24"]
gtpu = ["10.3.0.1"]
[[port]]
name = "n6"
driver = "af_packet"
interface = "n6"
role = "core"
network_instance = "internet"
addresses = ["10.6.0.1/24"]
"#;
/// Veths have no rate of their own: slow enough for a busy machine.
const RATE: &str = "3000";

fn load(ns: &str, args: &[&str]) -> (bool, String) {
    let out = Command::new("ip").args(["netns", "exec", ns, env!("CARGO_BIN_EXE_splitplane"), "load"]).args(args).output().unwrap();
    (out.status.success(), String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr))
}

/// A running UPF with 20 sessions, and a namespace that is on both of its sides.
struct Bed {
    tester: String,
    folder: tempfile::TempDir,
    daemon: Part,
    smf: Part,
    _namespaces: Namespaces,
}

impl Bed {
    fn new(name: &str, config: &str) -> Bed {
        let [upf, tester] = ["upf", "load"].map(|part| format!("spl-{name}-{part}-{}", std::process::id()));
        let namespaces = Namespaces(vec![upf.clone(), tester.clone()]);
        for ns in [&upf, &tester] {
            run("ip", &["netns", "add", ns]);
            run("ip", &["-n", ns, "link", "set", "lo", "up"]);
        }
        for link in ["n3", "n6"] {
            let peer = ["peer", "name", link, "mtu", "1600", "netns", &tester];
            run("ip", &[&["link", "add", link, "netns", &upf, "mtu", "1600", "type", "veth"][..], &peer].concat());
            for ns in [&upf, &tester] {
                // No packets of the kernel's own.
                run("ip", &["netns", "exec", ns, "sysctl", "-q", "-w", &format!("net.ipv6.conf.{link}.disable_ipv6=1")]);
                run("ip", &["-n", ns, "link", "set", link, "up"]);
            }
            // What XDP redirects to a veth arrives only so.
            run("ip", &["netns", "exec", &tester, env!("CARGO_BIN_EXE_splitplane"), "offloads-off", link, "--gro"]);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (file, records) = (path("upf.toml"), path("records"));
        std::fs::write(&file, config).unwrap();
        let daemon = Part::splitplane(&upf, &["run", "--config", &file, "--report", &path("upf.json")]);
        let peers = ["smf", "--upf", "127.0.0.7:8805", "--local", "127.0.0.4:8805", "--gnb", "10.3.0.2"];
        let smf = Part::splitplane(&upf, &[&peers[..], &["--sessions", "20", "--records", &records]].concat());
        Bed { tester, folder, daemon, smf, _namespaces: namespaces }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Ends it; its report.
    fn stop(self) -> Value {
        self.smf.stop();
        self.daemon.stop();
        serde_json::from_str(&std::fs::read_to_string(self.folder.path().join("upf.json")).unwrap()).unwrap()
    }
}

/// Both sides of it.
const ENDS: [&str; 10] =
    ["--access", "af_packet:n3", "--core", "af_packet:n6", "--dn", "10.6.0.2", "--core-gateway", "10.6.0.1", "--drain-ms", "5000"];

#[test]
fn a_running_upf_is_measured_by_its_sessions_records_and_by_counted_teids() {
    if !testkit::root_or_skip("a_running_upf_is_measured_by_its_sessions_records_and_by_counted_teids") {
        return;
    }
    let bed = Bed::new("all", CONFIG);
    let (tester, records, figures) = (bed.tester.clone(), bed.path("records"), bed.path("load.json"));
    let common = ENDS;
    let args =
        [&["run", "--rate", RATE, "--seconds", "1", "--mirror", "10", "--records", &records, "--json", &figures][..], &common].concat();
    let (ok, said) = load(&tester, &args);
    assert!(ok, "{said}");
    let figures: Value = serde_json::from_str(&std::fs::read_to_string(&figures).unwrap()).unwrap();
    assert!(figures["machine"]["cpu"].is_string() && figures["sessions"] == 20, "{figures}");
    let flows = figures["trial"]["flows"].as_array().unwrap();
    let of = |flow: usize, key: &str| flows[flow][key].as_u64().unwrap_or_else(|| panic!("{key}: {figures}"));
    assert_eq!((of(0, "sent"), of(1, "sent")), (1000, 2000), "one up for two down: {said}");
    for (flow, name) in [(0, "up"), (1, "down")] {
        assert_eq!(flows[flow]["direction"], name);
        assert_eq!((of(flow, "lost"), of(flow, "misdelivered"), of(flow, "duplicates")), (0, 0, 0), "{said}");
        let replies = &flows[flow]["replies"];
        assert_eq!(replies["sent"].as_u64(), Some(of(flow, "sent") / 10), "{said}");
        assert_eq!(replies["received"], replies["sent"], "{said}");
        let [one_way, rtt] = [&flows[flow]["latency"]["p50_us"], &replies["rtt"]["p50_us"]].map(|us| us.as_f64().unwrap());
        // Of other packets: on a busy machine their medians stand in no order.
        assert!(one_way > 0.0 && rtt > 0.0, "{said}");
    }
    assert!(said.contains("20 sessions, 1.0 s, frames of imix bytes") && said.contains("RTT"), "{said}");

    // The search, with the first session's TEIDs by hand.
    let record: Value = serde_json::from_str(std::fs::read_to_string(&records).unwrap().lines().next().unwrap()).unwrap();
    let [teid, gnb_teid] = ["uplink", "downlink"].map(|end| record[end]["teid"].to_string());
    let by_hand =
        ["--gnb", "10.3.0.2", "--upf", "10.3.0.1", "--ue", record["ue_ipv4"].as_str().unwrap(), "--teid", &teid, "--gnb-teid", &gnb_teid];
    let search = ["rfc2544", "--sizes", "64,1518", "--trial-seconds", "0.2", "--max-rate", RATE, "--loss", "5", "--loads", "50"];
    let (ok, said) = load(&tester, &[&search[..], &by_hand, &common].concat());
    assert!(ok, "{said}");
    assert!(said.contains("frames of 64 bytes: 0.00") && said.contains("frames of 1518 bytes: 0.00"), "{said}");
    assert!(said.contains("at  50 %  up   latency  p50"), "{said}");

    // A TEID that the UPF does not know: it says so.
    let stranger = ["--gnb", "10.3.0.2", "--upf", "10.3.0.1", "--ue", "10.45.0.2", "--teid", "1", "--ratio", "1:0"];
    let (ok, said) = load(&tester, &[&["run", "--rate", RATE][..], &stranger, &common].concat());
    assert!(!ok && said.contains("no packet came through up") && said.contains("does not know the TEIDs"), "{said}");

    assert_eq!(bed.stop()["imbalance"], 0);
}

/// Of each SMF's shape, one kind after the other and mixed; what is not asked to be kept is gone afterwards.
#[test]
fn n4_of_a_running_upf_is_loaded_and_nothing_is_left_there() {
    if !testkit::root_or_skip("n4_of_a_running_upf_is_loaded_and_nothing_is_left_there") {
        return;
    }
    let bed = Bed::new("n4", CONFIG);
    let (upf, figures) = (bed.tester.replace("-load-", "-upf-"), bed.path("n4.json"));
    let ends = ["n4", "--upf", "127.0.0.7:8805", "--local", "127.0.0.5:8805", "--gnb", "10.3.0.2", "--ue", "10.46.0.2", "--json", &figures];
    let shapes: [&[&str]; 4] = [
        &["--shape", "simple", "--modification", "idle"],
        &["--shape", "open5gs"],
        &["--shape", "free5gc", "--upf-n3", "10.3.0.1", "--teid", "1000000"],
        &["--mix", "establish=1,modify=3,delete=1", "--rate", "500"],
    ];
    for shape in shapes {
        let (ok, said) = load(&upf, &[&ends[..], shape, &["--sessions", "100", "--seconds", "0.5"]].concat());
        assert!(ok, "{shape:?}: {said}");
        let all: Value = serde_json::from_str(&std::fs::read_to_string(&figures).unwrap()).unwrap();
        let phases = all["outcome"]["phases"].as_array().unwrap();
        for requests in phases.iter().flat_map(|phase| phase["requests"].as_array().unwrap()) {
            // What a busy machine answers too late is answered once all the same.
            assert_eq!((&requests["accepted"], &requests["lost"]), (&requests["sent"], &0.into()), "{shape:?}: {requests}");
        }
        assert_eq!(phases.len(), 3, "{shape:?}");
        assert!(phases[1]["requests"].as_array().unwrap().iter().all(|requests| requests["latency"]["p50_us"].as_f64() > Some(0.0)));
    }
    let (ok, said) = load(&upf, &[&ends[..], &["--upf-n3", "10.3.0.9", "--sessions", "10", "--seconds", "0.2"]].concat());
    assert!(!ok && said.contains("10 refused:") && said.contains("no request of kind establish was accepted"), "{said}");
    let report = bed.stop();
    let counted = |what: &str| report["n4"][what].as_u64().unwrap();
    assert_eq!((counted("sessions"), counted("ended"), counted("rejected")), (0, counted("established"), 10));
    assert!(counted("established") >= 420, "with those of the other SMF");
}

#[test]
fn what_cannot_be_measured_is_refused_before_a_packet_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let records = folder.path().join("records");
    std::fs::write(&records, "{}\n").unwrap();
    let records = records.to_str().unwrap();
    let ends = ["--access", "udp:127.0.0.1:0", "--core", "udp:127.0.0.1:0", "--dn", "10.6.0.2", "--core-gateway", "10.6.0.1"];
    let counted = ["--gnb", "10.3.0.2", "--upf", "10.3.0.1"];
    for (args, says) in [
        (&["--access", "eth1"][..], "expected auto:IF"),
        (&["--size", "63"], "from 64 to 9018"),
        (&["--rate", "2G"], "such as 500k"),
        (&["--ratio", "0:0"], "parts up and down"),
        (&["--teid", "0"], "TEID 0"),
        (&["--seconds", "0"], "0 seconds: from 0.001"),
        (&["--ue", "255.255.255.255", "--sessions", "2"], "are not so many"),
        (&["--records", records, "--teid", "5"], "cannot be used with"),
    ] {
        let mut all = vec!["run"];
        all.extend(args);
        all.extend(ends.iter().skip(if args[0] == "--access" { 2 } else { 0 }));
        all.extend(counted);
        let out = Command::new(env!("CARGO_BIN_EXE_splitplane")).arg("load").args(&all).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.code() == Some(2) && said.contains(says), "{args:?}: {said}");
    }
    let all = [&["run", "--records", records][..], &ends].concat();
    let out = Command::new(env!("CARGO_BIN_EXE_splitplane")).arg("load").args(&all).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(2) && said.contains("session record, line 1: missing field"), "{said}");
}

/// No part of the daemon listened to the program's detector.
#[test]
fn the_one_heavy_session_is_found_by_the_programs_detector_and_moved_to_the_fast_target() {
    if !testkit::root_or_skip("the_one_heavy_session_is_found_by_the_programs_detector_and_moved_to_the_fast_target") {
        return;
    }
    for (fast, driver) in [("asic", "af_packet"), ("xdp", "auto")] {
        let split = format!("[split]\nfast = \"{fast}\"\npolicy = \"planned\"\nrates = \"cells\"\nheavy = {{ above_mbps = 1.0 }}\n");
        let bed = Bed::new(fast, &format!("{}{split}", CONFIG.replace("af_packet", driver)));
        let all = std::fs::read_to_string(bed.path("records")).unwrap();
        // 8 Mbit/s of one, and 50 kbit/s of each of the others.
        let (heavy, light): (Vec<_>, Vec<_>) = all.lines().enumerate().partition(|(n, _)| *n == 3);
        let seid = serde_json::from_str::<Value>(heavy[0].1).unwrap()["seid"].as_u64().unwrap();
        let seid = format!("{seid:#x}");
        for (name, records) in [("heavy", &heavy), ("light", &light)] {
            let lines: Vec<&str> = records.iter().map(|(_, line)| *line).collect();
            std::fs::write(bed.path(name), lines.join("\n")).unwrap();
        }
        for (of, rate, seconds) in [("light", "300", "2"), ("heavy", RATE, "4"), ("light", "300", "2")] {
            let records = bed.path(of);
            let args = ["run", "--rate", rate, "--seconds", seconds, "--size", "400", "--records", &records];
            let (ok, said) = load(&bed.tester, &[&args[..], &ENDS].concat());
            assert!(ok, "{fast}: {said}");
        }
        let report = bed.stop();
        let moves = report["offload"]["recent"].as_array().unwrap();
        let came: Vec<&Value> = moves.iter().filter(|of| of["to"] == "fast").collect();
        assert!(!came.is_empty() && came.iter().all(|of| of["seid"] == seid && of["outcome"] == "done"), "{fast}: {moves:?}");
        assert_eq!(report["imbalance"], 0);
        let carried = |way: &str| report["targets"][fast][way]["packets"].as_u64().unwrap_or(0);
        assert!(carried("uplink") > 0 && carried("downlink") > 0, "its packets ran there: {}", report["targets"]);
    }
}
