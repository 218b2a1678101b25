//! Fields of variable length. A parser takes fixed pieces only: for each length that such a field may have, the chip's compiler makes a state of its
//! own, which a select on the field that says the length leads to. The deparser puts the pieces back; nothing else is done with them.

use p4_analysis::effects::headers;
use p4_ir::walk::{all_stmts, sub_exprs};
use p4_ir::{Expr, ExprKind, HeaderId, HeaderRef, Ir, Pipe, Stmt, arith};
use std::collections::{BTreeMap, BTreeSet};

/// Most bits of the field that says a length: the chip's compiler tries 1024 values of it.
pub(crate) const MOST_BITS: u32 = 10;

/// What an extraction may take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lengths {
    /// Bytes, each length once.
    pub bytes: BTreeSet<u64>,
    /// Values that the parser looks for to know which it is.
    pub values: u64,
}

impl Lengths {
    pub(crate) fn longest(&self) -> u64 {
        self.bytes.last().copied().unwrap_or(0)
    }
}

/// The lengths that `bits` may say for this header's field, if the parser can tell them from each other.
pub(crate) fn lengths(ir: &Ir, header: &HeaderRef, bits: &Expr) -> Option<Lengths> {
    let most = u128::from(declared(ir, header)?);
    let mut out = Lengths::default();
    if let Some(length) = bits.as_const().map(|c| c.value()) {
        let right = length % 8 == 0 && (1..=most).contains(&length);
        out.bytes.extend(right.then_some((length / 8) as u64));
        return right.then_some(out);
    }
    let mut said = Vec::new();
    places(bits, &mut said);
    let [place] = said.as_slice() else { return None };
    let width = Some(place.ty.width()).filter(|width| *width <= MOST_BITS)?;
    out.values = 1 << width;
    for value in 0..u128::from(out.values) {
        // What the field has no room for is rejected.
        let Some(length) = Some(evaluate(bits, value)?).filter(|length| *length <= most) else { continue };
        if length % 8 != 0 {
            return None;
        }
        out.bytes.insert((length / 8) as u64);
    }
    Some(out)
}

/// What all states of a pipe's parser may take of each header's field.
pub(crate) fn of_pipe(ir: &Ir, pipe: &Pipe) -> BTreeMap<HeaderId, Lengths> {
    let mut all: BTreeMap<HeaderId, Lengths> = BTreeMap::new();
    for id in ir.states_from(pipe.parser.start) {
        all_stmts(&ir.states[id].body, &mut |s| {
            let Stmt::Extract { header, varbit_bits: Some(bits) } = s else { return };
            let Some(of) = lengths(ir, header, bits) else { return };
            for h in headers(ir, header).iter() {
                all.entry(*h).or_default().bytes.extend(&of.bytes);
            }
        });
    }
    all
}

/// Whether there is such a field in any of these headers.
pub(crate) fn has_one(ir: &Ir, headers: &[HeaderId]) -> bool {
    headers.iter().any(|h| ir.header_types[ir.headers[*h].ty].fields.iter().any(|f| f.varbit))
}

fn declared(ir: &Ir, header: &HeaderRef) -> Option<u32> {
    let id = headers(ir, header).first().copied()?;
    ir.header_types[ir.headers[id].ty].fields.iter().find(|f| f.varbit).map(|f| f.ty.width())
}

/// Whether this is a field or variable, or some bits of one: for the chip's compiler both are what the length follows from.
fn is_place(e: &Expr) -> bool {
    let whole = |e: &Expr| matches!(e.kind, ExprKind::Var(_) | ExprKind::Field(HeaderRef::Static(_), _));
    whole(e) || matches!(&e.kind, ExprKind::Slice(of, ..) if whole(of))
}

/// The places in an expression, each as often as it is there.
fn places(e: &Expr, into: &mut Vec<Expr>) {
    match is_place(e) {
        true => into.push(e.clone()),
        false => sub_exprs(e, &mut |sub| places(sub, into)),
    }
}

/// Its value where the one place in it has this one.
fn evaluate(e: &Expr, value: u128) -> Option<u128> {
    if is_place(e) {
        return Some(value);
    }
    let of = |e: &Expr| evaluate(e, value);
    Some(match &e.kind {
        ExprKind::Const(c) => c.value(),
        ExprKind::Cast(a) => arith::cast(a.ty, e.ty, of(a)?),
        ExprKind::Slice(a, high, low) => arith::slice(of(a)?, *high, *low),
        ExprKind::Unary(op, a) => arith::unary(*op, a.ty, of(a)?),
        ExprKind::Binary(op, a, b) => arith::binary(*op, a.ty, of(a)?, of(b)?),
        ExprKind::Concat(a, b) => of(a)?.checked_shl(b.ty.width()).unwrap_or(0) | of(b)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::{BinOp, Ty};

    #[test]
    fn each_value_of_the_field_that_says_the_length_is_a_length() {
        let mut ir = Ir::v1model("options");
        let ty = ir.add_header_type("options", &[], Some(("o", 320)));
        let header = HeaderRef::Static(ir.add_header("options", ty));
        let [ihl, wide] = [("ihl", 4), ("wide", 11)].map(|(n, bits)| ir.add_var(n, Ty::Bit(bits)));
        let ihl = Expr::var(&ir, ihl);
        let of = |bits: &Expr| lengths(&ir, &header, bits).map(|l| (l.bytes.len(), l.longest(), l.values));
        let words = Expr::binary(BinOp::Sub, ihl.clone(), Expr::bit(4, 5)).cast(Ty::Bit(32));
        // 5 to 15 are 0 to 40 bytes; below 5 the difference is 11 and more.
        assert_eq!(of(&Expr::binary(BinOp::Mul, words.clone(), Expr::bit(32, 32))), Some((11, 40, 16)));
        assert_eq!(of(&Expr::binary(BinOp::Mul, words, Expr::bit(32, 4))), None, "no whole bytes");
        assert_eq!(of(&Expr::bit(32, 64)), Some((1, 8, 0)));
        assert_eq!([0, 12, 328].map(|bits| of(&Expr::bit(32, bits))), [None; 3]);
        assert_eq!(of(&Expr::var(&ir, wide).cast(Ty::Bit(32))), None, "more values than are tried");
        let two = Expr::binary(BinOp::Add, ihl.clone().cast(Ty::Bit(32)), Expr::var(&ir, wide).cast(Ty::Bit(32)));
        assert_eq!(of(&two), None);
    }
}
