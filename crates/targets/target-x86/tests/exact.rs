//! Look-ups that generated code makes in exact tables by itself: keys of one, two and three words, entries that lie elsewhere than at their first place, misses, tables
//! that grow, shrink and change under a lane. Packets do what the interpreter does.

mod common;

use base::{Packet, PortId, Verdict, VerdictKind};
use program::{Batch, Entry, KeyMatch, Op, Program};
use rand::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use target_api::{BURST, Target};
use target_x86::{Options, X86};

/// A table for each length of key, whose last words are not whole.
const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header a_t { bit<8> kind; bit<32> n; bit<64> wide; bit<48> one; bit<32> two; bit<32> three; }
struct headers { a_t a; }
struct meta { }
parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.a); transition select(hdr.a.kind) { 0: common; default: other; } }
    @likely state common { transition accept; }
    state other { transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    action one(bit<48> value) { hdr.a.one = value; }
    action two(bit<32> value) { hdr.a.two = value; }
    action three(bit<32> value) { hdr.a.three = value; }
    table ones { key = { hdr.a.n: exact; } actions = { one; @defaultonly NoAction; } default_action = NoAction(); size = SIZE; }
    table twos { key = { hdr.a.n: exact; hdr.a.wide: exact; } actions = { two; @defaultonly NoAction; } default_action = NoAction(); size = SIZE; }
    table threes {
        key = { hdr.a.kind: exact; hdr.a.wide: exact; hdr.a.n: exact; hdr.a.wide[47:0]: exact; }
        actions = { three; @defaultonly NoAction; }
        default_action = NoAction();
        size = SIZE;
    }
    apply {
        sm.egress_spec = 1;
        ones.apply();
        twos.apply();
        threes.apply();
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.a); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const SIZE: u32 = 20_000;

fn ir() -> p4_ir::Ir {
    let text = PROGRAM.replace("SIZE", &SIZE.to_string());
    let mut ir = p4_check::compile_str("exact.p4", &text, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

fn wide(n: u32) -> u64 {
    u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The entries of a number in all tables, with a value.
fn entries(program: &Program, n: u32, value: u32) -> [Entry; 3] {
    let [low, wide] = [u128::from(n), u128::from(wide(n))];
    let of = |table: &str, action: &str, keys: &[u128]| {
        let table = program.tables.iter().find(|(_, t)| t.name.ends_with(table)).unwrap().0;
        let action = program.actions.iter().find(|(_, a)| a.name.ends_with(action)).unwrap().0;
        Entry { table, keys: keys.iter().map(|key| KeyMatch::Exact(*key)).collect(), priority: 0, action, args: vec![value.into()] }
    };
    [of("ones", "one", &[low]), of("twos", "two", &[low, wide]), of("threes", "three", &[0, wide, low, wide & 0xffff_ffff_ffff])]
}

fn packet(kind: u8, n: u32) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend(n.to_be_bytes());
    bytes.extend(wide(n).to_be_bytes());
    bytes.extend([0; 6 + 4 + 4 + 9]);
    bytes
}

#[test]
fn packets_find_what_the_interpreter_finds_in_tables_that_fill_and_empty() {
    let c = p4_emit::emit_x86(&ir()).unwrap();
    assert_eq!(c.matches("= sp_exact_hash(&hashing_").count(), 3, "{c}");
    let mut pair = common::pair(ir(), 17, &["-O1"]);
    let mut rng = common::rng(18);
    let program = pair.ir.program.clone();
    let mut here: Vec<u32> = Vec::new();
    for round in 0..12u32 {
        // From nothing to three quarters of the largest size, and down again.
        let wanted = [0, 10, 500, 3000, 9000, 15_000, 15_000, 12_000, 4000, 400, 3, 0][round as usize];
        let mut ops = Vec::new();
        while here.len() > wanted {
            let gone = here.swap_remove(rng.random_range(0..here.len()));
            ops.extend(entries(&program, gone, 0).map(Op::Delete));
        }
        let mut new = Vec::new();
        while here.len() + new.len() < wanted {
            new.push(rng.random_range(0..SIZE) << 4 | round);
            new.sort_unstable();
            new.dedup();
        }
        for n in &new {
            ops.extend(entries(&program, *n, rng.random()).map(Op::Insert));
        }
        for n in here.iter().filter(|n| **n % 7 == 0) {
            ops.extend(entries(&program, *n, rng.random()).map(Op::Modify));
        }
        here.extend(new);
        for ops in ops.chunks(3000) {
            pair.apply(ops.to_vec()).unwrap();
        }
        // Once without a miss: what is not at its first place then is elsewhere.
        let (all_known, before) = (round == 6, pair.native.class_stats().further);
        for burst in 0..60 {
            let one = rng.random_range(0..SIZE << 4);
            let packets: Vec<_> = (0..BURST)
                .map(|_| {
                    let known = (!here.is_empty() && (all_known || rng.random_bool(0.9))).then(|| here[rng.random_range(0..here.len())]);
                    let n = if burst % 10 == 0 && !all_known { one } else { known.unwrap_or_else(|| rng.random_range(0..SIZE << 4)) };
                    (packet(u8::from(!all_known && rng.random_bool(0.1)), n), PortId(0))
                })
                .collect();
            pair.run(&packets);
        }
        pair.check_state();
        let elsewhere = pair.native.class_stats().further - before;
        assert!(!all_known || (100..2000).contains(&elsewhere), "{elsewhere} of {} keys", 60 * 3 * BURST);
    }
    for name in ["ones", "twos", "threes"] {
        let (hits, misses) = pair.hits_and_misses(&format!("I.{name}"));
        assert!(hits > 20_000 && misses > 5000, "{name}: {hits} hits, {misses} misses");
    }
    let stats = pair.native.class_stats();
    assert!((8000..20_000).contains(&stats.further) && stats.packets.iter().all(|n| *n > 3000), "{stats:?}");
}

/// Set when this is dropped, also by a failure: the other side waits no longer.
struct Raise<'a>(&'a AtomicBool);

impl Drop for Raise<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Entries come and go by the thousand, so that the tables grow and move entries, and each batch changes those that stay: packets find all of them, and those of a burst
/// in the form of one batch.
#[test]
fn what_stays_is_found_as_one_batch_left_it_while_tables_grow_and_move_entries() {
    const STAY: u32 = 200;
    let ir = ir();
    let text = p4_emit::emit_x86(&ir).unwrap();
    let options = Options { flags: vec!["-O2".into()], seed: 5, ..Options::default() };
    let x86 = X86::load(Arc::new(ir.program.clone()), &text, &options).unwrap();
    let value = |n: u32, version: u32| version << 16 | n;
    let all = |numbers: std::ops::Range<u32>, version: u32, op: fn(Entry) -> Op| -> Vec<Op> {
        numbers.flat_map(|n| entries(&ir.program, n, value(n, version))).map(op).collect()
    };
    x86.apply(&Batch { ops: all(0..STAY, 0, Op::Insert) }).unwrap();
    let mut lane = x86.lane(0);
    let (done, gone, bursts) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU64::new(0));
    let last = std::thread::scope(|scope| {
        scope.spawn(|| {
            let _done = Raise(&done);
            let mut version = 0;
            for _ in 0..4 {
                for op in [Op::Insert, Op::Delete] {
                    for from in (STAY..SIZE - 500).step_by(500) {
                        version += 1;
                        let mut ops = all(from..from + 500, 0, op);
                        ops.extend(all(0..STAY, version, Op::Modify));
                        x86.apply(&Batch { ops }).unwrap();
                        let seen = bursts.load(Ordering::Relaxed);
                        while bursts.load(Ordering::Relaxed) == seen && !gone.load(Ordering::Relaxed) {
                            std::thread::yield_now();
                        }
                    }
                }
                assert_eq!(x86.table_stats(program::TableId::from_u32(0)).entries, u64::from(STAY));
            }
        });
        let _gone = Raise(&gone);
        let mut rng = common::rng(19);
        let mut last = 0;
        while !done.load(Ordering::Acquire) {
            let numbers: [u32; BURST] = std::array::from_fn(|_| rng.random_range(0..STAY));
            let mut packets: Vec<Packet> = numbers.iter().map(|n| Packet::new(&packet(0, *n), PortId(0))).collect();
            let mut verdicts = vec![Verdict::default(); BURST];
            lane.process(&mut packets, &mut verdicts, 0);
            let version = u32::from(u16::from_be_bytes([packets[0].data()[15], packets[0].data()[16]]));
            assert!(version >= last, "{version} after {last}");
            last = version;
            for (n, (packet, verdict)) in numbers.iter().zip(packets.iter().zip(&verdicts)) {
                assert_eq!(verdict.kind, VerdictKind::Forward);
                let value = value(*n, version).to_be_bytes();
                assert_eq!(packet.data()[15..27], [value, value, value].concat(), "entry {n}, batch {version}");
            }
            bursts.fetch_add(1, Ordering::Relaxed);
        }
        last
    });
    assert!(last > 300 && bursts.into_inner() > 300, "{last}");
}
