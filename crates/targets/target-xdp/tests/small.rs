//! The small programs in the kernel behave as in the interpreter.

mod common;

use base::PortId;
use common::{Pair, rng};
use p4_interp::Mode;
use rand::Rng;
use std::path::Path;

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
