//! What does an expression compute? Names, members, indices, literals and the order of evaluation (P4_16 §8).

use crate::consteval::{self, wrap};
use crate::cx::{Cx, R};
use crate::scope::{Entity, nearest};
use crate::types::*;
use crate::value::*;
use crate::wide::{Wide, wide_of};
use p4_ir::{BinOp, Bits, Expr, ExprKind, HeaderRef, LValue, Stmt, Ty};
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
        if w.bits > crate::resolve::MAX_ANY_WIDTH {
            let message = format!("a number of {} bits, more than {}", w.bits, crate::resolve::MAX_ANY_WIDTH);
            return Err(self.error("limit", span, message));
        }
        let ty = if w.signed { Ty::Int(w.bits) } else { Ty::Bit(w.bits) };
        // `8s0xff` is read as the bits of the number, so a signed literal may use the sign bit.
        if !consteval::fits(&lit.value, Ty::Bit(w.bits)) {
            self.warn("truncated", span, format!("{} does not fit in {} bits and is cut", lit.value, w.bits));
        } else if !consteval::fits(&lit.value, ty) && lit.radix == 10 {
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
            Entity::Action(_) => "an action",
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

    /// Saves values whose computation came before the statements from `start` on.
    pub(crate) fn save_all(&mut self, values: &mut [Tv], start: usize) -> R<()> {
        if self.build.mark() == start {
            return Ok(());
        }
        let mut at = start;
        for v in values.iter_mut().filter(|v| v.ty.scalar().is_some() || !v.val.is_const()) {
            if self.is_stable(&v.val) {
                continue;
            }
            let (saved, block) = self.block(|cx| cx.copy_to_temp(v));
            *v = saved?;
            let n = block.len();
            self.build.insert(at, block);
            at += n;
        }
        Ok(())
    }

    /// Whether nothing that runs later can change the value.
    pub(crate) fn is_stable(&self, v: &Val) -> bool {
        fn expr(cx: &Cx, e: &Expr) -> bool {
            match &e.kind {
                ExprKind::Const(_) => true,
                ExprKind::Var(v) => cx.build.is_stable(*v),
                ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Slice(a, ..) => expr(cx, a),
                ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => expr(cx, a) && expr(cx, b),
                ExprKind::Mux(a, b, c) => expr(cx, a) && expr(cx, b) && expr(cx, c),
                _ => false,
            }
        }
        match v {
            Val::Expr(e) => expr(self, e),
            Val::Place(LValue::Var(v), _) => self.build.is_stable(*v),
            Val::Sliced(base, ..) => self.is_stable(base),
            Val::Agg(vs) => vs.iter().all(|v| self.is_stable(v)),
            other => other.is_const(),
        }
    }

    /// A copy that keeps its value.
    pub(crate) fn copy_to_temp(&mut self, v: &Tv) -> R<Tv> {
        match &v.val {
            Val::List(items, rest) => {
                let mut copies = Vec::new();
                for i in items.iter() {
                    copies.push(self.copy_to_temp(i)?);
                }
                return Ok(Tv { val: Val::List(copies.into(), *rest), ..v.clone() });
            }
            Val::Fields(items, rest) => {
                let mut copies = Vec::new();
                for (n, i) in items.iter() {
                    copies.push((n.clone(), self.copy_to_temp(i)?));
                }
                return Ok(Tv { val: Val::Fields(copies.into(), *rest), ..v.clone() });
            }
            val if val.is_const() => return Ok(v.clone()),
            _ => {}
        }
        if let (Some(ty), Some(e)) = (v.ty.scalar(), v.val.scalar()) {
            let t = self.temp(ty);
            self.emit_assign(LValue::Var(t), e);
            return Ok(Tv { val: Val::Place(LValue::Var(t), ty), access: Access::Read("a computed value"), ..v.clone() });
        }
        let name = self.local_name("tmp");
        let val = self.storage(&name, &v.ty, v.span)?;
        let copy = Tv { val, access: Access::Write, ..v.clone() };
        self.store(&copy, v)?;
        Ok(Tv { access: Access::Read("a computed value"), ..copy })
    }

    fn short_circuit(&mut self, e: &'a ast::Expr) -> R<Tv> {
        let ast::ExprKind::Binary { op, left, right } = &e.kind else { return Err(self.bug(e.span, "operator")) };
        let a = self.condition(left)?;
        let (b, block) = self.inner_block(|cx| cx.condition(right));
        let b = b?;
        let and = *op == ast::BinOp::And;
        if block.is_empty() {
            let op = if and { BinOp::LAnd } else { BinOp::LOr };
            return Ok(Tv::bool(consteval::binary(op, a, b), e.span));
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

    pub(crate) fn as_bool(&mut self, v: Tv) -> R<Expr> {
        match (&v.ty, v.val.scalar()) {
            (Type::Bool, Some(e)) => Ok(e),
            (Type::Bad, _) => Err(self.poisoned()),
            (t, _) => {
                let d = Diagnostic::error("type-mismatch", v.span, format!("a condition must be bool, not {t}"));
                let help = matches!(t, Type::Bits { .. } | Type::Int).then_some("compare it: `... != 0`");
                Err(self.report(match help {
                    Some(h) => d.with_help(h),
                    None => d,
                }))
            }
        }
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
            return Ok(Tv::expr(a.ty, consteval::mux(c, x, y), span));
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
                (Some(p), Some(q)) => values.push(Tv::expr(x.ty, consteval::mux(c.clone(), p, q), span)),
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

    /// The value of an error by its code.
    pub(crate) fn error_value(&self, code: usize, span: Span) -> Tv {
        Tv::expr(Type::Error, constant(Bits::new(ERROR_WIDTH, code as u128), Ty::Bit(ERROR_WIDTH)), span)
    }

    pub(crate) fn unknown_member(&mut self, member: &ast::Ident, message: String, near: Option<String>) -> crate::cx::Reported {
        let mut d = Diagnostic::error("unknown-member", member.span, message);
        if let Some(near) = near {
            d = d.with_help(format!("did you mean `{near}`?"));
        }
        self.report(d)
    }

    /// A field of a value.
    fn select(&mut self, v: &Tv, member: &ast::Ident, span: Span) -> R<Tv> {
        let name = member.name.as_str();
        match &v.ty {
            Type::Bad => Err(self.poisoned()),
            Type::Composite(c) => match c.field(name) {
                Some(i) => {
                    self.note_field(member, c, &c.fields[i].ty);
                    self.field(v, c, i, span)
                }
                None => {
                    self.note_unknown(member, &v.ty);
                    let near = match name {
                        "isValid" | "setValid" | "setInvalid" if c.kind != Kind::Struct => Some(format!("{name}()")),
                        _ => nearest(name, c.fields.iter().map(|f| &*f.name)),
                    };
                    let c = c.clone();
                    Err(self.unknown_member(member, format!("{} has no field `{name}`", Type::Composite(c)), near))
                }
            },
            Type::Stack(t, n) => self.stack_member(v, &t.clone(), *n, member, span),
            Type::StructLit(_) => {
                if let Val::Fields(fields, _) = &v.val
                    && let Some((_, f)) = fields.iter().find(|(n, _)| **n == *name)
                {
                    return Ok(f.clone().at(span));
                }
                Err(self.error("unknown-member", member.span, format!("there is no field `{name}`")))
            }
            t => {
                self.note_unknown(member, t);
                Err(self.error("unknown-member", member.span, format!("{t} has no member `{name}`")))
            }
        }
    }

    /// The `i`-th field of a struct, header or union.
    pub(crate) fn field(&mut self, v: &Tv, c: &Rc<Composite>, i: usize, span: Span) -> R<Tv> {
        let f = &c.fields[i];
        let val = match &v.val {
            Val::Agg(vs) | Val::Union(vs) | Val::HeaderLit(Some(vs)) => vs.get(i).cloned(),
            Val::HeaderLit(None) => Some(self.zero(&f.ty, span)?),
            Val::Header(h) => {
                let mut flat = f.flat;
                Some(header_field(h, &f.ty, &mut flat))
            }
            _ => None,
        };
        match val {
            Some(val) => Ok(Tv { ty: f.ty.clone(), val, access: v.access, span }),
            None => Err(self.bug(span, "a field of this")),
        }
    }

    fn stack_member(&mut self, v: &Tv, elem: &Type, size: u32, member: &ast::Ident, span: Span) -> R<Tv> {
        let name = member.name.as_str();
        if name == "size" {
            return Ok(Tv::expr(Type::bit(32), constant(Bits::new(32, u128::from(size)), Ty::Bit(32)), span));
        }
        if !matches!(name, "next" | "last" | "lastIndex") {
            self.note_unknown(member, &v.ty);
            let near = nearest(name, ["size", "next", "last", "lastIndex"].into_iter());
            return Err(self.unknown_member(member, format!("a header stack has no member `{name}`"), near));
        }
        if self.body.region != crate::cx::Region::Parser {
            return Err(self.error("stack", span, format!("`.{name}` of a header stack may be used in parsers only")));
        }
        self.check_stack_end(v, size, name, span);
        if let Some(u) = self.layout.union_stack(&v.val) {
            let val = match name {
                "lastIndex" => return Ok(Tv::expr(Type::bit(32), u.last_index(), span)),
                "next" => u.next(),
                _ => u.last(),
            };
            return Ok(Tv { ty: elem.clone(), val, access: v.access, span });
        }
        let Val::Stack(id, _) = v.val else {
            // Where only types count, any element will do.
            return match (&v.val, name, self.check_only()) {
                (Val::Array(vs), "next" | "last", true) if !vs.is_empty() => {
                    Ok(Tv { ty: elem.clone(), val: vs[0].clone(), access: v.access, span })
                }
                (_, "lastIndex", true) => {
                    let t = self.temp(Ty::Bit(32));
                    Ok(Tv::expr(Type::bit(32), crate::coerce::var(t, Ty::Bit(32)), span))
                }
                _ => Err(self.unsupported(span, format!("`.{name}` of this stack"))),
            };
        };
        match name {
            "lastIndex" => Ok(Tv::expr(Type::bit(32), Expr { kind: ExprKind::LastIndex(id), ty: Ty::Bit(32) }, span)),
            _ => {
                let h = if name == "next" { HeaderRef::Next(id) } else { HeaderRef::Last(id) };
                Ok(Tv { ty: elem.clone(), val: Val::Header(h), access: v.access, span })
            }
        }
    }

    /// A parser that looks at `last` of an empty stack, or at `next` of a full one, rejects (P4_16 §8.20). `extract` sees to that by
    /// itself, and where this body has just extracted into the stack, it has a last element.
    fn check_stack_end(&mut self, v: &Tv, size: u32, name: &str, span: Span) {
        let Some(error) = self.decls.error_code("StackOutOfBounds") else { return };
        let bits = |n: u32| constant(Bits::new(32, u128::from(n)), Ty::Bit(32));
        let last = match (&v.val, self.layout.union_stack(&v.val)) {
            (_, Some(u)) => u.last_index(),
            (Val::Stack(id, _), None) => {
                let touched = self.build.since(0).iter().rev().find(|s| match s {
                    Stmt::Extract { header: HeaderRef::Next(s), .. } | Stmt::Pop(s, _) | Stmt::CopyStack { dst: s, .. } => s == id,
                    Stmt::Assign(..) | Stmt::Extern(_) | Stmt::Advance(_) | Stmt::Lookahead(..) | Stmt::Verify(..) => false,
                    _ => true,
                });
                if name == "last" && matches!(touched, Some(Stmt::Extract { header: HeaderRef::Next(s), .. }) if s == id) {
                    return;
                }
                Expr { kind: ExprKind::LastIndex(*id), ty: Ty::Bit(32) }
            }
            _ => return,
        };
        let holds = match name {
            "last" => consteval::binary(BinOp::Ne, last, bits(u32::MAX)),
            // The index before the first wraps, so this is `next < size`.
            "next" if !self.extracting => {
                let next = consteval::binary(BinOp::Add, last, bits(1));
                consteval::binary(BinOp::Lt, next, bits(size))
            }
            _ => return,
        };
        if let Some(code) = self.error_value(error, span).val.bits() {
            self.emit(Stmt::Verify(holds, code));
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
        if self.build.mark() > start && !Self::is_static(&v.val) {
            let (pinned, block) = self.block(|cx| Ok(cx.pin(&v.val)));
            v.val = pinned?;
            self.build.insert(start, block);
        }
        Ok((v, i))
    }

    fn const_index(&mut self, i: &Tv, len: usize) -> R<usize> {
        let at = self.as_const_int(i, "the index of a tuple or list")?;
        match usize::try_from(&at) {
            Ok(at) if at < len => Ok(at),
            _ => Err(self.error("out-of-range", i.span, format!("index {at} is not below {len}"))),
        }
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

    /// The same value as a variable's.
    fn at_run_time(&mut self, v: &Tv) -> R<Tv> {
        let (Some(ty), Some(e)) = (v.ty.scalar(), v.val.scalar()) else { return Ok(v.clone()) };
        let t = self.temp(ty);
        self.emit_assign(LValue::Var(t), e);
        Ok(Tv { val: Val::Place(LValue::Var(t), ty), access: Access::Read("a computed value"), ..v.clone() })
    }

    /// `written`: the index is known by the text alone.
    fn element(&mut self, v: &Tv, elem: &Type, n: u32, i: Tv, written: bool, span: Span) -> R<Tv> {
        let known = match &i.val {
            Val::Int(at) => Some(at.clone()),
            val => val.bits().map(|b| BigInt::from(b.value())),
        };
        let beyond = known.as_ref().is_some_and(|at| *at >= BigInt::from(n) || *at < BigInt::from(0));
        let known = if beyond && !written { None } else { known };
        let val = match (&v.val, known) {
            (_, Some(at)) => {
                let at = match usize::try_from(&at) {
                    Ok(at) if at < n as usize => at,
                    _ => return Err(self.error("out-of-range", i.span, format!("index {at} is beyond a stack of {n}"))),
                };
                match &v.val {
                    Val::Stack(_, hs) => Val::Header(HeaderRef::Static(hs[at])),
                    Val::Array(vs) => vs[at].clone(),
                    _ => return Err(self.bug(span, "an element of this")),
                }
            }
            (stack, None) if matches!(stack, Val::Stack(..)) || self.layout.union_stack(stack).is_some() => {
                let at = match (&i.ty, i.val.scalar()) {
                    (Type::Bits { signed: false, .. }, Some(e)) => e,
                    // Sign-extended, so that a negative index is beyond the end.
                    (Type::Bits { signed: true, .. }, Some(e)) => consteval::cast(consteval::cast(e, Ty::Int(32)), Ty::Bit(32)),
                    (Type::Enum(e), Some(x)) if e.underlying.is_some() => x,
                    (Type::Bad, _) => return Err(self.poisoned()),
                    (t, _) => return Err(self.error("type-mismatch", i.span, format!("an index must be bit<W>, not {t}"))),
                };
                match (stack, self.layout.union_stack(stack)) {
                    (Val::Stack(id, _), _) => {
                        let id = *id;
                        self.build.note(p4_ir::origin::Construct::StackIndex, span);
                        Val::Header(HeaderRef::Index(id, Box::new(at)))
                    }
                    (_, Some(u)) => u.at(&at),
                    _ => return Err(self.bug(span, "an element of this")),
                }
            }
            (Val::Array(vs), None) if self.check_only() && !vs.is_empty() => match &i.ty {
                Type::Bad => return Err(self.poisoned()),
                t if matches!(crate::ops::bottom_number(t), Some(Type::Bits { .. })) => vs[0].clone(),
                t => return Err(self.error("type-mismatch", i.span, format!("an index must be bit<W>, not {t}"))),
            },
            _ => return Err(self.unsupported(i.span, "an index that is not known at compile time into this stack")),
        };
        Ok(Tv { ty: elem.clone(), val, access: v.access, span })
    }

    fn slice(&mut self, base: &'a ast::Expr, hi: &'a ast::Expr, lo: &'a ast::Expr, span: Span) -> R<Tv> {
        let v = self.expr(base)?;
        let h = self.const_int(hi, "the upper bit of a slice")?;
        let l = self.const_int(lo, "the lower bit of a slice")?;
        self.slice_of(&v, &h, &l, span)
    }

    pub(crate) fn slice_of(&mut self, v: &Tv, h: &BigInt, l: &BigInt, span: Span) -> R<Tv> {
        let width = self.sliceable(v)?;
        let (hi, lo) = match (u32::try_from(h), u32::try_from(l)) {
            (Ok(h), Ok(l)) if h < width && l <= h => (h, l),
            _ => {
                let d = Diagnostic::error("out-of-range", span, format!("there are no bits [{h}:{l}] in {}", v.ty));
                return Err(self.report(d.with_note("a slice is [high:low], both included, below the width")));
            }
        };
        if let (Type::Composite(c), Some(_)) = (&v.ty, wide_of(&v.ty)) {
            return self.wide_slice(v, &c.clone(), hi, lo, span);
        }
        let ty = Type::bit(hi - lo + 1);
        Ok(match (&v.val, v.val.scalar()) {
            (Val::Place(..) | Val::Sliced(..), _) => Tv { ty, val: Val::Sliced(Rc::new(v.val.clone()), hi, lo), access: v.access, span },
            (_, Some(e)) => Tv::expr(ty, consteval::slice(e, hi, lo), span),
            _ => return Err(self.bug(span, "a slice of this")),
        })
    }

    fn sliceable(&mut self, v: &Tv) -> R<u32> {
        match &v.ty {
            Type::Bits { width, .. } => Ok(*width),
            Type::Bad => Err(self.poisoned()),
            t if wide_of(t).is_some() => Ok(wide_of(t).map_or(0, |w| w.width)),
            Type::Enum(_) | Type::New(_) if matches!(crate::ops::bottom_number(&v.ty), Some(Type::Bits { .. })) => {
                Ok(v.ty.scalar().map_or(0, Ty::width))
            }
            Type::Int => {
                let d = Diagnostic::error("type-mismatch", v.span, "a number without width has no bits to slice");
                Err(self.report(d.with_help("give it a width, such as `8w5`")))
            }
            t => Err(self.error("type-mismatch", v.span, format!("{t} has no bits to slice"))),
        }
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
        let value = consteval::cast(value, Ty::Bit(total));
        let shifted = consteval::binary(BinOp::Shr, value, amount);
        let mut result = Tv::expr(Type::bit(w), consteval::slice(shifted, w - 1, 0), span);
        result.access = Access::Read("a slice at a position that is not known at compile time");
        Ok(result)
    }
}

/// A header's field: scalars one by one, in the order of the flattened header.
fn header_field(h: &HeaderRef, ty: &Type, flat: &mut u32) -> Val {
    match ty {
        Type::Composite(c) => Val::Agg(c.fields.iter().map(|f| header_field(h, &f.ty, flat)).collect()),
        Type::New(n) => header_field(h, &n.target, flat),
        Type::Stack(t, n) => Val::Array((0..*n).map(|_| header_field(h, t, flat)).collect()),
        Type::Varbit(_) => {
            *flat += 1;
            Val::Varbit(h.clone(), *flat - 1)
        }
        other => {
            let ty = other.scalar().unwrap_or(Ty::Bit(1));
            *flat += 1;
            Val::Place(LValue::Field(h.clone(), *flat - 1), ty)
        }
    }
}

/// All fields of a header, as values.
pub(crate) fn header_fields(h: &HeaderRef, c: &Composite) -> Vec<Val> {
    c.fields
        .iter()
        .map(|f| {
            let mut flat = f.flat;
            header_field(h, &f.ty, &mut flat)
        })
        .collect()
}
