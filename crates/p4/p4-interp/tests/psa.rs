//! Programs for the Portable Switch Architecture, from source to packets, before and after the passes.

use p4_interp::stf::{self, MachineDevice};
use p4_interp::{Machine, Mode};
use p4_ir::{Architecture, Ir};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/psa").join(name)
}

fn program() -> Ir {
    p4_check::compile_file(&path("paths.p4"), &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir
}

#[test]
fn every_way_of_a_packet_is_taken_with_its_metadata() {
    let mut ir = program();
    assert_eq!((ir.arch, ir.pipes.len()), (Architecture::Psa, 2));
    let text = std::fs::read_to_string(path("paths.stf")).expect("there");
    for optimised in [false, true] {
        if optimised {
            p4_passes::optimise(&mut ir).expect("keeps the invariants");
        }
        let script = stf::parse(&text, &ir.program).unwrap_or_else(|e| panic!("{e}"));
        let mut device = MachineDevice::new(Machine::new(Arc::new(ir.clone())).expect("runs"));
        let report = stf::run(&script, &mut device);
        let failures: Vec<String> = report.failures.iter().map(|f| f.to_string()).collect();
        assert!(report.passed(), "optimised {optimised}: {}", failures.join("\n"));
        assert_eq!((report.sent, report.received), (11, 10));
    }
}

#[test]
fn a_subset_leaves_a_packet_of_psa_to_the_next_target() {
    let mut m = Machine::new(Arc::new(program())).expect("runs");
    let packet = [0, 3, 0, 0];
    let out = m.process(&packet, base::PortId(1), 0, Mode::Subset);
    assert_eq!((out.verdict.kind, out.bytes), (base::VerdictKind::Next, &packet[..]));
}
