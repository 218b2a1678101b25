//! TCP in super-frames through the daemon over AF_PACKET, in namespaces of our own: users' connections, and datagrams of UDP segmentation.

#[path = "netns/part.rs"]
mod part;

use part::{Namespaces, Part, run};
use serde_json::Value;

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
addresses = ["10.6.0.1/24", "2001:db8:6::1/64"]
[[route]]
network_instance = "internet"
prefix = "0.0.0.0/0"
via = "10.6.0.2"
[[route]]
network_instance = "internet"
prefix = "::/0"
via = "2001:db8:6::2"
"#;

/// Bytes of each transfer.
const BYTES: &str = "60M";

/// Frames that the kernel has sent by an interface.
fn frames_sent(ns: &str, interface: &str) -> u64 {
    run("ip", &["netns", "exec", ns, "cat", &format!("/sys/class/net/{interface}/statistics/tx_packets")]).trim().parse().unwrap()
}

/// Checksums that the kernel has found wrong, of TCP and of UDP over both IP versions.
fn bad_checksums(ns: &str) -> u64 {
    let text = run("ip", &["netns", "exec", ns, "cat", "/proc/net/snmp", "/proc/net/snmp6"]);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let v4 = lines.windows(2).filter(|pair| pair[0][0] == pair[1][0]).flat_map(|pair| {
        let named = pair[0].iter().zip(&pair[1]).filter(|(name, _)| **name == "InCsumErrors");
        named.map(|(_, value)| value.parse::<u64>().unwrap()).collect::<Vec<_>>()
    });
    let v6 = lines.iter().filter(|words| words[0].ends_with("InCsumErrors")).map(|words| words[1].parse().unwrap());
    v4.chain(v6).sum()
}

#[test]
fn super_frames_go_through_and_every_packet_of_theirs_is_charged() {
    if !testkit::root_or_skip("super_frames_go_through_and_every_packet_of_theirs_is_charged") {
        return;
    }
    let [upf, ran, dn] = ["upf", "ran", "dn"].map(|name| format!("sps-{name}-{}", std::process::id()));
    let _namespaces = Namespaces(vec![upf.clone(), ran.clone(), dn.clone()]);
    for ns in [&upf, &ran, &dn] {
        run("ip", &["netns", "add", ns]);
        run("ip", &["-n", ns, "link", "set", "lo", "up"]);
    }
    run("ip", &["netns", "exec", &upf, "sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6"]);
    for (name, far) in [("n3", &ran), ("n6", &dn)] {
        run("ip", &["link", "add", name, "netns", &upf, "mtu", "1600", "type", "veth", "peer", "name", name, "mtu", "1600", "netns", far]);
        for ns in [&upf, far] {
            run("ip", &["-n", ns, "link", "set", name, "up"]);
        }
    }
    run("ip", &["-n", &ran, "address", "add", "10.3.0.2/24", "dev", "n3"]);
    run("ip", &["-n", &dn, "address", "add", "10.6.0.2/24", "dev", "n6"]);
    run("ip", &["-n", &dn, "address", "add", "2001:db8:6::2/64", "dev", "n6", "nodad"]);
    run("ip", &["-n", &dn, "route", "add", "10.45.0.0/16", "via", "10.6.0.1"]);
    run("ip", &["-n", &dn, "route", "add", "2001:db8:45::/48", "via", "2001:db8:6::1"]);

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (config, records, report, radio) = (path("upf.toml"), path("records"), path("upf.json"), path("ran.json"));
    std::fs::write(&config, CONFIG).unwrap();
    let daemon = Part::splitplane(&upf, &["run", "--config", &config, "--report", &report]);
    // A meter is executed for each packet, and none is over its rate.
    let of_smf = ["smf", "--upf", "127.0.0.7:8805", "--local", "127.0.0.4:8805", "--gnb", "10.3.0.2", "--mbr-kbps", "100000000"];
    let smf = Part::splitplane(&upf, &[&of_smf[..], &["--records", &records]].concat());
    let gnb = Part::splitplane(&ran, &["ran", "--gnb", "10.3.0.2", "--records", &records, "--report", &radio]);

    let before = [("n3", frames_sent(&upf, "n3")), ("n6", frames_sent(&upf, "n6"))];
    let by_ran = |args: &[&str]| run("ip", &[&["netns", "exec", &ran][..], args].concat());
    let of_v6 = by_ran(&["ip", "-6", "-o", "address", "show", "dev", "ue1"]);
    let ue_v6 = of_v6.split_whitespace().find_map(|word| word.strip_suffix("/128")).unwrap().to_owned();
    for (ue, server) in [("10.45.0.2", "10.6.0.2"), (ue_v6.as_str(), "2001:db8:6::2")] {
        for more in [&[][..], &["-R"], &["-u", "-b", "0", "-l", "1200", "--pacing-timer", "1"], &["-P", "4"]] {
            let listening = Part::start(&dn, &["iperf3", "-s", "-1", "--forceflush", "-B", server], "listening");
            let args = [&["iperf3", "-J", "-c", server, "-B", ue, "-n", BYTES][..], more].concat();
            let json: Value = serde_json::from_str(&by_ran(&args)).unwrap();
            let bytes = |sum: &str| json["end"][sum]["bytes"].as_f64().unwrap_or_default();
            assert!(json["error"].is_null() && bytes("sum").max(bytes("sum_sent")) >= 60e6, "{args:?}: {json}");
            listening.stop();
        }
    }
    smf.stop();
    gnb.stop();
    daemon.stop();

    let read = |path: &str| serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (report, radio) = (read(&report), read(&radio));
    assert_eq!(report["imbalance"], 0);
    let number = |value: &Value| value.as_u64().unwrap();
    // The program has seen packets, the kernel some super-frames.
    for (name, before) in before {
        let (packets, frames) = (number(&report["ports"][name]["transmitted"]["packets"]), frames_sent(&upf, name) - before);
        assert!(packets > 2 * frames, "{name}: {packets} packets in {frames} frames");
        assert_eq!(number(&report["ports"][name]["lost_after_us"]), 0);
    }
    assert_eq!([&ran, &dn].map(|ns| bad_checksums(ns)), [0, 0]);
    // What was charged came out at the other end.
    let (session, ue) = (&report["sessions"][0], &radio["ues"][0]);
    assert_eq!(session["downlink"]["bytes"], ue["downlink"]["bytes"], "{report}");
    let lost: u64 = report["dropped"].as_object().unwrap().values().map(|count| number(&count["packets"])).sum();
    let sent = number(&ue["uplink"]["packets"]);
    let came = number(&session["uplink"]["packets"]);
    assert!(
        came <= sent && sent <= came + lost + number(&report["ports"]["n3"]["lost_before_us"]),
        "{sent} sent, {came} charged: {report}"
    );
    assert!(came > 100_000, "{came}");
}
