//! What the specification says that a program means: the programs and packet tests of `meaning/`, by its sections. `splitplane p4
//! conformance` runs the same on x86 and in the kernel.

use p4_interp::Machine;
use p4_interp::stf::{self, MachineDevice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meaning");
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "stf"));
    all.sort();
    all
}

#[test]
fn programs_mean_what_the_specification_says() {
    let (mut failures, mut packets) = (Vec::new(), 0);
    let scripts = scripts();
    for path in &scripts {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let compiled = p4_check::compile_file(&path.with_extension("p4"), &p4_check::Options::default());
        let ir = compiled.unwrap_or_else(|e| panic!("{}", e.render())).ir;
        let mut optimised = ir.clone();
        p4_passes::optimise(&mut optimised).unwrap();
        let script = stf::parse(&std::fs::read_to_string(path).unwrap(), &ir.program).unwrap_or_else(|e| panic!("{name}.stf: {e}"));
        for (what, ir) in [("", ir), (" after the passes", optimised)] {
            let report = stf::run(&script, &mut MachineDevice::new(Machine::new(Arc::new(ir)).unwrap()));
            packets += report.sent;
            failures.extend(report.failures.iter().map(|f| format!("{name}.stf{what}: {f}")));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(scripts.len() >= 9 && packets > 300, "{} scripts, {packets} packets", scripts.len());
}
