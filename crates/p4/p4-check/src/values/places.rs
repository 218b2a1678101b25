//! What does a value read, and which place is one? What may change behind it is saved in a variable, so that it stays the same.

use super::cx::Values;
use crate::names::sink::R;
use crate::types::*;
use p4_ir::{Expr, ExprKind, HeaderRef, LValue, Stmt, VarRole, walk};
use std::collections::HashSet;
use std::rc::Rc;

impl Values<'_> {
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
            let (saved, block) = self.collect(|cx| cx.copy_to_temp(v));
            *v = saved?;
            let n = block.len();
            self.build.insert(at, block);
            at += n;
        }
        Ok(())
    }

    /// Whether nothing that runs later can change the value.
    pub(crate) fn is_stable(&self, v: &Val) -> bool {
        fn expr(cx: &Values, e: &Expr) -> bool {
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

    pub(crate) fn roots(&self, v: &Val, into: &mut HashSet<Root>) {
        match v {
            Val::Expr(e) => self.expr_roots(e, into),
            Val::Place(p, _) => self.place_roots(p, into),
            Val::Sliced(base, ..) => self.roots(base, into),
            Val::Header(h) | Val::Varbit(h, _) => self.header_roots(h, into),
            Val::Agg(vs) | Val::Union(vs) | Val::Array(vs) | Val::Joined(vs) | Val::HeaderLit(Some(vs)) => {
                vs.iter().for_each(|v| self.roots(v, into));
            }
            Val::Stack(id, _) => {
                into.insert(Root::Stack(*id));
            }
            Val::List(vs, _) => vs.iter().for_each(|v| self.roots(&v.val, into)),
            Val::Fields(vs, _) => vs.iter().for_each(|(_, v)| self.roots(&v.val, into)),
            Val::Int(_) | Val::Str(_) | Val::Invalid | Val::Dots | Val::DontCare | Val::Obj(_) | Val::None => {}
            Val::HeaderLit(None) => {}
        }
    }

    pub(crate) fn place_roots(&self, p: &LValue, into: &mut HashSet<Root>) {
        match p {
            LValue::Var(v) => {
                into.insert(Root::Var(*v));
            }
            LValue::Field(h, _) => self.header_roots(h, into),
            LValue::Slice(inner, ..) => self.place_roots(inner, into),
        }
    }

    pub(crate) fn header_roots(&self, h: &HeaderRef, into: &mut HashSet<Root>) {
        match h {
            HeaderRef::Static(id) => {
                into.insert(self.layout.root_of_header(*id, self.build.ir.headers[*id].union));
            }
            HeaderRef::Next(s) | HeaderRef::Last(s) => {
                into.insert(self.layout.root_of_stack(*s));
            }
            HeaderRef::Index(s, e) => {
                into.insert(self.layout.root_of_stack(*s));
                self.expr_roots(e, into);
            }
        }
    }

    fn expr_roots(&self, e: &Expr, into: &mut HashSet<Root>) {
        match &e.kind {
            ExprKind::Const(_) => {}
            ExprKind::Var(v) => {
                into.insert(Root::Var(*v));
            }
            ExprKind::Field(h, _) | ExprKind::IsValid(h) | ExprKind::VarbitBits(h, _) => self.header_roots(h, into),
            ExprKind::VarbitEq(a, b) => {
                self.header_roots(a, into);
                self.header_roots(b, into);
            }
            ExprKind::LastIndex(s) | ExprKind::NextIndex(s) => {
                into.insert(Root::Stack(*s));
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Slice(a, ..) => self.expr_roots(a, into),
            ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => {
                self.expr_roots(a, into);
                self.expr_roots(b, into);
            }
            ExprKind::Mux(a, b, c) => [a, b, c].into_iter().for_each(|e| self.expr_roots(e, into)),
        }
    }

    /// The same place with run-time indices replaced by saved ones, so that it stays the same one.
    pub(crate) fn pin(&mut self, v: &Val) -> Val {
        match v {
            Val::Place(LValue::Field(h, i), ty) => Val::Place(LValue::Field(self.pin_header(h), *i), *ty),
            Val::Sliced(base, hi, lo) => Val::Sliced(Rc::new(self.pin(base)), *hi, *lo),
            Val::Header(h) => Val::Header(self.pin_header(h)),
            Val::Agg(vs) => Val::Agg(vs.iter().map(|v| self.pin(v)).collect()),
            Val::Joined(vs) => Val::Joined(vs.iter().map(|v| self.pin(v)).collect()),
            Val::Union(vs) => Val::Union(vs.iter().map(|v| self.pin(v)).collect()),
            other => other.clone(),
        }
    }

    pub(crate) fn pin_header(&mut self, h: &HeaderRef) -> HeaderRef {
        match h {
            HeaderRef::Index(s, e) if !self.is_stable(&Val::Expr((**e).clone())) => {
                let t = self.temp(e.ty);
                self.emit_assign(LValue::Var(t), (**e).clone());
                HeaderRef::Index(*s, Box::new(Expr { kind: ExprKind::Var(t), ty: e.ty }))
            }
            other => other.clone(),
        }
    }

    /// A copy of what is stored in a place, made before the statements from `start` on, if these may change it.
    pub(crate) fn save_if_changed(&mut self, place: &Tv, start: usize) -> R<Option<Tv>> {
        if place.ty.is_bad() || place.val.is_const() || !self.may_change(start, &place.val) {
            return Ok(None);
        }
        let (saved, block) = self.collect(|cx| cx.copy_to_temp(place));
        self.build.insert(start, block);
        saved.map(Some)
    }

    /// Whether the statements from `start` on may write to a place.
    fn may_change(&self, start: usize, place: &Val) -> bool {
        let (mut own, mut written, mut anything) = (HashSet::new(), HashSet::new(), false);
        self.roots(place, &mut own);
        let mut statement = |s: &Stmt| {
            p4_analysis::effects::written_vars(&self.build.ir, s, &mut |v| {
                written.insert(Root::Var(v));
            });
            walk::stmt_lvalues(s, &mut |l| self.place_roots(l, &mut written));
            match s {
                Stmt::SetValid(h, _)
                | Stmt::CopyHeader { dst: h, .. }
                | Stmt::CopyVarbit { dst: h, .. }
                | Stmt::Extract { header: h, .. } => self.header_roots(h, &mut written),
                Stmt::CopyStack { dst: s, .. } | Stmt::Push(s, _) | Stmt::Pop(s, _) => {
                    written.insert(self.layout.root_of_stack(*s));
                }
                // Its actions may write to any header.
                Stmt::Apply { .. } => anything = true,
                _ => {}
            }
        };
        for s in self.build.since(start) {
            statement(s);
            walk::stmt_blocks(s, &mut |b| walk::all_stmts(b, &mut statement));
        }
        anything || !own.is_disjoint(&written)
    }

    /// Makes all headers of a place invalid: how `out` parameters and variables without a value start (P4_16 §6.8).
    pub(crate) fn invalidate(&mut self, val: &Val) {
        match val {
            Val::Header(h) => self.emit(Stmt::SetValid(h.clone(), false)),
            Val::Stack(_, hs) => {
                for h in hs.iter() {
                    self.emit(Stmt::SetValid(p4_ir::HeaderRef::Static(*h), false));
                }
            }
            Val::Agg(vs) | Val::Union(vs) | Val::Array(vs) => {
                for v in vs.iter() {
                    self.invalidate(v);
                }
            }
            _ => {}
        }
    }

    /// Says of the variables of a parameter that they are one's.
    pub(crate) fn mark(&mut self, val: &Val, role: VarRole) {
        match val {
            Val::Place(LValue::Var(v), _) => self.build.ir.vars[*v].role = role,
            Val::Agg(vs) | Val::Array(vs) => vs.iter().for_each(|v| self.mark(v, role)),
            _ => {}
        }
    }

    /// An expression for a variable's place, for `if` conditions and the like.
    pub(crate) fn fresh_bool(&mut self) -> (p4_ir::VarId, p4_ir::Expr) {
        let v = self.temp(p4_ir::Ty::Bool);
        (v, var(v, p4_ir::Ty::Bool))
    }
}

fn static_place(p: &LValue) -> bool {
    match p {
        LValue::Var(_) => true,
        LValue::Field(h, _) => matches!(h, HeaderRef::Static(_)),
        LValue::Slice(..) => false,
    }
}

/// Whether the place is the same one whenever it is looked at.
pub(crate) fn is_static(v: &Val) -> bool {
    match v {
        Val::Place(p, _) => static_place(p),
        Val::Sliced(..) => false,
        Val::Header(h) | Val::Varbit(h, _) => matches!(h, HeaderRef::Static(_)),
        Val::Agg(vs) | Val::Union(vs) | Val::Array(vs) => vs.iter().all(is_static),
        Val::Stack(..) | Val::Obj(_) => true,
        _ => false,
    }
}
