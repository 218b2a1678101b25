//! Runs every `NAME.p4` of a folder that has a `NAME.stf` beside it, before and after the passes, and says how each
//! went: `cargo run --release --example corpus -- FOLDER [NAME-PART]`. With a name part, failures are traced.

use p4_interp::Machine;
use p4_interp::stf::{self, MachineDevice};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("give a folder")?;
    let part = args.next();
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(folder)?.filter_map(|e| Some(e.ok()?.path())).collect();
    scripts.retain(|p| p.extension().is_some_and(|e| e == "stf") && p.with_extension("p4").exists());
    scripts.retain(|p| part.as_ref().is_none_or(|part| p.to_string_lossy().contains(part.as_str())));
    scripts.sort();
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for script in scripts {
        let (end, detail) = run(&script);
        *ends.entry(end).or_default() += 1;
        println!("{end:8} {} {detail}", script.file_stem().unwrap_or_default().to_string_lossy());
    }
    println!("{ends:?}");
    Ok(())
}

fn run(script: &Path) -> (&'static str, String) {
    let program = script.with_extension("p4");
    let mut ir = match p4_check::compile_file(&program, &p4_check::Options::default()) {
        Ok(c) => c.ir,
        Err(e) => return ("compile", e.render().lines().next().unwrap_or("").to_owned()),
    };
    let text = match std::fs::read_to_string(script) {
        Ok(t) => t,
        Err(e) => return ("read", e.to_string()),
    };
    let commands = match stf::parse(&text, &ir.program) {
        Ok(c) => c,
        Err(e) => return ("script", e.to_string()),
    };
    for optimised in [false, true] {
        if optimised && let Err(e) = p4_passes::optimise(&mut ir) {
            return ("PASSES", e.to_string());
        }
        let machine = match Machine::new(Arc::new(ir.clone())) {
            Ok(m) => m,
            Err(e) => return ("refused", e.to_string()),
        };
        let report = stf::run(&commands, &mut MachineDevice::new(machine));
        if let Some(f) = report.failures.first() {
            return (if optimised { "PASSES" } else { "FAIL" }, f.to_string());
        }
    }
    ("pass", String::new())
}
