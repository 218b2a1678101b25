//! What does a call mean? Functions, actions, constructors, tables, and methods of headers, stacks and instances
//! (P4_16 §8.20, §8.17, §8.18).

use super::args::{Binding, Subst};
use super::cx::Cx;
use super::instances::ObjKind;
use super::objects::{accepts, choose};
use crate::names::decls::same_params;
use crate::names::scope::{Entity, ScopeId, nearest};
use crate::names::sink::{R, Reported, count};
use crate::types::*;
use crate::values::body::{Body, Frame, Region};
use p4_ir::Stmt;
use p4_syntax::{BigInt, Diagnostic, Span, ast};

impl<'a> Cx<'a> {
    pub(crate) fn call(&mut self, callee: &'a ast::Expr, targs: &'a [ast::Type], args: &'a [ast::Arg], span: Span) -> R<Tv> {
        match &callee.kind {
            ast::ExprKind::Path(path) => self.call_name(path, targs, args, span),
            ast::ExprKind::Type(t) => {
                let ty = self.resolve(t)?;
                self.construct_anonymous(&ty, args, span)
            }
            ast::ExprKind::Member { base, member } => self.call_member(base, member, targs, args, span),
            _ => Err(self.error("not-callable", callee.span, "this cannot be called")),
        }
    }

    fn resolve_targs(&mut self, targs: &'a [ast::Type]) -> R<Vec<Type>> {
        targs.iter().map(|t| self.resolve(t)).collect()
    }

    fn call_name(&mut self, path: &'a ast::Path, targs: &'a [ast::Type], args: &'a [ast::Arg], span: Span) -> R<Tv> {
        let found = self.lookup(path)?;
        let name = &path.name.name;
        match &found[0] {
            Entity::Function(_) => {
                let overloads: Vec<&'a ast::FunctionDecl> =
                    found.iter().filter_map(|e| if let Entity::Function(f) = e { Some(*f) } else { None }).collect();
                let decl = match overloads.iter().find(|f| accepts(&f.params, args)) {
                    Some(f) => *f,
                    // The call is wrong whichever was meant; the one nearest in length says how.
                    None => overloads.iter().min_by_key(|f| f.params.len().abs_diff(args.len())).copied().unwrap_or(overloads[0]),
                };
                self.note_deprecated(name, path.name.span, decl.name.span);
                self.call_function(decl, targs, args, span)
            }
            Entity::Action(index, _) => {
                if !targs.is_empty() {
                    return Err(self.error("arity", span, format!("action `{name}` takes no type arguments")));
                }
                self.call_action(*index, args, span)?;
                Ok(Tv::value(Type::Void, Val::None, span))
            }
            Entity::Extern(id) => {
                let t = Type::Extern(*id, self.resolve_targs(targs)?.into());
                self.construct_anonymous(&t, args, span)
            }
            Entity::Block(id) => {
                let t = Type::Block(*id, self.resolve_targs(targs)?.into());
                self.construct_anonymous(&t, args, span)
            }
            Entity::Package(id) => {
                let t = Type::Package(*id, self.resolve_targs(targs)?.into());
                self.construct_anonymous(&t, args, span)
            }
            Entity::Type(t @ (Type::Extern(..) | Type::Block(..) | Type::Package(..))) => {
                let t = t.clone();
                self.construct_anonymous(&t, args, span)
            }
            Entity::Table(_) => {
                let d = Diagnostic::error("not-callable", span, format!("table `{name}` is not called"));
                Err(self.report(d.with_help(format!("apply it: `{name}.apply()`"))))
            }
            Entity::Value(v) if v.ty.is_bad() => Err(self.poisoned()),
            Entity::Value(v) if matches!(v.ty, Type::Block(..)) => {
                let d = Diagnostic::error("not-callable", span, format!("`{name}` is not called"));
                Err(self.report(d.with_help(format!("apply it: `{name}.apply(...)`"))))
            }
            _ => Err(self.error("not-callable", path.span, format!("`{name}` cannot be called"))),
        }
    }

    /// `C(args)` as an argument.
    fn construct_anonymous(&mut self, ty: &Type, args: &'a [ast::Arg], span: Span) -> R<Tv> {
        let name = match ty {
            Type::Extern(id, _) => self.decls.ext(*id).name.name.clone(),
            Type::Block(id, _) => self.decls.block(*id).name().name.clone(),
            Type::Package(id, _) => self.decls.package(*id).name.name.clone(),
            _ => return Err(self.error("not-callable", span, format!("{ty} has no constructor"))),
        };
        if let Type::Extern(id, _) = ty {
            let methods = &self.decls.ext(*id).methods;
            let open = methods.iter().find(|m| m.is_abstract && ast::find_annotation(&m.annotations, "optional").is_none());
            if let Some(m) = open {
                let message = format!("extern `{name}` leaves method `{}` abstract, so it needs a declared instance", m.name.name);
                let d = Diagnostic::error("members", span, message);
                return Err(self.report(d.with_help(format!("declare `{name}(...) x = {{ ... }};`"))));
            }
        }
        let path = self.local_name(&name);
        self.construct(ty, args, path, &[], true, span)
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Functions (P4_16 §10)

    fn call_function(&mut self, decl: &'a ast::FunctionDecl, targs: &'a [ast::Type], args: &'a [ast::Arg], span: Span) -> R<Tv> {
        let name = &decl.name.name;
        let targs = self.resolve_targs(targs)?;
        if !targs.is_empty() && targs.len() != decl.type_params.len() {
            let message = format!("`{name}` takes {}, not {}", count(decl.type_params.len(), "type argument"), targs.len());
            return Err(self.error("arity", span, message));
        }
        let seen = self.decl_seen(decl);
        let mut subst = Subst::default();
        let scope = self.type_scope((ScopeId::GLOBAL, seen), &decl.type_params, &targs, &mut subst);
        let params = self.resolve_params(&decl.params, scope)?;
        let ret = self.in_scope(scope, |cx| cx.resolve(&decl.ret))?;
        if matches!(ret, Type::Int) && decl.body.is_some() {
            return Err(self.int_result(&decl.ret));
        }
        let found = self.match_args(name, &decl.params, args, span)?;
        let mut args = self.eval_args(name, &params, &found, &mut subst, scope, span)?;
        if let Some(v) = args.values.iter().find(|v| matches!(v.ty, Type::Block(..) | Type::Package(..))) {
            let message = format!("an argument of a function cannot be of type {}", v.ty);
            return Err(self.error("type-mismatch", v.span, message));
        }
        let ret = self.substitute(&ret, &subst, span)?;
        let Some(body) = &decl.body else {
            let values = self.settle(args)?;
            return self.extern_function(decl, &values, &ret, span);
        };
        if ret.has_var() {
            return Err(self.error("inference", span, format!("the result type of `{name}` is not determined")));
        }
        if !matches!(self.body.region, Region::Parser | Region::Control | Region::Action | Region::Function) {
            return Err(self.error("not-const", span, "functions cannot be called at top level"));
        }
        // A generic one is looked at by itself too: here its type parameters are known.
        if decl.type_params.is_empty() {
            self.whole.lowers(decl);
        }
        // The body sees the type parameters as what they were found to be.
        let full: Vec<Type> = match targs.is_empty() {
            true => subst.open.iter().map(|(i, _)| subst.found.get(i).cloned().unwrap_or(Type::Bad)).collect(),
            false => targs,
        };
        let scope = self.type_scope((ScopeId::GLOBAL, seen), &decl.type_params, &full, &mut Subst::default());
        let path = self.local_name(name);
        for (v, p) in args.values.iter_mut().zip(&params) {
            if matches!(v.ty, Type::Bad) {
                v.ty = p.ty.clone();
            }
        }
        let (_, copy_out) = self.bind(scope, &path, &params, args, Binding::Share)?;
        let result = match &ret {
            Type::Void => None,
            t => {
                let val = self.storage(&format!("{path}.return"), t, span)?;
                Some(Tv { ty: t.clone(), val, access: Access::Write, span })
            }
        };
        let mut frames = self.body.frames.clone();
        frames.push(Frame { result: result.clone(), copy_out: copy_out.clone(), ..Frame::default() });
        let inner = Body { scope, region: Region::Function, path, frames, state: None, ..self.body.clone() };
        if result.is_some() && !always_returns(&body.stmts) {
            let d = Diagnostic::error("no-return", decl.name.span, format!("function `{name}` may end without returning a value"));
            self.report(d);
        }
        let block = self.nested(span, |cx| cx.callable_body(inner, body))?;
        self.build.append(block);
        self.copy_out(&copy_out)?;
        match result {
            None => Ok(Tv::value(Type::Void, Val::None, span)),
            Some(r) => {
                if let Val::Place(p4_ir::LValue::Var(v), _) = &r.val {
                    self.build.set_stable(*v);
                }
                Ok(Tv { access: Access::Read("a computed value"), ..r })
            }
        }
    }

    /// A result has storage, and a number of any size has none.
    pub(crate) fn int_result(&mut self, ret: &ast::Type) -> Reported {
        let d = Diagnostic::error("type-mismatch", ret.span, "a function cannot have a result of type int");
        self.report(d.with_help("give it a width, such as bit<32>"))
    }

    /// How many top-level declarations a top-level function sees: those before it.
    pub(crate) fn decl_seen(&self, decl: &'a ast::FunctionDecl) -> u32 {
        self.scopes
            .globals(&decl.name.name)
            .find(|(_, e, _)| matches!(e, Entity::Function(f) if std::ptr::eq(*f, decl)))
            .map_or(u32::MAX, |(seq, ..)| seq)
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Methods

    fn call_member(
        &mut self,
        base: &'a ast::Expr,
        member: &'a ast::Ident,
        targs: &'a [ast::Type],
        args: &'a [ast::Arg],
        span: Span,
    ) -> R<Tv> {
        if member.name == "apply" && self.body.region == Region::Action {
            let d = Diagnostic::error("misplaced", span, "an action cannot apply anything: no table, parser or control");
            return Err(self.report(d.with_help("apply it in the control's `apply` block")));
        }
        if let Some(table) = self.table_of(base)? {
            return self.call_table(table, member, args, span);
        }
        if let Some(ty) = self.type_base(base)? {
            if let Some(v) = self.size_method(&ty, member, args, span)? {
                return Ok(v);
            }
            return match (&ty, member.name.as_str()) {
                (Type::Block(id, targs), "apply") => {
                    self.apply_anonymous(*id, targs, args, span)?;
                    Ok(Tv::value(Type::Void, Val::None, span))
                }
                (Type::Bad, _) => Err(self.poisoned()),
                _ => Err(self.error("unknown-member", member.span, format!("{ty} has no method `{}`", member.name))),
            };
        }
        let v = self.expr(base)?;
        if v.ty.is_bad() {
            return Err(self.poisoned());
        }
        if let Some(size) = self.size_method(&v.ty.clone(), member, args, span)? {
            return Ok(size);
        }
        match &v.ty {
            Type::Composite(c) if c.kind != Kind::Struct => self.header_method(&v, member, args, span),
            Type::Stack(..) => self.stack_method(&v, member, args, span),
            Type::Extern(id, ext) => {
                let (id, ext) = (*id, ext.clone());
                self.extern_method(&v, id, &ext, member, targs, args, span)
            }
            Type::Block(id, _) => {
                let decl = self.decls.block(*id);
                let Some(obj) = self.object(&v) else { return Err(self.bug(span, "an instance")) };
                if member.name != "apply" {
                    let message = format!("a parser or control has no method `{}`", member.name);
                    return Err(self.unknown_member(member, message, Some("apply".to_owned())));
                }
                if decl.is_parser() {
                    self.apply_parser(obj, args, span)?
                } else {
                    self.apply_control(obj, args, span)?
                }
                Ok(Tv::value(Type::Void, Val::None, span))
            }
            t => Err(self.error("unknown-member", member.span, format!("{t} has no method `{}`", member.name))),
        }
    }

    /// The type a method's base names: also a parser or control, for `C.apply(...)`.
    fn type_base(&mut self, base: &'a ast::Expr) -> R<Option<Type>> {
        if let ast::ExprKind::Path(path) = &base.kind {
            match self.find(path).as_deref() {
                Ok([Entity::Block(id), ..]) => return Ok(Some(Type::Block(*id, [].into()))),
                Ok([Entity::Generic(_) | Entity::Extern(_) | Entity::Package(_), ..]) => {
                    return Err(self.error("not-a-value", base.span, "this names a type, not a value"));
                }
                _ => {}
            }
        }
        self.as_type(base)
    }

    fn no_args(&mut self, member: &ast::Ident, args: &[ast::Arg], span: Span) -> R<()> {
        if args.is_empty() {
            return Ok(());
        }
        Err(self.error("arity", span, format!("`{}` takes no arguments", member.name)))
    }

    /// `minSizeInBits()` and its siblings, of a type or a value (P4_16 §9).
    fn size_method(&mut self, ty: &Type, member: &ast::Ident, args: &'a [ast::Arg], span: Span) -> R<Option<Tv>> {
        let (max, bytes) = match member.name.as_str() {
            "minSizeInBits" => (false, false),
            "minSizeInBytes" => (false, true),
            "maxSizeInBits" => (true, false),
            "maxSizeInBytes" => (true, true),
            _ => return Ok(None),
        };
        if matches!(ty, Type::Extern(..) | Type::Block(..) | Type::Bad) {
            return Ok(None);
        }
        self.no_args(member, args, span)?;
        let bits = if max { ty.max_wire_bits() } else { ty.wire_bits() };
        match bits {
            Some(b) => Ok(Some(Tv::int(BigInt::from(if bytes { b.div_ceil(8) } else { b }), span))),
            None => Err(self.error("type-mismatch", span, format!("{ty} has no size on the wire"))),
        }
    }

    fn header_method(&mut self, v: &Tv, member: &ast::Ident, args: &'a [ast::Arg], span: Span) -> R<Tv> {
        let is_union = v.ty.composite(Kind::Union).is_some();
        match member.name.as_str() {
            "isValid" => {
                self.no_args(member, args, span)?;
                Ok(Tv::bool(self.validity(v, span)?, span))
            }
            name @ ("setValid" | "setInvalid") if !is_union => {
                self.no_args(member, args, span)?;
                self.writable(v, &format!("the header of `{name}`"))?;
                let Val::Header(h) = &v.val else { return Err(self.bug(span, "a header")) };
                let h = self.pin_member(h);
                self.emit(Stmt::SetValid(h.clone(), name == "setValid"));
                if name == "setInvalid" {
                    self.only_member(&h);
                }
                Ok(Tv::value(Type::Void, Val::None, span))
            }
            name => {
                let near = nearest(name, ["isValid", "setValid", "setInvalid"].into_iter());
                let message = format!("{} has no method `{name}`", v.ty);
                Err(self.unknown_member(member, message, near))
            }
        }
    }

    fn stack_method(&mut self, v: &Tv, member: &ast::Ident, args: &'a [ast::Arg], span: Span) -> R<Tv> {
        let name = member.name.as_str();
        if !matches!(name, "push_front" | "pop_front") {
            let near = nearest(name, ["push_front", "pop_front"].into_iter());
            return Err(self.unknown_member(member, format!("a header stack has no method `{name}`"), near));
        }
        self.writable(v, &format!("the stack of `{name}`"))?;
        let [arg] = args else {
            return Err(self.error("arity", span, format!("`{name}` takes 1 argument, not {}", args.len())));
        };
        let n = self.const_int(&arg.value, "the number of elements")?;
        let Ok(n) = u32::try_from(&n) else {
            return Err(self.error("out-of-range", arg.span, format!("{n} elements cannot be moved")));
        };
        if self.check_only() {
            return Ok(Tv::value(Type::Void, Val::None, span));
        }
        if self.layout.union_stack(&v.val).is_some() {
            self.move_unions(&v.val, n, name == "push_front", span)?;
            return Ok(Tv::value(Type::Void, Val::None, span));
        }
        let Val::Stack(id, elements) = &v.val else { return Err(self.unsupported(span, format!("`{name}` of this stack"))) };
        let n = n.min(elements.len() as u32);
        self.emit(if name == "push_front" { Stmt::Push(*id, n) } else { Stmt::Pop(*id, n) });
        Ok(Tv::value(Type::Void, Val::None, span))
    }

    #[allow(clippy::too_many_arguments)]
    fn extern_method(
        &mut self,
        v: &Tv,
        id: ExternId,
        ext: &[Type],
        member: &'a ast::Ident,
        targs: &'a [ast::Type],
        args: &'a [ast::Arg],
        span: Span,
    ) -> R<Tv> {
        let decl = self.decls.ext(id);
        let name = &member.name;
        let methods: Vec<&'a ast::Method> = decl.methods.iter().filter(|m| m.ret.is_some() && m.name.name == *name).collect();
        let Some(first) = methods.first() else {
            let near = nearest(name, decl.methods.iter().filter(|m| m.ret.is_some()).map(|m| m.name.name.as_str()));
            return Err(self.unknown_member(member, format!("extern `{}` has no method `{name}`", decl.name.name), near));
        };
        let method = choose(&methods, args).unwrap_or(first);
        let as_well = |m: &&&'a ast::Method| {
            !same_params(&m.params, &method.params)
                && m.params.len() == args.len()
                && method.params.len() == args.len()
                && accepts(&m.params, args)
        };
        if let Some(other) = methods.iter().find(as_well) {
            let message = format!("this call of `{name}` fits two methods");
            let d =
                Diagnostic::error("ambiguous", span, message).with_place(method.span, "this one").with_place(other.span, "and this one");
            return Err(self.report(d.with_help("name the arguments: `parameter = value`")));
        }
        self.note_deprecated(name, member.span, method.name.span);
        self.note_method(member, method);
        let given = self.resolve_targs(targs)?;
        if !given.is_empty() && given.len() != method.type_params.len() {
            let message = format!("`{name}` takes {}, not {}", count(method.type_params.len(), "type argument"), given.len());
            return Err(self.error("arity", span, message));
        }
        let mut subst = Subst::default();
        let outer = self.type_scope((ScopeId::GLOBAL, u32::MAX), &decl.type_params, ext, &mut subst);
        let seen = self.scopes.seen(outer);
        let scope = self.type_scope((outer, seen), &method.type_params, &given, &mut subst);
        let params = self.resolve_params(&method.params, scope)?;
        let ret = match &method.ret {
            Some(t) => self.in_scope(scope, |cx| cx.resolve(t))?,
            None => Type::Void,
        };
        let found = self.match_args(name, &method.params, args, span)?;
        let outer = std::mem::replace(&mut self.extracting, name == "extract" && decl.name.name == "packet_in");
        let args = self.eval_args(name, &params, &found, &mut subst, scope, span);
        self.extracting = outer;
        let values = self.settle(args?)?;
        let ret = self.substitute(&ret, &subst, span)?;
        let Some(obj) = self.object(v) else { return Err(self.bug(span, "an instance")) };
        self.extern_method_call(obj, &decl.name.name, name, &values, &ret, span)
    }

    /// The kind of an instance.
    pub(crate) fn kind(&self, obj: ObjId) -> &ObjKind<'a> {
        self.objects.kind(obj)
    }

    /// Lowers a function or method by itself, for its faults only.
    pub(crate) fn try_function(&mut self, f: &'a ast::FunctionDecl, block: &'a ast::Block, outer: (ScopeId, u32)) {
        let body = self.scratch(Region::Function, &f.name.name);
        let (_, _) = self.block(|cx| {
            cx.in_body(body, |cx| {
                let targs: Vec<Type> = f.type_params.iter().map(|p| cx.opaque(&p.name)).collect();
                let scope = cx.type_scope(outer, &f.type_params, &targs, &mut Subst::default());
                let params = cx.resolve_params(&f.params, scope)?;
                for p in &params {
                    let v = cx.stand_in(&p.ty, &p.ast.name.name, p.ast.span)?;
                    let access = if p.writes() { Access::Write } else { Access::Read("an `in` parameter") };
                    cx.declare_in(scope, &p.ast.name, Entity::Value(Tv { access, ..v }));
                }
                let ret = cx.in_scope(scope, |cx| cx.resolve(&f.ret))?;
                if matches!(ret, Type::Int) {
                    return Err(cx.int_result(&f.ret));
                }
                if !matches!(ret, Type::Void) {
                    let result = cx.stand_in(&ret, "return", f.ret.span)?;
                    if let Some(frame) = cx.body.frames.last_mut() {
                        frame.result = Some(result);
                    }
                }
                cx.body.scope = scope;
                let inner = cx.body.clone();
                cx.callable_body(inner, block).map(|_| ())
            })
        });
    }
}

/// Whether every way through the statements ends in `return` or `exit`.
fn always_returns(stmts: &[ast::Stmt]) -> bool {
    stmts.iter().any(|s| match &s.kind {
        ast::StmtKind::Return(_) | ast::StmtKind::Exit => true,
        ast::StmtKind::Block(b) => always_returns(&b.stmts),
        ast::StmtKind::If { arms, otherwise: Some(o) } => {
            arms.iter().all(|a| always_returns(std::slice::from_ref(&a.then))) && always_returns(std::slice::from_ref(o))
        }
        ast::StmtKind::Switch { cases, .. } => {
            cases.iter().any(|c| matches!(c.label.kind, ast::ExprKind::Default))
                && cases.iter().all(|c| c.body.as_ref().is_none_or(|b| always_returns(&b.stmts)))
        }
        _ => false,
    })
}
