//! Every kind of object in one small program, in the kernel: counters of tables and by index, registers, meters, digests, masks
//! with priorities, prefixes; each compared with what the rules say and with the interpreter.

mod common;

use base::{Packet, PortId, Verdict, VerdictKind};
use common::Pair;
use p4_interp::Mode;
use program::{ApplyError, Batch, Digest, Entry, KeyMatch, MeterConfig, Op, RuleError};
use std::sync::atomic::{AtomicUsize, Ordering};
use target_api::{Digests, Target};
use target_xdp::{EntryPoints, Options, Xdp};

const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_t { bit<32> key; bit<32> addr; bit<16> kind; bit<16> value; }
struct headers_t { h_t h; }
struct meta_t { bit<2> colour; bit<16> seen; }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    direct_counter(CounterType.packets_and_bytes) entries;
    counter(16, CounterType.packets_and_bytes) cells;
    register<bit<16>>(8) last;
    meter(4, MeterType.packets) rate;
    action send(bit<9> port) { entries.count(); sm.egress_spec = port; }
    action none() { entries.count(); }
    table exactly { key = { hdr.h.key: exact; } actions = { send; none; } default_action = none; counters = entries; size = 64; }
    action to(bit<9> port) { sm.egress_spec = port; }
    table routes { key = { hdr.h.addr: lpm; } actions = { to; NoAction; } default_action = NoAction; size = 256; }
    table rules {
        key = { hdr.h.addr: ternary; hdr.h.kind: ternary; }
        actions = { to; NoAction; }
        default_action = NoAction;
        size = 256;
    }
    apply {
        sm.egress_spec = 100;
        if (hdr.h.kind[15:12] == 0) {
            exactly.apply();
        } else if (hdr.h.kind[15:12] == 1) {
            routes.apply();
        } else if (hdr.h.kind[15:12] == 2) {
            rules.apply();
        } else if (hdr.h.kind[15:12] == 3) {
            cells.count(hdr.h.key);
        } else if (hdr.h.kind[15:12] == 4) {
            last.read(m.seen, hdr.h.key);
            last.write(hdr.h.key, hdr.h.value);
            hdr.h.value = m.seen;
        } else if (hdr.h.kind[15:12] == 5) {
            rate.execute_meter(hdr.h.key, m.colour);
            sm.egress_spec = (bit<9>)m.colour;
        } else {
            digest(7, { hdr.h.key, hdr.h.addr, hdr.h.value });
            if (hdr.h.value == 0xffff) {
                mark_to_drop(sm);
            }
        }
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

fn ir() -> p4_ir::Ir {
    let mut ir = p4_check::compile_str("kit.p4", PROGRAM, &Default::default()).unwrap_or_else(|e| panic!("{}", e.render())).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

fn load(ir: &p4_ir::Ir) -> Xdp {
    let text = p4_emit::bpf::emit_xdp(ir).unwrap();
    let options = Options { subset: false, seed: 5, entry: EntryPoints::Lanes, ..Options::default() };
    Xdp::load(std::sync::Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn frame(key: u32, addr: u32, kind: u16, value: u16) -> Vec<u8> {
    [&key.to_be_bytes()[..], &addr.to_be_bytes(), &kind.to_be_bytes(), &value.to_be_bytes(), &[9; 40]].concat()
}

fn send(xdp: &Xdp, frame: &[u8], now_ns: u64) -> (Verdict, Vec<u8>) {
    let (mut packets, mut verdicts) = ([Packet::new(frame, PortId(0))], [Verdict::default()]);
    xdp.lane(0).process(&mut packets, &mut verdicts, now_ns);
    (verdicts[0], packets[0].data().to_vec())
}

fn port(xdp: &Xdp, addr: u32, kind: u16) -> u16 {
    let (verdict, _) = send(xdp, &frame(0, addr, kind, 0), 1);
    assert_eq!(verdict.kind, VerdictKind::Forward);
    verdict.port
}

fn entry(ir: &p4_ir::Ir, table: &str, keys: Vec<KeyMatch>, priority: u32, action: &str, args: &[u128]) -> Entry {
    let (table, action) = (ir.program.table(table).unwrap(), ir.program.action(action).unwrap());
    Entry { table, keys, priority, action, args: args.to_vec() }
}

#[test]
fn a_direct_counter_is_its_entrys_and_starts_anew_with_it() {
    if !testkit::root_or_skip("a_direct_counter_is_its_entrys_and_starts_anew_with_it") {
        return;
    }
    let ir = ir();
    let xdp = load(&ir);
    let of = |key: u128, port| entry(&ir, "exactly", vec![KeyMatch::Exact(key)], 0, "send", &[port]);
    let (first, second) = (of(1, 10), of(2, 20));
    xdp.apply(&Batch { ops: vec![Op::Insert(first.clone()), Op::Insert(second.clone())] }).unwrap();
    for key in [1, 2, 2, 3, 2] {
        send(&xdp, &frame(key, 0, 0, 0), 1);
    }
    let count = |e: &Entry| xdp.entry_count(e).map(|c| (c.packets, c.bytes));
    assert_eq!((count(&first), count(&second), count(&of(3, 0))), (Some((1, 52)), Some((3, 156)), None));
    // Another action's arguments leave the count; a new entry has none.
    xdp.apply(&Batch { ops: vec![Op::Modify(of(2, 21)), Op::Delete(first.clone())] }).unwrap();
    assert_eq!((count(&first), count(&second)), (None, Some((3, 156))));
    xdp.apply(&Batch { ops: vec![Op::Insert(first.clone())] }).unwrap();
    assert_eq!(count(&first), Some((0, 0)));
}

#[test]
fn counters_by_index_count_in_bounds_and_are_cleared() {
    if !testkit::root_or_skip("counters_by_index_count_in_bounds_and_are_cleared") {
        return;
    }
    let ir = ir();
    let xdp = load(&ir);
    let (counter, _) = ir.program.counters.iter().find(|(_, c)| c.table.is_none()).unwrap();
    for key in [3, 15, 16, 3, u32::MAX] {
        assert_eq!(send(&xdp, &frame(key, 0, 0x3000, 0), 1).0.kind, VerdictKind::Forward);
    }
    let counts = |i| (xdp.counter(counter, i).packets, xdp.counter(counter, i).bytes);
    assert_eq!((counts(3), counts(15), counts(16), counts(0)), ((2, 104), (1, 52), (0, 0), (0, 0)));
    xdp.apply(&Batch { ops: vec![Op::ClearCounter { counter, index: 3 }] }).unwrap();
    assert_eq!((counts(3), counts(15)), ((0, 0), (1, 52)));
}

/// Each core counts in cells of its own, at the same time as the other, while the entry is replaced again and again.
#[test]
fn counts_of_all_cores_are_summed() {
    const FRAMES: u32 = 4000;
    if !testkit::root_or_skip("counts_of_all_cores_are_summed") {
        return;
    }
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let cores: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).take(2).collect();
    if cores.len() < 2 {
        return testkit::skip("needs two cores");
    }
    let ir = ir();
    let xdp = load(&ir);
    let (counter, _) = ir.program.counters.iter().find(|(_, c)| c.table.is_none()).unwrap();
    let to = |port| entry(&ir, "exactly", vec![KeyMatch::Exact(1)], 0, "send", &[port]);
    xdp.apply(&Batch { ops: vec![Op::Insert(to(1))] }).unwrap();
    let (left, changes) = (AtomicUsize::new(cores.len()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for core in &cores {
            scope.spawn(|| {
                let mut one = rustix::thread::CpuSet::new();
                one.set(*core);
                rustix::thread::sched_setaffinity(None, &one).unwrap();
                for n in 0..FRAMES {
                    assert_eq!(send(&xdp, &frame(1, 0, 0, n as u16), 1).0.kind, VerdictKind::Forward);
                    send(&xdp, &frame(5, 0, 0x3000, 0), 1);
                }
                left.fetch_sub(1, Ordering::Release);
            });
        }
        while left.load(Ordering::Acquire) > 0 || changes.load(Ordering::Relaxed) < 100 {
            let port = changes.fetch_add(1, Ordering::Relaxed) as u128 % 100;
            xdp.apply(&Batch { ops: vec![Op::Modify(to(port))] }).unwrap();
        }
    });
    let all = u64::from(FRAMES) * cores.len() as u64;
    let counts = [xdp.entry_count(&to(0)).unwrap(), xdp.counter(counter, 5)].map(|c| (c.packets, c.bytes));
    assert_eq!(counts, [(all, 52 * all); 2], "after {changes:?} changes");
}

#[test]
fn a_register_keeps_what_was_written_within_its_width_and_bounds() {
    if !testkit::root_or_skip("a_register_keeps_what_was_written_within_its_width_and_bounds") {
        return;
    }
    let ir = ir();
    let xdp = load(&ir);
    let register = ir.program.registers.keys().next().unwrap();
    let swap = |key, value| {
        let (_, bytes) = send(&xdp, &frame(key, 0, 0x4000, value), 1);
        u16::from_be_bytes([bytes[10], bytes[11]])
    };
    assert_eq!([swap(2, 0xabcd), swap(2, 7), swap(8, 1), swap(8, 2)], [0, 0xabcd, 0, 0]);
    assert_eq!((xdp.register(register, 2), xdp.register(register, 8)), (Some(7), None));
    assert!(xdp.set_register(register, 2, 0x1_1234) && !xdp.set_register(register, 8, 1));
    assert_eq!(swap(2, 0), 0x1234, "bits above the width are left out");
}

#[test]
fn a_meter_by_packets_passes_its_burst_and_then_its_rate() {
    if !testkit::root_or_skip("a_meter_by_packets_passes_its_burst_and_then_its_rate") {
        return;
    }
    let ir = ir();
    let xdp = load(&ir);
    let meter = ir.program.meters.keys().next().unwrap();
    let config = Some(MeterConfig { cir: 1000, cbs: 3, pir: 2000, pbs: 5 });
    xdp.apply(&Batch { ops: vec![Op::Meter { meter, index: 1, config }] }).unwrap();
    let colour = |key, now_ns| send(&xdp, &frame(key, 0, 0x5000, 0), now_ns).0.port;
    let second = 1_000_000_000;
    let burst: Vec<u16> = (0..7).map(|_| colour(1, second)).collect();
    assert_eq!(burst, [0, 0, 0, 1, 1, 2, 2], "green, yellow, red");
    // A millisecond later there is one green packet more, and one yellow.
    assert_eq!([colour(1, second + 1_000_000), colour(1, second + 1_000_000), colour(1, second + 1_000_000)], [0, 1, 2]);
    assert_eq!((colour(0, second), colour(4, second)), (0, 0), "not configured; beyond the end");
}

#[test]
fn the_longest_prefix_and_the_highest_priority_win() {
    if !testkit::root_or_skip("the_longest_prefix_and_the_highest_priority_win") {
        return;
    }
    let ir = ir();
    let xdp = load(&ir);
    let apply = |ops| xdp.apply(&Batch { ops });
    let route = |value: u128, prefix_len, port| entry(&ir, "routes", vec![KeyMatch::Lpm { value, prefix_len }], 0, "to", &[port]);
    apply(vec![Op::Insert(route(0x0a00_0000, 8, 1)), Op::Insert(route(0x0a01_0000, 16, 2)), Op::Insert(route(0x0a01_0203, 32, 3))])
        .unwrap();
    let by_route = |addr| port(&xdp, addr, 0x1000);
    assert_eq!([0x0a01_0203, 0x0a01_0204, 0x0a02_0000, 0x0b00_0000].map(by_route), [3, 2, 1, 100]);
    apply(vec![Op::Insert(route(0, 0, 4)), Op::Delete(route(0x0a01_0000, 16, 0))]).unwrap();
    assert_eq!([0x0a01_0203, 0x0a01_0204, 0x0b00_0000].map(by_route), [3, 1, 4]);

    let rule = |mask: u128, kind: u128, priority, port| {
        let keys = vec![
            KeyMatch::Ternary { value: 0x0a01_0000 & mask, mask },
            KeyMatch::Ternary { value: 0x2000 | kind, mask: if kind == 0 { 0xf000 } else { 0xffff } },
        ];
        entry(&ir, "rules", keys, priority, "to", &[port])
    };
    let (any, net, host) = (rule(0, 0, 5, 50), rule(0xffff_0000, 0, 10, 60), rule(0, 7, 8, 70));
    apply(vec![Op::Insert(any), Op::Insert(net.clone()), Op::Insert(host)]).unwrap();
    let by_rule = |(addr, kind)| port(&xdp, addr, kind);
    assert_eq!([(0x0a01_0001, 0x2007), (0x0b00_0000, 0x2007), (0x0b00_0000, 0x2001)].map(by_rule), [60, 70, 50]);
    // The same key at another priority is another entry; the same twice is refused.
    assert!(matches!(apply(vec![Op::Insert(net.clone())]), Err(ApplyError::Refused(RuleError::Exists { .. }))));
    let mut above = net.clone();
    (above.priority, above.args) = (20, vec![80]);
    apply(vec![Op::Insert(above)]).unwrap();
    assert_eq!(by_rule((0x0a01_0001, 0x2001)), 80);
}

/// A look-up goes through 64 masks and no more. What had others before is gone: any number of them may come, one after the other.
#[test]
fn masks_come_and_go_and_only_so_many_are_looked_through() {
    if !testkit::root_or_skip("masks_come_and_go_and_only_so_many_are_looked_through") {
        return;
    }
    let ir = ir();
    let xdp = load(&ir);
    let apply = |ops| xdp.apply(&Batch { ops });
    // The address of all ones matches whatever the mask; later rules win.
    let mask = |n: u32| n.rotate_left(16);
    let rule = |n: u32, port: u128| {
        let keys =
            vec![KeyMatch::Ternary { value: mask(n).into(), mask: mask(n).into() }, KeyMatch::Ternary { value: 0x2000, mask: 0xf000 }];
        entry(&ir, "rules", keys, port as u32, "to", &[port])
    };
    for n in 0..64 {
        apply(vec![Op::Insert(rule(n, u128::from(n)))]).unwrap();
        assert_eq!(port(&xdp, u32::MAX, 0x2000), n as u16);
    }
    let error = apply(vec![Op::Delete(rule(5, 5)), Op::Insert(rule(100, 100)), Op::Insert(rule(101, 101))]).unwrap_err();
    assert_eq!(error, RuleError::Masks { op: 2, table: "rules".into(), most: 64 }.into());
    let lacks = apply(vec![Op::Insert(rule(63, 200)), Op::Multicast { group: 1, replicas: Vec::new() }]);
    assert_eq!(lacks, Err(ApplyError::Unsupported { op: 1, target: "xdp".into(), what: "multicast groups" }));
    assert_eq!(error.to_string(), "op 2: table rules would have entries of more than 64 different masks: look-ups go through no more");
    // Another entry of a mask that is there is no matter, nor is one in the place of another.
    apply(vec![Op::Insert(rule(63, 200))]).unwrap();
    assert_eq!(port(&xdp, u32::MAX, 0x2000), 200);
    apply(vec![Op::Delete(rule(63, 200)), Op::Delete(rule(5, 5))]).unwrap();
    // Numbers of masks that are gone are used again, several times, and so are masks; but not of one that a batch would end that fails.
    for n in 100..500 {
        let n = 100 + n % 300;
        apply(vec![Op::Insert(rule(n, 300))]).unwrap();
        if n % 7 == 0 {
            assert_eq!([u32::MAX, mask(n)].map(|addr| port(&xdp, addr, 0x2000)), [300, 300]);
            assert_ne!(port(&xdp, !mask(n), 0x2000), 300, "bits of the mask differ");
        }
        apply(vec![Op::Delete(rule(n, 300))]).unwrap();
        let fails = vec![Op::Delete(rule(10, 10)), Op::Insert(rule(1000 + n, 1)), Op::Insert(rule(20, 20))];
        assert!(matches!(apply(fails), Err(ApplyError::Refused(RuleError::Exists { op: 2, .. }))));
    }
    assert_eq!(port(&xdp, mask(10), 0x2000), 10);
    assert_eq!(port(&xdp, u32::MAX, 0x2000), 63);
    // In one batch, taken back.
    let mut ops: Vec<Op> = (2000..2600).flat_map(|n| [Op::Insert(rule(n, 400)), Op::Delete(rule(n, 400))]).collect();
    ops.push(Op::Insert(rule(63, 63)));
    assert!(matches!(apply(ops.clone()), Err(ApplyError::Refused(RuleError::Exists { op: 1200, .. }))));
    ops.pop();
    apply(ops).unwrap();
    assert_eq!(port(&xdp, u32::MAX, 0x2000), 63);
    apply(vec![Op::Insert(rule(3000, 500))]).unwrap();
    assert_eq!(port(&xdp, mask(3000), 0x2000), 500);
}

#[test]
fn digests_arrive_in_order_and_what_finds_no_room_is_counted() {
    if !testkit::root_or_skip("digests_arrive_in_order_and_what_finds_no_room_is_counted") {
        return;
    }
    let xdp = load(&ir());
    let digest = |key: u32, value: u16| Digest { receiver: 7, values: vec![key.into(), 0xfeed, value.into()] };
    for key in 0..5 {
        // A dropped packet's message is sent too.
        let value = if key == 3 { 0xffff } else { key as u16 };
        let (verdict, _) = send(&xdp, &frame(key, 0xfeed, 0x6000, value), 1);
        assert_eq!(verdict.kind == VerdictKind::Drop, key == 3);
    }
    assert_eq!(xdp.digests(2), [digest(0, 0), digest(1, 1)]);
    assert_eq!(xdp.digests(usize::MAX), [digest(2, 2), digest(3, 0xffff), digest(4, 4)]);
    assert!(xdp.digests(1).is_empty() && xdp.lost_digests() == 0);
    // A mebibyte of records of 72 bytes and a head of 8 each.
    let sent = 14_000;
    for key in 0..sent {
        send(&xdp, &frame(key, 0xfeed, 0x6000, 0), 1);
    }
    let kept = xdp.digests(usize::MAX);
    assert_eq!(kept.len() as u64 + xdp.lost_digests(), sent.into());
    assert!(xdp.lost_digests() > 0 && kept.len() > 10_000, "{} kept", kept.len());
    assert!(kept.iter().enumerate().all(|(i, d)| *d == digest(i as u32, 0)), "the first ones, in order");
}

#[test]
fn the_whole_kit_agrees_with_the_interpreter() {
    if !testkit::root_or_skip("the_whole_kit_agrees_with_the_interpreter") {
        return;
    }
    use rand::Rng;
    for mode in [Mode::Whole, Mode::Subset] {
        let mut pair = Pair::load(ir(), 11, mode, &());
        let mut source = common::rng(12);
        for _ in 0..5 {
            let packets: Vec<_> = (0..400)
                .map(|_| {
                    let kind = source.random_range(0..7u16) << 12 | source.random_range(0..3);
                    let mut bytes = frame(source.random_range(0..20), 0x0a01_0000 | source.random_range(0..4), kind, source.random());
                    bytes.truncate(if source.random_bool(0.1) { source.random_range(0..14) } else { 52 });
                    (bytes, PortId(source.random_range(0..3)))
                })
                .collect();
            pair.run(&packets);
            pair.fill(0.5);
        }
        pair.check_state();
        for table in ["exactly", "routes", "rules"] {
            let (hits, misses) = pair.hits_and_misses(table);
            assert!(hits > 30 && misses > 30, "{table}: {hits} hits, {misses} misses");
        }
    }
}
