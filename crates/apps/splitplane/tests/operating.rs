//! Does a daemon that runs take over a changed configuration, all of it or nothing, and show what it does with packets, while they flow? As root, in network
//! namespaces of its own; every frame that comes out is compared, in order per session.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{Daemon, PATIENCE, Testbed, testbed_or_skip};
use std::time::{Duration, Instant};

const SESSIONS: u32 = 8;
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
    let all: Vec<usize> = (0..SESSIONS as usize).collect();
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
        bed.establish(SESSIONS);
        let all: Vec<usize> = (0..SESSIONS as usize).collect();
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
        bed.run_busy(&all, IN_FLIGHT, BUSY);
        // And back; the daemon is told by a signal.
        std::fs::write(daemon.config(), &config).unwrap();
        daemon.signal("-HUP");
        while sessions(&mut bed) < before {
            assert!(Instant::now() < end, "sessions do not come back");
        }
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
