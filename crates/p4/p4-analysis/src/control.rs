//! Where does control go? Actions of tables, statements that do not fall through, and the order of parser states.

use p4_ir::{ActionId, Block, Ir, Next, StateId, Stmt, TableId, walk};
use std::collections::BTreeSet;

/// Actions that the table may run, the default one among them, each once.
pub fn actions(ir: &Ir, table: TableId) -> Vec<ActionId> {
    let info = &ir.program.tables[table];
    let mut seen = BTreeSet::new();
    info.actions.iter().map(|u| u.action).chain([info.default_action.0]).filter(|a| seen.insert(*a)).collect()
}

/// Whether a block has such a statement, at any depth; actions of tables are not looked at.
pub fn any_stmt(block: &[Stmt], is: &mut dyn FnMut(&Stmt) -> bool) -> bool {
    block.iter().any(|s| {
        let mut found = is(s);
        walk::stmt_blocks(s, &mut |b| found = found || any_stmt(b, is));
        found
    })
}

/// Whether a block has an `exit`; actions of tables are not looked at.
pub fn exits(block: &[Stmt]) -> bool {
    any_stmt(block, &mut |s| *s == Stmt::Exit)
}

/// Whether an action of the table ends the control.
pub fn table_exits(ir: &Ir, table: TableId) -> bool {
    actions(ir, table).into_iter().any(|a| ir.actions.get(a).is_some_and(|code| exits(&code.body)))
}

/// Whether the statement behind `s` can be reached through `s`.
pub fn falls_through(s: &Stmt) -> bool {
    match s {
        Stmt::Break(_) | Stmt::Exit | Stmt::Loop(_) => false,
        Stmt::If(_, a, b) => reaches_end(a) || reaches_end(b),
        Stmt::Switch { cases, default, .. } => reaches_end(default) || cases.iter().any(|(_, b)| reaches_end(b)),
        Stmt::Labeled(label, body) => any_stmt(body, &mut |s| *s == Stmt::Break(*label)) || reaches_end(body),
        _ => true,
    }
}

/// Whether the end of a block can be reached.
pub fn reaches_end(block: &Block) -> bool {
    block.iter().all(falls_through)
}

/// The states that a state may lead to, in the order of its cases; one may be there more than once.
pub fn successors(ir: &Ir, state: StateId) -> Vec<StateId> {
    let nexts = ir.states[state].next.targets();
    nexts.into_iter().filter_map(|n| if let Next::State(s) = n { Some(s) } else { None }).collect()
}

/// States that are reached from `start`, it first, others behind what leads to them where there are no loops.
pub fn parse_order(ir: &Ir, start: StateId) -> Vec<StateId> {
    let (mut order, mut seen) = (Vec::new(), BTreeSet::from([start]));
    // Depth first with an explicit stack, as the parser's depth is the program's choice.
    let mut stack = vec![(start, successors(ir, start), 0)];
    while let Some((state, next, at)) = stack.last_mut() {
        if let Some(s) = next.get(*at).copied() {
            *at += 1;
            if seen.insert(s) {
                stack.push((s, successors(ir, s), 0));
            }
        } else {
            order.push(*state);
            stack.pop();
        }
    }
    order.reverse();
    order
}
