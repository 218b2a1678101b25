//! What the operators mean: the one definition that constant folding and the interpreter share.
//!
//! Values are `u128` of which only the low `width` bits may be set; signed values are two's complement in those bits.
//! Nothing here can fail: division by zero gives zero, shifts by the width or more give zero (or sign bits).

use crate::{BinOp, Bits, Ty, UnOp};

/// `op a`, for an operand of type `ty`.
pub fn unary(op: UnOp, ty: Ty, a: u128) -> u128 {
    let mask = Bits::mask(ty.width());
    match op {
        UnOp::Neg => a.wrapping_neg() & mask,
        UnOp::BitNot | UnOp::Not => !a & mask,
    }
}

/// `a op b`, for a left operand of type `ty` (the right one's too, except for a shift amount). Comparisons give 0 or 1.
pub fn binary(op: BinOp, ty: Ty, a: u128, b: u128) -> u128 {
    let width = ty.width();
    let mask = Bits::mask(width);
    let signed = matches!(ty, Ty::Int(_));
    match op {
        BinOp::Add => a.wrapping_add(b) & mask,
        BinOp::Sub => a.wrapping_sub(b) & mask,
        BinOp::Mul => a.wrapping_mul(b) & mask,
        BinOp::Div => a.checked_div(b).unwrap_or(0),
        BinOp::Mod => a.checked_rem(b).unwrap_or(0),
        BinOp::AddSat if signed => saturate(to_signed(a, width).saturating_add(to_signed(b, width)), width),
        BinOp::SubSat if signed => saturate(to_signed(a, width).saturating_sub(to_signed(b, width)), width),
        BinOp::AddSat => a.saturating_add(b).min(mask),
        BinOp::SubSat => a.saturating_sub(b),
        BinOp::And | BinOp::LAnd => a & b,
        BinOp::Or | BinOp::LOr => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => shift(b, width).map_or(0, |n| (a << n) & mask),
        BinOp::Shr if signed => (to_signed(a, width) >> shift(b, width).unwrap_or(width - 1)) as u128 & mask,
        BinOp::Shr => shift(b, width).map_or(0, |n| a >> n),
        BinOp::Eq => (a == b) as u128,
        BinOp::Ne => (a != b) as u128,
        BinOp::Lt => less(a, b, width, signed) as u128,
        BinOp::Le => !less(b, a, width, signed) as u128,
        BinOp::Gt => less(b, a, width, signed) as u128,
        BinOp::Ge => !less(a, b, width, signed) as u128,
    }
}

/// Conversion from `from` to `to`: sign-extends a signed operand, zero-extends any other, then truncates.
pub fn cast(from: Ty, to: Ty, a: u128) -> u128 {
    let wide = match from {
        Ty::Int(w) => to_signed(a, w) as u128,
        Ty::Bit(_) | Ty::Bool => a,
    };
    wide & Bits::mask(to.width())
}

/// Bits `hi` down to `lo` of `a`.
pub fn slice(a: u128, hi: u32, lo: u32) -> u128 {
    (a >> lo) & Bits::mask(hi - lo + 1)
}

/// `old` with bits `hi` down to `lo` replaced by `value`.
pub fn with_slice(old: u128, hi: u32, lo: u32, value: u128) -> u128 {
    let mask = Bits::mask(hi - lo + 1);
    (old & !(mask << lo)) | ((value & mask) << lo)
}

/// `a ++ b`, where `b` has `b_width` bits. `a` has at least one, so `b_width` is below 128.
pub fn concat(a: u128, b: u128, b_width: u32) -> u128 {
    a.checked_shl(b_width).unwrap_or(0) | b
}

fn to_signed(a: u128, width: u32) -> i128 {
    Bits::new(width, a).signed()
}

fn saturate(value: i128, width: u32) -> u128 {
    let max = (Bits::mask(width) >> 1) as i128;
    value.clamp(-max - 1, max) as u128 & Bits::mask(width)
}

/// The amount of a shift, if it is below the width.
fn shift(amount: u128, width: u32) -> Option<u32> {
    u32::try_from(amount).ok().filter(|n| *n < width)
}

fn less(a: u128, b: u128, width: u32, signed: bool) -> bool {
    if signed { to_signed(a, width) < to_signed(b, width) } else { a < b }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of 4-bit values under every operator, against arithmetic on plain wide integers.
    #[test]
    fn all_operators_on_all_small_values() {
        for a in 0..16i64 {
            for b in 0..16i64 {
                for signed in [false, true] {
                    let value = |x: i64| if signed && x > 7 { x - 16 } else { x };
                    let (x, y) = (value(a), value(b));
                    let (low, high) = if signed { (-8, 7) } else { (0, 15) };
                    let ty = if signed { Ty::Int(4) } else { Ty::Bit(4) };
                    let mut expected = vec![
                        (BinOp::Add, x + y),
                        (BinOp::Sub, x - y),
                        (BinOp::Mul, x * y),
                        (BinOp::AddSat, (x + y).clamp(low, high)),
                        (BinOp::SubSat, (x - y).clamp(low, high)),
                        (BinOp::And, a & b),
                        (BinOp::Or, a | b),
                        (BinOp::Xor, a ^ b),
                        (BinOp::Shl, x << b),
                        (BinOp::Shr, x >> b),
                    ];
                    if !signed {
                        expected.push((BinOp::Div, if y == 0 { 0 } else { x / y }));
                        expected.push((BinOp::Mod, if y == 0 { 0 } else { x % y }));
                    }
                    for (op, want) in expected {
                        assert_eq!(binary(op, ty, a as u128, b as u128), (want & 15) as u128, "{x} {op:?} {y}");
                    }
                    let compared = [
                        (BinOp::Eq, x == y),
                        (BinOp::Ne, x != y),
                        (BinOp::Lt, x < y),
                        (BinOp::Le, x <= y),
                        (BinOp::Gt, x > y),
                        (BinOp::Ge, x >= y),
                    ];
                    for (op, want) in compared {
                        assert_eq!(binary(op, ty, a as u128, b as u128), want as u128, "{x} {op:?} {y}");
                    }
                    assert_eq!(unary(UnOp::Neg, ty, a as u128), (-x & 15) as u128);
                    assert_eq!(unary(UnOp::BitNot, ty, a as u128), (!x & 15) as u128);
                    assert_eq!(cast(ty, Ty::Bit(8), a as u128), (x & 255) as u128);
                    assert_eq!(cast(ty, Ty::Int(2), a as u128), (x & 3) as u128);
                    assert_eq!(concat(a as u128, b as u128, 4), (a << 4 | b) as u128);
                }
            }
        }
    }

    #[test]
    fn the_widest_values_do_not_overflow() {
        let max = u128::MAX;
        assert_eq!(binary(BinOp::AddSat, Ty::Bit(128), max, 1), max);
        assert_eq!(binary(BinOp::AddSat, Ty::Int(128), max >> 1, 1), max >> 1);
        assert_eq!(binary(BinOp::SubSat, Ty::Int(128), 1 << 127, 1), 1 << 127);
        assert_eq!(binary(BinOp::Shl, Ty::Bit(128), 1, 128), 0);
        assert_eq!(binary(BinOp::Shl, Ty::Bit(8), 1, max), 0);
        assert_eq!(binary(BinOp::Shr, Ty::Int(128), 1 << 127, max), max);
        assert_eq!(unary(UnOp::Neg, Ty::Int(128), 1 << 127), 1 << 127);
        assert_eq!(with_slice(0, 127, 0, max), max);
        assert_eq!(slice(max, 127, 127), 1);
        assert_eq!(with_slice(0xffff, 11, 4, 0), 0xf00f);
    }
}
