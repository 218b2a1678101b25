//! The program on real interfaces: what it sends, hands on and counts, and that nothing is lost when another takes its place. As
//! root, in a network namespace of the test's own thread.

#[path = "common/veth.rs"]
mod veth;

use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use pktio::af_xdp::{Joined, Options as PortOptions};
use pktio::{AfXdp, Interface};
use program::{Batch, Entry, KeyMatch, Op};
use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use target_api::{Ahead, Carried, Count, Recovery, Target};
use target_xdp::probe::{ETHERTYPE, Probe};
use target_xdp::{EntryPoints, Mode, Options, RESERVE, Xdp, sends_redirected, socket_key};
use veth::{PATIENCE, Veths, ip, receive, send, veths_in_mode_or_skip};

/// Known destinations: they are behind ports 0, 1 and 2. The third port has no interface.
const MACS: [u128; 3] = [0x0200_0000_0001, 0x0200_0000_0002, 0x0200_0000_0003];

/// A switch of two ports: the near ends of two veth pairs, whose far ends the test has.
struct Bench {
    ir: p4_ir::Ir,
    veths: Veths,
}

fn bench_or_skip(name: &str, test: impl FnOnce(Bench) + Send + 'static) {
    bench_of_or_skip(name, "l2switch.p4", Mode::Native, test);
}

/// With another program, or on interfaces that take it in front of the stack only.
fn bench_of_or_skip(name: &str, program: &'static str, mode: Mode, test: impl FnOnce(Bench) + Send + 'static) {
    veths_in_mode_or_skip(name, mode, move |veths| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4").join(program);
        let mut ir = p4_check::compile_file(&path, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
        p4_passes::optimise(&mut ir).unwrap();
        test(Bench { ir, veths });
    });
}

impl Bench {
    /// The switch, with all destinations.
    fn load(&self) -> Xdp {
        self.load_for(EntryPoints::Interfaces)
    }

    fn load_for(&self, entry: EntryPoints) -> Xdp {
        let text = p4_emit::bpf::emit_xdp(&self.ir).unwrap();
        let options = Options { entry, ..Options::default() };
        let xdp = Xdp::load(Arc::new(self.ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"));
        xdp.apply(&Batch { ops: destinations(&self.ir) }).unwrap();
        xdp
    }
}

/// None for a program that has no such table.
fn destinations(ir: &p4_ir::Ir) -> Vec<Op> {
    let Some(table) = ir.program.table("destination") else { return Vec::new() };
    let action = ir.program.action("forward").unwrap();
    let entry = |(port, mac)| Entry { table, keys: vec![KeyMatch::Exact(mac)], priority: 0, action, args: vec![port as u128] };
    MACS.into_iter().enumerate().map(|e| Op::Insert(entry(e))).collect()
}

/// To a known destination, or, above them, an unknown one; its bytes tell which one it is.
fn frame(to: usize, number: u32, len: usize) -> Vec<u8> {
    let mac = MACS.get(to).map_or([2, 0, 0, 0, 0, 99], |mac| (*mac as u64).to_be_bytes()[2..].try_into().unwrap());
    let mut bytes = [&mac[..], &[2, 0, 0, 0, 9, 9, 0x88, 0xb5], &number.to_be_bytes()].concat();
    bytes.extend((bytes.len()..len).map(|i| (i as u32 ^ number) as u8));
    bytes
}

/// The frame that asks finds out what is so, and what the kernel says where it does (Linux 6.3).
#[test]
fn which_veths_send_redirected_frames_is_found_out_by_a_frame() {
    const NAME: &str = "which_veths_send_redirected_frames_is_found_out_by_a_frame";
    bench_or_skip(NAME, |bench| {
        let probe = Probe::load(None).unwrap();
        let told = sends_redirected(1).is_some();
        if !told {
            testkit::skip("the comparison with the kernel's own answer: it gives none (Linux 6.3 does)");
        }
        let mut answers = [0, 0];
        let mut check = |n: &Interface, sends: bool, what: &str| {
            for round in 0..3 {
                let found = probe.sends_redirected(&n.name, n.index, n.mac).unwrap();
                assert_eq!(found, sends, "{what}, round {round}");
                answers[usize::from(found)] += 1;
            }
            // Of a far end that is down it says what would be if it were up.
            if told && what != "down" {
                assert_eq!(sends_redirected(n.index), Some(sends), "the kernel's answer: {what}");
            }
        };
        let Veths { near: [near, other], far: [mut far, other_far] } = bench.veths;
        check(&near, true, "a program");
        // What the far end gets is nobody's, and of no protocol.
        let expected = [&near.mac[..], &near.mac, &ETHERTYPE.to_be_bytes()].concat();
        for frame in receive(&mut far, 3) {
            assert!(frame.len() == 60 && frame[..14] == expected, "{frame:02x?}");
        }
        drop(far);
        check(&near, false, "no program any more");
        pktio::interface::enable_gro("far0").unwrap();
        check(&near, true, "GRO");
        ip("link set far0 down");
        check(&near, false, "down");
        ip("link set far0 up");
        check(&near, true, "up again");
        pktio::interface::disable_offloads("far0").unwrap();
        check(&near, false, "GRO off");
        // The other pair saw nothing of all this.
        check(&other, true, "another veth");
        drop(other_far);
        assert!(answers[0] >= 9 && answers[1] >= 12, "{answers:?}");
        assert!(probe.sends_redirected("lo", 1, [0; 6]).is_err());
    });
}

#[test]
fn a_program_serves_what_it_was_loaded_for() {
    bench_or_skip("a_program_serves_what_it_was_loaded_for", |bench| {
        let (name, index) = (&bench.veths.near[0].name, bench.veths.near[0].index);
        let run = |xdp: &Xdp| {
            let mut verdict = [Verdict::default()];
            xdp.lane(0).process(&mut [Packet::new(&frame(1, 0, 60), PortId(0))], &mut verdict, 1);
            (verdict[0].kind, verdict[0].port)
        };
        let slow_path = (VerdictKind::Next, 0);
        let xdp = bench.load_for(EntryPoints::Lanes);
        assert_eq!(run(&xdp), (VerdictKind::Forward, 1));
        let error = xdp.attach(name, index).unwrap_err().to_string();
        assert_eq!(error, "interface near0: the program was loaded for lanes only");
        assert_eq!(run(&xdp), (VerdictKind::Forward, 1), "as before");
        let xdp = bench.load_for(EntryPoints::Interfaces);
        assert_eq!(run(&xdp), slow_path);
        xdp.attach(name, index).unwrap();
        drop(xdp);
        let xdp = bench.load_for(EntryPoints::Both);
        assert_eq!(run(&xdp), (VerdictKind::Forward, 1));
        xdp.attach(name, index).unwrap();
        assert_eq!(run(&xdp), slow_path);
    });
}

/// Until the kernel has verified it, all packets go up the stack, where no socket waits; tables fill meanwhile.
#[test]
fn a_program_that_is_verified_later_passes_all_packets_on_and_then_forwards() {
    bench_or_skip("a_program_that_is_verified_later_passes_all_packets_on_and_then_forwards", |mut bench| {
        let text = p4_emit::bpf::emit_xdp(&bench.ir).unwrap();
        let load = |options: Options| Xdp::load(Arc::new(bench.ir.program.clone()), &text, &options);
        let later = Options { entry: EntryPoints::Interfaces, later: Some(target_xdp::Form::Full), ..Options::default() };
        let refused = load(Options { entry: EntryPoints::Both, ..later.clone() }).err().unwrap().to_string();
        assert!(refused.contains("verified later"), "{refused}");
        let xdp = load(later).unwrap();
        xdp.retire();
        bench.veths.near.iter().for_each(|near| _ = xdp.attach(&near.name, near.index).unwrap());
        bench.veths.go_live(&xdp);
        send(&mut bench.veths.far[0], &frame(1, 7, 60));
        let end = Instant::now() + PATIENCE;
        while xdp.carried().slow_path == 0 {
            assert!(Instant::now() < end, "it was not passed on");
            std::thread::yield_now();
        }
        xdp.verify().unwrap();
        xdp.restart().unwrap();
        xdp.apply(&Batch { ops: destinations(&bench.ir) }).unwrap();
        xdp.serve().unwrap();
        send(&mut bench.veths.far[0], &frame(1, 8, 60));
        // Only the one that came when it forwards.
        assert_eq!(receive(&mut bench.veths.far[1], 1), [frame(1, 8, 60)]);
        let again = xdp.verify().unwrap_err().to_string();
        assert!(again.contains("in service already"), "{again}");
    });
}

/// One of the interfaces goes while the kernel verifies the program: the other forwards, and so does a new one of that name.
#[test]
fn an_interface_that_is_deleted_before_the_program_is_verified_is_no_error() {
    bench_or_skip("an_interface_that_is_deleted_before_the_program_is_verified_is_no_error", |mut bench| {
        let text = p4_emit::bpf::emit_xdp(&bench.ir).unwrap();
        let options = Options { entry: EntryPoints::Interfaces, later: Some(target_xdp::Form::Full), ..Options::default() };
        let xdp = Xdp::load(Arc::new(bench.ir.program.clone()), &text, &options).unwrap();
        xdp.retire();
        bench.veths.near.iter().for_each(|near| _ = xdp.attach(&near.name, near.index).unwrap());
        bench.veths.go_live(&xdp);
        ip("link delete near0");
        xdp.verify().unwrap();
        xdp.detach(bench.veths.near[0].index).unwrap();
        xdp.restart().unwrap();
        xdp.apply(&Batch { ops: destinations(&bench.ir) }).unwrap();
        xdp.serve().unwrap();
        // To nobody.
        send(&mut bench.veths.far[1], &frame(9, 8, 60));
        let end = Instant::now() + PATIENCE;
        while xdp.carried().dropped.values().map(|count| count.packets).sum::<u64>() != 1 {
            assert!(Instant::now() < end, "{:?}", xdp.carried());
            std::thread::yield_now();
        }
        ip("link add near0 numrxqueues 1 numtxqueues 1 type veth peer name far0 numrxqueues 1 numtxqueues 1");
        ip("link set near0 up");
        let near = Interface::find("near0", "near0").unwrap();
        assert_eq!(xdp.attach(&near.name, near.index).unwrap(), Mode::Native);
        let again = xdp.verify().unwrap_err().to_string();
        assert!(again.contains("in service already"), "{again}");
    });
}

#[test]
fn what_it_sends_drops_and_hands_on_is_in_the_ledger() {
    bench_or_skip("what_it_sends_drops_and_hands_on_is_in_the_ledger", |mut bench| {
        let xdp = bench.load();
        assert!(xdp.facets().ahead.is_none(), "no interface: packets come by lanes");
        let mut behind = bench.veths.attach(&xdp);
        let error = bench.load().attach("near0", bench.veths.near[0].index).unwrap_err().to_string();
        assert!(error.starts_with("interface near0: it already runs an XDP program"), "{error}");
        bench.veths.go_live(&xdp);

        // Across, both ways.
        let across: Vec<Vec<u8>> = (0..40).map(|n| frame(1, n, 60 + 30 * n as usize)).collect();
        let back: Vec<Vec<u8>> = (0..30).map(|n| frame(0, n, 100)).collect();
        across.iter().for_each(|f| send(&mut bench.veths.far[0], f));
        back.iter().for_each(|f| send(&mut bench.veths.far[1], f));
        assert!(receive(&mut bench.veths.far[1], 40) == across);
        assert!(receive(&mut bench.veths.far[0], 30) == back);
        // Dropped; and by a port that has no way out here: handed on as they came.
        (0..7).for_each(|n| send(&mut bench.veths.far[0], &frame(9, n, 60)));
        let elsewhere: Vec<Vec<u8>> = (0..5).map(|n| frame(2, n, 200)).collect();
        elsewhere.iter().for_each(|f| send(&mut bench.veths.far[1], f));
        assert!(receive(&mut behind[1], 5) == elsewhere);

        let bytes = |frames: &[Vec<u8>]| frames.iter().map(|f| f.len() as u64).sum::<u64>();
        let count = |packets, bytes| Count { packets, bytes };
        let unknown = bench.ir.program.reasons.iter().find(|(_, name)| name == "unknown_destination").unwrap().0;
        let expected = Carried {
            received: [(PortId(0), count(47, bytes(&across) + 7 * 60)), (PortId(1), count(30, 3000))].into(),
            sent: [(PortId(1), count(40, bytes(&across))), (PortId(0), count(30, 3000))].into(),
            dropped: [(DropReason(unknown), count(7, 7 * 60))].into(),
            slow_path: 5,
        };
        // The dropped ones, of which nobody sees anything, may be the last.
        let end = Instant::now() + PATIENCE;
        while xdp.carried() != expected {
            assert!(Instant::now() < end, "{:?} is not {expected:?}", xdp.carried());
            std::thread::yield_now();
        }

        // What takes something away waits for packets in flight; what only adds does not.
        let waits = |xdp: &Xdp| (xdp.waited().quick, xdp.waited().slow);
        assert_eq!(waits(&xdp), (0, 0));
        let Op::Insert(first) = destinations(&bench.ir)[0].clone() else { panic!("an entry") };
        xdp.apply(&Batch { ops: vec![Op::Delete(first.clone())] }).unwrap();
        xdp.apply(&Batch { ops: vec![Op::Insert(first.clone())] }).unwrap();
        assert_eq!(waits(&xdp), (1, 0));

        // Retired: everything is handed on, and nothing more is carried. So nobody waits.
        xdp.retire();
        for change in [Op::Delete, Op::Insert].repeat(100) {
            xdp.apply(&Batch { ops: vec![change(first.clone())] }).unwrap();
        }
        assert_eq!(waits(&xdp), (1, 0));
        across.iter().for_each(|f| send(&mut bench.veths.far[0], f));
        assert!(receive(&mut behind[0], 40) == across);
        assert_eq!(xdp.carried(), Carried { slow_path: 45, ..expected.clone() });

        // It begins anew, empty, and what it carried stays carried.
        let table = bench.ir.program.table("destination").unwrap();
        assert_eq!(xdp.table_stats(table).entries, 3);
        xdp.restart().unwrap();
        assert_eq!(xdp.table_stats(table).entries, 0);
        send(&mut bench.veths.far[0], &across[0]);
        assert!(receive(&mut behind[0], 1) == across[..1], "until it serves, all is handed on");
        xdp.serve().unwrap();
        assert!(xdp.restart().is_err(), "it has lost nothing");
        (0..3).for_each(|n| send(&mut bench.veths.far[0], &frame(1, n, 60)));
        xdp.apply(&Batch { ops: destinations(&bench.ir) }).unwrap();
        across.iter().for_each(|f| send(&mut bench.veths.far[0], f));
        assert!(receive(&mut bench.veths.far[1], 40) == across);
        let again = Carried {
            received: [(PortId(0), count(90, 2 * bytes(&across) + 10 * 60)), (PortId(1), count(30, 3000))].into(),
            sent: [(PortId(1), count(80, 2 * bytes(&across))), (PortId(0), count(30, 3000))].into(),
            dropped: [(DropReason(unknown), count(10, 10 * 60))].into(),
            slow_path: 46,
        };
        assert_eq!(xdp.carried(), again);
    });
}

#[test]
fn another_program_takes_its_place_while_packets_flow_and_none_is_lost() {
    const FRAMES: u32 = 30_000;
    /// Under way at once: less than a veth's ring of 256 holds.
    const WINDOW: u32 = 128;
    bench_or_skip("another_program_takes_its_place_while_packets_flow_and_none_is_lost", |bench| {
        let programs = [bench.load(), bench.load()];
        for near in &bench.veths.near {
            programs[0].attach(&near.name, near.index).unwrap();
        }
        programs.iter().for_each(|xdp| bench.veths.go_live(xdp));
        let Veths { far: [mut from, mut to], .. } = bench.veths;
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
        let carried = programs.each_ref().map(|xdp| xdp.carried().sent[&PortId(1)].packets);
        assert_eq!(carried.iter().sum::<u64>(), FRAMES.into());
        assert!(replaced > 50 && carried.iter().all(|n| *n > 500), "{replaced} times; by the two: {carried:?}");
    });
}

/// A retired target carries nothing, not even by an interface that goes live later: its tables are not what they should be.
#[test]
fn what_was_retired_before_it_went_live_hands_everything_on() {
    bench_or_skip("what_was_retired_before_it_went_live_hands_everything_on", |mut bench| {
        let xdp = bench.load();
        let sockets = xdp.sockets().unwrap();
        let near = &bench.veths.near[0];
        xdp.attach(&near.name, near.index).unwrap();
        let joined = Joined { sockets: sockets.as_fd(), key: &|queue| socket_key(0, queue), reserve: RESERVE };
        let options = PortOptions { finish_checksums: Some(false), ..PortOptions::default() };
        let mut behind = AfXdp::join_queues(&near.name, &near.name, &[0], options, &joined).unwrap().remove(0);
        assert!(!xdp.is_retired());
        xdp.retire();
        bench.veths.go_live(&xdp);
        assert!(xdp.is_retired());
        let frames: Vec<Vec<u8>> = (0..20).map(|n| frame(1, n, 60)).collect();
        frames.iter().for_each(|f| send(&mut bench.veths.far[0], f));
        assert!(receive(&mut behind, 20) == frames);
        assert_eq!(xdp.carried(), Carried { slow_path: 20, ..Carried::default() });
    });
}

/// The wire in the driver.
#[test]
fn the_wire_goes_both_ways() {
    bench_of_or_skip("the_wire_goes_both_ways", "p4wire.p4", Mode::Native, |bench| crosses(bench, Mode::Native));
}

/// Where the driver takes no program, the kernel's stack runs it.
#[test]
fn before_the_stack_it_does_the_same() {
    bench_of_or_skip("before_the_stack_it_does_the_same", "l2switch.p4", Mode::Generic, |bench| crosses(bench, Mode::Generic));
}

/// Frames cross, as they were, in order; and are counted.
fn crosses(mut bench: Bench, mode: Mode) {
    let xdp = bench.load();
    for near in &bench.veths.near {
        assert_eq!(xdp.attach(&near.name, near.index).unwrap(), mode);
    }
    bench.veths.go_live(&xdp);
    for (from, to) in [(0, 1), (1, 0)] {
        let frames: Vec<Vec<u8>> = (0..100).map(|n| frame(to, n, 60 + 14 * n as usize)).collect();
        frames.iter().for_each(|f| send(&mut bench.veths.far[from], f));
        assert!(receive(&mut bench.veths.far[to], 100) == frames, "from {from} to {to}");
    }
    let all = Count { packets: 100, bytes: (0..100).map(|n| 60 + 14 * n).sum() };
    let ports = [(PortId(0), all), (PortId(1), all)];
    assert_eq!(xdp.carried(), Carried { received: ports.into(), sent: ports.into(), ..Carried::default() });
}
