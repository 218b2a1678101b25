//! Constant folding and algebraic simplification of every expression.
//!
//! Expressions have no side effects, so operands may be dropped and compared. A rule gives an expression of the same
//! type that is never larger. Each rule says what it does in one line above it.

use p4_ir::{BinOp, Bits, Expr, ExprKind, Ir, Stmt, Ty, UnOp, arith, walk};

pub(crate) fn run(ir: &mut Ir) -> bool {
    let mut changed = false;
    walk::blocks_mut(ir, &mut |b| block(b, &mut changed));
    walk::other_exprs_mut(ir, &mut |e| simplify(e, &mut changed));
    changed
}

fn block(stmts: &mut [Stmt], changed: &mut bool) {
    for s in stmts {
        walk::stmt_exprs_mut(s, &mut |e| simplify(e, changed));
        walk::stmt_blocks_mut(s, &mut |b| block(b, changed));
    }
}

/// Simplifies operands first, then the expression until no rule applies.
fn simplify(e: &mut Expr, changed: &mut bool) {
    walk::sub_exprs_mut(e, &mut |sub| simplify(sub, changed));
    while let Some(simpler) = rule(e) {
        debug_assert_eq!(simpler.ty, e.ty);
        *e = simpler;
        *changed = true;
    }
}

/// The simpler form of an expression whose operands are simple, if a rule applies.
fn rule(e: &Expr) -> Option<Expr> {
    match &e.kind {
        ExprKind::Unary(op, a) => unary(*op, a),
        ExprKind::Binary(op, a, b) => binary(*op, a, b, e.ty),
        ExprKind::Cast(a) => cast(a, e.ty),
        ExprKind::Slice(a, hi, lo) => slice(a, *hi, *lo),
        ExprKind::Concat(a, b) => concat(a, b, e.ty),
        ExprKind::Mux(c, a, b) => mux(c, a, b),
        ExprKind::Const(_)
        | ExprKind::Var(_)
        | ExprKind::Field(..)
        | ExprKind::IsValid(_)
        | ExprKind::LastIndex(_)
        | ExprKind::NextIndex(_)
        | ExprKind::VarbitBits(..)
        | ExprKind::VarbitEq(..) => None,
    }
}

fn unary(op: UnOp, a: &Expr) -> Option<Expr> {
    match &a.kind {
        // op constant
        ExprKind::Const(v) => Some(Expr::constant(a.ty, arith::unary(op, a.ty, v.value()))),
        // --a, ~~a, !!a are a
        ExprKind::Unary(inner, x) if *inner == op => Some((**x).clone()),
        // !(a == b) is a != b, and so on
        ExprKind::Binary(cmp, x, y) if op == UnOp::Not => opposite(*cmp).map(|cmp| Expr::binary(cmp, (**x).clone(), (**y).clone())),
        _ => None,
    }
}

fn opposite(op: BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::Eq => BinOp::Ne,
        BinOp::Ne => BinOp::Eq,
        BinOp::Lt => BinOp::Ge,
        BinOp::Ge => BinOp::Lt,
        BinOp::Gt => BinOp::Le,
        BinOp::Le => BinOp::Gt,
        _ => return None,
    })
}

fn binary(op: BinOp, a: &Expr, b: &Expr, ty: Ty) -> Option<Expr> {
    match (a.as_const(), b.as_const()) {
        // constant op constant
        (Some(x), Some(y)) => Some(Expr::constant(ty, arith::binary(op, a.ty, x.value(), y.value()))),
        (None, Some(y)) => with_constant(op, a, y, ty),
        // constant op a, where the operands may be swapped
        (Some(_), None) if commutes(op) => Some(Expr::binary(op, b.clone(), a.clone())),
        (Some(x), None) => of_constant(op, x, ty),
        (None, None) if a == b => of_equals(op, a, ty),
        (None, None) => None,
    }
}

fn commutes(op: BinOp) -> bool {
    use BinOp::*;
    matches!(op, Add | Mul | AddSat | And | Or | Xor | Eq | Ne | LAnd | LOr)
}

/// `a op constant`.
fn with_constant(op: BinOp, a: &Expr, c: Bits, ty: Ty) -> Option<Expr> {
    let same = || Some(a.clone());
    let constant = |v: u128| Some(Expr::constant(ty, v));
    let (value, ones) = (c.value(), Bits::mask(a.ty.width()));
    let signed = matches!(a.ty, Ty::Int(_));
    match op {
        // a + 0, a - 0, a |+| 0, a |-| 0, a | 0, a ^ 0, a << 0, a >> 0 are a
        BinOp::Add | BinOp::Sub | BinOp::AddSat | BinOp::SubSat | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr if value == 0 => same(),
        // a * 0, a & 0, a / 0, a % 0 are 0
        BinOp::Mul | BinOp::And | BinOp::Div | BinOp::Mod if value == 0 => constant(0),
        // a * 1, a / 1 are a (the constant -1 of int<1> is not 1)
        BinOp::Mul | BinOp::Div if value == 1 && !(signed && a.ty.width() == 1) => same(),
        // a % 1 is 0
        BinOp::Mod if value == 1 => constant(0),
        // a & ones is a
        BinOp::And if value == ones => same(),
        // a | ones is ones
        BinOp::Or if value == ones => constant(ones),
        // a << width, and a >> width of bit, are 0
        BinOp::Shl if value >= a.ty.width().into() => constant(0),
        BinOp::Shr if value >= a.ty.width().into() && !signed => constant(0),
        // b == true, b != false are b
        BinOp::Eq | BinOp::Ne if a.ty == Ty::Bool && (op == BinOp::Eq) == c.is_true() => same(),
        // b == false, b != true are !b
        BinOp::Eq | BinOp::Ne if a.ty == Ty::Bool => Some(Expr::unary(UnOp::Not, a.clone())),
        // a < 0, a > ones are false; a >= 0, a <= ones are true
        BinOp::Lt if value == 0 && !signed => constant(0),
        BinOp::Gt if value == ones && !signed => constant(0),
        BinOp::Ge if value == 0 && !signed => constant(1),
        BinOp::Le if value == ones && !signed => constant(1),
        // b && true, b || false are b
        BinOp::LAnd if value == 1 => same(),
        BinOp::LOr if value == 0 => same(),
        // b && false is false, b || true is true
        BinOp::LAnd => constant(0),
        BinOp::LOr => constant(1),
        _ => None,
    }
}

/// `constant op a`, where the operands may not be swapped.
fn of_constant(op: BinOp, c: Bits, ty: Ty) -> Option<Expr> {
    match op {
        // 0 << a, 0 >> a, 0 / a, 0 % a are 0
        BinOp::Shl | BinOp::Shr | BinOp::Div | BinOp::Mod if c.value() == 0 => Some(Expr::constant(ty, 0)),
        _ => None,
    }
}

/// `a op a`.
fn of_equals(op: BinOp, a: &Expr, ty: Ty) -> Option<Expr> {
    match op {
        // a - a, a |-| a, a ^ a, a % a are 0 (also where a is 0)
        BinOp::Sub | BinOp::SubSat | BinOp::Xor | BinOp::Mod => Some(Expr::constant(ty, 0)),
        // a & a, a | a, b && b, b || b are a
        BinOp::And | BinOp::Or | BinOp::LAnd | BinOp::LOr => Some(a.clone()),
        // a == a, a <= a, a >= a are true
        BinOp::Eq | BinOp::Le | BinOp::Ge => Some(Expr::bool(true)),
        // a != a, a < a, a > a are false
        BinOp::Ne | BinOp::Lt | BinOp::Gt => Some(Expr::bool(false)),
        _ => None,
    }
}

fn cast(a: &Expr, to: Ty) -> Option<Expr> {
    // (T) a is a, if that is its type
    if a.ty == to {
        return Some(a.clone());
    }
    match &a.kind {
        // (T) constant
        ExprKind::Const(v) => Some(Expr::constant(to, arith::cast(a.ty, to, v.value()))),
        // (T) (U) a is (T) a, where U neither lost bits that T has nor changed how they extend
        ExprKind::Cast(x) if cast_through(x.ty, a.ty, to) => Some((**x).clone().cast(to)),
        _ => None,
    }
}

/// Whether a cast from `from` to `to` may skip `via`.
fn cast_through(from: Ty, via: Ty, to: Ty) -> bool {
    let legal = match (from, to) {
        (Ty::Bool, Ty::Bit(1) | Ty::Bool) | (Ty::Bit(1), Ty::Bool) => true,
        (Ty::Bool, _) | (_, Ty::Bool) => false,
        _ => true,
    };
    // Either `to` only has bits that `via` had too, or `via` kept all of them and extends as `from` does.
    let truncates = to.width() <= via.width();
    let extends = via.width() >= from.width() && std::mem::discriminant(&from) == std::mem::discriminant(&via);
    legal && (truncates || extends)
}

fn slice(a: &Expr, hi: u32, lo: u32) -> Option<Expr> {
    let width = a.ty.width();
    match &a.kind {
        // constant[hi:lo]
        ExprKind::Const(v) => Some(Expr::bit(hi - lo + 1, arith::slice(v.value(), hi, lo))),
        // a[width-1:0] is a
        _ if lo == 0 && hi + 1 == width && matches!(a.ty, Ty::Bit(_)) => Some(a.clone()),
        // a[h:l][hi:lo] is a[hi+l:lo+l]
        ExprKind::Slice(x, _, l) => Some((**x).clone().slice(hi + l, lo + l)),
        // (a ++ b)[hi:lo] inside b, or inside a
        ExprKind::Concat(_, y) if hi < y.ty.width() => Some((**y).clone().slice(hi, lo)),
        ExprKind::Concat(x, y) if lo >= y.ty.width() => Some((**x).clone().slice(hi - y.ty.width(), lo - y.ty.width())),
        // ((T) a)[hi:lo] inside a
        ExprKind::Cast(x) if hi < x.ty.width() && x.ty != Ty::Bool => Some((**x).clone().slice(hi, lo)),
        _ => None,
    }
}

fn concat(a: &Expr, b: &Expr, ty: Ty) -> Option<Expr> {
    match (a.as_const(), b.as_const()) {
        // constant ++ constant
        (Some(x), Some(y)) => Some(Expr::constant(ty, arith::concat(x.value(), y.value(), b.ty.width()))),
        // 0 ++ b is (T) b, which must extend with zeros
        (Some(x), None) if x.value() == 0 && matches!(b.ty, Ty::Bit(_)) => Some(b.clone().cast(ty)),
        _ => match (&a.kind, &b.kind) {
            // a[h:m] ++ a[m-1:l] is a[h:l]
            (ExprKind::Slice(x, h, m), ExprKind::Slice(y, m1, l)) if x == y && m1 + 1 == *m => Some((**x).clone().slice(*h, *l)),
            _ => None,
        },
    }
}

fn mux(c: &Expr, a: &Expr, b: &Expr) -> Option<Expr> {
    match &c.kind {
        // true ? a : b
        ExprKind::Const(v) => Some(if v.is_true() { a.clone() } else { b.clone() }),
        // c ? a : a
        _ if a == b => Some(a.clone()),
        // !c ? a : b is c ? b : a
        ExprKind::Unary(UnOp::Not, x) => {
            let kind = ExprKind::Mux(x.clone(), Box::new(b.clone()), Box::new(a.clone()));
            Some(Expr { kind, ty: a.ty })
        }
        _ => match (a.ty, a.as_const(), b.as_const()) {
            // c ? true : false is c, c ? false : true is !c
            (Ty::Bool, Some(x), Some(_)) if x.is_true() => Some(c.clone()),
            (Ty::Bool, Some(_), Some(_)) => Some(Expr::unary(UnOp::Not, c.clone())),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an expression over `a: bit<8>`, `b: bit<8>`, `s: int<8>`, `t: bool` becomes.
    fn folded(make: impl FnOnce(&dyn Fn(&str) -> Expr) -> Expr) -> String {
        let mut ir = Ir::v1model("fold");
        let vars = [("a", Ty::Bit(8)), ("b", Ty::Bit(8)), ("s", Ty::Int(8)), ("t", Ty::Bool), ("one", Ty::Int(1))];
        let ids = vars.map(|(n, ty)| (n, ir.add_var(n, ty)));
        let var = |name: &str| {
            let found = ids.iter().find(|(n, _)| *n == name);
            Expr::var(&ir, found.expect("declared").1)
        };
        let mut e = make(&var);
        let ty = e.ty;
        simplify(&mut e, &mut false);
        assert_eq!(e.ty, ty);
        p4_ir::Namer::new(&ir).expr(&e)
    }

    fn op(op: BinOp, a: Expr, b: Expr) -> Expr {
        Expr::binary(op, a, b)
    }

    #[test]
    fn constants_are_computed() {
        assert_eq!(folded(|_| op(BinOp::Add, Expr::bit(8, 250), Expr::bit(8, 10))), "8w0x4");
        assert_eq!(folded(|_| op(BinOp::Lt, Expr::constant(Ty::Int(8), 255), Expr::constant(Ty::Int(8), 0))), "true");
        assert_eq!(folded(|_| Expr::constant(Ty::Int(8), 255).cast(Ty::Bit(16))), "16w0xffff");
        assert_eq!(folded(|_| Expr::bit(16, 0x1234).slice(11, 4)), "8w0x23");
        assert_eq!(folded(|v| op(BinOp::Add, v("a"), op(BinOp::Mul, Expr::bit(8, 2), Expr::bit(8, 3)))), "(a + 8w0x6)");
    }

    #[test]
    fn neutral_and_absorbing_operands_vanish() {
        for o in [BinOp::Add, BinOp::Sub, BinOp::Or, BinOp::Xor, BinOp::Shl, BinOp::Shr, BinOp::AddSat, BinOp::SubSat] {
            assert_eq!(folded(|v| op(o, v("a"), Expr::bit(8, 0))), "a", "{o:?}");
        }
        assert_eq!(folded(|v| op(BinOp::Add, Expr::bit(8, 0), v("a"))), "a");
        assert_eq!(folded(|v| op(BinOp::And, Expr::bit(8, 255), v("a"))), "a");
        assert_eq!(folded(|v| op(BinOp::And, v("a"), Expr::bit(8, 0))), "8w0x0");
        assert_eq!(folded(|v| op(BinOp::Div, v("a"), Expr::bit(8, 0))), "8w0x0");
        assert_eq!(folded(|v| op(BinOp::Shl, v("a"), Expr::bit(8, 8))), "8w0x0");
        assert_eq!(folded(|v| op(BinOp::Shr, v("s"), Expr::bit(8, 8))), "(s >> 8w0x8)");
        assert_eq!(folded(|v| op(BinOp::Sub, Expr::bit(8, 0), v("a"))), "(8w0x0 - a)");
        assert_eq!(folded(|v| op(BinOp::LAnd, v("t"), Expr::bool(false))), "false");
        assert_eq!(folded(|v| op(BinOp::LOr, Expr::bool(false), v("t"))), "t");
        assert_eq!(folded(|v| op(BinOp::Eq, v("t"), Expr::bool(false))), "!t");
        assert_eq!(folded(|v| op(BinOp::Lt, v("a"), Expr::bit(8, 0))), "false");
        assert_eq!(folded(|v| op(BinOp::Lt, v("s"), Expr::constant(Ty::Int(8), 0))), "(s < 8s0)");
        // -1 * a of one bit: 1 * 1 is 1, so `* 1` is a there too, but by its own rule.
        assert_eq!(folded(|v| op(BinOp::Mul, v("one"), Expr::constant(Ty::Int(1), 1))), "(one * 1s-1)");
    }

    #[test]
    fn equal_operands_cancel() {
        assert_eq!(folded(|v| op(BinOp::Xor, v("a"), v("a"))), "8w0x0");
        assert_eq!(folded(|v| op(BinOp::Le, v("a"), v("a"))), "true");
        assert_eq!(folded(|v| op(BinOp::And, v("a"), v("a"))), "a");
        assert_eq!(folded(|v| op(BinOp::Xor, v("a"), v("b"))), "(a ^ b)");
    }

    #[test]
    fn negations_casts_slices_and_choices_collapse() {
        let not = |e| Expr::unary(UnOp::Not, e);
        assert_eq!(folded(|v| not(not(v("t")))), "t");
        assert_eq!(folded(|v| not(op(BinOp::Lt, v("a"), v("b")))), "(a >= b)");
        assert_eq!(folded(|v| v("a").cast(Ty::Bit(16)).cast(Ty::Bit(4))), "(bit<4>)a");
        assert_eq!(folded(|v| v("a").cast(Ty::Bit(16)).cast(Ty::Bit(8))), "a");
        assert_eq!(folded(|v| v("a").cast(Ty::Bit(4)).cast(Ty::Bit(8))), "(bit<8>)(bit<4>)a");
        assert_eq!(folded(|v| v("a").cast(Ty::Int(8)).cast(Ty::Bit(16))), "(bit<16>)(int<8>)a");
        assert_eq!(folded(|v| v("s").cast(Ty::Int(16)).cast(Ty::Bit(32))), "(bit<32>)s");
        assert_eq!(folded(|v| v("t").cast(Ty::Bit(1)).cast(Ty::Bool)), "t");
        assert_eq!(folded(|v| v("t").cast(Ty::Bit(1)).cast(Ty::Bit(8))), "(bit<8>)(bit<1>)t");
        assert_eq!(folded(|v| v("a").slice(7, 0)), "a");
        assert_eq!(folded(|v| v("s").slice(7, 0)), "s[7:0]");
        assert_eq!(folded(|v| v("a").slice(6, 2).slice(3, 1)), "a[5:3]");
        let concat = |a: Expr, b: Expr| {
            let ty = Ty::Bit(a.ty.width() + b.ty.width());
            Expr { kind: ExprKind::Concat(Box::new(a), Box::new(b)), ty }
        };
        assert_eq!(folded(|v| concat(v("a"), v("b")).slice(15, 8)), "a");
        assert_eq!(folded(|v| concat(v("a"), v("b")).slice(3, 1)), "b[3:1]");
        assert_eq!(folded(|v| concat(v("a").slice(7, 4), v("a").slice(3, 0))), "a");
        assert_eq!(folded(|v| concat(Expr::bit(8, 0), v("b"))), "(bit<16>)b");
        let mux = |c: Expr, a: Expr, b: Expr| Expr { ty: a.ty, kind: ExprKind::Mux(Box::new(c), Box::new(a), Box::new(b)) };
        assert_eq!(folded(|v| mux(Expr::bool(true), v("a"), v("b"))), "a");
        assert_eq!(folded(|v| mux(not(v("t")), v("a"), v("b"))), "(t ? b : a)");
        assert_eq!(folded(|v| mux(v("t"), Expr::bool(false), Expr::bool(true))), "!t");
        assert_eq!(folded(|v| mux(v("t"), v("a"), v("a"))), "a");
    }
}
