//! What does an expression compute? Names, members, indices, literals and the order of evaluation (P4_16 §8).

use super::cx::Cx;
use crate::names::scope::{Entity, nearest};
use crate::names::sink::R;
use crate::types::fold;
use crate::types::fold::wrap;
use crate::types::*;
use crate::values::places::is_static;
use p4_ir::{BinOp, Bits, Expr, ExprKind, LValue, Stmt, Ty, UnOp};
use p4_syntax::{BigInt, Diagnostic, Span, ast};
use std::collections::HashSet;
use std::rc::Rc;

impl<'a> Cx<'a> {
    /// Lowers an expression. Side effects go to the statements before it; what is left is pure.
    pub(crate) fn expr(&mut self, e: &'a ast::Expr) -> R<Tv> {
        self.nested(e.span, |cx| cx.expr_kind(e))
    }

    fn expr_kind(&mut self, e: &'a ast::Expr) -> R<Tv> {
        use ast::ExprKind as K;
        let span = e.span;
        match &e.kind {
            K::Bool(b) => Ok(self.bool_value(*b, span)),
            K::Int(lit) => self.int_literal(lit, span),
            K::Str(s) => Ok(Tv::value(Type::Str, Val::Str(s.as_str().into()), span)),
            K::Path(path) => self.name(path, span),
            K::Type(_) => Err(self.error("not-a-value", span, "a type is no value")),
            K::This => self.this(span),
            K::Member { base, member } => self.member(base, member, span),
            K::Index { base, index } => self.index(base, index, span),
            K::Slice { base, hi, lo } => self.slice(base, hi, lo, span),
            K::PlusSlice { base, lo, width } => self.plus_slice(base, lo, width, span),
            K::Call { callee, type_args, args } => self.call(callee, type_args, args, span),
            K::Unary { op, operand } => self.unary(*op, operand, span),
            K::Binary { op: ast::BinOp::And | ast::BinOp::Or, .. } => self.short_circuit(e),
            K::Binary { op, left, right } => {
                let (a, mut b) = self.pair(left, right)?;
                if matches!(op, ast::BinOp::Div | ast::BinOp::Mod) && b.val.bits().is_some() && !self.is_written(right) {
                    b = self.at_run_time(&b)?;
                }
                self.binary(*op, a, b, span)
            }
            K::Ternary { cond, then, otherwise } => self.ternary(cond, then, otherwise, span),
            K::Cast { ty, operand } => {
                let to = self.resolve(ty)?;
                let v = self.expr(operand)?;
                self.cast(v, &to, span)
            }
            K::List { items, rest } => {
                if let Some(dots) = items.iter().find(|e| matches!(e.kind, K::Dots)) {
                    return Err(self.error("misplaced", dots.span, "`...` must be the last element of a list"));
                }
                let values = self.exprs(items.iter())?;
                let ty = Type::ListLit(values.iter().map(|v| v.ty.clone()).collect());
                Ok(Tv::value(ty, Val::List(values.into(), *rest), span))
            }
            K::Struct { fields, rest } => self.fields(fields, *rest, span),
            K::Invalid => Ok(Tv::value(Type::Invalid, Val::Invalid, span)),
            K::Dots => Ok(Tv::value(Type::Dots, Val::Dots, span)),
            K::DontCare => Ok(Tv::value(Type::DontCare, Val::DontCare, span)),
            K::Default => Err(self.error("not-a-value", span, "`default` is no value")),
            K::Mask { .. } => {
                Err(self.error("not-a-value", span, "a set `value &&& mask` is no value; it may stand in a select or in table entries"))
            }
            K::Range { .. } => {
                Err(self.error("not-a-value", span, "a range is no value; it may stand in a select, in table entries or in a for"))
            }
        }
    }

    fn int_literal(&mut self, lit: &ast::IntLit, span: Span) -> R<Tv> {
        let Some(w) = lit.width else { return Ok(Tv::int(lit.value.clone(), span)) };
        if w.bits == 0 && w.signed {
            return Err(self.error("bad-width", span, "a signed number cannot have width 0"));
        }
        if w.bits > MAX_ANY_WIDTH {
            let message = format!("a number of {} bits, more than {}", w.bits, MAX_ANY_WIDTH);
            return Err(self.error("limit", span, message));
        }
        let ty = if w.signed { Ty::Int(w.bits) } else { Ty::Bit(w.bits) };
        // `8s0xff` is read as the bits of the number, so a signed literal may use the sign bit.
        if !fold::fits(&lit.value, Ty::Bit(w.bits)) {
            self.warn("truncated", span, format!("{} does not fit in {} bits and is cut", lit.value, w.bits));
        } else if !fold::fits(&lit.value, ty) && lit.radix == 10 {
            self.warn("truncated", span, format!("{} does not fit in int<{}> and wraps", lit.value, w.bits));
        }
        if w.bits > base::MAX_WIDTH {
            return Ok(self.wide_constant(&lit.value, Wide { width: w.bits, signed: w.signed }, span));
        }
        let bits = wrap(&lit.value, w.bits);
        Ok(Tv::expr(Type::Bits { width: w.bits, signed: w.signed }, constant(bits, ty), span))
    }

    fn name(&mut self, path: &'a ast::Path, span: Span) -> R<Tv> {
        if self.decls.is_match_kind(&path.name.name) && self.find(path).is_err() {
            return Ok(Tv::value(Type::MatchKind, Val::Str(path.name.name.as_str().into()), span));
        }
        let found = self.lookup(path)?;
        let name = &path.name.name;
        let what = match &found[0] {
            Entity::Value(v) if v.ty.is_bad() => return Err(self.poisoned()),
            Entity::Value(v) => return Ok(v.clone().at(span)),
            Entity::Type(_) | Entity::Generic(_) | Entity::Extern(_) => "a type",
            Entity::Block(_) | Entity::Package(_) => "a parser, control or package type",
            Entity::Function(_) => "a function",
            Entity::Action(..) => "an action",
            Entity::Table(_) => "a table",
            Entity::ValueSet(_) => "a value set",
            Entity::Bad => return Err(self.poisoned()),
        };
        Err(self.error("not-a-value", span, format!("`{name}` is {what}, not a value")))
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Order of evaluation (P4_16 §8.1): left to right. An operand whose value a later operand's side effects could
    // change is saved first.

    pub(crate) fn pair(&mut self, a: &'a ast::Expr, b: &'a ast::Expr) -> R<(Tv, Tv)> {
        let mut v = self.exprs([a, b].into_iter())?;
        match (v.pop(), v.pop()) {
            (Some(b), Some(a)) => Ok((a, b)),
            _ => Err(self.bug(a.span, "operands")),
        }
    }

    pub(crate) fn exprs(&mut self, list: impl Iterator<Item = &'a ast::Expr>) -> R<Vec<Tv>> {
        let mut values: Vec<Tv> = Vec::new();
        let mut failed = None;
        for e in list {
            let start = self.build.mark();
            match self.expr(e) {
                Ok(v) => {
                    self.save_all(&mut values, start)?;
                    values.push(v);
                }
                Err(r) => failed = Some(r),
            }
        }
        failed.map_or(Ok(values), Err)
    }

    fn short_circuit(&mut self, e: &'a ast::Expr) -> R<Tv> {
        let ast::ExprKind::Binary { op, left, right } = &e.kind else { return Err(self.bug(e.span, "operator")) };
        let a = self.condition(left)?;
        let (b, block) = self.inner_block(|cx| cx.condition(right));
        let b = b?;
        let and = *op == ast::BinOp::And;
        if block.is_empty() {
            let op = if and { BinOp::LAnd } else { BinOp::LOr };
            return Ok(Tv::bool(fold::binary(op, a, b), e.span));
        }
        let t = self.temp(Ty::Bool);
        self.emit_assign(LValue::Var(t), a);
        let cond = Expr { kind: ExprKind::Var(t), ty: Ty::Bool };
        let mut block = block;
        block.push(Stmt::Assign(LValue::Var(t), b));
        self.emit(if and { Stmt::If(cond.clone(), block, vec![]) } else { Stmt::If(cond.clone(), vec![], block) });
        Ok(Tv::bool(cond, e.span))
    }

    /// An expression of type `bool`.
    pub(crate) fn condition(&mut self, e: &'a ast::Expr) -> R<Expr> {
        let v = self.expr(e)?;
        self.as_bool(v)
    }

    fn ternary(&mut self, cond: &'a ast::Expr, then: &'a ast::Expr, otherwise: &'a ast::Expr, span: Span) -> R<Tv> {
        let c = self.condition(cond)?;
        let (a, before_a) = self.inner_block(|cx| cx.expr(then));
        let (b, before_b) = self.inner_block(|cx| cx.expr(otherwise));
        let (a, b) = (a?, b?);
        if before_a.is_empty()
            && before_b.is_empty()
            && let (Val::List(x, false), Val::List(y, false)) = (&a.val, &b.val)
            && x.len() == y.len()
        {
            return self.ternary_list(&c, x, y, span);
        }
        let (a, b) = self.same_type(a, b, span, "the two values of `?:`")?;
        if let ExprKind::Const(known) = c.kind {
            let (chosen, block) = if known.is_true() { (a, before_a) } else { (b, before_b) };
            self.build.append(block);
            return Ok(Tv { access: Access::Read("a computed value"), ..chosen.at(span) });
        }
        if matches!(a.ty, Type::Int) {
            let d = Diagnostic::error("type-mismatch", span, "the values of `?:` have no width");
            return Err(self.report(d.with_help("give one of them a width, such as `8w1`, or a cast")));
        }
        if before_a.is_empty()
            && before_b.is_empty()
            && let (Some(x), Some(y)) = (a.val.scalar(), b.val.scalar())
        {
            return Ok(Tv::expr(a.ty, fold::mux(c, x, y), span));
        }
        let name = self.local_name("tmp");
        let val = self.storage(&name, &a.ty, span)?;
        let result = Tv { ty: a.ty.clone(), val, access: Access::Write, span };
        let (r, store_a) = self.inner_block(|cx| cx.store(&result, &a));
        r?;
        let (r, store_b) = self.inner_block(|cx| cx.store(&result, &b));
        r?;
        self.emit(Stmt::If(c, [before_a, store_a].concat(), [before_b, store_b].concat()));
        Ok(Tv { access: Access::Read("a computed value"), ..result })
    }

    /// A choice between lists is a list of choices: it still fits the struct or header that is wanted.
    fn ternary_list(&mut self, c: &Expr, a: &[Tv], b: &[Tv], span: Span) -> R<Tv> {
        let mut values = Vec::new();
        for (x, y) in a.iter().zip(b) {
            let (x, y) = self.same_type(x.clone(), y.clone(), span, "the two values of `?:`")?;
            match (x.val.scalar(), y.val.scalar()) {
                (Some(p), Some(q)) => values.push(Tv::expr(x.ty, fold::mux(c.clone(), p, q), span)),
                _ if x.val == y.val => values.push(x),
                _ => return Err(self.unsupported(span, "this choice between lists")),
            }
        }
        let ty = Type::ListLit(values.iter().map(|v| v.ty.clone()).collect());
        Ok(Tv::value(ty, Val::List(values.into(), false), span))
    }

    fn fields(&mut self, fields: &'a [ast::FieldInit], rest: bool, span: Span) -> R<Tv> {
        let values = self.exprs(fields.iter().map(|f| &f.value))?;
        let mut named: Vec<(Rc<str>, Tv)> = Vec::new();
        let mut first: HashSet<&str> = HashSet::new();
        for (f, v) in fields.iter().zip(values) {
            if !first.insert(&f.name.name) {
                return Err(self.error("duplicate", f.name.span, format!("field `{}` is given twice", f.name.name)));
            }
            named.push((f.name.name.as_str().into(), v));
        }
        let ty = Type::StructLit(named.iter().map(|(n, v)| (n.clone(), v.ty.clone())).collect());
        Ok(Tv::value(ty, Val::Fields(named.into(), rest), span))
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Members

    /// The type that an expression names, if it names one: the base of `E.member`.
    pub(crate) fn as_type(&mut self, e: &'a ast::Expr) -> R<Option<Type>> {
        match &e.kind {
            ast::ExprKind::Type(t) => self.resolve(t).map(Some),
            ast::ExprKind::Path(path) => match self.find(path).as_deref() {
                Ok([Entity::Type(t), ..]) => Ok(Some(t.clone())),
                Ok([Entity::Bad, ..]) => Err(self.poisoned()),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn member(&mut self, base: &'a ast::Expr, member: &'a ast::Ident, span: Span) -> R<Tv> {
        if let Some(ty) = self.as_type(base)? {
            return self.type_member(&ty, member, span);
        }
        if let ast::ExprKind::Call { callee, args, .. } = &base.kind
            && let Some(table) = self.applied_table(callee)?
        {
            return self.apply_result(table, args, member, span);
        }
        let v = self.expr(base)?;
        self.select(&v, member, span)
    }

    fn type_member(&mut self, ty: &Type, member: &ast::Ident, span: Span) -> R<Tv> {
        let name = member.name.as_str();
        match ty {
            Type::Error => match self.decls.error_code(name) {
                Some(code) => Ok(self.error_value(code, span)),
                None => {
                    let near = nearest(name, self.decls.errors());
                    Err(self.unknown_member(member, format!("there is no error `{name}`"), near))
                }
            },
            Type::Enum(e) => match e.codes.get(name) {
                Some(code) => {
                    let t = ty.scalar().unwrap_or(Ty::Bit(ENUM_WIDTH));
                    Ok(Tv::expr(ty.clone(), constant(Bits::new(t.width(), *code), t), span))
                }
                None => {
                    self.note_unknown(member, ty);
                    let near = nearest(name, e.members.iter().map(|(n, _)| &**n));
                    Err(self.unknown_member(member, format!("enum `{}` has no member `{name}`", e.name), near))
                }
            },
            Type::Bad => Err(self.poisoned()),
            t => Err(self.error("unknown-member", member.span, format!("{t} has no member `{name}`"))),
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Indices and slices

    fn index(&mut self, base: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> R<Tv> {
        let (v, i) = self.pair_place(base, index)?;
        match &v.ty {
            Type::Bad => Err(self.poisoned()),
            Type::Stack(elem, n) => {
                let written = self.is_written(index);
                self.element(&v, elem, *n, i, written, span)
            }
            Type::Tuple(ts) => {
                let at = self.const_index(&i, ts.len())?;
                match &v.val {
                    Val::Agg(vs) => Ok(Tv { ty: ts[at].clone(), val: vs[at].clone(), access: v.access, span }),
                    _ => Err(self.bug(span, "an element of this")),
                }
            }
            Type::List(elem) => match &v.val {
                Val::Array(vs) => {
                    let at = self.const_index(&i, vs.len())?;
                    Ok(Tv::value((**elem).clone(), vs[at].clone(), span))
                }
                _ => Err(self.bug(span, "an element of this")),
            },
            Type::ListLit(ts) => {
                let at = self.const_index(&i, ts.len())?;
                match &v.val {
                    Val::List(vs, _) => Ok(vs[at].clone().at(span)),
                    _ => Err(self.bug(span, "an element of this")),
                }
            }
            t => Err(self.error("type-mismatch", v.span, format!("{t} has no elements to index"))),
        }
    }

    /// Base and index; the base stays a place.
    fn pair_place(&mut self, base: &'a ast::Expr, index: &'a ast::Expr) -> R<(Tv, Tv)> {
        let mut v = self.expr(base)?;
        let start = self.build.mark();
        let i = self.expr(index)?;
        if self.build.mark() > start && !is_static(&v.val) {
            let (pinned, block) = self.block(|cx| Ok(cx.pin(&v.val)));
            v.val = pinned?;
            self.build.insert(start, block);
        }
        Ok((v, i))
    }

    /// Whether a value is known by the text alone. A parameter is not, though the argument of the call that is being inlined may be: what
    /// would be an error of a constant is then one of a value, which P4_16 defines (§8.18: an index beyond the end).
    fn is_written(&self, e: &ast::Expr) -> bool {
        if let ast::ExprKind::Path(path) = &e.kind
            && let Ok(found) = self.find(path)
            && let [Entity::Value(v)] = found.as_slice()
        {
            return v.access == CONSTANT || v.access == CONSTRUCTOR_PARAM;
        }
        let mut all = true;
        e.operands(&mut |x| all &= self.is_written(x));
        all
    }

    fn slice(&mut self, base: &'a ast::Expr, hi: &'a ast::Expr, lo: &'a ast::Expr, span: Span) -> R<Tv> {
        let v = self.expr(base)?;
        let h = self.const_int(hi, "the upper bit of a slice")?;
        let l = self.const_int(lo, "the lower bit of a slice")?;
        self.slice_of(&v, &h, &l, span)
    }

    /// `base[lo +: width]` (P4_16 1.2.5 §8.6)
    fn plus_slice(&mut self, base: &'a ast::Expr, lo: &'a ast::Expr, width: &'a ast::Expr, span: Span) -> R<Tv> {
        let v = self.expr(base)?;
        let l = self.expr(lo)?;
        let w = self.const_int(width, "the width of a slice")?;
        let known = match &l.val {
            Val::Int(i) => Some(i.clone()),
            val => val.bits().map(|b| BigInt::from(b.value())),
        };
        if let Some(l) = known.filter(|_| self.is_written(lo)) {
            let h = &l + &w - 1;
            return self.slice_of(&v, &h, &l, span);
        }
        let total = self.sliceable(&v)?;
        let w = match u32::try_from(&w) {
            Ok(w) if (1..=total).contains(&w) => w,
            _ => return Err(self.error("out-of-range", width.span, format!("{w} bits cannot be sliced from {}", v.ty))),
        };
        if let (Some(wide), Some(amount), Type::Bits { signed: false, .. }) = (wide_of(&v.ty), l.val.scalar(), &l.ty) {
            let shifted = self.wide_shift(BinOp::Shr, &v, amount, Wide { signed: false, ..wide }, span)?;
            let mut result = self.wide_bits(&shifted, w - 1, 0, span)?;
            result.access = Access::Read("a slice at a position that is not known at compile time");
            return Ok(result);
        }
        let (Some(value), Some(amount), Type::Bits { signed: false, .. }) = (v.val.scalar(), l.val.scalar(), &l.ty) else {
            return Err(self.error("type-mismatch", l.span, format!("the position of a slice must be bit<W>, not {}", l.ty)));
        };
        let value = fold::cast(value, Ty::Bit(total));
        let shifted = fold::binary(BinOp::Shr, value, amount);
        let mut result = Tv::expr(Type::bit(w), fold::slice(shifted, w - 1, 0), span);
        result.access = Access::Read("a slice at a position that is not known at compile time");
        Ok(result)
    }

    /// The number an expression must be known to have at compile time.
    pub(crate) fn const_int(&mut self, e: &'a ast::Expr, what: &str) -> R<BigInt> {
        let v = self.pure(e, what)?;
        self.as_const_int(&v, what)
    }

    /// A value whose computation does nothing else.
    pub(crate) fn pure(&mut self, e: &'a ast::Expr, what: &str) -> R<Tv> {
        let (v, block) = self.block(|cx| cx.expr(e));
        let v = v?;
        if !block.is_empty() {
            return Err(self.error("not-const", e.span, format!("{what} must be known at compile time")));
        }
        Ok(v)
    }

    pub(crate) fn unary(&mut self, op: ast::UnaryOp, operand: &'a ast::Expr, span: Span) -> R<Tv> {
        let v = self.expr(operand)?;
        if let Val::Int(i) = &v.val {
            match op {
                ast::UnaryOp::Plus => return Ok(v.at(span)),
                ast::UnaryOp::Neg => return Ok(Tv::int(-i, span)),
                _ => {}
            }
        }
        let v = if op == ast::UnaryOp::Not { v } else { self.decay(v) };
        if let Some(w) = wide_of(&v.ty) {
            match op {
                ast::UnaryOp::Plus => return Ok(Tv { access: Access::Read("a computed value"), ..v.at(span) }),
                ast::UnaryOp::Neg => return self.wide_unary(UnOp::Neg, &v, w, span),
                ast::UnaryOp::BitNot => return self.wide_unary(UnOp::BitNot, &v, w, span),
                ast::UnaryOp::Not => {}
            }
        }
        let ir_op = match (op, &v.ty) {
            (_, Type::Bad) => return Err(self.poisoned()),
            (ast::UnaryOp::Plus, Type::Bits { .. }) => return Ok(Tv { access: Access::Read("a computed value"), ..v.at(span) }),
            (ast::UnaryOp::Neg, Type::Bits { .. }) => UnOp::Neg,
            (ast::UnaryOp::BitNot, Type::Bits { .. }) => UnOp::BitNot,
            (ast::UnaryOp::Not, Type::Bool) => UnOp::Not,
            (_, t) => {
                let d = Diagnostic::error("type-mismatch", span, format!("`{}` is not defined on {t}", op.text()));
                return Err(self.report(d));
            }
        };
        let Some(e) = v.val.scalar() else { return Err(self.bug(span, "an operand")) };
        Ok(Tv::expr(v.ty, fold::unary(ir_op, e), span))
    }
}
