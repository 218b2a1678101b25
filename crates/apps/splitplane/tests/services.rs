//! Does a program of the user's that calls a service run under `splitplane run`, with the service in each place? As root, in network namespaces of its own.
//!
//! `programs/ciphered_upf.p4` is the UPF, and has the payload of what it forwards ciphered, protected, checked and deciphered again: two calls for a packet. With
//! `programs/buffered_upf.p4` and `programs/resubmitted_upf.p4` what leaves the UPF is a copy that the buffer or Algorithm 1 gives out, and the packet stays with the
//! service until a status names it. So every frame comes out as the UPF alone would send it, byte for byte and in the order of its flow, unless a call is missing or wrong:
//! the testbed holds each frame to that.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{Daemon, PATIENCE, Testbed, testbed_or_skip};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use traffic::around::{self, AROUND};

const SESSIONS: u32 = 4;
const FRAMES: usize = 400;

/// The UPF between the two, a program of these tests', and the block of its service.
fn with_service(program: &str, name: &str, place: &str, more: &str) -> String {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(program);
    let surroundings = around::config("10.4.0.1:8805".parse().unwrap());
    format!("program = \"{}\"\n{surroundings}\n[[service]]\nname = \"{name}\"\nplace = {place}\n{more}", program.display())
}

/// With the cipher, and a key.
fn config(folder: &Path, place: &str) -> String {
    let keys = folder.join("keys");
    std::fs::write(&keys, format!("1 2 {} 2 {}\n", "2b7e151628aed2a6abf7158809cf4f3c", "000102030405060708090a0b0c0d0e0f")).unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    with_service("ciphered_upf.p4", "cipher", place, &format!("key_file = \"{}\"\n", keys.display()))
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

    /// Of a service that keeps packets.
    fn keeping(of: &Keeping, path: &Path) -> Second {
        let mut command = Command::new(env!("CARGO_BIN_EXE_splitplane"));
        command.args(["service", of.name, "--connect"]).arg(path).args(of.options).stdin(Stdio::null());
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

/// A service that keeps what leaves the UPF.
struct Keeping {
    name: &'static str,
    program: &'static str,
    /// Of its block, and of its process.
    sizes: &'static str,
    options: &'static [&'static str],
}

/// Flows of the programs: sessions, directions and IP versions.
const FLOWS: u16 = 32;

const BUFFER: Keeping = Keeping { name: "buffer", program: "buffered_upf.p4", sizes: "", options: &[] };
/// Each packet comes out once, after 400 ms, and is dropped after as much again.
const RESUBMIT: Keeping = Keeping {
    name: "resubmit",
    program: "resubmitted_upf.p4",
    sizes: "interval_ms = 400\nattempts = 1\n",
    options: &["--interval-ms=400", "--attempts=1"],
};

impl Keeping {
    fn config(&self, place: &str) -> String {
        let bearer = |number| {
            format!(
                "[[service.bearer]]\nnumber = {number}\nsn_bits = 12\nwindow = 2048\npoll_retransmit_ms = 4000\nmax_retransmissions = 8\n"
            )
        };
        let bearers: String = if self.name == "buffer" { (0..FLOWS).map(bearer).collect() } else { String::new() };
        // A process that the daemon does not start has its sizes on its own command line.
        let sizes = if place.contains("process") { "" } else { self.sizes };
        with_service(self.program, self.name, place, &format!("{sizes}{bearers}"))
    }

    fn count(&self, report: &Value, key: &str) -> u64 {
        report["services"][self.name][key].as_u64().unwrap()
    }

    /// Of its calls, for that reason of its own.
    fn dropped(&self, report: &Value, reason: &str) -> u64 {
        report["services"][self.name]["dropped"][reason].as_u64().unwrap_or(0)
    }
}

/// Of packets, for a reason of the program's.
fn dropped(report: &Value, reason: &str) -> u64 {
    report["dropped"][reason]["packets"].as_u64().unwrap_or(0)
}

/// A frame for the programs' own ends.
fn own(ethertype: u16, source: [u8; 4], payload: &[u8]) -> Vec<u8> {
    [&AROUND.n6_mac[..], &[2, 0], &source, &ethertype.to_be_bytes(), payload].concat()
}

/// A STATUS PDU with numbers of 12 bits (TS 38.322 §6.2.2.5): all before `ack` have come, but for `nack`.
fn status(ack: u16, nack: Option<u16>) -> Vec<u8> {
    let mut pdu = (u32::from(ack) << 8 | u32::from(nack.is_some()) << 7).to_be_bytes()[1..].to_vec();
    pdu.extend(nack.into_iter().flat_map(|sn| (sn << 4).to_be_bytes()));
    pdu
}

/// Sends such frames, no faster than a busy daemon takes them.
fn send_own(bed: &mut Testbed, frames: impl IntoIterator<Item = Vec<u8>>) {
    for (at, frame) in frames.into_iter().enumerate() {
        bed.n6.send(&frame);
        if at % 32 == 31 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Acknowledges all that the buffer keeps, and asks for some of it again before.
fn acknowledge(bed: &mut Testbed, daemon: &Daemon) {
    let (of, before, deadline) = (&BUFFER, daemon.report(), Instant::now() + PATIENCE);
    let waiting = of.count(&before, "waiting");
    let of_all = |pdu: Vec<u8>| (0..FLOWS).map(move |bearer| own(0x88b5, u32::from(bearer).to_be_bytes(), &pdu));
    // Each bearer's first: it comes again, and the program drops it.
    send_own(bed, of_all(status(1, Some(0))));
    let again = |report: &Value| dropped(report, "firewall") - dropped(&before, "firewall");
    wait_for(daemon, "packets come again", |report| again(report) >= 2 * u64::from(SESSIONS));
    // How many a bearer has sent is its to know: a status that is late, or of packets that were not sent, acknowledges nothing.
    while of.count(&daemon.report(), "waiting") > 0 {
        assert!(Instant::now() < deadline, "{:#}", daemon.report());
        send_own(bed, (1..160).flat_map(|ack| of_all(status(ack, None))));
    }
    let report = wait_for(daemon, "all come out", |report| dropped(report, "gate_closed") - dropped(&before, "gate_closed") >= waiting);
    assert_eq!(dropped(&report, "gate_closed") - dropped(&before, "gate_closed"), waiting, "each once: {report:#}");
    assert!(of.dropped(&report, "status_outside_window") > 0, "{report:#}");
}

/// Has Algorithm 1 told of some packets, and waits until it keeps none.
fn name_some(bed: &mut Testbed, daemon: &Daemon) {
    let (of, before, deadline) = (&RESUBMIT, daemon.report(), Instant::now() + PATIENCE);
    send_own(bed, [own(0x88b6, [0; 4], &[])]);
    let named = |report: &Value| dropped(report, "gate_closed") - dropped(&before, "gate_closed");
    wait_for(daemon, "copies are dropped", |report| dropped(report, "multicast") > dropped(&before, "multicast"));
    // Which numbers the flows have reached is theirs to know; those that are not kept are counted and refused. A packet may have ended before its status comes.
    for first in (0..).step_by(8) {
        bed.send_in_vain(64);
        let uplink = FLOWS / 2..FLOWS;
        send_own(
            bed,
            uplink.flat_map(|flow| (first..first + 80).map(move |id: u16| own(0x88b5, [0, flow as u8, (id >> 8) as u8, id as u8], &[]))),
        );
        if named(&daemon.report()) >= 16 {
            break;
        }
        assert!(Instant::now() < deadline, "{:#}", daemon.report());
    }
    let report = wait_for(daemon, "nothing is kept", |report| of.count(report, "waiting") == 0);
    assert!(of.dropped(&report, "status_stale") > 0 && of.dropped(&report, "attempts") > 0, "{report:#}");
}

fn end(bed: &mut Testbed, daemon: Daemon, of: &Keeping) -> Value {
    bed.delete_sessions();
    let report = daemon.stop();
    assert_eq!(
        (&report["imbalance"], of.count(&report, "waiting"), of.count(&report, "refused_settings")),
        (&json!(0), 0, 0),
        "{report:#}"
    );
    report
}

fn keep_in(of: &'static Keeping, name: &str, place: &'static str) {
    testbed_or_skip(name, move |mut bed| {
        let daemon = bed.start_daemon(&of.config(place));
        bed.connect();
        bed.establish(SESSIONS);
        bed.until_carried(true);
        bed.until_carried(false);
        let before = daemon.report();
        bed.run_traffic(FRAMES);
        let report = daemon.report();
        let new = |key: &str| of.count(&report, key) - of.count(&before, key);
        assert_eq!(report["imbalance"], 0);
        assert_eq!(new("calls"), FRAMES as u64, "{report:#}");
        assert!(new("copies") >= FRAMES as u64, "each frame that came out is a copy: {report:#}");
        if of.name == "buffer" {
            assert!(of.count(&report, "waiting") >= FRAMES as u64, "all wait for a status: {report:#}");
            acknowledge(&mut bed, &daemon);
        } else {
            name_some(&mut bed, &daemon);
        }
        end(&mut bed, daemon, of);
    });
}

#[test]
fn the_buffer_keeps_and_sends_in_the_lane() {
    keep_in(&BUFFER, "the_buffer_keeps_and_sends_in_the_lane", "\"lane\"");
}

#[test]
fn the_buffer_keeps_and_sends_on_threads() {
    keep_in(&BUFFER, "the_buffer_keeps_and_sends_on_threads", "{ threads = 2 }");
}

#[test]
fn algorithm_1_keeps_and_sends_again_in_the_lane() {
    keep_in(&RESUBMIT, "algorithm_1_keeps_and_sends_again_in_the_lane", "\"lane\"");
}

#[test]
fn algorithm_1_keeps_and_sends_again_on_threads() {
    keep_in(&RESUBMIT, "algorithm_1_keeps_and_sends_again_on_threads", "{ threads = 2 }");
}

/// In a second process, that is killed with what it keeps, and started again.
fn keep_in_a_process(of: &'static Keeping, name: &str) {
    testbed_or_skip(name, move |mut bed| {
        const LOST: u64 = 20;
        let folder = tempfile::tempdir().unwrap();
        let socket: PathBuf = folder.path().join("keeps.sock");
        let daemon = bed.start_daemon(&of.config(&format!("{{ process = \"{}\" }}", socket.display())));
        bed.connect();
        bed.establish(SESSIONS);
        let first = Second::keeping(of, &socket);
        bed.until_carried(true);
        bed.until_carried(false);
        bed.run_traffic(FRAMES);
        if of.name == "resubmit" {
            wait_for(&daemon, "nothing is kept", |report| of.count(report, "waiting") == 0);
        }
        let kept = of.count(&daemon.report(), "waiting");
        assert!(of.name == "resubmit" || kept >= FRAMES as u64, "all wait for a status");
        // It stands still with what it has, some of it taken and some not, and is killed.
        first.signal("-STOP");
        bed.send_in_vain(LOST as usize);
        wait_for(&daemon, "they wait", |report| of.count(report, "waiting") == kept + LOST);
        drop(first);
        let report = wait_for(&daemon, "lost with it", |report| of.count(report, "waiting") == 0);
        assert_eq!((of.dropped(&report, "lost"), dropped(&report, "service_lost")), (kept + LOST, kept + LOST), "{report:#}");
        assert_eq!(report["imbalance"], 0);

        // Started again, without a restart of the daemon: bearers are there again, and number from the beginning.
        let _second = Second::keeping(of, &socket);
        bed.until_carried(true);
        bed.until_carried(false);
        bed.run_traffic(FRAMES);
        if of.name == "buffer" {
            acknowledge(&mut bed, &daemon);
        } else {
            name_some(&mut bed, &daemon);
        }
        let report = end(&mut bed, daemon, of);
        assert_eq!(of.dropped(&report, "lost"), kept + LOST, "nothing more is lost: {report:#}");
    });
}

#[test]
fn what_a_killed_buffer_kept_is_counted_as_lost_and_the_next_one_carries_on() {
    keep_in_a_process(&BUFFER, "what_a_killed_buffer_kept_is_counted_as_lost_and_the_next_one_carries_on");
}

#[test]
fn what_a_killed_algorithm_1_kept_is_counted_as_lost_and_the_next_one_carries_on() {
    keep_in_a_process(&RESUBMIT, "what_a_killed_algorithm_1_kept_is_counted_as_lost_and_the_next_one_carries_on");
}
