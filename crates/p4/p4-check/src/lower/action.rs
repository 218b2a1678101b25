//! How does an action run? From a table, as code with parameters that entries fill; or called, inlined (P4_16 §14.1).

use super::args::{Binding, Subst};
use super::cx::Cx;
use super::declared::Action;
use super::ids::IdOf;
use super::stmt::close_label;
use crate::names::scope::{Entity, ScopeId};
use crate::names::sink::{R, count};
use crate::types::wide::{known_numbers, numbers};
use crate::types::*;
use crate::values::body::{Body, Frame, Region, Stage};
use crate::values::origins::origin;
use p4_ir::{ActionCode, ActionId, Stmt};
use p4_syntax::{Diagnostic, Span, ast};
use program::{ActionInfo, ParamInfo};

impl<'a> Cx<'a> {
    pub(crate) fn declare_action(&mut self, decl: &'a ast::ActionDecl, annotations: &'a [ast::Annotation]) {
        let scope = self.body.scope;
        let full_name = self.control_plane_name(&decl.name.name, annotations);
        let first_free = decl.params.iter().position(|p| p.direction.is_none()).unwrap_or(decl.params.len());
        if let Some(p) = decl.params[first_free..].iter().find(|p| p.direction.is_some()) {
            let message = format!("parameter `{}` with a direction must stand before those without", p.name.name);
            let d = Diagnostic::error("direction", p.span, message);
            self.report(d.with_note("parameters without direction are what table entries supply (P4_16 §14.1)"));
        }
        for p in &decl.params {
            match self.resolve(&p.ty) {
                Ok(Type::Int) => {
                    let d = Diagnostic::error("type-mismatch", p.ty.span, "an action's parameter cannot be of type int");
                    self.report(d.with_help("give it a width, such as bit<32>"));
                }
                Ok(t @ (Type::Extern(..) | Type::Block(..) | Type::Package(..) | Type::Str)) => {
                    self.error("type-mismatch", p.ty.span, format!("an action's parameter cannot be of type {t}"));
                }
                _ => {}
            }
        }
        let (seen, stage) = (self.scopes.seen(scope), self.body.stage);
        let action = Action { decl, annotations, scope, seen, full_name, stage, ids: Vec::new(), used: false };
        self.actions.push(action);
        self.declare(&decl.name, Entity::Action(self.actions.len() - 1, decl));
    }

    /// `a(args);` in a control or an action: inlined.
    pub(crate) fn call_action(&mut self, index: usize, args: &'a [ast::Arg], span: Span) -> R<()> {
        if !matches!(self.body.region, Region::Control | Region::Action) {
            return Err(self.error("misplaced", span, "an action can be called from controls and actions only"));
        }
        let action = self.actions[index].clone();
        let decl = action.decl;
        self.actions[index].used = true;
        let scope = self.scopes.add(action.scope, action.seen);
        let params = self.resolve_params(&decl.params, scope)?;
        let found = self.match_args(&decl.name.name, &decl.params, args, span)?;
        let values = self.eval_args(&decl.name.name, &params, &found, &mut Subst::default(), scope, span)?;
        // A top-level action sees no variables but its parameters.
        let how = if action.scope == ScopeId::GLOBAL { Binding::Share } else { Binding::Copy };
        let path = self.local_name(&decl.name.name);
        let (_, copy_out) = self.bind(scope, &path, &params, values, how)?;
        let mut frames = self.body.frames.clone();
        frames.push(Frame { copy_out: copy_out.clone(), ..Frame::default() });
        let body = Body { scope, region: Region::Action, path, frames, state: None, ..self.body.clone() };
        let block = self.nested(span, |cx| cx.callable_body(body, &decl.body))?;
        self.build.append(block);
        self.copy_out(&copy_out)
    }

    /// The statements of an action or function; `return` leaves them.
    pub(crate) fn callable_body(&mut self, body: Body, block: &'a ast::Block) -> R<p4_ir::Block> {
        let (ret, out) = self.block(|cx| {
            cx.in_body(body, |cx| {
                let inner = cx.inner_scope();
                cx.in_scope(inner, |cx| cx.stmts(&block.stmts));
                Ok(cx.body.frames.last().and_then(|f| f.ret))
            })
        });
        Ok(close_label(out, ret?))
    }

    /// The form of an action that a table runs, its directional parameters bound to `bound`, which is evaluated in the
    /// current scope each time the action runs.
    /// A `private` form belongs to that table alone.
    pub(crate) fn table_action(&mut self, index: usize, bound: &'a [ast::Arg], table: &str, private: bool, span: Span) -> R<ActionId> {
        let action = self.actions[index].clone();
        let decl = action.decl;
        let name = &decl.name.name;
        self.actions[index].used = true;
        let directional = decl.params.iter().filter(|p| p.direction.is_some()).count();
        if bound.len() != directional {
            let message = match directional {
                0 => format!("action `{name}` has no parameters with a direction, so it takes no arguments here"),
                n => format!("action `{name}` has {} with a direction; give an argument for each here", count(n, "parameter")),
            };
            return Err(self.error("arity", span, message));
        }
        let mut key = bound.iter().map(|a| self.text(a.span)).collect::<Vec<_>>().join(", ");
        if private {
            key = format!("{key} @ {table}");
        }
        if let Some((_, id)) = action.ids.iter().find(|(k, _)| *k == key) {
            return Ok(*id);
        }
        let id = self.nested(span, |cx| cx.lower_table_action(&action, bound, table, span))?;
        self.actions[index].ids.push((key, id));
        Ok(id)
    }

    fn lower_table_action(&mut self, action: &Action<'a>, bound: &'a [ast::Arg], table: &str, span: Span) -> R<ActionId> {
        let decl = action.decl;
        let scope = self.scopes.add(action.scope, action.seen);
        let params = self.resolve_params(&decl.params, scope)?;
        let path = action.full_name.clone();
        let mut infos = Vec::new();
        let mut vars = Vec::new();
        let (from_table, from_code): (Vec<_>, Vec<_>) = params.iter().cloned().partition(|p| p.ast.direction.is_none());
        let caller = Body { frames: Vec::new(), region: Region::Action, by_table: true, state: None, ..self.body.clone() };
        let (result, body) = self.block(|cx| {
            for p in &from_table {
                let (Some(numbers), false) = (numbers(&p.ty), matches!(p.ty, Type::Error)) else {
                    if p.ty.is_bad() {
                        return Err(cx.poisoned());
                    }
                    if cx.check_only() {
                        let val = cx.storage(&format!("{path}.{}", p.ast.name.name), &p.ty, p.ast.span)?;
                        let value = Tv { ty: p.ty.clone(), val, access: Access::Read("an action parameter"), span: p.ast.name.span };
                        cx.declare_in(scope, &p.ast.name, Entity::Value(value));
                        continue;
                    }
                    // P4Runtime has no other values for them either.
                    let message = format!("an entry cannot supply `{}` of {}, only a number, a bool or an enum", p.ast.name.name, p.ty);
                    return Err(cx.error("type-mismatch", p.ast.span, message));
                };
                let mut places = Vec::new();
                for (end, ty) in &numbers {
                    let v = cx.new_var(&format!("{path}.{}{end}", p.ast.name.name), *ty);
                    vars.push(v);
                    infos.push(ParamInfo { name: format!("{}{end}", parameter_name(p.ast)), width: ty.width() });
                    places.push(Val::Place(p4_ir::LValue::Var(v), *ty));
                }
                let value = Tv {
                    ty: p.ty.clone(),
                    val: if p.ty.scalar().is_some() { places.swap_remove(0) } else { Val::Agg(places.into()) },
                    access: Access::Read("an action parameter"),
                    span: p.ast.name.span,
                };
                cx.declare_in(scope, &p.ast.name, Entity::Value(value));
            }
            let copy_out = cx.in_body(caller.clone(), |cx| {
                let mut found = Vec::new();
                for (i, p) in from_code.iter().enumerate() {
                    let named = bound.iter().find(|a| a.name.as_ref().is_some_and(|n| n.name == p.ast.name.name));
                    found.push(named.or_else(|| bound.get(i).filter(|a| a.name.is_none())));
                    if found[i].is_none() {
                        return Err(cx.error("arity", span, format!("no argument for parameter `{}`", p.ast.name.name)));
                    }
                }
                let values = cx.eval_args(&decl.name.name, &from_code, &found, &mut Subst::default(), scope, span)?;
                cx.bind(scope, &path, &from_code, values, Binding::Copy).map(|(_, c)| c)
            })?;
            let frames = vec![Frame { copy_out: copy_out.clone(), ..Frame::default() }];
            let body = Body { scope, path: path.clone(), frames, stage: action.stage_or(cx.body.stage), ..caller };
            let block = cx.callable_body(body, &decl.body)?;
            cx.build.append(block);
            cx.copy_out(&copy_out)
        });
        result?;
        if exits(&body) {
            self.note_exit();
        }
        let full_name = if action.ids.is_empty() { path } else { format!("{path}.{table}") };
        let id = self.build.ir.program.actions.push(ActionInfo { name: full_name.clone(), full_name, params: infos });
        let code = self.build.ir.actions.push(ActionCode { params: vars, body });
        self.build.ir.origins.hold(p4_ir::origin::Holder::Action(id), origin(decl.name.span.to(decl.body.span)));
        debug_assert_eq!(id, code);
        if let Some((_, first)) = action.ids.first() {
            self.ids.note_form(id, *first);
        } else {
            self.note_id(IdOf::Action(id), action.annotations);
            let mut at = 0;
            for param in &from_table {
                self.note_id(IdOf::Param(id, at), &param.ast.annotations);
                at += numbers(&param.ty).map_or(1, |n| n.len());
            }
        }
        Ok(id)
    }

    /// The arguments of a default action or entry: one for each parameter without direction. Those with a direction are
    /// as in the table's list and may be repeated.
    pub(crate) fn entry_args(&mut self, index: usize, args: Option<&'a [ast::Arg]>, listed: &'a [ast::Arg], span: Span) -> R<Vec<u128>> {
        let action = self.actions[index].clone();
        let decl = action.decl;
        let name = &decl.name.name;
        let scope = self.scopes.add(action.scope, action.seen);
        let params = self.resolve_params(&decl.params, scope)?;
        let wanted: Vec<_> = params.into_iter().filter(|p| p.ast.direction.is_none()).collect();
        let args = args.unwrap_or(&[]);
        // `a(x, 1)` repeats what the list has bound; `a(1)` does not.
        let directional = decl.params.len() - wanted.len();
        let repeated = directional > 0 && args.len() == decl.params.len();
        if repeated {
            for (p, a) in decl.params.iter().zip(args).filter(|(p, _)| p.direction.is_some()) {
                if !listed.iter().any(|l| self.same_text(&l.value, &a.value)) {
                    let message = format!("argument `{}` must be as in the table's list of actions", p.name.name);
                    return Err(self.error("table", a.span, message));
                }
            }
        }
        let mut values = Vec::new();
        let free: Vec<&'a ast::Arg> = match repeated {
            true => decl.params.iter().zip(args).filter(|(p, _)| p.direction.is_none()).map(|(_, a)| a).collect(),
            false => args.iter().collect(),
        };
        if free.len() > wanted.len() {
            let message = format!("action `{name}` takes {}, not {}", count(wanted.len(), "argument"), free.len());
            return Err(self.error("arity", span, message));
        }
        for (i, p) in wanted.iter().enumerate() {
            let named = free.iter().find(|a| a.name.as_ref().is_some_and(|n| n.name == p.ast.name.name));
            let e = match (named.or_else(|| free.get(i).filter(|a| a.name.is_none())), &p.ast.default) {
                (Some(a), _) => self.pure(&a.value, "an action argument")?,
                (None, Some(d)) => self.in_scope(scope, |cx| cx.pure(d, "a default value"))?,
                (None, None) => {
                    let d = Diagnostic::error("arity", span, format!("action `{name}` needs a value for `{}` here", p.ast.name.name));
                    return Err(self.report(d.with_place(p.ast.span, "the parameter")));
                }
            };
            let v = self.coerce(e, &p.ty, &format!("parameter `{}` of `{name}`", p.ast.name.name))?;
            match known_numbers(&v.val) {
                Some(numbers) => values.extend(numbers),
                None if self.check_only() && v.val.is_const() => {}
                None => return Err(self.error("not-const", v.span, "an action argument must be known at compile time")),
            }
        }
        Ok(values)
    }
}

impl Cx<'_> {
    /// Whether two arguments are written alike; the order of named fields does not matter.
    fn same_text(&self, a: &ast::Expr, b: &ast::Expr) -> bool {
        match (&a.kind, &b.kind) {
            (ast::ExprKind::Struct { fields: x, rest: p }, ast::ExprKind::Struct { fields: y, rest: q }) => {
                let same = |f: &ast::FieldInit| y.iter().any(|g| f.name.name == g.name.name && self.same_text(&f.value, &g.value));
                p == q && x.len() == y.len() && x.iter().all(same)
            }
            _ => self.text(a.span) == self.text(b.span),
        }
    }
}

impl Action<'_> {
    /// A top-level action belongs to the stage that uses it.
    fn stage_or(&self, user: Stage) -> Stage {
        if self.stage == Stage::None { user } else { self.stage }
    }
}

fn parameter_name(p: &ast::Param) -> String {
    match ast::find_annotation(&p.annotations, "name").and_then(ast::Annotation::string) {
        Some(s) => s.to_owned(),
        None => p.name.name.clone(),
    }
}

/// Whether a block may exit.
pub(crate) fn exits(block: &[Stmt]) -> bool {
    block.iter().any(|s| match s {
        Stmt::Exit => true,
        Stmt::If(_, a, b) => exits(a) || exits(b),
        Stmt::Switch { cases, default, .. } => cases.iter().any(|(_, b)| exits(b)) || exits(default),
        Stmt::Labeled(_, b) | Stmt::Loop(b) => exits(b),
        _ => false,
    })
}
