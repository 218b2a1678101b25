//! Do sessions run in XDP again when the daemon was restarted or killed and has them back from its store? As root, in network namespaces of its own.
//!
//! `SESSIONS=1000 cargo test -p splitplane --test xdp_restart -- --nocapture` prints how long packets do not pass, and when all run in XDP again.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{Daemon, PATIENCE, Testbed, testbed_or_skip};
use std::time::{Duration, Instant};

/// Sessions, if the environment does not say how many.
const SESSIONS: u32 = 12;
/// Of every fourth a rule says that it is in XDP; the others come there for their rate.
const BY_RULE: usize = 4;

fn config(bed: &Testbed) -> String {
    let rules = (0..SESSIONS as usize).step_by(BY_RULE).map(|n| format!("{{ ue = \"10.45.0.{}/32\", then = \"fast\" }}", n + 2));
    let rules = rules.collect::<Vec<_>>().join(", ");
    let planned = Testbed::config("xdp", 1.0).replace("policy = { share = 1.0 }", &format!("policy = \"planned\"\nrules = [{rules}]"));
    format!("{planned}[n4.store]\npath = \"{}\"\non_stop = \"keep\"\n", bed.folder().join("store").display())
}

/// Sends a little of each session until all are in XDP, as placement wants them; how long that took.
fn until_in_xdp(bed: &mut Testbed, daemon: &Daemon) -> Duration {
    let (began, all) = (Instant::now(), bed.sessions.len() as u64);
    loop {
        bed.run_traffic(4 * bed.sessions.len());
        let report = daemon.report();
        let (xdp, x86) = (&report["targets"]["xdp"], &report["targets"]["x86"]);
        if xdp["sessions"] == all && report["offload"]["unplaced"] == 0 {
            assert_eq!((&xdp["wanted"], &x86["sessions"], &x86["wanted"]), (&all.into(), &0.into(), &0.into()), "{:#}", report["offload"]);
            return began.elapsed();
        }
        assert!(began.elapsed() < PATIENCE, "{} of {all} sessions are in XDP: {:#}", xdp["sessions"], report["offload"]);
    }
}

#[test]
fn sessions_that_come_back_from_a_store_run_in_xdp_again() {
    testbed_or_skip("sessions_that_come_back_from_a_store_run_in_xdp_again", |mut bed| {
        let sessions = std::env::var("SESSIONS").map_or(SESSIONS, |sessions| sessions.parse().expect("SESSIONS is a number"));
        let config = config(&bed);
        let mut daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(sessions);
        until_in_xdp(&mut bed, &daemon);
        for stopped in [true, false] {
            let began = Instant::now();
            if stopped {
                drop(daemon.stop())
            } else {
                daemon.kill()
            }
            let ended = began.elapsed();
            let starting = Daemon::spawn(&bed, &config);
            // Both ways, as a user would see it.
            for uplink in [true, false] {
                bed.until_carried_of(1, uplink);
            }
            let passes = began.elapsed();
            daemon = starting.ready();
            let ready = began.elapsed();
            until_in_xdp(&mut bed, &daemon);
            let in_xdp = began.elapsed();
            println!(
                "{sessions} sessions, stopped {stopped}: ended after {ended:?}, packets pass after {passes:?}, ready {ready:?}, in XDP {in_xdp:?}"
            );
            // Those that passed while the daemon started ran on x86.
            let (before, patience) = (bed.ran_in_xdp().0, Instant::now() + std::time::Duration::from_secs(60));
            while bed.ran_in_xdp().0 == before {
                bed.until_carried_of(1, false);
                assert!(Instant::now() < patience, "none of the packets ran in XDP");
            }
        }
        daemon.stop();
    });
}
