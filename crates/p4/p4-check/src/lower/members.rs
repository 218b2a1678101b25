//! What does an instance bring along? The bodies of its extern's abstract methods, `this` in them, and arrays of instances
//! (P4_16 §11.3.1). They are checked; nothing runs them.

use super::args::Subst;
use super::cx::Cx;
use super::instances::{ObjKind, RegisterProgram};
use crate::names::scope::{Entity, ScopeId};
use crate::names::sink::R;
use crate::types::*;
use p4_syntax::{Diagnostic, Span, ast};

/// Most instances in one array.
const MAX_INSTANCES: u32 = 1024;

impl<'a> Cx<'a> {
    /// Checks the `= { ... }` of an instance against what its extern leaves abstract.
    pub(crate) fn members(&mut self, i: &'a ast::Instantiation, v: &Tv) -> R<()> {
        let members = i.members.as_deref().unwrap_or(&[]);
        let Type::Extern(id, targs) = &v.ty else {
            return match members {
                [] if i.members.is_none() => Ok(()),
                _ => Err(self.error("members", i.name.span, format!("only an instance of an extern has members, not one of {}", v.ty))),
            };
        };
        let decl = self.decls.ext(*id);
        let mut failed = None;
        for m in members {
            if let Err(e) = self.member_of(m, decl, targs, v) {
                failed = Some(e);
            }
        }
        for wanted in decl.methods.iter().filter(|m| m.is_abstract && ast::find_annotation(&m.annotations, "optional").is_none()) {
            let given = |d: &ast::Decl| matches!(&d.kind, ast::DeclKind::Function(f) if f.name.name == wanted.name.name);
            if !members.iter().any(given) {
                let message =
                    format!("`{}` lacks method `{}`, which extern `{}` leaves abstract", i.name.name, wanted.name.name, decl.name.name);
                let d = Diagnostic::error("members", i.name.span, message).with_place(wanted.span, "declared here");
                failed = Some(self.report(d.with_help(format!("add `= {{ ... {}(...) {{ ... }} }}` behind the name", wanted.name.name))));
            }
        }
        match (failed, members) {
            (Some(e), _) => Err(e),
            (None, []) => Ok(()),
            (None, _) if self.check_only() => Ok(()),
            (None, _) if self.is_tna() => {
                let register = match self.object(v).map(|o| self.kind(o)) {
                    Some(ObjKind::Acts(r)) => *r,
                    _ => return Err(self.unsupported(i.name.span, format!("an instance of `{}` with methods of its own", decl.name.name))),
                };
                for m in members {
                    if let ast::DeclKind::Function(f) = &m.kind {
                        self.acts_by(v, register, f);
                    }
                }
                Ok(())
            }
            (None, _) => Err(self.unsupported(i.name.span, "an instance with methods of its own")),
        }
    }

    /// The body that a register action brings along.
    fn acts_by(&mut self, v: &Tv, register: ObjId, apply: &'a ast::FunctionDecl) {
        let scope = self.body.scope;
        let seen = self.scopes.seen(scope);
        if let Some(obj) = self.object(v) {
            self.objects.set_kind(obj, ObjKind::RegisterAction(RegisterProgram { this: v.clone(), register, apply, scope, seen }));
        }
    }

    fn member_of(&mut self, m: &'a ast::Decl, decl: &'a ast::ExternDecl, targs: &[Type], v: &Tv) -> R<()> {
        let f = match &m.kind {
            ast::DeclKind::Function(f) => f,
            ast::DeclKind::Instantiation(i) => return self.declare_instance(i, &m.annotations, false),
            _ => return Err(self.error("misplaced", m.span, "this cannot be declared here")),
        };
        let Some(body) = &f.body else { return Ok(()) };
        let name = &f.name.name;
        let same: Vec<&'a ast::Method> = decl.methods.iter().filter(|w| w.ret.is_some() && w.name.name == *name).collect();
        let Some(wanted) = same.iter().find(|w| w.is_abstract).copied() else {
            let d = match same.first() {
                Some(w) => {
                    let message =
                        format!("method `{name}` of extern `{}` is not abstract, so an instance cannot define it", decl.name.name);
                    Diagnostic::error("members", f.name.span, message).with_place(w.span, "declared here")
                }
                None => Diagnostic::error("members", f.name.span, format!("extern `{}` has no method `{name}`", decl.name.name)),
            };
            return Err(self.report(d));
        };
        self.same_signature(f, wanted, decl, targs)?;
        let scope = self.inner_scope();
        let seen = self.scopes.seen(scope);
        let outer = self.this.replace(v.clone());
        self.try_function(f, body, (scope, seen));
        self.this = outer;
        Ok(())
    }

    /// A method has the parameters and the result that its extern declares; optional parameters may be left out at the end.
    fn same_signature(&mut self, f: &'a ast::FunctionDecl, wanted: &'a ast::Method, decl: &'a ast::ExternDecl, targs: &[Type]) -> R<()> {
        let mut open = Subst::default();
        let outer = self.type_scope((ScopeId::GLOBAL, u32::MAX), &decl.type_params, targs, &mut open);
        let seen = self.scopes.seen(outer);
        let scope = self.type_scope((outer, seen), &wanted.type_params, &[], &mut open);
        let params = self.resolve_params(&wanted.params, scope)?;
        let here = self.body.scope;
        let seen = self.scopes.seen(here);
        let inner = self.type_scope((here, seen), &f.type_params, &[], &mut open);
        let own = self.resolve_params(&f.params, inner)?;
        let optional = |p: &ast::Param| ast::find_annotation(&p.annotations, "optional").is_some();
        let fits = own.len() <= params.len()
            && params[own.len().min(params.len())..].iter().all(|p| optional(p.ast))
            && own
                .iter()
                .zip(&params)
                .all(|(o, w)| o.ast.direction == w.ast.direction && (o.ty == w.ty || o.ty.has_var() || w.ty.has_var()));
        let ret = self.in_scope(inner, |cx| cx.resolve(&f.ret))?;
        if matches!(ret, Type::Int) {
            return Err(self.int_result(&f.ret));
        }
        let want = match &wanted.ret {
            Some(t) => self.in_scope(scope, |cx| cx.resolve(t))?,
            None => Type::Void,
        };
        if fits && (ret == want || ret.has_var() || want.has_var()) {
            return Ok(());
        }
        let message = format!("method `{}` is not declared as in extern `{}`", f.name.name, decl.name.name);
        Err(self.report(Diagnostic::error("members", f.name.span, message).with_place(wanted.span, "what is wanted")))
    }

    /// `this`: the instance whose method is being looked at.
    pub(crate) fn this(&mut self, span: Span) -> R<Tv> {
        match &self.this {
            Some(v) => Ok(v.clone().at(span)),
            None => Err(self.error("misplaced", span, "`this` may stand in the methods of an instance only")),
        }
    }

    /// `T(args) x[n];` is checked as one instance; how many there are does not matter to its types.
    pub(crate) fn instance_array(&mut self, i: &'a ast::Instantiation, annotations: &'a [ast::Annotation]) -> R<()> {
        let mut elem = &i.ty;
        let mut sizes: Vec<u32> = Vec::new();
        while let ast::TypeKind::Stack { elem: inner, size } = &elem.kind {
            let n = self.const_int(size, "the number of instances")?;
            match u32::try_from(&n) {
                Ok(n) if (1..=MAX_INSTANCES).contains(&n) => sizes.push(n),
                Ok(n) if n > 0 => {
                    return Err(self.error("limit", size.span, format!("an array of more than {MAX_INSTANCES} instances")));
                }
                _ => return Err(self.error("bad-size", size.span, format!("there cannot be {n} instances"))),
            }
            elem = inner;
        }
        if sizes.iter().fold(1u64, |n, s| n.saturating_mul(u64::from(*s))) > u64::from(MAX_INSTANCES) {
            return Err(self.error("limit", i.ty.span, format!("an array of more than {MAX_INSTANCES} instances")));
        }
        let path = self.control_plane_name(&i.name.name, annotations);
        let ty = self.resolve(elem)?;
        let mut v = self.construct(&ty, &i.args, path, annotations, false, i.name.span)?;
        if !self.check_only() {
            return Err(self.unsupported(i.name.span, "an array of instances"));
        }
        for n in sizes {
            let val = Val::Array(vec![v.val; n as usize].into());
            v = Tv { ty: Type::Stack(v.ty.into(), n), val, ..v };
        }
        self.declare(&i.name, Entity::Value(v));
        Ok(())
    }
}
