//! What does `@in_hash` make of assignments? Work of a chip's hash unit, on the fields that they read.

use p4_ir::{Expr, ExprKind, Extern, HashAlgorithm, Stmt};

/// `@in_hash { ... }`: what is assigned there is computed by the hash unit, of any number of operands.
pub(super) fn in_hash(mut block: p4_ir::Block) -> p4_ir::Block {
    for s in &mut block {
        if let Stmt::Assign(to, value) = s
            && value.as_const().is_none()
        {
            let (mut data, width) = (Vec::new(), value.ty.width());
            operands(value, &mut data);
            let (base, max) = (Expr::bit(width, 0), Expr::bit(128, 1u128.checked_shl(width).unwrap_or(u128::MAX)));
            *s = Stmt::Extern(Extern::Hash { result: to.clone(), algorithm: HashAlgorithm::Identity, base, data, max });
        }
    }
    block
}

/// The fields that an expression is made of.
fn operands(e: &Expr, out: &mut Vec<Expr>) {
    match &e.kind {
        ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => {
            operands(a, out);
            operands(b, out);
        }
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => operands(a, out),
        ExprKind::Const(_) => {}
        _ => out.push(e.clone()),
    }
}
