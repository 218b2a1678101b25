//! What does a call do? The algorithm of P4_16 §6.8 step by step: places and values of the arguments in the order in which they
//! are written, a variable for each parameter, the body, results copied out in the same order.

use crate::names::Entity;
use crate::place::Place;
use crate::value::{Ty, Value};
use crate::{Block, Evaluator, Instance, Object, R, Returned, Stop};
use p4_syntax::ast::{self, Direction, ExprKind};

/// An argument after its turn.
pub(crate) struct Argument {
    /// Where `out` and `inout` results go; none for `_`.
    pub to: Option<Place>,
    /// The value at its turn; none of an `out` argument.
    pub value: Option<Value>,
    /// The instance that it names.
    pub object: Option<usize>,
    /// Its place among the arguments as written.
    pub order: usize,
}

/// What runs once the parameters are there.
pub(crate) enum Body<'a> {
    Function(&'a ast::FunctionDecl),
    Action(&'a ast::ActionDecl),
    Block(Instance<'a>),
}

impl<'a> Evaluator<'a> {
    pub(crate) fn call(
        &mut self,
        call: &'a ast::Expr,
        callee: &'a ast::Expr,
        targs: &'a [ast::Type],
        args: &'a [ast::Arg],
        scope: usize,
    ) -> R<Value> {
        self.burn()?;
        match &callee.kind {
            ExprKind::Path(path) => match self.find(scope, path)? {
                Entity::Functions(all) => {
                    let fits = |f: &&&'a ast::FunctionDecl| accepts(&f.params, args);
                    let decl: &'a ast::FunctionDecl =
                        all.iter().find(fits).or(all.first()).copied().ok_or_else(|| Stop::cannot("a call"))?;
                    match decl.body {
                        Some(_) => self.invoke(Body::Function(decl), &decl.params, targs, args, scope),
                        None => self.extern_function(decl, args, scope),
                    }
                }
                Entity::Action(decl, from) => self.invoke_in(Body::Action(decl), &decl.params, targs, args, scope, from),
                _ => Err(Stop::cannot(format!("a call of {}", path.name.name))),
            },
            ExprKind::Member { base, member } => self.method(call, base, &member.name, targs, args, scope),
            _ => Err(Stop::cannot("a call of this")),
        }
    }

    fn invoke(&mut self, body: Body<'a>, params: &'a [ast::Param], targs: &'a [ast::Type], args: &'a [ast::Arg], scope: usize) -> R<Value> {
        self.invoke_in(body, params, targs, args, scope, 0)
    }

    /// Steps 1 to 6; the callee sees what `from` sees.
    pub(crate) fn invoke_in(
        &mut self,
        body: Body<'a>,
        params: &'a [ast::Param],
        targs: &'a [ast::Type],
        args: &'a [ast::Arg],
        scope: usize,
        from: usize,
    ) -> R<Value> {
        let given = self.arguments(params, args, scope, from)?;
        let names: &'a [ast::Ident] = match &body {
            Body::Function(f) => &f.type_params,
            Body::Action(_) => &[],
            Body::Block(i) => i.decl.type_params(),
        };
        let mut types = Vec::new();
        for (name, t) in names.iter().zip(targs) {
            types.push((name.name.as_str(), self.resolve(t, scope)?));
        }
        self.run_callable(body, params, given, &types, from)
    }

    /// Places and values of the arguments, in the order in which they are written (steps 1 to 4). One a parameter.
    pub(crate) fn arguments(
        &mut self,
        params: &'a [ast::Param],
        args: &'a [ast::Arg],
        scope: usize,
        from: usize,
    ) -> R<Vec<Option<Argument>>> {
        let mut out: Vec<Option<Argument>> = params.iter().map(|_| None).collect();
        for (order, a) in args.iter().enumerate() {
            let at = match &a.name {
                Some(n) => params.iter().position(|p| p.name.name == n.name),
                None => Some(order).filter(|i| *i < params.len()),
            };
            let at = at.ok_or_else(|| Stop::cannot("an argument without parameter"))?;
            out[at] = Some(self.argument(&params[at], &a.value, order, scope)?);
        }
        for (p, a) in params.iter().zip(&mut out).filter(|(_, a)| a.is_none()) {
            let value = match &p.default {
                Some(d) => Some(self.eval(d, from)?),
                None => None,
            };
            *a = Some(Argument { to: None, value, object: None, order: usize::MAX });
        }
        Ok(out)
    }

    fn argument(&mut self, p: &'a ast::Param, e: &'a ast::Expr, order: usize, scope: usize) -> R<Argument> {
        let nothing = Argument { to: None, value: None, object: None, order };
        if matches!(e.kind, ExprKind::DontCare) {
            return Ok(nothing);
        }
        if let ExprKind::Path(path) = &e.kind
            && let Entity::Object(object) = self.find(scope, path)?
        {
            return Ok(Argument { object: Some(object), ..nothing });
        }
        match p.direction {
            Some(Direction::Out | Direction::InOut) => {
                let to = self.place(e, scope)?.ok_or_else(|| Stop::cannot("an argument that is no place"))?;
                let value = self.read(&to)?;
                Ok(Argument { to: Some(to), value: Some(value), ..nothing })
            }
            _ => Ok(Argument { value: Some(self.eval(e, scope)?), ..nothing }),
        }
    }

    /// Steps 5 and 6.
    pub(crate) fn run_callable(
        &mut self,
        body: Body<'a>,
        params: &'a [ast::Param],
        given: Vec<Option<Argument>>,
        types: &[(&'a str, Ty)],
        from: usize,
    ) -> R<Value> {
        let (variables, scopes, anonymous) = (self.store.len(), self.scopes.count(), self.anonymous.len());
        let scope = self.scopes.inside(from);
        for (name, t) in types {
            self.declare(scope, name, Entity::Type(t.clone()));
        }
        let mut copies: Vec<(usize, Place, usize)> = Vec::new();
        for (p, a) in params.iter().zip(given) {
            let a = a.unwrap_or(Argument { to: None, value: None, object: None, order: usize::MAX });
            if let Some(object) = a.object {
                self.declare(scope, &p.name.name, Entity::Object(object));
                continue;
            }
            let ty = match (self.resolve(&p.ty, scope), &a.value) {
                (Ok(t), _) => t,
                // A type parameter that the argument decides.
                (Err(_), Some(v)) => {
                    if let ast::TypeKind::Named { path, .. } = &p.ty.kind {
                        self.declare(scope, &path.name.name, Entity::Type(v.ty()));
                    }
                    v.ty()
                }
                (Err(e), None) => return Err(e),
            };
            let value = match (p.direction, a.value) {
                (Some(Direction::Out), _) | (_, None) => ty.start(),
                (_, Some(v)) => v.becomes(&ty)?,
            };
            let slot = self.declare_variable(scope, &p.name.name, value);
            if let Some(to) = a.to {
                copies.push((a.order, to, slot));
            }
        }
        if !copies.is_empty() {
            self.calls_that_copy += 1;
        }
        let end = self.body(&body, scope);
        // In the order of the arguments, however the body ended, unless it is not known how it goes on.
        if !matches!(end, Err(Stop::Cannot(_))) {
            copies.sort_by_key(|(order, ..)| *order);
            for (_, to, slot) in copies {
                let result = self.store[slot].clone();
                self.write(&to, result)?;
            }
        }
        let result = match (&body, end) {
            (Body::Function(f), Err(Stop::Return(Returned(v)))) => {
                let ty = self.resolve(&f.ret, scope)?;
                v.becomes(&ty)
            }
            (_, Err(Stop::Return(_)) | Ok(())) => Ok(Value::Void),
            (_, Err(stop)) => Err(stop),
        };
        self.store.truncate(variables);
        // An instance that was made on the way keeps its scopes.
        if self.anonymous.len() == anonymous {
            self.scopes.leave(scopes);
        }
        result
    }

    fn body(&mut self, body: &Body<'a>, scope: usize) -> R<()> {
        match body {
            Body::Function(f) => match &f.body {
                Some(b) => self.block(b, scope),
                None => Ok(()),
            },
            Body::Action(a) => self.block(&a.body, scope),
            Body::Block(instance) => {
                let inner = self.enter(instance, scope)?;
                self.active.push(instance.path.clone());
                let end = match instance.decl {
                    Block::Control(c) => match &c.body {
                        Some(b) => self.block(&b.apply, inner),
                        None => Err(Stop::cannot("a control without body")),
                    },
                    Block::Parser(p) => match &p.body {
                        Some(b) => self.parse(b, inner),
                        None => Err(Stop::cannot("a parser without body")),
                    },
                };
                self.active.pop();
                end
            }
        }
    }

    /// Declarations of a parser or control, variables with the values that they start with.
    fn enter(&mut self, instance: &Instance<'a>, scope: usize) -> R<usize> {
        let inner = self.scopes.inside(scope);
        for d in instance.decl.locals() {
            match &d.kind {
                ast::DeclKind::Instantiation(i) => {
                    if let Some(o) = instance.objects.get(i.name.name.as_str()) {
                        self.declare(inner, &i.name.name, Entity::Object(*o));
                    }
                }
                ast::DeclKind::Table(t) => {
                    if let Some(o) = instance.tables.get(t.name.name.as_str()) {
                        self.declare(inner, &t.name.name, Entity::Table(*o, inner));
                    }
                }
                ast::DeclKind::Action(a) => self.declare(inner, &a.name.name, Entity::Action(a, inner)),
                ast::DeclKind::ValueSet(v) => self.declare(inner, &v.name.name, Entity::Nothing),
                _ => self.local(d, inner)?,
            }
        }
        Ok(inner)
    }

    /// Runs the instance of a package's argument on variables of the architecture.
    pub(crate) fn run_block(&mut self, object: usize, given: Vec<Argument>) -> R<()> {
        let Object::Block(instance) = &self.objects[object] else { return Err(Stop::cannot("a block")) };
        let instance = instance.clone();
        let (params, from) = (instance.decl.params(), instance.scope);
        let given = given.into_iter().map(Some).collect();
        self.run_callable(Body::Block(instance), params, given, &[], from).map(|_| ())
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Methods

    /// The table of `t.apply`, and the scope that its keys and actions see.
    pub(crate) fn applied(&mut self, callee: &'a ast::Expr, scope: usize) -> R<Option<(usize, usize)>> {
        if let ExprKind::Member { base, member } = &callee.kind
            && member.name == "apply"
            && let ExprKind::Path(path) = &base.kind
            && let Ok(Entity::Table(table, from)) = self.find(scope, path)
        {
            return Ok(Some((table, from)));
        }
        Ok(None)
    }

    fn method(
        &mut self,
        call: &'a ast::Expr,
        base: &'a ast::Expr,
        name: &'a str,
        targs: &'a [ast::Type],
        args: &'a [ast::Arg],
        scope: usize,
    ) -> R<Value> {
        let direct = match &base.kind {
            ExprKind::Path(path) => Some(path),
            ExprKind::Type(t) => match &t.kind {
                ast::TypeKind::Named { path, .. } => Some(path),
                _ => None,
            },
            _ => None,
        };
        if let Some(path) = direct {
            match self.find(scope, path) {
                Ok(Entity::Table(table, from)) => {
                    self.apply_table(table, from)?;
                    return Ok(Value::Void);
                }
                Ok(Entity::Object(object)) => return self.object_method(object, name, targs, args, scope),
                Ok(Entity::Block(decl)) => {
                    let path_here = self.active.last().cloned().unwrap_or_default();
                    let here = (std::ptr::from_ref(call) as usize, path_here.clone());
                    let object = match self.anonymous.get(&here) {
                        Some(o) => *o,
                        None => {
                            let o = self.construct_block(decl, &[], 0, crate::names::join(&path_here, &path.name.name))?;
                            self.anonymous.insert(here, o);
                            o
                        }
                    };
                    return self.object_method(object, name, targs, args, scope);
                }
                _ => {}
            }
        }
        match name {
            "minSizeInBits" | "maxSizeInBits" | "minSizeInBytes" | "maxSizeInBytes" => {
                let ty = match self.place(base, scope)? {
                    Some(place) => self.ty_at(&place)?,
                    None => match &base.kind {
                        ExprKind::Type(t) => self.resolve(t, scope)?,
                        ExprKind::Path(p) => match self.find(scope, p)? {
                            Entity::Type(t) => t,
                            _ => return Err(Stop::cannot(name)),
                        },
                        _ => return Err(Stop::cannot(name)),
                    },
                };
                let bits = crate::place::wire_bits(&ty);
                Ok(Value::Number(if name.ends_with("Bits") { bits } else { bits.div_ceil(8) }.into()))
            }
            "isValid" => Ok(Value::Bool(match self.place(base, scope)? {
                Some(place) => self.read(&place)?.valid(),
                None => self.eval(base, scope)?.valid(),
            })),
            "setValid" | "setInvalid" => {
                let place = self.place(base, scope)?.ok_or_else(|| Stop::cannot(name))?;
                self.set_valid(&place, name == "setValid")?;
                Ok(Value::Void)
            }
            "push_front" | "pop_front" => {
                let place = self.place(base, scope)?.ok_or_else(|| Stop::cannot(name))?;
                let [arg] = args else { return Err(Stop::cannot(name)) };
                let count = self.eval(&arg.value, scope)?.index()?;
                self.change(&place, &mut |stack| {
                    let Value::Stack { elem, elems, next } = stack else { return Err(Stop::cannot(name)) };
                    let (size, count) = (elems.len(), count.min(elems.len()));
                    let fresh = std::iter::repeat_with(|| elem.start()).take(count);
                    if name == "push_front" {
                        *elems = fresh.chain(elems.clone()).take(size).collect();
                        *next = (*next + count).min(size);
                    } else {
                        *elems = elems[count..].iter().cloned().chain(fresh).collect();
                        *next = next.saturating_sub(count);
                    }
                    Ok(())
                })?;
                Ok(Value::Void)
            }
            _ => Err(Stop::cannot(format!("method {name}"))),
        }
    }

    fn object_method(&mut self, object: usize, name: &'a str, targs: &'a [ast::Type], args: &'a [ast::Arg], scope: usize) -> R<Value> {
        if let Object::Block(instance) = &self.objects[object] {
            let instance = instance.clone();
            let (params, from) = (instance.decl.params(), instance.scope);
            return self.invoke_in(Body::Block(instance), params, targs, args, scope, from);
        }
        self.extern_method(object, name, targs, args, scope)
    }
}

/// Whether a call may mean a function with these parameters (P4_16 §6.9).
fn accepts(params: &[ast::Param], args: &[ast::Arg]) -> bool {
    let named = |p: &ast::Param| args.iter().any(|a| a.name.as_ref().is_some_and(|n| n.name == p.name.name));
    match args.iter().any(|a| a.name.is_some()) {
        true => {
            args.iter().all(|a| a.name.as_ref().is_some_and(|n| params.iter().any(|p| p.name.name == n.name)))
                && params.iter().all(|p| p.default.is_some() || named(p))
        }
        false => args.len() <= params.len() && params[args.len()..].iter().all(|p| p.default.is_some()),
    }
}
