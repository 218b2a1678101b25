//! A program that is too large for the kernel's verifier is loaded in its simple form, and behaves as in the interpreter; one that is
//! not is loaded as it is.

mod common;

use base::PortId;
use common::{Pair, rng};
use p4_interp::Mode;
use rand::Rng;
use std::path::Path;

fn program(path: &str) -> p4_ir::Ir {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let mut ir = p4_check::compile_file(&path, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

/// Orders and labels: see the program.
fn packet(rng: &mut rand_chacha::ChaCha8Rng) -> (Vec<u8>, PortId) {
    let mut bytes: Vec<u8> = (0..4).map(|_| rng.random_range(1..4) << 6 | rng.random_range(0..8)).collect();
    let labels = rng.random_range(0..8u8);
    bytes.extend([rng.random(), labels]);
    for left in (0..labels).rev() {
        // 20 bits, 3, the mark of the last label, and 8.
        bytes.extend([rng.random(), rng.random(), rng.random::<u8>() & 0xfe | u8::from(left == 0), rng.random()]);
    }
    bytes.extend((0..rng.random_range(14..60)).map(|_| rng.random::<u8>()));
    (bytes, PortId(0))
}

#[test]
fn a_program_that_is_too_large_runs_in_its_simple_form() {
    if !testkit::root_or_skip("a_program_that_is_too_large_runs_in_its_simple_form") {
        return;
    }
    let mut pair = Pair::load(program("tests/programs/labels.p4"), 1, Mode::Whole, &());
    assert!(pair.native.is_simple(), "the verifier takes the program as it is: the test needs a larger one");
    let mut source = rng(9);
    let packets: Vec<_> = (0..2000).map(|_| packet(&mut source)).collect();
    pair.run(&packets);
    assert!(pair.kinds[0] > 500 && pair.kinds[3] > 100, "{:?}", pair.kinds);
}

#[test]
fn a_program_of_usual_size_runs_as_it_is() {
    if !testkit::root_or_skip("a_program_of_usual_size_runs_as_it_is") {
        return;
    }
    for name in ["../../../p4/l2switch.p4", "../../../p4/upf.p4"] {
        let ir = std::sync::Arc::new(program(name));
        let xdp = common::load(&ir, 1, Mode::Whole).unwrap_or_else(|e| panic!("{e}"));
        assert!(!xdp.is_simple(), "{name}");
    }
}
