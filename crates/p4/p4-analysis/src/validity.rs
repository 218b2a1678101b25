//! What is known of headers' validity for every packet?

use p4_ir::{BinOp, Expr, ExprKind, HeaderId, HeaderRef, Ir, Pipe, StateId, Stmt, UnOp, walk};
use std::collections::BTreeSet;

/// Headers that no reachable parser state extracts and no statement makes valid. Elements of stacks are never among them.
pub fn never_valid(ir: &Ir) -> BTreeSet<HeaderId> {
    let mut some: BTreeSet<HeaderId> = ir.stacks.values().flat_map(|s| s.elements.iter().copied()).collect();
    let mut see = |s: &Stmt| {
        if let Stmt::Extract { header: HeaderRef::Static(h), .. }
        | Stmt::SetValid(HeaderRef::Static(h), true)
        | Stmt::CopyHeader { dst: HeaderRef::Static(h), .. } = s
        {
            some.insert(*h);
        }
    };
    let reached: BTreeSet<StateId> = ir.pipes.values().flat_map(|p| ir.states_from(p.parser.start)).collect();
    let parsers = ir.pipes.values().map(|p| &p.parser.init).chain(reached.into_iter().map(|s| &ir.states[s].body));
    let blocks = parsers.chain(ir.pipes.values().flat_map(Pipe::after_parser)).chain(ir.actions.values().map(|a| &a.body));
    blocks.for_each(|b| walk::all_stmts(b, &mut see));
    ir.headers.keys().filter(|h| !some.contains(h)).collect()
}

/// What a condition is for every packet, as far as it follows from constants and from headers that none has.
pub fn known(never: &BTreeSet<HeaderId>, c: &Expr) -> Option<bool> {
    match &c.kind {
        ExprKind::Const(b) => Some(b.is_true()),
        ExprKind::IsValid(HeaderRef::Static(h)) if never.contains(h) => Some(false),
        ExprKind::Unary(UnOp::Not, a) => known(never, a).map(|b| !b),
        ExprKind::Binary(BinOp::LAnd, a, b) => match (known(never, a), known(never, b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        ExprKind::Binary(BinOp::LOr, a, b) => match (known(never, a), known(never, b)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        _ => None,
    }
}
