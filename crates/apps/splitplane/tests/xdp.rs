//! Does the daemon with XDP ahead of x86 treat real frames on real interfaces as one UPF? As root, in network namespaces of its own.
//!
//! The test is what surrounds the UPF: SMF, gNodeB and data network on the far ends of veth pairs. Every frame that comes out is
//! compared, byte for byte and in order per session, with what `traffic::expect` says, which knows nothing of the UPF.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{Daemon, Testbed, testbed_or_skip};
use std::time::{Duration, Instant};
use traffic::smf::Event;

const SESSIONS: u32 = 40;
/// MiB of a daemon that has room for 4,096 sessions, on two cores, beyond its binary.
const FEW_SESSIONS: u64 = 100;

/// Session hits in XDP, misses by AF_XDP through x86, in both directions; host and pages beside them; and all counts agree.
#[test]
fn sessions_run_in_xdp_and_on_x86_and_all_counts_agree() {
    sessions_run("sessions_run_in_xdp_and_on_x86_and_all_counts_agree", false);
}

/// The same where the kernel does not tell what interfaces send (before Linux 6.3).
#[test]
fn sessions_run_in_xdp_where_interfaces_are_tried() {
    sessions_run("sessions_run_in_xdp_where_interfaces_are_tried", true);
}

fn sessions_run(name: &str, probing: bool) {
    testbed_or_skip(name, move |mut bed| {
        bed.probing = probing;
        let daemon = bed.start_daemon(&Testbed::config("xdp", 0.5));
        bed.connect();
        bed.establish(SESSIONS);
        bed.run_traffic(4000);
        bed.ping_the_upf();
        bed.run_traffic(500);
        let offered = bed.offered.clone();
        let charged = bed.delete_sessions();
        let report = daemon.stop();

        assert_eq!(report["imbalance"], 0, "{report:#}");
        let listed = report["sessions"].as_array().unwrap();
        assert_eq!(listed.len(), SESSIONS as usize);
        // Usage: what was offered is what each party counted, wherever the session lived.
        let mut by_target = [("xdp", 0, 0, 0), ("x86", 0, 0, 0)];
        for session in listed {
            let ue: std::net::Ipv4Addr = session["ue_ipv4"].as_str().unwrap().parse().unwrap();
            let n = bed.session_of(ue);
            let (up, down) = (session["uplink"]["bytes"].as_u64().unwrap(), session["downlink"]["bytes"].as_u64().unwrap());
            assert_eq!((up, down), offered[n].bytes, "UPF's count of {ue}");
            assert_eq!(charged.get(&ue), Some(&offered[n].bytes), "charged to {ue}");
            let row = by_target.iter_mut().find(|row| session["target"] == row.0).unwrap();
            row.1 += 1;
            row.2 += offered[n].packets.0;
            row.3 += offered[n].packets.1;
        }
        // Each target ran its own sessions' packets, all of them, and had enough of both.
        for (name, sessions, up, down) in by_target {
            assert!(sessions > 8 && up > 300 && down > 300, "{name}: {sessions} sessions, {up} packets up, {down} down");
        }
        let target = |name: &str, side: &str| report["targets"][name][side]["packets"].as_u64().unwrap();
        assert_eq!((target("xdp", "uplink"), target("xdp", "downlink")), (by_target[0].2, by_target[0].3));
        assert_eq!(target("x86", "uplink"), by_target[1].2);
        // The echo request came in by N6 and ran on x86, as the host's packets do: it is no user's.
        assert_eq!((target("x86", "downlink"), target("x86", "punted")), (by_target[1].3, 1));
        assert_eq!(["xdp", "x86"].map(|name| (target(name, "either"), target(name, "dropped"))), [(0, 0); 2]);
        // What XDP handed on is what came out of the sockets.
        let port = |name: &str, key: &str| report["ports"][name][key]["packets"].as_u64().unwrap();
        let by_engine: u64 = ["n3", "n6"].iter().map(|p| port(p, "received") - port(p, "received_ahead")).sum();
        assert_eq!(report["targets"]["xdp"]["slow_path"], by_engine);
        assert_eq!(by_engine, by_target[1].2 + by_target[1].3 + 1);
        // One frame to each end says that they take redirected ones, where the kernel does not (before Linux 6.3).
        let tried = probing || target_xdp::sends_redirected(1).is_none();
        assert_eq!((bed.n3.probes, bed.n6.probes), if tried { (1, 1) } else { (0, 0) });
        // And what the far ends got is what was sent.
        assert_eq!((port("n3", "transmitted"), port("n6", "transmitted")), (bed.n3.received, bed.n6.received));
        assert_eq!((port("n3", "received"), port("n6", "received")), (bed.n3.sent, bed.n6.sent));
        assert!(port("n6", "transmitted_ahead") == by_target[0].2 && port("n3", "transmitted_ahead") == by_target[0].3);
    });
}

/// What the far end of a veth has no room for, its driver drops behind the program, which has counted it as sent: the port has it in `lost_after_us`.
#[test]
fn what_an_interface_drops_behind_xdp_is_counted() {
    testbed_or_skip("what_an_interface_drops_behind_xdp_is_counted", |mut bed| {
        let daemon = bed.start_daemon(&Testbed::config("xdp", 1.0));
        bed.connect();
        bed.establish(4);
        bed.run_traffic(200);
        // As a full ring does, an end that is too narrow makes the driver drop redirected frames, the longer ones of those that are sent now.
        (0..4).for_each(|n| bed.n6.may_lose(n, true));
        bed.limit_n6(100);
        let before = bed.n6.received;
        for _ in 0..100 {
            bed.send_uplink_of(&|_, _| true);
        }
        let end = Instant::now() + netns::PATIENCE;
        let refused = loop {
            bed.collect_some();
            let [refused] = bed.counted(["_xdp_xmit_errors"]);
            let came = bed.n6.received - before;
            if came + refused == 100 {
                break refused;
            }
            assert!(Instant::now() < end, "{refused} frames of 100 were refused, {came} came");
        };
        assert!(refused > 20 && refused < 100, "{refused}");
        bed.limit_n6(1600);
        bed.forget_uplink();
        bed.run_traffic(200);
        let came = bed.n6.received;
        bed.delete_sessions();
        let report = daemon.stop();
        assert_eq!(report["imbalance"], 0, "{report:#}");
        let port = |name: &str, key: &str| report["ports"][name][key].as_u64().unwrap();
        assert_eq!((port("n6", "lost_after_us"), port("n3", "lost_after_us")), (refused, 0));
        assert_eq!(report["ports"]["n6"]["transmitted"]["packets"], came + refused);
    });
}

/// A session in XDP goes idle: its packets are handed on and wait, and those after the page do not overtake them.
#[test]
fn a_session_in_xdp_is_paged() {
    testbed_or_skip("a_session_in_xdp_is_paged", |mut bed| {
        let daemon = bed.start_daemon(&Testbed::config("xdp", 1.0));
        bed.connect();
        bed.establish(4);
        bed.run_traffic(200);
        let events = bed.smf().events().unwrap();
        bed.set_idle(1);
        let waiting = bed.send_downlink(1, 10);
        assert!(matches!(events.recv_timeout(netns::PATIENCE), Ok(Event::DownlinkData { .. })));
        // The others go on meanwhile.
        bed.run_traffic_of(&[0, 2, 3], 100);
        assert_eq!(bed.n3.waiting(), 0, "nothing of an idle UE comes out");
        bed.expect_downlink(waiting);
        bed.set_active(1);
        let after = bed.send_downlink(1, 20);
        bed.expect_downlink(after);
        bed.collect_all();
        // XDP takes the session up again.
        bed.until(1, true, Testbed::collect_all);
        assert!(events.try_iter().all(|e| !matches!(e, Event::DownlinkData { .. })), "one report");
        let offered = bed.offered.clone();
        let charged = bed.delete_sessions();
        let report = daemon.stop();
        assert_eq!(report["imbalance"], 0, "{report:#}");
        netns::assert_paged(&report, 10);
        for (n, offered) in offered.iter().enumerate() {
            assert_eq!(charged[&bed.ue(n)], offered.bytes, "session {n}");
        }
        let of_xdp = |key: &str| &report["targets"]["xdp"][key];
        assert!(of_xdp("downlink")["packets"].as_u64().unwrap() > 100 && of_xdp("slow_path").as_u64().unwrap() >= 10, "{report:#}");
    });
}

/// Sessions move to XDP and back while their frames never pause: none overtakes another, on whichever way, and each is charged once.
#[test]
fn busy_sessions_move_between_xdp_and_x86_and_keep_their_order() {
    testbed_or_skip("busy_sessions_move_between_xdp_and_x86_and_keep_their_order", |mut bed| {
        let moves = "policy = \"planned\"\nheavy = { above_mbps = 1.0, leave_mbps = 0.5 }\nwindow_ms = 100\nmin_stay_ms = 100\n";
        let config = Testbed::config("xdp", 1.0).replace("policy = { share = 1.0 }\n", moves);
        assert!(config.contains("planned"));
        let daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(4);
        // A busy machine may leave us less than a heavy session's rate: as many rounds as it takes to see XDP carry.
        let end = Instant::now() + netns::PATIENCE;
        for round in 0.. {
            // Two of them are heavy, and not always the same two.
            bed.run_busy(&[round % 4, (round + 1) % 4], 16, Duration::from_millis(700));
            if round >= 7 && bed.ran_in_xdp().0 > 1000 {
                break;
            }
            assert!(Instant::now() < end, "{} frames ran in XDP", bed.ran_in_xdp().0);
        }
        let offered = bed.offered.clone();
        let charged = bed.delete_sessions();
        let report = daemon.stop();
        assert_eq!((&report["imbalance"], &report["dropped"]), (&0.into(), &serde_json::json!({})), "{report:#}");
        for (n, offered) in offered.iter().enumerate() {
            assert_eq!(charged[&bed.ue(n)], offered.bytes, "session {n}");
        }
        let packets = |name: &str| ["uplink", "downlink"].map(|side| report["targets"][name][side]["packets"].as_u64().unwrap());
        assert!(packets("xdp").iter().chain(&packets("x86")).all(|n| *n > 200), "{report:#}");
    });
}

/// What an interface would lose goes through x86.
#[test]
fn a_far_end_that_takes_no_redirected_frames_any_more_is_served_by_x86() {
    far_end_changes("a_far_end_that_takes_no_redirected_frames_any_more_is_served_by_x86", false);
}

/// The same where the kernel does not tell: the program's own frames do.
#[test]
fn a_far_end_that_is_seen_to_take_no_redirected_frames_is_served_by_x86() {
    far_end_changes("a_far_end_that_is_seen_to_take_no_redirected_frames_is_served_by_x86", true);
}

fn far_end_changes(name: &str, probing: bool) {
    testbed_or_skip(name, move |mut bed| {
        bed.probing = probing;
        let daemon = bed.start_daemon(&Testbed::config("xdp", 1.0));
        bed.connect();
        bed.establish(4);
        bed.run_traffic(200);
        bed.end_xdp_at_n6();
        bed.run_traffic(400);
        bed.delete_sessions();
        let report = daemon.stop();
        assert_eq!(report["imbalance"], 0, "{report:#}");
        let packets = |name: &str, side: &str| report["targets"][name][side]["packets"].as_u64().unwrap();
        assert!(packets("x86", "uplink") >= 200 && packets("x86", "downlink") == 0 && packets("xdp", "downlink") == 300, "{report:#}");
    });
}

/// A table that both must have does not fit: XDP stays in service, with its sessions, but x86 runs the packets that look it up, and those that
/// would overtake them.
#[test]
fn without_room_for_the_firewall_of_ipv4_x86_runs_ipv4_and_xdp_the_rest() {
    testbed_or_skip("without_room_for_the_firewall_of_ipv4_x86_runs_ipv4_and_xdp_the_rest", |mut bed| {
        // More combinations of two lengths of prefixes than XDP looks through.
        let lengths = (8..16).flat_map(|from| (8..17).map(move |to| (from, to)));
        let rules =
            lengths.map(|(from, to)| format!("[[firewall]]\naction = \"deny\"\nfrom = \"11.0.0.0/{from}\"\nto = \"12.0.0.0/{to}\"\n"));
        let daemon = bed.start_daemon(&(Testbed::config("xdp", 1.0) + &rules.collect::<String>()));
        bed.connect();
        bed.establish(4);
        bed.run_traffic(400);
        bed.ping_the_upf();
        bed.delete_sessions();
        let report = daemon.stop();
        assert_eq!(report["imbalance"], 0, "{report:#}");
        let packets = |name: &str, side: &str| report["targets"][name][side]["packets"].as_u64().unwrap();
        let of = |name: &str| packets(name, "uplink") + packets(name, "downlink");
        // The echo request is no user's.
        let ran = of("x86") + packets("x86", "punted");
        assert_eq!((of("x86") + of("xdp"), packets("x86", "punted")), (400, 1), "{report:#}");
        assert_eq!(report["targets"]["xdp"]["slow_path"], ran, "{report:#}");
        assert!(packets("x86", "downlink") > 100 && packets("xdp", "downlink") > 10, "{report:#}");
        assert_eq!((&report["targets"]["xdp"]["out_of_service"], &report["targets"]["xdp"]["fell_over"]), (&false.into(), &0.into()));
        assert_eq!(report["targets"]["xdp"]["short_tables"], serde_json::json!(["firewall_v4"]), "{report:#}");
    });
}

/// However the daemon ends, nothing stays on the interfaces, and the next one attaches and carries.
#[test]
fn a_killed_daemon_leaves_nothing_and_the_next_one_starts() {
    testbed_or_skip("a_killed_daemon_leaves_nothing_and_the_next_one_starts", |mut bed| {
        for round in 0..2 {
            let daemon = bed.start_daemon(&Testbed::config("xdp", 1.0));
            assert!(bed.program_runs_on("n3") && bed.program_runs_on("n6"));
            bed.connect();
            bed.establish(4);
            bed.run_traffic(100);
            let second = Daemon::spawn(&bed, &Testbed::config("xdp", 1.0).replace(":8805", ":8806")).end();
            assert!(!second.0 && second.1.contains("interface n3: it already runs an XDP program"), "{second:?}");
            daemon.kill();
            bed.wait_until_free("n3");
            bed.wait_until_free("n6");
            bed.forget_sessions();
            assert!(round < 2);
        }
    });
}

/// Tables of sessions have memory for the first ones. On two cores: 15 MiB of the kernel's maps, 35 of sockets' frames, 20 of x86's tables in huge pages, and some 20
/// to 30 of the rest: 89 MiB of a release build. A debug build had 83 to 109, as the allocator gives memory back sooner or later.
#[test]
fn at_the_start_xdp_has_memory_for_the_first_sessions_alone() {
    starts_within("at_the_start_xdp_has_memory_for_the_first_sessions_alone", "", 120, 1);
}

/// Of the kernel's maps some 8 MiB are left then.
#[test]
fn a_upf_for_few_sessions_starts_with_less_memory() {
    starts_within("a_upf_for_few_sessions_starts_with_less_memory", "max_sessions = 4096\n", FEW_SESSIONS, 2);
}

/// `n4`: keys of its section. MiB in all, and besides for each core.
fn starts_within(name: &str, n4: &'static str, in_all: u64, of_core: u64) {
    testbed_or_skip(name, move |mut bed| {
        let most = in_all + of_core * u64::from(target_xdp::sys::possible_cpus());
        let config = Testbed::config("xdp", 1.0).replacen("[n4]\n", &format!("[n4]\n{n4}"), 1);
        assert!(config.contains(n4));
        let daemon = bed.start_daemon(&config);
        let end = std::time::Instant::now() + netns::PATIENCE;
        let first = resident_beyond_files(daemon.pid()) >> 20;
        let mut mib = first;
        while mib >= most {
            assert!(std::time::Instant::now() < end, "{mib} MiB of {most}");
            std::thread::sleep(std::time::Duration::from_millis(100));
            mib = resident_beyond_files(daemon.pid()) >> 20;
        }
        println!("{first} MiB, then {mib}");
        assert!(mib > 30, "{mib} MiB");
        daemon.stop();
    });
}

/// Bytes of a process that are resident, but for those of files that it maps: how much of a binary of 180 MB is there depends on the machine.
fn resident_beyond_files(pid: u32) -> u64 {
    let (mut sum, mut counts) = (0, true);
    for line in std::fs::read_to_string(format!("/proc/{pid}/smaps")).unwrap().lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["Rss:", kib, "kB"] if counts => sum += kib.parse::<u64>().unwrap() << 10,
            // A mapping's head: addresses, rights, offset, device, inode, path.
            [range, _, _, _, _, ref path @ ..] if range.contains('-') => counts = !path.first().is_some_and(|path| path.starts_with('/')),
            _ => {}
        }
    }
    sum
}

/// The kernel has verified the program at the start before, so nothing waits for it: sessions come at once, run on x86, and then in XDP.
#[test]
fn sessions_come_while_the_kernel_verifies_the_program_and_go_on_in_xdp() {
    testbed_or_skip("sessions_come_while_the_kernel_verifies_the_program_and_go_on_in_xdp", |mut bed| {
        const WAITS: &str = "the kernel verifies the XDP program: until then all packets go through x86";
        let config = Testbed::config("xdp", 1.0);
        let state = format!("XDG_STATE_HOME={}", bed.folder().join("state").display());
        let by = ["env", state.as_str()];
        let first = Daemon::start(&bed, &config, &by).ready();
        let said = first.said();
        assert!(!said.contains(WAITS) && said.contains("XDP is active"), "{said}");
        first.stop();
        bed.wait_until_free("n3");
        bed.wait_until_free("n6");
        let daemon = Daemon::start(&bed, &config, &by);
        let end = std::time::Instant::now() + netns::PATIENCE;
        while !daemon.said().contains("N4 is bound") {
            assert!(std::time::Instant::now() < end, "{}", daemon.said());
            std::thread::yield_now();
        }
        bed.connect();
        bed.establish(8);
        let daemon = daemon.ready();
        // The order holds across the change, and nothing is lost.
        bed.run_traffic(400);
        let all: Vec<usize> = (0..8).collect();
        let end = std::time::Instant::now() + netns::PATIENCE;
        while daemon.report()["targets"]["xdp"]["sessions"] != 8 {
            assert!(std::time::Instant::now() < end, "sessions do not come to XDP");
            bed.run_traffic_of(&all, 50);
        }
        bed.run_traffic(200);
        let offered = bed.offered.clone();
        let charged = bed.delete_sessions();
        let said = daemon.said();
        let report = daemon.stop();
        assert_eq!((&report["imbalance"], &report["dropped"]), (&0.into(), &serde_json::json!({})), "{report:#}");
        for (n, offered) in offered.iter().enumerate() {
            assert_eq!(charged[&bed.ue(n)], offered.bytes, "session {n}");
        }
        let xdp = &report["targets"]["xdp"];
        assert_eq!((&xdp["out_of_service"], &xdp["fell_over"]), (&false.into(), &0.into()), "{report:#}");
        assert!(xdp["uplink"]["packets"].as_u64().unwrap() >= 50, "{report:#}");
        let at = |what: &str| said.find(what).unwrap_or_else(|| panic!("{what}: {said}"));
        assert!(at(WAITS) < at("XDP is active") && !said.contains("out of service"), "{said}");
    });
}

/// Each privilege by its name, before anything is opened.
#[test]
fn a_missing_privilege_is_named() {
    testbed_or_skip("a_missing_privilege_is_named", |bed| {
        let config = Testbed::config("xdp", 1.0);
        for (dropped, name) in [("bpf", "CAP_BPF"), ("perfmon", "CAP_PERFMON"), ("net_admin", "CAP_NET_ADMIN")] {
            // CAP_SYS_ADMIN stands for some of them.
            let (good, text) = Daemon::spawn_without(&bed, &config, &[dropped, "sys_admin"]).end();
            assert!(!good);
            let last = text.lines().last().unwrap_or_default();
            assert!(last.starts_with("splitplane: split.fast = \"xdp\": XDP needs ") && last.contains(name), "{text}");
            assert!(!bed.program_runs_on("n3"));
        }
        // Of sockets, when the first is opened.
        let (good, text) = Daemon::spawn_without(&bed, &config, &["net_raw"]).end();
        let last = text.lines().last().unwrap_or_default();
        assert!(!good && last.starts_with("splitplane: ") && last.contains("CAP_NET_RAW"), "{text}");
        assert!(!bed.program_runs_on("n3"));
        // And these suffice, without CAP_SYS_ADMIN and CAP_SYS_RESOURCE.
        let daemon = Daemon::spawn_with(&bed, &config, &["bpf", "perfmon", "net_admin", "net_raw", "ipc_lock"], &[]);
        daemon.ready().stop();
        // Without CAP_IPC_LOCK as well, in 8 MiB of locked memory, which is what a login gives.
        let limited = ["prlimit", "--memlock=8388608"];
        let daemon = Daemon::spawn_with(&bed, &config, &["bpf", "perfmon", "net_admin", "net_raw"], &limited);
        daemon.ready().stop();
    });
}
