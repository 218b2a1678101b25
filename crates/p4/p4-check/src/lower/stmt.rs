//! What does a statement do? Assignments, branches, loops, `return` and `exit` (P4_16 §12).

use super::cx::Cx;
use super::in_hash::in_hash;
use crate::names::scope::Entity;
use crate::names::sink::R;
use crate::types::fold;
use crate::types::*;
use crate::values::body::{Region, Stage};
use crate::values::places::is_static;
use p4_ir::{BinOp, Bits, Block, Expr, LValue, LabelId, Stmt, Ty, UnOp};
use p4_syntax::{Diagnostic, Span, ast};
use std::collections::HashMap;

/// Longest chain of `else if`s that becomes `if`s inside of `else`s.
const MAX_NESTED_IFS: usize = 16;

impl<'a> Cx<'a> {
    /// Statements in order; a fault in one does not keep the next from being looked at.
    pub(crate) fn stmts(&mut self, list: &'a [ast::Stmt]) {
        for s in list {
            if self.sink.is_stopped() {
                return;
            }
            let _ = self.stmt(s);
        }
    }

    pub(crate) fn stmt(&mut self, s: &'a ast::Stmt) -> R<()> {
        self.nested(s.span, |cx| cx.stmt_kind(s))
    }

    fn stmt_kind(&mut self, s: &'a ast::Stmt) -> R<()> {
        use ast::StmtKind as K;
        match &s.kind {
            K::Empty => Ok(()),
            K::Decl(d) => self.local(d),
            K::Assign { target, op, value } => self.assign(target, *op, value, s.span),
            K::Call(e) => self.call_statement(e),
            K::Block(b) => {
                let scope = self.inner_scope();
                if self.is_tna() && ast::find_annotation(&b.annotations, "in_hash").is_some() {
                    let (done, block) = self.block(|cx| {
                        cx.in_scope(scope, |cx| cx.stmts(&b.stmts));
                        Ok(())
                    });
                    done?;
                    self.build.append(in_hash(block));
                    return Ok(());
                }
                self.in_scope(scope, |cx| cx.stmts(&b.stmts));
                Ok(())
            }
            K::If { arms, otherwise } => self.if_statement(arms, otherwise.as_deref()),
            K::Switch { key, cases } => self.switch(key, cases, s.span),
            K::For { init, cond, update, body, .. } => {
                let scope = self.inner_scope();
                self.in_scope(scope, |cx| cx.for_statement(init, cond, update, body))
            }
            K::ForIn { ty, var, collection, body, .. } => {
                let scope = self.inner_scope();
                self.in_scope(scope, |cx| cx.for_in(ty.as_ref(), var, collection, body, s.span))
            }
            K::Break | K::Continue => self.leave_loop(matches!(s.kind, K::Break), s.span),
            K::Return(value) => self.return_statement(value.as_ref(), s.span),
            K::Exit => self.exit_statement(s.span),
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Declarations in bodies

    /// A constant, variable or instance.
    pub(crate) fn local(&mut self, d: &'a ast::Decl) -> R<()> {
        match &d.kind {
            ast::DeclKind::Const(c) => self.declare_const(c),
            ast::DeclKind::Var(v) => self.declare_var(v),
            ast::DeclKind::Instantiation(i) => {
                self.declare(&i.name, Entity::Bad);
                Err(self.error("misplaced", d.span, "instances cannot be made inside statements"))
            }
            _ => Err(self.error("misplaced", d.span, "this cannot be declared here")),
        }
    }

    pub(crate) fn declare_const(&mut self, c: &'a ast::ConstDecl) -> R<()> {
        let what = format!("the value of constant `{}`", c.name.name);
        let value = self.resolve(&c.ty).and_then(|ty| {
            let v = self.pure(&c.value, &what)?;
            let v = self.coerce(v, &ty, &what)?;
            if self.object(&v).is_some() {
                let d = Diagnostic::error("type-mismatch", c.ty.span, "a constant cannot be an instance");
                return Err(self.report(d.with_help(format!("declare an instance: `T(...) {};`", c.name.name))));
            }
            if !v.val.is_const() {
                return Err(self.error("not-const", c.value.span, format!("{what} must be known at compile time")));
            }
            Ok(v)
        });
        match value {
            Ok(v) => {
                self.declare(&c.name, Entity::Value(Tv { access: CONSTANT, ..v }));
                Ok(())
            }
            Err(e) => {
                self.declare(&c.name, Entity::Bad);
                Err(e)
            }
        }
    }

    pub(crate) fn declare_var(&mut self, v: &'a ast::VarDecl) -> R<()> {
        // The initial value does not see the variable.
        let made = self.resolve(&v.ty).and_then(|ty| {
            if matches!(ty, Type::Int) {
                let d = Diagnostic::error("type-mismatch", v.ty.span, "a variable cannot be of type int");
                return Err(self.report(d.with_help("give it a width, such as bit<32>; int is for constants")));
            }
            let what = format!("the value of `{}`", v.name.name);
            let init = v.init.as_ref().map(|e| self.expr(e).and_then(|value| self.coerce(value, &ty, &what)));
            let name = self.local_name(&v.name.name);
            let val = self.storage(&name, &ty, v.ty.span)?;
            let own = Tv { ty, val, access: Access::Write, span: v.name.span };
            // With a wrong value it is still a variable of its type, and what comes after can be checked.
            let result = match init {
                Some(Ok(init)) => self.store(&own, &init),
                Some(Err(e)) => Err(e),
                None => {
                    self.invalidate(&own.val);
                    Ok(())
                }
            };
            Ok((own, result))
        });
        match made {
            Ok((own, result)) => {
                self.declare(&v.name, Entity::Value(own));
                result
            }
            Err(e) => {
                self.declare(&v.name, Entity::Bad);
                Err(e)
            }
        }
    }

    /// The initial value once more, for a control that is applied again.
    pub(crate) fn start_value(&mut self, own: &Tv, v: &'a ast::VarDecl) -> R<()> {
        match &v.init {
            Some(e) => {
                let value = self.expr(e)?;
                let value = self.coerce(value, &own.ty, &format!("the value of `{}`", v.name.name))?;
                self.store(own, &value)
            }
            None => {
                self.invalidate(&own.val);
                Ok(())
            }
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Assignments and calls

    fn assign(&mut self, target: &'a ast::Expr, op: Option<ast::BinOp>, value: &'a ast::Expr, span: Span) -> R<()> {
        let to = self.expr(target).and_then(|to| self.writable(&to, "the left side of an assignment").map(|()| to));
        let mut to = match to {
            Ok(to) => to,
            Err(e) => {
                // The right side may be wrong as well.
                let _ = self.expr(value);
                return Err(e);
            }
        };
        let start = self.build.mark();
        let mut v = self.expr(value)?;
        if self.build.mark() > start && !is_static(&to.val) {
            // The place is decided before the value is computed.
            let (pinned, block) = self.block(|cx| Ok(cx.pin(&to.val)));
            to.val = pinned?;
            self.build.insert(start, block);
        }
        if let Some(op) = op {
            // The left side's value too is the one before.
            let old = self.save_if_changed(&to, start)?.unwrap_or_else(|| to.clone());
            v = self.binary(op, old, v, span)?;
        }
        let v = self.coerce(v, &to.ty, "the assigned value")?;
        self.store(&to, &v)
    }

    fn call_statement(&mut self, e: &'a ast::Expr) -> R<()> {
        if let ast::ExprKind::Call { callee, args, .. } = &e.kind
            && let Some(table) = self.applied_table(callee)?
        {
            return self.apply_table(table, args, None, None, e.span);
        }
        self.expr(e).map(|_| ())
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Branches

    fn if_statement(&mut self, arms: &'a [ast::IfArm], otherwise: Option<&'a ast::Stmt>) -> R<()> {
        // What is tried after the first condition stands in the `else` of the one before; a long chain would nest as deep
        // as it is long, so from here on each link leaves the whole chain by itself.
        if arms.len() > MAX_NESTED_IFS {
            return self.long_chain(arms, otherwise);
        }
        let Some((first, rest)) = arms.split_first() else {
            return match otherwise {
                Some(s) => self.branch(s),
                None => Ok(()),
            };
        };
        let c = self.condition(&first.cond);
        let (_, a) = self.inner_block(|cx| cx.branch(&first.then));
        let (_, b) = self.inner_block(|cx| cx.if_statement(rest, otherwise));
        self.emit(Stmt::If(c?, a, b));
        Ok(())
    }

    fn long_chain(&mut self, arms: &'a [ast::IfArm], otherwise: Option<&'a ast::Stmt>) -> R<()> {
        let end = self.new_label("else");
        let (_, chain) = self.inner_block(|cx| {
            for arm in arms {
                if cx.sink.is_stopped() {
                    break;
                }
                let c = cx.condition(&arm.cond);
                let (_, mut then) = cx.inner_block(|cx| cx.branch(&arm.then));
                then.push(Stmt::Break(end));
                if let Ok(c) = c {
                    cx.emit(Stmt::If(c, then, vec![]));
                }
            }
            otherwise.map_or(Ok(()), |s| cx.branch(s))
        });
        self.emit(Stmt::Labeled(end, chain));
        Ok(())
    }

    /// One side of an `if`, in a scope of its own.
    fn branch(&mut self, s: &'a ast::Stmt) -> R<()> {
        let scope = self.inner_scope();
        self.in_scope(scope, |cx| cx.stmt(s))
    }

    fn switch(&mut self, key: &'a ast::Expr, cases: &'a [ast::SwitchCase], span: Span) -> R<()> {
        if let ast::ExprKind::Member { base, member } = &key.kind
            && member.name == "action_run"
            && let ast::ExprKind::Call { callee, args, .. } = &base.kind
            && let Some(table) = self.applied_table(callee)?
        {
            let t = self.temp(Ty::Bit(32));
            self.apply_table(table, args, None, Some(t), key.span)?;
            let on = var(t, Ty::Bit(32));
            return self.cases(on, cases, |cx, label| cx.action_label(table, label));
        }
        let v = self.expr(key)?;
        let v = match v.ty {
            Type::Bad => return Err(self.poisoned()),
            Type::Int => return Err(self.error("type-mismatch", key.span, "a number without width cannot be switched on")),
            _ => v,
        };
        let (Some(on), false) = (v.val.scalar(), matches!(v.ty, Type::Str)) else {
            return Err(self.error("type-mismatch", key.span, format!("{} cannot be switched on", v.ty)));
        };
        let _ = span;
        let ty = v.ty;
        self.cases(on, cases, |cx, label| {
            let l = cx.pure(label, "the label of a case")?;
            let l = cx.coerce(l, &ty, "the label")?;
            match l.val.bits() {
                Some(b) => Ok(b),
                None => Err(cx.error("not-const", label.span, "the label of a case must be known at compile time")),
            }
        })
    }

    fn cases(&mut self, on: Expr, cases: &'a [ast::SwitchCase], mut value: impl FnMut(&mut Self, &'a ast::Expr) -> R<Bits>) -> R<()> {
        let mut out: Vec<(Vec<Bits>, Block)> = Vec::new();
        let mut default: Option<Block> = None;
        let mut default_at: Option<Span> = None;
        let mut labels: Vec<Bits> = Vec::new();
        let mut with_default = false;
        let mut first: HashMap<u128, Span> = HashMap::new();
        let mut failed = None;
        for c in cases {
            if matches!(c.label.kind, ast::ExprKind::Default) {
                if let Some(first) = default_at.replace(c.label.span) {
                    let d = Diagnostic::error("duplicate", c.label.span, "`default` stands here twice");
                    failed = Some(self.report(d.with_place(first, "first here")));
                }
                with_default = true;
            } else {
                match value(self, &c.label) {
                    Ok(b) => {
                        if let Some(span) = first.insert(b.value(), c.label.span) {
                            let d = Diagnostic::error("duplicate", c.label.span, "this case stands here twice");
                            failed = Some(self.report(d.with_place(span, "first here")));
                        }
                        if default_at.is_some() {
                            let d = Diagnostic::error("unreachable", c.span, "`default` must be the last case");
                            failed = Some(self.report(d));
                        }
                        labels.push(b);
                    }
                    Err(e) => failed = Some(e),
                }
            }
            let Some(body) = &c.body else { continue };
            let (_, block) = self.inner_block(|cx| {
                let scope = cx.inner_scope();
                cx.in_scope(scope, |cx| cx.stmts(&body.stmts));
                Ok(())
            });
            if with_default {
                // Labels that share a body with the default need no case, but those before it keep theirs from others.
                default = Some(block);
                labels.clear();
            } else if !labels.is_empty() {
                out.push((std::mem::take(&mut labels), block));
            }
            with_default = false;
        }
        if let Some(e) = failed {
            return Err(e);
        }
        if !labels.is_empty() {
            // Labels at the end without a body do nothing.
            out.push((labels, vec![]));
        }
        self.emit(Stmt::Switch { on, cases: out, default: default.unwrap_or_default() });
        Ok(())
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Loops (P4_16 1.2.5 §12.8)

    fn for_statement(&mut self, init: &'a [ast::Stmt], cond: &'a ast::Expr, update: &'a [ast::Stmt], body: &'a ast::Stmt) -> R<()> {
        self.stmts(init);
        let (end, next) = (self.new_label("break"), self.new_label("continue"));
        let (r, looped) = self.inner_block(|cx| {
            let c = cx.condition(cond)?;
            cx.emit(Stmt::If(fold::unary(UnOp::Not, c), vec![Stmt::Break(end)], vec![]));
            cx.loop_body(end, next, body);
            cx.in_loop(end, next, |cx| cx.stmts(update));
            Ok(())
        });
        r?;
        self.emit(Stmt::Labeled(end, vec![Stmt::Loop(looped)]));
        Ok(())
    }

    fn loop_body(&mut self, end: LabelId, next: LabelId, body: &'a ast::Stmt) {
        let (_, block) = self.in_loop(end, next, |cx| {
            cx.inner_block(|cx| {
                let scope = cx.inner_scope();
                cx.in_scope(scope, |cx| cx.stmt(body))
            })
        });
        self.build.append(close_label(block, Some(next)));
    }

    fn in_loop<T>(&mut self, end: LabelId, next: LabelId, f: impl FnOnce(&mut Self) -> T) -> T {
        if let Some(frame) = self.body.frames.last_mut() {
            frame.loops.push((end, next));
        }
        let result = f(self);
        if let Some(frame) = self.body.frames.last_mut() {
            frame.loops.pop();
        }
        result
    }

    fn for_in(
        &mut self,
        ty: Option<&'a ast::Type>,
        var: &'a ast::Ident,
        collection: &'a ast::Expr,
        body: &'a ast::Stmt,
        span: Span,
    ) -> R<()> {
        if let ast::ExprKind::Range { lo, hi } = &collection.kind {
            return self.for_range(ty, var, lo, hi, body, span);
        }
        let c = self.expr(collection)?;
        let elem = match &c.ty {
            Type::Stack(t, _) | Type::List(t) => (**t).clone(),
            Type::ListLit(ts) => match (ty, ts.first()) {
                (Some(t), _) => self.resolve(t)?,
                (None, Some(t)) => t.clone(),
                (None, None) => return Ok(()),
            },
            Type::Bad => return Err(self.poisoned()),
            t => return Err(self.error("type-mismatch", collection.span, format!("a for cannot go over {t}"))),
        };
        let to = self.loop_variable(ty, var, &elem, span)?;
        let mut values: Vec<Tv> = Vec::new();
        match &c.val {
            Val::List(items, _) => {
                for i in items.iter() {
                    values.push(self.coerce(i.clone(), &to.ty, "the element")?);
                }
            }
            _ => {
                for v in self.elements(&c, span)? {
                    let v = Tv::value(elem.clone(), v, span);
                    values.push(self.coerce(v, &to.ty, "the element")?);
                }
            }
        }
        // Unrolled: the collection is known at compile time.
        let end = self.new_label("break");
        let (r, block) = self.inner_block(|cx| {
            for v in &values {
                cx.store(&to, v)?;
                let next = cx.new_label("continue");
                cx.loop_body(end, next, body);
            }
            Ok(())
        });
        r?;
        self.build.append(close_label(block, Some(end)));
        Ok(())
    }

    /// Declares the variable of a loop, or finds the one that is named.
    fn loop_variable(&mut self, ty: Option<&'a ast::Type>, var: &'a ast::Ident, elem: &Type, span: Span) -> R<Tv> {
        match ty {
            Some(t) => {
                let ty = self.resolve(t)?;
                let name = self.local_name(&var.name);
                let val = self.storage(&name, &ty, t.span)?;
                let own = Tv { ty, val, access: Access::Write, span: var.span };
                self.declare(var, Entity::Value(own.clone()));
                Ok(own)
            }
            None => {
                let path = ast::Path { global: false, name: var.clone(), span: var.span };
                let found = self.lookup(&path)?;
                let Entity::Value(v) = &found[0] else {
                    return Err(self.error("not-a-value", var.span, format!("`{}` is no variable", var.name)));
                };
                let v = v.clone().at(var.span);
                self.writable(&v, "the variable of a for")?;
                if v.ty != *elem && !matches!(elem, Type::Int | Type::Bad) {
                    return Err(self.error("type-mismatch", span, format!("`{}` is {}, but the elements are {elem}", var.name, v.ty)));
                }
                Ok(v)
            }
        }
    }

    fn for_range(
        &mut self,
        ty: Option<&'a ast::Type>,
        var: &'a ast::Ident,
        lo: &'a ast::Expr,
        hi: &'a ast::Expr,
        body: &'a ast::Stmt,
        span: Span,
    ) -> R<()> {
        let (a, b) = self.pair(lo, hi)?;
        let elem = if matches!(a.ty, Type::Int) { b.ty.clone() } else { a.ty.clone() };
        let to = self.loop_variable(ty, var, &elem, span)?;
        let (Type::Bits { .. }, Some(scalar)) = (&to.ty, to.ty.scalar()) else {
            return Err(self.error("type-mismatch", var.span, format!("a range goes over bit<W> or int<W>, not {}", to.ty)));
        };
        let a = self.coerce(a, &to.ty, "the start of the range")?;
        let b = self.coerce(b, &to.ty, "the end of the range")?;
        let (from, last) = (self.temp(scalar), self.temp(scalar));
        self.build.set_unstable(from);
        let (ea, eb) = (self.scalar(&a)?, self.scalar(&b)?);
        self.emit_assign(LValue::Var(from), ea);
        self.emit_assign(LValue::Var(last), eb);
        let (now, stop) = (crate::types::var(from, scalar), crate::types::var(last, scalar));
        let (end, next) = (self.new_label("break"), self.new_label("continue"));
        let Some(place) = to.val.place() else { return Err(self.bug(span, "loop variable")) };
        // The end is tested for after the body, as counting beyond it may wrap.
        let (_, looped) = self.inner_block(|cx| {
            cx.emit_assign(place, now.clone());
            cx.loop_body(end, next, body);
            cx.emit(Stmt::If(fold::binary(BinOp::Eq, now.clone(), stop.clone()), vec![Stmt::Break(end)], vec![]));
            let one = constant(Bits::new(scalar.width(), 1), scalar);
            cx.emit_assign(LValue::Var(from), fold::binary(BinOp::Add, now.clone(), one));
            Ok(())
        });
        let empty = fold::binary(BinOp::Gt, now, stop);
        self.emit(Stmt::Labeled(end, vec![Stmt::If(empty, vec![Stmt::Break(end)], vec![]), Stmt::Loop(looped)]));
        Ok(())
    }

    fn leave_loop(&mut self, end: bool, span: Span) -> R<()> {
        match self.body.frames.last().and_then(|f| f.loops.last()) {
            Some((brk, next)) => {
                let label = if end { *brk } else { *next };
                self.emit(Stmt::Break(label));
                Ok(())
            }
            None => {
                let word = if end { "break" } else { "continue" };
                Err(self.error("misplaced", span, format!("`{word}` stands outside of a loop")))
            }
        }
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Leaving

    fn return_statement(&mut self, value: Option<&'a ast::Expr>, span: Span) -> R<()> {
        match self.body.region {
            Region::Parser | Region::Global => {
                return Err(self.error("misplaced", span, "`return` cannot be used in a parser; use a transition"));
            }
            Region::Control | Region::Action => {
                if value.is_some() {
                    return Err(self.error("type-mismatch", span, "only functions return values"));
                }
            }
            Region::Function => {
                let result = self.body.frames.last().and_then(|f| f.result.clone());
                match (result, value) {
                    (Some(to), Some(e)) => {
                        let v = self.expr(e)?;
                        let v = self.coerce(v, &to.ty, "the returned value")?;
                        self.store(&to, &v)?;
                    }
                    (Some(to), None) => {
                        return Err(self.error("type-mismatch", span, format!("this function must return {}", to.ty)));
                    }
                    (None, Some(e)) => return Err(self.error("type-mismatch", e.span, "this function returns nothing (void)")),
                    (None, None) => {}
                }
            }
        }
        self.leave("return");
        Ok(())
    }

    fn exit_statement(&mut self, span: Span) -> R<()> {
        if matches!(self.body.region, Region::Parser | Region::Function | Region::Global) {
            return Err(self.error("misplaced", span, "`exit` can be used in controls and actions only"));
        }
        if !matches!(self.body.stage, Stage::Ingress | Stage::Egress | Stage::None) {
            return Err(self.unsupported(span, "`exit` outside of ingress and egress"));
        }
        // Results are copied out of every call on the way (P4_16 §12.4).
        let pending: Vec<(Tv, Tv)> = self.body.frames.iter().rev().flat_map(|f| f.copy_out.clone()).collect();
        self.copy_out(&pending)?;
        self.emit(Stmt::Exit);
        Ok(())
    }
}

/// A block that `label` leaves; without the label where nothing needs it.
pub(crate) fn close_label(mut block: Block, label: Option<LabelId>) -> Block {
    let Some(label) = label else { return block };
    strip_tail(&mut block, label);
    if breaks_to(&block, label) { vec![Stmt::Labeled(label, block)] } else { block }
}

/// Removes breaks to `label` from where they change nothing: the end of its block.
fn strip_tail(block: &mut Block, label: LabelId) {
    if let Some(i) = block.iter().position(|s| *s == Stmt::Break(label)) {
        block.truncate(i);
    }
    match block.last_mut() {
        Some(Stmt::If(_, a, b)) => {
            strip_tail(a, label);
            strip_tail(b, label);
        }
        Some(Stmt::Switch { cases, default, .. }) => {
            cases.iter_mut().for_each(|(_, b)| strip_tail(b, label));
            strip_tail(default, label);
        }
        Some(Stmt::Labeled(_, b)) => strip_tail(b, label),
        _ => {}
    }
}

fn breaks_to(block: &[Stmt], label: LabelId) -> bool {
    block.iter().any(|s| match s {
        Stmt::Break(l) => *l == label,
        Stmt::If(_, a, b) => breaks_to(a, label) || breaks_to(b, label),
        Stmt::Switch { cases, default, .. } => cases.iter().any(|(_, b)| breaks_to(b, label)) || breaks_to(default, label),
        Stmt::Labeled(_, b) | Stmt::Loop(b) => breaks_to(b, label),
        _ => false,
    })
}
