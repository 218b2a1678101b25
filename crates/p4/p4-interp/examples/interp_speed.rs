//! How many packets a second the interpreter runs: `cargo run --release --example interp_speed -- PROGRAM.p4 SCRIPT.stf`.
//!
//! The script's entries are applied, then each of its packets alone is sent over and over. The shipped pair is
//! `p4/upf.p4` and `crates/p4/p4-interp/tests/upf.stf`.

use p4_interp::stf::{self, Command};
use p4_interp::{Machine, Mode};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const PACKETS: u64 = 300_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [program, script] = &args[..] else { return Err("give a program and a script".into()) };
    let mut ir = p4_check::compile_file(Path::new(program), &p4_check::Options::default()).map_err(|e| e.render())?.ir;
    p4_passes::optimise(&mut ir)?;
    let script = stf::parse(&std::fs::read_to_string(script)?, &ir.program)?;
    let mut machine = Machine::new(Arc::new(ir))?;
    for (_, command) in &script.commands {
        if let Command::Apply(batch) = command {
            machine.apply(batch)?;
        }
    }
    for (line, command) in &script.commands {
        let Command::Packet { port, bytes } = command else { continue };
        for mode in [Mode::Whole, Mode::Subset] {
            let start = Instant::now();
            let mut verdict = None;
            for i in 0..PACKETS {
                verdict = Some(machine.process(bytes, *port, i * 1000, mode).verdict);
            }
            let rate = PACKETS as f64 / start.elapsed().as_secs_f64();
            println!("line {line}, {mode:?}: {rate:.0} packets/s, {:?}", verdict.map(|v| v.kind));
        }
    }
    Ok(())
}
