//! Bits of what is shifted, as the chip's compiler writes them: `(bit<16>)(x >> 16)` are the upper bits of `x`, and `(bit<16>)(x << 8)` its lower
//! ones and zeros behind them. Neither is an operation.
//! Not done: shifts of signed numbers, which bring the sign along, and by what is no constant.

use p4_ir::walk::{blocks_mut, other_exprs_mut, stmt_blocks_mut, stmt_exprs_mut, sub_exprs_mut};
use p4_ir::{BinOp, Block, Expr, ExprKind, Ir, Ty};

/// Writes the program's shifts so where only some of their bits are taken.
pub(crate) fn slice_shifts(ir: &mut Ir) {
    blocks_mut(ir, &mut block);
    other_exprs_mut(ir, &mut expr);
}

fn block(b: &mut Block) {
    for s in b {
        stmt_exprs_mut(s, &mut expr);
        stmt_blocks_mut(s, &mut block);
    }
}

fn expr(e: &mut Expr) {
    sub_exprs_mut(e, &mut expr);
    let (of, low) = match &e.kind {
        ExprKind::Cast(of) if matches!((e.ty, of.ty), (Ty::Bit(to), Ty::Bit(from)) if to < from) => (of, 0),
        ExprKind::Slice(of, _, low) => (of, *low),
        _ => return,
    };
    if let Some(bits) = bits_of(of, e.ty.width(), low) {
        *e = bits;
    }
}

/// `width` bits from `low` on of a shift, without the shift.
fn bits_of(e: &Expr, width: u32, low: u32) -> Option<Expr> {
    let ExprKind::Binary(op @ (BinOp::Shr | BinOp::Shl), of, by) = &e.kind else { return None };
    let Ty::Bit(whole) = of.ty else { return None };
    let by = u32::try_from(by.as_const()?.value()).ok().filter(|by| *by < whole)?;
    if *op == BinOp::Shr {
        let end = low + by + width;
        return (end <= whole).then(|| part(of, end - 1, low + by));
    }
    let end = low + width;
    Some(match () {
        () if by <= low => part(of, end - 1 - by, low - by),
        () if by >= end => Expr::bit(width, 0),
        () => {
            let (above, zeros) = (part(of, end - 1 - by, 0), Expr::bit(by - low, 0));
            Expr { kind: ExprKind::Concat(Box::new(above), Box::new(zeros)), ty: Ty::Bit(width) }
        }
    })
}

/// Bits of what may have been made wider, or be a shift itself.
fn part(e: &Expr, high: u32, low: u32) -> Expr {
    let width = high - low + 1;
    match &e.kind {
        ExprKind::Cast(of) if matches!(of.ty, Ty::Bit(from) if high < from) => part(of, high, low),
        ExprKind::Slice(of, _, from) => part(of, high + from, low + from),
        _ if width == e.ty.width() => e.clone(),
        _ => bits_of(e, width, low).unwrap_or_else(|| e.clone().slice(high, low)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_a_shift_are_bits_of_what_is_shifted() {
        let mut ir = Ir::v1model("slices");
        let [x, h] = [("x", 32), ("h", 16)].map(|(n, bits)| ir.add_var(n, Ty::Bit(bits)));
        let (x, h) = (Expr::var(&ir, x), Expr::var(&ir, h));
        let shifted = |op, e: &Expr, by| Expr::binary(op, e.clone(), Expr::bit(32, by));
        let of = |mut e: Expr| {
            expr(&mut e);
            e
        };
        assert_eq!(of(shifted(BinOp::Shr, &x, 16).cast(Ty::Bit(16))), x.clone().slice(31, 16));
        assert_eq!(of(shifted(BinOp::Shr, &x, 4).slice(11, 4)), x.clone().slice(15, 8));
        assert_eq!(of(shifted(BinOp::Shl, &x, 8).slice(31, 24)), x.clone().slice(23, 16));
        assert_eq!(of(shifted(BinOp::Shl, &h.clone().cast(Ty::Bit(32)), 16).slice(31, 16)), h);
        assert_eq!(of(shifted(BinOp::Shl, &x, 16).cast(Ty::Bit(8))), Expr::bit(8, 0));
        let padded = of(shifted(BinOp::Shl, &x, 8).cast(Ty::Bit(16)));
        let zeros = Box::new(Expr::bit(8, 0));
        assert_eq!(padded, Expr { kind: ExprKind::Concat(Box::new(x.clone().slice(7, 0)), zeros), ty: Ty::Bit(16) });
        // Zeros from above, and signs, are no bits of it.
        for own in [shifted(BinOp::Shr, &x, 16).slice(23, 8), shifted(BinOp::Shr, &x.cast(Ty::Int(32)), 16).slice(15, 0)] {
            assert_eq!(of(own.clone()), own);
        }
    }
}
