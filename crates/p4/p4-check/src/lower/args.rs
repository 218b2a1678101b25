//! Which argument goes to which parameter, and how? Names, defaults, inferred type arguments, directions, and binding by
//! reference or by copy-in and copy-out (P4_16 §6.8, §8.20).

use super::cx::Cx;
use crate::names::scope::{Entity, ScopeId, nearest};
use crate::names::sink::{R, Reported, count};
use crate::types::*;
use crate::values::body::Copies;
use crate::values::places::is_static;
use p4_ir::{HeaderRef, LValue, VarRole};
use p4_syntax::{Diagnostic, Span, ast};
use std::collections::{HashMap, HashSet};

/// A parameter with its type resolved.
#[derive(Clone)]
pub(crate) struct Param<'a> {
    pub ast: &'a ast::Param,
    pub ty: Type,
}

impl Param<'_> {
    pub(crate) fn writes(&self) -> bool {
        matches!(self.ast.direction, Some(ast::Direction::Out | ast::Direction::InOut))
    }
}

/// Type arguments that are being inferred.
#[derive(Default)]
pub(crate) struct Subst {
    pub found: HashMap<u32, Type>,
    /// The variables that this call may bind, with their names.
    pub open: Vec<(u32, String)>,
}

impl Subst {
    /// The type arguments in order; empty if one of them is not known.
    pub(crate) fn all(&self) -> Vec<Type> {
        self.open.iter().map(|(i, _)| self.found.get(i).cloned()).collect::<Option<_>>().unwrap_or_default()
    }
}

/// The arguments of a call after their turns.
pub(crate) struct Args {
    /// One a parameter; of an `out` or `inout` one, the place that it names.
    pub values: Vec<Tv>,
    /// What an `inout` argument's place held at its turn, where evaluating a later argument may have changed that.
    before: Vec<Option<Tv>>,
    /// Positions as written, in which order results are copied out; what is left out comes last.
    order: Vec<usize>,
}

impl From<Vec<Tv>> for Args {
    fn from(values: Vec<Tv>) -> Args {
        Args { before: vec![None; values.len()], order: (0..values.len()).collect(), values }
    }
}

/// How parameters may be bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binding {
    /// The callee touches nothing but its parameters: arguments that do not overlap may stand for them.
    Share,
    /// The callee may touch the caller's variables too: copy everything that can change.
    Copy,
    /// Copy even constants, as another call will bring other arguments.
    Always,
}

impl<'a> Cx<'a> {
    pub(crate) fn resolve_params(&mut self, params: &'a [ast::Param], scope: ScopeId) -> R<Vec<Param<'a>>> {
        let mut out = Vec::new();
        let mut failed = None;
        for p in params {
            match self.in_scope(scope, |cx| cx.resolve(&p.ty)) {
                Ok(Type::Extern(id, targs)) if targs.is_empty() && !self.decls.ext(id).type_params.is_empty() => {
                    let name = &self.decls.ext(id).name.name;
                    let d = Diagnostic::error("arity", p.ty.span, format!("extern `{name}` needs type arguments here"));
                    let names: Vec<&str> = self.decls.ext(id).type_params.iter().map(|t| t.name.as_str()).collect();
                    let d = d.with_help(format!("write `{name}<{}>` with types in their places", names.join(", ")));
                    failed = Some(self.report(d));
                }
                Ok(Type::Extern(..)) if p.direction.is_some() => {
                    let message = "an instance of an extern is passed without direction";
                    failed = Some(self.error("direction", p.span, message));
                }
                Ok(_) if p.default.is_some() && matches!(p.direction, Some(ast::Direction::Out | ast::Direction::InOut)) => {
                    let message = "a parameter that is written to cannot have a default value";
                    failed = Some(self.error("direction", p.span, message));
                }
                Ok(t) if p.direction.is_some() && t.mentions(|t| matches!(t, Type::Str)) => {
                    failed = Some(self.error("direction", p.span, "a string is passed without direction"));
                }
                Ok(Type::Block(id, _)) if self.decls.block(id).has_body() => {
                    let message = format!("a parameter cannot be of type `{}`, which has a body", self.decls.block(id).name().name);
                    let d = Diagnostic::error("type-mismatch", p.ty.span, message);
                    failed = Some(self.report(d.with_help("declare its type without a body, and take a parameter of that type")));
                }
                Ok(Type::Int) if p.direction.is_some() && !self.is_builtin(p.span) => {
                    let d = Diagnostic::error("type-mismatch", p.ty.span, "a parameter with a direction cannot be of type int");
                    failed = Some(self.report(d.with_help("give it a width, such as bit<32>")));
                }
                Ok(ty) => out.push(Param { ast: p, ty }),
                Err(e) => failed = Some(e),
            }
        }
        failed.map_or(Ok(out), Err)
    }

    /// The argument of each parameter; `None` where a default value stands in.
    pub(crate) fn match_args(
        &mut self,
        name: &str,
        params: &'a [ast::Param],
        args: &'a [ast::Arg],
        span: Span,
    ) -> R<Vec<Option<&'a ast::Arg>>> {
        let mut found: Vec<Option<&'a ast::Arg>> = vec![None; params.len()];
        let mut failed = None;
        if let (Some(named), true) = (args.iter().find(|a| a.name.is_some()), args.iter().any(|a| a.name.is_none())) {
            let d = Diagnostic::error("arity", named.span, format!("either all or none of the arguments of `{name}` can be named"));
            return Err(self.report(d));
        }
        for (i, a) in args.iter().enumerate() {
            let at = match &a.name {
                None if i < params.len() => i,
                None => return Err(self.arity(name, params, args.len(), span)),
                Some(n) => match params.iter().position(|p| p.name.name == n.name) {
                    Some(at) => at,
                    None => {
                        let near = nearest(&n.name, params.iter().map(|p| p.name.name.as_str()));
                        let message = format!("`{name}` has no parameter `{}`", n.name);
                        failed = Some(self.unknown_member(n, message, near));
                        continue;
                    }
                },
            };
            if found[at].replace(a).is_some() {
                let message = format!("parameter `{}` is given twice", params[at].name.name);
                failed = Some(self.error("duplicate", a.span, message));
            }
        }
        if let Some(e) = failed {
            return Err(e);
        }
        let missing = |p: &ast::Param| p.default.is_none() && ast::find_annotation(&p.annotations, "optional").is_none();
        if let Some((p, _)) = params.iter().zip(&found).find(|(p, a)| a.is_none() && missing(p)) {
            if args.len() < params.len() && args.iter().all(|a| a.name.is_none()) {
                return Err(self.arity(name, params, args.len(), span));
            }
            return Err(self.error("arity", span, format!("no argument for parameter `{}` of `{name}`", p.name.name)));
        }
        Ok(found)
    }

    fn arity(&mut self, name: &str, params: &[ast::Param], given: usize, span: Span) -> Reported {
        let n = params.len();
        let d = Diagnostic::error("arity", span, format!("`{name}` takes {}, not {given}", count(n, "argument")));
        let list: Vec<&str> = params.iter().map(|p| p.name.name.as_str()).collect();
        self.report(if n > 0 { d.with_note(format!("its parameters are: {}", list.join(", "))) } else { d })
    }

    /// Evaluates arguments in the order written, infers open type arguments, converts and checks directions.
    pub(crate) fn eval_args(
        &mut self,
        name: &str,
        params: &[Param<'a>],
        found: &[Option<&'a ast::Arg>],
        subst: &mut Subst,
        callee: ScopeId,
        span: Span,
    ) -> R<Args> {
        let mut turns: Vec<usize> = (0..params.len()).filter(|i| found[*i].is_some()).collect();
        // All are elements of one list, so their addresses have the order in which they are written; places in the text need not,
        // where a macro turned them round.
        turns.sort_by_key(|i| found[*i].map(|a| std::ptr::from_ref(a) as usize));
        let mut order = vec![usize::MAX; params.len()];
        turns.iter().enumerate().for_each(|(turn, i)| order[*i] = turn);
        let mut values: Vec<Option<Tv>> = vec![None; params.len()];
        let mut before: Vec<Option<Tv>> = vec![None; params.len()];
        let mut failed = None;
        for i in turns {
            let Some(arg) = found[i] else { continue };
            let start = self.build.mark();
            let v = match self.expr(&arg.value) {
                Ok(v) => v,
                Err(e) => {
                    failed = Some(e);
                    continue;
                }
            };
            if self.build.mark() > start {
                let mut earlier: Vec<(usize, Tv)> = Vec::new();
                for (j, value) in values.iter_mut().enumerate().filter(|(j, _)| !params[*j].writes()) {
                    earlier.extend(value.take().map(|v| (j, v)));
                }
                let (at, mut vs): (Vec<usize>, Vec<Tv>) = earlier.into_iter().unzip();
                self.save_all(&mut vs, start)?;
                for (j, v) in at.into_iter().zip(vs) {
                    values[j] = Some(v);
                }
                for (j, value) in values.iter().enumerate() {
                    if params[j].ast.direction == Some(ast::Direction::InOut)
                        && before[j].is_none()
                        && let Some(v) = value
                    {
                        before[j] = self.save_if_changed(v, start)?;
                    }
                }
            }
            values[i] = Some(if params[i].writes() && !matches!(v.val, Val::DontCare) {
                let val = self.pin(&v.val);
                Tv { val, ..v }
            } else {
                v
            });
        }
        if let Some(e) = failed {
            return Err(e);
        }
        // Numbers without width only decide a type argument that nothing else does.
        for numbers in [false, true] {
            for (p, v) in params.iter().zip(&values) {
                if let Some(v) = v
                    && matches!(v.ty, Type::Int) == numbers
                    && !matches!(v.val, Val::DontCare)
                {
                    self.unify(&p.ty, &v.ty, subst, v.span, name, &p.ast.name.name)?;
                }
            }
        }
        let mut out = Vec::new();
        for (p, v) in params.iter().zip(values) {
            match self.finish_arg(name, p, v, subst, callee, span) {
                Ok(v) => out.push(v),
                Err(e) => failed = Some(e),
            }
        }
        failed.map_or(Ok(Args { values: out, before, order }), Err)
    }

    /// The arguments for a callee that reads and writes their places itself: what a place held at its turn is there again.
    pub(crate) fn settle(&mut self, args: Args) -> R<Vec<Tv>> {
        let Args { mut values, before, .. } = args;
        if before.iter().any(Option::is_some) {
            for (v, _) in values.iter_mut().zip(&before).filter(|(v, b)| b.is_none() && v.access != Access::Write) {
                if !v.val.is_const() && !self.is_stable(&v.val) {
                    *v = self.copy_to_temp(v)?;
                }
            }
            for (place, old) in values.iter().zip(&before) {
                if let Some(old) = old {
                    self.store(place, old)?;
                }
            }
        }
        Ok(values)
    }

    fn finish_arg(&mut self, name: &str, p: &Param<'a>, v: Option<Tv>, subst: &mut Subst, callee: ScopeId, span: Span) -> R<Tv> {
        let ty = self.substitute(&p.ty, subst, span)?;
        let pname = &p.ast.name.name;
        let v = match (v, &p.ast.default) {
            (Some(v), _) => v,
            (None, Some(default)) => self.in_scope(callee, |cx| cx.expr(default))?.at(span),
            // An `@optional` parameter that is left out.
            (None, None) if ty.has_var() => return Ok(Tv::value(Type::Bad, Val::None, span)),
            (None, None) if matches!(ty, Type::Void) => return Ok(Tv::value(ty, Val::None, span)),
            (None, None) if p.writes() => {
                let name = self.local_name(pname);
                let val = self.storage(&name, &ty, span)?;
                return Ok(Tv { ty, val, access: Access::Write, span });
            }
            (None, None) => {
                let val = self.zero(&ty, span)?;
                return Ok(Tv::value(ty, val, span));
            }
        };
        if matches!(v.val, Val::DontCare) {
            if p.ast.direction != Some(ast::Direction::Out) {
                return Err(self.error("direction", v.span, format!("`_` can only stand for an `out` parameter; `{pname}` is not one")));
            }
            if ty.has_var() {
                return Err(self.not_inferred(name, &ty, subst, v.span));
            }
            let storage_name = self.local_name(pname);
            let val = self.storage(&storage_name, &ty, v.span)?;
            return Ok(Tv { ty, val, access: Access::Write, span: v.span });
        }
        if p.ast.direction.is_some() && p.ty.has_var() && ty.mentions(|t| matches!(t, Type::Str)) {
            return Err(self.error("direction", v.span, format!("a string cannot be passed to `{pname}`, which has a direction")));
        }
        if p.writes() {
            let direction = if p.ast.direction == Some(ast::Direction::Out) { "out" } else { "inout" };
            self.writable(&v, &format!("the argument for `{direction}` parameter `{pname}`"))?;
            if v.ty != ty {
                let message = format!("the argument for `{direction}` parameter `{pname}` must be {ty}, not {}", v.ty);
                return Err(self.error("type-mismatch", v.span, message));
            }
            return Ok(v);
        }
        // An index that is a plain number, of a register whose index type is left open: TNA's programs write `execute(0)`.
        let open = matches!((&ty, &v.ty), (Type::Var(_), Type::Int));
        let ty = if open && self.declares_tna() { Type::bit(32) } else { ty };
        if ty.has_var() {
            return Err(self.not_inferred(name, &ty, subst, v.span));
        }
        self.coerce(v, &ty, &format!("parameter `{pname}` of `{name}`"))
    }

    fn not_inferred(&mut self, name: &str, ty: &Type, subst: &Subst, span: Span) -> Reported {
        let open = match ty {
            Type::Var(i) => subst.open.iter().find(|(v, _)| v == i).map(|(_, n)| n.clone()),
            _ => None,
        };
        let which = open.map_or(String::new(), |n| format!(" `{n}`"));
        let d = Diagnostic::error("inference", span, format!("type argument{which} of `{name}` is not determined"));
        self.report(d.with_help("give numbers a width, or write the type arguments: `name<...>(...)`"))
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Type arguments

    /// A scope with type parameters: bound to `targs` where given, else open.
    pub(crate) fn type_scope(&mut self, at: (ScopeId, u32), names: &'a [ast::Ident], targs: &[Type], subst: &mut Subst) -> ScopeId {
        let scope = self.scopes.add(at.0, at.1);
        for (i, n) in names.iter().enumerate() {
            let ty = match targs.get(i) {
                Some(t) if !matches!(t, Type::DontCare) => t.clone(),
                _ => {
                    let id = self.decls.new_type();
                    subst.open.push((id, n.name.clone()));
                    Type::Var(id)
                }
            };
            self.declare_in(scope, n, Entity::Type(ty));
        }
        scope
    }

    /// Finds what open type arguments in `formal` must be for `actual` to fit. Mismatches elsewhere are left to the
    /// conversion that follows, which says more.
    pub(crate) fn unify(&mut self, formal: &Type, actual: &Type, subst: &mut Subst, span: Span, name: &str, param: &str) -> R<()> {
        match (formal, actual) {
            (Type::Var(i), actual) => {
                if actual.is_bad() || !subst.open.iter().any(|(v, _)| v == i) {
                    return Ok(());
                }
                let own = match actual {
                    Type::ListLit(_) => tuple_of(actual),
                    Type::StructLit(_) | Type::Invalid | Type::Dots | Type::DontCare | Type::Int | Type::Var(_) => None,
                    t => Some(t.clone()),
                };
                let Some(own) = own else { return Ok(()) };
                match subst.found.get(i) {
                    None => {
                        subst.found.insert(*i, own);
                        Ok(())
                    }
                    Some(t) if *t == own => Ok(()),
                    Some(t) => {
                        let known = subst.open.iter().find(|(v, _)| v == i).map_or("?", |(_, n)| n.as_str());
                        let message =
                            format!("argument `{param}` of `{name}` makes its type argument `{known}` {own}, but another makes it {t}");
                        Err(self.error("type-mismatch", span, message))
                    }
                }
            }
            (Type::Tuple(a), Type::Tuple(b) | Type::ListLit(b)) | (Type::Extern(_, a), Type::Extern(_, b)) if a.len() == b.len() => {
                let (a, b) = (a.clone(), b.clone());
                a.iter().zip(b.iter()).try_for_each(|(a, b)| self.unify(a, b, subst, span, name, param))
            }
            (Type::Stack(a, _), Type::Stack(b, _)) | (Type::List(a), Type::List(b)) => self.unify(a, b, subst, span, name, param),
            (Type::List(a), Type::ListLit(b)) => match b.first() {
                Some(b) => self.unify(a, b, subst, span, name, param),
                None => Ok(()),
            },
            (Type::Composite(a), Type::Composite(b)) => match (&a.generic, &b.generic) {
                (Some((g, a)), Some((h, b))) if g == h => a.iter().zip(b).try_for_each(|(a, b)| self.unify(a, b, subst, span, name, param)),
                _ => Ok(()),
            },
            (Type::Block(a, targs), Type::Block(b, own)) if !targs.is_empty() || a != b => {
                self.unify_blocks(*a, &targs.clone(), *b, &own.clone(), subst, span, name)
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn substitute(&mut self, ty: &Type, subst: &Subst, span: Span) -> R<Type> {
        if !ty.has_var() {
            return Ok(ty.clone());
        }
        Ok(match ty {
            Type::Var(i) => subst.found.get(i).cloned().unwrap_or_else(|| ty.clone()),
            Type::Tuple(ts) => Type::Tuple(self.substitute_all(ts, subst, span)?.into()),
            Type::Extern(id, ts) => Type::Extern(*id, self.substitute_all(ts, subst, span)?.into()),
            Type::Block(id, ts) => Type::Block(*id, self.substitute_all(ts, subst, span)?.into()),
            Type::Package(id, ts) => Type::Package(*id, self.substitute_all(ts, subst, span)?.into()),
            Type::Stack(t, n) => Type::Stack(self.substitute(t, subst, span)?.into(), *n),
            Type::List(t) => Type::List(self.substitute(t, subst, span)?.into()),
            Type::Composite(c) => match &c.generic {
                Some((g, args)) => {
                    let args = self.substitute_all(args, subst, span)?;
                    self.instantiate(*g as usize, args, span)?
                }
                None => ty.clone(),
            },
            _ => ty.clone(),
        })
    }

    fn substitute_all(&mut self, ts: &[Type], subst: &Subst, span: Span) -> R<Vec<Type>> {
        ts.iter().map(|t| self.substitute(t, subst, span)).collect()
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Binding

    /// Declares parameters in `scope` and binds them to arguments. Gives the parameters' values, and what is to be copied
    /// when the callee ends.
    pub(crate) fn bind(&mut self, scope: ScopeId, prefix: &str, params: &[Param<'a>], args: Args, how: Binding) -> R<(Vec<Tv>, Copies)> {
        let shared = self.shareable(params, &args.values, how);
        let mut bound = Vec::new();
        let mut copy_out = Vec::new();
        let (mut resets, mut restores) = (Vec::new(), Vec::new());
        let Args { values, before, order } = args;
        for ((((p, arg), share), before), turn) in params.iter().zip(values).zip(shared).zip(before).zip(order) {
            let access = if p.writes() { Access::Write } else { Access::Read(read_only(p)) };
            let own = if share {
                if p.ast.direction == Some(ast::Direction::Out) {
                    resets.push(arg.val.clone());
                }
                // The place stands for the parameter, so it has to hold what it held at its turn.
                restores.extend(before.map(|old| (arg.clone(), old)));
                Tv { access, span: p.ast.name.span, ..arg }
            } else {
                let val = self.storage(&format!("{prefix}.{}", p.ast.name.name), &arg.ty, arg.span)?;
                let own = Tv { ty: arg.ty.clone(), val, access: Access::Write, span: p.ast.name.span };
                match p.ast.direction {
                    Some(ast::Direction::Out) => {
                        self.mark(&own.val, VarRole::OutParameter);
                        resets.push(own.val.clone());
                    }
                    _ => {
                        self.mark(&own.val, VarRole::Parameter);
                        self.store(&own, before.as_ref().unwrap_or(&arg))?;
                    }
                }
                if p.writes() {
                    copy_out.push((turn, (arg, own.clone())));
                }
                Tv { access, ..own }
            };
            self.declare_in(scope, &p.ast.name, Entity::Value(own.clone()));
            bound.push(own);
        }
        // After all arguments have been read.
        for (place, old) in restores {
            self.store(&place, &old)?;
        }
        for val in resets {
            self.invalidate(&val);
        }
        Ok((bound, in_order(copy_out)))
    }

    /// A later application of an instance: arguments go where the first ones went.
    pub(crate) fn rebind(&mut self, params: &[Param<'a>], bound: &[Tv], args: Args, span: Span) -> R<Copies> {
        let mut copy_out = Vec::new();
        let mut restores = Vec::new();
        let Args { values, before, order } = args;
        for ((((p, own), arg), before), turn) in params.iter().zip(bound).zip(values).zip(before).zip(order) {
            if own.val == arg.val {
                restores.extend(before.map(|old| (arg, old)));
                continue;
            }
            if !is_static(&own.val) || matches!(own.val, Val::Obj(_)) {
                return Err(self.unsupported(span, "applying one instance with different arguments here"));
            }
            let to = Tv { access: Access::Write, ..own.clone() };
            match p.ast.direction {
                Some(ast::Direction::Out) => self.invalidate(&own.val),
                _ => self.store(&to, before.as_ref().unwrap_or(&arg))?,
            }
            if p.writes() {
                copy_out.push((turn, (arg, to)));
            }
        }
        for (place, old) in restores {
            self.store(&place, &old)?;
        }
        Ok(in_order(copy_out))
    }

    /// For each parameter, whether its argument can stand for it.
    fn shareable(&self, params: &[Param<'a>], args: &[Tv], how: Binding) -> Vec<bool> {
        let mut written: Vec<HashSet<Root>> = Vec::new();
        for (p, a) in params.iter().zip(args) {
            let mut roots = HashSet::new();
            if p.writes() {
                self.roots(&a.val, &mut roots);
            }
            written.push(roots);
        }
        let share = |i: usize, p: &Param, a: &Tv| {
            if matches!(a.val, Val::Obj(_)) {
                return true;
            }
            if how == Binding::Always {
                return false;
            }
            if !p.writes() && (a.val.is_const() || self.is_stable(&a.val)) {
                return true;
            }
            if how == Binding::Copy || !is_static(&a.val) || (p.writes() && self.is_conditional(&a.val)) {
                return false;
            }
            let mut own = HashSet::new();
            self.roots(&a.val, &mut own);
            written.iter().enumerate().all(|(j, w)| j == i || w.is_disjoint(&own))
        };
        params.iter().zip(args).enumerate().map(|(i, (p, a))| share(i, p, a)).collect()
    }

    /// Whether a place takes part in more than what is written to it: fields of an invalid header keep nothing, and a member that
    /// becomes valid ends the other members of its union. A parameter is neither.
    fn is_conditional(&self, v: &Val) -> bool {
        match v {
            Val::Place(LValue::Field(..), _) | Val::Varbit(..) => true,
            Val::Header(HeaderRef::Static(h)) => self.build.ir.headers[*h].union.is_some(),
            Val::Agg(vs) | Val::Array(vs) => vs.iter().any(|v| self.is_conditional(v)),
            _ => false,
        }
    }

    /// Copies results out, in the order of the arguments (P4_16 §6.8, step 6).
    pub(crate) fn copy_out(&mut self, list: &[(Tv, Tv)]) -> R<()> {
        list.iter().try_for_each(|(to, from)| self.store(to, from))
    }
}

/// What is to be copied, by the turns of the arguments.
fn in_order(mut copies: Vec<(usize, (Tv, Tv))>) -> Copies {
    copies.sort_by_key(|(turn, _)| *turn);
    copies.into_iter().map(|(_, copy)| copy).collect()
}

fn read_only(p: &Param) -> &'static str {
    match p.ast.direction {
        Some(_) => "an `in` parameter",
        None => "a parameter without direction",
    }
}
