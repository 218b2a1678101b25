//! Does XDP go on while the daemon is away? As root, in network namespaces of its own: packets in order, each by its bytes, while the daemon is
//! killed and started again, and all of them charged.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{Daemon, Testbed, testbed_or_skip};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const SESSIONS: usize = 4;
/// Frames of each session and direction under way at most.
const IN_FLIGHT: usize = 8;

/// A BPF file system of a test's own.
struct BpfFolder(PathBuf);

impl BpfFolder {
    fn mount(at: PathBuf) -> BpfFolder {
        std::fs::create_dir(&at).unwrap();
        assert!(Command::new("mount").args(["-t", "bpf", "bpf"]).arg(&at).status().unwrap().success());
        BpfFolder(at)
    }

    fn pins(&self) -> PathBuf {
        self.0.join("upf")
    }

    fn names(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.pins()).into_iter().flatten();
        let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for BpfFolder {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Counters are recorded when they must be, and not by the clock.
fn config(bed: &Testbed, pins: &Path) -> String {
    let config = Testbed::config("xdp", 1.0);
    let store = bed.folder().join("store");
    format!("{config}keep = \"{}\"\n[n4.store]\npath = \"{}\"\ncounters_within_s = 3600\n", pins.display(), store.display())
}

/// Frames of all sessions both ways, some hundreds a second.
fn step(bed: &mut Testbed) {
    bed.step(&(0..SESSIONS).collect::<Vec<_>>(), IN_FLIGHT);
    std::thread::sleep(Duration::from_millis(2));
}

#[test]
fn not_a_packet_of_a_session_in_xdp_is_lost_or_free_of_charge_when_the_daemon_is_killed_and_comes_back() {
    testbed_or_skip("not_a_packet_of_a_session_in_xdp_is_lost_or_free_of_charge_when_the_daemon_is_killed_and_comes_back", |mut bed| {
        let bpf = BpfFolder::mount(bed.folder().join("bpf"));
        let config = config(&bed, &bpf.pins());
        let mut daemon = bed.start_daemon(&config);
        bed.connect();
        bed.establish(SESSIONS as u32);
        (0..100).for_each(|_| step(&mut bed));
        bed.collect_all();
        // The second time its counters have not been recorded since the last start.
        for round in 0..2 {
            let before = bed.ran_in_xdp().0;
            daemon.kill();
            (0..100).for_each(|_| step(&mut bed));
            bed.collect_all();
            assert!(bed.ran_in_xdp().0 >= before + 200, "round {round}: all of them in XDP, as nobody else is there");
            let starting = Daemon::spawn(&bed, &config);
            let starting = std::thread::spawn(move || starting.ready());
            let mut steps = 0;
            while !starting.is_finished() {
                step(&mut bed);
                steps += 1;
            }
            daemon = starting.join().unwrap();
            println!("round {round}: {steps} packets each way while it started");
            (0..50).for_each(|_| step(&mut bed));
            bed.collect_all();
        }
        // Of one process, all segments of its counter, and a link for each port.
        let (counters, links): (Vec<String>, Vec<String>) = bpf.names().into_iter().partition(|name| name.starts_with("counter-"));
        let epochs: std::collections::BTreeSet<_> = counters.iter().filter_map(|name| name.split('-').nth(1)).collect();
        assert!(epochs.len() == 1 && counters.len() > 1 && links.len() == 2, "{counters:?} {links:?}");
        let offered = bed.offered.clone();
        let charged = bed.delete_sessions();
        let report = daemon.stop();
        assert_eq!((&report["imbalance"], &report["dropped"]), (&0.into(), &serde_json::json!({})), "{report:#}");
        for (n, offered) in offered.iter().enumerate() {
            assert_eq!(charged[&bed.ue(n)], offered.bytes, "session {n}");
        }
        // Nothing stays when it ends as it should.
        assert_eq!(bpf.names(), Vec::<String>::new());
        bed.wait_until_free("n3");
        bed.wait_until_free("n6");
    });
}

#[test]
fn what_a_daemon_has_left_is_removed_with_its_files() {
    testbed_or_skip("what_a_daemon_has_left_is_removed_with_its_files", |mut bed| {
        let bpf = BpfFolder::mount(bed.folder().join("bpf"));
        let config = config(&bed, &bpf.pins());
        bed.start_daemon(&config).kill();
        assert!(bed.program_runs_on("n3") && bed.program_runs_on("n6"));
        // Who does not know of it is told what to do.
        let (good, text) = Daemon::spawn(&bed, &Testbed::config("xdp", 1.0)).end();
        assert!(!good && text.contains("it already runs an XDP program") && text.contains("`split.keep`"), "{text}");
        std::fs::remove_dir_all(bpf.pins()).unwrap();
        bed.wait_until_free("n3");
        bed.wait_until_free("n6");
        // In a folder of another file system nothing can stay.
        let elsewhere = config.replace(&bpf.pins().display().to_string(), &bed.folder().join("none").display().to_string());
        let (good, text) = Daemon::spawn(&bed, &elsewhere).end();
        assert!(!good && text.contains("mount -t bpf bpf"), "{text}");
    });
}
