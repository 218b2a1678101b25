//! What does a type as written stand for? Names, widths, generic arguments, and the rules of what may be inside what
//! (P4_16 §7.2.8).

use super::cx::Cx;
use crate::names::decls::Generic;
use crate::names::scope::Entity;
use crate::names::sink::R;
use crate::types::wide::numbers;
use crate::types::*;
use base::MAX_WIDTH;
use p4_syntax::{Diagnostic, Span, ast};
use std::collections::HashMap;
use std::rc::Rc;

/// Longest varbit field, in bits: that of the longest IP option area is 320, so this is far beyond need.
const MAX_VARBIT: u32 = 1 << 15;
/// Longest chain of `type`s that are made of each other, and most types that one generic declaration becomes: both are
/// searched one by one.
const MAX_NEW_TYPES: u32 = 100;
const MAX_INSTANCES: usize = 1 << 12;
/// Most elements of a header stack.
const MAX_STACK: u32 = 1024;

impl<'a> Cx<'a> {
    pub(crate) fn resolve(&mut self, t: &'a ast::Type) -> R<Type> {
        self.nested(t.span, |cx| cx.resolve_kind(t))
    }

    fn resolve_kind(&mut self, t: &'a ast::Type) -> R<Type> {
        use ast::TypeKind as K;
        Ok(match &t.kind {
            K::Bool => Type::Bool,
            K::Error => Type::Error,
            K::MatchKind => Type::MatchKind,
            K::String => Type::Str,
            K::Void => Type::Void,
            K::Int => Type::Int,
            K::Bit(None) => Type::bit(1),
            K::Bit(Some(w)) => match self.width(w, "bit", 0)? {
                width if width > MAX_WIDTH => self.wide(Wide { width, signed: false }),
                w => Type::bit(w),
            },
            K::SizedInt(w) => match self.width(w, "int", 1)? {
                width if width > MAX_WIDTH => self.wide(Wide { width, signed: true }),
                width => Type::Bits { width, signed: true },
            },
            K::Varbit(w) => Type::Varbit(self.varbit_width(w)?),
            K::Named { path, args } => self.resolve_named(path, args, t.span)?,
            K::Stack { elem, size } => self.resolve_stack(elem, size, t.span)?,
            K::Tuple(ts) => {
                let mut elems = Vec::new();
                for t in ts {
                    let elem = self.resolve(t)?;
                    if matches!(elem, Type::Void | Type::DontCare | Type::Block(..) | Type::Package(..)) {
                        return Err(self.error("bad-field", t.span, format!("a tuple cannot have an element of type {elem}")));
                    }
                    elems.push(elem);
                }
                self.bounded(Type::Tuple(elems.into()), t.span)?
            }
            K::List(t) => Type::List(Rc::new(self.resolve(t)?)),
            K::DontCare => Type::DontCare,
        })
    }

    fn width(&mut self, e: &'a ast::Expr, name: &str, least: u32) -> R<u32> {
        self.local_constant(e)?;
        let w = self.const_int(e, "a width")?;
        match u32::try_from(&w) {
            _ if w > MAX_ANY_WIDTH.into() => Err(self.error("limit", e.span, format!("{name}<{w}> is wider than {MAX_ANY_WIDTH} bits"))),
            Ok(w) if (least..=MAX_WIDTH).contains(&w) => Ok(w),
            Ok(w) if w > MAX_WIDTH => Ok(w),
            _ => Err(self.error("bad-width", e.span, format!("{w} is no width for {name}<...>"))),
        }
    }

    fn varbit_width(&mut self, e: &'a ast::Expr) -> R<u32> {
        self.local_constant(e)?;
        let w = self.const_int(e, "a width")?;
        match u32::try_from(&w) {
            Ok(w) if w <= MAX_VARBIT && w > 0 => {
                if w % 8 != 0 && !self.check_only() {
                    return Err(self.unsupported(e.span, format!("varbit<{w}>, which is not a whole number of bytes,")));
                }
                Ok(w)
            }
            Ok(0) => Err(self.unsupported(e.span, "varbit<0>")),
            Ok(w) => Err(self.error("limit", e.span, format!("varbit<{w}> is longer than {MAX_VARBIT} bits"))),
            _ => Err(self.error("bad-width", e.span, format!("{w} is no width for varbit<...>"))),
        }
    }

    fn resolve_stack(&mut self, elem: &'a ast::Type, size: &'a ast::Expr, span: Span) -> R<Type> {
        let t = self.resolve(elem)?;
        self.local_constant(size)?;
        let n = self.const_int(size, "the size of a header stack")?;
        let n = match u32::try_from(&n) {
            Ok(n) if (1..=MAX_STACK).contains(&n) => n,
            Ok(0) => return Err(self.unsupported(size.span, "a stack of 0 elements")),
            Ok(_) => return Err(self.error("limit", size.span, format!("a stack of more than {MAX_STACK} elements"))),
            _ => return Err(self.error("bad-size", size.span, format!("a header stack cannot have {n} elements"))),
        };
        match &t {
            Type::Composite(c) if c.kind != Kind::Struct => {}
            Type::Bad | Type::Var(_) | Type::Composite(_) | Type::Tuple(_) | Type::Stack(..) => {}
            t if t.scalar().is_some() => {}
            _ => {
                let d = Diagnostic::error("type-mismatch", elem.span, format!("an array cannot be made of {t}"));
                return Err(self.report(d));
            }
        }
        self.bounded(Type::Stack(Rc::new(t), n), span)
    }

    /// Widths and sizes may not depend on constructor parameters, which differ from instance to instance (P4_16 §18.1).
    fn local_constant(&mut self, e: &'a ast::Expr) -> R<()> {
        match &e.kind {
            ast::ExprKind::Path(path) => match self.find(path).as_deref() {
                Ok([Entity::Value(v), ..]) if v.access == CONSTRUCTOR_PARAM => {
                    let message = format!("a width or size cannot depend on constructor parameter `{}`", path.name.name);
                    let d = Diagnostic::error("not-const", path.span, message).with_place(v.span, "the parameter");
                    Err(self.report(d))
                }
                _ => Ok(()),
            },
            ast::ExprKind::Binary { left, right, .. } => self.local_constant(left).and(self.local_constant(right)),
            ast::ExprKind::Unary { operand, .. } | ast::ExprKind::Cast { operand, .. } => self.local_constant(operand),
            ast::ExprKind::Ternary { cond, then, otherwise } => {
                self.local_constant(cond).and(self.local_constant(then)).and(self.local_constant(otherwise))
            }
            _ => Ok(()),
        }
    }

    /// Refuses types that flatten to absurdly many scalars.
    fn bounded(&mut self, t: Type, span: Span) -> R<Type> {
        if t.leaves() > MAX_LEAVES {
            return Err(self.error("limit", span, format!("a type of more than {MAX_LEAVES} fields")));
        }
        Ok(t)
    }

    fn resolve_named(&mut self, path: &'a ast::Path, args: &'a [ast::Type], span: Span) -> R<Type> {
        let entity = self.lookup(path)?;
        let name = &path.name.name;
        let mut targs = Vec::new();
        for a in args {
            targs.push(self.resolve(a)?);
        }
        match &entity[0] {
            Entity::Type(Type::Bad) => Err(self.poisoned()),
            Entity::Type(t) => {
                if !targs.is_empty() {
                    return Err(self.error("arity", span, format!("`{name}` takes no type arguments")));
                }
                Ok(t.clone())
            }
            Entity::Generic(g) => {
                let same = |t: &Type| matches!(t, Type::Composite(c) if c.generic.as_ref().is_some_and(|(h, _)| *h as usize == *g));
                self.not_self(name, args, &targs, same, span)?;
                self.instantiate(*g, targs, span)
            }
            Entity::Extern(id) => {
                let n = self.decls.ext(*id).type_params.len();
                self.count_targs(name, n, &targs, span)?;
                self.not_self(name, args, &targs, |t| matches!(t, Type::Extern(x, _) if x == id), span)?;
                Ok(Type::Extern(*id, targs.into()))
            }
            Entity::Block(id) => {
                let n = self.decls.block(*id).type_params().len();
                self.count_targs(name, n, &targs, span)?;
                Ok(Type::Block(*id, targs.into()))
            }
            Entity::Package(id) => {
                let n = self.decls.package(*id).type_params.len();
                self.count_targs(name, n, &targs, span)?;
                Ok(Type::Package(*id, targs.into()))
            }
            _ => Err(self.error("not-a-type", path.span, format!("`{name}` is not a type"))),
        }
    }

    /// A generic type cannot be written with itself among its type arguments. What a type parameter stands for does not count.
    fn not_self(&mut self, name: &str, args: &'a [ast::Type], targs: &[Type], same: impl Fn(&Type) -> bool + Copy, span: Span) -> R<()> {
        for (a, t) in args.iter().zip(targs) {
            if !t.mentions(same) || self.is_parameter(a) {
                continue;
            }
            let inner: &'a [ast::Type] = match &a.kind {
                ast::TypeKind::Named { args, .. } if !same(t) => args,
                ast::TypeKind::Tuple(ts) => ts,
                ast::TypeKind::Stack { elem, .. } | ast::TypeKind::List(elem) => std::slice::from_ref(&**elem),
                _ => &[],
            };
            if inner.is_empty() {
                return Err(self.error("self-reference", span, format!("`{name}` has itself among its type arguments")));
            }
            let mut resolved = Vec::new();
            for t in inner {
                resolved.push(self.resolve(t)?);
            }
            self.not_self(name, inner, &resolved, same, span)?;
        }
        Ok(())
    }

    /// Whether a type as written is a type parameter. All other types are declared at top level.
    fn is_parameter(&self, t: &ast::Type) -> bool {
        let ast::TypeKind::Named { path, .. } = &t.kind else { return false };
        !path.global && self.scopes.is_local(self.body.scope, &path.name.name)
    }

    /// Type arguments may be left out to be inferred, but not half of them.
    fn count_targs(&mut self, name: &str, want: usize, have: &[Type], span: Span) -> R<()> {
        if have.is_empty() || have.len() == want {
            return Ok(());
        }
        Err(self.error("arity", span, format!("`{name}` takes {want} type arguments, not {}", have.len())))
    }

    pub(crate) fn instantiate(&mut self, g: usize, targs: Vec<Type>, span: Span) -> R<Type> {
        let generic = self.decls.generic(g);
        let (decl, annotations, scope, seen) = (generic.decl, generic.annotations, generic.scope, generic.seen);
        if targs.len() != decl.type_params.len() {
            let (name, n) = (&decl.name.name, decl.type_params.len());
            return Err(self.error("arity", span, format!("`{name}` takes {n} type arguments, not {}", targs.len())));
        }
        if let Some((_, t)) = generic.instances.iter().find(|(a, _)| *a == targs) {
            return Ok(t.clone());
        }
        if generic.instances.len() >= MAX_INSTANCES {
            return Err(self.error(
                "limit",
                span,
                format!("`{}` is used with more than {MAX_INSTANCES} lists of type arguments", decl.name.name),
            ));
        }
        let inner = self.scopes.add(scope, seen);
        for (p, t) in decl.type_params.iter().zip(&targs) {
            self.declare_in(inner, p, Entity::Type(t.clone()));
        }
        let t = self.in_scope(inner, |cx| cx.composite(decl, annotations, Some((g as u32, targs.clone()))))?;
        self.decls.add_instance(g, targs, t.clone());
        Ok(t)
    }

    // -----------------------------------------------------------------------------------------------------------------
    // Declarations

    /// Declares a struct, header or header union.
    pub(crate) fn declare_composite(&mut self, decl: &'a ast::CompositeDecl, annotations: &'a [ast::Annotation]) {
        if decl.type_params.is_empty() {
            let entity = match self.composite(decl, annotations, None) {
                Ok(t) => Entity::Type(t),
                Err(_) => Entity::Bad,
            };
            self.declare(&decl.name, entity);
            return;
        }
        let scope = self.body.scope;
        let seen = self.scopes.seen(scope);
        let g = self.decls.add_generic(Generic { decl, annotations, scope, seen, instances: Vec::new() });
        // The body is checked once with open type arguments, so that a fault shows even if nothing uses it.
        let open = (0..decl.type_params.len() as u32).map(|i| Type::Var(u32::MAX - i)).collect();
        let _ = self.instantiate(g, open, decl.name.span);
        self.declare(&decl.name, Entity::Generic(g));
    }

    fn composite(
        &mut self,
        decl: &'a ast::CompositeDecl,
        _annotations: &'a [ast::Annotation],
        generic: Option<(u32, Vec<Type>)>,
    ) -> R<Type> {
        let kind = match decl.kind {
            ast::CompositeKind::Struct => Kind::Struct,
            ast::CompositeKind::Header => Kind::Header,
            ast::CompositeKind::HeaderUnion => Kind::Union,
        };
        let mut fields = Vec::new();
        let mut first: HashMap<&str, Span> = HashMap::new();
        let (mut flat, mut leaves) = (0u64, 0u64);
        let mut failed = None;
        for f in &decl.fields {
            if let Some(span) = first.insert(&f.name.name, f.name.span) {
                let d = Diagnostic::error("duplicate", f.name.span, format!("field `{}` is declared twice", f.name.name));
                self.report(d.with_place(span, "first declared here"));
            }
            match self.resolve(&f.ty).and_then(|t| self.allowed_field(kind, &decl.name.name, f, t)) {
                Ok(ty) => {
                    let (own, below) = (scalars(&ty), ty.leaves());
                    fields.push(FieldType {
                        name: f.name.name.as_str().into(),
                        ty,
                        flat: u32::try_from(flat).unwrap_or(u32::MAX),
                        tags: [tags(&f.annotations), self.field_lists(&f.annotations)?].concat(),
                        span: f.span,
                    });
                    flat = flat.saturating_add(own);
                    leaves = leaves.saturating_add(below);
                }
                Err(e) => failed = Some(e),
            }
        }
        if let Some(e) = failed {
            return Err(e);
        }
        if let Some(i) = fields.iter().position(|f| matches!(f.ty, Type::Varbit(_)))
            && kind == Kind::Header
            && i + 1 != fields.len()
            && !self.check_only()
        {
            let span = decl.fields[i].span;
            return Err(self.unsupported(span, "a varbit field that is not the header's last field"));
        }
        let id = self.decls.new_type();
        let mut name = decl.name.name.clone();
        if let Some((_, args)) = &generic {
            let args: Vec<String> = args.iter().map(Type::to_string).collect();
            name = format!("{name}<{}>", args.join(", "));
        }
        // A struct's own slot, so that empty structs in stacks and tuples cost something too.
        let composite = Composite { id, kind, name, fields, leaves: leaves.max(1), generic };
        let ty = self.bounded(Type::Composite(Rc::new(composite)), decl.name.span)?;
        if kind == Kind::Header
            && !self.check_only()
            && let Some(bits) = ty.wire_bits()
            && bits % 8 != 0
            && !ty.has_var()
        {
            let name = &decl.name.name;
            let message = format!("header `{name}` has {bits} bits, which is no whole number of bytes");
            let pad = 8 - bits % 8;
            if ty.max_wire_bits() != Some(bits) {
                let d = Diagnostic::error("header-size", decl.name.span, message);
                return Err(self.report(d.with_help(format!("pad it with a bit<{pad}> field"))));
            }
            self.warn("header-size", decl.name.span, format!("{message}: {pad} zero bits follow its last field"));
        }
        Ok(ty)
    }

    /// The numbers of `@field_list(1, 2)` (v1model): numbers, constants or members of enums.
    fn field_lists(&mut self, annotations: &'a [ast::Annotation]) -> R<Vec<Tag>> {
        let mut found = Vec::new();
        for a in annotations.iter().filter(|a| a.name.name == "field_list") {
            let numbers = match &a.body {
                ast::AnnotationBody::Unstructured(tokens) | ast::AnnotationBody::Pragma(tokens) => {
                    tokens.split(|t| t.kind == ast::AnnotationTokenKind::Punct(",")).map(|one| self.token_number(one)).collect()
                }
                ast::AnnotationBody::Exprs(exprs) => exprs.iter().map(|e| self.const_int(e, "a field list").ok()).collect(),
                _ => vec![None],
            };
            for n in numbers {
                match n.and_then(|n| u8::try_from(&n).ok()) {
                    Some(n) => found.push(Tag::FieldList(n)),
                    None => return Err(self.error("annotation", a.span, "`@field_list` takes numbers from 0 to 255")),
                }
            }
        }
        Ok(found)
    }

    /// `7`, `NAME` or `ENUM.MEMBER`.
    fn token_number(&self, tokens: &[ast::AnnotationToken]) -> Option<p4_syntax::BigInt> {
        use ast::AnnotationTokenKind::{Int, Punct, Word};
        let global = |name: &str| self.scopes.global(name).map(|(e, _)| e);
        match tokens.iter().map(|t| &t.kind).collect::<Vec<_>>()[..] {
            [Int(i)] => Some(i.value.clone()),
            [Word(name)] => match global(name)? {
                Entity::Value(v) => match &v.val {
                    Val::Int(i) => Some(i.clone()),
                    val => val.bits().map(|b| b.value().into()),
                },
                _ => None,
            },
            [Word(name), Punct("."), Word(member)] => match global(name)? {
                Entity::Type(Type::Enum(e)) => e.members.iter().find(|(n, _)| **n == **member).map(|(_, code)| (*code).into()),
                _ => None,
            },
            _ => None,
        }
    }

    /// P4_16 §7.2.8: what may be a field of what.
    fn allowed_field(&mut self, kind: Kind, owner: &str, f: &ast::FieldDecl, t: Type) -> R<Type> {
        let ok = match kind {
            Kind::Header => header_field(&t),
            Kind::Union => t.header().is_some() || matches!(t, Type::Var(_)),
            Kind::Struct => {
                !matches!(t, Type::Void | Type::MatchKind | Type::Extern(..) | Type::Block(..) | Type::Package(..) | Type::DontCare)
            }
        };
        if ok {
            return Ok(t);
        }
        let what = match kind {
            Kind::Header => "header",
            Kind::Union => "header union",
            Kind::Struct => "struct",
        };
        Err(self.error("bad-field", f.ty.span, format!("{what} `{owner}` cannot have a field of type {t}")))
    }

    pub(crate) fn declare_enum(&mut self, decl: &'a ast::EnumDecl) {
        let entity = match self.enum_type(decl) {
            Ok(t) => Entity::Type(t),
            Err(_) => Entity::Bad,
        };
        self.declare(&decl.name, entity);
    }

    fn enum_type(&mut self, decl: &'a ast::EnumDecl) -> R<Type> {
        let underlying = match &decl.underlying {
            None => None,
            Some(t) => match self.resolve(t)? {
                u @ Type::Bits { .. } => Some(u),
                u @ Type::New(_) => {
                    let d = Diagnostic::error("type-mismatch", t.span, format!("an enum's values are bit<W> or int<W>, not {u}"));
                    return Err(self.report(d.with_help("use a `typedef`, which is another name for the same type")));
                }
                u => return Err(self.error("type-mismatch", t.span, format!("an enum's values are bit<W> or int<W>, not {u}"))),
            },
        };
        let mut members: Vec<(Rc<str>, u128)> = Vec::new();
        let mut first: HashMap<&str, Span> = HashMap::new();
        // A member's value may name the members before it.
        let scope = self.inner_scope();
        for (i, m) in decl.members.iter().enumerate() {
            if let Some(span) = first.insert(&m.name.name, m.name.span) {
                let d = Diagnostic::error("duplicate", m.name.span, format!("enum member `{}` is declared twice", m.name.name));
                return Err(self.report(d.with_place(span, "first declared here")));
            }
            let code = match (&underlying, &m.value) {
                (None, None) => i as u128,
                (None, Some(v)) => {
                    let d = Diagnostic::error("enum-value", v.span, format!("enum `{}` has no underlying type for values", decl.name.name));
                    return Err(self.report(d.with_help(format!("write `enum bit<8> {} {{ ... }}`", decl.name.name))));
                }
                (Some(_), None) => {
                    return Err(self.error("enum-value", m.span, format!("member `{}` needs a value", m.name.name)));
                }
                (Some(u), Some(v)) => {
                    let value = self.in_scope(scope, |cx| cx.pure(v, "the value of an enum member"))?;
                    let value = self.coerce(value, u, "the member's value")?;
                    match value.val.bits() {
                        Some(b) => {
                            self.declare_in(scope, &m.name, Entity::Value(value));
                            b.value()
                        }
                        None => return Err(self.error("not-const", v.span, "an enum member's value must be known at compile time")),
                    }
                }
            };
            members.push((m.name.name.as_str().into(), code));
        }
        let id = self.decls.new_type();
        let codes = members.iter().cloned().collect();
        Ok(Type::Enum(Rc::new(EnumType { id, name: decl.name.name.clone(), underlying, members, codes })))
    }

    pub(crate) fn declare_typedef(&mut self, decl: &'a ast::TypedefDecl) {
        let entity = match self.typedef(decl) {
            Ok(t) => Entity::Type(t),
            Err(_) => Entity::Bad,
        };
        self.declare(&decl.name, entity);
    }

    fn typedef(&mut self, decl: &'a ast::TypedefDecl) -> R<Type> {
        let target = match &decl.target {
            ast::TypedefTarget::Type(t) => self.resolve(t)?,
            ast::TypedefTarget::Decl(d) => match &d.kind {
                ast::DeclKind::Composite(c) => self.composite(c, &d.annotations, None)?,
                ast::DeclKind::Enum(e) => self.enum_type(e)?,
                _ => return Err(self.error("not-a-type", d.span, "this declares no type")),
            },
        };
        if !decl.is_new_type {
            return Ok(target);
        }
        if numbers(&target).is_none() && !matches!(target, Type::Bad) {
            let span = match &decl.target {
                ast::TypedefTarget::Type(t) => t.span,
                ast::TypedefTarget::Decl(d) => d.span,
            };
            return Err(self.error("bad-newtype", span, format!("`type` cannot be made of {target}")));
        }
        let depth = match &target {
            Type::New(n) => n.depth + 1,
            _ => 0,
        };
        if depth >= MAX_NEW_TYPES {
            return Err(self.error("limit", decl.name.span, format!("more than {MAX_NEW_TYPES} `type`s, one made of the other")));
        }
        let id = self.decls.new_type();
        Ok(Type::New(Rc::new(NewType { id, name: decl.name.name.clone(), target, depth, opaque: false })))
    }

    /// A type that stands for a type parameter while a generic body is checked by itself: nothing is known about it.
    pub(crate) fn opaque(&mut self, name: &str) -> Type {
        let id = self.decls.new_type();
        Type::New(Rc::new(NewType { id, name: name.to_owned(), target: Type::bit(1), depth: 0, opaque: true }))
    }
}

/// How many scalars a header's field flattens to.
fn scalars(t: &Type) -> u64 {
    match t {
        Type::Composite(c) => c.fields.iter().map(|f| scalars(&f.ty)).sum(),
        Type::New(n) => scalars(&n.target),
        Type::Stack(t, n) => scalars(t).saturating_mul(u64::from(*n)),
        _ => 1,
    }
}

fn header_field(t: &Type) -> bool {
    match t {
        Type::Bits { .. } | Type::Bool | Type::Varbit(_) | Type::Var(_) | Type::Bad => true,
        Type::Enum(e) => e.underlying.is_some(),
        Type::New(n) => header_field(&n.target),
        Type::Stack(t, _) => header_field(t) && !matches!(**t, Type::Varbit(_)),
        Type::Composite(c) => c.kind == Kind::Struct && c.fields.iter().all(|f| header_field(&f.ty) && !matches!(f.ty, Type::Varbit(_))),
        _ => false,
    }
}

fn tags(annotations: &[ast::Annotation]) -> Vec<Tag> {
    annotations
        .iter()
        .filter_map(|a| match a.name.name.as_str() {
            "drop_reason" => Some(Tag::DropReason),
            "mark" => Some(Tag::Mark),
            "pdu_length" => Some(Tag::PduLength),
            _ => None,
        })
        .collect()
}
