//! The shipped user plane, from its source to packets, before and after the passes.

use p4_interp::Machine;
use p4_interp::stf::{self, MachineDevice};
use std::path::Path;
use std::sync::Arc;

#[test]
fn the_shipped_user_plane_passes_its_script() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("../../../p4/upf.p4");
    let mut ir = p4_check::compile_file(&source, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    let text = std::fs::read_to_string(root.join("tests/upf.stf")).expect("there");
    for optimised in [false, true] {
        if optimised {
            let before = ir.to_string().len();
            p4_passes::optimise(&mut ir).expect("keeps the invariants");
            assert!(ir.to_string().len() < before);
        }
        let script = stf::parse(&text, &ir.program).unwrap_or_else(|e| panic!("{e}"));
        let mut device = MachineDevice::new(Machine::new(Arc::new(ir.clone())).expect("runs"));
        let report = stf::run(&script, &mut device);
        let failures: Vec<String> = report.failures.iter().map(|f| f.to_string()).collect();
        assert!(report.passed(), "optimised {optimised}: {}", failures.join("\n"));
        assert_eq!((report.sent, report.received), (136, 60));
    }
}
