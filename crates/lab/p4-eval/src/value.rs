//! What can a variable hold, and what do operators make of it? Numbers are of any size, so that no rule of a fixed width
//! is borrowed from the machine below.

use crate::Stop;
use p4_syntax::BigInt;
use p4_syntax::ast::{BinOp, CompositeKind, UnaryOp};
use std::rc::Rc;

/// A type with its names resolved. Names given by `typedef` and `type`, and enums with an underlying type, are what they stand for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    Void,
    Bool,
    Number,
    Bits {
        width: u32,
        signed: bool,
    },
    Varbit(u32),
    Error,
    Str,
    Enum(Rc<EnumTy>),
    Composite(Rc<Composite>),
    Stack(Rc<Ty>, usize),
    Tuple(Rc<[Ty]>),
    /// An extern, control, parser or package: held by reference.
    Object,
}

/// An enum without underlying type.
#[derive(Debug, PartialEq)]
pub(crate) struct EnumTy {
    pub name: String,
    pub members: Vec<String>,
}

/// A struct, header or header union.
#[derive(Debug, PartialEq)]
pub(crate) struct Composite {
    pub name: String,
    pub kind: CompositeKind,
    pub fields: Vec<Field>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Field {
    pub name: String,
    pub ty: Ty,
    /// Names of its annotations.
    pub marks: Vec<String>,
}

impl Composite {
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name == name)
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Void,
    Bool(bool),
    /// `int`, of any size.
    Number(BigInt),
    /// The number that the bits mean: of `int<W>` it may be negative.
    Bits {
        value: BigInt,
        width: u32,
        signed: bool,
    },
    Varbit {
        bits: Vec<bool>,
        max: u32,
    },
    Error(String),
    Str(String),
    Enum(Rc<EnumTy>, usize),
    Struct(Rc<Composite>, Vec<Value>),
    Header {
        ty: Rc<Composite>,
        valid: bool,
        fields: Vec<Value>,
    },
    Union(Rc<Composite>, Vec<Value>),
    Stack {
        elem: Rc<Ty>,
        elems: Vec<Value>,
        next: usize,
    },
    /// Also a list as written, whose type the place that it goes to decides; then `true` if it ends in `...`.
    Tuple(Vec<Value>, bool),
    /// `{ f = v }`, and whether it ends in `...`.
    Fields(Vec<(String, Value)>, bool),
    /// `{#}`
    Invalid,
    /// `...`
    Default,
    /// Which action a table ran.
    Ran(String),
}

impl Ty {
    /// The value that storage of this type starts with here: zero, or invalid.
    pub(crate) fn start(&self) -> Value {
        match self {
            Ty::Void | Ty::Object => Value::Void,
            Ty::Bool => Value::Bool(false),
            Ty::Number => Value::Number(BigInt::ZERO),
            Ty::Bits { width, signed } => Value::Bits { value: BigInt::ZERO, width: *width, signed: *signed },
            Ty::Varbit(max) => Value::Varbit { bits: Vec::new(), max: *max },
            Ty::Error => Value::Error("NoError".into()),
            Ty::Str => Value::Str(String::new()),
            Ty::Enum(e) => Value::Enum(e.clone(), 0),
            Ty::Composite(c) => {
                let fields = c.fields.iter().map(|f| f.ty.start()).collect();
                match c.kind {
                    CompositeKind::Struct => Value::Struct(c.clone(), fields),
                    CompositeKind::Header => Value::Header { ty: c.clone(), valid: false, fields },
                    CompositeKind::HeaderUnion => Value::Union(c.clone(), fields),
                }
            }
            Ty::Stack(elem, n) => Value::Stack { elem: elem.clone(), elems: vec![elem.start(); *n], next: 0 },
            Ty::Tuple(ts) => Value::Tuple(ts.iter().map(Ty::start).collect(), false),
        }
    }
}

/// Bits of that type that hold `value` modulo 2^W.
pub(crate) fn wrap(value: &BigInt, width: u32, signed: bool) -> Value {
    let modulus = BigInt::from(1) << width;
    let mut value = ((value % &modulus) + &modulus) % &modulus;
    if signed && width > 0 && value >= BigInt::from(1) << (width - 1) {
        value -= modulus;
    }
    Value::Bits { value, width, signed }
}

/// The bit pattern of a number of that width, as a number that is not negative.
pub(crate) fn pattern(value: &BigInt, width: u32) -> BigInt {
    match wrap(value, width, false) {
        Value::Bits { value, .. } => value,
        _ => BigInt::ZERO,
    }
}

impl Value {
    pub(crate) fn ty(&self) -> Ty {
        match self {
            Value::Void | Value::Invalid | Value::Default | Value::Ran(_) | Value::Fields(..) => Ty::Void,
            Value::Bool(_) => Ty::Bool,
            Value::Number(_) => Ty::Number,
            Value::Bits { width, signed, .. } => Ty::Bits { width: *width, signed: *signed },
            Value::Varbit { max, .. } => Ty::Varbit(*max),
            Value::Error(_) => Ty::Error,
            Value::Str(_) => Ty::Str,
            Value::Enum(e, _) => Ty::Enum(e.clone()),
            Value::Struct(c, _) | Value::Union(c, _) | Value::Header { ty: c, .. } => Ty::Composite(c.clone()),
            Value::Stack { elem, elems, .. } => Ty::Stack(elem.clone(), elems.len()),
            Value::Tuple(vs, _) => Ty::Tuple(vs.iter().map(Value::ty).collect()),
        }
    }

    pub(crate) fn truth(&self) -> Result<bool, Stop> {
        match self {
            Value::Bool(b) => Ok(*b),
            other => Err(Stop::cannot(format!("{other:?} as a condition"))),
        }
    }

    /// The number of a `bit`, `int` or enum value.
    pub(crate) fn number(&self) -> Result<BigInt, Stop> {
        match self {
            Value::Number(n) | Value::Bits { value: n, .. } => Ok(n.clone()),
            Value::Enum(_, i) => Ok(BigInt::from(*i)),
            Value::Bool(b) => Ok(BigInt::from(u8::from(*b))),
            other => Err(Stop::cannot(format!("{other:?} as a number"))),
        }
    }

    pub(crate) fn index(&self) -> Result<usize, Stop> {
        Ok(usize::try_from(&self.number()?).unwrap_or(usize::MAX))
    }

    pub(crate) fn valid(&self) -> bool {
        match self {
            Value::Header { valid, .. } => *valid,
            Value::Union(_, members) => members.iter().any(Value::valid),
            _ => false,
        }
    }

    /// This value as one of type `to`, where the language converts without being asked (P4_16 §8.12.2), and what was written as a
    /// list becomes what is wanted.
    pub(crate) fn becomes(self, to: &Ty) -> Result<Value, Stop> {
        Ok(match (self, to) {
            (Value::Default, to) => to.start(),
            (Value::Number(n), Ty::Bits { width, signed }) => wrap(&n, *width, *signed),
            (Value::Invalid, Ty::Composite(_)) => to.start(),
            (Value::Tuple(vs, rest), Ty::Tuple(ts)) => {
                let mut out = Vec::new();
                for (i, t) in ts.iter().enumerate() {
                    out.push(given(vs.get(i), rest, t)?);
                }
                Value::Tuple(out, false)
            }
            (Value::Tuple(vs, rest), Ty::Stack(elem, n)) => {
                let mut elems = Vec::new();
                for i in 0..*n {
                    elems.push(given(vs.get(i), rest, elem)?);
                }
                Value::Stack { elem: elem.clone(), elems, next: 0 }
            }
            (Value::Tuple(vs, rest), Ty::Composite(c)) => {
                let mut fields = Vec::new();
                for (i, f) in c.fields.iter().enumerate() {
                    fields.push(given(vs.get(i), rest, &f.ty)?);
                }
                filled(c, fields)
            }
            (Value::Fields(named, _), Ty::Composite(c)) => {
                let mut fields = Vec::new();
                for f in &c.fields {
                    let value = named.iter().find(|(n, _)| *n == f.name).map(|(_, v)| v);
                    fields.push(given(value, true, &f.ty)?);
                }
                filled(c, fields)
            }
            (value, _) => value,
        })
    }
}

fn given(value: Option<&Value>, rest: bool, ty: &Ty) -> Result<Value, Stop> {
    match value {
        Some(v) => v.clone().becomes(ty),
        None if rest => Ok(ty.start()),
        None => Err(Stop::cannot("a list that is too short")),
    }
}

/// A struct, or a header, which writing its fields makes valid.
fn filled(c: &Rc<Composite>, fields: Vec<Value>) -> Value {
    match c.kind {
        CompositeKind::Struct => Value::Struct(c.clone(), fields),
        CompositeKind::Header => Value::Header { ty: c.clone(), valid: true, fields },
        CompositeKind::HeaderUnion => Value::Union(c.clone(), fields),
    }
}

/// An explicit cast (P4_16 §8.12.1).
pub(crate) fn cast(value: Value, to: &Ty) -> Result<Value, Stop> {
    Ok(match (&value, to) {
        (Value::Bits { value, .. } | Value::Number(value), Ty::Bits { width, signed }) => wrap(value, *width, *signed),
        (Value::Bool(b), Ty::Bits { width, signed }) => wrap(&BigInt::from(u8::from(*b)), *width, *signed),
        (Value::Bits { value, .. } | Value::Number(value), Ty::Bool) => Value::Bool(*value != BigInt::ZERO),
        (Value::Bits { value, .. }, Ty::Number) => Value::Number(value.clone()),
        _ => value.becomes(to)?,
    })
}

/// `a[hi:lo]`, which is unsigned.
pub(crate) fn slice(value: &Value, hi: usize, lo: usize) -> Result<Value, Stop> {
    let n = match value {
        Value::Bits { value, width, .. } => pattern(value, *width),
        Value::Number(n) => pattern(n, hi as u32 + 1),
        other => return Err(Stop::cannot(format!("a slice of {other:?}"))),
    };
    Ok(wrap(&(n >> lo), (hi + 1 - lo) as u32, false))
}

/// `old` with bits `hi` down to `lo` those of `part`.
pub(crate) fn with_slice(old: &Value, hi: usize, lo: usize, part: &Value) -> Result<Value, Stop> {
    let Value::Bits { value, width, signed } = old else { return Err(Stop::cannot("a slice of this")) };
    let (n, size) = (pattern(value, *width), (hi + 1 - lo) as u32);
    let kept = &n - (pattern(&(&n >> lo), size) << lo);
    Ok(wrap(&(kept + (pattern(&part.number()?, size) << lo)), *width, *signed))
}

pub(crate) fn unary(op: UnaryOp, v: &Value) -> Result<Value, Stop> {
    Ok(match (op, v) {
        (UnaryOp::Not, Value::Bool(b)) => Value::Bool(!b),
        (UnaryOp::Plus, v) => v.clone(),
        (UnaryOp::Neg, Value::Number(n)) => Value::Number(-n),
        (UnaryOp::Neg, Value::Bits { value, width, signed }) => wrap(&-value, *width, *signed),
        (UnaryOp::BitNot, Value::Bits { value, width, signed }) => wrap(&(-value - 1), *width, *signed),
        _ => return Err(Stop::cannot(format!("{} of {v:?}", op.text()))),
    })
}

/// All but `&&` and `||`, which do not always evaluate both.
pub(crate) fn binary(op: BinOp, a: Value, b: Value) -> Result<Value, Stop> {
    if op == BinOp::Concat {
        return concat(&a, &b);
    }
    if matches!(op, BinOp::Shl | BinOp::Shr) {
        return shift(op, &a, &b);
    }
    // A number without width takes the other's type.
    let (a, b) = match (&a, &b) {
        (Value::Number(_) | Value::Invalid | Value::Default | Value::Tuple(..) | Value::Fields(..), _) => {
            let ty = b.ty();
            (if matches!(ty, Ty::Number | Ty::Void) { a } else { a.becomes(&ty)? }, b)
        }
        (_, Value::Number(_) | Value::Invalid | Value::Default | Value::Tuple(..) | Value::Fields(..)) => {
            let ty = a.ty();
            (a, b.becomes(&ty)?)
        }
        _ => (a, b),
    };
    match op {
        BinOp::Eq => return Ok(Value::Bool(same(&a, &b))),
        BinOp::Ne => return Ok(Value::Bool(!same(&a, &b))),
        _ => {}
    }
    let (x, y) = (a.number()?, b.number()?);
    match op {
        BinOp::Lt => return Ok(Value::Bool(x < y)),
        BinOp::Le => return Ok(Value::Bool(x <= y)),
        BinOp::Gt => return Ok(Value::Bool(x > y)),
        BinOp::Ge => return Ok(Value::Bool(x >= y)),
        _ => {}
    }
    let result = match op {
        BinOp::Add | BinOp::SatAdd => x + y,
        BinOp::Sub | BinOp::SatSub => x - y,
        BinOp::Mul => x * y,
        BinOp::Div | BinOp::Mod if y <= BigInt::ZERO || x < BigInt::ZERO => return Err(Stop::cannot("this division")),
        BinOp::Div => x / y,
        BinOp::Mod => x % y,
        // In two's complement of any length.
        BinOp::BitAnd => x & y,
        BinOp::BitOr => x | y,
        BinOp::BitXor => x ^ y,
        _ => return Err(Stop::cannot(format!("operator {}", op.text()))),
    };
    match (&a, op) {
        (Value::Number(_), _) => Ok(Value::Number(result)),
        (Value::Bits { width, signed, .. }, BinOp::SatAdd | BinOp::SatSub) => {
            let (low, high) = match signed {
                true => (-(BigInt::from(1) << (width - 1)), (BigInt::from(1) << (width - 1)) - 1),
                false => (BigInt::ZERO, (BigInt::from(1) << *width) - 1),
            };
            Ok(Value::Bits { value: result.clamp(low, high), width: *width, signed: *signed })
        }
        (Value::Bits { width, signed, .. }, _) => Ok(wrap(&result, *width, *signed)),
        _ => Err(Stop::cannot(format!("{a:?} {} {b:?}", op.text()))),
    }
}

fn concat(a: &Value, b: &Value) -> Result<Value, Stop> {
    match (a, b) {
        (Value::Bits { value: x, width: w, signed }, Value::Bits { value: y, width: v, .. }) => {
            Ok(wrap(&((pattern(x, *w) << *v) + pattern(y, *v)), w + v, *signed))
        }
        _ => Err(Stop::cannot(format!("{a:?} ++ {b:?}"))),
    }
}

fn shift(op: BinOp, a: &Value, b: &Value) -> Result<Value, Stop> {
    let by = b.number()?;
    if by < BigInt::ZERO {
        return Err(Stop::cannot("a shift by a negative number"));
    }
    // Beyond all widths it makes no difference by how much.
    let by = usize::try_from(&by).unwrap_or(usize::MAX).min(1 << 16);
    // Rounds down: of a negative number the sign bits come in from the left.
    let floor = |n: &BigInt| n >> by;
    Ok(match (a, op) {
        (Value::Number(n), BinOp::Shl) => Value::Number(n << by),
        (Value::Number(n), _) => Value::Number(floor(n)),
        (Value::Bits { value, width, signed }, BinOp::Shl) => wrap(&(value << by), *width, *signed),
        (Value::Bits { value, width, signed }, _) => wrap(&floor(value), *width, *signed),
        _ => return Err(Stop::cannot(format!("a shift of {a:?}"))),
    })
}

/// Equality (P4_16 §8.15 - §8.20): headers are equal if both are invalid, or both are valid and their fields are equal.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Header { valid: false, .. }, Value::Header { valid: false, .. }) => true,
        (Value::Header { valid: p, fields: x, .. }, Value::Header { valid: q, fields: y, .. }) => p == q && all_same(x, y),
        (Value::Struct(_, x), Value::Struct(_, y)) | (Value::Union(_, x), Value::Union(_, y)) => all_same(x, y),
        (Value::Stack { elems: x, .. }, Value::Stack { elems: y, .. }) | (Value::Tuple(x, _), Value::Tuple(y, _)) => all_same(x, y),
        _ => a == b,
    }
}

fn all_same(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}
