//! What is known of headers' validity for every packet?

use p4_ir::{BinOp, Block, Expr, ExprKind, HeaderId, HeaderRef, Ir, Next, Pipe, StateId, Stmt, Transition, UnOp, walk};
use std::collections::{BTreeMap, BTreeSet};

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

/// Headers that each packet of a pipe has behind the parser, and keeps: every way to accept extracts them, and no statement makes them invalid.
pub fn always_valid(ir: &Ir, pipe: &Pipe) -> BTreeSet<HeaderId> {
    let extracted = |block: &Block| {
        let mut all = BTreeSet::new();
        for s in block {
            if let Stmt::Extract { header: HeaderRef::Static(h), .. } = s {
                all.insert(*h);
            }
        }
        all
    };
    let states = ir.states_from(pipe.parser.start);
    // What each state is entered with, on all ways; nothing is known of one that has not been reached.
    let mut with: BTreeMap<StateId, BTreeSet<HeaderId>> = BTreeMap::new();
    let mut accepted: Option<BTreeSet<HeaderId>> = None;
    let meet = |at: &mut Option<BTreeSet<HeaderId>>, new: &BTreeSet<HeaderId>| match at {
        None => *at = Some(new.clone()),
        Some(old) => old.retain(|h| new.contains(h)),
    };
    let Some(start) = pipe.parser.start else { return BTreeSet::new() };
    let mut todo = vec![start];
    with.insert(start, extracted(&pipe.parser.init));
    while let Some(at) = todo.pop() {
        let out: BTreeSet<HeaderId> = with[&at].union(&extracted(&ir.states[at].body)).copied().collect();
        let nexts: Vec<Next> = match &ir.states[at].next {
            Transition::Goto(next) => vec![*next],
            Transition::Select { cases, .. } => cases.iter().map(|c| c.next).collect(),
        };
        for next in nexts {
            match next {
                Next::Accept => meet(&mut accepted, &out),
                Next::Reject => {}
                Next::State(to) => {
                    let mut known = with.get(&to).cloned();
                    meet(&mut known, &out);
                    let known = known.unwrap_or_default();
                    if with.get(&to) != Some(&known) {
                        with.insert(to, known);
                        todo.push(to);
                    }
                }
            }
        }
    }
    let mut always = accepted.unwrap_or_default();
    let mut see = |s: &Stmt| {
        if let Stmt::SetValid(HeaderRef::Static(h), false) | Stmt::CopyHeader { dst: HeaderRef::Static(h), .. } = s {
            always.remove(h);
        }
    };
    let parser = states.iter().map(|s| &ir.states[*s].body).chain([&pipe.parser.init]);
    let blocks = parser.chain(pipe.after_parser()).chain(ir.actions.values().map(|a| &a.body));
    blocks.for_each(|b| walk::all_stmts(b, &mut see));
    always
}

/// What a condition is for every packet, as far as it follows from constants and from headers that none has.
pub fn known(never: &BTreeSet<HeaderId>, c: &Expr) -> Option<bool> {
    known_of(never, &BTreeSet::new(), c)
}

/// As [`known`], also from headers that all have.
pub fn known_of(never: &BTreeSet<HeaderId>, always: &BTreeSet<HeaderId>, c: &Expr) -> Option<bool> {
    let known = |a: &Expr| known_of(never, always, a);
    match &c.kind {
        ExprKind::Const(b) => Some(b.is_true()),
        ExprKind::IsValid(HeaderRef::Static(h)) if never.contains(h) => Some(false),
        ExprKind::IsValid(HeaderRef::Static(h)) if always.contains(h) => Some(true),
        ExprKind::Unary(UnOp::Not, a) => known(a).map(|b| !b),
        ExprKind::Binary(BinOp::LAnd, a, b) => match (known(a), known(b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        ExprKind::Binary(BinOp::LOr, a, b) => match (known(a), known(b)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        _ => None,
    }
}
