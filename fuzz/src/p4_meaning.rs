//! What compiles means the same before and after the passes, and can be emitted as C or is refused by name.
//!
//! Packets are random ones, and those that the program's comments give: `// packet` and hexadecimal digits.

use std::sync::Arc;

use base::PortId;
use p4_emit::EmitError;
use p4_gen::random::{self, Rng};
use p4_interp::{Machine, MachineError, Mode};
use p4_ir::{Ir, verify};
use program::Batch;

/// Random packets through each program.
const RANDOM_PACKETS: usize = 6;
/// Packets from comments at most.
const GIVEN_PACKETS: usize = 8;
/// Programs with more cells of counters, meters and registers are only compiled: making the machine would take the time.
const MAX_CELLS: u64 = 1 << 16;

/// Checks a program that just compiled from `text`.
pub fn check(text: &str, ir: &Ir) {
    assert_eq!(verify(ir), Ok(()));
    let mut optimised = ir.clone();
    p4_passes::optimise(&mut optimised).unwrap_or_else(|error| panic!("{error}\n--- before\n{ir}"));
    emit(ir);
    emit(&optimised);
    if cells(ir) > MAX_CELLS {
        return;
    }
    let packets = packets(text);
    let (before, after) = (observe(ir, &packets), observe(&optimised, &packets));
    assert!(before == after, "before {before:#?}\nafter {after:#?}\n--- before\n{ir}\n--- after\n{optimised}");
}

fn emit(ir: &Ir) {
    match p4_emit::emit_x86(ir) {
        Ok(text) => assert!(text.contains("sp_process")),
        Err(EmitError::Unsupported { what, .. }) => assert!(!what.is_empty()),
        Err(EmitError::Invalid(what)) => panic!("{what}\n{ir}"),
    }
}

fn cells(ir: &Ir) -> u64 {
    let program = &ir.program;
    let sizes = program.counters.values().map(|counter| counter.size);
    let sizes = sizes.chain(program.meters.values().map(|meter| meter.size));
    sizes.chain(program.registers.values().map(|register| register.size)).fold(0, u64::saturating_add)
}

fn packets(text: &str) -> Vec<Vec<u8>> {
    let given = text.lines().filter_map(|line| line.trim().strip_prefix("// packet ")).take(GIVEN_PACKETS).map(bytes);
    let mut rng = Rng::new(1);
    let random = std::iter::repeat_with(|| random::packet(&mut rng)).take(RANDOM_PACKETS);
    given.chain(random).collect()
}

/// Bytes of hexadecimal digits; anything else between them is left out.
fn bytes(digits: &str) -> Vec<u8> {
    let nibbles: Vec<u8> = digits.chars().filter_map(|digit| digit.to_digit(16)).map(|nibble| nibble as u8).collect();
    nibbles.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// What anyone outside sees of some packets; `None` if the program is too large to be run.
fn observe(ir: &Ir, packets: &[Vec<u8>]) -> Option<Vec<String>> {
    let mut machine = match Machine::new(Arc::new(ir.clone())) {
        Ok(machine) => machine,
        // More cells than are allocated for a program.
        Err(MachineError::TooBig { .. }) => return None,
        Err(error) => panic!("{error}\n{ir}"),
    };
    fill(&mut machine, ir);
    let mut seen = Vec::new();
    for (i, packet) in packets.iter().enumerate() {
        let mode = if i % 3 == 2 { Mode::Subset } else { Mode::Whole };
        let out = machine.process(packet, PortId(i as u16), 1000 * i as u64, mode);
        seen.push(format!("{packet:02x?} -> {:?} {:02x?}", out.verdict, out.bytes));
        seen.push(format!("{:02x?}", machine.extra()));
        seen.push(format!("{:?}", machine.take_digests()));
    }
    let program = &ir.program;
    seen.extend(program.tables.keys().map(|table| format!("{:?}", machine.table_stats(table))));
    for (counter, info) in &program.counters {
        seen.push(format!("{:?}", (0..info.size.min(8)).map(|cell| machine.counter(counter, cell)).collect::<Vec<_>>()));
    }
    for (register, info) in &program.registers {
        seen.push(format!("{:x?}", (0..info.size.min(8)).map(|cell| machine.register(register, cell)).collect::<Vec<_>>()));
    }
    Some(seen)
}

/// Random entries, one by one: those that the program forbids are refused.
fn fill(machine: &mut Machine, ir: &Ir) {
    if ir.program.tables.values().any(|table| table.actions.is_empty()) {
        return;
    }
    for op in random::entries(ir, 1).ops {
        let _ = machine.apply(&Batch { ops: vec![op] });
    }
}
