//! Does a daemon that runs take over a changed configuration, all of it or nothing, and show what it does with packets, while they flow? As root, in network
//! namespaces of its own; every frame that comes out is compared, in order per session.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{Daemon, PATIENCE, Testbed, testbed_or_skip};
use std::time::{Duration, Instant};

const SESSIONS: u32 = 8;
/// With half of them in XDP, by a hash of random SEIDs: one at least.
const MANY: u32 = 24;
/// Packets of each session and direction that are on their way, at most.
const IN_FLIGHT: usize = 16;
const BUSY: Duration = Duration::from_millis(400);

/// With a socket of its own: others may run on this machine.
fn with_socket(bed: &Testbed, config: &str) -> String {
    format!("{config}[control]\nsocket = \"{}\"\n", socket(bed))
}

fn socket(bed: &Testbed) -> String {
    bed.folder().join("control.sock").display().to_string()
}

/// `splitplane` with these arguments, on the daemon's socket, while every session has packets both ways on their way: whether it went well, and what it said.
fn ask_busy(bed: &mut Testbed, arguments: &[&str]) -> (bool, String) {
    ask_while(bed, SESSIONS, arguments)
}

/// As [`ask_busy`], with so many sessions.
fn ask_while(bed: &mut Testbed, sessions: u32, arguments: &[&str]) -> (bool, String) {
    let all: Vec<usize> = (0..sessions as usize).collect();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_splitplane"));
    command.args(arguments).args(["--socket", &socket(bed)]);
    let asking = std::thread::spawn(move || command.output().unwrap());
    let end = Instant::now() + PATIENCE;
    while !asking.is_finished() {
        assert!(Instant::now() < end, "no answer");
        bed.step(&all, IN_FLIGHT);
    }
    let out = asking.join().unwrap();
    (out.status.success(), format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr)))
}

/// Whether the last moves have one for that reason that was made.
fn has_moved(report: &serde_json::Value, to: &str, why: &str) -> bool {
    let recent = report["offload"]["recent"].as_array().unwrap();
    recent.iter().any(|of| of["to"] == to && of["why"] == why && of["outcome"] == "done" && of["seid"] != "0x0")
}

/// All of the daemon's packets by its own count: (dropped, not accounted for).
fn balance(daemon: &Daemon) -> (u64, i64) {
    let report = daemon.report();
    let dropped = report["dropped"].as_object().unwrap().values().map(|count| count["packets"].as_u64().unwrap()).sum();
    (dropped, report["imbalance"].as_i64().unwrap())
}

/// What a user on N6 at the gateway's place would notice: nothing. The default route goes by another router with the same MAC address, a firewall comes, a class
/// of traffic, a pool and a level of the log.
#[test]
fn a_configuration_changes_under_traffic_and_nothing_is_lost() {
    testbed_or_skip("a_configuration_changes_under_traffic_and_nothing_is_lost", |mut bed| {
        let config =
            with_socket(&bed, &Testbed::config("xdp", 0.5)) + "[[pool]]\nnetwork_instance = \"internet\"\nipv4 = \"10.98.0.0/24\"\n";
        let daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(MANY);
        let all: Vec<usize> = (0..MANY as usize).collect();
        bed.run_busy(&all, IN_FLIGHT, BUSY);
        let changed = config.replace("policy = { share = 0.5 }", "policy = \"none\"")
            + "[log]\nfilter = \"debug\"\n\
               [[route]]\nnetwork_instance = \"internet\"\nprefix = \"203.0.113.0/24\"\nvia = \"10.6.0.2\"\n\
               [[firewall]]\naction = \"deny\"\nto = \"203.0.113.0/24\"\n\
               [[pool]]\nnetwork_instance = \"internet\"\nipv4 = \"10.99.0.0/24\"\n";
        std::fs::write(daemon.config(), &changed).unwrap();
        let (good, said) = ask_busy(&mut bed, &["reload", "--dry-run"]);
        assert!(good && said.contains("+ firewall") && said.contains("this was a dry run"), "{said}");
        let sessions = |bed: &mut Testbed| {
            let (good, said) = ask_busy(bed, &["show", "targets", "--json"]);
            assert!(good, "{said}");
            serde_json::from_str::<serde_json::Value>(&said).unwrap()["xdp"]["sessions"].as_u64().unwrap()
        };
        let before = sessions(&mut bed);
        assert!(before > 0, "a dry run changes nothing");
        let (good, said) = ask_busy(&mut bed, &["reload"]);
        assert!(good && said.contains("split.policy: { share = 0.5 } -> \"none\"") && said.ends_with("done\n"), "{said}");
        // They leave XDP, under traffic.
        let end = Instant::now() + PATIENCE;
        while sessions(&mut bed) > 0 {
            assert!(Instant::now() < end, "sessions stay in XDP");
        }
        assert!(has_moved(&daemon.report(), "base", "not_chosen"), "{:#}", daemon.report()["offload"]);
        bed.run_busy(&all, IN_FLIGHT, BUSY);
        // And back; the daemon is told by a signal.
        std::fs::write(daemon.config(), &config).unwrap();
        daemon.signal("-HUP");
        while sessions(&mut bed) < before {
            assert!(Instant::now() < end, "sessions do not come back");
        }
        assert!(has_moved(&daemon.report(), "fast", "policy"), "{:#}", daemon.report()["offload"]);
        bed.run_busy(&all, IN_FLIGHT, BUSY);
        assert_eq!(balance(&daemon), (0, 0));
        let offered = bed.offered.clone();
        let charged = bed.delete_sessions();
        for (n, offered) in offered.iter().enumerate() {
            assert_eq!(charged[&bed.ue(n)], offered.bytes, "session {n}");
        }
        let report = daemon.stop();
        assert_eq!(report["dropped"].as_object().unwrap().len(), 0, "{report:#}");
    });
}

/// A second way to the data network, with addresses of its own.
const N6B: &str = "[[port]]\nname = \"n6b\"\ninterface = \"n6b\"\nrole = \"core\"\nnetwork_instance = \"internet\"\n\
    addresses = [\"10.6.1.1/24\", \"2001:db8:61::1/64\"]\n\
    [[neighbour]]\nport = \"n6b\"\nip = \"10.6.1.2\"\nmac = \"02:00:00:00:06:02\"\n\
    [[neighbour]]\nport = \"n6b\"\nip = \"2001:db8:61::2\"\nmac = \"02:00:00:00:06:02\"\n";

/// Without the blocks in which there is such a line.
fn without(config: &str, line: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    for of in config.lines() {
        if of.starts_with('[') || blocks.is_empty() {
            blocks.push(String::new());
        }
        let block = blocks.last_mut().unwrap();
        block.push_str(of);
        block.push('\n');
    }
    blocks.retain(|block| !block.lines().any(|of| of == line));
    blocks.concat()
}

/// A port comes, the data network sends by it, the routes go by it, and in the same step the old one goes: by one worker, by workers behind a master and
/// behind a program that steers, with sessions in XDP and on a chip's model.
#[test]
fn a_port_takes_the_place_of_another_under_traffic_and_nothing_is_lost() {
    let workers = |steering: &str| format!("{}[workers]\ncount = 2\nsteering = \"{steering}\"\n", around());
    let configs = [
        ("one worker", around()),
        ("software", workers("software")),
        ("xdp steers", workers("xdp")),
        ("sessions in XDP", Testbed::config("xdp", 0.5)),
        ("a chip", Testbed::config("asic", 0.5)),
    ];
    for (name, config) in configs {
        testbed_or_skip("a_port_takes_the_place_of_another_under_traffic_and_nothing_is_lost", move |mut bed| {
            let config = with_socket(&bed, &config);
            let daemon = bed.start_daemon(&config);
            bed.connect();
            bed.establish(MANY);
            let all: Vec<usize> = (0..MANY as usize).collect();
            bed.run_busy(&all, IN_FLIGHT, BUSY);
            let sends_by = bed.join_beside_n6("n6b");
            let both = format!("{config}{N6B}");
            let reload = |bed: &mut Testbed, text: &str, arguments: &[&str]| {
                std::fs::write(daemon.config(), text).unwrap();
                let (good, said) = ask_busy(bed, arguments);
                assert!(good, "{name}: {said}");
                said
            };
            let said = reload(&mut bed, &both, &["reload", "--dry-run"]);
            assert!(said.contains("+ port {") && !bed.program_runs_on("n6b"), "{name}: {said}");
            reload(&mut bed, &both, &["reload"]);
            assert!(bed.program_runs_on("n6b"), "{name}");
            sends_by.store(1, std::sync::atomic::Ordering::Relaxed);
            bed.run_busy(&all, IN_FLIGHT, BUSY);
            // Nothing more comes in by N6.
            bed.collect_all();
            let alone = without(&without(&both, "name = \"n6\""), "port = \"n6\"");
            let alone =
                alone.replace("via = \"10.6.0.2\"", "via = \"10.6.1.2\"").replace("via = \"2001:db8:6::2\"", "via = \"2001:db8:61::2\"");
            let said = reload(&mut bed, &alone, &["reload"]);
            assert!(said.contains("- port {") && said.ends_with("done\n"), "{name}: {said}");
            bed.wait_until_free("n6");
            bed.one_way_again();
            bed.run_busy(&all, IN_FLIGHT, BUSY);
            let report = daemon.report();
            assert_eq!(report["ports"].as_object().unwrap().keys().collect::<Vec<_>>(), ["n3", "n6b"], "{name}");
            if name == "sessions in XDP" {
                let of = |key: &str| report["ports"]["n6b"][key]["packets"].as_u64().unwrap();
                assert!(of("received_ahead") > 0 && of("transmitted_ahead") > 0, "{:#}", report["ports"]);
            }
            assert!(bed.n6.announcements >= 2, "{name}: where the new addresses are is told");
            bed.collect_all();
            assert_eq!(balance(&daemon), (0, 0), "{name}: {:#}", daemon.report()["dropped"]);
            let offered = bed.offered.clone();
            let charged = bed.delete_sessions();
            for (n, offered) in offered.iter().enumerate() {
                assert_eq!(charged[&bed.ue(n)], offered.bytes, "{name}: session {n}");
            }
            let report = daemon.stop();
            assert_eq!((report["dropped"].as_object().unwrap().len(), &report["imbalance"]), (0, &0.into()), "{name}: {report:#}");
        });
    }
}

/// Workers come and go by the file, and a port comes meanwhile that those who come later receive from too: behind a master, and behind a program that steers,
/// with sessions in XDP in front of it.
#[test]
fn workers_come_and_go_by_a_reload_under_traffic_and_nothing_is_lost() {
    let configs = [
        ("software", around(), "software", [2, 4, 1, 3]),
        ("xdp steers", around(), "xdp", [3, 1, 2, 3]),
        ("sessions in XDP", Testbed::config("xdp", 0.5), "xdp", [2, 1, 1, 2]),
    ];
    for (name, config, steering, counts) in configs {
        testbed_or_skip("workers_come_and_go_by_a_reload_under_traffic_and_nothing_is_lost", move |mut bed| {
            let config = with_socket(&bed, &config);
            let of = |count: usize, ports: &str| format!("{config}{ports}[workers]\nsteering = \"{steering}\"\ncount = {count}\n");
            let daemon = bed.start_daemon(&of(counts[0], ""));
            bed.connect();
            bed.establish(MANY);
            let all: Vec<usize> = (0..MANY as usize).collect();
            bed.run_busy(&all, IN_FLIGHT, BUSY);
            let running = || daemon.report()["load"].as_array().unwrap().len();
            assert_eq!(running(), counts[0], "{name}");
            let sends_by = bed.join_beside_n6("n6b");
            // The routes stay: one way out, in order.
            bed.one_way_again();
            for (n, count) in counts.into_iter().enumerate().skip(1) {
                let ports = if n > 1 { N6B } else { "" };
                std::fs::write(daemon.config(), of(count, ports)).unwrap();
                let (good, said) = ask_busy(&mut bed, &["reload", "--dry-run"]);
                let line = format!("workers.count: {} -> {count}", counts[n - 1]);
                assert!(good && (counts[n - 1] == count || said.contains(&line)) && running() == counts[n - 1], "{name}: {said}");
                let (good, said) = ask_busy(&mut bed, &["reload"]);
                assert!(good && said.ends_with("done\n") && running() == count, "{name}: {} workers: {said}", running());
                bed.collect_all();
                sends_by.store(usize::from(n > 1), std::sync::atomic::Ordering::Relaxed);
                bed.run_busy(&all, IN_FLIGHT, BUSY);
                bed.collect_all();
            }
            // Those that came have their share.
            let report = daemon.report();
            for worker in report["load"].as_array().unwrap() {
                assert!(worker["packets"].as_u64().unwrap() > 0 && worker["buckets"].as_u64().unwrap() > 0, "{name}: {worker}");
            }
            // What cannot change is named, and nothing has.
            let other = of(1, N6B).replace(&format!("steering = \"{steering}\""), "steering = \"port\"");
            std::fs::write(daemon.config(), other).unwrap();
            let (good, said) = ask_busy(&mut bed, &["reload"]);
            assert!(!good && said.contains("workers.steering") && running() == counts[3], "{name}: {said}");
            bed.collect_all();
            assert_eq!(balance(&daemon), (0, 0), "{name}: {:#}", daemon.report()["dropped"]);
            let offered = bed.offered.clone();
            let charged = bed.delete_sessions();
            for (n, offered) in offered.iter().enumerate() {
                assert_eq!(charged[&bed.ue(n)], offered.bytes, "{name}: session {n}");
            }
            let report = daemon.stop();
            assert_eq!((report["dropped"].as_object().unwrap().len(), &report["imbalance"]), (0, &0.into()), "{name}: {report:#}");
        });
    }
}

#[test]
fn a_port_that_cannot_come_or_go_changes_nothing_and_is_named() {
    for config in [around(), Testbed::config("xdp", 1.0)] {
        testbed_or_skip("a_port_that_cannot_come_or_go_changes_nothing_and_is_named", move |mut bed| {
            let config = with_socket(&bed, &config);
            let daemon = bed.start_daemon(&config);
            bed.connect();
            bed.establish(SESSIONS);
            bed.join("n6b");
            bed.join("n6c");
            // More than AF_XDP takes: that is found when it is opened, after the first was.
            bed.set_link("n6c", &["mtu", "9000"]);
            bed.join("n3b");
            let n6c =
                N6B.split("[[neighbour]]").next().unwrap().replace("n6b", "n6c").replace("10.6.1.1", "10.6.2.1").replace(":61:", ":62:");
            let n3b = "[[port]]\nname = \"n3b\"\ninterface = \"n3b\"\nrole = \"access\"\nnetwork_instance = \"access\"\n\
                addresses = [\"10.3.1.1/24\"]\ngtpu = [\"10.3.1.1\"]\n";
            let no_n3 = without(&without(&config, "name = \"n3\""), "port = \"n3\"");
            for (text, names) in [
                (format!("{config}{N6B}{}", n6c.replace("= \"n6c\"\nrole", "= \"nope\"\nrole")), "port[3].interface"),
                (format!("{config}{N6B}{}", n6c.replace("role", "driver = \"af_xdp\"\nrole")), "MTU 9000 of `n6c`"),
                (
                    config.replace("\"n6\"", "\"n6x\"").replace("interface = \"n6x\"", "interface = \"n6\""),
                    "port \"n6\" has it until it is closed",
                ),
                (format!("{config}{N6B}").replace("via = \"10.6.0.2\"", "via = \"192.0.2.1\""), "route[0].via"),
                (without(&without(&config, "name = \"n6\""), "port = \"n6\"") + N6B, "route[0].via"),
                (format!("{no_n3}{n3b}"), "sessions have tunnels at 10.3.0.1"),
                (config.replace("interface = \"n6\"", "interface = \"n6b\""), "a restart is needed for port[1].interface"),
            ] {
                std::fs::write(daemon.config(), &text).unwrap();
                let (good, said) = ask_busy(&mut bed, &["reload"]);
                assert!(!good && said.contains(names) && said.contains("nothing was changed"), "{names}: {said}");
                assert!(["n6b", "n6c", "n3b"].iter().all(|name| !bed.program_runs_on(name)), "{names}: it stays on an interface");
            }
            // It may come when nothing else is wrong, and go again.
            for text in [format!("{config}{N6B}"), config.clone()] {
                std::fs::write(daemon.config(), &text).unwrap();
                let (good, said) = ask_busy(&mut bed, &["reload"]);
                assert!(good, "{said}");
                assert_eq!(bed.program_runs_on("n6b"), text != config);
            }
            bed.run_traffic(100);
            assert_eq!(balance(&daemon), (0, 0));
        });
    }
}

#[test]
fn a_wrong_file_changes_nothing_and_its_error_names_the_key() {
    testbed_or_skip("a_wrong_file_changes_nothing_and_its_error_names_the_key", |mut bed| {
        let config = with_socket(&bed, &around());
        let daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(SESSIONS);
        // A firewall that would drop everything, beside each fault.
        let deny = "[[firewall]]\naction = \"deny\"\n";
        for (fault, names) in [
            ("[[route]]\nnetwork_instance = \"internet\"\nprefix = \"0.0.0.0/0\"\nvia = \"192.0.2.1\"\n", "route["),
            ("[[pool]]\nipv4 = \"10.45.0.1/16\"\n", "pool["),
            ("[log]\nfilter = \"pfcp=loud\"\n", "log.filter"),
            ("[workers]\ncount = 2\n", "a restart is needed for workers.count"),
            ("[[firewall]]\naction = \"allow\"\n", "firewall[1].action"),
            ("nonsense\n", "no TOML"),
        ] {
            std::fs::write(daemon.config(), format!("{config}{deny}{fault}")).unwrap();
            let (good, said) = ask_busy(&mut bed, &["reload"]);
            assert!(!good && said.contains(names) && said.contains("nothing was changed"), "{fault}: {said}");
        }
        bed.run_traffic(200);
        assert_eq!(balance(&daemon), (0, 0));
        // The rule alone: now it drops.
        std::fs::write(daemon.config(), format!("{config}{deny}")).unwrap();
        let (good, said) = ask_busy_of_none(&bed);
        assert!(good, "{said}");
        bed.send_in_vain(20);
        let end = Instant::now() + PATIENCE;
        while balance(&daemon) != (20, 0) {
            assert!(Instant::now() < end, "{:#}", daemon.report()["dropped"]);
        }
    });
}

fn ask_busy_of_none(bed: &Testbed) -> (bool, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_splitplane"));
    let out = command.args(["reload", "--socket", &socket(bed)]).output().unwrap();
    (out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// x86 alone.
fn around() -> String {
    let config = Testbed::config("xdp", 1.0);
    config.split("[split]").next().unwrap().to_owned()
}

/// A session of XDP runs on x86 as long as it is looked at, and nobody notices.
#[test]
fn a_live_trace_tells_what_became_of_a_users_packets_and_disturbs_nobody() {
    testbed_or_skip("a_live_trace_tells_what_became_of_a_users_packets_and_disturbs_nobody", |mut bed| {
        let config = with_socket(&bed, &Testbed::config("xdp", 1.0));
        let daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(SESSIONS);
        let ue = bed.ue(3).to_string();
        let (good, said) = ask_busy(&mut bed, &["trace", "live", "--ue", &ue, "--count", "40", "--json"]);
        assert!(good, "{said}");
        let packets: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(packets.len(), 40, "{said}");
        let text = |packet: &serde_json::Value, key: &str| packet[key].as_str().unwrap().to_owned();
        for packet in &packets {
            let (port, to) = (text(packet, "port"), text(packet, "to"));
            assert_eq!((&*text(packet, "verdict"), &*text(packet, "target")), ("forward", "x86"), "{packet:#}");
            assert!([("n3", "n6"), ("n6", "n3")].contains(&(&*port, &*to)), "{port} to {to}");
            let story = text(packet, "story");
            let lookup = if port == "n3" { "pdr_by_teid" } else { "pdr_by_ue_ipv" };
            assert!(story.contains(lookup) && !story.contains("another") && !story.contains("other bytes"), "{story}");
        }
        assert!(["n3", "n6"].iter().all(|port| packets.iter().any(|packet| packet["port"] == *port)), "both ways");
        // Why was this dropped? A user without a session.
        let stranger = "10.45.99.99";
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_splitplane"));
        command.args(["trace", "live", "--dropped", "--count", "1", "--socket", &socket(&bed)]);
        let asking = std::thread::spawn(move || command.output().unwrap());
        let end = Instant::now() + PATIENCE;
        while !asking.is_finished() {
            assert!(Instant::now() < end, "no answer");
            bed.send_to_stranger(stranger.parse().unwrap());
            bed.step(&[0], IN_FLIGHT);
        }
        let said = String::from_utf8(asking.join().unwrap().stdout).unwrap();
        assert!(said.contains("drop: no_session, by x86") && said.contains("pdr_by_ue_ipv4") && said.contains("1 packets"), "{said}");
        // Sessions are back in XDP.
        let end = Instant::now() + PATIENCE;
        loop {
            let (good, said) = ask_busy(&mut bed, &["show", "targets", "--json"]);
            assert!(good && Instant::now() < end, "{said}");
            if serde_json::from_str::<serde_json::Value>(&said).unwrap()["xdp"]["sessions"] == SESSIONS {
                break;
            }
        }
        bed.collect_all();
        let report = daemon.stop();
        assert_eq!(report["imbalance"], 0, "{report:#}");
        assert_eq!(report["dropped"].as_object().unwrap().keys().collect::<Vec<_>>(), ["no_session"], "{report:#}");
        assert!(has_moved(&report, "base", "looked_at") && has_moved(&report, "fast", "policy"), "{:#}", report["offload"]);
    });
}

/// In front of the workers' own target, not of the workers: each packet is of the target that has its session.
#[test]
fn a_live_trace_names_the_target_that_ran_each_packet() {
    testbed_or_skip("a_live_trace_names_the_target_that_ran_each_packet", |mut bed| {
        let config = with_socket(&bed, &Testbed::config("asic", 0.5));
        let daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(MANY);
        for (target, reason) in [("asic", "policy"), ("x86", "not_chosen")] {
            let (good, said) = ask_while(&mut bed, MANY, &["show", "sessions", "--target", target, "--json"]);
            let page: serde_json::Value = serde_json::from_str(&said).unwrap();
            let rows = page["sessions"].as_array().unwrap();
            assert!(good && !rows.is_empty() && rows.iter().all(|row| row["reason"] == reason), "{said}");
            let ue = rows.iter().find_map(|row| row["ue_ipv4s"][0].as_str()).unwrap();
            let (good, said) = ask_while(&mut bed, MANY, &["trace", "live", "--ue", ue, "--count", "20", "--json"]);
            let packets: Vec<serde_json::Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert!(good && packets.len() == 20 && packets.iter().all(|packet| packet["target"] == target), "{ue}, {target}: {said}");
            assert!(["n3", "n6"].iter().all(|port| packets.iter().any(|packet| packet["port"] == *port)), "both ways: {said}");
        }
        bed.collect_all();
        assert_eq!(balance(&daemon), (0, 0));
    });
}

#[test]
fn a_capture_has_what_came_and_ends_when_it_is_full_late_or_told_to() {
    testbed_or_skip("a_capture_has_what_came_and_ends_when_it_is_full_late_or_told_to", |mut bed| {
        let config = with_socket(&bed, &around());
        let daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(SESSIONS);
        let file = bed.folder().join("users.pcapng");
        let name = file.display().to_string();
        let (good, said) = ask_busy(&mut bed, &["capture", "--write", &name, "--count", "300"]);
        assert!(good && said.contains("300 packets"), "{said}");
        let octets = std::fs::read(&file).unwrap();
        let packets = pktio::pcap::read_all(&octets).unwrap();
        assert_eq!(packets.len(), 300);
        assert!(String::from_utf8_lossy(&octets).contains("forward to n6, by x86"));
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        // Nobody has that address: the time ends it.
        let (good, said) = ask_busy(&mut bed, &["capture", "--write", &name, "--ue", "192.0.2.7", "--seconds", "1"]);
        assert!(good && said.contains("0 packets"), "{said}");
        // Or an operator, with what there is so far.
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_splitplane"));
        command.args(["capture", "--write", &name, "--socket", &socket(&bed)]).stdout(std::process::Stdio::piped());
        let mut capture = command.spawn().unwrap();
        let end = Instant::now() + PATIENCE;
        while std::fs::read(&file).unwrap().len() < 20_000 {
            assert!(Instant::now() < end, "nothing is written");
            bed.step(&[0, 1], IN_FLIGHT);
        }
        assert!(std::process::Command::new("kill").args(["-INT", &capture.id().to_string()]).status().unwrap().success());
        assert!(capture.wait().unwrap().success());
        assert!(!pktio::pcap::read_all(&std::fs::read(&file).unwrap()).unwrap().is_empty());
        bed.collect_all();
        assert_eq!(balance(&daemon), (0, 0));
    });
}

/// `[api]` with a token, and where it listens.
fn with_api(bed: &Testbed, config: &str) -> (String, u16) {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let token = bed.folder().join("token");
    let mut file = std::fs::File::options().write(true).create_new(true).mode(0o600).open(&token).unwrap();
    file.write_all(TOKEN.as_bytes()).unwrap();
    // The test is at the far end of N4. In a network namespace of its own every port is free.
    let port = 9090;
    (format!("{config}[api]\nlisten = \"10.4.0.1:{port}\"\ntoken_file = \"{}\"\nrequests_per_s = 10000\n", token.display()), port)
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Status and body.
fn http(port: u16, line: &str, body: &str) -> (u16, Vec<u8>) {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(("10.4.0.1", port)).unwrap();
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
    (status, answer[end + 4..].to_vec())
}

fn json(answer: (u16, Vec<u8>)) -> serde_json::Value {
    assert_eq!(answer.0, 200, "{}", String::from_utf8_lossy(&answer.1));
    serde_json::from_slice(&answer.1).unwrap()
}

/// A capture and a trace of one user by HTTP, and sessions that are placed anew, under traffic.
#[test]
fn packets_are_captured_and_sessions_placed_over_http_under_traffic() {
    testbed_or_skip("packets_are_captured_and_sessions_placed_over_http_under_traffic", |mut bed| {
        let (config, port) = with_api(&bed, &with_socket(&bed, &Testbed::config("xdp", 1.0)));
        let daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(SESSIONS);
        let all: Vec<usize> = (0..SESSIONS as usize).collect();
        let start = format!("{{\"ue\":\"{}\",\"count\":50}}", bed.ue(3));
        assert_eq!(http(port, "POST /v1/capture/start", &start).0, 204);
        let end = Instant::now() + PATIENCE;
        let status = loop {
            bed.step(&all, IN_FLIGHT);
            let status = json(http(port, "GET /v1/capture", ""));
            if status["running"] == false {
                break status;
            }
            assert!(Instant::now() < end, "{status}");
        };
        assert_eq!((&status["packets"], &status["ended"]), (&50.into(), &"all packets that were asked for".into()));
        let (_, octets) = http(port, "GET /v1/capture/pcapng", "");
        assert_eq!(pktio::pcap::read_all(&octets).unwrap().len(), 50);
        assert!(String::from_utf8_lossy(&octets).contains("forward to n6, by x86"));
        assert_eq!(http(port, "POST /v1/trace/start", &start.replace("50", "5")).0, 204);
        let end = Instant::now() + PATIENCE;
        loop {
            bed.step(&all, IN_FLIGHT);
            let traced = json(http(port, "GET /v1/trace", ""));
            if traced["status"]["running"] == false {
                let packets = traced["packets"].as_array().unwrap();
                assert!(
                    packets.len() == 5 && packets.iter().all(|packet| packet["story"].as_str().unwrap().contains("pdr_by_")),
                    "{traced:#}"
                );
                break;
            }
            assert!(Instant::now() < end, "{traced}");
        }
        // Placement: what is wrong changes nothing, what is right moves every session.
        for (body, says) in [
            ("{\"fast\":\"asic\"}", "split.fast: expected one of policy"),
            ("{\"policy\":{\"share\":7.0}}", "nothing was changed"),
            ("{\"policy\":null}", "split.policy"),
            ("[]", "not what this path takes"),
        ] {
            let (status, answer) = http(port, "PUT /v1/placement", body);
            let answer = String::from_utf8_lossy(&answer);
            assert!(status == 400 && answer.contains(says), "{body}: {status} {answer}");
        }
        for (policy, on_xdp) in [("\"none\"", 0), ("{\"share\":1.0}", SESSIONS)] {
            let changed = json(http(port, "PUT /v1/placement", &format!("{{\"policy\":{policy}}}")));
            assert!(changed["changes"][0].as_str().unwrap().starts_with("split.policy: "), "{changed}");
            let end = Instant::now() + PATIENCE;
            while json(http(port, "GET /v1/targets", ""))["xdp"]["sessions"] != on_xdp {
                assert!(Instant::now() < end, "sessions do not move");
                bed.step(&all, IN_FLIGHT);
            }
        }
        bed.collect_all();
        assert_eq!(balance(&daemon), (0, 0));
        let said = daemon.said();
        let audited =
            |line: &str| said.lines().filter(|of| of.contains("audit") && of.contains("who=\"http 10.4.0.") && of.contains(line)).count();
        for line in ["what=\"look\" value=\"50 packets of ", "ended after 50 packets of ", "what=\"download\"", "what=\"placement\""] {
            assert!(audited(line) > 0, "{line}: {said}");
        }
        assert!(said.lines().filter(|line| line.contains("who=\"http")).all(|line| line.contains(", token token\"")), "{said}");
    });
}
