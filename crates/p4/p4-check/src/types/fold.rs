//! What is the value of an operation on constants? Folding of IR operations and of `int` arithmetic (P4_16 §8).

use p4_ir::{BinOp, Bits, Expr, ExprKind, Ty, UnOp};
use p4_syntax::BigInt;

/// A constant.
pub(crate) fn constant(bits: Bits, ty: Ty) -> Expr {
    Expr { kind: ExprKind::Const(bits), ty }
}

/// A constant `bool`.
pub(crate) fn boolean(b: bool) -> Expr {
    constant(Bits::from(b), Ty::Bool)
}

/// Reads a variable.
pub(crate) fn var(v: p4_ir::VarId, ty: Ty) -> Expr {
    Expr { kind: ExprKind::Var(v), ty }
}

/// A number modulo 2^`width`.
pub(crate) fn wrap(value: &BigInt, width: u32) -> Bits {
    let modulus = BigInt::from(1) << width;
    let mut rest = value % &modulus;
    if rest < BigInt::from(0) {
        rest += &modulus;
    }
    Bits::new(width, u128::try_from(&rest).unwrap_or(0))
}

/// Whether a number is one of the type's values.
pub(crate) fn fits(value: &BigInt, ty: Ty) -> bool {
    let (low, high) = match ty {
        Ty::Int(w) => (-(BigInt::from(1) << (w - 1)), (BigInt::from(1) << (w - 1)) - 1),
        other => (BigInt::from(0), (BigInt::from(1) << other.width()) - 1),
    };
    *value >= low && *value <= high
}

/// The number that bits stand for.
pub(crate) fn number(bits: Bits, ty: Ty) -> BigInt {
    match ty {
        Ty::Int(_) => BigInt::from(bits.signed()),
        _ => BigInt::from(bits.value()),
    }
}

fn known(e: &Expr) -> Option<Bits> {
    match e.kind {
        ExprKind::Const(b) => Some(b),
        _ => None,
    }
}

pub(crate) fn unary(op: UnOp, a: Expr) -> Expr {
    let ty = a.ty;
    if let Some(b) = known(&a) {
        let v = match op {
            UnOp::Neg => 0u128.wrapping_sub(b.value()),
            UnOp::BitNot => !b.value(),
            UnOp::Not => u128::from(!b.is_true()),
        };
        return constant(Bits::new(ty.width(), v), ty);
    }
    Expr { kind: ExprKind::Unary(op, Box::new(a)), ty }
}

/// An operation on operands of one type (of any two for shifts).
pub(crate) fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    let ty = match op {
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::LAnd | BinOp::LOr => Ty::Bool,
        _ => a.ty,
    };
    if let (Some(x), Some(y)) = (known(&a), known(&b)) {
        return constant(fold(op, x, y, a.ty, ty), ty);
    }
    // A constant condition decides the other side's fate; the operands have no side effects.
    match (op, known(&a), known(&b)) {
        (BinOp::LAnd, Some(x), _) => return if x.is_true() { b } else { a },
        (BinOp::LOr, Some(x), _) => return if x.is_true() { a } else { b },
        (BinOp::LAnd, _, Some(y)) => return if y.is_true() { a } else { b },
        (BinOp::LOr, _, Some(y)) => return if y.is_true() { b } else { a },
        _ => {}
    }
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty }
}

fn fold(op: BinOp, a: Bits, b: Bits, operand: Ty, result: Ty) -> Bits {
    let w = operand.width();
    let (x, y) = (a.value(), b.value());
    let signed = matches!(operand, Ty::Int(_));
    let less = |x: Bits, y: Bits| if signed { x.signed() < y.signed() } else { x.value() < y.value() };
    let v = match op {
        BinOp::Add => x.wrapping_add(y),
        BinOp::Sub => x.wrapping_sub(y),
        BinOp::Mul => x.wrapping_mul(y),
        BinOp::Div => x.checked_div(y).unwrap_or(0),
        BinOp::Mod => x.checked_rem(y).unwrap_or(0),
        BinOp::AddSat | BinOp::SubSat => {
            let (x, y) = (number(a, operand), number(b, operand));
            let exact = if op == BinOp::AddSat { x + y } else { x - y };
            let (low, high) = match operand {
                Ty::Int(w) => (-(BigInt::from(1) << (w - 1)), (BigInt::from(1) << (w - 1)) - 1),
                other => (BigInt::from(0), (BigInt::from(1) << other.width()) - 1),
            };
            return wrap(&exact.clamp(low, high), w);
        }
        BinOp::And => x & y,
        BinOp::Or => x | y,
        BinOp::Xor => x ^ y,
        BinOp::Shl if y >= u128::from(w) => 0,
        BinOp::Shl => x << y,
        BinOp::Shr if signed => (a.signed() >> y.min(127)) as u128,
        BinOp::Shr if y >= u128::from(w) => 0,
        BinOp::Shr => x >> y,
        BinOp::Eq => u128::from(a == b),
        BinOp::Ne => u128::from(a != b),
        BinOp::Lt => u128::from(less(a, b)),
        BinOp::Le => u128::from(!less(b, a)),
        BinOp::Gt => u128::from(less(b, a)),
        BinOp::Ge => u128::from(!less(a, b)),
        BinOp::LAnd => x & y,
        BinOp::LOr => x | y,
    };
    Bits::new(result.width(), v)
}

/// Conversion between scalars.
pub(crate) fn cast(a: Expr, to: Ty) -> Expr {
    if a.ty == to {
        return a;
    }
    if let Some(b) = known(&a) {
        let v = if matches!(a.ty, Ty::Int(_)) { b.signed() as u128 } else { b.value() };
        return constant(Bits::new(to.width(), v), to);
    }
    Expr { kind: ExprKind::Cast(Box::new(a)), ty: to }
}

pub(crate) fn slice(a: Expr, hi: u32, lo: u32) -> Expr {
    let ty = Ty::Bit(hi - lo + 1);
    if let Some(b) = known(&a) {
        return constant(Bits::new(ty.width(), b.value() >> lo), ty);
    }
    Expr { kind: ExprKind::Slice(Box::new(a), hi, lo), ty }
}

/// `a ++ b`; the caller has checked the sum of the widths.
pub(crate) fn concat(a: Expr, b: Expr) -> Expr {
    let w = a.ty.width() + b.ty.width();
    let ty = if matches!(a.ty, Ty::Int(_)) { Ty::Int(w) } else { Ty::Bit(w) };
    if let (Some(x), Some(y)) = (known(&a), known(&b)) {
        let high = x.value().checked_shl(y.width()).unwrap_or(0);
        return constant(Bits::new(w, high | y.value()), ty);
    }
    Expr { kind: ExprKind::Concat(Box::new(a), Box::new(b)), ty }
}

pub(crate) fn mux(c: Expr, a: Expr, b: Expr) -> Expr {
    match known(&c) {
        Some(c) => {
            if c.is_true() {
                a
            } else {
                b
            }
        }
        None => {
            let ty = a.ty;
            Expr { kind: ExprKind::Mux(Box::new(c), Box::new(a), Box::new(b)), ty }
        }
    }
}

/// `and` of many, as a balanced tree: a comparison of large headers must not nest deep.
pub(crate) fn all(mut terms: Vec<Expr>) -> Expr {
    if terms.is_empty() {
        return boolean(true);
    }
    while terms.len() > 1 {
        let mut next = Vec::with_capacity(terms.len().div_ceil(2));
        let mut it = terms.into_iter();
        while let Some(a) = it.next() {
            next.push(match it.next() {
                Some(b) => binary(BinOp::LAnd, a, b),
                None => a,
            });
        }
        terms = next;
    }
    terms.pop().unwrap_or_else(|| boolean(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit(w: u32, v: u128) -> Expr {
        constant(Bits::new(w, v), Ty::Bit(w))
    }

    fn int(w: u32, v: i128) -> Expr {
        constant(Bits::new(w, v as u128), Ty::Int(w))
    }

    #[test]
    fn arithmetic_wraps_and_saturates_at_the_width() {
        assert_eq!(binary(BinOp::Add, bit(8, 250), bit(8, 10)), bit(8, 4));
        assert_eq!(binary(BinOp::AddSat, bit(8, 250), bit(8, 10)), bit(8, 255));
        assert_eq!(binary(BinOp::SubSat, bit(8, 3), bit(8, 10)), bit(8, 0));
        assert_eq!(binary(BinOp::AddSat, int(8, 100), int(8, 100)), int(8, 127));
        assert_eq!(binary(BinOp::SubSat, int(8, -100), int(8, 100)), int(8, -128));
        assert_eq!(binary(BinOp::Div, bit(8, 7), bit(8, 0)), bit(8, 0));
    }

    #[test]
    fn shifts_beyond_the_width_give_zero_or_the_sign() {
        assert_eq!(binary(BinOp::Shl, bit(8, 1), bit(8, 8)), bit(8, 0));
        assert_eq!(binary(BinOp::Shr, bit(128, 1 << 127), bit(8, 127)), bit(128, 1));
        assert_eq!(binary(BinOp::Shr, int(8, -128), bit(32, 99)), int(8, -1));
    }

    #[test]
    fn signedness_decides_comparison_and_extension() {
        assert_eq!(binary(BinOp::Lt, int(8, -1), int(8, 0)), boolean(true));
        assert_eq!(binary(BinOp::Lt, bit(8, 0xff), bit(8, 0)), boolean(false));
        assert_eq!(cast(int(8, -2), Ty::Bit(16)), bit(16, 0xfffe));
        assert_eq!(cast(bit(8, 0xfe), Ty::Int(16)), int(16, 0xfe));
        assert_eq!(wrap(&BigInt::from(-1), 128).value(), u128::MAX);
        assert!(fits(&BigInt::from(-128), Ty::Int(8)) && !fits(&BigInt::from(128), Ty::Int(8)));
    }

    #[test]
    fn slices_and_concatenation_are_inverse() {
        let v = bit(24, 0xabcdef);
        assert_eq!(concat(slice(v.clone(), 23, 8), slice(v.clone(), 7, 0)), v);
    }
}
