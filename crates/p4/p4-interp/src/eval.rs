//! Expressions: a packet's state in, a number out. Nothing here changes anything.

use crate::packet::{PacketState, cut};
use p4_ir::{BinOp, Expr, ExprKind, HeaderId, HeaderRef, Ir, LValue, arith};

/// The value of an expression, cut to its type's width.
pub(crate) fn eval(ir: &Ir, p: &PacketState, e: &Expr) -> u128 {
    match &e.kind {
        ExprKind::Const(bits) => bits.value(),
        ExprKind::Var(v) => p.var(*v),
        ExprKind::Field(h, i) => resolve(ir, p, h).map_or(0, |h| p.field(h, *i)),
        ExprKind::IsValid(h) => resolve(ir, p, h).is_some_and(|h| p.is_valid(h)).into(),
        ExprKind::LastIndex(s) => p.next_index(*s).wrapping_sub(1).into(),
        ExprKind::NextIndex(s) => p.next_index(*s).into(),
        ExprKind::VarbitBits(h, _) => cut(resolve(ir, p, h).map_or(0, |h| 8 * p.varbit(h).len()) as u128, e.ty.width()),
        ExprKind::VarbitEq(a, b) => {
            let bytes = |h| resolve(ir, p, h).map_or(&[][..], |h| p.varbit(h));
            (bytes(a) == bytes(b)).into()
        }
        ExprKind::Unary(op, a) => arith::unary(*op, a.ty, eval(ir, p, a)),
        ExprKind::Binary(BinOp::LAnd, a, b) => (eval(ir, p, a) != 0 && eval(ir, p, b) != 0).into(),
        ExprKind::Binary(BinOp::LOr, a, b) => (eval(ir, p, a) != 0 || eval(ir, p, b) != 0).into(),
        ExprKind::Binary(op, a, b) => arith::binary(*op, a.ty, eval(ir, p, a), eval(ir, p, b)),
        ExprKind::Cast(a) => arith::cast(a.ty, e.ty, eval(ir, p, a)),
        ExprKind::Slice(a, hi, lo) => arith::slice(eval(ir, p, a), *hi, *lo),
        ExprKind::Concat(a, b) => arith::concat(eval(ir, p, a), eval(ir, p, b), b.ty.width()),
        ExprKind::Mux(c, a, b) => eval(ir, p, if eval(ir, p, c) != 0 { a } else { b }),
    }
}

/// Which header a reference means now; `None` where it is outside of its stack.
#[inline]
pub(crate) fn resolve(ir: &Ir, p: &PacketState, h: &HeaderRef) -> Option<HeaderId> {
    match h {
        HeaderRef::Static(h) => Some(*h),
        other => element(ir, p, other),
    }
}

fn element(ir: &Ir, p: &PacketState, h: &HeaderRef) -> Option<HeaderId> {
    let (stack, at) = match h {
        HeaderRef::Static(h) => return Some(*h),
        HeaderRef::Next(s) => (*s, p.next_index(*s) as usize),
        HeaderRef::Last(s) => (*s, (p.next_index(*s) as usize).checked_sub(1)?),
        HeaderRef::Index(s, i) => (*s, usize::try_from(eval(ir, p, i)).ok()?),
    };
    ir.stacks[stack].elements.get(at).copied()
}

/// What an l-value holds now.
pub(crate) fn read(ir: &Ir, p: &PacketState, l: &LValue) -> u128 {
    match l {
        LValue::Var(v) => p.var(*v),
        LValue::Field(h, i) => resolve(ir, p, h).map_or(0, |h| p.field(h, *i)),
        LValue::Slice(base, hi, lo) => arith::slice(read(ir, p, base), *hi, *lo),
    }
}

/// Width of an l-value in bits.
pub(crate) fn width(ir: &Ir, l: &LValue) -> u32 {
    match l {
        LValue::Var(v) => ir.vars[*v].ty.width(),
        LValue::Field(h, i) => ir.type_of(h).map_or(0, |t| ir.header_types[t].fields[*i as usize].ty.width()),
        LValue::Slice(_, hi, lo) => hi - lo + 1,
    }
}
