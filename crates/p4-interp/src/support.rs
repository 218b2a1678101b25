//! Which constructs the interpreter does not run, found before the first packet.

use p4_ir::{Block, Expr, ExprKind, Extern, Ir, LValue, Stmt, VarId};

/// The name of the first construct in the program that cannot run, with the block that has it.
pub(crate) fn unsupported(ir: &Ir) -> Option<(String, String)> {
    let multicast = ir.intrinsic.standard.get("mcast_grp").copied();
    let mut blocks: Vec<(String, &Block)> = vec![("parser".into(), &ir.parser_init)];
    blocks.extend(ir.states.values().map(|s| (format!("parser state {}", s.name), &s.body)));
    blocks.push(("verify_checksum".into(), &ir.verify_checksum));
    blocks.push(("ingress".into(), &ir.ingress));
    blocks.push(("egress".into(), &ir.egress));
    blocks.push(("compute_checksum".into(), &ir.compute_checksum));
    blocks.push(("deparser".into(), &ir.deparser));
    for (id, code) in &ir.actions {
        blocks.push((format!("action {}", ir.program.actions[id].full_name), &code.body));
    }
    blocks.into_iter().find_map(|(place, block)| in_block(block, multicast).map(|what| (what, place)))
}

fn in_block(block: &Block, multicast: Option<VarId>) -> Option<String> {
    block.iter().find_map(|s| match s {
        Stmt::Extern(Extern::Replicate { kind, .. }) => Some(kind.name().to_owned()),
        Stmt::Assign(dst, value) if sets(dst, multicast) && !harmless(value, multicast) => Some("multicast (mcast_grp)".into()),
        Stmt::If(_, a, b) => in_block(a, multicast).or_else(|| in_block(b, multicast)),
        Stmt::Switch { cases, default, .. } => {
            cases.iter().find_map(|(_, b)| in_block(b, multicast)).or_else(|| in_block(default, multicast))
        }
        Stmt::Labeled(_, b) | Stmt::Loop(b) => in_block(b, multicast),
        _ => None,
    })
}

fn sets(dst: &LValue, var: Option<VarId>) -> bool {
    match dst {
        LValue::Var(v) => Some(*v) == var,
        LValue::Slice(base, ..) => sets(base, var),
        LValue::Field(..) => false,
    }
}

/// Whether the group stays what it was or becomes none.
fn harmless(value: &Expr, multicast: Option<VarId>) -> bool {
    match value.kind {
        ExprKind::Const(c) => c.value() == 0,
        ExprKind::Var(v) => Some(v) == multicast,
        _ => false,
    }
}
