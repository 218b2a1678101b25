//! What do operators and casts mean on numbers wider than the IR's widest value (P4_16 §8.6 - §8.11)?
//!
//! They become operations on the pieces (`types/wide.rs`): sums and differences carry from the lowest piece to the highest,
//! products are made of 64-bit digits, and shifts by an amount that is only known at run time go through the amount's bits. What is
//! needed more than once is saved in a variable, so a program grows with the width, and not faster; a product grows with its square.
//!
//! Left out: division and remainder at run time.

use super::cx::Values;
use crate::names::sink::R;
use crate::types::fold;
use crate::types::fold::number;
use crate::types::wide::pieces;
use crate::types::*;
use base::MAX_WIDTH;
use p4_ir::{BinOp, Bits, Expr, LValue, Ty, UnOp};
use p4_syntax::{BigInt, Span, ast};

/// Digits of a product: two of them, a digit and a carry fit in the IR's widest value.
const DIGIT: u32 = 64;

/// What a product of two digits takes of the budget for a program's size, against other statements.
const PRODUCT_COST: u64 = 16;

impl Values<'_> {
    /// `op v`.
    pub(crate) fn wide_unary(&mut self, op: UnOp, v: &Tv, w: Wide, span: Span) -> R<Tv> {
        let parts = self.parts(v, span)?;
        let parts = match op {
            UnOp::BitNot => parts.into_iter().map(|p| fold::unary(UnOp::BitNot, p)).collect(),
            UnOp::Neg => self.difference(&zeros(w.width), &parts).0,
            UnOp::Not => return Err(self.bug(span, "an operator")),
        };
        Ok(self.wide_value(parts, w, span))
    }

    /// `a op b` of one type, but for shifts, `++`, `==` and `!=`.
    pub(crate) fn wide_binary(&mut self, op: BinOp, a: &Tv, b: &Tv, w: Wide, span: Span) -> R<Tv> {
        let (x, y) = (self.parts(a, span)?, self.parts(b, span)?);
        let parts = match op {
            BinOp::And | BinOp::Or | BinOp::Xor => x.into_iter().zip(y).map(|(x, y)| fold::binary(op, x, y)).collect(),
            BinOp::Add => self.sum(&x, &y).0,
            BinOp::Sub => self.difference(&x, &y).0,
            BinOp::AddSat | BinOp::SubSat => self.saturated(op, &x, &y, w),
            BinOp::Mul => self.product(&x, &y, w.width, span)?,
            BinOp::Lt => return Ok(Tv::bool(self.less(&x, &y, w.signed), span)),
            BinOp::Gt => return Ok(Tv::bool(self.less(&y, &x, w.signed), span)),
            BinOp::Ge => return Ok(Tv::bool(not(self.less(&x, &y, w.signed)), span)),
            BinOp::Le => return Ok(Tv::bool(not(self.less(&y, &x, w.signed)), span)),
            BinOp::Div | BinOp::Mod if !w.signed => {
                let (Some(x), Some(y)) = (known(&x, w), known(&y, w)) else {
                    return Err(self.unsupported(span, format!("division of values of {}", a.ty)));
                };
                if y == BigInt::from(0) {
                    return Err(self.error("division", span, "division by zero"));
                }
                constants(&if op == BinOp::Div { x / y } else { x % y }, w.width)
            }
            _ => {
                let message = format!("this operator is not defined on {}", a.ty);
                return Err(self.error("type-mismatch", span, message));
            }
        };
        Ok(self.wide_value(parts, w, span))
    }

    /// `a << amount` or `a >> amount`.
    pub(crate) fn wide_shift(&mut self, op: BinOp, a: &Tv, amount: Expr, w: Wide, span: Span) -> R<Tv> {
        let mut parts = self.parts(a, span)?;
        let left = op == BinOp::Shl;
        let fill = match (left, w.signed) {
            (false, true) => self.keep(fold::slice(parts[0].clone(), parts[0].ty.width() - 1, parts[0].ty.width() - 1)),
            _ => constant(Bits::new(1, 0), Ty::Bit(1)),
        };
        if let p4_ir::ExprKind::Const(n) = amount.kind {
            let by = n.value().min(w.width.into()) as u32;
            let parts = shifted(&parts, w.width, by, left, &fill);
            return Ok(self.wide_value(parts, w, span));
        }
        let (amount, bits) = (self.keep(amount.clone()), amount.ty.width());
        for bit in (0..bits.min(32)).take_while(|b| 1 << b < w.width) {
            self.spend(cost(parts.len()), span)?;
            let on = self.keep(fold::cast(fold::slice(amount.clone(), bit, bit), Ty::Bool));
            let moved = shifted(&parts, w.width, 1 << bit, left, &fill);
            parts = moved.into_iter().zip(parts).map(|(m, p)| self.keep(fold::mux(on.clone(), m, p))).collect();
        }
        if bits >= 32 || 1u64 << bits > w.width.into() {
            let width = constant(Bits::new(bits, w.width.into()), amount.ty);
            let beyond = self.keep(fold::binary(BinOp::Ge, amount, width));
            let nothing = shifted(&parts, w.width, w.width, left, &fill);
            parts = nothing.into_iter().zip(parts).map(|(n, p)| fold::mux(beyond.clone(), n, p)).collect();
        }
        Ok(self.wide_value(parts, w, span))
    }

    /// A wide value as the amount of a shift: whatever does not fit in the widest value shifts everything out.
    pub(crate) fn wide_amount(&mut self, v: &Tv, span: Span) -> R<Expr> {
        let parts = self.parts(v, span)?;
        let high = bits(&parts, widths(&parts) - 1, MAX_WIDTH);
        let any = high.into_iter().map(|p| {
            let zero = constant(Bits::new(p.ty.width(), 0), p.ty);
            fold::binary(BinOp::Eq, p, zero)
        });
        let fits = fold::all(any.collect());
        let low = one(bits(&parts, MAX_WIDTH - 1, 0));
        Ok(fold::mux(fits, low, constant(Bits::new(MAX_WIDTH, u128::MAX), Ty::Bit(MAX_WIDTH))))
    }

    /// `a ++ b`, where the result is wide.
    pub(crate) fn wide_concat(&mut self, a: &Tv, b: &Tv, span: Span) -> R<Tv> {
        let mut parts = self.parts(a, span)?;
        let signed = matches!(a.ty, Type::Bits { signed: true, .. }) || wide_of(&a.ty).is_some_and(|w| w.signed);
        parts.extend(self.parts(b, span)?);
        let width = widths(&parts);
        if width > MAX_ANY_WIDTH {
            return Err(self.error("limit", span, format!("a value of {width} bits, more than {}", MAX_ANY_WIDTH)));
        }
        Ok(self.wide_value(parts, Wide { width, signed }, span))
    }

    /// A number of `from` bits as one of `to`, of which at least one is wide. `None` if there is no such cast.
    pub(crate) fn wide_cast(&mut self, v: &Tv, to: &Type, span: Span) -> R<Option<Tv>> {
        let shape = |t: &Type| match t {
            Type::Bits { width, signed } => Some(Wide { width: *width, signed: *signed }),
            t => wide_of(t),
        };
        let Some(into) = shape(to) else { return Ok(None) };
        if let Val::Int(i) = &v.val {
            return Ok(Some(self.wide_value(constants(i, into.width), into, span)));
        }
        let Some(from) = shape(&v.ty) else { return Ok(None) };
        if from.signed != into.signed && from.width != into.width {
            return Ok(None);
        }
        let parts = self.parts(v, span)?;
        let parts = if into.width <= from.width {
            bits(&parts, into.width - 1, 0)
        } else {
            let top = parts[0].ty.width() - 1;
            let fill = match from.signed {
                true => self.keep(fold::slice(parts[0].clone(), top, top)),
                false => constant(Bits::new(1, 0), Ty::Bit(1)),
            };
            filled(into.width - from.width, &fill).into_iter().chain(parts).collect()
        };
        Ok(Some(self.wide_value(parts, into, span)))
    }

    /// Bits `hi` down to `lo` of a wide value.
    pub(crate) fn wide_bits(&mut self, v: &Tv, hi: u32, lo: u32, span: Span) -> R<Tv> {
        let parts = self.parts(v, span)?;
        Ok(self.wide_value(bits(&parts, hi, lo), Wide { width: hi - lo + 1, signed: false }, span))
    }

    /// The number that a value of this type is known to be.
    pub(crate) fn wide_known(&mut self, v: &Tv) -> Option<BigInt> {
        let w = wide_of(&v.ty)?;
        let Val::Agg(parts) = &v.val else { return None };
        let parts: Option<Vec<Expr>> = parts.iter().map(Val::scalar).collect();
        known(&parts?, w)
    }

    /// A number, cut to the type's width.
    pub(crate) fn wide_constant(&mut self, value: &BigInt, w: Wide, span: Span) -> Tv {
        self.wide_value(constants(value, w.width), w, span)
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Pieces: the top one first, all of type `bit`

    /// The pieces of a value, of a narrow one too. They can be used more than once.
    fn parts(&mut self, v: &Tv, span: Span) -> R<Vec<Expr>> {
        let mut parts = Vec::new();
        self.spend(cost(v.ty.leaves() as usize), span)?;
        match (&v.ty, v.val.scalar()) {
            (Type::Composite(c), None) => {
                for i in 0..c.fields.len() {
                    let piece = self.field(v, c, i, span)?;
                    parts.extend(piece.val.scalar());
                }
            }
            (_, Some(e)) => {
                let width = e.ty.width();
                parts.push(fold::cast(e, Ty::Bit(width)));
            }
            _ => {}
        }
        if parts.is_empty() {
            return Err(self.bug(span, "an operand"));
        }
        Ok(parts.into_iter().map(|p| self.keep(p)).collect())
    }

    /// The value, saved if it is to be computed.
    pub(crate) fn keep(&mut self, e: Expr) -> Expr {
        match &e.kind {
            p4_ir::ExprKind::Const(_) => e,
            p4_ir::ExprKind::Var(v) if self.build.is_stable(*v) => e,
            _ => {
                let (ty, t) = (e.ty, self.temp(e.ty));
                self.emit_assign(LValue::Var(t), e);
                var(t, ty)
            }
        }
    }

    /// A value of these pieces, cut as its type wants them.
    fn wide_value(&mut self, parts: Vec<Expr>, w: Wide, span: Span) -> Tv {
        if w.width <= MAX_WIDTH {
            let ty = if w.signed { Ty::Int(w.width) } else { Ty::Bit(w.width) };
            let all = one(bits(&parts, w.width - 1, 0));
            return Tv::expr(Type::Bits { width: w.width, signed: w.signed }, fold::cast(all, ty), span);
        }
        let parts = arranged(&parts, w.width).into_iter().map(Val::Expr).collect();
        Tv::value(self.wide(w), Val::Agg(parts), span)
    }

    /// `x + y`, and whether there is a carry.
    fn sum(&mut self, x: &[Expr], y: &[Expr]) -> (Vec<Expr>, Expr) {
        let mut carry = boolean(false);
        let mut out = Vec::new();
        for (a, b) in x.iter().zip(y).rev() {
            let s = self.keep(fold::binary(BinOp::Add, a.clone(), b.clone()));
            let over = fold::binary(BinOp::Lt, s.clone(), a.clone());
            let (s, again) = self.step(BinOp::Add, s, &carry);
            carry = self.keep(fold::binary(BinOp::LOr, over, again));
            out.push(s);
        }
        out.reverse();
        (out, carry)
    }

    /// `x - y`, and whether there is a borrow.
    fn difference(&mut self, x: &[Expr], y: &[Expr]) -> (Vec<Expr>, Expr) {
        let mut borrow = boolean(false);
        let mut out = Vec::new();
        for (a, b) in x.iter().zip(y).rev() {
            let under = fold::binary(BinOp::Lt, a.clone(), b.clone());
            let d = self.keep(fold::binary(BinOp::Sub, a.clone(), b.clone()));
            let (d, again) = self.step(BinOp::Sub, d, &borrow);
            borrow = self.keep(fold::binary(BinOp::LOr, under, again));
            out.push(d);
        }
        out.reverse();
        (out, borrow)
    }

    /// One more or less if `on`, and whether that goes past the end.
    fn step(&mut self, op: BinOp, v: Expr, on: &Expr) -> (Expr, Expr) {
        if on.kind == p4_ir::ExprKind::Const(Bits::from(false)) {
            return (v, boolean(false));
        }
        let ty = v.ty;
        let number = |n| constant(Bits::new(ty.width(), n), ty);
        let one = fold::cast(fold::cast(on.clone(), Ty::Bit(1)), ty);
        let last = if op == BinOp::Add { number(u128::MAX) } else { number(0) };
        let again = fold::binary(BinOp::LAnd, on.clone(), fold::binary(BinOp::Eq, v.clone(), last));
        (self.keep(fold::binary(op, v, one)), again)
    }

    fn saturated(&mut self, op: BinOp, x: &[Expr], y: &[Expr], w: Wide) -> Vec<Expr> {
        let (parts, over) = if op == BinOp::AddSat { self.sum(x, y) } else { self.difference(x, y) };
        if !w.signed {
            let end = if op == BinOp::AddSat { 1 } else { 0 };
            let end = filled(w.width, &constant(Bits::new(1, end), Ty::Bit(1)));
            return arranged(&end, w.width).into_iter().zip(parts).map(|(e, p)| fold::mux(over.clone(), e, p)).collect();
        }
        // The sum of two numbers of one sign, or the difference of two of unlike signs, has the first one's sign.
        let sign = |p: &Expr| fold::cast(fold::slice(p.clone(), p.ty.width() - 1, p.ty.width() - 1), Ty::Bool);
        let (a, b, s) = (sign(&x[0]), sign(&y[0]), sign(&parts[0]));
        let alike = if op == BinOp::AddSat { BinOp::Eq } else { BinOp::Ne };
        let over = fold::binary(BinOp::LAnd, fold::binary(alike, a.clone(), b), fold::binary(BinOp::Ne, a.clone(), s));
        let (over, negative) = (self.keep(over), self.keep(a));
        let least = constants(&(BigInt::from(1) << (w.width - 1)), w.width);
        let most = constants(&((BigInt::from(1) << (w.width - 1)) - 1), w.width);
        let end = least.into_iter().zip(most).map(|(least, most)| fold::mux(negative.clone(), least, most));
        end.zip(parts).map(|(e, p)| fold::mux(over.clone(), e, p)).collect()
    }

    /// `x * y` modulo 2^`width`.
    fn product(&mut self, x: &[Expr], y: &[Expr], width: u32, span: Span) -> R<Vec<Expr>> {
        self.build.note(p4_ir::origin::Construct::Product, span);
        let n = width.div_ceil(DIGIT);
        self.spend(u64::from(n) * u64::from(n) * PRODUCT_COST, span)?;
        let wide = Ty::Bit(2 * DIGIT);
        let digits = |cx: &mut Self, v: &[Expr]| -> Vec<Expr> {
            (0..n)
                .map(|i| {
                    let digit = one(bits(v, (DIGIT * i + DIGIT).min(width) - 1, DIGIT * i));
                    cx.keep(fold::cast(digit, wide))
                })
                .collect()
        };
        let (a, b) = (digits(self, x), digits(self, y));
        let zero = constant(Bits::new(2 * DIGIT, 0), wide);
        let mut out = vec![zero.clone(); n as usize];
        for (i, a) in a.iter().enumerate().filter(|(_, a)| **a != zero) {
            let mut carry = zero.clone();
            for (j, b) in b.iter().enumerate().take(n as usize - i) {
                let product = fold::binary(BinOp::Mul, a.clone(), b.clone());
                let with = fold::binary(BinOp::Add, fold::binary(BinOp::Add, product, out[i + j].clone()), carry);
                let all = self.keep(with);
                out[i + j] = self.keep(fold::cast(fold::slice(all.clone(), DIGIT - 1, 0), wide));
                carry = self.keep(fold::cast(fold::slice(all, 2 * DIGIT - 1, DIGIT), wide));
            }
        }
        let digits: Vec<Expr> = out.into_iter().rev().map(|d| fold::slice(d, DIGIT - 1, 0)).collect();
        Ok(bits(&digits, width - 1, 0))
    }

    fn less(&mut self, x: &[Expr], y: &[Expr], signed: bool) -> Expr {
        let mut less = boolean(false);
        for (i, (a, b)) in x.iter().zip(y).enumerate().rev() {
            let order = |e: &Expr| if signed && i == 0 { fold::cast(e.clone(), Ty::Int(e.ty.width())) } else { e.clone() };
            let here = fold::binary(BinOp::Lt, order(a), order(b));
            let same = fold::binary(BinOp::Eq, a.clone(), b.clone());
            less = self.keep(fold::binary(BinOp::LOr, here, fold::binary(BinOp::LAnd, same, less)));
        }
        less
    }
}

/// What an operation on so many pieces takes of the budget: it makes some for each, and goes through all for each.
fn cost(pieces: usize) -> u64 {
    let n = pieces as u64;
    n + n * n / 64
}

fn not(e: Expr) -> Expr {
    fold::unary(UnOp::Not, e)
}

fn widths(parts: &[Expr]) -> u32 {
    parts.iter().map(|p| p.ty.width()).sum()
}

/// The pieces joined; there is at least one, and together they are no wider than the widest value.
pub(crate) fn one(parts: Vec<Expr>) -> Expr {
    let zero = || constant(Bits::new(1, 0), Ty::Bit(1));
    parts.into_iter().reduce(fold::concat).unwrap_or_else(zero)
}

/// Bits `hi` down to `lo`, as they lie in the pieces.
pub(crate) fn bits(parts: &[Expr], hi: u32, lo: u32) -> Vec<Expr> {
    let mut above = widths(parts);
    let mut out = Vec::new();
    for p in parts {
        let width = p.ty.width();
        let below = above - width;
        if lo < above && hi >= below {
            let (h, l) = (hi.min(above - 1) - below, lo.max(below) - below);
            let whole = h + 1 == width && l == 0;
            out.push(if whole { p.clone() } else { fold::slice(p.clone(), h, l) });
        }
        above = below;
    }
    out
}

/// The lowest `width` bits in the pieces of a value of that width.
fn arranged(parts: &[Expr], width: u32) -> Vec<Expr> {
    let mut high = width;
    pieces(width)
        .map(|piece| {
            high -= piece;
            one(bits(parts, high + piece - 1, high))
        })
        .collect()
}

/// `width` times a bit.
fn filled(width: u32, bit: &Expr) -> Vec<Expr> {
    let ones = |w: u32| constant(Bits::new(w, u128::MAX), Ty::Bit(w));
    let zeros = |w: u32| constant(Bits::new(w, 0), Ty::Bit(w));
    pieces(width).map(|w| fold::mux(fold::cast(bit.clone(), Ty::Bool), ones(w), zeros(w))).collect()
}

fn zeros(width: u32) -> Vec<Expr> {
    filled(width, &constant(Bits::new(1, 0), Ty::Bit(1)))
}

/// The value moved by `by` bits, at most all; `fill` comes in from above.
fn shifted(parts: &[Expr], width: u32, by: u32, left: bool, fill: &Expr) -> Vec<Expr> {
    let all = match (left, by) {
        (_, 0) => parts.to_vec(),
        (true, by) if by == width => zeros(width),
        (false, by) if by == width => filled(width, fill),
        (true, by) => bits(parts, width - 1 - by, 0).into_iter().chain(zeros(by)).collect(),
        (false, by) => filled(by, fill).into_iter().chain(bits(parts, width - 1, by)).collect(),
    };
    arranged(&all, width)
}

/// The pieces of a number modulo 2^`width`.
fn constants(value: &BigInt, width: u32) -> Vec<Expr> {
    let mut high = width;
    pieces(width)
        .map(|piece| {
            high -= piece;
            constant(fold::wrap(&(value >> high), piece), Ty::Bit(piece))
        })
        .collect()
}

/// The number that constant pieces are.
fn known(parts: &[Expr], w: Wide) -> Option<BigInt> {
    let mut sum = BigInt::from(0);
    for p in parts {
        let p4_ir::ExprKind::Const(piece) = p.kind else { return None };
        sum = (sum << p.ty.width()) + number(piece, Ty::Bit(p.ty.width()));
    }
    let half = BigInt::from(1) << (w.width - 1);
    Some(if w.signed && sum >= half { sum - (BigInt::from(1) << w.width) } else { sum })
}

/// The operators that [`Values::wide_binary`] knows.
pub(crate) fn ir_op(op: ast::BinOp) -> Option<BinOp> {
    use ast::BinOp as B;
    Some(match op {
        B::Add => BinOp::Add,
        B::Sub => BinOp::Sub,
        B::Mul => BinOp::Mul,
        B::Div => BinOp::Div,
        B::Mod => BinOp::Mod,
        B::SatAdd => BinOp::AddSat,
        B::SatSub => BinOp::SubSat,
        B::BitAnd => BinOp::And,
        B::BitOr => BinOp::Or,
        B::BitXor => BinOp::Xor,
        B::Lt => BinOp::Lt,
        B::Le => BinOp::Le,
        B::Gt => BinOp::Gt,
        B::Ge => BinOp::Ge,
        _ => return None,
    })
}
