//! Is what nothing uses right too? Declarations that `main` does not reach are lowered as well, for their faults only.

use crate::lower::args::{Binding, Subst};
use crate::lower::cx::Cx;
use crate::lower::instances::ObjKind;
use crate::names::decls::BlockDecl;
use crate::names::scope::{Entity, ScopeId};
use crate::names::sink::R;
use crate::types::*;
use crate::values::body::{Body, Region};
use p4_ir::Next;
use p4_syntax::{Diagnostic, ast};
use std::collections::HashMap;

impl<'a> Cx<'a> {
    /// Lowers, after the result has been set aside, what has not been lowered.
    pub(crate) fn check_unused(&mut self, program: &'a ast::Program) {
        self.whole.unused_walk = true;
        for d in &program.decls {
            if self.sink.is_stopped() {
                return;
            }
            match &d.kind {
                ast::DeclKind::Parser(p) if p.body.is_some() => self.unused_block(p),
                ast::DeclKind::Control(c) if c.body.is_some() => self.unused_block(c),
                ast::DeclKind::Function(f) => {
                    self.signature(&f.type_params, &f.params, Some(&f.ret), ScopeId::GLOBAL);
                    self.unused_function(f);
                }
                ast::DeclKind::Extern(e) => self.extern_signatures(e),
                ast::DeclKind::Package(p) => self.signature(&p.type_params, &p.params, None, ScopeId::GLOBAL),
                ast::DeclKind::Parser(p) => self.signature(&p.type_params, &p.params, None, ScopeId::GLOBAL),
                ast::DeclKind::Control(c) => self.signature(&c.type_params, &c.params, None, ScopeId::GLOBAL),
                _ => {}
            }
        }
        self.unused_tables();
        self.unused_actions();
    }

    /// Resolves a signature that nothing may have looked at: types, names and default values.
    fn signature(&mut self, type_params: &'a [ast::Ident], params: &'a [ast::Param], ret: Option<&'a ast::Type>, outer: ScopeId) {
        let seen = self.scopes.seen(outer);
        let scope = self.type_scope((outer, seen), type_params, &[], &mut Subst::default());
        let names = self.new_scope(scope);
        for p in params {
            self.declare_in(names, &p.name, Entity::Bad);
        }
        if let Ok(resolved) = self.resolve_params(params, scope) {
            for p in &resolved {
                if let Some(d) = &p.ast.default {
                    let what = format!("the default value of `{}`", p.ast.name.name);
                    let _ = self.in_scope(scope, |cx| {
                        let v = cx.pure(d, &what)?;
                        if p.ty.has_var() { Ok(v) } else { cx.coerce(v, &p.ty, &what) }
                    });
                }
            }
        }
        if let Some(t) = ret {
            let _ = self.in_scope(scope, |cx| cx.resolve(t));
        }
    }

    fn extern_signatures(&mut self, e: &'a ast::ExternDecl) {
        let outer = self.type_scope((ScopeId::GLOBAL, u32::MAX), &e.type_params, &[], &mut Subst::default());
        let mut first: HashMap<(&str, Vec<&str>), &ast::Method> = HashMap::new();
        for m in &e.methods {
            // Calls tell methods apart by the number and the names of parameters.
            let key = (m.name.name.as_str(), m.params.iter().map(|p| p.name.name.as_str()).collect());
            if let Some(first) = first.insert(key, m) {
                let message = format!("method `{}` is declared twice with the same parameters", m.name.name);
                let d = Diagnostic::error("duplicate", m.span, message);
                self.report(d.with_place(first.span, "first declared here"));
            }
            self.signature(&m.type_params, &m.params, m.ret.as_ref(), outer);
            if m.ret.is_none() {
                self.constructor_types(m, outer);
            }
        }
    }

    /// A parser or control cannot be handed to an extern.
    fn constructor_types(&mut self, m: &'a ast::Method, outer: ScopeId) {
        for p in &m.params {
            if let Ok(t @ Type::Block(..)) = self.in_scope(outer, |cx| cx.resolve(&p.ty)) {
                self.error("type-mismatch", p.ty.span, format!("a parameter of an extern's constructor cannot be of type {t}"));
            }
        }
    }

    /// The parser or control declared by `decl`.
    fn unused_block<T>(&mut self, decl: &T) {
        if !self.whole.lowers(decl) {
            return;
        }
        let address = std::ptr::from_ref(decl) as usize;
        let found = self.decls.find_block(|b| match b {
            BlockDecl::Parser(p, _) => std::ptr::from_ref(*p) as usize == address,
            BlockDecl::Control(c, _) => std::ptr::from_ref(*c) as usize == address,
        });
        let Some(id) = found else { return };
        let region = if self.decls.block(id).is_parser() { Region::Parser } else { Region::Control };
        let body = self.scratch(region, "");
        let (_, _) = self.block(|cx| cx.in_body(body, |cx| cx.try_block(id)));
    }

    fn try_block(&mut self, id: BlockId) -> R<()> {
        let decl = self.decls.block(id);
        let span = decl.name().span;
        let targs: Vec<Type> = decl.type_params().iter().map(|p| self.opaque(&p.name)).collect();
        let mut subst = Subst::default();
        let scope = self.type_scope((ScopeId::GLOBAL, decl.seen()), decl.type_params(), &targs, &mut subst);
        let constructor = self.resolve_params(decl.constructor_params(), scope)?;
        if let Some(p) = constructor.iter().find(|p| matches!(p.ty, Type::Package(..))) {
            return Err(self.error("type-mismatch", p.ast.ty.span, "a parameter of a parser or control cannot be a package"));
        }
        let mut args = Vec::new();
        for p in &constructor {
            args.push(self.stand_in_constant(&p.ty, p.ast.span)?);
        }
        let params = self.block_params(id, &targs, &mut subst)?;
        if let Some(p) = params.iter().find(|p| matches!(p.ty, Type::Package(..) | Type::Block(..))) {
            let d =
                Diagnostic::error("type-mismatch", p.ast.ty.span, format!("parameter `{}` cannot be of type {}", p.ast.name.name, p.ty));
            return Err(self.report(d.with_help("take it as a constructor parameter, in the second pair of parentheses")));
        }
        let mut values = Vec::new();
        for p in &params {
            values.push(self.stand_in(&p.ty, &p.ast.name.name, p.ast.span)?);
        }
        let name = decl.name().name.clone();
        let obj = self.new_object(name, ObjKind::block(id, targs, args, true));
        if decl.is_parser() {
            self.inline_parser(obj, &params, values.into(), Next::Accept, false, span).map(|_| ())
        } else {
            self.run_control(obj, &params, values.into(), Binding::Share, span)
        }
    }

    fn unused_function(&mut self, f: &'a ast::FunctionDecl) {
        let Some(block) = &f.body else { return };
        if !self.whole.lowers(f) {
            return;
        }
        let seen = self.decl_seen(f);
        self.try_function(f, block, (ScopeId::GLOBAL, seen));
    }

    fn unused_tables(&mut self) {
        let mut i = 0;
        while i < self.tables.len() && !self.sink.is_stopped() {
            let t = self.tables[i].clone();
            if t.id.is_none() && !t.failed {
                let name = &t.decl.name;
                self.warn("unused", name.span, format!("table `{}` is never applied", name.name));
                self.active = t.active;
                let (_, _) = self.block(|cx| cx.in_body(t.body, |cx| cx.lower_table(i)));
                self.active = Vec::new();
            }
            i += 1;
        }
    }

    fn unused_actions(&mut self) {
        let mut i = 0;
        while i < self.actions.len() && !self.sink.is_stopped() {
            let a = self.actions[i].clone();
            if !a.used {
                self.actions[i].used = true;
                let body = Body { stage: a.stage, by_table: true, ..self.scratch(Region::Action, &a.full_name) };
                let (_, _) = self.block(|cx| {
                    cx.in_body(body, |cx| {
                        let scope = cx.scopes.add(a.scope, a.seen);
                        let params = cx.resolve_params(&a.decl.params, scope)?;
                        for p in &params {
                            let v = cx.stand_in(&p.ty, &p.ast.name.name, p.ast.span)?;
                            let access = if p.writes() { Access::Write } else { Access::Read("an action parameter") };
                            cx.declare_in(scope, &p.ast.name, Entity::Value(Tv { access, ..v }));
                        }
                        cx.body.scope = scope;
                        let inner = cx.body.clone();
                        cx.callable_body(inner, &a.decl.body).map(|_| ())
                    })
                });
            }
            i += 1;
        }
    }
}
