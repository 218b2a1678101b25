//! What happens when a control is applied? Its instances, locals and body are lowered in place (P4_16 §14, §8.20).

use super::args::{Args, Binding, Param, Subst};
use super::cx::Cx;
use super::instances::{Bound, ObjKind};
use super::stmt::close_label;
use super::uses::{Applications, applications};
use crate::names::decls::BlockDecl;
use crate::names::scope::{Entity, ScopeId};
use crate::names::sink::R;
use crate::types::*;
use crate::values::body::{Body, Frame, Region};
use p4_ir::Stmt;
use p4_syntax::{Diagnostic, Span, ast};

impl<'a> Cx<'a> {
    /// The parameters of a parser's or control's application.
    pub(crate) fn block_params(&mut self, block: BlockId, targs: &[Type], subst: &mut Subst) -> R<Vec<Param<'a>>> {
        let decl = self.decls.block(block);
        let scope = self.type_scope((ScopeId::GLOBAL, decl.seen()), decl.type_params(), targs, subst);
        self.resolve_params(decl.params(), scope)
    }

    /// A parser or control `actual` where one of type `formal` is wanted: the parameters must agree one by one.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn unify_blocks(
        &mut self,
        formal: BlockId,
        targs: &[Type],
        actual: BlockId,
        actual_targs: &[Type],
        subst: &mut Subst,
        span: Span,
        name: &str,
    ) -> R<()> {
        let (f, a) = (self.decls.block(formal), self.decls.block(actual));
        let (fname, aname) = (f.name().name.clone(), a.name().name.clone());
        if f.is_parser() != a.is_parser() {
            let kind = |b: BlockDecl| if b.is_parser() { "parser" } else { "control" };
            let message = format!("`{name}` wants a {} `{fname}` here, but `{aname}` is a {}", kind(f), kind(a));
            return Err(self.error("type-mismatch", span, message));
        }
        if formal == actual {
            return Ok(());
        }
        let mut own = Subst::default();
        let mut wanted = self.block_params(formal, targs, &mut own)?;
        let mut given = self.block_params(actual, actual_targs, &mut own)?;
        // Optional parameters that stand at the end may be left out.
        let optional = |p: &Param| p.ast.default.is_some() || ast::find_annotation(&p.ast.annotations, "optional").is_some();
        while wanted.len() > given.len() && wanted.last().is_some_and(optional) {
            wanted.pop();
        }
        if wanted.len() != given.len() {
            let message = format!("`{aname}` has {} parameters, but `{fname}` has {}", given.len(), wanted.len());
            let d = Diagnostic::error("type-mismatch", span, message);
            return Err(self.report(d.with_place(f.name().span, "what is wanted")));
        }
        for (w, g) in wanted.iter().zip(&mut given) {
            self.unify(&w.ty, &g.ty, subst, g.ast.span, name, &g.ast.name.name)?;
            let ty = self.substitute(&w.ty, subst, span)?;
            g.ty = self.substitute(&g.ty, subst, span)?;
            // A generic parser or control is used with the type arguments that fit.
            if g.ty.has_var() && !ty.has_var() {
                self.unify(&g.ty, &ty, &mut own, g.ast.span, name, &g.ast.name.name)?;
                g.ty = self.substitute(&g.ty, &own, span)?;
            }
            let g = &*g;
            let same_direction = w.ast.direction == g.ast.direction;
            if (ty != g.ty && !ty.has_var()) || !same_direction {
                let direction = |p: &Param| match p.ast.direction {
                    Some(ast::Direction::In) => "in ",
                    Some(ast::Direction::Out) => "out ",
                    Some(ast::Direction::InOut) => "inout ",
                    None => "",
                };
                let message = format!(
                    "parameter `{}` of `{aname}` is `{}{}`, but `{fname}` wants `{}{}`",
                    g.ast.name.name,
                    direction(g),
                    g.ty,
                    direction(w),
                    ty
                );
                let d = Diagnostic::error("type-mismatch", g.ast.span, message);
                return Err(self.report(d.with_place(w.ast.span, "what is wanted").with_place(span, "used here")));
            }
        }
        Ok(())
    }

    /// `c.apply(args)`
    pub(crate) fn apply_control(&mut self, obj: ObjId, args: &'a [ast::Arg], span: Span) -> R<()> {
        if self.body.region != Region::Control {
            return Err(self.error("misplaced", span, "a control can be applied only in the `apply` of a control"));
        }
        let ObjKind::Block(inst) = self.objects.kind(obj) else { return Err(self.bug(span, "control")) };
        let (block, single, targs) = (inst.block, inst.single, inst.targs.clone());
        let decl = self.decls.block(block);
        let mut subst = Subst::default();
        let params = self.block_params(block, &targs, &mut subst)?;
        let name = decl.name().name.clone();
        let found = self.match_args(&name, decl.params(), args, span)?;
        let callee = self.scopes.add(ScopeId::GLOBAL, decl.seen());
        let values = self.eval_args(&name, &params, &found, &mut subst, callee, span)?;
        self.settle_targs(obj, &subst);
        let how = if single { Binding::Share } else { Binding::Always };
        self.nested(span, |cx| cx.run_control(obj, &params, values, how, span))
    }

    /// Lowers an application of a control with its arguments evaluated.
    pub(crate) fn run_control(&mut self, obj: ObjId, params: &[Param<'a>], args: Args, how: Binding, span: Span) -> R<()> {
        let path = self.objects.path(obj).to_owned();
        let ObjKind::Block(inst) = self.objects.kind(obj) else { return Err(self.bug(span, "control")) };
        let inst = inst.clone();
        let BlockDecl::Control(decl, seen) = self.decls.block(inst.block) else { return Err(self.bug(span, "control")) };
        let Some(ast_body) = &decl.body else {
            if self.whole.unused_walk {
                return Ok(());
            }
            return Err(self.error("no-body", span, format!("control `{}` has no body", decl.name.name)));
        };
        // A generic one is looked at by itself too: here its type parameters are known.
        if decl.type_params.is_empty() {
            self.whole.lowers(decl);
        }
        let (locals, copy_out, first) = match inst.bound {
            Some(bound) => {
                let copy_out = self.rebind(params, &bound.params, args, span)?;
                (bound.locals, copy_out, false)
            }
            None => {
                let outer = self.type_scope((ScopeId::GLOBAL, seen), &decl.type_params, &inst.targs, &mut Subst::default());
                self.declare_constructor_params(outer, decl.constructor_params.as_slice(), &inst.args);
                let (bound, copy_out) = self.bind(outer, &path, params, args, how)?;
                let locals = self.new_scope(outer);
                if let Some(inst) = self.objects.block_mut(obj) {
                    inst.bound = Some(Bound { params: bound, locals });
                }
                (locals, copy_out, true)
            }
        };
        let mut frames = self.body.frames.clone();
        frames.push(Frame { copy_out: copy_out.clone(), ..Frame::default() });
        let body = Body { scope: locals, region: Region::Control, path, frames, state: None, by_table: false, ..self.body.clone() };
        self.active.push(obj);
        let (result, block) = self.block(|cx| {
            cx.in_body(body, |cx| {
                if first {
                    cx.control_locals(ast_body);
                } else {
                    cx.restart_locals(&ast_body.locals);
                }
                let inner = cx.new_scope(locals);
                cx.in_scope(inner, |cx| cx.stmts(&ast_body.apply.stmts));
                Ok(cx.body.frames.last().and_then(|f| f.ret))
            })
        });
        self.active.pop();
        let block = close_label(block, result?);
        self.build.append(block);
        if !copy_out.is_empty()
            && let ObjKind::Block(inst) = self.objects.kind(obj)
            && inst.exits
        {
            return Err(self.unsupported(span, "`exit` in an action of a table of a control whose arguments are copied"));
        }
        self.copy_out(&copy_out)
    }

    /// Notes the type arguments that an application determined.
    pub(crate) fn settle_targs(&mut self, obj: ObjId, subst: &Subst) {
        if let Some(inst) = self.objects.block_mut(obj)
            && inst.targs.is_empty()
        {
            inst.targs = subst.all();
        }
    }

    pub(crate) fn declare_constructor_params(&mut self, scope: ScopeId, params: &'a [ast::Param], args: &[Tv]) {
        for (p, a) in params.iter().zip(args) {
            let value = Tv { access: CONSTRUCTOR_PARAM, ..a.clone() };
            self.declare_in(scope, &p.name, Entity::Value(value));
        }
    }

    /// A control's declarations, in order.
    fn control_locals(&mut self, body: &'a ast::ControlBody) {
        let uses = applications(&body.apply);
        for d in &body.locals {
            let _ = self.control_local(d, &uses);
        }
    }

    fn control_local(&mut self, d: &'a ast::Decl, uses: &Applications<'a>) -> R<()> {
        match &d.kind {
            ast::DeclKind::Action(a) => {
                self.declare_action(a, &d.annotations);
                Ok(())
            }
            ast::DeclKind::Table(t) => self.declare_table(t, &d.annotations, uses.is_applied(&t.name.name)),
            ast::DeclKind::Instantiation(i) => self.declare_instance(i, &d.annotations, uses.is_single(&i.name.name)),
            _ => self.local(d),
        }
    }

    /// The values with which variables start, for a later application.
    fn restart_locals(&mut self, locals: &'a [ast::Decl]) {
        for d in locals {
            if let ast::DeclKind::Var(v) = &d.kind {
                let path = ast::Path { global: false, name: v.name.clone(), span: v.name.span };
                if let Ok([Entity::Value(tv)]) = self.find(&path).as_deref() {
                    let tv = tv.clone();
                    let _ = self.start_value(&tv, v);
                }
            }
        }
    }

    /// Notes that a table-run action of the controls being applied exits.
    pub(crate) fn note_exit(&mut self) {
        for obj in self.active.clone() {
            if let Some(inst) = self.objects.block_mut(obj) {
                inst.exits = true;
            }
        }
    }

    /// Applies `C.apply(args)` without an instance of its own.
    pub(crate) fn apply_anonymous(&mut self, block: BlockId, targs: &[Type], args: &'a [ast::Arg], span: Span) -> R<()> {
        let decl = self.decls.block(block);
        let name = decl.name().name.clone();
        if !decl.constructor_params().is_empty() {
            let message = format!("`{name}` needs constructor arguments; declare an instance of it");
            return Err(self.error("arity", span, message));
        }
        let path = self.local_name(&name);
        let obj = self.new_object(path, ObjKind::block(block, targs.to_vec(), Vec::new(), true));
        if decl.is_parser() { self.apply_parser(obj, args, span) } else { self.apply_control(obj, args, span) }
    }

    /// Ends the current callable.
    pub(crate) fn leave(&mut self, name: &str) {
        let label = match self.body.frames.last().and_then(|f| f.ret) {
            Some(l) => l,
            None => {
                let l = self.new_label(name);
                if let Some(f) = self.body.frames.last_mut() {
                    f.ret = Some(l);
                }
                l
            }
        };
        self.emit(Stmt::Break(label));
    }
}
