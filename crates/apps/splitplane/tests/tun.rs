//! N3 by a UDP socket and N6 by a TUN device, as the daemon has them: ping and TCP of a user, in namespaces of our own.

#[path = "netns/part.rs"]
mod part;

use part::{Namespaces, Part, run};

const CONFIG: &str = r#"
[n4]
listen = "127.0.0.7:8805"
[[port]]
name = "n6"
driver = "tun"
interface = "sp-n6"
mtu = 1400
addresses = ["10.45.0.1/16", "2001:db8:45::1/48"]
reachable = ["10.45.0.1/32"]
role = "core"
network_instance = "internet"
[[port]]
name = "n3"
driver = "udp"
listen = "10.3.0.1:2152"
role = "access"
network_instance = "access"
"#;

#[test]
fn ping_and_tcp_go_through_a_udp_socket_and_a_tun_device() {
    if !testkit::root_or_skip("ping_and_tcp_go_through_a_udp_socket_and_a_tun_device") {
        return;
    }
    let [upf, ran] = ["upf", "ran"].map(|name| format!("spt-{name}-{}", std::process::id()));
    let _namespaces = Namespaces(vec![upf.clone(), ran.clone()]);
    for ns in [&upf, &ran] {
        run("ip", &["netns", "add", ns]);
        run("ip", &["-n", ns, "link", "set", "lo", "up"]);
    }
    // Shorter than the users' packets in their tunnels: the kernel fragments and puts together.
    run("ip", &["link", "add", "n3", "netns", &upf, "mtu", "1400", "type", "veth", "peer", "name", "n3", "mtu", "1400", "netns", &ran]);
    for (ns, address) in [(&upf, "10.3.0.1/24"), (&ran, "10.3.0.2/24")] {
        run("ip", &["-n", ns, "address", "add", address, "dev", "n3"]);
        run("ip", &["-n", ns, "link", "set", "n3", "up"]);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (config, records, report, radio) = (path("upf.toml"), path("records"), path("upf.json"), path("ran.json"));
    std::fs::write(&config, CONFIG).unwrap();

    let daemon = Part::splitplane(&upf, &["run", "--config", &config, "--report", &report]);
    let smf_args =
        ["smf", "--upf", "127.0.0.7:8805", "--local", "127.0.0.4:8805", "--gnb", "10.3.0.2", "--sessions", "2", "--records", &records];
    let smf = Part::splitplane(&upf, &smf_args);
    let gnb = Part::splitplane(&ran, &["ran", "--gnb", "10.3.0.2", "--records", &records, "--report", &radio]);

    let by_ran = |args: &[&str]| run("ip", &[&["netns", "exec", &ran][..], args].concat());
    let pinged = by_ran(&["ping", "-n", "-c", "3", "-i", "0.2", "-W", "30", "-s", "1300", "-I", "10.45.0.2", "10.45.0.1"]);
    assert!(pinged.contains(" 0% packet loss"), "{pinged}");
    let pinged = by_ran(&["ping", "-n", "-c", "3", "-i", "0.2", "-W", "30", "-I", "ue1", "2001:db8:45::1"]);
    assert!(pinged.contains(" 0% packet loss"), "{pinged}");
    for reverse in [false, true] {
        // The kernel hands TCP to the device in packets of segmentation offload.
        let server = Part::start(&upf, &["iperf3", "-s", "-1", "--forceflush", "-B", "10.45.0.1"], "listening");
        let mut args = vec!["iperf3", "-J", "-c", "10.45.0.1", "-B", "10.45.0.3", "-n", "30M"];
        args.extend(reverse.then_some("-R"));
        let json: serde_json::Value = serde_json::from_str(&by_ran(&args)).unwrap();
        let sum = if reverse { "sum_received" } else { "sum_sent" };
        assert!(json["end"][sum]["bytes"].as_f64().unwrap() >= 30e6, "{json}");
        server.stop();
    }

    // Of this machine the UEs reach what the configuration names, and nothing else: not what it gets while the UPF runs either, which is known within a second.
    for (own, width, ue) in [("192.0.2.1", 32, "10.45.0.2"), ("2001:db8:77::1", 128, "ue1")] {
        run("ip", &["-n", &upf, "address", "add", &format!("{own}/{width}"), "dev", "lo"]);
        let ping = ["netns", "exec", &ran, "ping", "-n", "-c", "1", "-W", "1", "-I", ue, own];
        let answered = || std::process::Command::new("ip").args(ping).output().unwrap().status.success();
        // An answered ping takes no time, so that tries are not counted.
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while answered() {
            assert!(std::time::Instant::now() < patience, "{own}: reached for as long as was tried");
        }
    }
    smf.stop();
    gnb.stop();
    daemon.stop();
    let read = |path: &str| serde_json::from_str::<serde_json::Value>(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (report, radio) = (read(&report), read(&radio));
    assert_eq!(report["imbalance"], 0);
    assert_eq!(report["ports"]["n6"]["driver"], "tun");
    assert!(report["dropped"]["machine_address"]["packets"].as_u64().unwrap() >= 2, "{report}");
    // All that users sent came out of N6, but for the pings that the UPF answers itself and for what is counted as dropped.
    let sum = |list: &serde_json::Value, key: &str| -> u64 {
        list.as_array().unwrap().iter().map(|ue| ue[key]["packets"].as_u64().unwrap()).sum()
    };
    let dropped: u64 = report["dropped"].as_object().unwrap().values().map(|count| count["packets"].as_u64().unwrap()).sum();
    let answered = report["punts"]["answered"].as_u64().unwrap();
    let lost = |port: &str, key: &str| report["ports"][port][key].as_u64().unwrap();
    let (sent, came) = (sum(&radio["ues"], "uplink"), report["ports"]["n6"]["transmitted"]["packets"].as_u64().unwrap());
    assert!(
        came <= sent && sent <= came + answered + dropped + lost("n3", "lost_before_us"),
        "{sent} sent, {came} came out, {answered} answered, {dropped} dropped: {report}"
    );
    assert_eq!(lost("n6", "lost_after_us"), 0);
}
