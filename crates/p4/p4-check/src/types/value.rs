//! What does an expression stand for while it is lowered? A tree of scalars, headers and constants that mirrors its type.

use super::fold::concat;
use super::ty::{Composite, Type};
use p4_ir::{Bits, Expr, ExprKind, HeaderId, HeaderRef, LValue, StackId, Ty};
use p4_syntax::{BigInt, Span};
use std::rc::Rc;

/// Position of an instance (extern object, parser, control, package) in the checker's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub(crate) struct ObjId(pub u32);

/// A value or a place, shaped as its type is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Val {
    /// A scalar that is computed.
    Expr(Expr),
    /// A scalar that is stored.
    Place(LValue, Ty),
    /// Bits `hi` down to `lo` of a stored scalar, which is a place or another such slice.
    Sliced(Rc<Val>, u32, u32),
    /// Places side by side, the first one on top, that are one scalar; of type `bit`, not wider than the IR's widest.
    Joined(Rc<[Val]>),
    /// Fields of a struct, elements of a tuple.
    Agg(Rc<[Val]>),
    /// A header instance.
    Header(HeaderRef),
    /// A header as written: its fields, or `None` for an invalid one.
    HeaderLit(Option<Rc<[Val]>>),
    /// Members of a header union.
    Union(Rc<[Val]>),
    /// A header stack.
    Stack(StackId, Rc<[HeaderId]>),
    /// Elements of a stack that is no [`Val::Stack`]: a literal, or a stack of unions.
    Array(Rc<[Val]>),
    /// A varbit field.
    Varbit(HeaderRef, u32),
    /// An `int`.
    Int(BigInt),
    /// A string.
    Str(Rc<str>),
    /// `{ a, b }`, with or without `...`, not yet of a type.
    List(Rc<[Tv]>, bool),
    /// `{ f = a }`, with or without `...`, not yet of a type.
    Fields(Rc<[(Rc<str>, Tv)]>, bool),
    /// `{#}`
    Invalid,
    /// `...`
    Dots,
    /// `_`
    DontCare,
    /// An instance.
    Obj(ObjId),
    /// A value of a type that failed to resolve, or of type void.
    None,
}

/// Whether something may be assigned to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Yes.
    Write,
    /// No, as it is this.
    Read(&'static str),
}

/// How a constant is held.
pub(crate) const CONSTANT: Access = Access::Read("a constant");
/// How a constructor's parameter is held.
pub(crate) const CONSTRUCTOR_PARAM: Access = Access::Read("a constructor parameter");

/// A value with its type and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tv {
    pub ty: Type,
    pub val: Val,
    pub access: Access,
    pub span: Span,
}

impl Tv {
    pub(crate) fn value(ty: Type, val: Val, span: Span) -> Tv {
        Tv { ty, val, access: Access::Read("a computed value"), span }
    }

    pub(crate) fn expr(ty: Type, expr: Expr, span: Span) -> Tv {
        Tv::value(ty, Val::Expr(expr), span)
    }

    pub(crate) fn bool(expr: Expr, span: Span) -> Tv {
        Tv::expr(Type::Bool, expr, span)
    }

    pub(crate) fn int(value: BigInt, span: Span) -> Tv {
        Tv::value(Type::Int, Val::Int(value), span)
    }

    pub(crate) fn at(mut self, span: Span) -> Tv {
        self.span = span;
        self
    }
}

/// Reads a place.
fn load(place: &LValue, ty: Ty) -> Option<Expr> {
    let kind = match place {
        LValue::Var(v) => ExprKind::Var(*v),
        LValue::Field(h, i) => ExprKind::Field(h.clone(), *i),
        // Slices are kept as `Val::Sliced`, which knows its base's type.
        LValue::Slice(..) => return None,
    };
    Some(Expr { kind, ty })
}

impl Val {
    /// The scalar's expression.
    pub(crate) fn scalar(&self) -> Option<Expr> {
        match self {
            Val::Expr(e) => Some(e.clone()),
            Val::Place(p, ty) => load(p, *ty),
            Val::Sliced(base, hi, lo) => {
                let base = base.scalar()?;
                Some(Expr { kind: ExprKind::Slice(Box::new(base), *hi, *lo), ty: Ty::Bit(hi - lo + 1) })
            }
            Val::Joined(places) => {
                let parts: Option<Vec<Expr>> = places.iter().map(Val::scalar).collect();
                parts?.into_iter().reduce(concat)
            }
            _ => None,
        }
    }

    /// The scalar's place.
    pub(crate) fn place(&self) -> Option<LValue> {
        match self {
            Val::Place(p, _) => Some(p.clone()),
            Val::Sliced(base, hi, lo) => Some(LValue::Slice(Box::new(base.place()?), *hi, *lo)),
            _ => None,
        }
    }

    /// The places that the scalar is stored in, side by side.
    pub(crate) fn places(&self) -> Option<Vec<Val>> {
        match self {
            Val::Joined(places) => Some(places.to_vec()),
            v => v.place().map(|_| vec![v.clone()]),
        }
    }

    /// The scalar's bits if they are known now.
    pub(crate) fn bits(&self) -> Option<Bits> {
        match self {
            Val::Expr(Expr { kind: ExprKind::Const(b), .. }) => Some(*b),
            _ => None,
        }
    }

    /// Whether all of it is known at compile time.
    pub(crate) fn is_const(&self) -> bool {
        match self {
            Val::Expr(e) => matches!(e.kind, ExprKind::Const(_)),
            Val::Place(..) | Val::Sliced(..) | Val::Joined(_) | Val::Header(_) | Val::Stack(..) | Val::Varbit(..) => false,
            Val::Agg(vs) | Val::Union(vs) | Val::Array(vs) => vs.iter().all(Val::is_const),
            Val::HeaderLit(fields) => fields.iter().flat_map(|f| f.iter()).all(Val::is_const),
            Val::List(vs, _) => vs.iter().all(|v| v.val.is_const()),
            Val::Fields(vs, _) => vs.iter().all(|(_, v)| v.val.is_const()),
            Val::Int(_) | Val::Str(_) | Val::Invalid | Val::Dots | Val::DontCare | Val::Obj(_) | Val::None => true,
        }
    }
}

/// What storage something touches; coarse, so that two of the same are never taken for apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Root {
    Var(p4_ir::VarId),
    /// A header that is in no stack and no union.
    Header(HeaderId),
    Stack(StackId),
    Union(u32),
}

/// A header's field: scalars one by one, in the order of the flattened header.
pub(crate) fn header_field(h: &HeaderRef, ty: &Type, flat: &mut u32) -> Val {
    match ty {
        Type::Composite(c) => Val::Agg(c.fields.iter().map(|f| header_field(h, &f.ty, flat)).collect()),
        Type::New(n) => header_field(h, &n.target, flat),
        Type::Stack(t, n) => Val::Array((0..*n).map(|_| header_field(h, t, flat)).collect()),
        Type::Varbit(_) => {
            *flat += 1;
            Val::Varbit(h.clone(), *flat - 1)
        }
        other => {
            let ty = other.scalar().unwrap_or(Ty::Bit(1));
            *flat += 1;
            Val::Place(LValue::Field(h.clone(), *flat - 1), ty)
        }
    }
}

/// All fields of a header, as values.
pub(crate) fn header_fields(h: &HeaderRef, c: &Composite) -> Vec<Val> {
    c.fields
        .iter()
        .map(|f| {
            let mut flat = f.flat;
            header_field(h, &f.ty, &mut flat)
        })
        .collect()
}

/// The variables that a value consists of.
pub(crate) fn variables(v: &Val, into: &mut Vec<p4_ir::VarId>) {
    match v {
        Val::Place(LValue::Var(id), _) => into.push(*id),
        Val::Agg(vs) | Val::Array(vs) => vs.iter().for_each(|v| variables(v, into)),
        _ => {}
    }
}

/// Whether a value is made of variables only.
pub(crate) fn plain(v: &Val) -> bool {
    match v {
        Val::Place(LValue::Var(_), _) => true,
        Val::Agg(vs) | Val::Array(vs) => vs.iter().all(plain),
        _ => false,
    }
}
