//! Shared memory (memif) between two processes of ours. The other process is this test's own binary, told by the environment to echo.

mod common;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::*;
use dpdk::{DpdkPort, Options};
use pktio::Port;

/// In the other process: the socket that it connects to.
const SOCKET: &str = "DPDK_MEMIF_SOCKET";

/// Gives back every frame until the link goes. Not a test of its own.
#[test]
#[ignore = "the other process of the test of this file"]
fn peer() {
    let Some(socket) = std::env::var_os(SOCKET) else { return };
    assert!(started());
    let mut port = open_one(&format!("net_memif0,role=client,socket-abstract=no,socket={}", socket.display()));
    wait_for_link(&port, true);
    let mut packets = buffers(64);
    while port.link_is_up() {
        let n = port.receive(&mut packets).unwrap();
        let mut sent = 0;
        while sent < n && port.link_is_up() {
            sent += port.transmit(&packets[sent..n]).unwrap();
        }
    }
}

struct Process(Child);

impl Process {
    fn start(socket: &str) -> Process {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "peer", "--ignored", "--test-threads=1"]).env(SOCKET, socket);
        Process(command.stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for_link(port: &DpdkPort, up: bool) {
    let deadline = Instant::now() + PATIENCE;
    while port.link_is_up() != up {
        assert!(Instant::now() < deadline, "{}: the link does not go {}", port.name(), if up { "up" } else { "down" });
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn two_processes_exchange_frames_and_either_may_leave() {
    if !started() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("memif.sock").display().to_string();
    let device = format!("net_memif0,role=server,socket-abstract=no,socket={socket}");
    let mut port = open(&device, Options { mtu: None, ..Options::default() }).unwrap().remove(0);
    assert!(!port.link_is_up());
    // Nobody is there: taken, lost and counted, so that nobody waits.
    let lost: Vec<base::Packet> = (0..100).map(|i| base::Packet::new(&frame(i, 60), base::PortId(0))).collect();
    let mut taken = 0;
    while taken < lost.len() {
        taken += port.transmit(&lost[taken..]).unwrap();
    }
    assert_eq!(port.device_drops().tx_invalid, 100);
    let mut number = 0;
    for _ in 0..3 {
        let process = Process::start(&socket);
        wait_for_link(&port, true);
        let longest = port.max_frame();
        for _ in 0..100 {
            let frames = burst(&mut number, longest, 64);
            send(&mut port, &frames);
            let got = collect(&mut port, 64);
            assert!(got == frames, "got {} of 64, up to {number}", got.len());
        }
        // The other process is killed in the middle of things.
        send(&mut port, &burst(&mut number, longest, 64));
        drop(process);
        wait_for_link(&port, false);
        let mut packets = buffers(64);
        for _ in 0..100 {
            port.receive(&mut packets).unwrap();
        }
    }
    assert_eq!(number, 3 * 101 * 64);
}
