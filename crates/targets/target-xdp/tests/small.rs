//! The small programs in the kernel behave as in the interpreter, and so do those of the interpreter's packet tests that have what targets must lower:
//! numbers of no bits, tables in loops.

mod common;

use base::{Packet, PortId, Verdict};
use common::{Pair, rng};
use p4_interp::Mode;
use rand::Rng;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use target_api::Target;

fn program(name: &str) -> p4_ir::Ir {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4").join(name);
    let mut ir = p4_check::compile_file(&path, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

fn frame(rng: &mut rand_chacha::ChaCha8Rng) -> (Vec<u8>, PortId) {
    let len = if rng.random_bool(0.05) { 14 } else { rng.random_range(15..1514) };
    let mut bytes: Vec<u8> = (0..len).map(|_| rng.random()).collect();
    bytes[..12].copy_from_slice(&[2, 0, 0, 0, 0, rng.random_range(0..9), 2, 0, 0, 0, 0, rng.random_range(0..9)]);
    (bytes, PortId(rng.random_range(0..5)))
}

#[test]
fn the_wire_agrees() {
    if !testkit::root_or_skip("the_wire_agrees") {
        return;
    }
    for mode in [Mode::Whole, Mode::Subset] {
        let mut pair = Pair::load(program("p4wire.p4"), 1, mode, &());
        pair.choose = |rng, action, param| match (action, param) {
            ("forward", "port") => Some(rng.random_range(0..6)),
            _ => None,
        };
        let mut source = rng(2);
        for _ in 0..6 {
            let packets: Vec<_> = (0..300).map(|_| frame(&mut source)).collect();
            pair.run(&packets);
            pair.fill(0.1);
        }
        pair.check_state();
        let (hits, misses) = pair.hits_and_misses("exit_port");
        assert!(hits > 500 && misses > 50, "{hits} hits, {misses} misses");
    }
}

#[test]
fn the_swap_of_addresses_agrees() {
    if !testkit::root_or_skip("the_swap_of_addresses_agrees") {
        return;
    }
    let mut pair = Pair::load(program("l2fwd.p4"), 5, Mode::Whole, &());
    let mut source = rng(6);
    let packets: Vec<_> = (0..300).map(|_| frame(&mut source)).collect();
    pair.run(&packets);
    assert_eq!(pair.kinds[0], 300);
}

#[test]
fn the_switch_agrees() {
    if !testkit::root_or_skip("the_switch_agrees") {
        return;
    }
    for mode in [Mode::Whole, Mode::Subset] {
        let mut pair = Pair::load(program("l2switch.p4"), 3, mode, &());
        pair.choose = |rng, action, param| match (action, param) {
            ("forward", "port") => Some(rng.random_range(0..6)),
            ("drop", "") => Some(u128::from(rng.random_bool(0.2))),
            _ => None,
        };
        let mut source = rng(4);
        for _ in 0..8 {
            let packets: Vec<_> = (0..400).map(|_| frame(&mut source)).collect();
            pair.run(&packets);
            pair.fill(0.3);
        }
        pair.check_state();
        for table in ["source", "destination"] {
            let (hits, misses) = pair.hits_and_misses(table);
            assert!(hits > 50 && misses > 50, "{table}: {hits} hits, {misses} misses");
        }
        assert!(pair.kinds[0] > 200 && pair.kinds[3] > 200, "{:?}", pair.kinds);
        assert!(pair.kinds[if mode == Mode::Whole { 2 } else { 4 }] > 50, "{:?}", pair.kinds);
    }
}

/// In bursts, while its tables are empty and when they are filled.
fn as_interpreted(name: &str) -> Pair {
    let mut pair = Pair::load(program(&format!("../crates/p4/p4-interp/tests/meaning/{name}")), 11, Mode::Whole, &());
    let mut rng = rng(12);
    for share in [0.0, 0.4] {
        pair.fill(share);
        let mut one = |_| {
            let mut bytes = [0; 16];
            bytes[..3].copy_from_slice(&[rng.random_range(1..13), rng.random_range(0..10), rng.random_range(0..0x30)]);
            (bytes.to_vec(), PortId(0))
        };
        pair.run(&(0..400).map(&mut one).collect::<Vec<_>>());
    }
    pair.check_state();
    pair
}

#[test]
fn numbers_of_no_bits_run_in_the_kernel() {
    if testkit::root_or_skip("numbers_of_no_bits_run_in_the_kernel") {
        let pair = as_interpreted("zero_width.p4");
        assert!(pair.hits_and_misses("t").0 > 10);
    }
}

#[test]
fn tables_in_loops_are_looked_up_in_the_kernel() {
    if testkit::root_or_skip("tables_in_loops_are_looked_up_in_the_kernel") {
        let pair = as_interpreted("loops.p4");
        let (hits, misses) = pair.hits_and_misses("chain");
        assert!(hits > 50 && misses > 50, "{hits} hits, {misses} misses");
    }
}

const RANDOM: &str = "
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> some; bit<8> none; bit<64> any; bit<8> high; bit<40> rest; }
struct headers { h_t h; }
struct meta { }
parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t sm) { state start { p.extract(hdr.h); transition accept; } }
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        random(hdr.h.some, 5, hdr.h.high);
        random(hdr.h.none, 9, 3);
        random(hdr.h.any, 0, 0xffffffffffffffff);
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// They are not the interpreter's.
#[test]
fn random_numbers_of_the_kernel_lie_within_their_bounds() {
    if !testkit::root_or_skip("random_numbers_of_the_kernel_lie_within_their_bounds") {
        return;
    }
    let mut ir = p4_check::compile_str("random.p4", RANDOM, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let xdp = common::load(&Arc::new(ir), 1, Mode::Whole).unwrap_or_else(|e| panic!("{e}"));
    let mut lane = xdp.lane(0);
    let (mut some, mut ones, mut zeros) = (BTreeSet::new(), 0, 0);
    for _ in 0..8 {
        let mut packets: Vec<_> = (0..64).map(|_| Packet::new(&[&[0; 10][..], &[12], &[0; 5]].concat(), PortId(0))).collect();
        let mut verdicts = [Verdict::default(); 64];
        lane.process(&mut packets, &mut verdicts, 1_000);
        for packet in &packets {
            let bytes = packet.data();
            some.insert(bytes[0]);
            assert_eq!(bytes[1], 9, "the lower bound, where it is above the upper one");
            let any = u64::from_be_bytes(bytes[2..10].try_into().unwrap());
            (ones, zeros) = (ones | any, zeros | !any);
        }
    }
    assert_eq!(some, (5..=12).collect(), "all eight of 512");
    assert_eq!((ones, zeros), (u64::MAX, u64::MAX), "each bit is there and is not there");
}
