//! The program on real interfaces: what it sends, hands on and counts, and that nothing is lost when another takes its place. As
//! root, in a network namespace of the test's own thread.

use base::{DropReason, Packet, PortId};
use pktio::af_xdp::{Joined, Options as PortOptions};
use pktio::{AfXdp, Interface, Port};
use program::{Batch, Entry, KeyMatch, Op};
use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use target::{Carried, Count, Target};
use target_xdp::{Mode, Options, Xdp, sends_redirected, socket_key};

const PATIENCE: Duration = Duration::from_secs(60);
/// Known destinations: they are behind ports 0, 1 and 2. The third port has no interface.
const MACS: [u128; 3] = [0x0200_0000_0001, 0x0200_0000_0002, 0x0200_0000_0003];

/// A switch of two ports: the near ends of two veth pairs, whose far ends the test has.
struct Bench {
    ir: p4_ir::Ir,
    near: [Interface; 2],
    far: [AfXdp; 2],
}

fn bench_or_skip(name: &str, test: impl FnOnce(Bench) + Send + 'static) {
    if !testkit::root_or_skip(name) {
        return;
    }
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        // SAFETY: changes only this thread's namespace; no pointers.
        assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNET) }, 0);
        test(bench());
    });
    if let Err(panic) = thread.unwrap().join() {
        std::panic::resume_unwind(panic);
    }
}

fn bench() -> Bench {
    for (near, far) in [("near0", "far0"), ("near1", "far1")] {
        ip(&format!("link add {near} numrxqueues 1 numtxqueues 1 type veth peer name {far} numrxqueues 1 numtxqueues 1"));
        for name in [near, far] {
            std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1").unwrap();
            ip(&format!("link set {name} up"));
        }
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/l2fwd.p4");
    let mut ir = p4_check::compile_file(&path, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let near = ["near0", "near1"].map(|name| Interface::find(name, name).unwrap());
    // Without a program or GRO at the far end, what is redirected would be lost, and the kernel says so.
    assert_eq!(near.each_ref().map(|n| sends_redirected(n.index)), [Some(false); 2]);
    let options = PortOptions { finish_checksums: Some(false), ..PortOptions::default() };
    let far = ["far0", "far1"].map(|name| AfXdp::open(name, name, options).unwrap());
    assert_eq!(near.each_ref().map(|n| sends_redirected(n.index)), [Some(true); 2]);
    Bench { ir, near, far }
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Bench {
    /// The switch, with all destinations.
    fn load(&self) -> Xdp {
        let text = p4_emit::bpf::emit_xdp(&self.ir).unwrap();
        let xdp = Xdp::load(Arc::new(self.ir.program.clone()), &text, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
        let table = self.ir.program.table("destination").unwrap();
        let action = self.ir.program.action("forward").unwrap();
        let entry = |(port, mac)| Entry { table, keys: vec![KeyMatch::Exact(mac)], priority: 0, action, args: vec![port as u128] };
        xdp.apply(&Batch { ops: MACS.into_iter().enumerate().map(|e| Op::Insert(entry(e))).collect() }).unwrap();
        xdp
    }

    /// Makes `xdp` carry, on interfaces that it hangs on or is about to.
    fn go_live(&self, xdp: &Xdp) {
        for (n, near) in self.near.iter().enumerate() {
            xdp.set_way_out(PortId(n as u16), Some(near.index)).unwrap();
            xdp.set_port(near.index, Some((PortId(n as u16), n as u32))).unwrap();
        }
    }
}

/// To a known destination, or, above them, an unknown one; its bytes tell which one it is.
fn frame(to: usize, number: u32, len: usize) -> Vec<u8> {
    let mac = MACS.get(to).map_or([2, 0, 0, 0, 0, 99], |mac| (*mac as u64).to_be_bytes()[2..].try_into().unwrap());
    let mut bytes = [&mac[..], &[2, 0, 0, 0, 9, 9, 0x88, 0xb5], &number.to_be_bytes()].concat();
    bytes.extend((bytes.len()..len).map(|i| (i as u32 ^ number) as u8));
    bytes
}

fn send(port: &mut AfXdp, frame: &[u8]) {
    let end = Instant::now() + PATIENCE;
    while port.transmit(&[Packet::new(frame, PortId(0))]).unwrap() == 0 {
        assert!(Instant::now() < end, "cannot send");
    }
    port.flush().unwrap();
}

/// The next frames.
fn receive(port: &mut AfXdp, n: usize) -> Vec<Vec<u8>> {
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

#[test]
fn what_it_sends_drops_and_hands_on_is_in_the_ledger() {
    bench_or_skip("what_it_sends_drops_and_hands_on_is_in_the_ledger", |mut bench| {
        let xdp = bench.load();
        assert_eq!(xdp.carried(), None, "no interface: packets come by lanes");
        let sockets = xdp.sockets().unwrap();
        let mut behind = Vec::new();
        for (slot, near) in bench.near.iter().enumerate() {
            assert_eq!(xdp.attach(&near.name, near.index).unwrap(), Mode::Native);
            let joined = Joined { sockets: sockets.as_fd(), key: &|queue| socket_key(slot as u32, queue) };
            let options = PortOptions { finish_checksums: Some(false), ..PortOptions::default() };
            behind.extend(AfXdp::join_queues(&near.name, &near.name, &[0], options, &joined).unwrap());
        }
        let error = bench.load().attach("near0", bench.near[0].index).unwrap_err().to_string();
        assert!(error.starts_with("interface near0: it already runs an XDP program"), "{error}");
        bench.go_live(&xdp);

        // Across, both ways.
        let across: Vec<Vec<u8>> = (0..40).map(|n| frame(1, n, 60 + 30 * n as usize)).collect();
        let back: Vec<Vec<u8>> = (0..30).map(|n| frame(0, n, 100)).collect();
        across.iter().for_each(|f| send(&mut bench.far[0], f));
        back.iter().for_each(|f| send(&mut bench.far[1], f));
        assert!(receive(&mut bench.far[1], 40) == across);
        assert!(receive(&mut bench.far[0], 30) == back);
        // Dropped; and by a port that has no way out here: handed on as they came.
        (0..7).for_each(|n| send(&mut bench.far[0], &frame(9, n, 60)));
        let elsewhere: Vec<Vec<u8>> = (0..5).map(|n| frame(2, n, 200)).collect();
        elsewhere.iter().for_each(|f| send(&mut bench.far[1], f));
        assert!(receive(&mut behind[1], 5) == elsewhere);

        let bytes = |frames: &[Vec<u8>]| frames.iter().map(|f| f.len() as u64).sum::<u64>();
        let count = |packets, bytes| Count { packets, bytes };
        let unknown = bench.ir.program.reasons.iter().find(|(_, name)| name == "unknown_destination").unwrap().0;
        let expected = Carried {
            received: [(PortId(0), count(47, bytes(&across) + 7 * 60)), (PortId(1), count(30, 3000))].into(),
            sent: [(PortId(1), count(40, bytes(&across))), (PortId(0), count(30, 3000))].into(),
            dropped: [(DropReason(unknown), count(7, 7 * 60))].into(),
            handed_on: 5,
        };
        assert_eq!(xdp.carried().unwrap(), expected);

        // Retired: everything is handed on, and nothing more is carried.
        xdp.retire();
        across.iter().for_each(|f| send(&mut bench.far[0], f));
        assert!(receive(&mut behind[0], 40) == across);
        assert_eq!(xdp.carried().unwrap(), Carried { handed_on: 45, ..expected });
    });
}

#[test]
fn another_program_takes_its_place_while_packets_flow_and_none_is_lost() {
    const FRAMES: u32 = 30_000;
    /// Under way at once: less than a veth's ring of 256 holds.
    const WINDOW: u32 = 128;
    bench_or_skip("another_program_takes_its_place_while_packets_flow_and_none_is_lost", |bench| {
        let programs = [bench.load(), bench.load()];
        for near in &bench.near {
            programs[0].attach(&near.name, near.index).unwrap();
        }
        programs.iter().for_each(|xdp| bench.go_live(xdp));
        let Bench { far: [mut from, mut to], .. } = bench;
        let received = AtomicU32::new(0);
        let mut replaced = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for n in 0..FRAMES {
                    let end = Instant::now() + PATIENCE;
                    while n - received.load(Ordering::Relaxed) >= WINDOW {
                        assert!(Instant::now() < end, "frames are lost");
                        std::thread::yield_now();
                    }
                    send(&mut from, &frame(1, n, 60));
                }
            });
            let mut expected: VecDeque<Vec<u8>> = (0..FRAMES).map(|n| frame(1, n, 60)).collect();
            while !expected.is_empty() {
                let (old, new) = if replaced % 2 == 0 { (0, 1) } else { (1, 0) };
                programs[old].replace_by(&programs[new]).unwrap();
                replaced += 1;
                for got in receive(&mut to, 1) {
                    assert_eq!(Some(got), expected.pop_front());
                    received.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let carried = programs.each_ref().map(|xdp| xdp.carried().unwrap().sent[&PortId(1)].packets);
        assert_eq!(carried.iter().sum::<u64>(), FRAMES.into());
        assert!(replaced > 50 && carried.iter().all(|n| *n > 500), "{replaced} times; by the two: {carried:?}");
    });
}
