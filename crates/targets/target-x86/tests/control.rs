//! What the control plane fills and is told beside tables: members of value sets, meters of entries, digests; cells of wide registers; tables in
//! loops. On x86 they are what they are in the interpreter.

mod common;

use base::{Packet, PortId, Verdict};
use common::{Pair, rng};
use program::{Digest, Entry, KeyMatch, MeterConfig, Op, RuleError};
use rand::Rng;
use target_api::{Digests, Lane, Target};

fn compile(text: &str) -> p4_ir::Ir {
    let all = format!("#include <core.p4>\n#include <v1model.p4>\n{text}");
    let compiled = p4_check::compile_str("control.p4", &all, &p4_check::Options::default());
    let mut ir = compiled.unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

const FRAME: &str = "
control V(inout headers hdr, inout meta m) { apply { } }
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.o); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const SETS: &str = "
header op_t { bit<16> a; bit<8> b; bit<8> found; }
struct headers { op_t o; }
struct meta { bit<8> found; }
struct pair_t { bit<16> a; bit<8> b; }
parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    value_set<pair_t>(6) pairs;
    value_set<bit<16>>(3) numbers;
    state start {
        pkt.extract(hdr.o);
        transition select(hdr.o.a, hdr.o.b) { pairs: in_pairs; default: other; }
    }
    state in_pairs { m.found = 1; transition other; }
    state other {
        transition select(hdr.o.a) { 3: three; numbers: in_numbers; 5: five; default: accept; }
    }
    state three { m.found = m.found + 2; transition accept; }
    state in_numbers { m.found = m.found + 4; transition accept; }
    state five { m.found = m.found + 8; transition accept; }
}
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply { sm.egress_spec = 1; hdr.o.found = m.found; }
}";

fn member(rng: &mut impl Rng, widths: &[u32]) -> Vec<KeyMatch> {
    let mut one = |width: u32| {
        let all = base::Bits::mask(width);
        let value = rng.random_range(0..16u128) << [0, 0, width - 4][rng.random_range(0..3)] & all;
        match rng.random_range(0..20) {
            0 => KeyMatch::Optional(None),
            1 => KeyMatch::Range { low: value.min(5), high: value.max(5) },
            2 => KeyMatch::Lpm { value: value & !base::Bits::mask(4), prefix_len: width - 4 },
            3 => KeyMatch::Ternary { value: value & 0x6, mask: 0x6 },
            _ => KeyMatch::Exact(value),
        }
    };
    widths.iter().map(|w| one(*w)).collect()
}

#[test]
fn value_sets_are_filled_and_emptied_alike() {
    let mut pair = common::pair(compile(&format!("{SETS}{FRAME}")), 1, &["-O1"]);
    let sets: Vec<_> = pair.ir.program.value_sets.iter().map(|(id, s)| (id, s.widths.clone())).collect();
    assert_eq!(sets.len(), 2);
    let mut rng = rng(77);
    let mut there: Vec<(program::ValueSetId, Vec<KeyMatch>)> = Vec::new();
    let (mut refused, mut inside, mut outside) = ([0; 3], 0, 0);
    for _ in 0..200 {
        let mut ops = Vec::new();
        for _ in 0..rng.random_range(1..4) {
            let (set, widths) = &sets[rng.random_range(0..2)];
            match there.get(rng.random_range(0..2 * there.len() + 2)).cloned() {
                Some((set, member)) => ops.push(Op::DeleteValue { set, member }),
                None if rng.random_bool(0.1) => ops.push(Op::DeleteValue { set: *set, member: member(&mut rng, widths) }),
                None => ops.push(Op::InsertValue { set: *set, member: member(&mut rng, widths) }),
            }
        }
        match pair.apply(ops.clone()) {
            Ok(()) => ops.into_iter().for_each(|op| match op {
                Op::InsertValue { set, member } => there.push((set, member)),
                Op::DeleteValue { set, member } => there.retain(|m| *m != (set, member.clone())),
                _ => {}
            }),
            Err(RuleError::Exists { .. }) => refused[0] += 1,
            Err(RuleError::Missing { .. }) => refused[1] += 1,
            Err(RuleError::Full { .. }) => refused[2] += 1,
            Err(e) => panic!("{e}"),
        }
        let packets: Vec<_> = (0..20)
            .map(|_| {
                let a = rng.random_range(0..16u16) << [0, 12][rng.random_range(0..2)];
                let packet = [a.to_be_bytes().to_vec(), vec![rng.random_range(0..16), 0]].concat();
                match pair.machine.process(&packet, PortId(0), 0, p4_interp::Mode::Whole).bytes[3] {
                    0 | 2 | 8 => outside += 1,
                    _ => inside += 1,
                }
                (packet, PortId(0))
            })
            .collect();
        pair.run(&packets);
    }
    assert!(inside > 500 && outside > 500, "{inside} packets in sets, {outside} outside");
    assert!(refused.iter().all(|n| *n > 1), "{refused:?}");
}

const METERS: &str = "
header op_t { bit<16> key; bit<8> colour; bit<8> other; }
struct headers { op_t o; }
struct meta { bit<2> colour; }
parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    @likely state start {
        pkt.extract(hdr.o);
        transition select(hdr.o.key) { 7: seven; default: accept; }
    }
    state seven { transition accept; }
}
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    direct_meter<bit<2>>(MeterType.UNIT) rates;
    direct_counter(CounterType.packets) counts;
    action metered(bit<8> other) { rates.read(m.colour); counts.count(); hdr.o.other = other; }
    action plain() { hdr.o.other = 0xee; }
    table t {
        key = { hdr.o.key: exact; }
        actions = { metered; plain; }
        default_action = metered(0x11);
        size = 16;
        meters = rates;
        counters = counts;
    }
    apply {
        sm.egress_spec = 1;
        m.colour = 3;
        t.apply();
        hdr.o.colour = (bit<8>)m.colour;
    }
}";

fn entry(pair: &Pair, key: u128, other: u128) -> Entry {
    let program = &pair.ir.program;
    let table = program.table("I.t").or_else(|| program.table("t")).unwrap();
    let action = program.actions.iter().find(|(_, a)| a.name.ends_with("metered")).unwrap().0;
    Entry { table, keys: vec![KeyMatch::Exact(key)], priority: 0, action, args: vec![other] }
}

/// Entries with meters come, are configured again, change and go; some take the numbers of others.
fn meters_of_entries(unit: &str, lanes: usize) {
    let text = METERS.replace("UNIT", unit);
    let mut pair = common::pair(compile(&format!("{text}{FRAME}")), 3, &["-O1"]);
    // With more than one lane meters are locked.
    let others: Vec<Box<dyn Lane>> = (1..lanes).map(|i| pair.native.lane(i)).collect();
    let mut rng = rng(5);
    let (mut configured, mut missing) = (0, 0);
    for _ in 0..250 {
        let mut ops = Vec::new();
        for _ in 0..rng.random_range(1..4) {
            let e = entry(&pair, rng.random_range(0..24), rng.random_range(0..255));
            let scale = if unit == "bytes" { 30 } else { 1 };
            let cir = rng.random_range(1..2_000) * scale;
            let config = MeterConfig {
                cir,
                cbs: rng.random_range(1..4) * scale,
                pir: cir + rng.random_range(0..2_000) * scale,
                pbs: rng.random_range(4..9) * scale,
            };
            let config = rng.random_bool(0.9).then_some(config);
            ops.push(match rng.random_range(0..7) {
                0 | 1 => Op::Insert(e),
                2 => Op::Delete(e),
                3 => Op::Modify(e),
                _ => Op::EntryMeter { entry: e, config },
            });
        }
        missing += u64::from(matches!(pair.apply(ops), Err(RuleError::Missing { .. })));
        let packets: Vec<_> = (0..64)
            .map(|_| {
                let key = rng.random_range(0..24u16);
                (([key.to_be_bytes().to_vec(), vec![0; rng.random_range(2..40)]].concat()), PortId(0))
            })
            .collect();
        pair.run(&packets);
        for (bytes, _) in &packets {
            let key = u16::from_be_bytes([bytes[0], bytes[1]]);
            configured += u64::from(pair.machine.entry_meter(&entry(&pair, key.into(), 0)).is_some());
        }
    }
    pair.check_state();
    drop(others);
    let reds = pair.metered[1..3].iter().sum::<u64>();
    assert!(configured > 2_000 && reds > 500, "{configured} packets at meters, colours {:?}", pair.metered);
    assert!(missing > 10, "{missing} batches were about entries that are not there");
}

#[test]
fn meters_of_entries_have_the_interpreters_colours() {
    meters_of_entries("bytes", 1);
    meters_of_entries("packets", 1);
}

#[test]
fn meters_of_entries_are_locked_where_there_are_more_lanes() {
    meters_of_entries("packets", 3);
}

const DIGESTS: &str = "
header op_t { bit<16> key; bit<128> wide; bit<8> what; }
struct headers { op_t o; }
struct meta { bit<8> what; }
struct told_t { bit<16> key; bit<128> wide; bool odd; }
parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    @likely state start { pkt.extract(hdr.o); transition select(hdr.o.key) { 7: seven; default: accept; } }
    state seven { transition accept; }
}
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    action tell() { digest<told_t>(5, { hdr.o.key, hdr.o.wide, hdr.o.key[0:0] == 1 }); }
    action quiet() { }
    table t {
        key = { hdr.o.key: exact; }
        actions = { tell; quiet; }
        default_action = quiet();
    }
    apply {
        sm.egress_spec = 1;
        t.apply();
        if (hdr.o.what == 9) { digest<bit<8>>(6, hdr.o.what); }
    }
}";

#[test]
fn digests_come_in_the_order_of_packets_and_are_counted_where_there_is_no_room() {
    let mut pair = common::pair(compile(&format!("{DIGESTS}{FRAME}")), 4, &["-O1"]);
    let table = pair.ir.program.tables.keys().next().unwrap();
    let tell = pair.ir.program.actions.iter().find(|(_, a)| a.name.ends_with("tell")).unwrap().0;
    let ops = (0..4).map(|key| Op::Insert(Entry { table, keys: vec![KeyMatch::Exact(2 * key)], priority: 0, action: tell, args: vec![] }));
    pair.apply(ops.collect()).unwrap();
    let mut rng = rng(6);
    let mut packets = |n: usize| -> Vec<(Vec<u8>, PortId)> {
        (0..n)
            .map(|_| {
                let key = rng.random_range(0..9u16);
                let wide: u128 = rng.random();
                let what = [9, 8][rng.random_range(0..2)];
                let whole = [key.to_be_bytes().to_vec(), wide.to_be_bytes().to_vec(), vec![what, 1]].concat();
                // Too short ones are of no class.
                let len = if rng.random_bool(0.1) { rng.random_range(0..19) } else { whole.len() };
                (whole[..len].to_vec(), PortId(0))
            })
            .collect()
    };
    let mut all = 0;
    for _ in 0..40 {
        pair.run(&packets(100));
        let mut got: Vec<Digest> = Vec::new();
        pair.native.take_digests(&mut got);
        let expected = pair.machine.take_digests();
        assert_eq!(got, expected);
        all += got.len();
    }
    assert!(all > 2000 && pair.native.lost_digests() == 0, "{all} digests");
    // Nobody asks: the first ones stay, the rest is counted, and packets go on.
    pair.run(&packets(20_000));
    let mut got = Vec::new();
    pair.native.take_digests(&mut got);
    let expected = pair.machine.take_digests();
    assert!(got.len() >= expected.len(), "{} of at least {}", got.len(), expected.len());
    assert_eq!(got[..expected.len()], expected[..]);
    let (sent, lost) = (expected.len() as u64 + pair.machine.lost_digests(), pair.native.lost_digests());
    assert!(lost > 1000 && got.len() as u64 + lost == sent, "{} taken, {lost} lost of {sent}", got.len());
    got.clear();
    pair.native.take_digests(&mut got);
    assert!(got.is_empty());
    pair.run(&packets(50));
    pair.native.take_digests(&mut got);
    assert_eq!(got, pair.machine.take_digests());
    assert!(!got.is_empty());
}

/// A program of the interpreter's packet tests, in bursts, while its tables are empty and when they are filled.
fn as_interpreted(name: &str) -> Pair {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/p4-interp/tests/meaning").join(name);
    let mut ir = p4_check::compile_file(&path, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let mut pair = common::pair(ir, 11, &["-O1"]);
    let mut rng = rng(12);
    let mut packets = || -> Vec<(Vec<u8>, PortId)> {
        let one = |_| (vec![rng.random_range(1..13), rng.random_range(0..10), rng.random_range(0..0x30), 0, 0, 0, 0, 0], PortId(0));
        (0..600).map(one).collect()
    };
    pair.run(&packets());
    if let Some((table, info)) = pair.ir.program.tables.iter().find(|(_, t)| t.name.ends_with("filled")) {
        let action = info.actions[0].action;
        let entry = |key| Entry { table, keys: vec![KeyMatch::Exact(key)], priority: 0, action, args: vec![key + 1] };
        pair.apply((0..16).map(|key| Op::Insert(entry(key))).collect()).unwrap();
        pair.run(&packets());
    }
    pair.check_state();
    pair
}

#[test]
fn registers_of_more_than_64_bits_hold_what_was_written() {
    as_interpreted("cells.p4");
}

#[test]
fn numbers_of_no_bits_run() {
    let pair = as_interpreted("zero_width.p4");
    assert!(pair.hits_and_misses("t").0 > 10 && pair.hits_and_misses("filled").0 > 10);
}

#[test]
fn tables_in_loops_are_looked_up_in_each_round() {
    let pair = as_interpreted("loops.p4");
    for name in ["chain", "filled"] {
        let (hits, misses) = pair.hits_and_misses(name);
        assert!(hits > 100 && misses > 100, "{name}: {hits} hits, {misses} misses");
    }
}

const WIDE_CELL: &str = "
header op_t { bit<8> a; }
struct headers { op_t o; }
struct meta { }
parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.o); transition accept; }
}
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    register<bit<128>>(1) cell;
    apply {
        bit<32> four = hdr.o.a ++ hdr.o.a ++ hdr.o.a ++ hdr.o.a;
        bit<128> v;
        cell.write(0, four ++ four ++ four ++ four);
        cell.read(v, 0);
        sm.egress_spec = v[127:64] == v[63:0] ? 9w1 : 9w2;
    }
}";

/// Each lane writes its own number all over the cell.
#[test]
fn no_lane_sees_a_wide_register_half_written() {
    let pair = common::pair(compile(&format!("{WIDE_CELL}{FRAME}")), 1, &["-O1"]);
    let lanes: Vec<_> = (1..3).map(|i| (i, pair.native.lane(i))).collect();
    std::thread::scope(|scope| {
        for (number, mut lane) in lanes {
            scope.spawn(move || {
                for _ in 0..2_000 {
                    let mut packets: Vec<_> = (0..64).map(|_| Packet::new(&[number as u8], PortId(0))).collect();
                    let mut verdicts = [Verdict::default(); 64];
                    lane.process(&mut packets, &mut verdicts, 1_000);
                    assert!(verdicts.iter().all(|v| v.port == 1), "half of the cell is of another lane");
                }
            });
        }
    });
}
