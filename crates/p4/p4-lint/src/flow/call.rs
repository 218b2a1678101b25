//! What does a call do to its arguments? By the directions of the parameters (P4_16 §6.8); where these are not known, everything may be.

use super::state::{INVALID, State, UNSET, VALID};
use super::{Flow, Local, MAX_CALLS};
use crate::names::{Global, Shape};
use p4_syntax::ast::{self, Arg, Direction, Expr, ExprKind, TypeKind};
use std::collections::HashMap;

impl<'a> Flow<'a, '_> {
    pub(super) fn call(&mut self, callee: &'a Expr, args: &'a [Arg]) {
        match &callee.kind {
            ExprKind::Member { base, member } => self.method(base, &member.name, args),
            ExprKind::Path(path) => {
                if let Some(action) = self.find_action(path) {
                    return self.action(action, args);
                }
                let candidates: Vec<&'a [ast::Param]> = match (self.lookup(path), self.names.global(&path.name.name)) {
                    (None, Some(Global::Functions(all))) => all.iter().map(|f| f.params.as_slice()).collect(),
                    _ => Vec::new(),
                };
                self.arguments(&candidates, args);
            }
            _ => self.arguments(&[], args),
        }
    }

    fn method(&mut self, base: &'a Expr, name: &str, args: &'a [Arg]) {
        if name == "apply" {
            return self.apply(base, args);
        }
        if let Some(p) = self.place(base)
            && let Shape::Header(fields) = &*p.shape
        {
            match name {
                "setValid" => {
                    // What the fields of an invalid header hold is lost.
                    if self.state.only(p.slot, INVALID) {
                        (1..=fields.len() as u32).for_each(|i| self.state.set(p.slot + i, Some(UNSET)));
                    }
                    self.state.header(p.slot, VALID);
                }
                "setInvalid" => self.state.header(p.slot, INVALID),
                _ => {}
            }
            return args.iter().for_each(|a| self.expr(&a.value));
        }
        let ty = match &base.kind {
            ExprKind::Path(path) => match self.lookup(path) {
                Some(Local::Instance(ty)) => Some(*ty),
                Some(Local::Var(v)) => Some(self.vars[*v].ty),
                None => match self.names.global(&path.name.name) {
                    Some(Global::Instance(ty)) => Some(*ty),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        let Some(declared) = ty.and_then(|ty| self.extern_of(ty)) else {
            // A stack's or union's method, or one of something that is not followed.
            self.base(base);
            return self.arguments(&[], args);
        };
        let candidates: Vec<&'a [ast::Param]> =
            declared.methods.iter().filter(|m| m.ret.is_some() && m.name.name == name).map(|m| m.params.as_slice()).collect();
        self.arguments(&candidates, args);
        if name == "extract"
            && let Some(p) = args.first().and_then(|a| self.place(&a.value))
            && matches!(&*p.shape, Shape::Header(_))
        {
            self.state.header(p.slot, VALID);
        }
    }

    fn extern_of(&self, ty: &ast::Type) -> Option<&'a ast::ExternDecl> {
        let TypeKind::Named { path, .. } = &ty.kind else { return None };
        match self.names.global(&path.name.name) {
            Some(Global::Extern(e)) => Some(e),
            _ => None,
        }
    }

    fn apply(&mut self, base: &'a Expr, args: &'a [Arg]) {
        let ExprKind::Path(path) = &base.kind else { return self.arguments(&[], args) };
        let block = match self.lookup(path) {
            Some(Local::Table(t)) => {
                let t = *t;
                self.table(t);
                return;
            }
            Some(Local::Instance(ty)) => match &ty.kind {
                TypeKind::Named { path, .. } => self.names.global(&path.name.name),
                _ => None,
            },
            None => self.names.global(&path.name.name),
            _ => None,
        };
        let params = match block {
            Some(Global::Parser(p)) => Some(p.params.as_slice()),
            Some(Global::Control(c)) => Some(c.params.as_slice()),
            _ => None,
        };
        self.arguments(params.as_slice(), args);
    }

    /// Arguments of something that is not walked.
    fn arguments(&mut self, candidates: &[&'a [ast::Param]], args: &'a [Arg]) {
        let takes = |params: &[ast::Param]| {
            let optional = |p: &ast::Param| p.default.is_some() || ast::find_annotation(&p.annotations, "optional").is_some();
            args.len() <= params.len() && params.iter().filter(|p| !optional(p)).count() <= args.len()
        };
        let fitting: Vec<&[ast::Param]> = candidates.iter().copied().filter(|p| takes(p)).collect();
        let directions: Vec<Option<Option<Direction>>> = args
            .iter()
            .enumerate()
            .map(|(i, a)| {
                let mut all = fitting.iter().map(|params| param_of(params, i, a).map(|p| p.direction));
                let first = all.next().flatten()?;
                all.all(|d| d == Some(first)).then_some(first)
            })
            .collect();
        for (a, d) in args.iter().zip(&directions) {
            match d {
                Some(Some(Direction::Out)) => {}
                Some(_) => self.expr(&a.value),
                None => match self.place(&a.value) {
                    Some(p) => self.touch(&p),
                    None => self.expr(&a.value),
                },
            }
        }
        for (a, d) in args.iter().zip(&directions) {
            if matches!(d, Some(Some(Direction::Out | Direction::InOut))) {
                self.write(&a.value, None);
            }
        }
    }

    /// A call may read or write a place.
    fn touch(&mut self, p: &super::Place<'a>) {
        self.read.insert(p.var);
        for slot in p.slots() {
            for d in self.state.definitions(slot) {
                if let Some(d) = self.definitions.get_mut(d as usize) {
                    d.read = true;
                }
            }
            self.state.set(slot, None);
        }
    }

    /// Walks an action where it is called, or run by a table: then with the arguments of the table's list, and others from its entries.
    pub(super) fn action(&mut self, a: &'a ast::ActionDecl, args: &'a [Arg]) {
        if self.calls >= MAX_CALLS {
            self.complete = false;
            return;
        }
        let direction = |i: usize, arg: &Arg| param_of(&a.params, i, arg).and_then(|p| p.direction);
        for (i, arg) in args.iter().enumerate() {
            if direction(i, arg) != Some(Direction::Out) {
                self.expr(&arg.value);
            }
        }
        self.calls += 1;
        let inner = self.scopes.split_off(self.outer.min(self.scopes.len()));
        self.scopes.push(HashMap::new());
        a.params.iter().for_each(|p| self.param(p));
        let loops = std::mem::take(&mut self.loops);
        self.returns.push(State::default());
        self.block(&a.body.stmts);
        self.end_of_call();
        self.loops = loops;
        self.end_results(&a.params, &a.name.name);
        self.leave_scope();
        self.scopes.extend(inner);
        self.calls -= 1;
        for (i, arg) in args.iter().enumerate() {
            if matches!(direction(i, arg), Some(Direction::Out | Direction::InOut)) {
                self.write(&arg.value, None);
            }
        }
    }
}

/// The parameter that an argument is for.
fn param_of<'p>(params: &'p [ast::Param], at: usize, arg: &Arg) -> Option<&'p ast::Param> {
    match &arg.name {
        Some(name) => params.iter().find(|p| p.name.name == name.name),
        None => params.get(at),
    }
}
