//! Programs of text, and what their text says becomes of a packet.

use super::{Case, Outcome, Seen, difference};
use base::PortId;
use p4_eval::{Evaluator, Stop};
use p4_gen::random::{self, Shape};
use p4_interp::Machine;
use p4_ir::Ir;
use program::{Batch, Op};

/// Compares everybody on a program.
pub(super) fn one(text: &str, seed: u64, flags: &[String], seen: &mut Seen) -> Result<(), String> {
    let name = format!("seed_{seed}.p4");
    let ir = p4_check::compile_str(&name, text, &p4_check::Options::default()).map_err(|e| format!("refused: {}", e.render()))?.ir;
    let options = p4_syntax::Options { builtin: &p4_check::builtin, ..Default::default() };
    let parsed = p4_syntax::parse_str(&name, text, &options);
    let second = Evaluator::new(&parsed.program).map_err(|e| format!("the second opinion: {e:?}"))?;
    let mut entries = random::entries(&ir, seed);
    // A table with entries of its own may be constant, or have these already.
    entries.ops.retain(|op| !matches!(op, Op::Insert(e) if !ir.program.tables[e.table].entries.is_empty()));
    let batches = vec![Batch::default(), entries];
    super::one(Case { ir: &ir, seed, shape: Shape::Plain, batches, packet: p4_gen::packet, second: Some(second) }, flags, seen)
}

/// Compares the text's meaning with what the interpreter made of a burst. A program that runs for too long is dropped from it.
pub(super) fn compare(
    second: &mut Option<Evaluator>,
    burst: &[(PortId, Vec<u8>)],
    now_ns: u64,
    expected: &[Vec<Outcome>],
    seen: &mut Seen,
) -> Result<(), String> {
    for (packet, expected) in burst.iter().zip(expected) {
        let Some(evaluator) = second else { return Ok(()) };
        match evaluator.process(&packet.1, packet.0, now_ns) {
            Ok(out) => {
                seen.second += 1;
                let got = [(out.verdict, out.bytes)];
                if got[..] != expected[..1] {
                    return Err(difference("the program's text", std::slice::from_ref(packet), &expected[..1], &got));
                }
            }
            Err(Stop::Cannot(what)) if what.contains("runs for so long") => *second = None,
            Err(e) => return Err(format!("the second opinion: {e:?}")),
        }
    }
    Ok(())
}

/// Compares table statistics, counted packets and registers.
pub(super) fn state(ir: &Ir, plain: &Machine, second: &Evaluator) -> Result<(), String> {
    for (id, t) in &ir.program.tables {
        let (a, b) = (plain.table_stats(id), second.table_stats(&t.full_name));
        if Some((a.hits, a.misses)) != b {
            return Err(format!("table {}: {a:?}, by the program's text {b:?}", t.full_name));
        }
    }
    for (id, c) in &ir.program.counters {
        for i in 0..c.size {
            let (a, b) = (plain.counter(id, i).packets, second.counter(&c.name, i));
            if Some(a) != b {
                return Err(format!("counter {}[{i}]: {a}, by the program's text {b:?}", c.name));
            }
        }
    }
    for (id, r) in &ir.program.registers {
        for i in 0..r.size {
            let (a, b) = (plain.register(id, i), second.register(&r.name, i));
            if a != b {
                return Err(format!("register {}[{i}]: {a:?}, by the program's text {b:?}", r.name));
            }
        }
    }
    Ok(())
}
