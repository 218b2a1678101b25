//! A program of a file and the script beside it, played before and after the passes.

use p4_interp::Machine;
use p4_interp::stf::{self, MachineDevice};
use p4_ir::Ir;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Of a file below `tests`.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

pub(crate) fn program(name: &str) -> Ir {
    p4_check::compile_file(&path(name), &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir
}

/// Plays `script` against the program; `packets` are those sent and received.
pub(crate) fn play(mut ir: Ir, script: &str, packets: (usize, usize)) {
    let text = std::fs::read_to_string(path(script)).expect("there");
    for optimised in [false, true] {
        if optimised {
            p4_passes::optimise(&mut ir).expect("keeps the invariants");
        }
        let script = stf::parse(&text, &ir.program).unwrap_or_else(|e| panic!("{e}"));
        let mut device = MachineDevice::new(Machine::new(Arc::new(ir.clone())).expect("runs"));
        let report = stf::run(&script, &mut device);
        let failures: Vec<String> = report.failures.iter().map(|f| f.to_string()).collect();
        assert!(report.passed(), "optimised {optimised}: {}", failures.join("\n"));
        assert_eq!((report.sent, report.received), packets);
    }
}
