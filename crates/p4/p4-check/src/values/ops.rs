//! What do operators and casts mean on which types? (P4_16 §8.5 - §8.11)

use super::cx::Values;
use super::origins::of_expr;
use super::wide_ops::ir_op;
use crate::names::sink::R;
use crate::types::fold;
use crate::types::fold::wrap;
use crate::types::*;
use p4_ir::{BinOp, Expr, ExprKind, Ty, UnOp};
use p4_syntax::{BigInt, Diagnostic, Span, ast};
use std::rc::Rc;

impl Values<'_> {
    pub(crate) fn binary(&mut self, op: ast::BinOp, a: Tv, b: Tv, span: Span) -> R<Tv> {
        use ast::BinOp as B;
        if a.ty.is_bad() || b.ty.is_bad() {
            return Err(self.poisoned());
        }
        match op {
            B::Eq | B::Ne => return self.equality(op == B::Eq, a, b, span),
            B::Shl | B::Shr => return self.shift(op, a, b, span),
            B::Concat => return self.concat(a, b, span),
            _ => {}
        }
        if let (Val::Int(x), Val::Int(y)) = (&a.val, &b.val) {
            return self.int_binary(op, x, y, span);
        }
        if matches!(op, B::Div | B::Mod)
            && let Some(v) = [&a, &b].into_iter().find(|v| matches!(&v.val, Val::Int(i) if *i < BigInt::from(0)))
        {
            return Err(self.error("division", v.span, "division of negative numbers is not defined"));
        }
        let what = format!("the operands of `{}`", op.text());
        let (a, b) = (self.decay(a), self.decay(b));
        let (a, b) = self.same_type(a, b, span, &what)?;
        if let (Some(w), Some(op)) = (wide_of(&a.ty), ir_op(op)) {
            return self.wide_binary(op, &a, &b, w, span);
        }
        let (ir_op, compare) = match op {
            B::Add => (BinOp::Add, false),
            B::Sub => (BinOp::Sub, false),
            B::Mul => (BinOp::Mul, false),
            B::Div => (BinOp::Div, false),
            B::Mod => (BinOp::Mod, false),
            B::SatAdd => (BinOp::AddSat, false),
            B::SatSub => (BinOp::SubSat, false),
            B::BitAnd => (BinOp::And, false),
            B::BitOr => (BinOp::Or, false),
            B::BitXor => (BinOp::Xor, false),
            B::Lt => (BinOp::Lt, true),
            B::Le => (BinOp::Le, true),
            B::Gt => (BinOp::Gt, true),
            B::Ge => (BinOp::Ge, true),
            B::And | B::Or => (if op == B::And { BinOp::LAnd } else { BinOp::LOr }, false),
            B::Eq | B::Ne | B::Shl | B::Shr | B::Concat => return Err(self.bug(span, "operator")),
        };
        let ok = match (ir_op, &a.ty) {
            (BinOp::LAnd | BinOp::LOr, t) => matches!(t, Type::Bool),
            (BinOp::Div | BinOp::Mod, t) => matches!(t, Type::Bits { signed: false, .. }),
            (_, t) => matches!(t, Type::Bits { .. }),
        };
        if !ok {
            let message = format!("`{}` is not defined on {}", op.text(), a.ty);
            let d = Diagnostic::error("type-mismatch", span, message);
            let d = match (&a.ty, ir_op) {
                (Type::New(n), _) => d.with_help(format!("cast to {} first", n.target)),
                (Type::Bits { signed: true, .. }, _) => d.with_note("division is for unsigned numbers only (P4_16 §8.6)"),
                _ => d,
            };
            return Err(self.report(d));
        }
        if matches!(ir_op, BinOp::Div | BinOp::Mod) && b.val.bits().is_some_and(|b| !b.is_true()) {
            return Err(self.error("division", span, "division by zero"));
        }
        let (Some(x), Some(y)) = (a.val.scalar(), b.val.scalar()) else { return Err(self.bug(span, "operands")) };
        let ty = if compare { Type::Bool } else { a.ty };
        let e = fold::binary(ir_op, x, y);
        self.note_expr(&e, span);
        Ok(Tv::expr(ty, e, span))
    }

    fn note_expr(&mut self, e: &p4_ir::Expr, span: Span) {
        if let Some(construct) = of_expr(e) {
            self.build.note(construct, span);
        }
    }

    fn shift(&mut self, op: ast::BinOp, a: Tv, b: Tv, span: Span) -> R<Tv> {
        if let (Val::Int(x), Val::Int(y)) = (&a.val, &b.val) {
            return self.int_binary(op, x, y, span);
        }
        let (a, b) = (self.decay(a), self.decay(b));
        if let (Val::Int(x), Some(bits)) = (&a.val, b.val.bits()) {
            return self.int_binary(op, x, &BigInt::from(bits.value()), span);
        }
        let wide = wide_of(&a.ty);
        let width = match (&a.ty, wide) {
            (Type::Bits { width, .. }, _) => Some(*width),
            (_, wide) => wide.map(|w| w.width),
        };
        let Some(width) = width else {
            let d = Diagnostic::error("type-mismatch", a.span, format!("`{}` is not defined on {}", op.text(), a.ty));
            let help = "give the number a width, as it is shifted by an amount not known at compile time";
            return Err(self.report(if matches!(a.ty, Type::Int) { d.with_help(help) } else { d }));
        };
        let amount = match (&b.ty, &b.val) {
            (Type::Int, Val::Int(n)) => {
                if *n < BigInt::from(0) {
                    return Err(self.error("shift", b.span, "a shift amount cannot be negative"));
                }
                if *n >= BigInt::from(width) {
                    self.warn("shift", span, format!("shifting {} by {n} leaves nothing of it", a.ty));
                }
                let n = u128::try_from(n).unwrap_or(u128::MAX).min(u128::from(u32::MAX));
                constant(p4_ir::Bits::new(32, n), Ty::Bit(32))
            }
            (Type::Bits { signed: false, .. }, v) => match v.scalar() {
                Some(e) => e,
                None => return Err(self.bug(b.span, "an operand")),
            },
            (Type::Bits { signed: true, .. }, v) if v.bits().is_some_and(|b| b.signed() >= 0) => {
                constant(v.bits().unwrap_or_default(), Ty::Bit(v.bits().map_or(1, |b| b.width())))
            }
            (t, _) if wide_of(t).is_some_and(|w| !w.signed) => self.wide_amount(&b, b.span)?,
            (t, _) => {
                let d = Diagnostic::error("type-mismatch", b.span, format!("a shift amount must be bit<W>, not {t}"));
                return Err(self.report(d));
            }
        };
        if let Some(w) = wide {
            let op = if op == ast::BinOp::Shl { BinOp::Shl } else { BinOp::Shr };
            return self.wide_shift(op, &a, amount, w, span);
        }
        let Some(x) = a.val.scalar() else { return Err(self.bug(span, "an operand")) };
        let op = if op == ast::BinOp::Shl { BinOp::Shl } else { BinOp::Shr };
        let e = fold::binary(op, x, amount);
        self.note_expr(&e, span);
        Ok(Tv::expr(a.ty, e, span))
    }

    fn concat(&mut self, a: Tv, b: Tv, span: Span) -> R<Tv> {
        if let (Val::Str(x), Val::Str(y)) = (&a.val, &b.val) {
            if x.len() + y.len() > 1 << 16 {
                return Err(self.unsupported(span, "a string this long"));
            }
            // Strings may double with each constant; their text counts as the program's.
            self.spend((x.len() + y.len()) as u64 / 64, span)?;
            return Ok(Tv::value(Type::Str, Val::Str(format!("{x}{y}").into()), span));
        }
        let (a, b) = (self.decay(a), self.decay(b));
        match (&a.ty, &b.ty, a.val.scalar(), b.val.scalar()) {
            (Type::Bits { width: v, signed }, Type::Bits { width: w, .. }, Some(x), Some(y)) => {
                if v + w > base::MAX_WIDTH {
                    return self.wide_concat(&a, &b, span);
                }
                Ok(Tv::expr(Type::Bits { width: v + w, signed: *signed }, fold::concat(x, y), span))
            }
            (t, u, ..) if is_number(t) && is_number(u) => self.wide_concat(&a, &b, span),
            (t, u, ..) => {
                let d = Diagnostic::error("type-mismatch", span, format!("`++` joins bit<W> and int<W>, not {t} and {u}"));
                let int = matches!(t, Type::Int) || matches!(u, Type::Int);
                Err(self.report(if int { d.with_help("give the number a width, such as `8w1`") } else { d }))
            }
        }
    }

    /// A serializable enum as its underlying value, where an operator wants a number (P4_16 §8.11.2).
    pub(crate) fn decay(&mut self, v: Tv) -> Tv {
        match &v.ty {
            Type::Enum(e) if e.underlying.is_some() => {
                let ty = e.underlying.as_ref().map(|t| bottom(t).clone()).unwrap_or(Type::Bad);
                Tv { ty, access: Access::Read("a computed value"), ..v }
            }
            _ => v,
        }
    }

    /// Brings two values to one type by implicit casts (P4_16 §8.11.2).
    pub(crate) fn same_type(&mut self, a: Tv, b: Tv, span: Span, what: &str) -> R<(Tv, Tv)> {
        if a.ty.is_bad() || b.ty.is_bad() {
            return Err(self.poisoned());
        }
        if a.ty == b.ty && !matches!(a.ty, Type::ListLit(_) | Type::StructLit(_)) {
            return Ok((a, b));
        }
        // A number meets an enum as its underlying value.
        match (&a.ty, &b.ty) {
            (Type::Int, Type::Enum(e)) if e.underlying.is_some() => {
                let b = self.decay(b);
                return self.same_type(a, b, span, what);
            }
            (Type::Enum(e), Type::Int) if e.underlying.is_some() => {
                let a = self.decay(a);
                return self.same_type(a, b, span, what);
            }
            _ => {}
        }
        let literal = |t: &Type| matches!(t, Type::Int | Type::ListLit(_) | Type::StructLit(_) | Type::Invalid | Type::Dots);
        match (literal(&a.ty), literal(&b.ty)) {
            (true, false) => {
                let t = b.ty.clone();
                let a = self.coerce(a, &t, what)?;
                return Ok((a, b));
            }
            (false, true) => {
                let t = a.ty.clone();
                let b = self.coerce(b, &t, what)?;
                return Ok((a, b));
            }
            (true, true) if a.ty == b.ty => {
                let t = tuple_of(&a.ty);
                if let Some(t) = t {
                    return Ok((self.coerce(a, &t, what)?, self.coerce(b, &t, what)?));
                }
                return Ok((a, b));
            }
            _ => {}
        }
        match (&a.ty, &b.ty) {
            (Type::Enum(e), t) if e.underlying.is_some() && e.underlying.as_ref() == Some(t) => return Ok((self.decay(a), b)),
            (Type::Enum(d), Type::Enum(e)) if d.underlying.is_some() && d.underlying == e.underlying => {
                return Ok((self.decay(a), self.decay(b)));
            }
            (t, Type::Enum(e)) if e.underlying.is_some() && e.underlying.as_ref() == Some(t) => {
                let b = self.decay(b);
                return Ok((a, b));
            }
            _ => {}
        }
        let d = Diagnostic::error("type-mismatch", span, format!("{what} have different types: {} and {}", a.ty, b.ty));
        let d = match (&a.ty, &b.ty) {
            (Type::Bits { width: v, signed: s }, Type::Bits { width: w, signed: t }) if s == t => {
                let (narrow, wide) = (v.min(w), v.max(w));
                let name = if *s { "int" } else { "bit" };
                d.with_help(format!("cast one of them: `({name}<{wide}>)` of the {narrow}-bit one"))
            }
            _ => d,
        };
        Err(self.report(d.with_place(a.span, format!("this is {}", a.ty)).with_place(b.span, format!("this is {}", b.ty))))
    }

    fn equality(&mut self, equal: bool, a: Tv, b: Tv, span: Span) -> R<Tv> {
        let (a, b) = self.same_type(a, b, span, "the operands of a comparison")?;
        if a.ty.is_opaque() {
            return Err(self.error("type-mismatch", span, format!("values of {} cannot be compared", a.ty)));
        }
        if let (Val::Int(x), Val::Int(y)) = (&a.val, &b.val) {
            return Ok(self.bool_value((x == y) == equal, span));
        }
        if let (Val::Str(x), Val::Str(y)) = (&a.val, &b.val) {
            return Ok(self.bool_value((x == y) == equal, span));
        }
        if let (Some(x), Some(y), Some(_)) = (a.val.scalar(), b.val.scalar(), a.ty.scalar()) {
            let op = if equal { BinOp::Eq } else { BinOp::Ne };
            return Ok(Tv::bool(fold::binary(op, x, y), span));
        }
        let mut terms = Vec::new();
        self.equal_terms(&a, &b, span, &mut terms)?;
        let all = fold::all(terms);
        Ok(Tv::bool(if equal { all } else { fold::unary(UnOp::Not, all) }, span))
    }

    /// Field by field: all terms true means equal (P4_16 §8.12 - §8.15).
    fn equal_terms(&mut self, a: &Tv, b: &Tv, span: Span, terms: &mut Vec<Expr>) -> R<()> {
        self.spend(1, span)?;
        if !a.ty.comparable() {
            return match &a.ty {
                Type::Composite(_) | Type::Varbit(_) | Type::Stack(..) if self.check_only() => {
                    let (_, unknown) = self.fresh_bool();
                    terms.push(unknown);
                    Ok(())
                }
                t => Err(self.error("type-mismatch", span, format!("values of {t} cannot be compared"))),
            };
        }
        if a.ty.scalar().is_some() {
            let (Some(x), Some(y)) = (a.val.scalar(), b.val.scalar()) else { return Err(self.bug(span, "comparison")) };
            terms.push(fold::binary(BinOp::Eq, x, y));
            return Ok(());
        }
        match &a.ty {
            Type::Varbit(_) => {
                let (Val::Varbit(x, _), Val::Varbit(y, _)) = (&a.val, &b.val) else { return Err(self.bug(span, "comparison")) };
                terms.push(Expr { kind: ExprKind::VarbitEq(x.clone(), y.clone()), ty: Ty::Bool });
                Ok(())
            }
            Type::Composite(c) if c.kind == Kind::Header => {
                let (va, vb) = (self.validity(a, span)?, self.validity(b, span)?);
                let (x, y) = (self.lit_fields(a, c, span)?, self.lit_fields(b, c, span)?);
                let mut inner = Vec::new();
                for (f, (x, y)) in c.fields.iter().zip(x.into_iter().zip(y)) {
                    let (x, y) = (Tv::value(f.ty.clone(), x, span), Tv::value(f.ty.clone(), y, span));
                    self.equal_terms(&x, &y, span, &mut inner)?;
                }
                // Equal if both are invalid, or both are valid and all fields are equal (P4_16 §8.17).
                let same = fold::binary(BinOp::Eq, va.clone(), vb);
                let content = fold::binary(BinOp::LOr, fold::unary(UnOp::Not, va), fold::all(inner));
                terms.push(fold::binary(BinOp::LAnd, same, content));
                Ok(())
            }
            Type::Composite(c) => {
                for i in 0..c.fields.len() {
                    let (x, y) = (self.field(a, c, i, span)?, self.field(b, c, i, span)?);
                    self.equal_terms(&x, &y, span, terms)?;
                }
                Ok(())
            }
            Type::Tuple(ts) => {
                let (Val::Agg(x), Val::Agg(y)) = (&a.val, &b.val) else { return Err(self.bug(span, "comparison")) };
                for (t, (x, y)) in ts.iter().zip(x.iter().zip(y.iter())) {
                    let (x, y) = (Tv::value(t.clone(), x.clone(), span), Tv::value(t.clone(), y.clone(), span));
                    self.equal_terms(&x, &y, span, terms)?;
                }
                Ok(())
            }
            Type::Stack(t, _) => {
                let (x, y) = (self.elements(a, span)?, self.elements(b, span)?);
                for (x, y) in x.into_iter().zip(y) {
                    let (x, y) = (Tv::value((**t).clone(), x, span), Tv::value((**t).clone(), y, span));
                    self.equal_terms(&x, &y, span, terms)?;
                }
                Ok(())
            }
            Type::New(n) => {
                let plain = |v: &Tv| Tv { ty: n.target.clone(), ..v.clone() };
                self.equal_terms(&plain(a), &plain(b), span, terms)
            }
            t => Err(self.error("type-mismatch", span, format!("values of {t} cannot be compared"))),
        }
    }

    /// The elements of a stack.
    pub(crate) fn elements(&mut self, v: &Tv, span: Span) -> R<Vec<Val>> {
        match &v.val {
            Val::Stack(_, hs) => Ok(hs.iter().map(|h| Val::Header(p4_ir::HeaderRef::Static(*h))).collect()),
            Val::Array(vs) => Ok(vs.to_vec()),
            _ => Err(self.bug(span, "elements of this")),
        }
    }

    /// `isValid()` of a header or union.
    pub(crate) fn validity(&mut self, v: &Tv, span: Span) -> R<Expr> {
        match &v.val {
            Val::Header(h) => Ok(Expr { kind: ExprKind::IsValid(h.clone()), ty: Ty::Bool }),
            Val::HeaderLit(fields) => Ok(boolean(fields.is_some())),
            Val::Union(members) => {
                let mut any = boolean(false);
                for m in members.iter() {
                    let valid = self.validity(&Tv::value(Type::Bad, m.clone(), span), span)?;
                    any = fold::binary(BinOp::LOr, any, valid);
                }
                Ok(any)
            }
            _ => Err(self.bug(span, "validity of this")),
        }
    }

    fn lit_fields(&mut self, v: &Tv, c: &Rc<Composite>, span: Span) -> R<Vec<Val>> {
        match &v.val {
            Val::Header(h) => Ok(header_fields(h, c)),
            Val::HeaderLit(Some(vs)) => Ok(vs.to_vec()),
            Val::HeaderLit(None) => {
                let mut zeros = Vec::new();
                for f in &c.fields {
                    zeros.push(self.zero(&f.ty, span)?);
                }
                Ok(zeros)
            }
            _ => Err(self.bug(span, "fields of this")),
        }
    }

    /// An explicit cast (P4_16 §8.11.1).
    pub(crate) fn cast(&mut self, v: Tv, to: &Type, span: Span) -> R<Tv> {
        if v.ty.is_bad() || to.is_bad() {
            return Err(self.poisoned());
        }
        if v.ty == *to {
            return Ok(Tv { access: Access::Read("a computed value"), ..v.at(span) });
        }
        let refuse = |cx: &mut Self, v: &Tv| {
            let d = Diagnostic::error("bad-cast", span, format!("{} cannot be cast to {to}", v.ty));
            let d = match (&v.ty, to) {
                (Type::Bits { width: v, signed: s }, Type::Bits { width: w, signed: t }) if s != t && v != w => {
                    d.with_help(format!("change width and sign in two steps: `({to}) ({}<{w}>) ...`", if *s { "int" } else { "bit" }))
                }
                (Type::Bits { .. } | Type::Int, Type::Bool) => d.with_help("compare it: `... != 0`"),
                _ => d,
            };
            Err(cx.report(d))
        };
        match (&v.ty, to) {
            (Type::ListLit(_) | Type::StructLit(_) | Type::Invalid | Type::Dots, _) => {
                return Ok(self.coerce(v, to, "this cast")?.at(span));
            }
            (Type::Int, Type::Bool) => {
                return match &v.val {
                    Val::Int(i) if *i == BigInt::from(0) || *i == BigInt::from(1) => Ok(self.bool_value(*i == BigInt::from(1), span)),
                    _ => refuse(self, &v),
                };
            }
            (Type::Int, t) if t.scalar().is_some() && matches!(bottom_number(t), Some(Type::Bits { .. })) => {
                let (Val::Int(i), Some(ty)) = (&v.val, t.scalar()) else { return Err(self.bug(span, "a number")) };
                return Ok(Tv::expr(to.clone(), constant(wrap(i, ty.width()), ty), span));
            }
            (t, Type::Int) if v.val.bits().is_some() && matches!(bottom_number(t), Some(Type::Bits { .. })) => {
                let i = self.as_const_int(&v, "this")?;
                return Ok(Tv::int(i, span));
            }
            (t, Type::Int) if matches!(bottom_number(t), Some(Type::Bits { .. })) => {
                return Err(self.unsupported(span, "a number of any size that is not known at compile time"));
            }
            (Type::Tuple(ts), Type::Composite(_)) => {
                let Val::Agg(items) = &v.val else { return refuse(self, &v) };
                let items: Vec<Tv> = ts.iter().zip(items.iter()).map(|(t, i)| Tv::value(t.clone(), i.clone(), span)).collect();
                return self.coerce_list(&items, false, to, span, "this cast");
            }
            _ => {}
        }
        // To and from a `type` name: only its own target (P4_16 §7.4).
        let step = match (&v.ty, to) {
            (Type::New(a), Type::New(b)) => a.target == *to || b.target == v.ty,
            (Type::New(n), t) | (t, Type::New(n)) => n.target == *t || bottom(&n.target) == t,
            _ => true,
        };
        if (matches!(v.ty, Type::New(_)) || matches!(to, Type::New(_)))
            && (wide_of(bottom(&v.ty)).is_some() || wide_of(bottom(to)).is_some())
        {
            if !step && !matches!(v.ty, Type::Int) {
                return refuse(self, &v);
            }
            let plain = Tv { ty: bottom(&v.ty).clone(), ..v };
            let cast = self.cast(plain, bottom(to), span)?;
            return Ok(Tv { ty: to.clone(), ..cast });
        }
        if wide_of(&v.ty).is_some() && matches!(to, Type::Int) {
            return match self.wide_known(&v) {
                Some(i) => Ok(Tv::int(i, span)),
                None => Err(self.unsupported(span, "a number of any size that is not known at compile time")),
            };
        }
        if wide_of(&v.ty).is_some() || wide_of(to).is_some() {
            return match self.wide_cast(&v, to, span)? {
                Some(v) => Ok(v),
                None => refuse(self, &v),
            };
        }
        let (Some(from), Some(into)) = (bottom_number(&v.ty), bottom_number(to)) else { return refuse(self, &v) };
        if !step {
            return refuse(self, &v);
        }
        let ok = match (from, into) {
            (Type::Bits { width: v, signed: s }, Type::Bits { width: w, signed: t }) => s == t || v == w,
            (Type::Bool, Type::Bits { width: 1, signed: false }) | (Type::Bits { width: 1, signed: false }, Type::Bool) => true,
            (Type::Bool, Type::Bool) => true,
            (a, b) => a == b,
        };
        let (true, Some(e), Some(ty)) = (ok, v.val.scalar(), to.scalar()) else { return refuse(self, &v) };
        Ok(Tv::expr(to.clone(), fold::cast(e, ty), span))
    }
}

/// `bit<W>` or `int<W>` of any width.
fn is_number(t: &Type) -> bool {
    matches!(t, Type::Bits { .. }) || wide_of(t).is_some()
}
