//! Two veth pairs in a network namespace of the test's own thread: the program hangs on the near ends, the test has the far ends.
#![allow(dead_code)]

use base::{Packet, PortId};
use pktio::af_xdp::{Joined, Options as PortOptions};
use pktio::{AfXdp, Interface, Port};
use std::os::fd::AsFd;
use std::process::Command;
use std::time::{Duration, Instant};
use target_xdp::{Mode, RESERVE, Xdp, socket_key};

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Veths {
    pub near: [Interface; 2],
    pub far: [AfXdp; 2],
}

/// Runs a test on them, as root.
pub(crate) fn veths_or_skip(name: &str, test: impl FnOnce(Veths) + Send + 'static) {
    veths_in_mode_or_skip(name, Mode::Native, test);
}

/// The same on interfaces that take a program in that mode.
pub(crate) fn veths_in_mode_or_skip(name: &str, mode: Mode, test: impl FnOnce(Veths) + Send + 'static) {
    if !testkit::root_or_skip(name) {
        return;
    }
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        // SAFETY: changes only this thread's namespace; no pointers.
        assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNET) }, 0);
        test(veths(mode));
    });
    if let Err(panic) = thread.unwrap().join() {
        std::panic::resume_unwind(panic);
    }
}

fn veths(mode: Mode) -> Veths {
    // Frames that are longer than a page no veth takes in its driver.
    let (mtu, hook) = match mode {
        Mode::Native => (1500, pktio::af_xdp::Mode::Native),
        Mode::Generic => (3700, pktio::af_xdp::Mode::Generic),
    };
    for (near, far) in [("near0", "far0"), ("near1", "far1")] {
        ip(&format!("link add {near} numrxqueues 1 numtxqueues 1 type veth peer name {far} numrxqueues 1 numtxqueues 1"));
        for name in [near, far] {
            std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1").unwrap();
            ip(&format!("link set {name} mtu {mtu} up"));
        }
    }
    let near = ["near0", "near1"].map(|name| Interface::find(name, name).unwrap());
    // A program at the far end makes the near one send what is redirected to it.
    let options = PortOptions { mode: hook, finish_checksums: Some(false), ..PortOptions::default() };
    let far = ["far0", "far1"].map(|name| AfXdp::open(name, name, options).unwrap());
    Veths { near, far }
}

pub(crate) fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Veths {
    /// Attaches, and gives what comes out behind: what each interface hands on.
    pub(crate) fn attach(&self, xdp: &Xdp) -> Vec<AfXdp> {
        let sockets = xdp.sockets().unwrap();
        let mut behind = Vec::new();
        for (slot, near) in self.near.iter().enumerate() {
            assert_eq!(xdp.attach(&near.name, near.index).unwrap(), Mode::Native);
            let joined = Joined { sockets: sockets.as_fd(), key: &|queue| socket_key(slot as u32, queue), reserve: RESERVE };
            let options = PortOptions { finish_checksums: Some(false), ..PortOptions::default() };
            behind.extend(AfXdp::join_queues(&near.name, &near.name, &[0], options, &joined).unwrap());
        }
        behind
    }

    /// Makes `xdp` carry, on interfaces that it hangs on or is about to: they are ports 0 and 1.
    pub(crate) fn go_live(&self, xdp: &Xdp) {
        for (n, near) in self.near.iter().enumerate() {
            xdp.set_way_out(PortId(n as u16), Some(near.index)).unwrap();
            xdp.set_port(near.index, Some((PortId(n as u16), n as u32))).unwrap();
        }
    }
}

pub(crate) fn send(port: &mut AfXdp, frame: &[u8]) {
    let end = Instant::now() + PATIENCE;
    while port.transmit(&[Packet::new(frame, PortId(0))]).unwrap() == 0 {
        assert!(Instant::now() < end, "cannot send");
    }
    port.flush().unwrap();
}

/// The next frames.
pub(crate) fn receive(port: &mut AfXdp, n: usize) -> Vec<Vec<u8>> {
    let mut packets: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
    let mut got = Vec::new();
    let end = Instant::now() + PATIENCE;
    while got.len() < n {
        assert!(Instant::now() < end, "{} of {n} frames", got.len());
        let n = port.receive(&mut packets).unwrap();
        got.extend(packets[..n].iter().map(|p| p.data().to_vec()));
        if n == 0 {
            pktio::wait(&[port.fd().unwrap()], Duration::from_millis(1)).unwrap();
        }
    }
    got
}
