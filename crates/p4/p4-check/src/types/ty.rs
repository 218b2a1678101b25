//! What types does the checker know, when are two of them the same, and how do they read in a message?

use p4_ir::Ty;
use p4_syntax::Span;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// Width of a value of type `error` in the IR; the code is the position in `Program::errors`.
pub(crate) const ERROR_WIDTH: u32 = 16;
/// Width of an enum without an underlying type in the IR; the code is the member's position.
pub(crate) const ENUM_WIDTH: u32 = 32;
/// Most scalars one variable may flatten to: hostile nesting of structs would otherwise double at each level. Generated parsers of market data have 20,000.
pub(crate) const MAX_LEAVES: u64 = 1 << 16;

/// Position of an extern declaration in the checker's table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ExternId(pub u32);
/// Position of a parser or control declaration (type or with a body).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct BlockId(pub u32);
/// Position of a package declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PackageId(pub u32);

/// A resolved type. `typedef`s are gone; `type` makes [`Type::New`].
#[derive(Clone, Debug)]
pub(crate) enum Type {
    /// Stands for a type that could not be resolved: fits everything, so that one fault gives one message.
    Bad,
    Void,
    Bool,
    /// `int` of any size; only at compile time.
    Int,
    Bits {
        width: u32,
        signed: bool,
    },
    Varbit(u32),
    Str,
    Error,
    MatchKind,
    /// Struct, header or union: see [`Composite::kind`].
    Composite(Rc<Composite>),
    Stack(Rc<Type>, u32),
    Tuple(Rc<[Type]>),
    /// `list<T>`; only at compile time.
    List(Rc<Type>),
    Enum(Rc<EnumType>),
    New(Rc<NewType>),
    Extern(ExternId, Rc<[Type]>),
    Block(BlockId, Rc<[Type]>),
    Package(PackageId, Rc<[Type]>),
    /// A type argument that is still to be found.
    Var(u32),
    /// `{ a, b }` before it meets the type that is wanted.
    ListLit(Rc<[Type]>),
    /// `{ f = a }` before it meets the type that is wanted.
    StructLit(Rc<[(Rc<str>, Type)]>),
    /// `{#}`
    Invalid,
    /// `...`
    Dots,
    /// `_`
    DontCare,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Struct,
    Header,
    Union,
}

/// Meaning that an annotation gives to a metadata field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tag {
    DropReason,
    Mark,
    PduLength,
    /// `@field_list(number)`: kept by copies and packets sent round.
    FieldList(u8),
}

#[derive(Debug)]
pub(crate) struct FieldType {
    pub name: Rc<str>,
    pub ty: Type,
    /// In a header: position of its first scalar among the header's scalars.
    pub flat: u32,
    pub tags: Vec<Tag>,
    /// Where it is declared.
    pub span: Span,
}

/// A struct, header or header union; one for each declaration and list of type arguments.
#[derive(Debug)]
pub(crate) struct Composite {
    pub id: u32,
    pub kind: Kind,
    pub name: String,
    pub fields: Vec<FieldType>,
    /// Scalars it flattens to.
    pub leaves: u64,
    /// Generic declarations: which one, and with what, so that `S<T>` can be matched against `S<bit<8>>`.
    pub generic: Option<(u32, Vec<Type>)>,
}

impl Composite {
    pub(crate) fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| &*f.name == name)
    }
}

#[derive(Debug)]
pub(crate) struct EnumType {
    pub id: u32,
    pub name: String,
    /// `None`: no underlying type, values are positions.
    pub underlying: Option<Type>,
    /// Names with values (IR bits of the code).
    pub members: Vec<(Rc<str>, u128)>,
    /// The values by name.
    pub codes: HashMap<Rc<str>, u128>,
}

#[derive(Debug)]
pub(crate) struct NewType {
    pub id: u32,
    pub name: String,
    pub target: Type,
    /// How many `type`s stand between this and the type that all of them are made of.
    pub depth: u32,
    /// Stands for a type parameter: see `Cx::opaque`.
    pub opaque: bool,
}

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        use Type::*;
        match (self, other) {
            (Void, Void) | (Bool, Bool) | (Int, Int) | (Str, Str) | (Error, Error) | (MatchKind, MatchKind) => true,
            (Invalid, Invalid) | (Dots, Dots) | (DontCare, DontCare) | (Bad, Bad) => true,
            (Bits { width: a, signed: s }, Bits { width: b, signed: t }) => a == b && s == t,
            (Varbit(a), Varbit(b)) => a == b,
            (Composite(a), Composite(b)) => a.id == b.id,
            (Enum(a), Enum(b)) => a.id == b.id,
            (New(a), New(b)) => a.id == b.id,
            (Stack(a, m), Stack(b, n)) => m == n && a == b,
            (Tuple(a), Tuple(b)) | (ListLit(a), ListLit(b)) => a == b,
            (List(a), List(b)) => a == b,
            (Extern(a, x), Extern(b, y)) => a == b && x == y,
            (Block(a, x), Block(b, y)) => a == b && x == y,
            (Package(a, x), Package(b, y)) => a == b && x == y,
            (Var(a), Var(b)) => a == b,
            (StructLit(a), StructLit(b)) => a == b,
            _ => false,
        }
    }
}

impl Type {
    /// Of a struct, header or union.
    pub(crate) fn declared_name(&self) -> Option<&str> {
        match self {
            Type::Composite(composite) => Some(&composite.name),
            _ => None,
        }
    }

    pub(crate) fn bit(width: u32) -> Type {
        Type::Bits { width, signed: false }
    }

    /// The IR type of a scalar; `None` for everything that is not one slot.
    pub(crate) fn scalar(&self) -> Option<Ty> {
        Some(match self {
            Type::Bool => Ty::Bool,
            Type::Bits { width, signed: false } => Ty::Bit(*width),
            Type::Bits { width, signed: true } => Ty::Int(*width),
            Type::Error => Ty::Bit(ERROR_WIDTH),
            Type::Enum(e) => match &e.underlying {
                Some(t) => return t.scalar(),
                None => Ty::Bit(ENUM_WIDTH),
            },
            Type::New(n) => return n.target.scalar(),
            _ => return None,
        })
    }

    /// How many scalars (a varbit field and a header's validity count as one) it flattens to.
    pub(crate) fn leaves(&self) -> u64 {
        match self {
            Type::Composite(c) => c.leaves,
            Type::Stack(t, n) => t.leaves().saturating_mul(u64::from(*n)),
            Type::Tuple(ts) => ts.iter().fold(1, |n, t| n + t.leaves().min(u64::from(u32::MAX))),
            Type::New(n) => n.target.leaves(),
            _ => 1,
        }
    }

    pub(crate) fn is_bad(&self) -> bool {
        matches!(self, Type::Bad)
    }

    /// Whether it stands for a type parameter, of which nothing is known.
    pub(crate) fn is_opaque(&self) -> bool {
        matches!(self, Type::New(n) if n.opaque)
    }

    pub(crate) fn composite(&self, kind: Kind) -> Option<&Rc<Composite>> {
        match self {
            Type::Composite(c) if c.kind == kind => Some(c),
            _ => None,
        }
    }

    pub(crate) fn header(&self) -> Option<&Rc<Composite>> {
        self.composite(Kind::Header)
    }

    /// Bits on the wire: the fixed part, and whether a varbit field follows. `None`: has no wire form.
    pub(crate) fn wire_bits(&self) -> Option<u64> {
        Some(match self {
            Type::Varbit(_) => 0,
            Type::Enum(e) => return e.underlying.as_ref()?.wire_bits(),
            Type::Error => return None,
            Type::Composite(c) if c.kind == Kind::Union => {
                let mut least = u64::MAX;
                for f in &c.fields {
                    least = least.min(f.ty.wire_bits()?);
                }
                if c.fields.is_empty() { 0 } else { least }
            }
            Type::Composite(c) => {
                let mut sum = 0u64;
                for f in &c.fields {
                    sum = sum.saturating_add(f.ty.wire_bits()?);
                }
                sum
            }
            Type::Tuple(ts) => {
                let mut sum = 0u64;
                for t in ts.iter() {
                    sum = sum.saturating_add(t.wire_bits()?);
                }
                sum
            }
            Type::Stack(t, n) => t.wire_bits()?.saturating_mul(u64::from(*n)),
            Type::New(n) => return n.target.wire_bits(),
            t => u64::from(t.scalar()?.width()),
        })
    }

    /// The longest wire form, with varbit fields at their maximum.
    pub(crate) fn max_wire_bits(&self) -> Option<u64> {
        match self {
            Type::Varbit(w) => Some(u64::from(*w)),
            Type::Composite(c) if c.kind == Kind::Union => {
                c.fields.iter().map(|f| f.ty.max_wire_bits()).try_fold(0, |m, b| Some(m.max(b?)))
            }
            Type::Composite(c) => c.fields.iter().map(|f| f.ty.max_wire_bits()).try_fold(0u64, |m, b| Some(m.saturating_add(b?))),
            Type::Stack(t, n) => Some(t.max_wire_bits()?.saturating_mul(u64::from(*n))),
            Type::New(n) => n.target.max_wire_bits(),
            t => t.wire_bits(),
        }
    }

    /// Whether a type argument is still open somewhere inside.
    pub(crate) fn has_var(&self) -> bool {
        match self {
            Type::Var(_) => true,
            Type::Stack(t, _) | Type::List(t) => t.has_var(),
            Type::Tuple(ts) | Type::Extern(_, ts) | Type::Block(_, ts) | Type::Package(_, ts) => ts.iter().any(Type::has_var),
            Type::Composite(c) => c.generic.as_ref().is_some_and(|(_, args)| args.iter().any(Type::has_var)),
            _ => false,
        }
    }

    /// Whether it is, or has among its parts and type arguments, one that `what` holds of.
    pub(crate) fn mentions(&self, what: impl Fn(&Type) -> bool + Copy) -> bool {
        what(self)
            || match self {
                Type::Stack(t, _) | Type::List(t) => t.mentions(what),
                Type::Tuple(ts) | Type::Extern(_, ts) | Type::Block(_, ts) | Type::Package(_, ts) => ts.iter().any(|t| t.mentions(what)),
                Type::Composite(c) => c.generic.as_ref().is_some_and(|(_, args)| args.iter().any(|t| t.mentions(what))),
                _ => false,
            }
    }

    /// Values of it may be compared with `==`.
    pub(crate) fn comparable(&self) -> bool {
        match self {
            Type::Bool | Type::Int | Type::Bits { .. } | Type::Error | Type::Enum(_) | Type::Varbit(_) | Type::Bad | Type::Str => true,
            Type::New(n) => !n.opaque && n.target.comparable(),
            Type::Composite(c) => c.fields.iter().all(|f| f.ty.comparable()),
            Type::Tuple(ts) => ts.iter().all(Type::comparable),
            Type::Stack(t, _) => t.comparable(),
            _ => false,
        }
    }
}

/// Encloses the kind and number of an extern, parser, control or package in a message until its name is put in.
pub(crate) const NAME_MARK: char = '\u{1}';

/// P4's own spelling, for messages.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn args(f: &mut fmt::Formatter<'_>, ts: &[Type]) -> fmt::Result {
            for (i, t) in ts.iter().enumerate() {
                write!(f, "{}{t}", if i > 0 { ", " } else { "" })?;
            }
            Ok(())
        }
        fn targs(f: &mut fmt::Formatter<'_>, ts: &[Type]) -> fmt::Result {
            if ts.is_empty() {
                return Ok(());
            }
            write!(f, "<")?;
            args(f, ts)?;
            write!(f, ">")
        }
        match self {
            Type::Bad => write!(f, "(unknown)"),
            Type::Void => write!(f, "void"),
            Type::Bool => write!(f, "bool"),
            Type::Int => write!(f, "int"),
            Type::Bits { width, signed } => write!(f, "{}<{width}>", if *signed { "int" } else { "bit" }),
            Type::Varbit(w) => write!(f, "varbit<{w}>"),
            Type::Str => write!(f, "string"),
            Type::Error => write!(f, "error"),
            Type::MatchKind => write!(f, "match_kind"),
            Type::Composite(c) if wide_of(self).is_some() => write!(f, "{}", c.name),
            Type::Composite(c) => {
                let kind = match c.kind {
                    Kind::Struct => "struct",
                    Kind::Header => "header",
                    Kind::Union => "header_union",
                };
                write!(f, "{kind} {}", c.name)
            }
            Type::Stack(t, n) => write!(f, "{t}[{n}]"),
            Type::Tuple(ts) => {
                write!(f, "tuple<")?;
                args(f, ts)?;
                write!(f, ">")
            }
            Type::List(t) => write!(f, "list<{t}>"),
            Type::Enum(e) => write!(f, "enum {}", e.name),
            Type::New(n) if n.opaque => write!(f, "type parameter {}", n.name),
            Type::New(n) => write!(f, "type {}", n.name),
            // Their names are in the checker's tables: `Cx::report` puts them in for the marks.
            Type::Extern(id, ts) => {
                write!(f, "{NAME_MARK}e{}{NAME_MARK}", id.0)?;
                targs(f, ts)
            }
            Type::Block(id, ts) => {
                write!(f, "{NAME_MARK}b{}{NAME_MARK}", id.0)?;
                targs(f, ts)
            }
            Type::Package(id, ts) => {
                write!(f, "{NAME_MARK}p{}{NAME_MARK}", id.0)?;
                targs(f, ts)
            }
            Type::Var(_) => write!(f, "(to be inferred)"),
            Type::ListLit(ts) => {
                write!(f, "{{ ")?;
                args(f, ts)?;
                write!(f, " }}")
            }
            Type::StructLit(fields) => {
                write!(f, "{{ ")?;
                for (i, (n, t)) in fields.iter().enumerate() {
                    write!(f, "{}{n} = {t}", if i > 0 { ", " } else { "" })?;
                }
                write!(f, " }}")
            }
            Type::Invalid => write!(f, "{{#}}"),
            Type::Dots => write!(f, "..."),
            Type::DontCare => write!(f, "_"),
        }
    }
}

/// What such a type is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wide {
    /// In bits.
    pub width: u32,
    /// Whether it is `int<W>`.
    pub signed: bool,
}

/// P4's spelling: also how it is told from a struct of the program.
impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<{}>", if self.signed { "int" } else { "bit" }, self.width)
    }
}

/// What a type of that kind is.
pub(crate) fn wide_of(t: &Type) -> Option<Wide> {
    let Type::Composite(c) = t else { return None };
    let (signed, rest) = match c.name.strip_prefix("bit<") {
        Some(rest) => (false, rest),
        None => (true, c.name.strip_prefix("int<")?),
    };
    Some(Wide { width: rest.strip_suffix('>')?.parse().ok()?, signed })
}

/// Widest bit<W> and int<W> that is not an obvious mistake: longer than any packet.
pub(crate) const MAX_ANY_WIDTH: u32 = 1 << 16;

/// The type below `type` names.
pub(crate) fn bottom(t: &Type) -> &Type {
    match t {
        Type::New(n) => bottom(&n.target),
        t => t,
    }
}

/// What a scalar type is a disguise of; `None` for non-scalars and for enums that are mere names.
pub(crate) fn bottom_number(t: &Type) -> Option<&Type> {
    match t {
        Type::New(n) => bottom_number(&n.target),
        Type::Enum(e) => e.underlying.as_ref().and_then(bottom_number),
        Type::Bits { .. } | Type::Bool | Type::Int => Some(t),
        _ => None,
    }
}

/// The tuple type that a list literal has by itself; `None` if an element has no type of its own.
pub(crate) fn tuple_of(t: &Type) -> Option<Type> {
    match t {
        Type::ListLit(ts) => Some(Type::Tuple(ts.iter().map(tuple_of).collect::<Option<Vec<_>>>()?.into())),
        Type::StructLit(_) | Type::Invalid | Type::Dots | Type::DontCare | Type::Int => None,
        t => Some(t.clone()),
    }
}
