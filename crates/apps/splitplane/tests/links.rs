//! Does the daemon carry every session again when an interface was deleted and made anew? As root, in network namespaces of its own, on x86 with one
//! and with several workers, and behind the program in the kernel, which must come back too.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{PATIENCE, Testbed, testbed_or_skip};
use std::time::Instant;

/// So many that some run on each target: which one is by a hash of the session's random SEID, so of 8 sessions all are on one in one of 128 runs.
const SESSIONS: u32 = 32;

fn comes_back(name: &str, fast: &'static str, workers: &'static str) {
    testbed_or_skip(name, move |mut bed| {
        let daemon = bed.start_daemon(&format!("{}{workers}", Testbed::config(fast, 0.5)));
        bed.connect();
        bed.establish(SESSIONS);
        bed.run_traffic(400);
        for _ in 0..2 {
            bed.make_n6_anew();
            bed.run_traffic(400);
        }
        // Counted by the drivers, the new interface's from 0.
        let end = Instant::now() + PATIENCE;
        while fast == "xdp" && bed.ran_in_xdp().0 == 0 {
            assert!(Instant::now() < end, "XDP sends nothing any more");
            bed.run_traffic(40);
        }
        bed.ping_the_upf();
        bed.delete_sessions();
        let report = daemon.stop();
        assert_eq!(report["imbalance"], 0, "{report:#}");
        let port = &report["ports"]["n6"];
        assert!(port["reopened"].as_u64().unwrap() >= 2 && port["down"] != true, "{report:#}");
    });
}

#[test]
fn an_interface_that_is_made_anew_is_used_again_by_x86() {
    comes_back("an_interface_that_is_made_anew_is_used_again_by_x86", "asic", "");
}

#[test]
fn an_interface_that_is_made_anew_is_used_again_by_all_workers() {
    comes_back("an_interface_that_is_made_anew_is_used_again_by_all_workers", "asic", "[workers]\nsteering = \"xdp\"\ncount = 2\n");
}

#[test]
fn an_interface_that_is_made_anew_has_xdp_again() {
    comes_back("an_interface_that_is_made_anew_has_xdp_again", "xdp", "");
}

#[test]
fn an_interface_that_is_made_anew_has_xdp_and_all_workers_again() {
    comes_back("an_interface_that_is_made_anew_has_xdp_and_all_workers_again", "xdp", "[workers]\nsteering = \"xdp\"\ncount = 2\n");
}
