//! Does a program of the user's that calls a service run under `splitplane run`, with the service in each place? As root, in network namespaces of its own.
//!
//! `programs/ciphered_upf.p4` is the UPF, and has the payload of what it forwards ciphered, protected, checked and deciphered again: two calls for a packet. So
//! every frame comes out as without, byte for byte, unless a call is missing or wrong.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{Daemon, PATIENCE, testbed_or_skip};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use traffic::around;

const SESSIONS: u32 = 4;
const FRAMES: usize = 400;

/// The UPF between the two, its program, and where the cipher runs.
fn config(folder: &Path, place: &str) -> String {
    let keys = folder.join("keys");
    std::fs::write(&keys, format!("1 2 {} 2 {}\n", "2b7e151628aed2a6abf7158809cf4f3c", "000102030405060708090a0b0c0d0e0f")).unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/ciphered_upf.p4");
    let surroundings = around::config("10.4.0.1:8805".parse().unwrap());
    format!(
        "program = \"{}\"\n{surroundings}\n[[service]]\nname = \"cipher\"\nkey_file = \"{}\"\nplace = {place}\n",
        program.display(),
        keys.display()
    )
}

fn cipher(report: &Value) -> &Value {
    &report["services"]["cipher"]
}

fn run_in(name: &str, place: fn(&Path) -> String) {
    testbed_or_skip(name, move |mut bed| {
        let folder = tempfile::tempdir().unwrap();
        let daemon = bed.start_daemon(&config(folder.path(), &place(folder.path())));
        bed.connect();
        bed.establish(SESSIONS);
        // A second process may come later than the first packets.
        bed.until_carried(true);
        bed.until_carried(false);
        let before = daemon.report();
        bed.run_traffic(FRAMES);
        bed.delete_sessions();
        let report = daemon.stop();
        assert_eq!(report["imbalance"], 0, "{report:#}");
        let count = |report: &Value, key: &str| cipher(report)[key].as_u64().unwrap();
        let calls = count(&report, "calls") - count(&before, "calls");
        assert_eq!(calls, 2 * FRAMES as u64, "one call protects and one recovers: {report:#}");
        assert_eq!(count(&report, "answered") - count(&before, "answered"), calls);
        assert_eq!((count(&report, "waiting"), count(&report, "refused_settings")), (0, 0));
        assert_eq!(cipher(&report)["dropped"], cipher(&before)["dropped"], "nothing is lost once the service is there");
    });
}

#[test]
fn a_program_calls_its_service_in_the_lane() {
    run_in("a_program_calls_its_service_in_the_lane", |_| "\"lane\"".into());
}

#[test]
fn a_program_calls_its_service_on_threads() {
    run_in("a_program_calls_its_service_on_threads", |_| "{ threads = 2 }".into());
}

#[test]
fn a_program_calls_its_service_in_a_process_that_the_daemon_starts() {
    run_in("a_program_calls_its_service_in_a_process_that_the_daemon_starts", |folder| {
        format!("{{ process = \"{}\" }}\nstart = true", folder.join("cipher.sock").display())
    });
}

/// The second process, started as an operator does; killed on drop.
struct Second(Child);

impl Second {
    fn start(path: &Path) -> Second {
        let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
        command.args(["service", "cipher", "--connect"]).arg(path).stdin(Stdio::null());
        Second(command.spawn().unwrap())
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.0.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asks until it holds.
fn wait_for(daemon: &Daemon, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let report = daemon.report();
        if holds(&report) {
            return report;
        }
        assert!(Instant::now() < end, "{what}: {report:#}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn packets_of_a_killed_service_are_counted_as_lost_and_the_next_one_carries_on() {
    testbed_or_skip("packets_of_a_killed_service_are_counted_as_lost_and_the_next_one_carries_on", |mut bed| {
        const LOST: u64 = 20;
        let folder = tempfile::tempdir().unwrap();
        let socket: PathBuf = folder.path().join("cipher.sock");
        let daemon = bed.start_daemon(&config(folder.path(), &format!("{{ process = \"{}\" }}", socket.display())));
        bed.connect();
        bed.establish(SESSIONS);
        // Nobody serves yet: the daemon carries on, and says what becomes of the packets.
        bed.send_in_vain(LOST as usize);
        let report = wait_for(&daemon, "dropped while there is none", |r| cipher(r)["dropped"]["down"] == json!(LOST));
        assert_eq!(report["dropped"]["service_down"]["packets"], LOST);

        let first = Second::start(&socket);
        bed.until_carried(true);
        bed.until_carried(false);
        bed.run_traffic(FRAMES);
        // Both have keys.
        for process in [daemon.pid(), first.0.id()] {
            let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
            let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
            assert_eq!(core.split_whitespace().collect::<Vec<_>>()[4..6], ["0", "0"], "{core}");
        }
        // It has packets, and is killed.
        first.signal("-STOP");
        bed.send_in_vain(LOST as usize);
        wait_for(&daemon, "they wait", |r| cipher(r)["waiting"] == json!(LOST));
        let killed = Instant::now();
        drop(first);
        let report = wait_for(&daemon, "lost with it", |r| cipher(r)["dropped"]["lost"] == json!(LOST));
        println!("seen {:?} after the kill", killed.elapsed());
        assert_eq!((&report["dropped"]["service_lost"]["packets"], &cipher(&report)["waiting"]), (&json!(LOST), &json!(0)));

        // Started again, without a restart of the daemon. Its keys are there again.
        let _second = Second::start(&socket);
        bed.until_carried(true);
        bed.until_carried(false);
        bed.run_traffic(FRAMES);
        bed.delete_sessions();
        let report = daemon.stop();
        assert_eq!((&report["imbalance"], &cipher(&report)["dropped"]["lost"]), (&json!(0), &json!(LOST)), "{report:#}");
    });
}

/// The processes whose parent is that one.
fn children(parent: u32) -> Vec<PathBuf> {
    let of = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.ok()?.path();
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        // Behind the name, which may have anything in it: state, parent.
        let ppid: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        (ppid == parent).then_some(path)
    };
    std::fs::read_dir("/proc").unwrap().filter_map(of).collect()
}

#[test]
fn a_process_that_the_daemon_started_ends_with_it_even_if_it_is_killed() {
    testbed_or_skip("a_process_that_the_daemon_started_ends_with_it_even_if_it_is_killed", |mut bed| {
        let folder = tempfile::tempdir().unwrap();
        let place = format!("{{ process = \"{}\" }}\nstart = true", folder.path().join("cipher.sock").display());
        for kill in [false, true] {
            let daemon = bed.start_daemon(&config(folder.path(), &place));
            let children = children(daemon.pid());
            assert_eq!(children.len(), 1, "{children:?}");
            if kill {
                daemon.kill();
            } else {
                daemon.stop();
            }
            let end = Instant::now() + PATIENCE;
            while children[0].exists() {
                assert!(Instant::now() < end, "it goes on");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
}
