//! Does the daemon give each UE's packets to one of several workers in the kernel, by one queue of each interface, with and without the UPF's
//! program ahead? As root, in network namespaces of its own; every frame that comes out is compared, in order per session.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{Testbed, testbed_or_skip};
use traffic::smf::Event;

const SESSIONS: u32 = 40;

/// What the workers received together, and that each of the two had enough of it.
fn by_workers(report: &serde_json::Value) -> u64 {
    let workers: Vec<u64> = report["workers"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert!(workers.len() == 3 && workers[..2].iter().all(|n| *n > 300) && workers[2] == 0, "{workers:?}");
    workers.iter().sum()
}

fn config(fast: &str, share: f64) -> String {
    format!("{}[workers]\nsteering = \"xdp\"\ncount = 2\nmin = 2\nmax = 3\n", Testbed::config(fast, share))
}

/// A page too: its packets wait at one worker and leave by it.
fn run(bed: &mut Testbed, config: &str) -> serde_json::Value {
    let daemon = bed.start_daemon(config);
    bed.connect();
    bed.establish(SESSIONS);
    bed.run_traffic(4000);
    bed.ping_the_upf();
    let events = bed.smf().events().unwrap();
    bed.set_idle(1);
    let waiting = bed.send_downlink(1, 10);
    assert!(matches!(events.recv_timeout(netns::PATIENCE), Ok(Event::DownlinkData { .. })));
    bed.expect_downlink(waiting);
    bed.set_active(1);
    let after = bed.send_downlink(1, 20);
    bed.expect_downlink(after);
    bed.collect_all();
    bed.run_traffic(1000);
    let offered = bed.offered.clone();
    let charged = bed.delete_sessions();
    let report = daemon.stop();
    assert_eq!(report["imbalance"], 0, "{report:#}");
    netns::assert_paged(&report, 10);
    for (n, offered) in offered.iter().enumerate() {
        assert_eq!(charged[&bed.ue(n)], offered.bytes, "session {n}");
    }
    report
}

#[test]
fn workers_share_one_queue_of_each_interface() {
    testbed_or_skip("workers_share_one_queue_of_each_interface", |mut bed| {
        let report = run(&mut bed, &config("asic", 0.5));
        assert_eq!(by_workers(&report), bed.n3.sent + bed.n6.sent, "{report:#}");
    });
}

/// What the UPF's program in the kernel hands on is steered as well.
#[test]
fn workers_share_what_xdp_hands_on() {
    testbed_or_skip("workers_share_what_xdp_hands_on", |mut bed| {
        let report = run(&mut bed, &config("xdp", 0.5));
        let slow_path = report["targets"]["xdp"]["slow_path"].as_u64().unwrap();
        assert_eq!(by_workers(&report), slow_path, "{report:#}");
        let in_xdp = bed.n3.sent + bed.n6.sent - slow_path;
        assert!(in_xdp > 1000 && slow_path > 1000, "{in_xdp} in XDP, {slow_path} handed on");
    });
}
