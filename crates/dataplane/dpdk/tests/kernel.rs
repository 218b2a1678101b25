//! Devices of DPDK on interfaces of the kernel: af_packet, af_xdp, tap. Need root; say so and pass without.

mod common;

use std::process::Command;
use std::time::{Duration, Instant};

use common::*;
use dpdk::Options;
use pktio::{AfPacket, Port};

/// Runs `test` in a thread with a network namespace of its own, or says that it was skipped.
fn in_namespace(test: impl FnOnce() + Send + 'static) {
    if !started() {
        return;
    }
    let name = std::thread::current().name().unwrap_or("test").to_owned();
    let run = move || {
        // SAFETY: changes only the calling thread's namespace; no pointers.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0 {
            test();
        } else {
            skip("needs root (CAP_SYS_ADMIN)");
        }
    };
    if let Err(panic) = std::thread::Builder::new().name(name).spawn(run).unwrap().join() {
        std::panic::resume_unwind(panic);
    }
}

fn ip(arguments: &str) -> String {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// No neighbour discovery between our frames; up.
fn bring_up(name: &str) {
    std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1").unwrap();
    ip(&format!("link set {name} up"));
}

fn wait_until_up(name: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !ip(&format!("link show {name}")).contains("LOWER_UP") {
        assert!(Instant::now() < deadline, "{name} does not come up");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn veth() -> (String, String) {
    let id = std::process::id();
    let (a, b) = (format!("dpa{id}"), format!("dpb{id}"));
    ip(&format!("link add {a} numrxqueues 1 numtxqueues 1 type veth peer name {b} numrxqueues 1 numtxqueues 1"));
    for name in [&a, &b] {
        bring_up(name);
    }
    for name in [&a, &b] {
        wait_until_up(name);
    }
    (a, b)
}

/// Frames of all lengths both ways, every byte compared.
fn exchange(ours: &mut dyn Port, theirs: &mut dyn Port, rounds: u32) {
    let longest = ours.max_frame().min(theirs.max_frame());
    let mut number = 0;
    for _ in 0..rounds {
        let frames = burst(&mut number, longest, 48);
        send(theirs, &frames);
        let got = collect(ours, 48);
        assert!(got == frames, "{} to {}: got {} of 48, up to {number}", theirs.name(), ours.name(), got.len());
        let frames = burst(&mut number, longest, 48);
        send(ours, &frames);
        let got = collect(theirs, 48);
        assert!(got == frames, "{} to {}: got {} of 48, up to {number}", ours.name(), theirs.name(), got.len());
    }
    assert!(longest >= 1500 && number == rounds * 96);
}

#[test]
fn af_packet_exchanges_frames_of_all_lengths() {
    in_namespace(|| {
        let (a, b) = veth();
        let mut ours = open_one(&format!("net_af_packet0,iface={a}"));
        let mut theirs = AfPacket::open("far", &b, Default::default()).unwrap();
        exchange(&mut ours, &mut theirs, 40);
        let mac: Vec<String> = ours.mac().iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(ip(&format!("link show {a}")).contains(&mac.join(":")));
    });
}

#[test]
fn af_xdp_exchanges_frames_of_all_lengths() {
    in_namespace(|| {
        let (a, b) = veth();
        let device = format!("net_af_xdp0,iface={a},start_queue=0,queue_count=1,force_copy=1");
        let mut ports = match open(&device, Options::default()) {
            Ok(ports) => ports,
            // A machine whose DPDK was built without libxdp, or whose kernel has no AF_XDP.
            Err(e) if pktio::AfXdp::open("near", &a, Default::default()).is_err() || e.to_string().contains("No such device") => {
                return skip(&format!("no AF_XDP for DPDK: {e}"));
            }
            Err(e) => panic!("{e}"),
        };
        let mut theirs = AfPacket::open("far", &b, Default::default()).unwrap();
        exchange(&mut ports[0], &mut theirs, 40);
    });
}

#[test]
fn a_tap_is_an_interface_of_the_kernel() {
    in_namespace(|| {
        if !std::path::Path::new("/dev/net/tun").exists() {
            return skip("this machine has no /dev/net/tun");
        }
        let name = format!("dpt{}", std::process::id());
        let mut ours = open_one(&format!("net_tap0,iface={name}"));
        bring_up(&name);
        wait_until_up(&name);
        let mut theirs = AfPacket::open("far", &name, Default::default()).unwrap();
        exchange(&mut ours, &mut theirs, 40);
        drop(ours);
        drop(theirs);
        let deadline = Instant::now() + PATIENCE;
        while ip("link show").contains(&name) {
            assert!(Instant::now() < deadline, "{name} does not go with its port");
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}
