//! What a program needs of parser and deparser: TCAM rows, bytes that it reaches, checksum units, pieces.

use crate::describe::{DeparserLimits, ParserLimits};
use crate::lack::{Fault, Lack};
use crate::varbit::{Lengths, lengths, of_pipe};
use p4_ir::walk::{all_stmts, read_vars};
use p4_ir::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Beyond so many checksums a parser is not asked how many more.
const MOST_CHECKSUMS: u64 = 1000;

/// What one pipe takes of its parser and deparser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ParserUse {
    /// Transitions, and further rows of states that take more than one step.
    pub tcam_rows: u64,
    /// Of these there are.
    pub tcam_rows_of: u64,
    /// Bytes of the longest way through the headers.
    pub depth_bytes: u64,
    /// Of these the parser reaches, if it has a limit.
    pub depth_bytes_of: Option<u64>,
    /// Pieces that the deparser puts together.
    pub deparser_entries: u64,
    /// Of these there are.
    pub deparser_entries_of: u64,
    /// Checksums verified and computed.
    pub checksums: (u64, u64),
}

/// Of a pipe whose parser reaches `reach` bytes, or has no limit.
pub(crate) fn parser_use(
    ir: &Ir,
    pipe: &Pipe,
    p: &ParserLimits,
    reach: Option<u64>,
    d: &DeparserLimits,
    lacks: &mut Vec<Lack>,
) -> ParserUse {
    let namer = Namer::new(ir);
    let reached = ir.states_from(pipe.parser.start);
    let mut rows = 0;
    let mut bytes: BTreeMap<StateId, u64> = BTreeMap::new();
    for id in &reached {
        let s = &ir.states[*id];
        let (mut taken, mut tests) = (0, 0);
        // Bytes of a field of which another says the length.
        let (mut chosen, mut variable) = (0, false);
        all_stmts(&s.body, &mut |stmt| match stmt {
            Stmt::Extract { header, varbit_bits } => {
                taken += header_bytes(ir, header);
                // The pieces come last in their state.
                if variable {
                    push(lacks, Lack::of(&s.name, Fault::BehindVarbit));
                }
                let Some(bits) = varbit_bits else { return };
                variable = true;
                match lengths(ir, header, bits) {
                    Some(of) if of.values == 0 => taken += of.longest(),
                    // A state for each length, found by the value that says it.
                    Some(of) => {
                        let steps = of.bytes.iter().map(|length| length.div_ceil(p.extract_bytes).max(1));
                        rows += of.values + steps.sum::<u64>();
                        chosen = of.longest();
                    }
                    None => push(lacks, Lack::of(&s.name, Fault::VarbitLength(crate::sites::short(&namer.expr(bits))))),
                }
            }
            Stmt::Assign(to, value) if !moves(ir, value) && !ored(ir, to, value) => {
                push(lacks, Lack::of(&s.name, Fault::ParserArithmetic(crate::sites::short(&namer.expr(value)))));
            }
            Stmt::Advance(by) => match by.as_const() {
                Some(bits) => taken += u64::try_from(bits.value() / 8).unwrap_or(u64::MAX).min(1 << 20),
                None => push(lacks, Lack::of(&s.name, Fault::ParserArithmetic(crate::sites::short(&namer.expr(by))))),
            },
            Stmt::Verify(..) => tests += 1,
            Stmt::If(..) | Stmt::Switch { .. } => tests += 1,
            _ => {}
        });
        let steps = taken.div_ceil(p.extract_bytes).max(1);
        rows += transitions(ir, &s.next, p) + steps - 1 + tests;
        bytes.insert(*id, taken + chosen);
    }
    let depth = deepest(ir, pipe, &bytes);
    let variable = of_pipe(ir, pipe);
    let mut pieces = 0;
    let mut emitted = BTreeSet::new();
    all_stmts(&pipe.deparser, &mut |s| {
        if let Stmt::Emit(HeaderRef::Static(h)) = s
            && emitted.insert(*h)
        {
            let bytes = header_bytes(ir, &HeaderRef::Static(*h)) + variable.get(h).map_or(0, Lengths::longest);
            pieces += bytes.div_ceil(d.entry_bytes);
        }
    });
    let mut verified = 0;
    let mut computed = 0;
    // Those of TNA are in the parser's states, and have no data of their own.
    let apart = |s: &Stmt| matches!(s, Stmt::Extern(Extern::VerifyChecksum { data, .. }) if !data.is_empty());
    all_stmts(pipe.control(Role::VerifyChecksum), &mut |s| verified += u64::from(apart(s)));
    let (mut any, outcomes) = (false, parsed_checksums(ir, pipe));
    all_stmts(pipe.control(Role::VerifyChecksum), &mut |s| any |= matches!(s, Stmt::Extern(Extern::VerifyChecksum { .. })) && !apart(s));
    // One whose outcome nobody keeps is a unit too.
    verified += outcomes.max(u64::from(any));
    all_stmts(pipe.control(Role::ComputeChecksum), &mut |s| {
        computed += u64::from(matches!(s, Stmt::Extern(Extern::UpdateChecksum { .. })))
    });
    for (needed, of, fault) in [
        (rows, p.tcam_rows, Fault::ParserRows { needed: rows, of: p.tcam_rows }),
        (depth, reach.unwrap_or(u64::MAX), Fault::ParserDepth { needed: depth, of: reach.unwrap_or(u64::MAX) }),
        (verified, p.checksums, Fault::ParserChecksums { needed: verified, of: p.checksums }),
        (pieces, d.entries, Fault::DeparserEntries { needed: pieces, of: d.entries }),
        (computed, d.checksums, Fault::DeparserChecksums { needed: computed, of: d.checksums }),
    ] {
        if needed > of {
            push(lacks, Lack::of("", fault));
        }
    }
    ParserUse {
        tcam_rows: rows,
        tcam_rows_of: p.tcam_rows,
        depth_bytes: depth,
        depth_bytes_of: reach,
        deparser_entries: pieces,
        deparser_entries_of: d.entries,
        checksums: (verified, computed),
    }
}

/// Checksum units that the parser's states take. A unit that has verified a sum is free for another state; one that sums what is left of the
/// packet is busy to the end, so that only such sums share it as no packet has together.
fn parsed_checksums(ir: &Ir, pipe: &Pipe) -> u64 {
    let named = |name: &str| ir.intrinsic.standard.get(name).copied();
    let uses = |id: StateId, what: Option<VarId>| {
        let mut n = 0;
        all_stmts(&ir.states[id].body, &mut |s| {
            if let Stmt::Assign(_, value) = s {
                read_vars(value, &mut |v| n += u64::from(Some(v) == what));
            }
        });
        n
    };
    let states = ir.states_from(pipe.parser.start);
    let verified = states.iter().map(|id| uses(*id, named("checksum_error"))).max().unwrap_or(0);
    let residuals = states.iter().map(|id| (*id, uses(*id, named("checksum_residual")))).collect();
    verified + longest(ir, pipe, &residuals, MOST_CHECKSUMS)
}

fn push(lacks: &mut Vec<Lack>, lack: Lack) {
    if !lacks.contains(&lack) {
        lacks.push(lack);
    }
}

/// The states that a transition leads to.
pub(crate) fn after(t: &Transition) -> Vec<StateId> {
    let state = |n: &Next| match n {
        Next::State(s) => Some(*s),
        _ => None,
    };
    match t {
        Transition::Goto(n) => state(n).into_iter().collect(),
        Transition::Select { cases, .. } => cases.iter().filter_map(|c| state(&c.next)).collect(),
    }
}

fn transitions(ir: &Ir, t: &Transition, p: &ParserLimits) -> u64 {
    let Transition::Select { keys, cases } = t else { return 1 };
    let bits: u64 = keys.iter().map(|k| u64::from(k.ty.width())).sum();
    let rounds = bits.div_ceil(p.match_bits).max(1);
    let rows: u64 = cases
        .iter()
        .map(|c| {
            let of = |s: &KeySet| match s {
                KeySet::Value { .. } | KeySet::Any => 1,
                // A range is a row for each of its aligned blocks: at most two for each bit.
                KeySet::Range { low, high } => blocks_of_range(low.value(), high.value()),
                KeySet::ValueSet(v) => ir.program.value_sets[*v].size.max(1),
            };
            c.sets.iter().map(of).fold(1u64, u64::saturating_mul)
        })
        .fold(0, u64::saturating_add);
    rows.saturating_mul(rounds)
}

/// Aligned blocks of powers of two that make up a range.
fn blocks_of_range(low: u128, high: u128) -> u64 {
    let mut at = low;
    let mut n = 0;
    while at <= high {
        let align = if at == 0 { 127 } else { at.trailing_zeros().min(127) };
        let mut size = align;
        while size > 0 && ((1u128 << size) - 1) > high - at {
            size -= 1;
        }
        n += 1;
        match at.checked_add(1u128 << size) {
            Some(next) => at = next,
            None => break,
        }
    }
    n.max(1)
}

/// Whether a parser can do it: it moves fields and sets constants, and the outcome of a checksum unit goes to a bit as it is or turned over.
fn moves(ir: &Ir, e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Field(..) => true,
        ExprKind::Cast(a) | ExprKind::Slice(a, _, _) => moves(ir, a),
        ExprKind::Unary(UnOp::Not, a) => matches!(a.kind, ExprKind::Binary(BinOp::Eq | BinOp::Ne, ..)) && moves(ir, a),
        ExprKind::Binary(BinOp::Eq | BinOp::Ne, a, b) => {
            let outcome = matches!(&a.kind, ExprKind::Var(v) if ir.intrinsic.standard.get("checksum_error") == Some(v));
            outcome && b.as_const().is_some()
        }
        _ => false,
    }
}

/// Whether bits are set in what is there: a write may go over the container, or be ored with it.
fn ored(ir: &Ir, to: &LValue, value: &Expr) -> bool {
    let ExprKind::Binary(BinOp::Or | BinOp::LOr, a, b) = &value.kind else { return false };
    (is_place(to, a) && moves(ir, b)) || (is_place(to, b) && moves(ir, a))
}

fn is_place(place: &LValue, e: &Expr) -> bool {
    match (place, &e.kind) {
        (LValue::Var(to), ExprKind::Var(v)) => to == v,
        (LValue::Field(to, field), ExprKind::Field(h, f)) => to == h && field == f,
        (LValue::Slice(base, high, low), ExprKind::Slice(of, hi, lo)) => (high, low) == (hi, lo) && is_place(base, of),
        _ => false,
    }
}

fn header_bytes(ir: &Ir, h: &HeaderRef) -> u64 {
    match h {
        HeaderRef::Static(id) => fixed_bytes(ir, *id),
        HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Index(s, _) => {
            ir.stacks[*s].elements.first().map_or(0, |h| fixed_bytes(ir, *h))
        }
    }
}

fn fixed_bytes(ir: &Ir, h: HeaderId) -> u64 {
    u64::from(ir.header_types[ir.headers[h].ty].fixed_bits).div_ceil(8)
}

/// Bytes of the longest way from the start that goes round no loop, as the chip's compiler counts.
fn deepest(ir: &Ir, pipe: &Pipe, bytes: &BTreeMap<StateId, u64>) -> u64 {
    let (mut from, mut open): (BTreeMap<StateId, u64>, BTreeSet<StateId>) = Default::default();
    let mut todo: Vec<(StateId, bool)> = pipe.parser.start.into_iter().map(|s| (s, false)).collect();
    while let Some((id, left)) = todo.pop() {
        let next = after(&ir.states[id].next);
        if left {
            let behind = next.iter().filter(|n| !open.contains(n)).filter_map(|n| from.get(n)).max().copied().unwrap_or(0);
            open.remove(&id);
            from.insert(id, bytes.get(&id).copied().unwrap_or(0).saturating_add(behind));
        } else if !from.contains_key(&id) && open.insert(id) {
            todo.push((id, true));
            todo.extend(next.into_iter().map(|n| (n, false)));
        }
    }
    pipe.parser.start.and_then(|s| from.get(&s)).copied().unwrap_or(0)
}

/// Bytes of the longest way from the start; ways round a loop count up to just beyond `limit`.
pub(crate) fn longest(ir: &Ir, pipe: &Pipe, bytes: &BTreeMap<StateId, u64>, limit: u64) -> u64 {
    let reached = ir.states_from(pipe.parser.start);
    let mut best: BTreeMap<StateId, u64> = BTreeMap::new();
    if let Some(start) = pipe.parser.start {
        best.insert(start, bytes.get(&start).copied().unwrap_or(0));
    }
    for _ in 0..reached.len().saturating_add(1) {
        let mut changed = false;
        for id in &reached {
            let Some(here) = best.get(id).copied() else { continue };
            for next in after(&ir.states[*id].next) {
                let there = (here + bytes.get(&next).copied().unwrap_or(0)).min(limit.saturating_add(1));
                if best.get(&next).is_none_or(|known| there > *known) {
                    best.insert(next, there);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    best.values().copied().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_so_many_blocks() {
        for (low, high, blocks) in [(0, 0, 1), (0, 7, 1), (1, 7, 3), (1, 6, 4), (0, u128::MAX, 2), (5, 5, 1), (3, 2, 1)] {
            assert_eq!(blocks_of_range(low, high), blocks, "{low}..{high}");
        }
    }
}
